"""Accelerations, multipliers and their gradients along directions of state, time and numbers of a model."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from rigs.differentiated import wrong
from rigs.directions import (
    CORES,
    EASY,
    GEOMETRY,
    NONE,
    Direction,
    core_at,
    core_size,
    held_orientations,
    moving,
)
from rigs.random_mechanisms import random_mechanism
from rigs.seeds import over

import bellcrank as bc
from bellcrank import _core as core
from bellcrank import gallery
from bellcrank.errors import Unsupported
from bellcrank.expression.expression import fresh_symbol
from bellcrank.formulations.preparing import prepare
from bellcrank.linear.sampling import without_stops

SEEDS = (1, 10, 15, 34, 55, 61, 82, 100, 181)
WITH_CURVES = (82, 181)
NAMES = sorted(set(gallery.catalogue()) - {"bistable_snap", "cross_spring_pivot", "gripper"})  # of many nodes


def moves(name):
    """Model and state of a mechanism, with its stops out of the way; None if bodies touch.

    Those are in tests/contacts/test_contact_slopes.py, with what friction remembers.
    """
    system = prepare(gallery.catalogue()[name](), "lagrange")
    model = without_stops(system.model)
    return None if model.contacts else (model, moving(model, system.state()))


def check(model, state, formulation, rng, dt, arrays):
    direction = Direction(core_at(model, state, formulation, bool(arrays)), model, rng, dt, arrays)
    assert direction.left < 1e-9
    off = direction.beside_differences(state, 1e-10)
    assert off is not None
    assert off < 1.0
    assert direction.alone_off() < 1e-11
    assert direction.transposed_off(rng) < 1e-10  # an arm of light links in portable code: 5e-11
    if formulation != "lagrange":
        assert direction.beside_lagrange(state) < 1e-9


@pytest.mark.parametrize("formulation", CORES)
@pytest.mark.parametrize("name", NAMES)
def test_along_states_and_time(name, formulation):
    if found := moves(name):
        check(*found, formulation, np.random.default_rng(3), 0.7, ())


@pytest.mark.parametrize("formulation", CORES)
@pytest.mark.parametrize("name", NAMES)
def test_along_numbers(name, formulation):
    if found := moves(name):
        system = core_at(*found, formulation)
        system.accelerate()
        arrays = EASY if system.dropped_rows() else (*EASY, *GEOMETRY)
        check(*found, formulation, np.random.default_rng(4), 0.0, arrays)


@pytest.mark.parametrize("formulation", CORES)
def test_along_numbers_of_joints_that_begin_at_their_outer_body(formulation):
    mech = bc.Mechanism("outside in")
    inner, outer = (
        mech.add_body(name, mass=1.5, inertia=(0.1, 0.2, 0.15), com=(0.2, 0.1, -0.05), position=(x, 0.0, 0.0))
        for name, x in (("inner", 0.0), ("outer", 0.6))
    )
    hinge = mech.add_joint("hinge", bc.Revolute(), inner.marker(axis="y"), mech.ground.marker(axis="y"))
    tilted = (0.6, 0.0, 0.1)
    mech.add_joint("sleeve", bc.Cylindrical(), outer, inner.marker(tilted))
    mech.add_force("spring", bc.TorsionSpring(stiffness=20.0, damping=0.3), joint=hinge)
    model = prepare(mech, "lagrange").model
    state = moving(model, prepare(mech, "lagrange").state())
    check(model, state, formulation, np.random.default_rng(5), 0.0, (*EASY, *GEOMETRY, "row_constant"))


@pytest.mark.parametrize("name", ["four_bar", "puma560", "spring_slider_crank", "stewart_platform"])
def test_coordinates_of_the_model_change_alike(name):
    model, state = moves(name)
    along = Direction(core_at(model, state, "recursive"), model, np.random.default_rng(5), 0.4)
    rates, _ = along.tangents()
    found = core.coordinate_tangents(along.system, along.udot, *along.rows, rates[None], *along.rest)
    lagrange = core_at(model, state, "lagrange")
    dx, du, second, _ = along.of_bodies()
    udot = core.tangents(lagrange, NONE, NONE, np.zeros(0), [], NONE)[0]
    wanted = core.coordinate_tangents(lagrange, udot, dx[None], du[None], second[None], *along.rest)
    for one, other in zip(found, wanted, strict=True):
        assert_allclose(one, other, atol=1e-9 * max(np.abs(other).max(), 1.0))


@pytest.mark.parametrize("formulation", CORES)
def test_refused_by_name(formulation):
    touching = [name for name in gallery.catalogue() if moves(name) is None]
    names, lacks = (
        (touching, "derivatives of contacts|for tyres")
        if formulation == "symbolic"
        else (["man_on_bicycle"], "tyres")
    )
    assert set(names) <= set(touching)
    for name in names:
        model = without_stops(prepare(gallery.catalogue()[name](), "lagrange").model)
        system = core_at(model, model.initial, formulation)
        still = np.zeros((1, core_size(system)))
        with pytest.raises(Unsupported, match=lacks):
            core.closed_directions(system, still, still, np.zeros(0), [], NONE)


def test_trees_refuse_numbers_that_their_joints_hold():
    model, state = moves("puma560")
    system = core_at(model, state, "recursive")
    still = np.zeros((1, core_size(system)))
    refused = {
        ("row_constant", held_orientations(model)[0]): "constants of rows that hold orientations",
        ("block_compliance", 0): "compliances of the tree's joints",
    }
    for place, what in refused.items():
        with pytest.raises(Unsupported, match=what):
            core.closed_directions(system, still, still, np.zeros(0), [place], np.ones((1, 1)))
        with pytest.raises(Unsupported, match=what):
            core.closed_gradient(system, still[0], still[0], [place])


def test_programs_refuse_numbers_that_follow_no_parameter():
    model, state = moves("puma560")
    symbols = [fresh_symbol("m")]
    entries = [("body_mass", 0, symbols[0]), ("body_mass", 1, 2.0 * symbols[0])]
    numbers = core.ParametricNumbers(symbols, [1.0], entries, [])
    system = core.Symbolic(model.core, core.JointSystemOptions(), numbers)
    model.put(system, state)
    still = np.zeros((1, core_size(system)))

    def closed(places, along):
        core.closed_directions(system, still, still, np.zeros(0), places, np.array([along]))

    both = [("body_mass", 0), ("body_mass", 1)]
    closed(both, (1.0, 2.0))
    with pytest.raises(Unsupported, match="along changes of numbers that no parameters make"):
        closed(both, (1.0, 1.0))
    with pytest.raises(Unsupported, match="by numbers that follow no parameter of the mechanism"):
        closed([("body_mass", 2)], (1.0,))
    with pytest.raises(Unsupported, match="by numbers that follow no parameter of the mechanism"):
        core.closed_gradient(system, still[0], still[0], [("gravity", 0)])


def test_most_of_the_gallery_has_derivatives():
    assert sum(moves(name) is not None for name in gallery.catalogue()) >= 22


@pytest.mark.parametrize("formulation", CORES)
@over(SEEDS)
def test_random_mechanisms(seed, formulation):
    if seed in WITH_CURVES and formulation == "symbolic":
        with pytest.raises(Unsupported, match="no formula for the coordinate curve_normal_1"):
            wrong(seed, formulation)
    else:
        assert wrong(seed, formulation) == ""


def test_random_mechanisms_have_what_the_gallery_lacks():
    mechanisms = [random_mechanism(seed) for seed in SEEDS]
    kinds = {
        type(one.kind).__name__
        for mechanism in mechanisms
        for one in (*mechanism.forces.values(), *mechanism.constraints.values(), *mechanism.joints.values())
    }
    assert kinds >= {"Wrench", "CustomForce", "CustomConstraint", "Bushing", "BodyDamping", "PointOnCurve"}
