"""Time always advances: steps too many for 32 bits, too short to tell from none, or too late in time."""

from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc


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
