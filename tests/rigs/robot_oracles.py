"""Mechanisms compared with what Pinocchio and MuJoCo say about the model in their file.

Actuators are driven and the medium acts, but for what the mechanism lists as left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from xml.dom import expatbuilder

import numpy as np

import bellcrank as bc
from bellcrank.io.robots.skeleton import symbol_name
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


@dataclass
class Answers(dict):
    """Answers by the names of bodies.

    inputs: of the mechanism, at which they are given. start: position and rotation by body as the file has
    them, where it does not contradict itself. lost: bodies with a mass that no body of the mechanism has.
    """

    inputs: dict = field(default_factory=dict)
    start: dict = field(default_factory=dict)
    lost: list = field(default_factory=list)


def inputs_of(mech):
    """The names of a mechanism's inputs."""
    known = all(body.mass_known for body in mech.bodies.values())
    return {*bc.prepare(mech, "recursive").inputs} if mech.bodies and known else set()


def listed(mech, rule):
    """The names of elements that are listed as left out by a rule."""
    return [[*fault.element.split("'"), ""][1] for fault in mech.left_out if rule in fault.rule]


def mujoco(path, mech, rng):
    """The same by MuJoCo, without contacts, limits, equalities and dry friction."""
    import mujoco as mj

    model = mj.MjModel.from_xml_path(str(path))
    data = mj.MjData(model)
    off = mj.mjtDisableBit
    mj.mj_forward(model, data)
    named = {model.body(k).name or f"body {k}": k for k in range(1, model.nbody)}
    numbers = {name: named[name] for name in mech.bodies}
    held = {model.body_weldid[number] for number in numbers.values()} | {0}
    found = Answers(
        start={name: (data.xpos[k].copy(), data.xmat[k].reshape(3, 3).copy()) for name, k in numbers.items()},
        lost=[
            name
            for name, k in named.items()
            if model.body_mass[k] > 0
            and model.body_weldid[k] not in held
            and model.body_mocapid[model.body_weldid[k]] < 0
        ],
    )
    rows = (data.efc_type == mj.mjtConstraint.mjCNSTR_EQUALITY) | (
        data.efc_type == mj.mjtConstraint.mjCNSTR_LIMIT_JOINT
    )
    if np.abs(data.efc_pos[rows]).max(initial=0.0) > 1e-9:
        found.start = {}
    model.opt.disableflags |= (
        off.mjDSBL_CONTACT | off.mjDSBL_LIMIT | off.mjDSBL_EQUALITY | off.mjDSBL_FRICTIONLOSS
    )
    _leave_out(model, mech)
    mj.mj_integratePos(model, data.qpos, rng.uniform(-SPREAD, SPREAD, model.nv), 1.0)
    data.qvel[:] = rng.uniform(-1.0, 1.0, model.nv)
    found.inputs.update(_driven(model, data, mech, rng))
    mj.mj_forward(model, data)
    mj.mj_rnePostConstraint(model, data)
    gravity = np.zeros(3) if model.opt.disableflags & off.mjDSBL_GRAVITY else model.opt.gravity
    for name, number in numbers.items():
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


def _leave_out(model, mech):
    """Take out of a model the ranges of efforts that are listed as left out."""
    import mujoco as mj

    for name in listed(mech, "ranges of its input"):
        k = mj.mj_name2id(model, mj.mjtObj.mjOBJ_ACTUATOR, name)
        model.actuator_ctrllimited[k] = 0
    for name in listed(mech, "limits of effort"):
        if (k := mj.mj_name2id(model, mj.mjtObj.mjOBJ_JOINT, name)) >= 0:
            model.jnt_actfrclimited[k] = 0
        else:  # a joint without a name
            model.jnt_actfrclimited[:] = 0


def _driven(model, data, mech, rng):
    """Drive a model's actuators at random, beyond their ranges too; inputs of the mechanism by name.

    Activations are within their ranges, as MuJoCo keeps them.
    An actuator that the mechanism lists as one that it does not take does nothing.
    """
    known, inputs = inputs_of(mech), {}
    absent = {*listed(mech, "is not taken"), *listed(mech, "must not depend on its motion")}
    for k in range(model.nu):
        name = model.actuator(k).name
        ours = symbol_name(name) if name else next((one for one in known if one.endswith(f"_{k + 1}")), "")
        low, high = model.actuator_ctrlrange[k] if model.actuator_ctrllimited[k] else (-1.0, 1.0)
        active = model.actuator_actadr[k] >= 0
        if active and model.actuator_actlimited[k]:
            low, high = model.actuator_actrange[k]
        beyond = 0.0 if active else 0.3 * (high - low)
        value = rng.uniform(low - beyond, high + beyond)
        if ours in known:
            inputs[ours] = value
        elif name in absent:
            model.actuator_gainprm[k] = model.actuator_biasprm[k] = 0.0
        data.ctrl[k] = value
        if model.actuator_actadr[k] >= 0:  # what drives it is its activation, at rest here
            data.act[model.actuator_actadr[k] + model.actuator_actnum[k] - 1] = value
    return inputs


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


def pinocchio(path, mech, rng):
    """Answers for the bodies of a mechanism at a random state, by the URDF file that it was read from."""
    import pinocchio as pin

    floats = not any(joint.marker_1.body == "ground" for joint in mech.joints.values())
    model = pin.buildModelFromUrdf(str(path), *([pin.JointModelFreeFlyer()] if floats else []))
    if held := listed(mech, "it is held"):
        locked = [model.getJointId(name) for name in held]
        model = pin.buildReducedModel(model, locked, pin.neutral(model))
    data = model.createData()
    found = Answers(start=_placed(pin, model, data, mech, pin.neutral(model)))
    q = pin.integrate(model, pin.neutral(model), rng.uniform(-SPREAD, SPREAD, model.nv))
    v = rng.uniform(-1.0, 1.0, model.nv)
    efforts = _efforts(path, mech, model, v, rng, found.inputs)
    a = pin.aba(model, data, q, v, efforts) if model.nv else np.zeros(0)
    pin.forwardKinematics(model, data, q, v, a)
    pin.updateFramePlacements(model, data)
    for name in mech.bodies:
        number = _frame(pin, model, name)
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


def _frame(pin, model, name):
    return model.getFrameId({"ground_": "ground"}.get(name, name), pin.FrameType.BODY)


def _placed(pin, model, data, mech, q):
    """Where the bodies are at a configuration, if its joints' limits permit it."""
    low, high = model.lowerPositionLimit, model.upperPositionLimit
    for joint, first in zip(model.joints[1:], model.idx_qs[1:], strict=True):
        if joint.nq == 1 and not low[first] <= q[first] <= high[first]:
            return {}
    pin.forwardKinematics(model, data, q)
    pin.updateFramePlacements(model, data)
    places = {name: data.oMf[_frame(pin, model, name)] for name in mech.bodies}
    return {name: (one.translation.copy(), one.rotation.copy()) for name, one in places.items()}


def _efforts(path, mech, model, v, rng, inputs):
    """Damping of joints, and what motors do at random inputs; their rotors count as armature."""
    efforts = np.zeros(model.nv)
    undamped = listed(mech, "damping and friction need a joint with one coordinate")
    for number in range(1, model.njoints):
        joint, first = model.joints[number], model.idx_vs[number]
        if joint.nv == 1 and model.names[number] not in undamped:
            efforts[first] = -model.damping[first] * v[first]
    known = inputs_of(mech)
    unlimited = listed(mech, "limits of effort")
    document = expatbuilder.parse(str(path), namespaces=False)  # prefixes are used without being declared
    for at in document.getElementsByTagName("transmission"):
        joints, motors = at.getElementsByTagName("joint"), at.getElementsByTagName("actuator")
        name = symbol_name(motors[0].getAttribute("name") or at.getAttribute("name")) if motors else ""
        if name in known and model.existJointName(joints[0].getAttribute("name")):
            first = model.idx_vs[model.getJointId(joints[0].getAttribute("name"))]
            ratio = _said(
                (at, joints[0], motors[0]), "mechanicalReduction mechanical_reduction gear_ratio", 1.0
            )
            rotor = _said((motors[0], at), "rotorInertia rotor_inertia motorInertia", 0.0)
            inputs.setdefault(name, rng.uniform(-1.0, 1.0))  # several may have one motor
            most = model.effortLimit[first]
            held = 0.0 < most < 1e10 and joints[0].getAttribute("name") not in unlimited
            effort = ratio * inputs[name]
            efforts[first] += np.clip(effort, -most, most) if held else effort
            model.armature[first] += ratio * ratio * rotor
    return efforts


def _said(places, tags, default):
    found = (one for at in places for tag in tags.split() for one in at.getElementsByTagName(tag))
    return next((float(one.firstChild.data) for one in found if one.firstChild), default)


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
