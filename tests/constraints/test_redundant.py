"""Overconstrained loops run as they are, as well as twins of the same motion without redundant rows.

A twin closes the loop by a joint that holds only what the other joints leave open. Nothing is set
specially; ten seconds each.

Thin bars are in test_redundant.py.
"""

import re

import numpy as np
import pytest
from rigs import linkages
from rigs.machine import Machine

import bellcrank as bc
from bellcrank import expression as ex
from bellcrank.compile.compile import compile_mechanism
from bellcrank.gallery import chain, ladder, random_tree, ring

ON_AXIS = bc.PointOnLine()
# name: mechanism, its twin, redundant rows, whether ten seconds of it repeat to 1e-6 (a five-bar is chaotic)
CASES = {
    "four-bar": (linkages.four_bar, lambda: linkages.four_bar(ON_AXIS), 3, True),
    "parallelogram": (linkages.parallelogram, lambda: linkages.parallelogram(ON_AXIS), 3, True),
    "five-bar": (linkages.five_bar, lambda: linkages.five_bar(ON_AXIS), 3, False),
    "slider-crank": (
        linkages.slider_crank, lambda: linkages.slider_crank(bc.PlanarSlider), 3, True
    ),
    "bennett": (linkages.bennett, lambda: linkages.bennett(ON_AXIS), 3, True),
    "door": (linkages.door, lambda: linkages.door(1), 10, True),
    "carriage": (linkages.carriage, lambda: linkages.carriage(1), 10, True),
    "thin four-bar": (
        lambda: linkages.four_bar(thickness=3e-3), lambda: linkages.four_bar(ON_AXIS, 3e-3), None, True
    ),
}  # fmt: skip


def started(mechanism):
    machine = Machine(mechanism)
    assert machine.system.project()
    return machine


@pytest.fixture(params=CASES, scope="module")
def case(request):
    mechanism, twin, redundant, repeats = CASES[request.param]
    machine, regular = started(mechanism()), started(twin())
    return machine, machine.run(10.0), regular, regular.run(10.0), redundant, repeats


def test_constraints_hold(case):
    """Dropped rows are not projected: they follow the others, as well as these are met and independent."""
    _, run, *_ = case
    assert run.outcome["status"] == "finished"
    assert run.C.max() < 1e-9
    assert run.Cdot.max() < 1e-9


def test_energy_is_kept_as_well_as_without_redundant_rows(case):
    """Passing near singular poses magnifies the error of the method, for both alike."""
    _, run, _, regular, _, _ = case
    scale = np.ptp(run.kinetic) + 1.0
    assert run.drift < 3.0 * regular.drift + 1e-9 * scale
    assert run.drift < 1e-6 * scale


def test_the_motion_is_the_same(case):
    _, run, _, regular, _, repeats = case
    last = slice(None) if repeats else slice(0, 11)  # the first second
    bodies = regular.position.shape[1]
    difference = np.abs(run.position[last, :bodies] - regular.position[last])
    assert difference.max() < 1e-6


@pytest.mark.parametrize("case", [name for name, known in CASES.items() if known[2]], indirect=True)
def test_redundant_rows_are_named(case):
    """They are as many as they should be, and the rows kept are independent."""
    machine, _, regular, _, redundant, _ = case
    machine.system.accelerate()
    dropped = machine.system.dropped_rows()
    assert len(dropped) == machine.system.statistics()["dropped_rows"] == redundant
    assert all(machine.model.row_text(row).startswith("joint '") for row in dropped)
    assert regular.system.statistics()["dropped_rows"] == 0
    J = machine.system.rows()[3]
    kept = np.delete(J, dropped, axis=0)
    assert np.linalg.matrix_rank(J, 1e-9) == np.linalg.matrix_rank(kept, 1e-9) == len(kept)


def test_reactions_in_the_plane_are_those_of_the_twin():
    """Where a reaction is unique it does not depend on how the loop is closed."""
    machine, regular = started(linkages.four_bar()), started(linkages.four_bar(ON_AXIS))
    run, other = machine.run(0.5, frames=51), regular.run(0.5, frames=51)
    scale = np.abs(other.reactions[:, :, 3:]).max()
    for component in (3, 5):  # forces along x and z; the loop's plane is the xz plane
        difference = np.abs(run.reactions[:, :, component] - other.reactions[:, :, component])
        assert difference.max() < 1e-9 * scale
    machine.system.accelerate()
    _, unique = machine.system.reactions(machine.joints)
    assert not unique.any()  # forces along y and moments about x and z are not


def test_reactions_are_of_least_norm():
    """Three coaxial hinges and a load in the middle: the outer ones carry the same, and nothing along the
    axis that cancels out."""
    mech = bc.Mechanism("shaft", gravity=(0.0, 0.0, -10.0))
    shaft = mech.add_body("shaft", mass=3.0, inertia=(0.1, 0.2, 0.3))
    for k, y in enumerate((-1.0, 0.0, 1.0)):
        linkages.pin(mech, f"pin{k}", mech.ground, shaft, (0.0, y, 0.0))
    machine = started(mech)
    machine.system.accelerate()
    wrenches, unique = machine.system.reactions(machine.joints)
    assert not unique.any()
    np.testing.assert_allclose(wrenches[0], wrenches[2] * np.array([-1, 1, -1, 1, 1, 1]), atol=1e-12)
    np.testing.assert_allclose(wrenches[:, 3:].sum(axis=0), [0.0, 0.0, 30.0], atol=1e-12)
    np.testing.assert_allclose(wrenches[:, 5], 10.0, atol=1e-12)


@pytest.mark.parametrize("case_name", ["bennett", "four-bar"])
def test_reactions_change_smoothly(case_name):
    """Whatever rows are dropped, and wherever they are exchanged, reactions of least norm are continuous."""
    machine = started(CASES[case_name][0]())
    run = machine.run(1.2, frames=1201)
    jumps = np.abs(np.diff(run.reactions, n=4, axis=0)).max()
    assert jumps < 1e-4 * np.abs(run.reactions).max()


@pytest.mark.parametrize("thickness", [0.1, 0.03, 0.01, 1e-3, 3.5e-4])
def test_redundant_rows_are_found_at_every_pose(thickness):
    """Thinner bars have pivots that are all rounding (docs/decisions/0007-rank-and-redundancy.md, limits)."""
    machine = started(linkages.four_bar(thickness=thickness))
    counts = set()
    for _ in range(200):
        machine.run(0.01, frames=2)
        machine.system.accelerate()
        counts.add(machine.system.statistics()["dropped_rows"])
    assert counts == {3}


def dropped(mechanism):
    """How many rows are dropped at the start."""
    machine = Machine(mechanism)
    machine.system.accelerate()
    assert len(machine.system.dropped_rows()) == machine.system.statistics()["dropped_rows"]
    return machine.system.statistics()["dropped_rows"]


def test_no_row_of_a_large_tree_is_dropped():
    """Bodies with many joints leave pivots of 3e-4, which are measured in loops alone."""
    tree = random_tree(2000, "bush", seed=4)
    system, other = bc.prepare(tree, "lagrange"), bc.prepare(tree, "recursive")
    found, expected = system.accelerate().linear, other.accelerate().linear
    assert not system.stats.dropped
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("n", [14, 24, 40, 60])
def test_freedoms_of_a_ring(n):
    """A polygon of n rods hung by a corner: n - 3 angles change its shape, and it swings as a whole."""
    facts = bc.info(ring(n))
    assert facts.freedom == len(facts.independent) == n - 2
    assert len(facts.redundant) == 3


@pytest.mark.parametrize("n", [200, 2600, 5000])
def test_redundant_rows_of_long_rings(n):
    """As of every plane loop, though rounding of their pivots reaches 1e-3."""
    assert dropped(ring(n)) == 3


def test_redundant_rows_of_many_loops():
    assert dropped(ladder(700)) == 3 * 700


@pytest.mark.parametrize(("n", "angle"), [(8000, 0.3), (20_000, 0.0)])
def test_no_row_of_a_straight_chain_is_redundant(n, angle):
    """The smallest relative pivot of hinged rods in line is 1/8 however many they are; rounding takes it."""
    assert dropped(chain(n, angle=angle)) == 0


def test_rows_come_back_after_a_start_in_a_singular_pose():
    """Rods that lie flat have a row less for an instant, which does not count as redundant for longer."""
    machine = Machine(ladder(1, angle=np.pi / 2))
    counts = []
    for angle in (0.0, 1e-4, 1e-3, 3e-3, 1e-1):
        machine.set(compile_mechanism(ladder(1, angle=np.pi / 2 - angle)).initial.arrays)
        machine.system.accelerate()
        counts.append(machine.system.statistics()["dropped_rows"])
    assert counts == [4, 3, 3, 3, 3]


U = bc.symbol("u")
WIRES = {
    "eight": (ex.cos(U), ex.sin(2 * U), 0.3 * ex.sin(3 * U)),
    "knot": (0.5 * ex.cos(U), 0.5 * ex.sin(3 * U), 0.2 * ex.sin(5 * U)),
    "tangle": (0.64 * ex.cos(3 * U), 0.92 * ex.sin(2 * U), 0.48 * ex.sin(3 * U + 0.3)),
    "coil": (ex.cos(U), ex.sin(U), 0.3 * U),
}


@pytest.mark.parametrize("frames", [30, 60])
@pytest.mark.parametrize("wire", WIRES)
def test_steps_too_long_for_a_wire_are_met_or_refused(wire, frames):
    """A bead thrown far off a crooked wire finds back, or the run ends and tells when and where."""
    mech = bc.Mechanism(gravity=(0.0, 0.0, -9.81))
    bead = mech.add_body("bead", mass=1.0, inertia=(0.01, 0.01, 0.01))
    path = bc.PathJoint(U, WIRES[wire], up=(0, 0, 1))
    mech.add_joint("wire", path, mech.ground, bead, velocity=2.0)
    try:
        run, reason = bc.simulate(mech, duration=3.0, method="semi_implicit_euler", step=1 / frames), None
    except bc.SimulationError as error:
        run, reason = error.trajectory, str(error)
    assert run.violation.position.max() < 1e-8
    assert reason is None or re.search(r"t = [0-9.]+ s: joint 'wire'", reason)
