"""Mechanisms written in every format and read back: what of them is in the file moves as it did."""

from __future__ import annotations

import runpy
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

import bellcrank as bc
from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.initial import assembled
from bellcrank.io.robots import mjcf_writer, urdf_writer
from bellcrank.io.round_trip import Written, compared
from bellcrank.mechanism.collisions import not_written
from bellcrank.mechanism.contents import with_numbers
from bellcrank.mechanism.rotation import matrix

EXAMPLES = Path(__file__).parents[2] / "examples"
WRITERS = {"urdf": urdf_writer.write, "xml": mjcf_writer.write}
FORMATS = ("yaml", "json", *WRITERS)
_SINGULAR = 1e5  # m/s^2, rad/s^2: larger accelerations are those of a pose near a singular one
EVENTS = ("simulate", "inverse_dynamics", "kinematics", "assemble", "verify", "prepare")


class Enough(BaseException):
    """A script has made its mechanism."""


def of_example(name, monkeypatch):
    """The mechanisms that a script has made up to its first run; of one that grows, the last."""
    made = []
    begin = bc.Mechanism.__init__

    def noted(self, *given, **named):
        made.append(self)
        begin(self, *given, **named)

    def stop(*_, **__):
        raise Enough

    with monkeypatch.context() as patch:
        patch.setattr(bc.Mechanism, "__init__", noted)
        for event in EVENTS:
            patch.setattr(bc, event, stop)
        patch.setattr(sys, "argv", [name])
        patch.syspath_prepend(str(EXAMPLES))
        with suppress(Enough):
            runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    kept = []
    for one in made:
        if one.bodies and not any(one == other for other in kept):
            kept.append(one)
    return [
        one
        for k, one in enumerate(kept)
        if not any(other.name == one.name and set(one.bodies) <= set(other.bodies) for other in kept[k + 1 :])
    ]


def there_and_back(mech, suffix, folder):
    """What of a mechanism is in a file, what was read back, and what is left out; None if it is refused.

    A refusal names joints or bodies.
    """
    path = folder / f"mech.{suffix}"
    if suffix not in WRITERS:
        left = bc.save(mech, path)
        return Written(with_numbers(mech)), bc.load(path), list(left)
    refused, left = [], ()
    try:
        left = bc.save(mech, path)
    except bc.MechanismError as error:
        refused = error.faults
    if refused:
        assert not path.exists()
        assert all(fault.element.startswith(("joint ", "body ")) for fault in refused), refused
        return None
    _, made = WRITERS[suffix](mech)
    written = Written(made.kept, made.bodies, made.merged, made.lacks)
    again = bc.load(path)
    listed = [*made.left_out, *compared(written, lambda: again), *not_written(mech)]
    assert [str(fault) for fault in left] == [str(fault) for fault in listed]
    if any(fault.element == "gravity" for fault in listed):
        assert suffix == "urdf"
        made.kept.gravity = again.gravity
    return written, again, listed


def moved_state(mech, seed=0, size=0.05):
    """A state near the start that meets the constraints, with velocities, and the system that is there."""
    rng = np.random.default_rng(seed)
    start = assembled(compile_mechanism(mech))[0].initial
    reach = 1e-3 + np.abs(start.position - start.position.mean(axis=0)).max(initial=0.0)
    for step in (size, 1e-2 * size, 0.0):
        other = mech.copy()
        for k, (name, body) in enumerate(mech.bodies.items()):
            spin = 0.0 if not any(map(any, body.inertia)) else 1.0
            turn = np.array([1.0, *(spin * step * rng.normal(size=3))])
            w, x, y, z = turn / np.linalg.norm(turn)
            a, b, c, d = start.rotation[k]
            rotation = (
                a * w - b * x - c * y - d * z, a * x + b * w + c * z - d * y,
                a * y - b * z + c * w + d * x, a * z + b * y - c * x + d * w,
            )  # fmt: skip
            other._bodies[name] = replace(
                body,
                position=tuple(start.position[k] + step * reach * rng.normal(size=3)),
                rotation=tuple(np.array(rotation) / np.linalg.norm(rotation)),
                velocity=tuple(start.velocity[k] + reach * rng.normal(size=3)),
                angular_velocity=tuple(start.angular_velocity[k] + spin * rng.normal(size=3)),
            )
        for name, joint in mech.joints.items():
            other._joints[name] = replace(joint, position=(), velocity=(), guess=())
        try:
            found = assembled(compile_mechanism(other))[0].initial
        except bc.AssemblyError:
            continue
        if np.abs(accelerations(mech, found, list(mech.bodies))).max(initial=0.0) < _SINGULAR:
            return found
    return start


def accelerations(mech, state, names):
    """Angular, and linear of the centres of mass, of the named bodies at a state in the mechanism's order."""
    system = bc.prepare(mech, "lagrange")
    found = system.accelerate(replace(state, angles=None, contacts=None, source=None, time=0.0))
    order = list(system.model.bodies)
    rows = []
    for name in names:
        k = order.index(name)
        arm = matrix(state.rotation[k]) @ mech.bodies[name].com
        spin, alpha = state.angular_velocity[k], found.body(name).angular
        linear = found.body(name).linear + np.cross(alpha, arm) + np.cross(spin, np.cross(spin, arm))
        rows.append(np.r_[linear, alpha])
    return np.array(rows).reshape(-1, 6)


def difference(written, again, seed=0):
    """The largest difference of the accelerations of bodies at a moved state, relative to the largest.

    Those of a mechanism that equals the one written are the same at the start, to the last digit.
    """
    mech = written.mechanism
    if again == mech:
        assert list(again.bodies) == list(mech.bodies)
        np.testing.assert_array_equal(_at_start(again), _at_start(mech))
        return 0.0
    state = moved_state(mech, seed)
    names = list(mech.bodies)
    own = [n for n in names if n not in written.merged]
    file = {written.bodies.get(n, n): n for n in own}
    assert sorted(file) == sorted(again.bodies)
    if not file:
        return 0.0
    groups = {n: [] for n in own}
    for name in names:
        lead = name
        while lead in written.merged:
            lead = written.merged[lead]
        if lead in groups:
            groups[lead].append(name)
    other, shifted = [], []
    for name, body in again.bodies.items():
        lead, parts = file[name], groups[file[name]]
        k = names.index(lead)
        turn, masses = matrix(state.rotation[k]), np.array([mech.bodies[n].mass for n in parts])
        coms = [
            state.position[names.index(n)] + matrix(state.rotation[names.index(n)]) @ mech.bodies[n].com
            for n in parts
        ]
        com = masses @ np.array(coms) / masses.sum()
        frame = com - turn @ body.com
        velocity = state.velocity[k] + np.cross(state.angular_velocity[k], frame - state.position[k])
        other.append((frame, state.rotation[k], velocity, state.angular_velocity[k]))
        shifted.append(len(parts) > 1)
    columns = [np.array(part) for part in zip(*other, strict=True)] or [
        np.zeros((0, n)) for n in (3, 4, 3, 3)
    ]
    theirs = accelerations(again, bc.State(0.0, *columns), list(again.bodies))
    ours = accelerations(mech, state, [file[name] for name in again.bodies])
    theirs[np.array(shifted, dtype=bool), :3] = ours[np.array(shifted, dtype=bool), :3]
    largest = np.maximum(np.abs(ours).max(axis=0, initial=0.0), 1e-3)
    for part in (slice(0, 3), slice(3, 6)):
        largest[part] = largest[part].max()
    return float((np.abs(ours - theirs) / largest).max(initial=0.0))


def _at_start(mech):
    found = bc.prepare(mech, "lagrange").accelerate()
    return np.hstack([found.linear, found.angular])


def of_mujoco(path, mechanism):
    """MuJoCo's accelerations of the frames of bodies at the file's start, by name, and ours there.

    Both without limits, dry friction and what closes loops, which are soft in MuJoCo. None if it refuses the
    file.
    """
    import mujoco as mj

    try:
        model = mj.MjModel.from_xml_path(str(path))
    except ValueError:
        return None
    off = mj.mjtDisableBit
    model.opt.disableflags |= off.mjDSBL_LIMIT | off.mjDSBL_EQUALITY | off.mjDSBL_FRICTIONLOSS
    data = mj.MjData(model)
    if model.nkey:
        mj.mj_resetDataKeyframe(model, data, 0)
    mj.mj_forward(model, data)
    mj.mj_rnePostConstraint(model, data)
    _, made = mjcf_writer.write(mechanism)
    mech = made.kept.copy()
    for name in [joint.name for joint in made.loops]:
        mech.remove(mech.joints[name], cascade=True)
    for constraint in list(mech.constraints.values()):
        mech.remove(constraint)
    for force in list(mech.forces.values()):
        if isinstance(force.kind, bc.JointFriction):
            viscous = force.kind.viscous
            mech.remove(force)
            if viscous:
                mech.add_force(force.name, bc.TorsionSpring(0.0, viscous), *force.ends)
    for name, joint in mech.joints.items():
        mech._joints[name] = replace(joint, limits=())
    system = bc.prepare(mech, "lagrange")
    state = assembled(compile_mechanism(mech))[0].initial
    found = system.accelerate(state)
    ours, theirs = [], []
    for k, name in enumerate(system.model.bodies):
        number = mj.mj_name2id(model, mj.mjtObj.mjOBJ_BODY, made.bodies[name])
        assert number > 0, name
        np.testing.assert_allclose(data.xpos[number], state.position[k], atol=1e-7)
        change, twist = np.zeros(6), np.zeros(6)
        mj.mj_objectAcceleration(model, data, mj.mjtObj.mjOBJ_XBODY, number, change, 0)
        mj.mj_objectVelocity(model, data, mj.mjtObj.mjOBJ_XBODY, number, twist, 0)
        np.testing.assert_allclose(twist[3:], state.velocity[k], atol=1e-6)
        np.testing.assert_allclose(twist[:3], state.angular_velocity[k], atol=1e-6)
        theirs.append([*(change[3:] + model.opt.gravity), *change[:3]])
        ours.append([*found.body(name).linear, *found.body(name).angular])
    return np.array(ours).reshape(-1, 6), np.array(theirs).reshape(-1, 6)
