"""Which rows count as redundant where rounding is of the size of pivots: long loops, long straight chains.

Thin bars are in test_redundant.py.
"""

import re

import numpy as np
import pytest
from rigs.machine import Machine

import bellcrank as bc
from bellcrank import expression as ex
from bellcrank.compile.compile import compile_mechanism
from bellcrank.gallery import chain, ladder, random_tree, ring


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
