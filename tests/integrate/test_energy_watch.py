"""Fixed steps that are too long for what acts end the run by name; what brings energy in does not."""

import numpy as np
import pytest

import bellcrank as bc

FORMULATIONS = ("lagrange", "recursive", "symbolic")
INERTIA, STEP = 0.1, 1e-3
X, Y = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)


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
def test_a_spring_too_stiff_for_the_step(ratio, formulation):
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
    mech.add_joint("pin", bc.Revolute(), cart.marker(axis=Y), bob.marker((0, 0, 0.5), axis=Y))
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
