"""Kinematics and inverse dynamics of driven mechanisms against closed forms and against simulation."""

import math

import numpy as np
import pytest
from linkages import Y, four_bar, slider_crank

import bellcrank as bc
from bellcrank.gallery import prosthetic_tasks

SPEED = 3.0
FORMULATIONS = ("lagrange", "recursive", "symbolic")


def piston(angle, speed):
    """Position, velocity and acceleration of a centric slider at constant speed of the crank."""
    r, rod = 0.5, 2.0
    s, c = np.sin(angle), np.cos(angle)
    root = np.sqrt(rod**2 - (r * s) ** 2)
    x = r * c + root
    v = -r * s * speed - r**2 * s * c * speed / root
    a = -r * c * speed**2 - r**2 * speed**2 * ((c**2 - s**2) / root + r**2 * s**2 * c**2 / root**3)
    return x, v, a


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_slider_crank(formulation):
    """Closed form over two turns; nothing drifts, for nothing is integrated."""
    run = bc.kinematics(slider_crank(SPEED), 4 * math.pi / SPEED, 0.01, formulation=formulation)
    x, v, a = piston(SPEED * run.time, SPEED)
    slider = run.body("piston")
    assert np.max(np.abs(slider.position[:, 0] - x)) < 1e-9
    assert np.max(np.abs(slider.velocity[:, 0] - v)) < 1e-9
    assert np.max(np.abs(slider.acceleration[:, 0] - a)) < 1e-7
    assert run.joint("main").position[-1, 0] == pytest.approx(4 * math.pi, abs=1e-9)


def test_the_effort_of_the_motor_balances_the_power():
    """Without gravity the motor's power is the rate of the kinetic energy."""
    run = bc.inverse_dynamics(slider_crank(SPEED), 2 * math.pi / SPEED, 0.005)
    energy = run.energy.kinetic
    rate = np.gradient(energy, run.time, edge_order=2)
    power = run.drive("motor").effort.ravel() * SPEED
    assert np.max(np.abs(power - rate)[2:-2]) < 2e-3 * np.max(np.abs(rate))


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_the_piston_s_force_by_hand(formulation):
    """The rod's force along x on the piston is its mass times its acceleration; the bore holds it across."""
    run = bc.inverse_dynamics(slider_crank(SPEED), 1.0, 0.05, formulation=formulation)
    _, _, a = piston(SPEED * run.time, SPEED)
    along = run.joint("gudgeon").reaction[:, 3]
    assert along == pytest.approx(3.0 * a, abs=1e-7)
    across = run.joint("gudgeon").reaction[:, 5] + run.joint("bore").reaction[:, 5]
    assert across == pytest.approx(0.0 * a, abs=1e-7)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_long_step_stays_on_its_branch(formulation):
    """A quarter turn and more between frames: the motion in between is followed in smaller steps."""
    run = bc.kinematics(slider_crank(SPEED), 4.0, 0.6, formulation=formulation)
    x, _, _ = piston(SPEED * run.time, SPEED)
    assert np.max(np.abs(run.body("piston").position[:, 0] - x)) < 1e-9
    assert run.statistics["steps"] > len(run)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_whole_turns_between_frames_are_counted(formulation):
    """A wheel led at constant speed is so easy to predict that one step could hold many turns."""
    mech = bc.Mechanism("wheel")
    wheel = mech.add_body("wheel", mass=1.0, inertia=(0.1, 0.1, 0.2))
    mech.add_joint("axle", bc.Revolute(), mech.ground.marker(), wheel.marker())
    mech.add_drive("motor", joint="axle", velocity=100.0)
    run = bc.kinematics(mech, 1.0, 0.1, formulation=formulation)
    assert run.joint("axle").position[:, 0] == pytest.approx(100.0 * run.time, abs=1e-8)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_simulation_agrees(formulation):
    mech = four_bar()
    mech.add_drive("motor", joint="A", velocity=bc.Constant(5.0))
    led = bc.inverse_dynamics(mech, 2.0, 0.02, formulation=formulation)
    run = bc.simulate(mech, 2.0, method="dopri5", tolerance=1e-11, output_step=0.02, accelerations=True)
    for name in run.bodies:
        assert np.max(np.abs(led.body(name).position - run.body(name).position)) < 1e-8
        assert np.max(np.abs(led.body(name).acceleration - run.body(name).acceleration)) < 1e-6
    assert np.max(np.abs(led.drive("motor").effort - run.drive("motor").effort)) < 1e-6
    assert np.max(np.abs(led.joint("D").reaction - run.joint("D").reaction)) < 1e-6


def test_what_is_not_driven_is_named():
    with pytest.raises(bc.MechanismError, match=r"leave 1 degree of freedom open; drive .* joint 'A'"):
        bc.kinematics(four_bar(), 1.0)


def test_a_redundant_drive_that_agrees_is_no_fault():
    """Both wheels of a gear are driven, in ratio: one drive is redundant, the motion is determined."""
    mech = bc.Mechanism("gears")
    for k, name in enumerate(("one", "two")):
        wheel = mech.add_body(name, mass=1.0, inertia=(0.1, 0.2, 0.1), position=(float(k), 0, 0))
        mech.add_joint(
            name, bc.Revolute(), mech.ground.marker((float(k), 0, 0), axis=Y), wheel.marker(axis=Y)
        )
    mech.add_constraint("mesh", bc.Gear(ratio=2.0), "one", "two")
    mech.add_drive("first", joint="one", velocity=2.0)
    mech.add_drive("second", joint="two", velocity=-1.0)
    run = bc.kinematics(mech, 1.0)
    assert run.joint("two").position[-1, 0] == pytest.approx(-1.0, abs=1e-9)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_the_end_of_the_reach_is_a_failure_with_what_was_computed(formulation):
    """A rocker of a four-bar that cannot go all the way round, driven beyond its dead point."""
    mech = four_bar()
    mech.add_drive("motor", joint="D", velocity=1.0)
    with pytest.raises(bc.SimulationError, match="drive") as caught:
        bc.kinematics(mech, 10.0, 0.01, formulation=formulation)
    kept = caught.value.trajectory
    assert 0.01 < kept.time[-1] < 3.0
    assert np.max(kept.violation.position) < 1e-9
    assert caught.value.time == pytest.approx(kept.time[-1], abs=0.02)


@pytest.mark.parametrize(("arguments", "message"), [((0.0,), "duration"), ((1.0, -0.1), "step")])
def test_wrong_arguments_are_refused(arguments, message):
    with pytest.raises(bc.MechanismError, match=message):
        bc.kinematics(slider_crank(1.0), *arguments)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"formulation": "symbolik"}, bc.Unsupported, "no formulation 'symbolik'; did you mean 'symbolic'"),
        ({"formulation": "recursive", "planar": True}, bc.MechanismError, "planar"),
        ({"stepp": 0.1}, bc.MechanismError, "stepp"),
    ],
)
@pytest.mark.parametrize("analysis", [bc.kinematics, bc.inverse_dynamics])
def test_formulations_and_options_that_there_are_not(analysis, arguments, error, message):
    with pytest.raises(error, match=message):
        analysis(slider_crank(1.0), 1.0, **arguments)


def test_stops_under_every_formulation():
    mech = slider_crank(1.0)
    mech.replace(mech.joints["bore"], limits={"z": bc.Limit(-9.0, 9.0)})
    expected = bc.kinematics(mech, 0.1, 0.1).body("piston").position
    for formulation in ("recursive", "symbolic"):
        found = bc.kinematics(mech, 0.1, 0.1, formulation=formulation).body("piston").position
        np.testing.assert_allclose(found, expected, atol=1e-10)


def test_functions_are_read_from_the_start_time_on():
    """x = r cos + ... at angles from 1.5 rad/s * 2 s on."""
    run = bc.kinematics(slider_crank(1.5), 1.0, 0.1, start=2.0)
    x, _, _ = piston(1.5 * run.time, 1.5)
    assert run.time[0] == 2.0
    assert np.max(np.abs(run.body("piston").position[:, 0] - x)) < 1e-8


@pytest.mark.parametrize("step", [0.05, 0.2, 0.5])
def test_far_apart_frames_are_reached_all_the_same(step):
    """The arm on its path, with screws that turn many times between two frames: as with short steps."""
    task = prosthetic_tasks.TAKE_A_BOOK
    mech = prosthetic_tasks.led_by_path(task)
    fine = bc.kinematics(mech, task.end, 0.01)
    coarse = bc.kinematics(mech, task.end, step)
    for name in prosthetic_tasks.ACTUATORS:
        expected = fine.joint(name).position[np.searchsorted(fine.time, coarse.time - 1e-9)]
        assert coarse.joint(name).position == pytest.approx(expected, abs=1e-7)


def test_a_drive_that_starts_at_a_stop_leaves_no_degree_of_freedom_open():
    """Whether rounding closes the stop or not: a closed one makes the drive redundant for a moment only."""
    for k in range(1, 80):
        start = -0.002 * k
        mech = bc.Mechanism("latch", gravity=(0, 0, 0))
        handle = mech.add_body("handle", mass=0.075, com=(0.03, 0, -0.015), inertia=(3e-6, 2.5e-5, 2.3e-5))
        mech.add_joint("pivot", bc.Revolute(), "ground", handle, bc.Limit(start, 2.6), position=start)
        hook = bc.SpringDamper(3e4, rest_length=0.05)
        mech.add_force("hook", hook, mech.ground.marker((-0.04, 0, 0)), handle.marker((0.02, 0, 0)))
        mech.add_drive("hand", "pivot", position=bc.Ramp(start, 0.5, duration=1.0))
        assert bc.info(mech).freedom == 0
        assert len(bc.inverse_dynamics(mech, duration=1.0, step=0.5)) == 3
