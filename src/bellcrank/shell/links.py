"""Commands on links: il, pl, sl; ilc comes from `endpoints`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.joint import Joint
from bellcrank.mechanism.joint_kinds import Revolute
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.shell import endpoints
from bellcrank.shell.axes import Frames, axis_of
from bellcrank.shell.bodies import QUATERNION, unit, vector
from bellcrank.shell.language import Argument, Command, Given, Option
from bellcrank.shell.reply import Reply
from bellcrank.shell.session import Session

GROUP: Final = "Links, in the words of the Virtual Erector Set"

_OPEN: Final = " (of least norm: not unique)"


def _instance(session: Session, given: Given) -> Reply:
    root, name = given["rootname"], given["localname"]

    def add(mechanism: Mechanism) -> None:
        body = mechanism.add_body(name, mass=1.0, inertia=(1.0, 1.0, 1.0))
        mechanism.add_joint(name, Revolute(), Marker(root), body)

    session.edit(add)
    return Reply(data={"body": name, "joint": name})


def _set(session: Session, given: Given) -> Reply:
    parent, child = given["parent"], given["child"]
    joint = _link(session.mechanism, parent, child)
    frames = session.now.frames.get(joint.name)
    if frames is None or not frames.hold(joint):
        frames = Frames(joint.marker_1, joint.marker_2)
    changed = replace(
        frames,
        parent=_frame(given, "-djt", "-djE", frames.parent),
        child=_frame(given, "-pjt", "-pjE", frames.child),
    )
    changes: dict[str, Any] = {}
    if (axis := given.option("-s")) is not None:
        changes["kind"], point, direction = axis_of(axis)
        changed = replace(changed, point=point, direction=direction)
    if changed != frames or changes:
        changes.update(zip(("marker_1", "marker_2"), changed.markers, strict=True))
        changes.update(_held(session, joint))
    for word, field in (("-q", "position"), ("-qdot", "velocity")):
        if (value := given.option(word)) is not None:
            changes[field] = value
    if changes:
        session.edit(lambda m: m.replace(m.joints[joint.name], **changes))
        session.set(frames={**session.now.frames, joint.name: changed})
    return Reply(data={"joint": joint.name})


def _held(session: Session, joint: Joint) -> dict[str, float]:
    """The position and rate of a link since the start, which it keeps when its axis changes."""
    if session.now.live is None or len(joint.kind.free) != 1:
        return {}
    model = session.model()
    values, rates = model.coordinate_motion(session.now.live)
    (number,) = next(one.coordinates for one in model.joints if one.name == joint.name)
    return {"position": float(values[number]), "velocity": float(rates[number])}


def _print(session: Session, given: Given) -> Reply:
    from bellcrank.formulations.preparing import prepare

    model, settings = session.model(), session.now.settings
    system = prepare(model, settings.formulation, **settings.options)
    if session.now.live is not None:
        system.set_state(session.now.live)
    now = system.accelerate()
    values, rates = model.coordinate_motion(now.state)
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
    drives = {drive.name: now.drive(drive.name) for drive in model.drives}
    efforts = {name: drive.efforts for name, drive in drives.items()}
    lines = [line for name, told in found.items() for line in _lines(name, told)]
    lines += [
        f"drive {name}: {' '.join(f'{e:.6g}' for e in drive.efforts)}{'' if drive.unique else _OPEN}"
        for name, drive in drives.items()
    ]
    return Reply("\n".join(lines) or "no joints", {"joints": found, "drives": efforts})


def _lines(name: str, told: dict[str, Any]) -> list[str]:
    moving = [f"{which} {value:.6g} at {rate:.6g}" for which, (value, rate) in told["coordinates"].items()]
    wrench = [f"{part} {' '.join(f'{x:.6g}' for x in told[part])}" for part in ("force", "moment")]
    open_ = "" if told["unique"] else _OPEN
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
    """The marker with a new position or orientation."""
    place = given.option(shift)
    quaternion = given.option(turn)
    if place is None and quaternion is None:
        return marker
    position = marker.position if place is None else place
    rotation = marker.rotation if quaternion is None else unit(f"sl {turn}", quaternion)
    return Marker(marker.body, position, rotation)


COMMANDS: Final = (
    Command(
        "il",
        GROUP,
        "Instance a link: a body, hung on another one (or the ground) by a revolute joint about its local z.",
        _instance,
        (Argument("rootname", "carrier"), Argument("localname", "name")),
        example="il stick0 flag",
    ),
    endpoints.COMMAND,
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
                "Spatial axis, angular over linear, in the joint's frame: turn, slide or screw; its length "
                "does not matter, -q is in rad or m.",
                (Argument("axis", "number", 6),),
            ),
            Option("-q", "Joint position.", (Argument("position", "coordinate", unit="rad or m"),)),
            Option("-qdot", "Its rate.", (Argument("rate", "coordinate", unit="rad/s or m/s"),)),
            Option("-pjt", "Translation of the joint in the child's frame.", (vector("position", "m"),)),
            Option("-pjE", "Orientation of the joint in the child's frame.", (QUATERNION,)),
            Option("-djt", "Translation of the joint in the parent's frame.", (vector("position", "m"),)),
            Option("-djE", "Orientation of the joint in the parent's frame.", (QUATERNION,)),
        ),
        example='sl rod bob -djt 0 0 -1 -pjt 0 0 1 -q "30 deg" -qdot 0.1',
    ),
)
