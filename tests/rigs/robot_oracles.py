"""Mechanisms compared with what Pinocchio and MuJoCo say about the model in their file.

Actuators are driven and the medium acts, but for what the mechanism lists as left out.
"""

from dataclasses import replace

import numpy as np
from rigs.robot_mujoco import mujoco
from rigs.robot_pinocchio import pinocchio

import bellcrank as bc
from bellcrank.mechanism.rotation import matrix


def free_of_limits(mech):
    """The mechanism without limits, constraints, loops and dry friction."""
    copy = mech.copy()
    for constraint in list(copy.constraints.values()):
        copy.remove(constraint)
    for force in list(copy.forces.values()):
        if isinstance(force.kind, bc.JointFriction):
            copy.remove(force)
            if force.kind.viscous:
                copy.add_force(force.name, bc.TorsionSpring(0.0, force.kind.viscous), *force.ends)
    for joint in list(copy.joints.values()):
        if joint.name.startswith(("weld ", "connect ")):  # equalities of MJCF
            copy.remove(joint)
            continue
        if joint.limits or joint.position:
            copy._joints[joint.name] = replace(joint, limits=(), position=())
    return copy


def off_start(mech, answers):
    """How far bodies start from where the file has them: m, or the elements of rotation matrices."""
    if not answers.start:
        return 0.0
    system = bc.prepare(mech, "recursive")
    state = system.state()
    off = 0.0
    for name, place, turn in zip(system.model.bodies, state.position, state.rotation, strict=True):
        position, rotation = answers.start[name]
        off = max(off, np.abs(place - position).max(), np.abs(matrix(tuple(turn)) - rotation).max())
    return float(off)


def compared(mech, answers, formulation="recursive"):
    """The largest errors: of mass properties, of accelerations relative to the largest, and of rows."""
    mass_error = 0.0
    for name, body in mech.bodies.items():
        answer = answers[name]
        scale = max(np.abs(answer.inertia).max(), 1e-14)
        mass_error = max(
            mass_error,
            abs(body.mass - answer.mass) / max(answer.mass, 1e-300),
            float(np.abs(np.subtract(body.com, answer.com)).max()) / max(1.0, np.abs(answer.com).max()),
            float(np.abs(np.subtract(body.inertia, answer.inertia)).max()) / scale,
        )
    system = bc.prepare(mech, formulation)
    system.inputs.update(answers.inputs)
    order = [answers[name] for name in system.model.bodies]
    start = system.state()
    state = replace(
        start,
        position=np.array([a.position for a in order]),
        rotation=np.array([a.rotation for a in order]),
        velocity=np.array([a.velocity for a in order]),
        angular_velocity=np.array([a.spin for a in order]),
        angles=None,
    )
    found = system.accelerate(state)
    ours = np.array(
        [np.r_[found.body(name).linear, found.body(name).angular] for name in system.model.bodies]
    )
    theirs = np.array([np.r_[a.acceleration, a.angular] for a in order])
    largest = max(1.0, float(np.abs(theirs).max()))
    gap, _ = system.core.violation()
    return mass_error, float(np.abs(ours - theirs).max()) / largest, gap


__all__ = ["compared", "free_of_limits", "matrix", "mujoco", "off_start", "pinocchio"]
