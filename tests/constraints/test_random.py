"""Random mechanisms: trees of any joint kinds, closed by more of them, from where they can be assembled."""

import numpy as np
import pytest
from rigs import examples, floating
from rigs.balance import row_imbalance
from rigs.machine import Machine, random_quaternion

import bellcrank as bc

PLAIN = [
    name
    for name, kind in examples.JOINT_KINDS.items()
    if not kind.shorthand and name not in ("Free", "PointOnCurve")
]
# Kinds whose rows hold where both markers coincide; rods have a length.
CLOSING = [
    name
    for name in PLAIN
    if not hasattr(examples.joint(name), "length") and "radius" not in dir(examples.joint(name))
]
SEEDS = range(31)
OPEN = {0, 9, 10, 25}  # loops that do not close


def mechanism(seed):
    """Two to six bodies, each on an earlier one or the ground, and up to two loops."""
    rng = np.random.default_rng(seed)
    mech = bc.Mechanism(f"random {seed}", gravity=tuple(rng.uniform(-5.0, 5.0, 3)))
    bodies = [mech.ground]
    for k in range(int(rng.integers(2, 7))):
        parent = bodies[int(rng.integers(len(bodies)))]
        kind = examples.joint(PLAIN[int(rng.integers(len(PLAIN)))])
        marker = floating.skew_marker(parent, rng)
        body, other = floating.add_body_at(mech, f"b{k}", rng, parent, marker, *floating.start_of(kind))
        mech.add_joint(f"j{k}", kind, marker, other)
        bodies.append(body)
    for k in range(int(rng.integers(0, 3))):
        first, second = rng.choice(len(bodies), 2, replace=False)
        kind = examples.joint(CLOSING[int(rng.integers(len(CLOSING)))])
        at, turn = tuple(rng.uniform(-0.5, 0.5, 3)), random_quaternion(rng)
        ends = (bodies[b].world_marker(at, rotation=turn) for b in (first, second))
        mech.add_joint(f"loop{k}", kind, *ends)
    return mech


@pytest.mark.parametrize("seed", [seed for seed in SEEDS if seed not in OPEN])
def test_a_random_mechanism(seed):
    """It keeps constraints and energy, and every body is in balance."""
    mech = mechanism(seed)
    bc.assemble(mech)
    machine = Machine(mech)
    assert machine.system.project()
    assert row_imbalance(machine) < 1e-10
    run = machine.run(0.3, method="dopri5", rtol=1e-9, atol=1e-9, frames=31)
    assert run.outcome["status"] == "finished"
    assert run.C.max() < 1e-9
    assert run.Cdot.max() < 1e-8
    assert run.drift < 1e-6 * (np.ptp(run.kinetic) + np.ptp(run.potential) + 1e-3)


@pytest.mark.parametrize("seed", sorted(OPEN))
def test_loops_that_do_not_close_are_told(seed):
    with pytest.raises(bc.AssemblyError, match="what comes closest misses joint"):
        bc.assemble(mechanism(seed))
