"""Clutches, torque limiters and the backlash of gears, by closed forms."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import MechanismError

FORMULATIONS = pytest.mark.parametrize("formulation", ["lagrange", "recursive", "dca"])
TIGHT = {"method": "adams", "tolerance": 1e-11}


def two_shafts(speeds=(0.0, 0.0), inertias=(0.5, 1.5), moments=(0.0, 0.0), apart=0.0):
    """Two wheels on pins, on one axis or beside each other."""
    mech = bc.Mechanism("shafts", gravity=(0.0, 0.0, 0.0))
    for k, name in enumerate(("in", "out")):
        at = (apart * k, 0.0, 0.0)
        wheel = mech.add_body(name, 1.0, (2.0, 2.0, inertias[k]), position=at)
        mech.add_joint(name, bc.Revolute(), mech.ground.marker(at), wheel.marker(), velocity=speeds[k])
        mech.add_force(f"{name} moment", bc.JointMotor(moments[k]), name)
    return mech


@FORMULATIONS
def test_a_clutch_starts_a_machine(formulation):
    """Both come to w J1/(J1 + J2) after w J1 J2/((J1 + J2) M), and 1/2 w^2 J1 J2/(J1 + J2) is lost."""
    mech = two_shafts((120.0, 0.0))
    mech.add_force("clutch", bc.Clutch(20.0), *(mech.bodies[name].marker() for name in ("in", "out")))
    run = bc.simulate(mech, 4.0, formulation=formulation, ledger=True, **TIGHT)
    (event,) = run.events
    assert event.name == "force 'clutch' sticks"
    reduced = 0.5 * 1.5 / 2.0
    assert abs(event.time - 120.0 * reduced / 20.0) < 1e-8
    np.testing.assert_allclose(run.joint("out").velocity[-1], 30.0, rtol=1e-10)
    assert abs(run.energy_balance().lost["clutch"][-1] - 0.5 * reduced * 120.0**2) < 1e-5
    assert run.friction("clutch").holds[-1]
    assert bc.verify(run).passed


@FORMULATIONS
def test_a_clutch_holds_more_than_it_slipped_with_only_up_to_its_level(formulation):
    """It is pressed by 10 t N m, and the drive asks for 3/4 of its moment: it lets go where that passes."""
    mech = two_shafts(moments=("40*t", 0.0))
    mech.add_force("clutch", bc.Clutch("5 + 10*t"), *(mech.bodies[name].marker() for name in ("in", "out")))
    run = bc.simulate(mech, 1.0, formulation=formulation, **TIGHT)
    assert [event.name for event in run.events] == ["force 'clutch' slips"]
    assert abs(run.events[0].time - 0.25) < 1e-9  # 30 t = 5 + 10 t


@FORMULATIONS
@pytest.mark.parametrize("slipping", [None, 0.0, 2.0])
def test_a_limiter_lets_go_and_takes_hold_again(slipping, formulation):
    """A blow of 8 N m for 0.1 s asks for 6 N m of a limiter of 4 N m."""
    blow = bc.Table((0.0, 0.2, 0.2 + 1e-9, 0.3, 0.3 + 1e-9, 9.0), (0.0, 0.0, 8.0, 8.0, 0.0, 0.0), "linear")
    mech = two_shafts(moments=(blow, 0.0))
    limiter = bc.TorqueLimiter(4.0, slipping)
    mech.add_force("limiter", limiter, *(mech.bodies[name].marker() for name in ("in", "out")))
    run = bc.simulate(mech, 3.0, formulation=formulation, **TIGHT)
    moment = 4.0 if slipping is None else slipping
    names = [event.name.split()[-1] for event in run.events]
    assert names == (["slips", "sticks"] if moment else ["slips"])
    behind = (8.0 - moment) / 0.5 * 0.1 - moment / 1.5 * 0.1  # the speed between the shafts after the blow
    if moment:
        after = behind / (moment / 0.5 + moment / 1.5)
        assert abs(run.events[1].time - (0.3 + after)) < 1e-7
        np.testing.assert_allclose(run.joint("in").velocity[-1], 0.8 / 2.0, rtol=1e-6)
    else:
        np.testing.assert_allclose(run.joint("in").velocity[-1], 1.6, rtol=1e-6)


@FORMULATIONS
@pytest.mark.parametrize("restitution", [0.0, 0.6])
@pytest.mark.parametrize("wheels", [bc.Gear, bc.InternalGear])
def test_teeth_strike_after_their_backlash(wheels, restitution, formulation):
    """Momentum is exchanged along the teeth; before and after, wheels turn freely."""
    mech = two_shafts((10.0, 0.0), apart=1.0)
    kind = wheels(ratio=2.0, backlash=0.1, restitution=restitution)
    mech.add_constraint("gear", kind, mech.joints["in"], mech.joints["out"])
    run = bc.simulate(mech, 0.0065, formulation=formulation, output_step=1e-4, ledger=True, **TIGHT)
    assert abs(run.events[0].time - 0.005) < 1e-10
    sign = 1.0 if wheels is bc.Gear else -1.0
    impulse = -(1.0 + restitution) * 10.0 / (1.0 / 0.5 + 4.0 / 1.5)
    found = [run.joint(name).velocity[-1, 0] for name in ("in", "out")]
    np.testing.assert_allclose(found, [10.0 + impulse / 0.5, sign * 2.0 * impulse / 1.5], rtol=1e-8)
    certificate = bc.verify(run)
    assert certificate.passed, str(certificate)


@FORMULATIONS
def test_a_wheel_rattles_between_the_flanks_of_one_that_is_held(formulation):
    """Without losses it strikes every backlash/speed."""
    mech = two_shafts((10.0, 0.0), apart=1.0)
    mech.add_drive("hold", "out", velocity=0.0)
    ends = mech.joints["in"], mech.joints["out"]
    mech.add_constraint("gear", bc.Gear(ratio=2.0, backlash=0.1, restitution=1.0), *ends)
    run = bc.simulate(mech, 0.1, formulation=formulation, **TIGHT)
    times = [event.time for event in run.events]
    np.testing.assert_allclose(times, 0.005 + 0.01 * np.arange(len(times)), atol=1e-10)
    assert len(times) == 10


@FORMULATIONS
def test_a_gear_with_backlash_loses_on_the_flank_that_bears(formulation):
    mech = two_shafts((6.0, -3.0), moments=(0.4, 0.1), apart=1.0)
    kind = bc.Gear(ratio=2.0, backlash=0.01, middle=-0.005, efficiency=0.9)
    mech.add_constraint("gear", kind, mech.joints["in"], mech.joints["out"])
    run = bc.simulate(mech, 0.2, formulation=formulation, **TIGHT)
    rise = np.diff(run.joint("out").velocity[[0, -1], 0])[0] / 0.2
    bears = 0.4 - 0.5 * (-2.0 * rise)  # what drives the mesh
    assert abs(-(1.5 * rise - 0.1) / (2.0 * bears) - 0.9) < 1e-8


def test_wrong_numbers_are_named():
    with pytest.raises(MechanismError, match="slipping must not be more than torque"):
        bc.TorqueLimiter(2.0, 3.0)
    with pytest.raises(MechanismError, match="level must not be negative"):
        bc.Clutch(-1.0)
    mech = two_shafts(apart=1.0)
    with pytest.raises(MechanismError, match="backlash is between the turns of two joints"):
        mech.add_constraint(
            "gear", bc.Gear(2.0, backlash=0.1), *(mech.bodies[n].marker() for n in ("in", "out"))
        )


@FORMULATIONS
@pytest.mark.parametrize("backward", [False, True])
def test_a_freewheel_drives_one_way_and_takes_hold_without_a_blow(backward, formulation):
    """It drives while the first shaft is pushed, and lets the second run on while the first is slower."""
    sign = -1.0 if backward else 1.0
    at, push = (0.0, 1.0, 1.0 + 1e-9, 1.25, 1.25 + 1e-9, 9.0), (4.0, 4.0, -4.0, -4.0, 4.0, 4.0)
    mech = two_shafts(moments=(bc.Table(at, [sign * each for each in push], "linear"), 0.0))
    ends = (mech.bodies[name].marker() for name in ("in", "out"))
    mech.add_force("wheel", bc.Freewheel(backward=backward), *ends)
    run = bc.simulate(mech, 2.0, formulation=formulation, output_step=0.05, **TIGHT)
    assert [event.name.split()[-1] for event in run.events] == ["slips", "sticks"]
    np.testing.assert_allclose([event.time for event in run.events], [1.0, 1.5], atol=1e-7)
    t = run.time
    second = np.where(t < 1.0, 2.0 * t, np.where(t < 1.5, 2.0, 2.0 + 2.0 * (t - 1.5)))
    np.testing.assert_allclose(sign * run.joint("out").velocity[:, 0], second, atol=1e-7)
    held = (t < 0.99) | (t > 1.51)
    np.testing.assert_allclose(sign * run.force("wheel").effort[held], 3.0, rtol=1e-7)
    assert bc.verify(run).passed


def driven_wheel(force, moment):
    """A wheel of 1 kg m² without weight: nothing says what rounding of an acceleration is."""
    mech = bc.Mechanism("wheel", gravity=(0, 0, 0))
    mech.add_joint("axle", bc.Revolute(), mech.ground, mech.add_body("wheel", 1.0, (1.0, 1.0, 1.0)))
    mech.add_force("held", force, "axle")
    mech.add_force("motor", bc.JointMotor(moment), "axle")
    return mech


@FORMULATIONS
@pytest.mark.parametrize("method", ["dopri5", "adams", "bdf", "esdirk"])
@pytest.mark.parametrize(
    ("moment", "swing", "events"),
    [
        ("cos(pi*t)", lambda t: np.sin(np.pi * t) / np.pi, (1.0, 1.5)),
        ("cos(3*t)", lambda t: np.sin(3 * t) / 3, (np.pi / 3, np.pi / 2)),
        ("(t-1.5)^3", lambda t: (t - 1.5) ** 4 / 4, (0.0, 1.5)),
    ],
)
def test_a_freewheel_lets_go_where_a_smooth_load_changes_its_sign(formulation, method, moment, swing, events):
    """The acceleration is zero there but for rounding, of either sign."""
    mech = driven_wheel(bc.Freewheel(), moment)
    run = bc.simulate(mech, 3.4, formulation=formulation, method=method, tolerance=1e-8, output_step=0.05)
    held, free = events
    t = run.time
    known = np.where(t < held, swing(t), np.where(t < free, 0.0, swing(t) - swing(free)))
    np.testing.assert_allclose(run.joint("axle").velocity[:, 0], known, atol=1e-4)
    ends = [event.time for event in run.events if event.time > 0.0]
    np.testing.assert_allclose(ends[-1], free, atol=0.02 if held == 0.0 else 1e-6)


@FORMULATIONS
@pytest.mark.parametrize("method", ["bdf", "esdirk"])
def test_friction_that_slips_under_implicit_methods(formulation, method):
    """A wheel of 1 kg m² under a moment of 1 - t against 0.1 N m: it turns back at 1.8 s."""
    mech = driven_wheel(bc.JointFriction(coulomb=0.1), "1 - t")
    run = bc.simulate(mech, 2.0, formulation=formulation, method=method, tolerance=1e-8, output_step=0.05)
    t = run.time
    known = np.where(t < 1.8, 0.9 * t - t**2 / 2, 0.5 * (0.7**2 - (t - 1.1) ** 2))
    np.testing.assert_allclose(run.joint("axle").velocity[:, 0], known, atol=1e-6)


@FORMULATIONS
def test_a_freewheel_that_is_set_in_motion_against_its_way_is_held_from_the_start(formulation):
    mech = two_shafts((8.0, 0.0))
    mech.add_force("wheel", bc.Freewheel(), *(mech.bodies[name].marker() for name in ("in", "out")))
    run = bc.simulate(mech, 0.1, formulation=formulation, **TIGHT)
    for name in ("in", "out"):
        np.testing.assert_allclose(run.joint(name).velocity[:, 0], 2.0, rtol=1e-12)
