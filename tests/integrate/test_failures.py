"""Runs that break down or cannot follow a drive: what is said, by name; nothing computed is lost."""

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


FORMULATIONS = ("lagrange", "recursive", "symbolic")
METHODS = ("dopri5", "adams", "rk4")


def led_ball(*, hung=True, turns=("rot_x", "rot_y", "rot_z"), joint=bc.Spherical):
    """A ball joint led past a rotation vector of length π, where its components jump."""
    mech = bc.Mechanism("led ball")
    arm = mech.add_body("arm", mass=1.0, inertia=(0.1, 0.2, 0.25), com=(0.1, 0.0, 0.0))
    mech.add_joint("ball", joint(), mech.ground.marker(), arm.marker())
    far = (bc.Ramp(0.0, 4.5, start=0.0, duration=2.0), bc.Constant(0.4), bc.Constant(0.2))
    for coordinate, motion in zip(turns, far, strict=False):
        mech.add_drive(f"lead {coordinate}", "ball", coordinate, position=motion)
    if hung:
        weight = mech.add_body(
            "weight", mass=0.5, inertia=(0.05,) * 3, position=(0.3, 0, 0), com=(0, 0, -0.2)
        )
        axis = (1.0, 0.0, 0.0)
        mech.add_joint("hinge", bc.Revolute(), arm.marker((0.3, 0, 0), axis=axis), weight.marker(axis=axis))
    return mech


def pulled_arm():
    """Two bars of 1 m in a row, pulled by a drive to 2.5 m from where they hang."""
    mech = bc.Mechanism("pulled arm")
    inner = mech.add_body("inner", mass=1.0, inertia=(0.1, 0.2, 0.25), position=(0.5, 0, 0))
    turned = (np.cos(-np.pi / 4), 0.0, np.sin(-np.pi / 4), 0.0)
    outer = mech.add_body(
        "outer", mass=1.0, inertia=(0.1, 0.2, 0.25), position=(1.0, 0, 0.5), rotation=turned
    )
    mech.add_joint("shoulder", bc.Revolute(), mech.ground.marker(axis=Y), inner.marker((-0.5, 0, 0), axis=Y))
    mech.add_joint(
        "elbow", bc.Revolute(), inner.marker((0.5, 0, 0), axis=Y), outer.marker((-0.5, 0, 0), axis=Y)
    )
    mech.add_joint("hand", bc.Free(), mech.ground.marker(), outer.marker((0.5, 0, 0)))
    mech.add_drive("pull", "hand", "x", position=bc.Ramp(1.0, 2.5, start=0.0, duration=2.0))
    return mech


BEYOND = {
    "ball": led_ball,
    "bare ball": lambda: led_ball(hung=False),
    "one component": lambda: led_ball(turns=("rot_x",)),
    "constant velocity": lambda: led_ball(turns=("rot_x",), joint=bc.ConstantVelocity),
    "beyond reach": pulled_arm,
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("name", BEYOND)
def test_what_cannot_be_followed_ends_the_run(name, formulation, method):
    mech = BEYOND[name]()
    with pytest.raises(bc.SimulationError) as caught:
        bc.simulate(mech, 2.0, formulation=formulation, method=method, output_step=0.02)
    error = caught.value
    assert repr(next(iter(mech.drives))) in str(error)
    kept = error.trajectory
    assert len(kept) > 10
    assert kept.time[-1] == pytest.approx(error.time, abs=0.03)
    assert np.max(kept.violation.position) < 1e-9
    assert np.max(kept.violation.velocity) < 1e-6


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_redundant_rows_that_hold_are_no_error(formulation):
    """Two pins on one axis: the rows of one depend on those of the other."""
    mech = bc.Mechanism("twice")
    arm = mech.add_body("arm", mass=1.0, inertia=(0.1, 0.2, 0.25), com=(0.1, 0.0, 0.0))
    mech.add_joint("pin", bc.Revolute(), mech.ground.marker(axis=Y), arm.marker(axis=Y))
    ends = (mech.ground.marker((0, 1, 0), axis=Y), arm.marker((0, 1, 0), axis=Y))
    mech.add_joint("same pin", bc.Revolute(), *ends)
    run = bc.simulate(mech, 1.0, formulation=formulation, method="dopri5")
    assert run.status == "finished"
    assert np.max(run.violation.position) < 1e-9


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_drives_that_part_end_the_run(formulation):
    """Two drives of one motion agree for a second; the row that was redundant up to then is given up."""
    mech = bc.Mechanism("two drives")
    cart = mech.add_body("cart", mass=1.0, inertia=(1.0, 1.0, 1.0))
    x = (1.0, 0.0, 0.0)
    mech.add_joint("rail", bc.Prismatic(), mech.ground.marker(axis=x), cart.marker(axis=x))
    mech.add_joint("view", bc.Free(), mech.ground.marker(), cart.marker())
    for joint, coordinate, far in (("rail", "z", 1.0), ("view", "x", 1.5)):
        leads = bc.Piecewise((-1.0, 1.0, 3.0), ((0.0, 0.0, 0.0), (0.0, 0.0, far)), "linear")
        mech.add_drive(f"of the {joint}", joint, coordinate, position=leads)
    with pytest.raises(bc.SimulationError) as caught:
        bc.simulate(mech, 2.0, formulation=formulation, method="dopri5", output_step=0.01)
    assert caught.value.time == pytest.approx(1.0, abs=0.02)
    assert caught.value.trajectory.status == "constraints_lost"
    assert np.max(caught.value.trajectory.violation.position) < 2e-6


INERTIA, STEP = 0.1, 1e-3
X, ABOUT_Y = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)


def rotor(*, damping=0.0, stiffness=0.0, speed=10.0):
    """On an axle, with a torsion spring. damping: c h / I. stiffness: k h² / I."""
    mech = bc.Mechanism("rotor", gravity=(0, 0, 0))
    body = mech.add_body("rotor", mass=1.0, inertia=(INERTIA,) * 3, angular_velocity=(0, 0, speed))
    mech.add_joint("axle", bc.Revolute(), mech.ground.marker(), body.marker())
    law = bc.TorsionSpring(
        stiffness=stiffness * INERTIA / STEP**2, damping=damping * INERTIA / STEP, rest_angle=0.0
    )
    mech.add_force("twist", law, "axle")
    return mech


def says_so(mech, duration=1.0, **options):
    with pytest.raises(bc.SimulationError, match="the energy rises without a source") as caught:
        bc.simulate(mech, duration, **{"method": "rk4", **options})
    error = caught.value
    assert error.trajectory.status == "energy_made"
    assert error.body == "rotor"
    assert "'twist'" in str(error)
    return error


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("ratio", [2.8, 3.0, 4.0, 5.0, 7.0, 9.0, 10.0, 11.0, 13.0, 30.0, 100.0, 1000.0])
def test_a_damper_too_strong_for_the_step(ratio, formulation):
    """rk4 is stable up to 2.785. What would be stable is no error, however coarse."""
    error = says_so(rotor(damping=ratio), formulation=formulation)
    assert error.time < 0.1
    says_so(
        rotor(damping=ratio), 0.03 if ratio < 4.0 else 0.003, formulation=formulation
    )  # noticed at the end


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("ratio", [9.0, 20.0, 100.0, 1e4, 1e8])
def test_a_stiff_spring_brings_energy_in(ratio, formulation):
    says_so(rotor(stiffness=ratio), formulation=formulation)


@pytest.mark.parametrize("speed", [500.0, 900.0, 1900.0])
def test_turning_so_fast_that_steps_are_parted(speed):
    """Parts of a step are stable, whole steps are not: the speed goes up and down between both."""
    says_so(rotor(damping=3.0, speed=speed))


def test_the_first_method():
    """Semi-implicit Euler is stable up to 2, and up to k h² / I = 4, where T + V swings widely."""
    for damping in (2.1, 3.0, 30.0):
        says_so(rotor(damping=damping), method="semi_implicit_euler")
    says_so(rotor(stiffness=4.1), method="semi_implicit_euler")
    for mech in (rotor(damping=1.9), rotor(stiffness=3.6)):
        assert bc.simulate(mech, 1.0, method="semi_implicit_euler").status == "finished"


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize(
    "given", [{"damping": 2.0}, {"damping": 2.7}, {"stiffness": 0.5}, {"stiffness": 4.0}]
)
def test_stable_steps_are_no_error(given, formulation):
    assert bc.simulate(rotor(**given), 1.0, method="rk4", formulation=formulation).status == "finished"


def pendulum_cart():
    mech = bc.Mechanism("pendulum on a cart")
    cart = mech.add_body("cart", mass=1.0, inertia=(1.0,) * 3)
    mech.add_joint("rail", bc.Prismatic(), mech.ground.marker(axis=X), cart.marker(axis=X))
    bob = mech.add_body("bob", mass=0.5, inertia=(0.01,) * 3, position=(0, 0, -0.5))
    mech.add_joint("pin", bc.Revolute(), cart.marker(axis=ABOUT_Y), bob.marker((0, 0, 0.5), axis=ABOUT_Y))
    return mech


def pushed(effort):
    return lambda mech: mech.add_force("push", bc.JointMotor(effort=effort), "rail")


def led(motion):
    return lambda mech: mech.add_drive("lead", "rail", position=motion)


def pieces(times, values):
    return bc.Piecewise(times, tuple((value,) for value in values), "hold")


SOURCES = {
    "drive": led(bc.Harmonic(0.3, 20.0)),
    "drive from rest": led(bc.Ramp(0.0, 1.0, start=0.3, duration=0.2)),
    "force": pushed(bc.Harmonic(50.0, 30.0)),
    "force that jumps": pushed(pieces((0.0, 0.31234, 0.6, 2.0), (0.0, 40.0, -40.0))),
    "pulse": pushed(pieces((0.0, 0.31234, 0.3163, 2.0), (0.0, 4000.0, 0.0))),
    "pulses": pushed(
        pieces(tuple(0.0123 * k for k in range(100)), tuple(100.0 * (k % 2) for k in range(99)))
    ),
}


@pytest.mark.parametrize("method", ["rk4", "semi_implicit_euler"])
@pytest.mark.parametrize("source", SOURCES)
def test_what_brings_energy_in_is_no_error(source, method):
    mech = pendulum_cart()
    SOURCES[source](mech)
    run = bc.simulate(mech, 1.0, method=method, formulation="recursive")
    assert run.status == "finished"
    assert np.ptp(run.energy.total) > 1.0


def test_stops_and_friction_bring_nothing_in():
    """A ball that bounces until it rests, and a slider that friction holds: their energy falls."""
    mech = bc.Mechanism("bouncing")
    ball = mech.add_body("ball", mass=1.0, inertia=(1.0,) * 3, position=(0, 0, 0.2))
    floor = bc.Limit(lower=0.0, restitution=0.5)
    mech.add_joint("guide", bc.Prismatic(), mech.ground, ball, limits=floor)
    slider = mech.add_body("slider", mass=1.0, inertia=(1.0,) * 3, velocity=(1.0, 0, 0))
    mech.add_joint("rail", bc.Prismatic(), mech.ground.marker(axis=X), slider.marker(axis=X))
    mech.add_force("rubs", bc.JointFriction(coulomb=3.0, regularisation_velocity=1e-3), "rail")
    for method in ("rk4", "semi_implicit_euler"):
        run = bc.simulate(mech, 2.0, method=method)
        assert run.status == "finished"
        assert run.energy.total[-1] < run.energy.total[0]
