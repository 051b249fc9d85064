"""The command ilc: bodies that are fixed, and points that are driven to targets."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.drive import PathDrive
from bellcrank.mechanism.functions.path import Path
from bellcrank.mechanism.functions.piecewise import Piecewise
from bellcrank.mechanism.joint_kinds import Fixed
from bellcrank.mechanism.marker import GROUND, Marker
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.rotation import rotate
from bellcrank.shell.bodies import BODY, vector
from bellcrank.shell.language import Argument, Command, Given, Option
from bellcrank.shell.reply import Reply
from bellcrank.shell.session import Session, pose_in

_TYPES = ("free", "nail", "move_to_point")
_LATE = 1e-9  # fraction of a target's duration by which the next one may be late and still follow it


def _endpoint(session: Session, given: Given) -> Reply:
    name, kind = given["body"], given["type"]
    session.commit()
    led = _led(session, name, given) if kind == "move_to_point" else None
    pose = pose_in(session.state(), list(session.mechanism.bodies).index(name))

    def change(mechanism: Mechanism) -> None:
        for table, element in ((mechanism.joints, f"{name}.nail"), (mechanism.drives, f"{name}.move")):
            if element in table:
                mechanism.remove(table[element], cascade=True)
        if kind == "nail":
            here = Marker(GROUND, pose["position"], pose["rotation"])
            mechanism.add_joint(f"{name}.nail", Fixed(), here, Marker(name))
        elif led is not None:
            mechanism.add_drive(f"{name}.move", marker=led[0], path=led[1])

    session.edit(change)
    return Reply(data={"body": name, "constraint": kind})


def _led(session: Session, name: str, given: Given) -> tuple[Marker, Path]:
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


COMMAND: Final = Command(
    "ilc",
    "Links",
    "Instance an endpoint constraint on a body: free takes those away, nail holds it where it is, "
    "move_to_point leads a point of it. A target that is given before or when the one before it is reached, "
    "or that lies no further ahead than a step size, is passed at the mean velocity of the way to it; where "
    "no other follows, the point comes back to it and rests. Any other target is reached at rest.",
    _endpoint,
    (BODY, Argument("type", "choice", choices=_TYPES)),
    (
        Option("-t", "move_to_point: the point, in the body's frame.", (vector("position", "m"),)),
        Option(
            "-p", "move_to_point: where to; by default it is held where it is.", (vector("position", "m"),)
        ),
        Option(
            "-d",
            "move_to_point: how long it takes, 1 s.",
            (Argument("duration", "number", unit="s"),),
        ),
        Option("-v", "move_to_point: the velocity there.", (vector("velocity", "m/s"),)),
    ),
    example="ilc stick0 nail",
)
