"""Runs that break down: what is said, by name, and that nothing computed is lost."""

import math

import numpy as np
import pytest

import bellcrank as bc

Y = (0.0, 1.0, 0.0)


def test_a_drive_that_leaves_the_reach(tmp_path):
    """A slider is pulled beyond the length of its rod (1 m), which it reaches at t = 0.5 s."""
    mech = bc.Mechanism("slider")
    cart = mech.add_body("cart", mass=1.0, inertia=(1, 1, 1), position=(0.5, 0, 0))
    mech.add_joint("rail", bc.Prismatic(), mech.ground.marker(axis=(1, 0, 0)), cart.marker(axis=(1, 0, 0)))
    crank = mech.add_body("crank", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.25, 0, math.sqrt(3) / 4))
    half = -math.pi / 6
    mech.replace(crank, rotation=(math.cos(half), 0, math.sin(half), 0))
    mech.add_joint("foot", bc.Revolute(), mech.ground.marker(axis=Y), crank.marker((-0.5, 0, 0), axis=Y))
    mech.add_joint("tip", bc.PointOnPlane(), cart.marker(axis=(1, 0, 0)), crank.marker((0.5, 0, 0)))
    mech.add_drive("pull", joint="rail", position=bc.Harmonic(0.0, 0.0, offset=0.5, slope=1.0))
    path = tmp_path / "run.h5"
    with pytest.raises(bc.SimulationError) as caught:
        bc.simulate(mech, 2.0, step=1e-3, path=path)
    error = caught.value
    assert error.time == pytest.approx(0.5, abs=0.01)
    text = str(error)
    assert "a drive ('pull') may ask for a position that cannot be reached" in text
    assert "singular configuration" in text
    assert error.row is not None
    assert error.row in text
    kept = error.trajectory
    assert kept.time[-1] == pytest.approx(0.5, abs=0.01)
    assert kept.status == "constraints_lost"
    assert np.max(kept.violation.position) < 1e-8
    assert bc.Trajectory.load(path).status == "constraints_lost"


def test_a_spring_too_stiff_for_the_step():
    mech = bc.Mechanism("stiff", gravity=(0, 0, 0))
    ball = mech.add_body("ball", mass=1e-3, inertia=(1e-6, 1e-6, 1e-6), position=(1.0, 0, 0))
    mech.add_body("other", mass=1.0, inertia=(1, 1, 1))
    mech.add_force(
        "spring", bc.SpringDamper(stiffness=1e8, rest_length=0.5), mech.ground.marker(), ball.marker()
    )
    with pytest.raises(bc.SimulationError, match="rises without a source") as caught:
        bc.simulate(mech, 1.0, step=1e-3)
    error = caught.value
    assert error.body == "ball"
    assert "shorter step, or method='dopri5'" in str(error)
    assert len(error.trajectory) >= 1
    assert np.all(np.isfinite(error.trajectory.body("ball").position))


def test_a_blow_up_in_finite_time_under_step_control():
    """x'' = x^3 pushes outwards: x = sqrt(2)/(sqrt(2) - t) is infinite at t = sqrt(2)."""
    mech = bc.Mechanism("blow-up", gravity=(0, 0, 0))
    ball = mech.add_body(
        "ball", mass=1.0, inertia=(1, 1, 1), position=(0, 0, 1.0), velocity=(0, 0, math.sqrt(0.5))
    )
    mech.add_joint("rail", bc.Prismatic(), mech.ground.marker(), ball.marker())
    mech.add_force("push", bc.TabulatedSpring(effort=bc.Polynomial((0.0, 0.0, 0.0, 1.0))), "rail")
    with pytest.raises(bc.SimulationError) as caught:
        bc.simulate(mech, 5.0, method="dopri5")
    error = caught.value
    assert error.body == "ball"
    assert error.time == pytest.approx(math.sqrt(2.0), abs=1e-3)
    assert error.trajectory.status in ("step_vanished", "not_finite")
    exact = math.sqrt(2.0) / (math.sqrt(2.0) - error.trajectory.time[100])
    assert error.trajectory.joint("rail").position[100, 0] == pytest.approx(exact, rel=1e-6)


def test_an_impossible_start_is_told_before_anything_runs():
    mech = bc.Mechanism("apart")
    ball = mech.add_body("ball", mass=1.0, inertia=(1, 1, 1))
    mech.add_joint("here", bc.Spherical(), mech.ground.marker(), ball.marker())
    mech.add_joint("there", bc.Spherical(), mech.ground.marker((1, 0, 0)), ball.marker())
    with pytest.raises(bc.AssemblyError, match="cannot be assembled"):
        bc.simulate(mech, 1.0)
    with pytest.raises(bc.AssemblyError, match="cannot start"):
        bc.simulate(mech, 1.0, assemble=False)
