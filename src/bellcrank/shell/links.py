"""Commands on links: il, ilc, pl, sl."""

from __future__ import annotations

from math import pi
from typing import Any, Final

import numpy as np

from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.functions.path import Path
from bellcrank.mechanism.functions.piecewise import Ramp
from bellcrank.mechanism.joint import Joint
from bellcrank.mechanism.joint_kinds import Fixed, Prismatic, Revolute
from bellcrank.mechanism.marker import GROUND, Marker
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.rotation import between, multiply, rotate
from bellcrank.mechanism.special_joints import Screw
from bellcrank.shell.bodies import BODY, QUATERNION, unit, vector
from bellcrank.shell.language import Argument, Command, Given, Option
from bellcrank.shell.reply import Reply
from bellcrank.shell.session import Session, pose_in

GROUP: Final = "Links"
_CONSTRAINTS = ("free", "nail", "move_to_point")
_REVOLUTE = 1e-12  # a pitch below this, m/rad, is none


def _instance(session: Session, given: Given) -> Reply:
    root, name = given["rootname"], given["localname"]

    def add(mechanism: Mechanism) -> None:
        body = mechanism.add_body(name, mass=1.0, inertia=(1.0, 1.0, 1.0))
        mechanism.add_joint(name, Revolute(), Marker(root), body)

    session.edit(add)
    return Reply(data={"body": name, "joint": name})


def _endpoint(session: Session, given: Given) -> Reply:
    name, kind = given["body"], given["type"]
    session.commit()
    state = session.state()
    pose = pose_in(state, list(session.mechanism.bodies).index(name))
    point = given.option("-t") or (0.0, 0.0, 0.0)

    def change(mechanism: Mechanism) -> None:
        for table, element in ((mechanism.joints, f"{name}.nail"), (mechanism.drives, f"{name}.move")):
            if element in table:
                mechanism.remove(table[element], cascade=True)
        if kind == "nail":
            here = Marker(GROUND, pose["position"], pose["rotation"])  # type: ignore[arg-type]
            mechanism.add_joint(f"{name}.nail", Fixed(), here, Marker(name))
        elif kind == "move_to_point":
            turn: Any = pose["rotation"]
            start = np.asarray(pose["position"]) + np.asarray(rotate(turn, point))
            goal = given.option("-p") or tuple(start.tolist())
            duration = given.option("-d") or 1.0
            lines = zip(start.tolist(), goal, strict=True)
            path = Path(tuple(Ramp(a, b, session.now.time, duration) for a, b in lines))  # type: ignore[arg-type]
            mechanism.add_drive(f"{name}.move", marker=Marker(name, point), path=path)

    session.edit(change)
    return Reply(data={"body": name, "constraint": kind})


def _set(session: Session, given: Given) -> Reply:
    parent, child = given["parent"], given["child"]
    joint = _link(session.mechanism, parent, child)
    one, two = joint.marker_1, joint.marker_2
    changes: dict[str, Any] = {}
    distal = _frame(given, "-djt", "-djE", one)
    proximal = _frame(given, "-pjt", "-pjE", two)
    if (axis := given.option("-s")) is not None:
        changes["kind"], proximal = _axis(axis, proximal)
    if distal != one:
        changes["marker_1"] = distal
    if proximal != two:
        changes["marker_2"] = proximal
    for word, field in (("-q", "position"), ("-qdot", "velocity")):
        if (value := given.option(word)) is not None:
            changes[field] = value
    if changes:
        session.edit(lambda m: m.replace(m.joints[joint.name], **changes))
    return Reply(data={"joint": joint.name})


def _print(session: Session, given: Given) -> Reply:
    from bellcrank import _core
    from bellcrank.formulations.system import prepare

    model, settings = session.model(), session.now.settings
    system = prepare(model, settings.formulation, **settings.options)
    if session.now.live is not None:
        system.set_state(session.now.live)
    now = system.accelerate()
    plain = _core.Lagrange(model.core)
    model.put(plain, now.state)
    values, rates = plain.coordinates()
    named = given.get("joint")
    found: dict[str, Any] = {}
    for joint in model.joints:
        if named not in (None, joint.name):
            continue
        reaction = now.joint(joint.name)
        pairs = zip(joint.coordinate_names, joint.coordinates, strict=True)
        found[joint.name] = {
            "coordinates": {name: (float(values[i]), float(rates[i])) for name, i in pairs},
            "force": reaction.force,
            "moment": reaction.moment,
            "unique": reaction.reaction_unique,
        }
    efforts = {drive.name: now.drive(drive.name).efforts for drive in model.drives}
    lines = [line for name, told in found.items() for line in _told(name, told)]
    lines += [f"drive {name}: {' '.join(f'{e:.6g}' for e in effort)}" for name, effort in efforts.items()]
    return Reply("\n".join(lines) or "no joints", {"joints": found, "drives": efforts})


def _told(name: str, told: dict[str, Any]) -> list[str]:
    moving = [f"{which} {value:.6g} at {rate:.6g}" for which, (value, rate) in told["coordinates"].items()]
    wrench = [f"{part} {' '.join(f'{x:.6g}' for x in told[part])}" for part in ("force", "moment")]
    open_ = "" if told["unique"] else " (of least norm: not unique)"
    return [f"{name}: {', '.join(moving) or 'fixed'}", f"    {', '.join(wrench)}{open_}"]


def _link(mechanism: Mechanism, parent: str, child: str) -> Joint:
    """The joint from the parent to the child."""
    between_ = [
        joint
        for joint in mechanism.joints.values()
        if (joint.marker_1.body, joint.marker_2.body) == (parent, child)
    ]
    if not between_:
        raise MechanismError(
            Fault(
                "sl",
                f"no joint leads from {parent!r} to {child!r}",
                None,
                f"make the link: il {parent} <name>",
            )
        )
    return next((joint for joint in between_ if joint.name == child), between_[0])


def _frame(given: Given, shift: str, turn: str, marker: Marker) -> Marker:
    """The marker with another place or orientation."""
    place = given.option(shift)
    quaternion = given.option(turn)
    if place is None and quaternion is None:
        return marker
    position = marker.position if place is None else place
    rotation = marker.rotation if quaternion is None else unit(f"sl {turn}", quaternion)
    return Marker(marker.body, position, rotation)


def _axis(axis: tuple[float, ...], frame: Marker) -> tuple[Any, Marker]:
    """Kind and frame of a joint whose axis is a twist (angular, linear) in the joint's frame on the child.

    A turn along w moves the origin by v = r × w + h w, so that the axis passes r = w × v/|w|² and has the
    pitch h = w·v/|w|²; without a turn it is a slide along v.
    """
    turn, slide = np.array(axis[:3]), np.array(axis[3:])
    square = float(turn @ turn)
    if square == 0.0:
        length = float(np.linalg.norm(slide))
        if not 1e-150 < length < 1e150:
            raise MechanismError(Fault("sl -s", "the axis must not be zero, and not huge", axis))
        return Prismatic(), _turned(frame, np.zeros(3), slide / length)
    if not 1e-150 < square < 1e150:
        raise MechanismError(Fault("sl -s", "the axis must not be that small or huge", axis))
    pitch = float(turn @ slide) / square
    point = np.cross(turn, slide) / square
    kind = Revolute() if abs(pitch) < _REVOLUTE else Screw(2.0 * pi * pitch)
    return kind, _turned(frame, point, turn / np.sqrt(square))


def _turned(frame: Marker, point: Any, direction: Any) -> Marker:
    """The frame moved to a point of itself, with its z axis along a direction in it."""
    position = np.asarray(frame.position) + np.asarray(rotate(frame.rotation, tuple(point.tolist())))
    turn = between((0.0, 0.0, 1.0), tuple(direction.tolist()))
    return Marker(frame.body, tuple(position.tolist()), multiply(frame.rotation, turn))


COMMANDS: Final = (
    Command(
        "il",
        GROUP,
        "Instance a link: a body, hung on another one (or the ground) by a revolute joint about its local z.",
        _instance,
        (Argument("rootname", "carrier"), Argument("localname", "name")),
        example="il stick0 flag",
    ),
    Command(
        "ilc",
        GROUP,
        "Instance an endpoint constraint on a body: free takes those away, nail holds it where it is, "
        "move_to_point leads a point of it.",
        _endpoint,
        (BODY, Argument("type", "choice", choices=_CONSTRAINTS)),
        (
            Option("-t", "move_to_point: the point, in the body's frame.", (vector("position"),)),
            Option(
                "-p", "move_to_point: where to; by default it is held where it is.", (vector("position"),)
            ),
            Option(
                "-d",
                "move_to_point: how long it takes, 1 s.",
                (Argument("duration", "number", field="duration"),),
            ),
        ),
        example="ilc stick0 nail",
    ),
    Command(
        "pl",
        GROUP,
        "Print a link, or all joints and drives: coordinates and rates, force and moment on the second body, "
        "efforts.",
        _print,
        (Argument("joint", "joint", optional=True),),
        example="pl swing",
        keeps=True,
    ),
    Command(
        "sl",
        GROUP,
        "Set parameters of the link from a parent to a child.",
        _set,
        (Argument("parent", "carrier"), Argument("child", "body")),
        (
            Option(
                "-s",
                "Spatial axis, angular over linear, in the joint's frame on the child: turn, slide, screw.",
                (Argument("axis", "number", 6),),
            ),
            Option("-q", "Joint position.", (Argument("position", "number", field="lower"),)),
            Option("-qdot", "Its rate.", (Argument("rate", "number", field="regularisation_velocity"),)),
            Option("-pjt", "Translation of the joint in the child's frame.", (vector("position"),)),
            Option("-pjE", "Orientation of the joint in the child's frame.", (QUATERNION,)),
            Option("-djt", "Translation of the joint in the parent's frame.", (vector("position"),)),
            Option("-djE", "Orientation of the joint in the parent's frame.", (QUATERNION,)),
        ),
        example='sl rod bob -djt 0 0 -1 -pjt 0 0 1 -q "30 deg" -qdot 0.1',
    ),
)
