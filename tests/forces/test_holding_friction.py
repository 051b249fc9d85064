"""Friction that holds: what rests stays where it is, exactly, and slips when its effort is not enough."""

import numpy as np
import pytest
from rigs.rubbing import PINS, block_on_a_belt, four_bar, holding, names_and_times
from scipy.optimize import brentq

import bellcrank as bc
from bellcrank.errors import MechanismError, Unsupported
from bellcrank.run.advance import Outcome
from bellcrank.run.ending import explain

FORMULATIONS = pytest.mark.parametrize("formulation", ["lagrange", "recursive", "dca"])
G = 9.81


@FORMULATIONS
@pytest.mark.parametrize(("method", "accuracy"), [("dopri5", 2e-8), ("adams", 1e-8), ("bdf", 3e-7)])
def test_a_block_sticks_and_slips_on_a_belt(method, accuracy, formulation):
    """Slip takes 2/w (pi - atan(w A/v)) and stick 2 A/v; the effort falls by A times the stiffness."""
    settings = {"method": method, "formulation": formulation, "output_step": 0.047, "ledger": True}
    run = bc.simulate(block_on_a_belt(), 5.0, tolerance=1e-10, **settings)
    w, v, fall = 10.0, 0.2, 0.02
    slip, stick = 2.0 / w * (np.pi - np.arctan(w * fall / v)), 2.0 * fall / v
    expected = 0.3 + np.concatenate([[k * (slip + stick), k * (slip + stick) + slip] for k in range(8)])
    names, times = names_and_times(run)
    assert names == [f"force 'friction' {what}" for what in ("slips", "sticks")] * 7 + [
        "force 'friction' slips"
    ]
    np.testing.assert_allclose(times, expected[: len(times)], atol=accuracy)
    still = np.abs(run.joint("slide").velocity[:, 0]) < 1e-12
    assert 30 < np.count_nonzero(still) < 60
    np.testing.assert_allclose(
        run.force("friction").effort[still], 100.0 * run.body("block").position[still, 0], atol=1e-6
    )
    certificate = bc.verify(run)
    assert certificate.passed, str(certificate)


@FORMULATIONS
def test_a_linkage_holds_as_long_as_some_share_of_its_pins_does(formulation):
    """It goes at the sum of T |rate by the crank's|, not where a share of least norm is too much."""
    rates = bc.simulate(four_bar({}, 1.0), 1e-3)
    away = sum(effort * abs(rates.joint(pin).velocity[0, 0]) for pin, effort in PINS.items())
    settings = {"formulation": formulation, "output_step": 0.02, "ledger": True}
    run = bc.simulate(four_bar(PINS, torque="0.5*t"), 2.0, tolerance=1e-10, **settings)
    names, times = names_and_times(run)
    assert sorted(names[:4]) == [f"force 'friction {pin}' slips" for pin in PINS]
    np.testing.assert_allclose(times[:4], 2.0 * away, atol=2e-9)
    assert np.ptp(run.joint("A").position[run.time < 2.0 * away]) < 1e-14
    certificate = bc.verify(run)
    assert certificate.passed, str(certificate)


@FORMULATIONS
def test_a_linkage_comes_to_rest_at_once(formulation):
    run = bc.simulate(
        four_bar(PINS, 6.0), 5.0, tolerance=1e-10, formulation=formulation, output_step=0.05, ledger=True
    )
    names, times = names_and_times(run)
    assert sorted(names[-4:]) == [f"force 'friction {pin}' sticks" for pin in PINS]
    assert np.ptp(times[-4:]) == 0.0
    after = run.time > times[-1]
    assert np.ptp(run.joint("A").position[after]) < 1e-13
    assert np.abs(run.joint("C").velocity[after]).max() < 1e-14
    certificate = bc.verify(run)
    assert certificate.passed, str(certificate)


@FORMULATIONS
def test_a_brake_lets_go_and_takes_hold(formulation):
    """A brake of 3 - 2 t lets a wheel with 1 N m go at 1 s; from 2 s on it is back, and stops it."""
    mech = bc.Mechanism("winch")
    wheel = mech.add_body("wheel", 1.0, (0.5, 0.5, 0.5))
    mech.add_joint("axle", bc.Revolute(), mech.ground.marker(), wheel.marker())
    mech.add_force("load", bc.JointMotor(1.0), joint="axle")
    level = bc.Table([0.0, 1.5, 2.0, 2.0 + 1e-6, 9.0], [3.0, 0.0, 0.0, 5.0, 5.0], interpolation="linear")
    mech.add_force("brake", bc.Brake(level, regularisation_velocity=None), joint="axle")
    run = bc.simulate(mech, 4.0, tolerance=1e-10, formulation=formulation, output_step=0.05)
    names, times = names_and_times(run)
    assert names == ["force 'brake' slips", "force 'brake' sticks"]
    # From 1 s on 1 - (3 - 2 t) up to 1.5 s, then 1: a speed of 2 (0.25 + 0.5); from 2 s on -8.
    np.testing.assert_allclose(times, [1.0, 2.0 + 1.5 / 8.0], atol=2e-6)
    assert run.force("brake").effort[-1] == pytest.approx(-1.0, abs=1e-12)
    assert np.abs(run.joint("axle").velocity[run.time > 2.2]).max() < 1e-14


def test_a_pendulum_turns_back_until_it_holds():
    """It hangs where friction holds it, and turns wherever it rests elsewhere; no speed is left."""
    mech = bc.Mechanism("pendulum", gravity=(0.0, -G, 0.0))
    bob = mech.add_body("bob", 1.0, (0.02, 0.02, 0.02))
    mech.add_joint("pin", bc.Revolute(), mech.ground.marker(), bob.marker((0.0, 0.5, 0.0)), position=1.0)
    mech.add_force("friction", holding(0.3), joint="pin")
    run = bc.simulate(mech, 12.0, tolerance=1e-10, output_step=0.02, ledger=True)
    names, _ = names_and_times(run)
    assert names[-1] == "force 'friction' sticks"
    assert set(names[:-1]) == {"force 'friction' turns"}
    assert G * 0.5 * abs(np.sin(run.joint("pin").position[-1, 0])) <= 0.3
    assert run.force("friction").effort[-1] == pytest.approx(
        G * 0.5 * np.sin(run.joint("pin").position[-1, 0]), rel=1e-9
    )
    assert bc.verify(run).passed


def test_a_driven_joint_has_friction_of_the_way_it_goes():
    """Where a drive turns, friction does at once, whatever it could hold; the drive pays for it."""
    mech = bc.Mechanism("driven")
    arm = mech.add_body("arm", 1.0, (0.1, 0.1, 0.1))
    mech.add_joint("pin", bc.Revolute(), mech.ground.marker(), arm.marker())
    mech.add_drive("motor", "pin", position="0.4*sin(2*t)")
    mech.add_force("friction", holding(50.0), joint="pin")
    for formulation in ("lagrange", "recursive", "dca"):
        run = bc.simulate(mech, 3.0, tolerance=1e-9, formulation=formulation, output_step=0.05)
        rate, effort = 0.8 * np.cos(2.0 * run.time), run.force("friction").effort
        np.testing.assert_allclose(effort, -50.0 * np.sign(rate), atol=1e-9)
        inertia = 0.1 * -1.6 * np.sin(2.0 * run.time)
        np.testing.assert_allclose(run.drive("motor").effort, inertia - effort, atol=1e-6)


def test_an_impact_is_not_held():
    """Friction of a limited effort has no impulse: what is struck moves, and stops by its effort."""
    mech, along = bc.Mechanism("struck"), (1.0, 0.0, 0.0)
    first = mech.add_body("first", 1.0, (0.1, 0.1, 0.1))
    second = mech.add_body("second", 1.0, (0.1, 0.1, 0.1), position=(1.0, 0.0, 0.0))
    mech.add_joint(
        "rail 1", bc.Prismatic(), mech.ground.marker(axis=along), first.marker(axis=along), velocity=2.0
    )
    mech.add_joint(
        "rail 2", bc.Prismatic(), mech.ground.marker(axis=along), second.marker(axis=along), position=1.0
    )
    ends = first.marker(axis=along), second.marker(axis=along)
    mech.add_joint("buffer", bc.Free(), *ends, limits={"z": bc.Limit(lower=0.1, restitution=1.0)})
    mech.add_force("friction", holding(3.0), joint="rail 2")
    for formulation in ("lagrange", "recursive"):
        run = bc.simulate(mech, 2.0, tolerance=1e-10, formulation=formulation, output_step=0.05)
        names, times = names_and_times(run)
        assert names[-1] == "force 'friction' sticks"
        # Equal masses change speeds at 0.45 s; 2 m/s end at 3 m/s^2.
        assert times[-1] == pytest.approx(0.45 + 2.0 / 3.0, abs=1e-9)
        assert run.joint("rail 1").velocity[-1, 0] == pytest.approx(0.0, abs=1e-12)
        assert run.joint("rail 2").position[-1, 0] == pytest.approx(1.0 + 4.0 / 6.0, abs=1e-8)


@pytest.mark.parametrize("method", ["dopri5", "adams"])
def test_no_step_leaps_over_the_rise_of_friction_at_the_end_of_a_slip(method):
    """A wheel runs out: its time is the integral of I / F(v) over its speeds; F rises fivefold below 0.01."""
    mech = bc.Mechanism("wheel")
    wheel = mech.add_body("wheel", 1.0, (0.5, 0.5, 0.5))
    mech.add_joint("axle", bc.Revolute(), mech.ground.marker(), wheel.marker(), velocity=1.0)
    mech.add_force("friction", holding(1.0, stiction=5.0, stribeck_velocity=0.01), joint="axle")
    speeds = np.linspace(0.0, 1.0, 200001)
    level = 0.5 / (1.0 + 4.0 * np.exp(-((speeds / 0.01) ** 2)))
    time = np.sum(level[1:] + level[:-1]) * 0.5 * (speeds[1] - speeds[0])
    run = bc.simulate(mech, 1.0, method=method, tolerance=1e-8, output_step=0.5)
    assert [event.name for event in run.events] == ["force 'friction' sticks"]
    assert run.events[0].time == pytest.approx(time, abs=1e-5)


def test_friction_that_is_not_found_is_named():
    found = bc.simulate(block_on_a_belt(), 0.2, output_step=0.05)
    message = explain(found.origin.model, None, None, Outcome(status="friction_not_found", time=0.2))
    assert "which friction holds and which slips" in message.message
    assert "'friction'" in message.message


@pytest.mark.parametrize(
    "kind", [bc.JointFriction(coulomb=0.1, regularisation_velocity=1e-3), bc.Brake(2.0, 1e-3)]
)
def test_friction_that_is_smoothed_has_no_limit_and_says_how_to_get_one(kind):
    mech = arm_that_holds()
    mech.add_force("smooth", kind, joint="pin")
    run = bc.simulate(mech, 0.01)
    advice = r"leave out regularisation_velocity; run.force\('smooth'\) has its effort"
    with pytest.raises(MechanismError, match=rf"friction 'smooth': it is smoothed over a speed.*{advice}"):
        run.friction("smooth")
    with pytest.raises(MechanismError, match=r"did you mean 'friction'"):
        run.friction("frictoin")


def arm_that_holds():
    mech = bc.Mechanism("arm")
    arm = mech.add_body("arm", 1.0, (0.1, 0.1, 0.1))
    mech.add_joint("pin", bc.Revolute(), mech.ground.marker(), arm.marker())
    mech.add_force("friction", holding(0.1), joint="pin")
    return mech


def test_what_cannot_take_it():
    mech = block_on_a_belt()
    with pytest.raises(Unsupported, match=r"no friction that holds: force 'friction'"):
        bc.simulate(arm_that_holds(), step=1e-3, duration=0.01, mode="quasistatic", formulation="adaptive")
    with pytest.raises(
        Unsupported, match=r"no formula for the force law dry_friction, which holds: friction needs"
    ):
        bc.simulate(mech, 0.1, formulation="symbolic")
    for refused in (
        lambda: bc.linearize(mech),
        lambda: bc.gradient(mech, "final joint.slide.z", by="slide.z", duration=0.1),
        lambda: bc.StateFunction(mech),
        lambda: bc.prepare(mech).derivatives(of="acceleration", by="states"),
    ):
        with pytest.raises(Unsupported, match="cannot take friction that holds: force 'friction'"):
            refused()
    with pytest.raises(MechanismError, match="falls at once only in friction that holds"):
        bc.JointFriction(coulomb=1.0, stribeck_velocity=None, regularisation_velocity=1e-3)


def spun(load, stiction):
    """An arm that friction holds against a load, with a balanced rotor at its end that turns evenly."""
    mech = bc.Mechanism("arm and rotor", gravity=(0.0, 0.0, 0.0))
    arm = mech.add_body("arm", 1.0, (0.1, 0.1, 0.1), com=(0.2, 0.0, 0.0))
    rotor = mech.add_body("rotor", 0.5, (0.01, 0.01, 0.01), position=(0.5, 0.0, 0.0))
    mech.add_joint("pin", bc.Revolute(), mech.ground, arm)
    mech.add_joint("axle", bc.Revolute(), arm.marker((0.5, 0.0, 0.0)), rotor, velocity=2.0)
    mech.add_force("load", bc.JointMotor(load), "pin")
    rub = bc.JointFriction(coulomb=0.7 * stiction, stiction=stiction, stribeck_velocity=None)
    mech.add_force("rub", rub, "pin")
    return mech


@pytest.mark.parametrize("method", ["dopri5", "adams"])
@pytest.mark.parametrize("formulation", ["lagrange", "recursive", "dca"])
def test_loads_on_what_rests_are_followed_while_something_else_moves(formulation, method):
    """The motion asks for no short steps. The load swings, and reaches the stiction in one of its peaks."""

    def load(t):
        return 0.1 * t * np.sin(8.0 * t)

    run = bc.simulate(
        spun("0.1*t*sin(8*t)", 0.78), 10.0, formulation=formulation, method=method, tolerance=1e-9
    )
    times = np.linspace(0.0, 10.0, 1_000_001)
    after = int(np.argmax(np.abs(load(times)) >= 0.78))
    first = brentq(lambda t: abs(load(t)) - 0.78, times[after - 1], times[after])
    slips = [event.time for event in run.events if event.name.endswith("slips")]
    assert slips[0] == pytest.approx(first, abs=1e-7)


def test_what_moments_alone_hold_is_verified():
    """No force acts anywhere: what rounding leaves is measured by the moments, about centres of mass."""
    run = bc.simulate(spun("0.5*sin(3*t)", 0.78), 2.0, method="dopri5", ledger=True)
    check = bc.verify(run)["constraints: forces"]
    assert check.value < 1e-12
