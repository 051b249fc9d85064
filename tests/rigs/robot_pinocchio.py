"""What Pinocchio says about the model in a URDF file, with damping and motors."""

from xml.dom import expatbuilder

import numpy as np
from rigs.robot_answers import SPREAD, Answer, Answers, inputs_of, listed

from bellcrank.io.robots.names import symbol_name
from bellcrank.mechanism.rotation import from_matrix


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
