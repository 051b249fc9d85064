"""What MuJoCo says about the model in an MJCF file, with its actuators and medium."""

import numpy as np
from rigs.robot_answers import SPREAD, Answer, Answers, inputs_of, listed

from bellcrank.io.robots.names import symbol_name


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
