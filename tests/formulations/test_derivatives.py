"""Accelerations, multipliers and their gradients along directions of state, time and numbers of a model."""

import re

import numpy as np
import pytest
from rigs.differentiated import wrong
from rigs.directions import CORES, EASY, GEOMETRY, Direction, core_at, moving
from rigs.random_mechanisms import random_mechanism
from rigs.seeds import over

from bellcrank import gallery
from bellcrank.errors import Unsupported
from bellcrank.formulations.preparing import prepare
from bellcrank.linear.sampling import without_stops

SEEDS = (1, 10, 15, 34, 55, 61, 82, 100, 181)
LACKING = re.compile("derivatives are not implemented for (contacts|coordinates 'formula_coordinate')")


def moves(name):
    """Model and state of a mechanism, with its stops out of the way; None if it has no derivatives."""
    system = prepare(gallery.catalogue()[name](), "lagrange")
    model = without_stops(system.model)
    try:
        return model, moving(model, system.state())
    except Unsupported as refused:
        if LACKING.match(str(refused)):
            return None
        raise


def check(model, state, formulation, rng, dt, arrays):
    direction = Direction(core_at(model, state, formulation), model, rng, dt, arrays)
    assert direction.left < 1e-9
    off = direction.beside_differences(state, 1e-10)
    assert off is not None
    assert off < 1.0
    assert direction.alone_off() < 1e-11
    assert direction.transposed_off(rng) < 3e-11
    if formulation != "lagrange":
        assert direction.beside_lagrange(state) < 1e-9


@pytest.mark.parametrize("formulation", CORES)
@pytest.mark.parametrize("name", sorted(gallery.catalogue()))
def test_along_states_and_time(name, formulation):
    if found := moves(name):
        check(*found, formulation, np.random.default_rng(3), 0.7, ())


@pytest.mark.parametrize("formulation", CORES)
@pytest.mark.parametrize("name", sorted(gallery.catalogue()))
def test_along_numbers(name, formulation):
    if found := moves(name):
        system = core_at(*found, formulation)
        system.accelerate()
        arrays = EASY if system.dropped_rows() else (*EASY, *GEOMETRY)
        check(*found, formulation, np.random.default_rng(4), 0.0, arrays)


def test_most_of_the_gallery_has_derivatives():
    assert sum(moves(name) is not None for name in gallery.catalogue()) >= 22


@pytest.mark.parametrize("formulation", CORES)
@over(SEEDS)
def test_random_mechanisms(seed, formulation):
    assert wrong(seed, formulation) == ""


def test_random_mechanisms_have_what_the_gallery_lacks():
    mechanisms = [random_mechanism(seed) for seed in SEEDS]
    kinds = {
        type(one.kind).__name__
        for mechanism in mechanisms
        for one in (*mechanism.forces.values(), *mechanism.constraints.values(), *mechanism.joints.values())
    }
    assert kinds >= {"Wrench", "CustomForce", "CustomConstraint", "Bushing", "BodyDamping", "PointOnCurve"}
