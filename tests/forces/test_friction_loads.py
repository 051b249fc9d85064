"""Friction that grows with the load, and transmissions with losses, against closed forms."""

from math import atan, cos, pi, sin, tan

import numpy as np
import pytest
from rigs.rubbing import (
    jack,
    klein,
    pushed_drawer,
    rotor,
    rub,
    slider_crank,
    toggle,
    two_shafts,
    wedge,
)

import bellcrank as bc
from bellcrank.errors import MechanismError

FORMULATIONS = pytest.mark.parametrize("formulation", ["lagrange", "recursive", "dca"])
G = 9.81
TIGHT = {"method": "adams", "tolerance": 1e-12}


@FORMULATIONS
def test_a_slider_crank_on_journals_runs_out_turns_back_and_stops(formulation):
    """Moments of a Newton-Euler program of its own (DOP853, 1e-13): turns, the dead point, the end."""
    run = bc.simulate(
        slider_crank(), 4.0, method="dopri5", tolerance=1e-12, formulation=formulation, ledger=True
    )
    times = np.array([event.time for event in run.events])
    found = [*times[:3], times[3], times[-1]]
    expected = [0.3307667145, 0.8683868088, 1.1984276951, 1.6817782035, 2.8357979045]
    np.testing.assert_allclose(found, expected, atol=1e-10)
    angle = run.joint("A").position
    assert abs(angle.max() - 5.90689241) < 1e-4
    assert abs(angle[-1, 0] - 4.72917288) < 5e-9
    assert np.ptp(angle[run.time > times[-1]]) < 1e-13
    certificate = bc.verify(run)
    assert certificate.passed, str(certificate)


def test_loads_that_redundant_rows_share_are_the_same_in_all_formulations():
    """Out of its plane the mechanism is held by rows that share its weight: what they bear rubs."""
    mech = slider_crank(0.1, 0.1)
    mech.gravity = (0.5, -G, 4.0)
    for pin in "ABC":
        journal = bc.Journal(radius=0.03, coefficient=0.1, static_coefficient=0.13, length=0.2)
        mech.replace(mech.forces[f"rub {pin}"], kind=rub(journal))
    runs = [
        bc.simulate(mech, 1.5, method="adams", tolerance=1e-12, formulation=formulation)
        for formulation in ("lagrange", "recursive", "dca")
    ]
    times = [[event.time for event in run.events] for run in runs]
    assert len(times[0]) > 2
    for run, moments in zip(runs[1:], times[1:], strict=True):
        np.testing.assert_allclose(moments, times[0], atol=1e-9)
        np.testing.assert_allclose(run.joint("A").position, runs[0].joint("A").position, atol=1e-9)
        np.testing.assert_allclose(run.force("rub B").effort, runs[0].force("rub B").effort, atol=1e-8)


def test_more_friction_holds_it_at_once_for_good():
    run = bc.simulate(slider_crank(0.4, 0.4), 100.0, method="dopri5", tolerance=1e-10)
    assert abs(run.events[-1].time - 0.3973812248) < 2e-9
    assert abs(run.joint("A").position[-1, 0] - 1.313341539) < 1e-8
    assert np.ptp(run.joint("A").position[run.time > 1.0]) < 1e-12
    assert run.friction("rub A").holds[-1]
    assert run.friction("rub A").utilisation[-1] < 1.0


RING = 2 / 3 * (0.06**3 - 0.02**3) / (0.06**2 - 0.02**2)
LOADS = {
    "journal": (bc.Journal(0.02, 0.1), (0.0, -G, 0.0), 2.0 * G * 0.02 * sin(atan(0.1))),
    "journal with ends": (bc.Journal(0.02, 0.1, length=0.3), (0.0, -G, 0.0), 2.0 * G * 0.02 * sin(atan(0.1))),
    "thrust": (
        bc.ThrustFace(0.06, 0.1, inner_radius=0.02),
        (0.0, 0.0, -G),
        2.0 * G * 0.1 * RING,
    ),
    "ball bearing": (bc.RollingBearing(0.03, 0.0015), (0.0, -3.0, -4.0), 2.0 * 5.0 * 0.5 * 0.03 * 0.0015),
}


@FORMULATIONS
@pytest.mark.parametrize("case", LOADS)
def test_a_wheel_runs_down_by_its_weight_on_a_bearing(case, formulation):
    load, gravity, moment = LOADS[case]
    mech = rotor(case, 0.4 * moment / 0.02, gravity=gravity)
    mech.add_force("rub", rub(load), "pin")
    run = bc.simulate(mech, 1.0, formulation=formulation, output_step=0.05, **TIGHT)
    assert abs(run.events[-1].time - 0.4) < 1e-8
    slips = run.time < 0.4
    np.testing.assert_allclose(run.force("rub").effort[slips], -moment, rtol=1e-11)
    speeds = np.where(slips, moment / 0.02 * (0.4 - run.time), 0.0)
    np.testing.assert_allclose(run.joint("pin").velocity[:, 0], speeds, atol=1e-9)
    assert bc.verify(run).passed


@FORMULATIONS
@pytest.mark.parametrize("rpm", [30.0, 300.0, 3000.0])
def test_lubricant_takes_the_moment_of_palmgren(rpm, formulation):
    """In his units, N mm, mm^2/s, 1/min and mm: 46 mm^2/s, 60 mm, f0 = 1.7, beside 1/2 mu d F."""
    bearing = bc.RollingBearing(0.045, 0.0015, viscosity=46e-6, mean_diameter=0.06, lubrication_factor=1.7)
    mech = rotor("bearing", rpm * 2 * pi / 60, gravity=(0.0, -G, 0.0))
    mech.add_force("rub", rub(bearing), "pin")
    run = bc.simulate(mech, 1e-3, formulation=formulation, **TIGHT)
    churned = 1e-7 * 1.7 * max((46.0 * rpm) ** (2 / 3), 160.0) * 60.0**3 * 1e-3
    moment = churned + 0.5 * 0.0015 * 0.045 * 2.0 * G
    np.testing.assert_allclose(run.force("rub").effort[0], -moment, rtol=1e-11)
    np.testing.assert_allclose(run.friction("rub").limit[0], moment, rtol=1e-11)
    assert bc.verify(run).passed


def test_lubricant_holds_what_rests():
    """By its least moment, without load, and no more."""
    bearing = bc.RollingBearing(0.045, 0.0015, viscosity=46e-6, mean_diameter=0.06)
    least = 1e-7 * 1.5 * 160.0 * 60.0**3 * 1e-3
    for part, holds in ((1.0 - 1e-9, True), (1.0 + 1e-9, False)):
        mech = rotor("bearing")
        mech.add_force("rub", rub(bearing), "pin")
        mech.add_force("push", bc.JointMotor(part * least), "pin")
        run = bc.simulate(mech, 1.0, **TIGHT)
        assert (np.ptp(run.joint("pin").position) < 1e-14) == holds


@FORMULATIONS
def test_a_moment_presses_on_both_ends_of_a_bush(formulation):
    """A wheel beside its bush: the ends bear F/2 + F e/b and F/2 - F e/b, each by its size."""
    mech = bc.Mechanism("overhung", gravity=(0.0, -G, 0.0))
    wheel = mech.add_body(
        "wheel", 2.0, (0.1, 0.1, 0.02), com=(0.0, 0.0, 0.25), angular_velocity=(0.0, 0.0, 9.0)
    )
    mech.add_joint("pin", bc.Revolute(), mech.ground.marker(), wheel.marker())
    mech.add_force("rub", rub(bc.Journal(0.02, 0.1, length=0.3)), "pin")
    run = bc.simulate(mech, 0.2, formulation=formulation, **TIGHT)
    ends = 2.0 * G * (0.5 + 0.25 / 0.3) + 2.0 * G * (0.25 / 0.3 - 0.5)
    np.testing.assert_allclose(run.force("rub").effort, -0.02 * sin(atan(0.1)) * ends, rtol=1e-10)


@FORMULATIONS
@pytest.mark.parametrize("offset", [0.2, 0.6, 0.67])
def test_a_drawer_that_is_pushed_far_from_its_middle_sticks(offset, formulation):
    """At 2 mu e/L = 1, whatever the push: self-locking, with a margin that the push does not change."""
    part = 2 * 0.3 * offset / 0.4
    run = bc.simulate(pushed_drawer(offset), 1.0, formulation=formulation, **TIGHT)
    expected = 0.5 * 10.0 * max(0.0, 1.0 - part) / 5.0
    assert abs(run.joint("guide").position[-1, 0] - expected) < 1e-10
    if part >= 1.0:
        assert abs(run.friction("rub").utilisation[-1] - 1.0 / part) < 1e-12
    assert bc.verify(run).passed


@FORMULATIONS
@pytest.mark.parametrize("coefficient", [0.3, 1.0])
def test_of_several_solutions_that_of_bodies_that_give_is_found(coefficient, formulation):
    """2 a = 1 - mu tan(70) |a|: at mu = 1 there are two."""
    run = bc.simulate(klein(coefficient, 1.0), 0.2, formulation=formulation, **TIGHT)
    a = 1.0 / (2.0 + coefficient * tan(np.radians(70.0)))
    np.testing.assert_allclose(run.joint("rough").velocity[:, 0], 1.0 + a * run.time, atol=1e-10)


@FORMULATIONS
def test_a_jam_ends_a_run_by_name_with_its_margin(formulation):
    with pytest.raises(
        bc.SimulationError, match=r"friction of 'rub' jams at t = 0 s: .* up to 0\.728 of its coefficient"
    ):
        bc.simulate(klein(1.0, -1.0), 0.2, formulation=formulation, **TIGHT)


@FORMULATIONS
@pytest.mark.parametrize(("angle", "holds"), [(10.0, True), (19.999, True), (20.001, False), (30.0, False)])
def test_a_wedge_holds_up_to_twice_the_angle_of_friction(angle, holds, formulation):
    run = bc.simulate(wedge(angle), 0.05, formulation=formulation, **TIGHT)
    travel = np.ptp(run.body("wedge").position[:, 0])
    assert (travel < 1e-14) == holds
    assert bc.verify(run).passed


@FORMULATIONS
@pytest.mark.parametrize(("off", "holds"), [(-1e-5, True), (1e-5, False)])
def test_a_toggle_holds_as_far_as_its_friction_circles_reach(off, holds, formulation):
    """The line that touches all three circles: crank 0.15, rod 0.5, r sin(phi) = 10 mm."""
    run = bc.simulate(toggle(0.13373158941 + off), 0.02, formulation=formulation, **TIGHT)
    assert (np.ptp(run.joint("A").position) < 1e-14) == holds


def on_a_thread(pitch, radius, rho, side):
    """Moment for a force along the axis of one; side: 1 raises, -1 lowers."""
    return radius * tan(side * atan(pitch / (2 * pi * radius)) + rho)


@FORMULATIONS
@pytest.mark.parametrize("pitch", [0.005, 0.02, -0.02])
@pytest.mark.parametrize("flank", [0.0, np.radians(15.0)])
def test_a_jack_is_raised_and_runs_down_as_its_thread_says(pitch, flank, formulation):
    """Efficiencies 0.3035, which locks itself, and 0.6134, which runs down."""
    rho = atan(0.15 / cos(flank))
    if flank == 0.0:
        efficiency = abs(pitch) / (2 * pi) / on_a_thread(abs(pitch), 0.012, rho, 1)
        assert round(efficiency, 4) == (0.3035 if pitch == 0.005 else 0.6134)
    # Raised: its angular acceleration a makes the force m (g + a p/2pi) along the axis.
    arm = on_a_thread(abs(pitch), 0.012, rho, 1)
    falls = -3.0 * G * arm / (0.004 + 3.0 * arm * abs(pitch) / (2 * pi))
    up = 1.0 if pitch > 0.0 else -1.0
    run = bc.simulate(jack(pitch, 20.0 * up, flank=flank), 0.1, formulation=formulation, **TIGHT)
    np.testing.assert_allclose(up * run.joint("pin").velocity[:, 0], 20.0 + falls * run.time, rtol=1e-9)
    assert bc.verify(run).passed
    down = bc.simulate(jack(pitch, flank=flank), 1.0, formulation=formulation, **TIGHT)
    if abs(pitch) == 0.005:
        assert np.ptp(down.joint("pin").position) < 1e-14
        lead = atan(0.005 / (2 * pi * 0.012))
        normal = 1.0 / (cos(lead) * (cos(flank) * cos(lead) + 0.15 * sin(lead)))
        used = tan(lead) / (0.15 * normal)  # of what holds, whatever it bears
        assert abs(down.friction("rub").utilisation[-1] - used) < 1e-12
        return
    back = -on_a_thread(abs(pitch), 0.012, rho, -1)
    runs = 3.0 * G * back / (0.004 + 3.0 * back * abs(pitch) / (2 * pi))
    np.testing.assert_allclose(-up * down.joint("pin").velocity[:, 0], runs * down.time, atol=1e-8)


@FORMULATIONS
def test_a_ball_screw_by_its_efficiency(formulation):
    """What raises 3 kg does 0.9 of its work on it; driven back, friction takes F r tan(gamma - rho)."""
    pitch, radius = 0.01, 0.01
    thread = bc.Thread.from_efficiency(0.9, pitch, radius)
    lead = atan(pitch / (2 * pi * radius))
    assert tan(lead) / tan(lead + atan(thread.coefficient)) == pytest.approx(0.9, rel=1e-14)
    mech = rotor("screw", 5.0, 0.004, 3.0, (0.0, 0.0, -G), bc.Screw(pitch))
    mech.add_force("rub", rub(thread), "pin")
    mech.add_drive("hand", "pin", velocity=5.0)
    run = bc.simulate(mech, 0.01, formulation=formulation, **TIGHT)
    lifts = 3.0 * G * pitch / (2 * pi)
    np.testing.assert_allclose(run.drive("hand").effort, lifts / 0.9, rtol=1e-12)
    assert tan(lead - atan(thread.coefficient)) / tan(lead) == pytest.approx(2.0 - 1.0 / 0.9, abs=5e-3)


@FORMULATIONS
def test_a_lossy_gear_slips_and_sticks_at_known_moments(formulation):
    """LossyGearDemo1 of the Modelica library; slips begin where 10 sin(2 pi t) = 10 - 2.5 t and the like."""
    gear = bc.InternalGear(ratio=2.0, efficiency=0.5, back_efficiency=0.5)
    mech = two_shafts(gear, "10*sin(2*pi*t)", "-10 + 2.5*t")
    run = bc.simulate(mech, 0.5, method="dopri5", tolerance=1e-12, formulation=formulation, ledger=True)
    names, times = [event.name for event in run.events], [event.time for event in run.events]
    assert [name.rsplit(" ", 1)[1] for name in names] == ["sticks", "slips", "sticks", "slips"]
    expected = [0.0804771339, 0.1995199008, 0.3713427780, 0.4645394616]
    np.testing.assert_allclose(times, expected, atol=2e-10)
    held = (run.time > 0.0805) & (run.time < 0.1995)
    assert np.ptp(run.joint("in").position[held]) < 1e-14
    certificate = bc.verify(run)
    assert certificate.passed, str(certificate)


STEADY = {
    "gear": (bc.Gear(ratio=3.0, efficiency=0.95, back_efficiency=0.9), -3.0, 0.95, 0.9),
    "belt": (bc.Belt(radii=(0.05, 0.2), efficiency=0.96), 4.0, 0.96, 0.96),
    "worm": (bc.WormGear((2, 40), np.radians(20.0), 0.05), 20.0, 0.855559, 0.837589),
    "steep worm": (bc.WormGear((1, 30), np.radians(4.0), 0.1, left=True), -30.0, 0.393584, None),
}


@FORMULATIONS
@pytest.mark.parametrize("case", STEADY)
def test_power_is_lost_by_the_efficiency_of_its_direction(case, formulation):
    """Heavy wheels that hardly accelerate: what one gets is what the other gives, times the efficiency."""
    kind, ratio, forward, back = STEADY[case]
    inertia, speeds = (1.0, 1.0), (ratio, 1.0)
    moment, settings = 0.2, {"formulation": formulation, **TIGHT}
    run = bc.simulate(two_shafts(kind, moment * np.sign(ratio), 0.0, inertia, speeds), 0.1, **settings)
    gain = np.diff(run.joint("out").velocity[[0, -1], 0])[0] / 0.1  # what reaches the second shaft
    used = abs(ratio) * (moment - abs(ratio) * gain)  # what drives it there, less the inertia of the first
    assert abs(gain / used - forward) < 1e-6
    if back is None:
        held = bc.simulate(two_shafts(kind, 0.0, -50.0, inertia), 0.5, **settings)
        assert np.ptp(held.joint("out").position) < 1e-14
        return
    run = bc.simulate(two_shafts(kind, 0.0, moment, inertia, speeds), 0.1, **settings)
    gain = abs(np.diff(run.joint("in").velocity[[0, -1], 0])[0]) / 0.1
    used = (moment - gain / abs(ratio)) / abs(ratio)
    assert abs(gain / used - back) < 1e-6


def planetary(sun=0.0, carrier=0.0, speed=0.0, **more):
    mech = bc.Mechanism("planetary", gravity=(0.0, 0.0, 0.0))
    moments, ratio = {"sun": sun, "ring": 0.0, "carrier": carrier}, 4.8
    for name, rate in (("sun", speed), ("ring", 0.0), ("carrier", speed / ratio)):
        body = mech.add_body(name, 1.0, (1.0, 1.0, 1.0))
        mech.add_joint(name, bc.Revolute(), mech.ground.marker(), body.marker(), velocity=rate)
        mech.add_force(f"{name} moment", bc.JointMotor(moments[name]), name)
    mech.add_drive("hold", "ring", velocity=0.0)
    mech.add_constraint("gear", bc.PlanetaryGear(20, 76, **more), "sun", "ring", "carrier")
    return mech


@FORMULATIONS
def test_a_planetary_gear_loses_where_its_teeth_roll(formulation):
    """By the ring held, (1 + i e)/(1 + i) from the sun and (1 + i)/(1 + i/e) back, i = 3.8."""
    more = {"speed": 4.8, "efficiency": 0.98}
    run = bc.simulate(planetary(sun=0.3, **more), 0.1, formulation=formulation, **TIGHT)
    rise = np.diff(run.joint("carrier").velocity[[0, -1], 0])[0] / 0.1
    assert abs(rise / (4.8 * (0.3 - 4.8 * rise)) - 0.9841667) < 1e-6
    run = bc.simulate(
        planetary(carrier=0.3, speed=4.8, efficiency=0.98), 0.1, formulation=formulation, **TIGHT
    )
    rise = np.diff(run.joint("sun").velocity[[0, -1], 0])[0] / 0.1
    assert abs(rise / ((0.3 - rise / 4.8) / 4.8) - 0.9841004) < 1e-6


@FORMULATIONS
@pytest.mark.parametrize("preload", [0.0, 0.05])
def test_a_locking_differential_drives_the_wheel_that_grips(preload, formulation):
    """One wheel is free, the other bears 2 N m: it gets (1 + S)/(1 - S) times what the free one takes."""
    mech = bc.Mechanism("axle", gravity=(0.0, 0.0, 0.0))
    for name, inertia, moment, rate in (
        ("a", 0.5, -2.0, 1.0),
        ("b", 0.01, 0.0, 3.0),
        ("cage", 0.01, 3.0, 2.0),
    ):
        body = mech.add_body(name, 1.0, (1.0, 1.0, inertia))
        mech.add_joint(name, bc.Revolute(), mech.ground.marker(), body.marker(), velocity=rate)
        mech.add_force(f"{name} moment", bc.JointMotor(moment), name)
    kind = bc.Differential(locking=0.4, preload=preload)
    mech.add_constraint("diff", kind, "a", "b", "cage")
    run = bc.simulate(mech, 0.02, formulation=formulation, **TIGHT)
    assert not run.events
    a, b = (np.diff(run.joint(name).velocity[:2, 0])[0] / np.diff(run.time[:2])[0] for name in ("a", "b"))
    gets, free = 0.5 * a + 2.0, 0.01 * b
    assert abs((gets - free) - (0.4 * (gets + free) + 2.0 * preload)) < 1e-9


@FORMULATIONS
def test_a_locking_differential_needs_no_common_axis(formulation):
    """The same equations between a travel and two turns on axes of their own."""
    mech = bc.Mechanism("axle", gravity=(0.0, 0.0, 0.0))
    kinds = {"a": (bc.Revolute(), 0.5, -2.0, 1.0), "b": (bc.Prismatic(), 0.01, 0.0, 3.0)}
    kinds["cage"] = (bc.Revolute(), 0.01, 3.0, 2.0)
    for k, (name, (kind, inertia, moment, rate)) in enumerate(kinds.items()):
        body = mech.add_body(name, inertia, (1.0, 1.0, inertia), position=(k, 0.0, 0.0))
        turned = {"axis": (0.0, 0.0, 1.0) if k == 0 else (1.0, 0.0, 0.0)}
        frame = mech.ground.marker((k, 0.0, 0.0), **turned)
        if kind == bc.Revolute() and k:
            body = mech.replace(body, inertia=(inertia, 1.0, 1.0))
        mech.add_joint(name, kind, frame, body.marker(**turned), velocity=rate)
        mech.add_force(f"{name} moment", bc.JointMotor(moment), name)
    mech.add_constraint("diff", bc.Differential(locking=0.4), "a", "b", "cage")
    run = bc.simulate(mech, 0.02, formulation=formulation, **TIGHT)
    a, b = (np.diff(run.joint(name).velocity[:2, 0])[0] / np.diff(run.time[:2])[0] for name in ("a", "b"))
    gets, free = 0.5 * a + 2.0, 0.01 * b
    assert abs((gets - free) - 0.4 * (gets + free)) < 1e-9
    assert bc.verify(run).passed


def test_a_lead_screw_in_two_joints_is_the_screw_joint():
    """The travel and the angle of a cylindrical joint, coupled by a thread."""
    mech = rotor("jack", {"z": 0.2 / pi, "theta_z": 20.0}, 0.004, 3.0, (0.0, 0.0, -G), bc.Cylindrical())
    thread = bc.Thread(0.012, 0.15)
    mech.add_constraint("screw", bc.ScrewCoupling(0.02, thread=thread), "pin.z", "pin.theta_z")
    both = [bc.simulate(m, 0.1, **TIGHT) for m in (mech, jack(0.02, 20.0))]
    speeds = [run.body("wheel").angular_velocity[:, 2] for run in both]
    np.testing.assert_allclose(*speeds, rtol=1e-11)
    screw = bc.ScrewCoupling(0.02, efficiency=0.9)
    mech.replace(mech.constraints["screw"], kind=screw)
    run = bc.simulate(mech, 0.1, **TIGHT)
    arm = 0.02 / (2 * pi) / 0.9
    falls = -3.0 * G * arm / (0.004 + 3.0 * arm * 0.02 / (2 * pi))
    np.testing.assert_allclose(run.body("wheel").angular_velocity[:, 2], 20.0 + falls * run.time, rtol=1e-9)


@FORMULATIONS
def test_inverse_dynamics_pays_for_friction_and_losses(formulation):
    """What a drive takes is what a run finds, and friction at constant speed."""
    mech = rotor("led", 1.0, gravity=(0.0, -G, 0.0))
    mech.add_force("rub", rub(bc.Journal(0.02, 0.1), coulomb=0.5), "pin")
    mech.add_drive("lead", "pin", velocity=1.0)
    found = bc.inverse_dynamics(mech, 0.1, 0.05, formulation=formulation)
    moment = 0.5 + 2.0 * G * 0.02 * sin(atan(0.1))
    np.testing.assert_allclose(found.drive("lead").effort, moment, rtol=1e-12)
    np.testing.assert_allclose(found.force("rub").effort, -moment, rtol=1e-12)
    gear = bc.Gear(ratio=2.0, efficiency=0.5)
    mech = two_shafts(gear, 0.0, -10.0, speeds=(-1.0, 0.5))
    mech.remove(mech.forces["in moment"])
    mech.add_drive("lead", "in", velocity=-1.0)
    found = bc.inverse_dynamics(mech, 0.1, 0.05, formulation=formulation)
    np.testing.assert_allclose(np.abs(found.drive("lead").effort), 10.0, rtol=1e-12)


FAULTS = {
    "static": (lambda: bc.Journal(0.02, 0.2, 0.1), "static_coefficient must not be less"),
    "radius": (lambda: bc.Journal(0.0, 0.2), "radius"),
    "ring": (lambda: bc.ThrustFace(0.02, 0.1, inner_radius=0.03), "inner_radius must be less"),
    "flank": (lambda: bc.Thread(0.02, 0.1, flank_angle=1.2), "less than 60 degrees"),
    "efficiency": (lambda: bc.Gear(ratio=1.0, efficiency=1.2), "not be more than 1"),
    "no efficiency": (lambda: bc.Gear(ratio=1.0, back_efficiency=0.5), "back_efficiency without efficiency"),
    "worm": (lambda: bc.WormGear((1, 20), 0.9, 0.9), "it jams"),
    "steep": (lambda: bc.ScrewCoupling(1.0, thread=bc.Thread(0.01, 0.3)), "jams to one side"),
    "dry": (lambda: bc.RollingBearing(0.1, 0.001, viscosity=1e-5), "both viscosity and mean_diameter"),
    "lossless": (lambda: bc.Thread.from_efficiency(1.0, 0.01, 0.01), "lie between 0 and 1"),
    "smoothed": (
        lambda: bc.JointFriction(load=bc.Journal(0.02, 0.1), regularisation_velocity=0.1),
        "holds exactly",
    ),
    "kind": (lambda: bc.JointFriction(load=0.1), "load must be a LoadKind"),
}


@pytest.mark.parametrize("case", FAULTS)
def test_wrong_numbers_are_named(case):
    make, text = FAULTS[case]
    with pytest.raises(MechanismError, match=text):
        make()


def test_loads_that_a_joint_does_not_carry_are_refused():
    mech = rotor("wrong")
    for load, text in (
        (bc.Slide(0.1, 0.1), "is no travel"),
        (bc.Thread(0.01, 0.1), "a Revolute joint has no thread"),
    ):
        mech.add_force("rub", bc.JointFriction(load=load), "pin")
        with pytest.raises(MechanismError, match=text):
            bc.simulate(mech, 0.1)
        mech.remove(mech.forces["rub"])
    mech = rotor("wrong", {}, kind=bc.Cylindrical())
    mech.add_force("rub", bc.JointFriction(load=bc.ThrustFace(0.02, 0.1)), "pin.theta_z")
    with pytest.raises(MechanismError, match="leaves z free"):
        bc.simulate(mech, 0.1)


@pytest.mark.parametrize("ending", ["yaml", "json"])
def test_loads_and_losses_stand_in_files(ending, tmp_path):
    mech = slider_crank()
    mech.add_constraint("gear", bc.Gear(ratio=2.0, efficiency=0.9), "A", "B")
    path = tmp_path / f"lossy.{ending}"
    bc.save(mech, path)
    assert bc.load(path) == mech


def test_coefficients_follow_parameters():
    found = []
    for coefficient in (0.1, 0.2):
        mech = rotor("parameter", 9.0, gravity=(0.0, -G, 0.0))
        mu = mech.add_parameter("mu", 0.1)
        mech.add_force("rub", rub(bc.Journal(0.02, mu)), "pin")
        run = bc.simulate(mech.with_parameters(mu=coefficient), 0.1)
        found.append(run.force("rub").effort[0])
    np.testing.assert_allclose(found, [-2.0 * G * 0.02 * sin(atan(c)) for c in (0.1, 0.2)], rtol=1e-12)
