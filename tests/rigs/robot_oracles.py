"""What Pinocchio and MuJoCo say about the model in a file, body by body: masses, states, accelerations."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

import bellcrank as bc
from bellcrank.mechanism.rotation import from_matrix, matrix

SPREAD = 0.6  # of random coordinates, rad or m


@dataclass
class Answer:
    """Of one body: mass, com and inertia about it in the body's frame; pose, twist and acceleration there."""

    mass: float
    com: np.ndarray
    inertia: np.ndarray
    position: np.ndarray
    rotation: tuple
    velocity: np.ndarray
    spin: np.ndarray
    acceleration: np.ndarray
    angular: np.ndarray


def pinocchio(path, mech, rng):
    """Answers for the bodies of a mechanism at a random state, by the URDF file that it was read from."""
    import pinocchio as pin

    floats = not any(joint.marker_1.body == "ground" for joint in mech.joints.values())
    model = pin.buildModelFromUrdf(str(path), *([pin.JointModelFreeFlyer()] if floats else []))
    held = [fault.element.split("'")[1] for fault in mech.left_out if "it is held" in fault.rule]
    if held:
        locked = [model.getJointId(name) for name in held]
        model = pin.buildReducedModel(model, locked, pin.neutral(model))
    data = model.createData()
    q = pin.integrate(model, pin.neutral(model), rng.uniform(-SPREAD, SPREAD, model.nv))
    v = rng.uniform(-1.0, 1.0, model.nv)
    a = pin.aba(model, data, q, v, np.zeros(model.nv)) if model.nv else np.zeros(0)
    pin.forwardKinematics(model, data, q, v, a)
    pin.updateFramePlacements(model, data)
    found = {}
    for name in mech.bodies:
        number = model.getFrameId({"ground_": "ground"}.get(name, name), pin.FrameType.BODY)
        frame = model.frames[number]
        inertia = frame.placement.inverse().act(model.inertias[frame.parentJoint])
        moves = [
            of(model, data, number, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
            for of in (pin.getFrameVelocity, pin.getFrameClassicalAcceleration)
        ]
        place = data.oMf[number]
        found[name] = Answer(
            inertia.mass,
            inertia.lever,
            inertia.inertia,
            place.translation.copy(),
            from_matrix(place.rotation),
            moves[0].linear.copy(),
            moves[0].angular.copy(),
            moves[1].linear.copy(),
            moves[1].angular.copy(),
        )
    return found


def mujoco(path, mech, rng):
    """The same by MuJoCo, without contacts, limits, equalities, dry friction and medium, inputs at zero."""
    import mujoco as mj

    model = mj.MjModel.from_xml_path(str(path))
    off = mj.mjtDisableBit
    model.opt.disableflags |= (
        off.mjDSBL_CONTACT | off.mjDSBL_LIMIT | off.mjDSBL_EQUALITY | off.mjDSBL_FRICTIONLOSS
    )
    model.opt.density = model.opt.viscosity = 0.0
    model.actuator_ctrllimited[:] = model.actuator_forcelimited[:] = model.jnt_actfrclimited[:] = 0
    data = mj.MjData(model)
    mj.mj_integratePos(model, data.qpos, rng.uniform(-SPREAD, SPREAD, model.nv), 1.0)
    data.qvel[:] = rng.uniform(-1.0, 1.0, model.nv)
    mj.mj_forward(model, data)
    mj.mj_rnePostConstraint(model, data)
    gravity = np.zeros(3) if model.opt.disableflags & off.mjDSBL_GRAVITY else model.opt.gravity
    names = {model.body(k).name or f"body {k}": k for k in range(1, model.nbody)}
    found = {}
    for name in mech.bodies:
        number = names[name]
        twist, change = np.zeros(6), np.zeros(6)
        mj.mj_objectVelocity(model, data, mj.mjtObj.mjOBJ_XBODY, number, twist, 0)
        mj.mj_objectAcceleration(model, data, mj.mjtObj.mjOBJ_XBODY, number, change, 0)
        found[name] = Answer(
            *_welded(model, data, number),
            data.xpos[number].copy(),
            tuple(data.xquat[number] / np.linalg.norm(data.xquat[number])),
            twist[3:],
            twist[:3],
            change[3:] + gravity,
            change[:3],
        )
    return found


def _welded(model, data, number):
    """Mass, com and inertia of a body and all that is welded to it, in its frame."""
    turn, place = data.xmat[number].reshape(3, 3), data.xpos[number]
    parts = [
        k
        for k in range(model.nbody)
        if model.body_weldid[k] == model.body_weldid[number] and model.body_mass[k] > 0
    ]
    mass = sum(model.body_mass[k] for k in parts)
    coms = {k: turn.T @ (data.xipos[k] - place) for k in parts}
    com = sum(model.body_mass[k] * coms[k] for k in parts) / mass
    inertia = np.zeros((3, 3))
    for k in parts:
        axes = turn.T @ data.ximat[k].reshape(3, 3)
        d = coms[k] - com
        inertia += axes @ np.diag(model.body_inertia[k]) @ axes.T
        inertia += model.body_mass[k] * (d @ d * np.eye(3) - np.outer(d, d))
    return mass, com, inertia


def free_of_limits(mech, forces=True):
    """The mechanism without limits, constraints, loops and dry friction, or without all forces but rotors."""
    copy = mech.copy()
    for constraint in list(copy.constraints.values()):
        copy.remove(constraint)
    for force in list(copy.forces.values()):
        if isinstance(force.kind, bc.JointFriction) or not (forces or force.name.endswith("armature")):
            copy.remove(force)
    for joint in list(copy.joints.values()):
        if joint.name.startswith(("weld ", "connect ")):  # equalities of MJCF
            copy.remove(joint)
            continue
        if joint.limits or joint.position:
            copy._joints[joint.name] = replace(joint, limits=(), position=())
    return copy


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


__all__ = ["compared", "free_of_limits", "matrix", "mujoco", "pinocchio"]
