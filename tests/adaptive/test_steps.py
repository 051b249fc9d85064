"""Steps that cost what moves: frames, lazy updates, forces in the world, laws of joints."""

import numpy as np
import pytest
from rigs.adaptive import at_rest, linkage, mechanism

import bellcrank as bc
from bellcrank import _core
from bellcrank.run.quasistatic import MEASURES


def poses(core, model):
    return np.array([np.concatenate(core.pose(model.core, body)) for body in range(len(model.bodies))])


@pytest.mark.parametrize("number", range(12))
def test_lazy_updates_are_updates(number):
    """After many steps with a bound, everything is as if it was made anew at the same configuration."""
    rng = np.random.default_rng(number)
    core, model, _ = linkage(rng, MEASURES[number % 4], number)
    core.advance(0.05, 50)
    found = poses(core, model)
    core.refine(0.0)
    fresh = _core.Quasistatics(model.core, 1e-2, "absolute_joint", False)
    fresh.start(model.core, core.time, found[:, :3], found[:, 3:])
    fresh.solve()
    expected = fresh.accelerations()
    np.testing.assert_allclose(core.accelerations(), expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    np.testing.assert_allclose(poses(fresh, model), found, rtol=0, atol=1e-12)


@pytest.mark.parametrize("number", range(12))
def test_exact_steps_are_steps_with_a_bound_of_zero(number):
    runs = []
    for with_totals in (True, False):
        rng = np.random.default_rng(number)
        core, model, _ = linkage(rng, "relative_joint", number, step=1e-3, with_totals=with_totals)
        core.advance(0.0, 20)
        runs.append(poses(core, model))
    np.testing.assert_allclose(*runs, rtol=0, atol=1e-9 * np.abs(runs[0]).max())


def test_a_pendulum_falls_by_half_its_acceleration_times_the_step_squared():
    mech = bc.Mechanism("pendulum")
    rod = mech.add_body("rod", mass=2.0, com=(0.5, 0, 0), inertia=(0.01, 0.2, 0.2))
    hinge = mech.ground.marker((0, 0, 0), axis=(0, 1, 0))
    mech.add_joint("pin", bc.Revolute(), hinge, rod.marker((0, 0, 0), axis=(0, 1, 0)))
    run = bc.start(mech, mode="quasistatic", step=1e-2)
    angle = 0.0
    for _ in range(50):
        run.advance()
        angle += 0.5 * 1e-4 * 2.0 * 9.81 * 0.5 * np.cos(angle) / (0.2 + 2.0 * 0.25)
    assert run.trajectory.joint("pin")[-1, 0] == pytest.approx(angle, rel=1e-12)
    assert run.time == pytest.approx(0.5)


def test_springs_come_to_rest_where_they_balance():
    mech = bc.Mechanism("slide", gravity=(0, 0, -10.0))
    body = mech.add_body("weight", mass=2.0, inertia=(1, 1, 1))
    mech.add_joint("rail", bc.Prismatic(), mech.ground, body)
    mech.add_force("spring", bc.TorsionSpring(stiffness=100.0), "rail")
    run = bc.start(mech, mode="quasistatic", step=0.1)
    run.advance(steps=400)
    assert run.pose("weight")[0][2] == pytest.approx(-0.2, rel=1e-9)
    assert run.advance() == () or run.error == 0.0


def test_what_does_not_move_is_not_touched():
    """A force on a foot moves the foot; a step in which nothing moves updates nothing."""
    mech = bc.Mechanism("two arms", gravity=(0, 0, 0))
    for side in ("left", "right"):
        carrier = mech.ground
        for k in range(64):
            rod = mech.add_body(f"{side} {k}", mass=1.0, position=(0.0, float(k), 0), inertia=(1, 1, 1))
            at = (0.0, 1.0 if k else 0.0, 0.0)
            mech.add_joint(f"{side} pin {k}", bc.Revolute(), carrier.marker(at), rod.marker())
            carrier = rod
    push = bc.Wrench(force=(1.0, 0.0, 0.0))
    mech.add_force("push", push, mech.bodies["left 63"].marker((0.0, 1.0, 0.0)))
    model = at_rest(mech)
    core = _core.Quasistatics(model.core, 1e-2, "relative_joint")
    core.start(model.core, 0.0, model.initial.position, model.initial.rotation)
    core.advance(1e-2)
    joints = [core.blocks[link] for link in core.moved]
    assert 0 < len(joints) < 64
    assert all(joint < 64 for joint in joints)
    assert core.updated < len(model.bodies)
    core.refine(0.0)
    idle = _core.Quasistatics(model.core, 1e-2, "absolute_joint")
    idle.start(model.core, 0.0, model.initial.position, model.initial.rotation)
    idle.advance(1e6)
    assert len(idle.moved) == 0
    assert idle.updated == 0


@pytest.mark.parametrize("number", range(8))
def test_records_replay_every_pose_of_every_frame(number, tmp_path):
    rng = np.random.default_rng(number)
    mech = mechanism(rng, number)
    run = bc.start(at_rest(mech), mode="quasistatic", step=1e-2, max_error=0.1, assemble=False)
    names, seen = list(mech.bodies), []
    seen.append([run.pose(name) for name in names])
    for _ in range(15):
        run.advance()
        seen.append([run.pose(name) for name in names])
    record = run.stop()
    record.save(tmp_path / "run.h5")
    for kept in (record, bc.MoveTrajectory.load(tmp_path / "run.h5")):
        position, rotation = kept.poses(names)
        np.testing.assert_array_equal(position, [[p for p, _ in frame] for frame in seen])
        np.testing.assert_array_equal(rotation, [[q for _, q in frame] for frame in seen])
        assert sum(len(kept.moved(frame)) for frame in range(1, 16)) < 15 * len(names) or number % 2


def test_a_simulation_records_every_output_step(tmp_path):
    mech = mechanism(np.random.default_rng(1), 1)
    settings = {"mode": "quasistatic", "step": 1e-2, "assemble": False, "path": tmp_path / "run.h5"}
    run = bc.simulate(at_rest(mech), 0.4, output_step=0.1, **settings)
    np.testing.assert_allclose(run.time, [0.0, 0.1, 0.2, 0.3, 0.4], atol=1e-12)
    assert bc.MoveTrajectory.load(tmp_path / "run.h5").statistics["steps"] == 40
