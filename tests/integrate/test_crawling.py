"""Runs that could crawl say so or end by name; time always advances, however short the steps.

All bounds are on counts: no clock is read.
"""

from dataclasses import replace

import numpy as np
import pytest
from rigs.crawling import judged, slid, slider, towed

import bellcrank as bc

METHODS = ("adams", "dopri5", "bdf", "auto")


@pytest.mark.parametrize("formulation", ["lagrange", "recursive"])
@pytest.mark.parametrize("method", METHODS)
def test_a_point_that_sticks_does_not_slip_on_for_rounding(method, formulation):
    """The end of a step is projected: that must not undo the event which ended it."""
    mech = towed(2, 1e5, 0.5, 0.4)
    run = bc.simulate(mech, 0.9, output_step=0.01, tolerance=1e-5, method=method, formulation=formulation)
    assert run.statistics["evaluations"] < 60_000
    times = np.array([event.time for event in run.events if event.name == "touch sticks"])
    assert len(times) < 1000
    assert run.energy.total[-1] < run.energy.total[0]


@pytest.mark.parametrize("method", ["bdf", "auto"])
@pytest.mark.parametrize("sharp", [1e-6, 1e-7, 1e-8, 1e-9])
def test_sharp_friction_takes_no_more_steps_than_blunt_one(sharp, method):
    loads = (5.0, 20.0, 3.0, -15.0)
    run = bc.simulate(slider(2.0, 8.0, sharp, loads, 1.0), 1.0, method=method)
    assert run.statistics["evaluations"] < 20_000
    known = slid(2.0, 8.0, loads, 1.0)
    assert run.joint("rail").position[-1, 0] == pytest.approx(known, abs=1e-5 + 30 * sharp)


@pytest.mark.parametrize("formulation", ["recursive", "symbolic"])
def test_sharp_friction_by_dense_differences(formulation):
    loads = (5.0, 20.0, 3.0, -15.0)
    mech = slider(2.0, 8.0, 1e-8, loads, 1.0)
    run = bc.simulate(mech, 1.0, method="bdf", formulation=formulation)
    assert run.statistics["evaluations"] < 30_000
    assert run.joint("rail").position[-1, 0] == pytest.approx(slid(2.0, 8.0, loads, 1.0), abs=1e-5)


def taut(stiffness):
    """A block that is pulled slowly against a spring without damping: tiny oscillations never end."""
    mech = bc.Mechanism("taut", gravity=(0, 0, 0))
    block = mech.add_body("block", 1.0, (1, 1, 1))
    mech.add_joint("rail", bc.Prismatic(), mech.ground, block)
    mech.add_force("wire", bc.TorsionSpring(stiffness), "rail")
    mech.add_force("pull", bc.JointMotor("1e3*sin(3*t)"), "rail")
    return mech


@pytest.mark.parametrize("stiffness", [1e12, 1e14, 1e18, 1e22])
def test_auto_changes_the_method_where_it_does_not_get_on(stiffness):
    """Steps of adams are limited by stability, but do not look it; those of bdf are from order 3 on."""
    run, again = (bc.simulate(taut(stiffness), 1.0, output_step=0.01) for _ in range(2))
    told = run.statistics
    assert told["evaluations"] < 250_000
    assert told["method"] == "esdirk"
    assert " did not get on before t = " in told["choice"]
    known = 1e3 * np.sin(3.0 * run.time) / stiffness
    np.testing.assert_allclose(run.joint("rail").position[:, 0], known, rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(run.body("block").position, again.body("block").position)


def oscillator(stiffness):
    mech = bc.Mechanism("oscillator", gravity=(0, 0, 0))
    block = mech.add_body("block", 1.0, (1, 1, 1), velocity=(0, 0, 1.0))
    mech.add_joint("rail", bc.Prismatic(), mech.ground, block)
    mech.add_force("wire", bc.TorsionSpring(stiffness), "rail")
    mech.add_force("pull", bc.JointMotor(1.0), "rail")
    return mech


def test_a_slow_run_warns_once_and_names_the_force():
    event = bc.Event("enough", "t - 3e-4", terminal=True)
    with pytest.warns(bc.SlowRunWarning, match=r"does not get on since t = .* 'block' .*'wire'") as caught:
        run = bc.simulate(oscillator(1e16), 1.0, method="dopri5", output_step=0.1, events=event)
    assert len(caught) == 1
    assert run.statistics["slow"] == str(caught[0].message)
    assert run.time[-1] == pytest.approx(3e-4)


def test_a_run_without_hope_is_ended_and_keeps_what_it_has():
    live = bc.start(oscillator(1e24), method="dopri5")
    live.advance(1e-11)
    with pytest.raises(bc.SimulationError, match=r"given up .* would not end.*'wire'") as caught:
        live.advance(1.0)
    kept = caught.value.trajectory
    assert kept.status == "endless"
    assert caught.value.body == "block"
    assert kept.time.tolist() == [0.0, 1e-11]
    assert kept.statistics["evaluations"] < 300_000


@pytest.mark.parametrize("given", [{}, {"method": "adams"}, {"step": 1e-3}])
def test_the_end_of_time_is_not_waited_for(given):
    mech = bc.Mechanism("pendulum")
    bob = mech.add_body("bob", 1.0, (0.1, 0.1, 0.1), position=(0.5, 0, 0))
    ends = mech.ground.marker(axis=(0, 1, 0)), bob.marker((-0.5, 0, 0), axis=(0, 1, 0))
    mech.add_joint("pin", bc.Revolute(), *ends)
    live = bc.start(mech, **given)
    live.advance(0.5)
    with pytest.raises(
        bc.SimulationError, match=r"would not end: .* more steps? .*left|more are left"
    ) as caught:
        live.advance(1e300)
    assert caught.value.trajectory.time[1] == pytest.approx(0.5)
    assert caught.value.trajectory.statistics["evaluations"] < 250_000


def test_too_many_frames_are_refused_by_number():
    live = bc.start(oscillator(1.0), output_step=0.01)
    with pytest.raises(
        bc.MechanismError, match=r"at most 10000000 frames can be recorded, these are 1e\+302"
    ):
        live.advance(1e300)


def test_a_body_that_is_free_gets_to_any_end():
    mech = bc.Mechanism("free", gravity=(0, 0, 0))
    mech.add_body("stone", 1.0, (1, 1, 1), velocity=(1.0, 0, 0))
    live = bc.start(mech)
    live.advance(1e100)
    assert live.state.position[0, 0] == pytest.approx(1e100)


def hasty(time, readings):
    return {}


@pytest.mark.parametrize("step", [None, 1e-3])
def test_controllers_that_are_called_without_end_are_named(step):
    mech = oscillator(1.0)
    controller = bc.Controller(hasty, period=1e-12)
    with pytest.raises(
        bc.SimulationError, match=r"controller 'hasty' is called every 1e-12 s, 1.0e\+12 more"
    ):
        bc.simulate(mech, 1.0, controllers=controller, step=step)


def test_controllers_that_are_called_too_often_are_warned_of():
    event = bc.Event("enough", "t - 1e-4", terminal=True)
    live = bc.start(oscillator(1.0), controllers=bc.Controller(hasty, period=1e-6), events=event)
    with pytest.warns(bc.SlowRunWarning, match="controller 'hasty' is called every 1e-06 s"):
        live.advance(100.0)
    assert live.time == pytest.approx(1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_a_sample_of_random_runs(seed):
    assert judged(seed) == ""


@pytest.mark.parametrize("formulation", ["lagrange", "recursive", "symbolic"])
def test_derivatives_of_a_joint_that_stuck_do_not_hold_it_back(formulation):
    """With those derivatives corrections are tiny, whatever the equations leave."""
    mass, level, speed = 0.3632, 2.418, 0.9292
    loads = (-0.3514, 3.2133, 1.8813, 0.7508)
    run = bc.simulate(slider(mass, level, 4e-9, loads, speed), 1.0, method="bdf", formulation=formulation)
    assert run.joint("rail").position[-1, 0] == pytest.approx(slid(mass, level, loads, speed), abs=1e-6)


def spinning(speed=1.0, place=0.0):
    mech = bc.Mechanism("spinning", gravity=(0, 0, 0))
    velocity = (speed, 0.0, 0.0) if place else (0.0, 0.0, 0.0)
    body = mech.add_body(
        "wheel",
        mass=1.0,
        inertia=(1.0, 1.0, 1.0),
        position=(place, 0, 0),
        velocity=velocity,
        angular_velocity=(0, 0, 0.0 if place else speed),
    )
    if not place:
        mech.add_joint("axle", bc.Revolute(), mech.ground.marker(), body.marker())
    return mech


@pytest.mark.parametrize("formulation", ["lagrange", "recursive", "symbolic"])
@pytest.mark.parametrize("method", ["rk4", "semi_implicit_euler"])
def test_ten_thousand_million_steps_between_two_frames(formulation, method):
    """They were one step of 10 s; now there is no end to wait for, and Ctrl-C finds the run on its way."""
    calls = []

    def interrupt(part):
        calls.append(part)
        if len(calls) > 1:
            raise KeyboardInterrupt

    run = bc.simulate(
        spinning(),
        10.0,
        output_step=10.0,
        step=1e-9,
        method=method,
        formulation=formulation,
        progress=interrupt,
    )
    assert run.status == "interrupted"
    assert 0.0 <= calls[-1] < 0.1


@pytest.mark.parametrize(
    "settings",
    [
        {"start": 1e15},
        {"start": 1e15, "step": 1.0},
        {"start": -1e15},
        {"start": 1e15, "method": "dopri5"},
        {"start": 1e12, "output_step": 1e-3},
        {"step": 1e-15},
        {"method": "adams", "max_step": 1e-15},
    ],
)
def test_what_is_lost_in_the_digits_of_times_is_refused(settings):
    with pytest.raises(bc.MechanismError, match=r"must be at least .* s where time starts at"):
        bc.simulate(spinning(), 1.0, **settings)


def test_times_that_cannot_be_told_apart():
    with pytest.raises(bc.MechanismError, match="output_step must be at least"):
        bc.simulate(spinning(), times=[1e6, np.nextafter(1e6, 2e6)], method="dopri5")
    with pytest.raises(bc.MechanismError, match="duration must be at least"):
        bc.kinematics(spinning(), 1.0, start=1e15)


def test_a_late_start_within_the_digits():
    run = bc.simulate(spinning(), 1.0, start=1e9, step=1e-3)
    assert run.status == "finished"
    assert np.all(np.diff(run.time) > 0.0)
    assert run.joint("axle").position[-1, 0] == pytest.approx(1.0, abs=1e-6)


def test_turning_faster_than_time_can_follow():
    """Where a step has to be parted into more than 2**53, none is taken."""
    mechanism = spinning()
    start = bc.prepare(mechanism, "lagrange").state()
    start = replace(start, angular_velocity=1e30 * start.angular_velocity)
    with pytest.raises(
        bc.SimulationError, match="turns at 1e\\+30 rad/s, and time has no part short enough"
    ) as caught:
        bc.simulate(mechanism, 1.0, state=start, formulation="lagrange", method="rk4")
    assert caught.value.body == "wheel"
    with pytest.raises(bc.SimulationError, match="fell below what time can resolve"):
        bc.simulate(mechanism, 1.0, state=start, formulation="lagrange", method="dopri5")


def test_a_step_that_changes_nothing():
    """At 1e15 m a position has parts of an eighth of a metre: a millimetre is lost in every step."""
    with pytest.raises(bc.SimulationError, match=r"a step of 0\.001 s changes nothing"):
        bc.simulate(spinning(1.0, place=1e15), 1.0, method="rk4")


def test_what_stands_still_is_no_error():
    assert bc.simulate(spinning(0.0), 1.0, method="rk4").status == "finished"
