"""Motors against the demands of drives: closed forms of a swinging flywheel, a hoist, and what is refused."""

from math import pi

import numpy as np
import pytest

import bellcrank as bc

INERTIA, ROTOR, N = 0.4, 2e-4, 25.0
CURVE = bc.MotorCurve(("0 rpm", "2000 rpm", "4000 rpm"), (1.2, 1.0, 0.6), (4.0, 3.5, 1.0), ROTOR, "M60")


def swinging(amplitude=0.5, omega=8.0):
    mech = bc.Mechanism("swing", gravity=(0, 0, 0))
    mech.add_body("wheel", mass=1.0, inertia=(1, 1, INERTIA))
    mech.join("axle", bc.Revolute(), ["ground", "wheel"], at=(0, 0, 0))
    mech.add_drive("motor", "axle", position=bc.Harmonic(amplitude, omega))
    return mech


def swing(periods=2, omega=8.0, **given):
    period = 2 * pi / omega
    return bc.inverse_dynamics(swinging(omega=omega, **given), periods * period, period / 2000)


def test_a_flywheel_that_swings_in_closed_form():
    """θ = A sin wt: torque J' n A w² at most, over sqrt 2 root mean square, no work in the mean."""
    found = bc.size_motor(swing(), "motor", CURVE, ratio=N)
    amplitude = (INERTIA / N + ROTOR * N) * 0.5 * 64.0
    assert found.peak_torque == pytest.approx(amplitude, rel=1e-6)
    assert found.rms_torque == pytest.approx(amplitude / np.sqrt(2), rel=1e-6)
    assert found.peak_speed == pytest.approx(N * 0.5 * 8.0, rel=1e-9)
    assert found.mean_speed == pytest.approx(N * 0.5 * 8.0 * 2 / pi, rel=1e-5)
    assert found.peak_power == pytest.approx(amplitude * N * 4.0 / 2, rel=1e-5)
    stored = 0.5 * (INERTIA + ROTOR * N**2) * 4.0**2  # twice in each period
    assert found.energy == pytest.approx(4 * stored, rel=1e-5)
    assert found.returned == pytest.approx(4 * stored, rel=1e-5)
    assert found.mean_power == pytest.approx(4 * stored / (4 * pi / 8.0), rel=1e-5)
    one = bc.size_motor(swing(), "motor", CURVE, ratio=N, cycle=(0.0, 2 * pi / 8.0 + 1e-9))
    assert one.energy == pytest.approx(2 * stored, rel=1e-5)


def test_margins_against_a_curve():
    found = bc.size_motor(swing(), "motor", CURVE, ratio=N)
    speed, torque = np.abs(found.speed), np.abs(found.torque)
    rpm = pi / 30.0
    limit = np.interp(speed, [0, 2000 * rpm, 4000 * rpm], [4.0, 3.5, 1.0])
    assert found.peak_margin == pytest.approx((limit / np.maximum(torque, 1e-300)).min())
    continuous = np.interp(found.mean_speed, [0, 2000 * rpm, 4000 * rpm], [1.2, 1.0, 0.6])
    assert found.continuous_margin == pytest.approx(continuous / found.rms_torque)
    assert found.fits
    assert str(found).startswith("M60 fits: ")
    weak = bc.size_motor(swing(amplitude=2.0), "motor", CURVE, ratio=N)
    assert not weak.fits
    too_fast = bc.size_motor(swing(amplitude=1.0), "motor", CURVE, ratio=20 * N)
    assert too_fast.peak_speed > CURVE.speed[-1]
    assert (too_fast.peak_margin, too_fast.fits) == (0.0, False)


def test_the_efficiency_of_a_gear_helps_where_the_load_drives():
    """A weight on a screw: m g lead/2 pi over the efficiency on its way up, and times it on its way down."""
    mech = bc.Mechanism("hoist", gravity=(0, 0, -10))
    mech.add_body("load", mass=20.0, inertia=(1, 1, 1))
    mech.join("guide", bc.Prismatic(), ["ground", "load"], at=(0, 0, 0))
    mech.add_drive("screw", "guide", position="0.1*sin(0.2*t)")
    run = bc.inverse_dynamics(mech, 10 * pi)
    lead, good = 5e-3, 0.8
    found = bc.size_motor(run, "screw", CURVE, ratio=2 * pi / lead, efficiency=good)
    inertia = ROTOR * 2 * pi / lead * -0.1 * 0.04 * np.sin(0.2 * run.time)
    weight = 20.0 * (10.0 - 0.1 * 0.04 * np.sin(0.2 * run.time)) * lead / (2 * pi)
    upwards = np.cos(0.2 * run.time) >= 0.0
    wanted = weight * np.where(upwards, 1.0 / good, good) + inertia
    clear = np.abs(np.cos(0.2 * run.time)) > 1e-6
    np.testing.assert_allclose(found.torque[clear], wanted[clear], rtol=1e-9)


def test_a_motor_as_a_force():
    mech = bc.Mechanism("spindle", gravity=(0, 0, 0))
    mech.add_body("disc", mass=1.0, inertia=(1, 1, 0.02))
    mech.join("axle", bc.Revolute(), ["ground", "disc"], at=(0, 0, 0))
    mech.add_force("motor", bc.DCMotor(24.0, 1.5, 0.05), "axle")
    run = bc.simulate(mech, 1.0, accelerations=True)
    found = bc.size_motor(run, "motor", bc.MotorCurve((0, 500), (1, 1), (2, 2)))
    with_rotor = bc.DCMotor(24.0, 1.5, 0.05, ratio=2.0, rotor_inertia=1e-3)
    mech.replace(mech.forces["motor"], kind=with_rotor)
    again = bc.simulate(mech, 1.0, accelerations=True)
    contained = bc.size_motor(again, "motor", bc.MotorCurve((0, 999), (1, 1), (2, 2), 1e-3), ratio=2.0)
    np.testing.assert_allclose(contained.torque, again.force("motor").quantity("torque"), rtol=1e-12)
    assert found.peak_torque == pytest.approx(24.0 / 1.5 * 0.05, rel=1e-9)
    np.testing.assert_allclose(found.torque, run.force("motor").quantity("torque"), rtol=1e-12)


def test_the_picture(tmp_path):
    pytest.importorskip("matplotlib")
    found = bc.size_motor(swing(), "motor", CURVE, ratio=N)
    figure = found.plot(tmp_path / "sizing.png")
    assert (tmp_path / "sizing.png").stat().st_size > 5000
    lines = {line.get_label(): line for line in figure.axes[0].lines}
    np.testing.assert_allclose(lines["peak"].get_xdata(), CURVE.speed)
    assert len(lines["drives"].get_xdata()) + len(lines["is driven"].get_xdata()) == len(found.time)
    assert lines["root mean square"].get_ydata()[0] == found.rms_torque
    with pytest.raises(bc.MechanismError, match="picture"):
        found.plot(tmp_path / "sizing.txt")


def test_faults():
    for make, message in (
        (lambda: bc.MotorCurve((0, 1), (1, 1, 1), (2, 2)), "as many points, two or more"),
        (lambda: bc.MotorCurve((1, 0), (1, -1), (0, 2)), "3 faults"),
        (lambda: bc.MotorCurve(("0 rpm", "3 m"), (1, 1), (2, 2)), "speed: this unit does not fit"),
    ):
        with pytest.raises(bc.MechanismError, match=message):
            make()
    run = swing(periods=1)
    for given, message in (
        ({"drive": "moter"}, "no drive and no force of this name; did you mean 'motor'"),
        ({"ratio": 0.0, "efficiency": 1.2}, "2 faults"),
        ({"motor": "M60"}, "the motor"),
        ({"cycle": (5.0, 6.0)}, "cycle: it must contain two frames"),
    ):
        with pytest.raises(bc.MechanismError, match=message):
            bc.size_motor(**({"run": run, "drive": "motor", "motor": CURVE} | given))
    with pytest.raises(bc.MechanismError, match="simulate with accelerations=True"):
        bc.size_motor(bc.simulate(swinging(), 0.1), "motor", CURVE)
    mech = bc.Mechanism("two markers", gravity=(0, 0, 0))
    body = mech.add_body("a", 1.0, (1, 1, 1), position=(1, 0, 0))
    mech.add_force("spring", bc.SpringDamper(1.0), "ground", body)
    with pytest.raises(bc.MechanismError, match="does not act on one coordinate of a joint"):
        bc.size_motor(bc.simulate(mech, 0.1, accelerations=True), "spring", CURVE)
