"""Commands on links: il, pl, sl; and ilc, by which points of bodies are driven to targets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import pi
from typing import Any, Final

import numpy as np

from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.checking import Vec3
from bellcrank.mechanism.drive import PathDrive
from bellcrank.mechanism.functions.path import Path
from bellcrank.mechanism.functions.piecewise import Piecewise
from bellcrank.mechanism.joint import Joint
from bellcrank.mechanism.joint_kinds import Fixed, Prismatic, Revolute, Screw
from bellcrank.mechanism.marker import GROUND, Marker
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.rotation import between, multiply, rotate
from bellcrank.shell.language import BODY, QUATERNION, Argument, Command, Given, Option, Reply, vector
from bellcrank.shell.parsing import unit_quaternion
from bellcrank.shell.session import Session, pose_in

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
    lines = [line for name, facts in found.items() for line in _lines(name, facts)]
    lines += [
        f"drive {name}: {' '.join(f'{e:.6g}' for e in drive.efforts)}{'' if drive.unique else _OPEN}"
        for name, drive in drives.items()
    ]
    return Reply("\n".join(lines) or "no joints", {"joints": found, "drives": efforts})


def _lines(name: str, facts: dict[str, Any]) -> list[str]:
    moving = [f"{which} {value:.6g} at {rate:.6g}" for which, (value, rate) in facts["coordinates"].items()]
    wrench = [f"{part} {' '.join(f'{x:.6g}' for x in facts[part])}" for part in ("force", "moment")]
    open_ = "" if facts["unique"] else _OPEN
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
    rotation = marker.rotation if quaternion is None else unit_quaternion(f"sl {turn}", quaternion)
    return Marker(marker.body, position, rotation)


@dataclass(frozen=True)
class Frames:
    """The joint's frame on the parent and on the child, and its axis in that frame.

    The two frames coincide if the joint's position is zero. point: on the axis, m; direction: a unit
    vector along it; both in the joint's frame.
    """

    parent: Marker
    child: Marker
    point: Vec3 = (0.0, 0.0, 0.0)
    direction: Vec3 = (0.0, 0.0, 1.0)

    @property
    def markers(self) -> tuple[Marker, Marker]:
        """Markers with z along the axis, displaced alike from the frames, so that both coincide together."""
        return (self._along(self.parent), self._along(self.child))

    @property
    def oblique(self) -> bool:
        """Whether the axis is not the frame's z axis, as it is after `il`."""
        return self.point != (0.0, 0.0, 0.0) or self.direction != (0.0, 0.0, 1.0)

    def hold(self, joint: Joint) -> bool:
        """Whether the joint still has these frames."""
        return self.markers == (joint.marker_1, joint.marker_2)

    def _along(self, frame: Marker) -> Marker:
        shift, turn = rotate(frame.rotation, self.point), between((0.0, 0.0, 1.0), self.direction)
        x, y, z = (a + b for a, b in zip(frame.position, shift, strict=True))
        return Marker(frame.body, (x, y, z), multiply(frame.rotation, turn))


def axis_of(axis: tuple[float, ...]) -> tuple[Any, Vec3, Vec3]:
    """The joint kind for a twist (angular, linear) of its frame, a point on its axis, and its direction.

    A rotation with w moves the origin with v = r × w + h w, so that the axis passes through r = w × v/|w|²
    and has the pitch h = w·v/|w|²; without rotation it is a slide along v. Raises MechanismError for a zero
    axis.
    """
    turn, slide = np.array(axis[:3]), np.array(axis[3:])
    square = float(turn @ turn)
    if square == 0.0:
        length = float(np.linalg.norm(slide))
        if not 1e-150 < length < 1e150:
            raise MechanismError(Fault("sl -s", "the axis must not be zero, and not huge", axis))
        return Prismatic(), (0.0, 0.0, 0.0), _three(slide / length)
    if not 1e-150 < square < 1e150:
        raise MechanismError(Fault("sl -s", "the axis must not be that small or huge", axis))
    pitch = float(turn @ slide) / square
    kind = Revolute() if abs(pitch) < _REVOLUTE else Screw(2.0 * pi * pitch)
    return kind, _three(np.cross(turn, slide) / square), _three(turn / np.sqrt(square))


def _three(vector: Any) -> Vec3:
    x, y, z = (float(value) + 0.0 for value in vector)
    return (x, y, z)


_TYPES = ("free", "nail", "move_to_point")
_LATE = 1e-9  # fraction of a target's duration by which the next one may be late and still follow it


def _endpoint(session: Session, given: Given) -> Reply:
    name, kind = given["body"], given["type"]
    session.commit()
    driven = _driven_point(session, name, given) if kind == "move_to_point" else None
    pose = pose_in(session.state(), list(session.mechanism.bodies).index(name))

    def change(mechanism: Mechanism) -> None:
        for table, element in ((mechanism.joints, f"{name}.nail"), (mechanism.drives, f"{name}.move")):
            if element in table:
                mechanism.remove(table[element], cascade=True)
        if kind == "nail":
            here = Marker(GROUND, pose["position"], pose["rotation"])
            mechanism.add_joint(f"{name}.nail", Fixed(), here, Marker(name))
        elif driven is not None:
            mechanism.add_drive(f"{name}.move", marker=driven[0], path=driven[1])

    session.edit(change)
    return Reply(data={"body": name, "constraint": kind})


def _driven_point(session: Session, name: str, given: Given) -> tuple[Marker, Path]:
    """The driven point, and its path from its present position and velocity to its target."""
    now, marker = session.now.time, Marker(name, given.option("-t") or (0.0, 0.0, 0.0))
    duration = 1.0 if given.option("-d") is None else given.option("-d")
    if duration <= 0.0:
        advice = "a point takes some time to get there"
        raise MechanismError(Fault("ilc -d", "it must be greater than zero", duration, advice))
    before = _running(session.mechanism.drives.get(f"{name}.move"), marker, now)
    position, velocity = _moving(session, name, marker)
    goal = given.option("-p")
    if goal is None:
        return marker, Path(tuple(position.tolist()))
    way = np.asarray(goal) - position
    passed = before is not None or duration <= session.now.settings.stepsize * (1.0 + _LATE)
    final = given.option("-v")
    if final is None:
        final = way / duration if passed else np.zeros(3)
    bent = np.zeros(3) if before is None else np.array([f.derivative(now, 2) for f in before])
    starts = zip(position, velocity, bent, strict=True)
    ends = zip(goal, final, strict=True)
    curve = tuple(_way(now, duration, start, end) for start, end in zip(starts, ends, strict=True))
    return marker, Path(curve)  # type: ignore[arg-type]


def _moving(session: Session, name: str, marker: Marker) -> tuple[np.ndarray, np.ndarray]:
    """The position of a point of a body, m, and its velocity, m/s, world axes, both (3,)."""
    pose: Any = pose_in(session.state(), list(session.mechanism.bodies).index(name))
    arm = np.asarray(rotate(pose["rotation"], marker.position))
    velocity = np.asarray(pose["velocity"]) + np.cross(pose["angular_velocity"], arm)
    return np.asarray(pose["position"]) + arm, velocity


def _running(drive: object, marker: Marker, now: float) -> tuple[Piecewise, ...] | None:
    """The path on which an earlier target still drives this point, or drove it until now; else None.

    A target that was given at this very time is replaced: the new one takes its place in the sequence of
    targets, that is, it counts as running only if it would have been passed.
    """
    if not isinstance(drive, PathDrive) or drive.marker != marker or not isinstance(drive.path.curve, tuple):
        return None
    ways = tuple(way for way in drive.path.curve if isinstance(way, Piecewise) and len(way.breaks) == 3)
    if len(ways) != 3:
        return None
    start, end = ways[0].breaks[:2]
    if now > end + _LATE * (end - start):
        return None
    replaced = now == start and not any(way.derivative(end, 1) for way in ways)
    return None if replaced else ways


def _way(
    now: float, duration: float, start: tuple[float, float, float], end: tuple[float, float]
) -> Piecewise:
    """A path from the present value, rate and second derivative to a value and rate after the duration.

    The second derivative is zero there. If the rate is not, and nothing else is commanded, the point returns
    to its target within the same duration again, and rests.
    """
    there = _quintic(duration, start, (*end, 0.0))
    back = _quintic(duration, (*end, 0.0), (end[0], 0.0, 0.0))
    return Piecewise((now, now + duration, now + 2.0 * duration), (there, back), "linear")


def _quintic(
    duration: float, start: tuple[float, float, float], end: tuple[float, float, float]
) -> tuple[float, ...]:
    """Ascending coefficients of the quintic with these values, rates and second derivatives at its ends."""
    value, rate, bend = (float(x) * duration**order for order, x in enumerate(start))
    last, fast, bent = (float(x) * duration**order for order, x in enumerate(end))
    rise, turn, twist = last - value - rate - 0.5 * bend, fast - rate - bend, bent - bend
    scaled = (
        value,
        rate,
        0.5 * bend,
        10.0 * rise - 4.0 * turn + 0.5 * twist,
        -15.0 * rise + 7.0 * turn - twist,
        6.0 * rise - 3.0 * turn + 0.5 * twist,
    )
    return tuple(c / duration**power for power, c in enumerate(scaled))


COMMANDS: Final = (
    Command(
        "il",
        "Instance a link: a body, hung on another one (or the ground) by a revolute joint about its local z.",
        _instance,
        (Argument("rootname", "carrier"), Argument("localname", "name")),
        example="il stick0 flag",
    ),
    Command(
        "ilc",
        "Instance an endpoint constraint on a body: free takes those away, nail holds it where it is, "
        "move_to_point leads a point of it. A target that is given before or when the one before it is "
        "reached, or that lies no further ahead than a step size, is passed at the mean velocity of the way "
        "to it; where no other follows, the point comes back to it and rests. Any other target is reached at "
        "rest.",
        _endpoint,
        (BODY, Argument("type", "choice", choices=_TYPES)),
        (
            Option("-t", "move_to_point: the point, in the body's frame.", (vector("position", "m"),)),
            Option(
                "-p",
                "move_to_point: where to; by default it is held where it is.",
                (vector("position", "m"),),
            ),
            Option(
                "-d", "move_to_point: how long it takes, 1 s.", (Argument("duration", "number", unit="s"),)
            ),
            Option("-v", "move_to_point: the velocity there.", (vector("velocity", "m/s"),)),
        ),
        example="ilc stick0 nail",
    ),
    Command(
        "pl",
        "Print a link, or all joints and drives: coordinates and rates, force and moment on the second body, "
        "efforts.",
        _print,
        (Argument("joint", "joint", optional=True),),
        example="pl swing",
        keeps=True,
    ),
    Command(
        "sl",
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


_REVOLUTE = 1e-12  # a smaller pitch, m/rad, counts as zero
