"""Angles of fast rotors on slow carriers: their turns are counted right where a step takes many of them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import bellcrank as bc

FORMULATIONS = ("recursive", "symbolic")
METHODS = ("adams", "dopri5")
SLOW = (0.01, 0.02, 0.01)  # rad/s
FAST = 100.0  # rad/s


def satellite(joint=bc.Revolute, rotors=1):
    """Symmetric rotors on parallel axles, each turning twice as fast as the one before, and backwards."""
    mech = bc.Mechanism("satellite", gravity=(0, 0, 0))
    body = mech.add_body("satellite", mass=100.0, inertia=(20.0, 25.0, 30.0), angular_velocity=SLOW)
    for number in range(rotors):
        place = np.array((0.3 * number, 0.1, 0.0))
        rotor = mech.add_body(
            f"rotor {number}",
            mass=1.0,
            inertia=(0.01, 0.01, 0.02),
            position=tuple(place),
            velocity=tuple(np.cross(SLOW, place)),
            angular_velocity=(*SLOW[:2], SLOW[2] + FAST * (-2.0) ** number),
        )
        mech.add_joint(f"axle {number}", joint(), body.marker(tuple(place)), rotor.marker())
    return mech


def angle_of(mech, number=0):
    return mech.joints[f"axle {number}"].coordinate("theta_z")


def run_of(mech, formulation, method, **options):
    return bc.simulate(
        mech, 20.0, output_step=0.37, formulation=formulation, method=method, tolerance=1e-10, **options
    )


def counts_turns(run, joint="axle 0", tolerance=1e-5):
    """Whether angles are the integrals of their rates, which change slowly."""
    history = run.joint(joint)
    place = list(history.coordinates).index("theta_z")
    angle, rate = history.position[:, place], history.velocity[:, place]
    travelled = np.diff(run.time) * 0.5 * (rate[1:] + rate[:-1])
    assert np.median(np.abs(travelled)) > 10.0
    assert_allclose(np.diff(angle), travelled, atol=tolerance)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("formulation", ["lagrange", *FORMULATIONS])
def test_frames_between_and_at_steps(formulation, method):
    run = run_of(satellite(), formulation, method)
    counts_turns(run)
    if formulation != "lagrange":  # which has the rotor's own motion in space as unknowns
        assert run.statistics["steps"] < 100


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_geared_rotors(formulation, method):
    """The row between the angles holds at every stage of a step, however far it goes."""
    mech = satellite(rotors=2)
    mech.add_constraint("gear", bc.Coupling((2.0, 1.0)), angle_of(mech, 0), angle_of(mech, 1))
    run = run_of(mech, formulation, method)
    counts_turns(run, "axle 0")
    counts_turns(run, "axle 1")
    assert run.statistics["steps"] < 100
    one, two = (run.joint(f"axle {number}").position[:, 0] for number in (0, 1))
    assert_allclose(2.0 * one + two, 2.0 * one[0] + two[0], atol=1e-9)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_driven_rotor(formulation):
    mech = satellite()
    mech.add_drive("motor", "axle 0", "theta_z", position=bc.Polynomial((0.0, FAST)))
    run = run_of(mech, formulation, "dopri5")
    assert_allclose(run.joint("axle 0").position[:, 0], FAST * run.time, atol=1e-9)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_spring_on_an_angle_of_many_turns(formulation):
    """A spring so weak that a step takes many turns: its moment is that of the whole angle."""
    mech = satellite()
    spring = bc.TorsionSpring(stiffness=1e-4, damping=0.0, rest_angle=0.0)
    mech.add_force("watch spring", spring, "axle 0")
    run = run_of(mech, formulation, "adams")
    counts_turns(run, tolerance=1e-2)
    assert run.statistics["steps"] < 200
    assert np.ptp(run.energy.total) < 1e-9 * np.max(run.energy.kinetic)
    assert np.max(run.energy.potential) > 1.0


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_events_at_whole_turns(formulation):
    """Events are looked for within steps of many turns."""
    mech = satellite(bc.Cylindrical)
    event = bc.Event("far", "axle.theta_z - 700.0", names={"axle": "axle 0"})
    run = run_of(mech, formulation, "adams", events=event)
    times = [event.time for event in run.events]
    rate = run.joint("axle 0").velocity[:, 1].mean()
    assert times == pytest.approx([700.0 / rate], rel=1e-5)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_going_on_from_a_state(formulation):
    mech = satellite()
    whole = run_of(mech, formulation, "adams")
    middle = len(whole.time) // 2
    rest = bc.simulate(
        mech,
        times=whole.time[middle:],
        state=whole.at(whole.time[middle]),
        formulation=formulation,
        method="adams",
        tolerance=1e-10,
    )
    assert_allclose(rest.joint("axle 0").position, whole.joint("axle 0").position[middle:], atol=1e-6)
