"""What leaves a stop slowly, or comes back to it slowly, meets it once and lies on it, at every tolerance."""

import math

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.formulations.preparing import MOVING

G = 9.81
METHODS = ("adams", "dopri5", "bdf")


def block(height=0.0, speed=0.0, pull=None):
    """A block on a vertical guide with a stop at 0."""
    mech = bc.Mechanism("block over a stop")
    body = mech.add_body(
        "block", mass=1.0, inertia=(1e-3,) * 3, position=(0, 0, height), velocity=(0, 0, speed)
    )
    mech.add_joint(
        "guide", bc.Prismatic(), mech.ground, body, limits={"z": bc.Limit(lower=0.0, restitution=0.5)}
    )
    if pull is not None:
        mech.add_force("pull", pull, "guide")
    return mech


def beam(distance, tilt, restitution):
    """A beam that falls onto two stops. Near its middle, each throws the beam off the other one."""
    mech = bc.Mechanism("beam over two stops")
    turn = (math.cos(tilt / 2), 0.0, math.sin(tilt / 2), 0.0)
    body = mech.add_body("beam", mass=1.0, inertia=(0.2,) * 3, position=(0, 0, 0.05), rotation=turn)
    axis = (0.0, 1.0, 0.0)
    mech.add_joint("plane", bc.Planar(), mech.ground.marker(axis=axis), body.marker(axis=axis))
    for name, x in (("left", -distance), ("right", 1.1 * distance)):
        limits = {"z": bc.Limit(lower=0.0, restitution=restitution)}
        mech.add_joint(name, bc.Free(), mech.ground.marker((x, 0, 0)), body.marker((x, 0, 0)), limits=limits)
    return mech


def rod(angle, wall):
    """A rod of 1 m on a hinge, let go at an angle, whose tip falls onto a wall."""
    mech = bc.Mechanism("rod beside a wall")
    middle, axis = (0.5 * math.sin(angle), 0.0, -0.5 * math.cos(angle)), (0.0, 1.0, 0.0)
    turn = (math.cos(angle / 2), 0.0, -math.sin(angle / 2), 0.0)
    body = mech.add_body("rod", mass=1.0, inertia=(1 / 12, 1 / 12, 1e-3), position=middle, rotation=turn)
    mech.add_joint("hinge", bc.Revolute(), mech.ground.marker(axis=axis), body.marker((0, 0, 0.5), axis=axis))
    limits = {"x": bc.Limit(lower=wall, restitution=0.3)}
    mech.add_joint("wall", bc.Free(), mech.ground.marker(), body.marker((0, 0, -0.5)), limits=limits)
    return mech


def height(run, name="block"):
    return run.body(name).position[:, 2]


@pytest.mark.parametrize("speed", [1e-4, 3e-4, 9e-4])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("formulation", MOVING)
def test_a_hop_ends_by_one_event(formulation, method, speed):
    """Below the speed that bounces, however far the gap counts as closed."""
    flight = 2.0 * speed / G
    how = {"formulation": formulation, "method": method, "tolerance": 1e-12}
    run = bc.simulate(block(speed=speed), 3.0 * flight, output_step=flight / 10.0, **how)
    assert len(run.events) == 1
    assert abs(run.events[0].time - flight) * speed < 1e-11
    path = np.where(run.time < flight, run.time * (speed - 0.5 * G * run.time), 0.0)
    np.testing.assert_allclose(height(run), path, rtol=0, atol=1e-11)
    effort = np.squeeze(run.limit("guide").effort)
    np.testing.assert_allclose(effort[run.time < 0.9 * flight], 0.0, rtol=0, atol=1e-9)
    np.testing.assert_allclose(effort[run.time > 1.1 * flight], G, rtol=1e-9, atol=0)


@pytest.mark.parametrize("tolerance", [1e-4, 1e-8, 1e-10, 1e-12])
@pytest.mark.parametrize(
    ("gap", "speed"), [(0.0, 1e-8), (0.0, 1e-5), (0.0, 1.1e-3), (5e-9, -2e-3), (5e-8, -5e-4)]
)
@pytest.mark.parametrize("method", METHODS)
def test_a_block_comes_to_rest(method, gap, speed, tolerance):
    run = bc.simulate(block(gap, speed), 3e-3, method=method, tolerance=tolerance, output_step=1e-4)
    assert len(run.events) <= 4
    assert abs(height(run)[-1]) < 1e-12
    assert np.squeeze(run.limit("guide").effort)[-1] == pytest.approx(G)


@pytest.mark.parametrize("tolerance", [1e-8, 1e-10, 1e-12])
@pytest.mark.parametrize("method", METHODS)
def test_a_load_that_passes_zero(method, tolerance):
    """The force that is left, 2 mN sin(ωt) - 1 mN, throws the block up by 63 nm in each period."""
    omega, force = 200.0, 2e-3
    pull = bc.JointMotor(f"9.81 - {0.5 * force} + {force}*sin({omega}*t)")
    run = bc.simulate(block(pull=pull), 0.1, method=method, tolerance=tolerance, max_step=2e-3)
    angle = (omega * run.time - math.pi / 6) % (2.0 * math.pi)  # since the force was zero, and rising
    path = math.cos(math.pi / 6) * angle - 0.25 * angle**2 + 0.5 - np.sin(angle + math.pi / 6)
    path = np.where(omega * run.time < math.pi / 6, 0.0, np.maximum(path, 0.0)) * force / omega**2
    np.testing.assert_allclose(height(run), path, rtol=0, atol=0.2 * tolerance + 2e-10)


@pytest.mark.parametrize("tolerance", [1e-8, 1e-10, 1e-12])
def test_a_load_that_passes_zero_by_little(tolerance):
    """The block leaves the stop more slowly than gaps can show, and is loaded again with that speed."""
    pull = bc.JointMotor("9.81 + 1e-6*sin(200*t)")
    run = bc.simulate(block(pull=pull), 0.1, method="bdf", tolerance=tolerance)
    assert run.statistics["steps"] < 1000
    assert np.abs(height(run)).max() < 1e-9


@pytest.mark.parametrize("tolerance", [1e-6, 1e-10, 1e-12])
@pytest.mark.parametrize("method", METHODS)
def test_what_settles_on_a_stop(method, tolerance):
    """A spring that is damped critically brings the block there, slower and slower."""
    mech = block(height=0.1, pull=bc.TorsionSpring(stiffness=100.0, damping=20.0))
    mech.gravity = (0.0, 0.0, 0.0)
    run = bc.simulate(mech, 3.0, method=method, tolerance=tolerance)
    exact = 0.1 * (1.0 + 10.0 * run.time) * np.exp(-10.0 * run.time)
    np.testing.assert_allclose(height(run), exact, rtol=0, atol=1e3 * tolerance + 1e-8)


@pytest.mark.parametrize("tolerance", [1e-3, 1e-8, 1e-12])
@pytest.mark.parametrize(
    ("distance", "tilt", "restitution"), [(0.2, 0.1, 0.4), (0.3, 0.02, 0.0), (0.3, -0.02, 0.4)]
)
@pytest.mark.parametrize(("formulation", "method"), [(f, "bdf") for f in MOVING] + [("lagrange", "adams")])
def test_a_beam_comes_to_rest_on_two_stops(formulation, method, distance, tilt, restitution, tolerance):
    mech = beam(distance, tilt, restitution)
    run = bc.simulate(mech, 0.8, formulation=formulation, method=method, tolerance=tolerance)
    assert len(run.events) < 150
    assert abs(height(run, "beam")[-1]) < 1e-12
    loads = [np.squeeze(run.limit(name).effort)[-1] for name in ("left", "right")]
    assert min(loads) > 0.0
    assert sum(loads) == pytest.approx(G)


@pytest.mark.parametrize(
    ("formulation", "angle", "wall", "tolerance"),
    [("lagrange", 1.52, 0.2, 1e-3), ("recursive", 1.39, 0.1, 1e-6)],
)
def test_no_meeting_by_the_errors_of_a_curve(formulation, angle, wall, tolerance):
    """The curve of `bdf` begins where its step does: elsewhere it would meet what has just been left."""
    how = {"formulation": formulation, "tolerance": tolerance}
    run = bc.simulate(rod(angle, wall), 2.0, method="bdf", **how)
    assert len(run.events) < 100
    assert run.body("rod").position[-1][0] == pytest.approx(0.5 * wall, abs=1e-9)
