"""Motors and applied wrenches in mechanisms against closed forms."""

import numpy as np
import pytest
from rigs.machine import Machine, matrix
from rigs.oscillators import INERTIA, MASS, free_body, slider, wheel
from scipy.spatial.transform import Rotation

import bellcrank as bc

J = INERTIA[2]


def run_of(mech, duration=1.0, **settings):
    machine = Machine(mech)
    assert machine.system.project()
    return machine.run(duration, **settings)


def test_a_constant_torque():
    mech, _ = wheel(0.2, 1.0)
    mech.add_force("motor", bc.JointMotor(3.0), "joint")
    run = run_of(mech)
    np.testing.assert_allclose(run.q[:, 0], 0.2 + run.time + 1.5 / J * run.time**2, atol=1e-11)


def test_a_force_that_varies():
    mech, _ = slider(0.1)
    mech.add_force("motor", bc.JointMotor(bc.Harmonic(5.0, 4.0)), joint="joint")
    run = run_of(mech)
    expected = 0.1 + 5.0 / MASS / 16.0 * (4.0 * run.time - np.sin(4.0 * run.time))
    np.testing.assert_allclose(run.q[:, 0], expected, atol=1e-10)


def test_a_motor_that_droops_reaches_its_speed():
    """Effort 3 − 0.6 rate: the speed tends to 5 rad/s as 1 − exp(−0.6 t/J)."""
    mech, _ = wheel()
    mech.add_force("motor", bc.JointMotor(3.0, droop=0.6), "joint")
    run = run_of(mech, 3.0)
    np.testing.assert_allclose(run.qd[:, 0], 5.0 * (1.0 - np.exp(-0.6 / J * run.time)), atol=1e-11)


def arm(explicit, ratio, rotor=2e-3):
    """Two links in space. The elbow's motor is a GearedMotor, or a torque on a rotor that a gear links to it.

    The rotor turns on the upper arm about the elbow's axis. Its spin relative to the arm is ratio times the
    elbow's: the gear ties  1 elbow − (1/ratio) rotor  (a Coupling, since a Gear has no negative ratio).
    """
    mech = bc.Mechanism("arm", gravity=(1.0, 2.0, -9.0))
    upper = mech.add_body("upper", mass=2.0, inertia=(0.02, 0.2, 0.21), com=(0.5, 0.0, 0.0))
    lower = mech.add_body(
        "lower", mass=1.0, inertia=(0.01, 0.1, 0.09), com=(0.4, 0.05, 0.02), position=(1.0, 0.0, 0.0)
    )
    axis = (0.0, 0.0, 1.0)
    mech.add_joint("shoulder", bc.Revolute(), mech.ground.marker(axis=axis), upper.marker(axis=axis))
    mech.add_joint("elbow", bc.Revolute(), upper.marker((1.0, 0.0, 0.0), axis=axis), lower.marker(axis=axis))
    torque = bc.Harmonic(0.2, 5.0, offset=0.1)
    if not explicit:
        mech.add_force("motor", bc.GearedMotor(ratio, rotor, torque, droop=1e-3), "elbow")
        return mech
    light = 1e-9
    shaft = mech.add_body("rotor", mass=light, inertia=(rotor, rotor, rotor), position=(1.0, 0.0, 0.0))
    ends = upper.marker((1.0, 0.0, 0.0), axis=axis), shaft.marker(axis=axis)
    mech.add_joint("shaft", bc.Revolute(), *ends)
    mech.add_constraint("gear", bc.Coupling((1.0, -1.0 / ratio)), "elbow", "shaft")
    mech.add_force("motor", bc.JointMotor(torque, droop=1e-3), "shaft")
    return mech


def test_ratios_of_no_size_are_refused():
    with pytest.raises(bc.MechanismError, match="ratio must be at least"):
        bc.GearedMotor(ratio=5e-324, rotor_inertia=0.2)
    mech = bc.gallery.double_pendulum()
    free = bc.prepare(mech).accelerate().angular
    light = bc.GearedMotor(ratio=1e-25, rotor_inertia=1e-30)  # their product is none
    mech.add_force("motor", light, next(iter(mech.joints.values())))
    assert np.array_equal(bc.prepare(mech).accelerate().angular, free)


@pytest.mark.parametrize("ratio", [6.0, -20.0])
def test_a_geared_motor_against_a_rotor_with_a_gear(ratio):
    """With the shoulder held, the rotor's spin relative to the arm is all of its spin."""
    runs = []
    for explicit in (True, False):
        mech = arm(explicit, ratio)
        mech.add_drive("hold", "shoulder", position=0.0)
        runs.append(run_of(mech))
    rotor, motor = runs
    np.testing.assert_allclose(motor.q[:, 1], rotor.q[:, 1], atol=1e-9)
    np.testing.assert_allclose(motor.kinetic, rotor.kinetic, atol=1e-9)
    assert np.ptp(motor.q[:, 1]) > 0.3


@pytest.mark.parametrize("ratio", [6.0, -20.0])
def test_what_a_geared_motor_leaves_out(ratio):
    """On a moving arm an explicit rotor also turns with the arm: its inertia couples both joints.

    With the rotor's spin  φ' = s' + n e'  (shoulder s, elbow e) the energy ½ J φ'² holds J n s' e' + ½ J s'²
    beside the ½ J n² e'² of the GearedMotor. The difference is what is documented: relative spin
    alone.
    """
    rotor = 2e-3
    acceleration = []
    for explicit in (True, False):
        machine = Machine(arm(explicit, ratio, rotor))
        assert machine.system.project()
        acceleration.append(machine.system.accelerate()[1][:2, 2])
    (s1, a1), (s2, a2) = acceleration  # absolute angular accelerations of both links
    mass = np.zeros((2, 2))
    cross = np.array([[rotor, rotor * ratio], [rotor * ratio, 0.0]])
    # Joint space: M q'' = τ with M of the links and the motor; the explicit rotor adds `cross` at the same τ.
    c2, arm_com = np.array([0.4, 0.05, 0.02]), 0.5
    i1 = 0.21 + 2.0 * arm_com**2
    i2 = 0.09 + 1.0 * (c2[0] ** 2 + c2[1] ** 2)
    r = np.array([1.0 + c2[0], c2[1]])
    mass[0, 0] = i1 + 0.09 + r @ r
    mass[0, 1] = mass[1, 0] = i2 + c2[0] * 1.0
    mass[1, 1] = i2 + rotor * ratio**2
    tau = mass @ np.array([s2, a2 - s2])
    np.testing.assert_allclose(np.linalg.solve(mass + cross, tau), [s1, a1 - s1], rtol=1e-6)


def test_a_rotor_alone_makes_a_joint_sluggish():
    """Inertia n² J_rotor beside that of the wheel; the kinetic energy holds it too."""
    mech, _ = wheel(0.0, 2.0)
    mech.add_force("rotor", bc.GearedMotor(50.0, 1e-3), "joint")
    mech.add_force("push", bc.JointMotor(4.0), "joint")
    run = run_of(mech)
    inertia = J + 50.0**2 * 1e-3
    np.testing.assert_allclose(run.q[:, 0], 2.0 * run.time + 2.0 / inertia * run.time**2, atol=1e-11)
    np.testing.assert_allclose(run.kinetic, 0.5 * inertia * run.qd[:, 0] ** 2, rtol=1e-12)
    np.testing.assert_allclose(run.multipliers[:, 0], -(50.0**2) * 1e-3 * 4.0 / inertia, rtol=1e-12)


def test_a_rotor_is_not_held_at_a_place():
    """Its row has inertia and no position: nothing draws the joint back, whatever its angle."""
    mech, _ = wheel(2.0)
    mech.add_force("rotor", bc.GearedMotor(10.0, 1e-2), "joint")
    run = run_of(mech)
    np.testing.assert_allclose(run.q[:, 0], 2.0, atol=1e-13)


def test_a_constant_force_in_world_axes():
    """At a point off the com: the com moves as a point would, whatever the body does."""
    mech, body = free_body(velocity=(0.1, 0.2, 0.3), angular_velocity=(1.0, -2.0, 0.5))
    mech.add_force("push", bc.Wrench(force=(1.0, 2.0, -3.0)), body.marker((0.1, -0.2, 0.3)))
    run = run_of(mech)
    expected = np.outer(run.time, (0.1, 0.2, 0.3)) + 0.5 / MASS * np.outer(run.time**2, (1.0, 2.0, -3.0))
    np.testing.assert_allclose(run.position[:, 0], expected, atol=1e-12)


def test_a_force_at_a_point_turns_the_body():
    mech, body = free_body(rotation=(0.6, 0.0, 0.8, 0.0))
    at, force, moment = np.array([0.1, -0.2, 0.3]), np.array([1.0, 2.0, -3.0]), np.array([0.3, -0.1, 0.2])
    turn = Rotation.from_rotvec([0.3, 0.5, -0.2])
    rotation = tuple(np.roll(turn.as_quat(), 1).tolist())
    R = matrix(body.rotation)
    inertia = R @ np.diag(INERTIA) @ R.T
    for axes, T in (("world", np.eye(3)), ("marker", R @ turn.as_matrix())):
        changed = bc.Mechanism("free", gravity=(0.0, 0.0, 0.0))
        copy = changed.add_body("body", mass=MASS, inertia=INERTIA, rotation=body.rotation)
        wrench = bc.Wrench(force=tuple(force), moment=tuple(moment), axes=axes)
        changed.add_force("push", wrench, copy.marker(tuple(at), rotation=rotation))
        linear, angular, _ = Machine(changed).system.accelerate()
        np.testing.assert_allclose(linear[0], T @ force / MASS, rtol=1e-12)
        torque = T @ moment + np.cross(R @ at, T @ force)
        np.testing.assert_allclose(angular[0], np.linalg.solve(inertia, torque), rtol=1e-12)
    assert not mech.forces


def test_a_force_that_turns_with_the_body():
    """A thruster on a body that spins about z at Ω: a = F/m (cos Ωt, sin Ωt)."""
    spin = 3.0
    mech, body = free_body(angular_velocity=(0.0, 0.0, spin))
    mech.add_force("jet", bc.Wrench(force=(2.0, 0.0, 0.0), axes="marker"), body.marker())
    run = run_of(mech)
    a = 2.0 / MASS / spin**2
    angle = spin * run.time
    expected = a * np.column_stack([1.0 - np.cos(angle), angle - np.sin(angle), 0.0 * angle])
    np.testing.assert_allclose(run.position[:, 0], expected, atol=1e-11)


def test_a_moment_that_varies():
    mech, body = free_body()
    mech.add_force("twist", bc.Wrench(moment=(0.0, bc.Harmonic(0.6, 2.0), 0.0)), body.marker())
    run = run_of(mech)
    expected = 0.6 / INERTIA[1] / 4.0 * (2.0 * run.time - np.sin(2.0 * run.time))
    np.testing.assert_allclose(2.0 * np.arcsin(run.rotation[:, 0, 2]), expected, atol=1e-11)
