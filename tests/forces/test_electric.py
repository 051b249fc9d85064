"""DC motors, servos and steppers against closed forms: run-up, stall, no load, limits, heat, lost steps."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import bellcrank as bc
from bellcrank.mechanism.electric import warming

FAST = {"formulation": "recursive", "method": "dopri5", "tolerance": 1e-11}
INERTIA = 0.02


def shaft(kind, speed=0.0, load=0.0):
    """A flywheel about z with a motor and a load."""
    mech = bc.Mechanism("shaft", gravity=(0, 0, 0))
    mech.add_body("wheel", mass=1.0, inertia=(0.1, 0.1, INERTIA))
    mech.join("axle", bc.Revolute(), ["ground", "wheel"], at=(0, 0, 0), velocity=speed)
    mech.add_force("motor", kind, "axle")
    if load:
        mech.add_force("load", bc.JointMotor(-load), "axle")
    return mech


@pytest.mark.parametrize("ratio", [1.0, -3.0])
def test_a_dc_motor_runs_up_with_its_time_constant(ratio):
    """J w' = n k (U - k n w)/R, so that w rises to U/(k n) with tau = J R/(n k)²; J with the rotor."""
    U, R, k, rotor = 24.0, 1.5, 0.05, 1e-4
    motor = bc.DCMotor("24 V", "1.5 ohm", k, ratio=ratio, rotor_inertia=rotor)
    run = bc.simulate(shaft(motor), 3.0, **FAST)
    tau = (INERTIA + ratio**2 * rotor) * R / (ratio * k) ** 2
    rise = U / (k * ratio) * (1.0 - np.exp(-run.time / tau))
    np.testing.assert_allclose(run.joint("axle").velocity[:, 0], rise, rtol=1e-9, atol=1e-9)
    found = run.force("motor")
    current = U / R * np.exp(-run.time / tau)
    np.testing.assert_allclose(found.quantity("current"), current, rtol=1e-9)
    np.testing.assert_allclose(found.quantity("voltage"), U, rtol=1e-12)
    np.testing.assert_allclose(found.quantity("losses"), R * current**2, rtol=1e-9)
    np.testing.assert_allclose(found.quantity("power"), U * current, rtol=1e-9)
    mechanical = found.quantity("torque") * found.quantity("speed")
    np.testing.assert_allclose(found.quantity("power"), mechanical + found.quantity("losses"), rtol=1e-9)


def test_stall_and_no_load_points():
    U, R, k = 24.0, 1.5, 0.05
    no_load = 0.004 / k  # A
    motor = bc.DCMotor(U, R, k, coulomb=0.004, regularisation_velocity=1e-2)
    stalled = bc.simulate(shaft(motor), 1e-3, **FAST).force("motor")
    assert stalled.quantity("current")[0] == pytest.approx(U / R)
    assert stalled.quantity("torque")[0] == pytest.approx(k * U / R)
    free = bc.simulate(shaft(motor, speed=480.0), 400.0, output_step=1.0, **FAST).force("motor")
    assert free.quantity("current")[-1] == pytest.approx(no_load, rel=1e-8)
    assert free.quantity("speed")[-1] == pytest.approx((U - R * no_load) / k, rel=1e-9)
    assert free.quantity("losses")[-1] == pytest.approx(R * no_load**2 + 0.004 * free.quantity("speed")[-1])


def test_a_limit_of_the_current_holds_the_torque_until_the_voltage_does():
    U, R, k, limit = 24.0, 1.0, 0.05, 8.0
    run = bc.simulate(shaft(bc.DCMotor(U, R, k, current_limit=limit)), 8.0, output_step=0.01, **FAST)
    speed = run.joint("axle").velocity[:, 0]
    corner = (U - R * limit) / k  # where the voltage no longer drives the limit
    until = corner * INERTIA / (k * limit)
    early, late = run.time < until, run.time > until
    np.testing.assert_allclose(speed[early], k * limit / INERTIA * run.time[early], rtol=1e-9, atol=1e-10)
    tau = INERTIA * R / k**2
    rise = U / k + (corner - U / k) * np.exp(-(run.time - until) / tau)
    np.testing.assert_allclose(speed[late], rise[late], rtol=1e-8)
    assert run.force("motor").quantity("current").max() == pytest.approx(limit, rel=1e-12)


def test_the_winding_warms_as_a_first_order_system():
    motor = bc.DCMotor(24.0, 1.5, 0.05, thermal_resistance=2.0, thermal_time=40.0, viscous=1e-4)
    run = bc.simulate(shaft(motor, load=0.3), 60.0, output_step=0.05, **FAST)
    found = run.force("motor")
    heat = 1.5 * found.quantity("current") ** 2

    def rises(t, rise):
        return (2.0 * np.interp(t, run.time, heat) - rise) / 40.0

    wanted = solve_ivp(rises, (0.0, 60.0), [0.0], rtol=1e-8, atol=1e-8, max_step=0.05).y[0, -1]
    assert found.quantity("temperature_rise")[-1] == pytest.approx(wanted, rel=1e-6)
    assert found.quantities["temperature_rise"] == "K"


def test_warming_by_steady_and_by_linear_heat_over_uneven_times():
    time = np.concatenate([[0.0], np.cumsum(np.random.default_rng(1).uniform(0.01, 3.0, 777))])
    np.testing.assert_allclose(
        warming(time, np.full(len(time), 5.0), 2.0, 30.0), 10.0 * -np.expm1(-time / 30.0), rtol=1e-12
    )
    ramp = 2.0 * (time - 30.0 * -np.expm1(-time / 30.0))
    np.testing.assert_allclose(warming(time, time, 2.0, 30.0), ramp, rtol=1e-10)
    assert warming(np.array([1.0]), np.array([3.0]), 2.0, 30.0).tolist() == [0.0]


def test_a_servo_within_its_limits_is_a_spring_and_damper():
    """Beyond them it accelerates at its torque, and reaches the speed at which none is left."""
    target, stiffness, damping = 0.2, 8.0, 0.5
    servo = bc.Servo(target, stiffness, torque=50.0, damping=damping)
    run = bc.simulate(shaft(servo), 0.3, **FAST)
    a, w = damping / (2 * INERTIA), np.sqrt(stiffness / INERTIA - (damping / (2 * INERTIA)) ** 2)
    way = target * (1.0 - np.exp(-a * run.time) * (np.cos(w * run.time) + a / w * np.sin(w * run.time)))
    np.testing.assert_allclose(run.joint("axle").position[:, 0], way, rtol=1e-8, atol=1e-10)
    held = bc.Servo(100.0, stiffness, torque=2.0, torque_constant=0.5, current=3.0, resistance=0.1)
    run = bc.simulate(shaft(held), 0.2, **FAST)
    np.testing.assert_allclose(
        run.joint("axle").velocity[:, 0], 1.5 / INERTIA * run.time, rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose(run.force("motor").quantity("current"), 3.0, rtol=1e-12)
    np.testing.assert_allclose(run.force("motor").quantity("losses"), 0.9, rtol=1e-12)
    fast = bc.Servo(1e4, stiffness, torque=2.0, speed=30.0)
    run = bc.simulate(shaft(fast), 2.0, **FAST)
    rise = 30.0 * -np.expm1(-run.time * 2.0 / (30.0 * INERTIA))
    np.testing.assert_allclose(run.joint("axle").velocity[:, 0], rise, rtol=1e-8, atol=1e-9)


def test_a_stepper_follows_a_slow_command_and_falls_out_of_step_of_a_fast_one():
    stepper = {"holding_torque": 0.4, "viscous": 0.2}
    slow = bc.simulate(
        shaft(bc.StepperMotor(bc.Ramp(0.0, 1.0, duration=2.0), **stepper), load=0.1), 8.0, **FAST
    )
    behind = np.arcsin(0.1 / 0.4) / 50.0  # the load angle
    assert slow.joint("axle").position[-1, 0] == pytest.approx(1.0 - behind, abs=1e-6)
    fast = bc.simulate(shaft(bc.StepperMotor(bc.Ramp(0.0, 20.0, duration=0.1), **stepper)), 8.0, **FAST)
    lost = (20.0 - fast.joint("axle").position[-1, 0]) / (2.0 * np.pi / 50.0)
    assert lost > 10.0
    assert lost == pytest.approx(round(lost), abs=1e-6)  # whole electrical turns


def test_a_stepper_with_windings_pulls_less_at_speed():
    coils = {"current": 2.0, "resistance": 1.2, "inductance": 2.4e-3}
    stepper = bc.StepperMotor("30*t", 0.4, ratio=2.0, **coils)
    assert stepper.corner == pytest.approx(10.0)
    motor = bc.simulate(shaft(stepper, speed=30.0), 1e-2, **FAST).force("motor")
    share = 1.0 / np.sqrt(1.0 + (motor.quantity("speed") / 10.0) ** 2)
    np.testing.assert_allclose(motor.quantity("current"), 2.0 * share, rtol=1e-12)
    np.testing.assert_allclose(motor.quantity("losses"), 1.2 * (2.0 * share) ** 2, rtol=1e-12)


def test_inputs_set_the_voltage_during_a_run():
    voltage = bc.Input("voltage", 6.0, unit="V")
    begun = bc.start(shaft(bc.DCMotor(voltage, 1.5, 0.05)), formulation="recursive", method="dopri5")
    begun.advance(0.5)
    begun.inputs["voltage"] = -6.0
    begun.advance(0.5)
    voltages = begun.stop().force("motor").quantity("voltage")
    assert (voltages[0], voltages[-1]) == (pytest.approx(6.0), pytest.approx(-6.0))


FAULTS = [
    (lambda: bc.DCMotor(12.0, 1.0, 0.1, inductance="1 mH"), "inductance is not supported: currents follow"),
    (lambda: bc.DCMotor(12.0, -1.0, 0.0), "2 faults"),
    (lambda: bc.DCMotor(12.0, "1 V", 0.1), "resistance: this unit does not fit"),
    (
        lambda: bc.DCMotor(12.0, 1.0, 0.1, thermal_time=3.0),
        "belong together; give thermal_resistance as well",
    ),
    (lambda: bc.Servo(0.0, 1.0, 1.0, current=3.0, resistance=1.0), "2 faults"),
    (lambda: bc.Servo(0.0, 1.0, 1.0, stall=3.0), "stall belongs to a speed"),
    (lambda: bc.Servo(0.0, 1.0, 3.0, speed=1.0, stall=2.0), "stall must not be less than torque"),
    (lambda: bc.StepperMotor(0.0, 1.0, inductance=1e-3), "give resistance as well"),
    (lambda: bc.StepperMotor(0.0, 1.0, current=1.0), "current needs a resistance"),
    (lambda: bc.StepperMotor(0.0, 1.0, steps=3), "steps"),
]


@pytest.mark.parametrize(("make", "message"), FAULTS)
def test_faults(make, message):
    with pytest.raises(bc.MechanismError, match=message):
        make()


def test_files_hold_them():
    text = """
bellcrank: 1
bodies: {wheel: {mass: 1, inertia: [0.1, 0.1, 0.02]}}
joints: {axle: {type: Revolute, bodies: [ground, wheel], at: [0, 0, 0]}}
forces:
  motor: {type: DCMotor, joint: axle, voltage: 24*sin(3*t), resistance: 1.5 ohm, torque_constant: 50 mV s}
"""
    mech = bc.loads(text)
    assert mech.forces["motor"].kind == bc.DCMotor("24*sin(3*t)", 1.5, 0.05)
