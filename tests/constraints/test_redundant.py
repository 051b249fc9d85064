"""Overconstrained loops run as they are, as well as twins of the same motion without redundant rows.

A twin closes the loop by a joint that holds only what the other joints leave open. Nothing is set
specially; ten seconds each.
"""

import numpy as np
import pytest
from rigs import linkages
from rigs.machine import Machine

import bellcrank as bc

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
