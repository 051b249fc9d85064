"""The prosthetic arm: the paper's counts, its kinematics in closed form, its torques by virtual work."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.gallery import ArmParameters
from bellcrank.gallery.prosthetic_arm import SIDES, Posture, prosthetic_arm, prosthetic_shoulder, reaching
from bellcrank.gallery.prosthetic_tasks import (
    ACTUATORS,
    LIFT_A_BOTTLE,
    STRAIGHT_LINE,
    TAKE_A_BOOK,
    Task,
    actuator_angles,
    driven_by_motors,
    driven_by_path,
    level,
)

POSTURES = (Posture(), Posture(0.7, 0.4, 1.0, -0.3), Posture(-0.3, 1.1, 0.2, 0.1), Posture(1.4, -0.5, 1.9))
UNEQUAL = ArmParameters(pinion_teeth=24, side_teeth=36)
TASKS = (STRAIGHT_LINE, TAKE_A_BOOK, LIFT_A_BOTTLE)


@pytest.mark.parametrize("posture", POSTURES)
@pytest.mark.parametrize("parameters", [ArmParameters(), UNEQUAL], ids=["mitre", "unequal"])
@pytest.mark.parametrize(
    ("build", "bodies", "rows"),
    [(prosthetic_shoulder, 7, 40), (prosthetic_arm, 9, 50)],
    ids=["shoulder", "arm"],
)
def test_the_counts_of_the_paper(build, bodies, rows, parameters, posture):
    mech = build(posture, parameters)
    assert len(mech.bodies) == bodies
    found = bc.prepare(mech).rows()
    jacobian = found.jacobian.reshape(rows, 6 * bodies)
    values = np.linalg.svd(jacobian, compute_uv=False)
    assert values[-1] > 1e-3 * values[0]  # none of the rows is redundant
    assert np.abs(found.error).max() < 1e-14  # it fits together as described


def test_the_upper_arm_weighs_what_the_table_says():
    parameters = ArmParameters()
    mech = prosthetic_arm(payload=0.7)
    upper = [body.mass for name, body in mech.bodies.items() if name not in ("forearm", "hand")]
    assert sum(upper) == pytest.approx(0.028 * 75.0, rel=1e-12)
    assert mech.bodies["hand"].mass == pytest.approx(0.006 * 75.0 + 0.7, rel=1e-12)
    shoulder = prosthetic_shoulder(payload=0.7)
    masses = (sum(body.mass for body in m.bodies.values()) for m in (mech, shoulder))
    assert next(masses) == pytest.approx(next(masses), rel=1e-12)
    assert parameters.reduction == pytest.approx(2 * np.pi * 25.0 / 2.0)


def test_the_shoulder_alone_has_the_inertia_of_the_locked_arm():
    posture = Posture(elbow=0.8, wrist=-0.3)
    whole, alone = prosthetic_arm(posture, payload=0.4), prosthetic_shoulder(posture, payload=0.4)
    first = sum(np.asarray(b.position) * b.mass + turned(b, b.com) * b.mass for b in whole.bodies.values())
    second = sum(np.asarray(b.position) * b.mass + turned(b, b.com) * b.mass for b in alone.bodies.values())
    assert first == pytest.approx(second, abs=1e-14)
    assert about_origin(whole) == pytest.approx(about_origin(alone), abs=1e-14)


def turned(body, vector):
    w, x, y, z = body.rotation
    axis = np.array([x, y, z])
    return np.asarray(vector) + 2 * np.cross(axis, np.cross(axis, vector) + w * np.asarray(vector))


def about_origin(mech):
    total = np.zeros((3, 3))
    for body in mech.bodies.values():
        columns = np.array([turned(body, e) for e in np.eye(3)]).T
        c = np.asarray(body.position) + turned(body, body.com)
        total += columns @ np.array(body.inertia) @ columns.T + body.mass * (
            c @ c * np.eye(3) - np.outer(c, c)
        )
    return total


@pytest.mark.parametrize("posture", [posture for posture in POSTURES if posture.elbow > 0.0])
def test_the_closed_form_finds_the_posture_that_put_the_wrist_there(posture):
    parameters = ArmParameters()
    mech = prosthetic_arm(posture, parameters)
    back = reaching(mech.bodies["hand"].position, parameters)
    angles = (posture.flexion, posture.abduction, posture.elbow, 0.0)
    assert (back.flexion, back.abduction, back.elbow, back.wrist) == pytest.approx(angles, abs=1e-12)


def test_what_is_out_of_reach():
    with pytest.raises(ValueError, match="does not reach"):
        reaching((0.6, 0.0, 0.1), ArmParameters())
    with pytest.raises(ValueError, match="so far sideways"):
        reaching((0.0, 0.25, 0.0), ArmParameters())


@pytest.mark.parametrize("parameters", [ArmParameters(), UNEQUAL], ids=["mitre", "unequal"])
def test_the_law_of_the_differential(parameters):
    mech = prosthetic_shoulder(Posture(0.2, 0.1, 0.5), parameters)
    for name, turns in (("front motor", 30.0), ("rear motor", -55.0)):
        mech.add_drive(name, joint=name, position=bc.Ramp(0.0, turns, duration=1.0))
    run = bc.kinematics(mech, 1.0, step=5e-3)
    flexion, abduction = run.joint("cardan").position.T
    front, rear = (run.joint(f"{side} gear").position[:, 0] for side in SIDES)
    ratio = parameters.pinion_teeth / parameters.side_teeth
    assert front - rear == pytest.approx(2 * ratio * flexion, abs=1e-8)
    assert front + rear == pytest.approx(-2 * abduction, abs=1e-8)
    for side in SIDES:
        gear, motor = (run.joint(f"{side} {part}").position[:, 0] for part in ("gear", "motor"))
        assert motor == pytest.approx(parameters.reduction * (gear - gear[0]), abs=1e-6)
        travel = run.joint(f"{side} key").position[:, 2]  # of the nut, down the arm
        assert -(travel - travel[0]) == pytest.approx(parameters.pulley_radius * (gear - gear[0]), abs=1e-10)
    assert np.ptp(flexion) > 0.3
    assert np.ptp(abduction) > 0.1


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_joint_angles_along_a_path(task: Task):
    run = bc.kinematics(driven_by_path(task), task.end, step=2.5e-3)
    known = actuator_angles(task, run.time)
    for name in ACTUATORS:
        assert run.joint(name).position[:, 0] == pytest.approx(known[name], abs=1e-7)
    path = np.column_stack([function(run.time) for function in task.path.functions])
    assert run.body("hand").position == pytest.approx(path, abs=1e-10)
    assert run.body("hand").point((0.0, 0.0, -0.1))[:, 2] == pytest.approx(path[:, 2], abs=1e-10)  # level


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_torques_do_the_work_of_the_force_that_would_lead_the_wrist(task: Task):
    """The power of the four actuators is that of a force on the wrist that leads the arm the same way."""
    run = bc.inverse_dynamics(driven_by_motors(task, samples=321), task.end, step=2.5e-3)
    power = sum(run.drive(name).power for name in ACTUATORS)
    led = bc.inverse_dynamics(driven_by_path(task), task.end, step=2.5e-3)
    known = np.sum(led.drive("path").effort * led.body("hand").velocity, axis=1)
    assert np.abs(known).max() > 1.0
    assert power == pytest.approx(known, abs=2e-3 * np.abs(known).max())


def lossy(task, thread):
    mech = driven_by_motors(task, ArmParameters(rotor_inertia=1e-9))
    for side in SIDES:
        mech.add_force(f"{side} thread", bc.JointFriction(load=thread), f"{side} ball screw")
    return mech


def test_screws_with_friction_take_what_their_thread_says():
    """tan(lead + rho)/tan(lead) times as much where a motor drives, with - rho where it is driven."""
    thread, lead = bc.Thread(0.0035, 0.15), np.arctan(0.002 / (2 * np.pi * 0.0035))
    settings = {"method": "dopri5", "times": np.linspace(0.3, 2.2, 96), "tolerance": 1e-8}
    rough, smooth = (
        bc.simulate(mech, start=0.0, **settings)
        for mech in (
            lossy(LIFT_A_BOTTLE, thread),
            driven_by_motors(LIFT_A_BOTTLE, ArmParameters(rotor_inertia=1e-9)),
        )
    )
    for side in SIDES:
        plain = smooth.drive(f"{side} motor")
        sense = np.sign(plain.power)
        factor = np.tan(lead + sense * np.arctan(0.15)) / np.tan(lead)
        found = rough.drive(f"{side} motor").effort
        np.testing.assert_allclose(found, factor * plain.effort, rtol=1e-4, atol=1e-7)
    assert {np.sign(v) for v in smooth.drive("rear motor").power} == {-1.0, 1.0}


@pytest.mark.parametrize(("coefficient", "holds"), [(0.092, True), (0.089, False)])
def test_the_arm_stays_without_current_where_its_screws_lock_themselves(coefficient, holds):
    """The tangent of the lead angle is 2/(7 pi) = 0.0909."""
    mech = lossy(LIFT_A_BOTTLE, bc.Thread(0.0035, coefficient))
    for side in SIDES:
        mech.remove(mech.drives[f"{side} motor"])
    run = bc.simulate(mech, 0.1, method="dopri5")
    moved = max(np.ptp(run.joint(f"{side} motor").position) for side in SIDES)
    assert (moved < 1e-9) == holds


@pytest.mark.parametrize("posture", POSTURES)
def test_holding_torques_are_the_gradient_of_the_energy(posture):
    parameters = ArmParameters()
    mech = prosthetic_arm(posture, parameters, payload=0.5)
    for name in ACTUATORS:
        start = {"elbow": posture.elbow, "wrist": posture.wrist}.get(name, 0.0)
        mech.add_drive(name, joint=name, position=start)
    system = bc.prepare(mech)
    efforts = system.accelerate()

    def energy(changed: Posture) -> float:
        bodies = prosthetic_arm(changed, parameters, payload=0.5).bodies.values()
        return sum(9.81 * body.mass * (body.position[2] + turned(body, body.com)[2]) for body in bodies)

    def slope(**step: float) -> float:
        size = 1e-5
        moved = [
            replace(posture, **{k: getattr(posture, k) + s * size * v for k, v in step.items()})
            for s in (1, -1)
        ]
        return (energy(moved[0]) - energy(moved[1])) / (2 * size)

    by_flexion, by_abduction = slope(flexion=1.0), slope(abduction=1.0)
    known = {
        "front motor": (by_flexion - by_abduction) / (2 * parameters.reduction),
        "rear motor": (-by_flexion - by_abduction) / (2 * parameters.reduction),
        "elbow": slope(elbow=1.0),
        "wrist": slope(wrist=1.0),
    }
    for name, torque in known.items():
        assert efforts.drive(name).effort == pytest.approx(torque, abs=2e-9)


def test_level_keeps_the_hand_level():
    posture = level(Posture(0.4, -0.3, 1.1, 0.5))
    mech = prosthetic_arm(posture)
    assert turned(mech.bodies["hand"], (0.0, 0.0, -1.0))[2] == pytest.approx(0.0, abs=1e-15)
