"""What every model of a robot comes down to before it is a mechanism: links, and motions between them.

All is given in the pose in which the file draws the model. A connection holds the motions of its child seen
from its parent, the outermost first; each is a turn about, or a slide along, a line of the world in that
pose. So the product of their exponentials gives every pose, and motions may be put one after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from bellcrank.io.robots.pose import HERE, ORIGIN, Pose, added, scaled
from bellcrank.io.robots.xml_tree import Element
from bellcrank.mechanism.checking import Vec3
from bellcrank.mechanism.mass import MassProperties, total
from bellcrank.mechanism.rotation import about
from bellcrank.mechanism.shape import Shape

GROUND: Final = ""
"""The name of the link that does not move."""


@dataclass(eq=False)
class Link:
    """A frame with mass, shapes and named frames, all given in it.

    pose: in the world. at: where it stands in the file, None for the ground.
    """

    name: str
    pose: Pose = HERE
    at: Element | None = None
    masses: list[MassProperties] = field(default_factory=list)
    shapes: list[Shape] = field(default_factory=list)
    markers: list[tuple[str, Pose]] = field(default_factory=list)
    relieved: float = 0.0
    """Which part of its weight is held up."""


@dataclass(eq=False)
class Motion:
    """One joint of a file.

    kind: "turn", "slide", "screw", "ball", "free" or "planar" (two slides across the axis, a turn about it).
    point, axis: a line in the world, the axis a unit vector. start: the coordinate's value in that pose.
    low, high: limits of the coordinate, None where there is none. pitch: of a screw, m a turn.
    """

    name: str
    kind: str
    at: Element
    point: Vec3
    axis: Vec3 = (0.0, 0.0, 1.0)
    start: float = 0.0
    low: float | None = None
    high: float | None = None
    pitch: float = 0.0


@dataclass(eq=False)
class Connection:
    """How a child hangs on its parent: by motions, or rigidly where there are none.

    kept: a rigid one that is not dissolved, so that it can be taken out.
    """

    name: str
    parent: str
    child: str
    at: Element | None = None
    motions: list[Motion] = field(default_factory=list)
    kept: bool = False


class Forest:
    """Which of some names belong together."""

    def __init__(self, names: Iterable[str]) -> None:
        self._above = {name: name for name in names}

    def top(self, name: str) -> str:
        """The name that stands for all that belong to this one."""
        above = self._above
        while above[name] != name:
            above[name] = above[above[name]]
            name = above[name]
        return name

    def join(self, child: str, parent: str) -> None:
        """Let two names, and all that belong to them, belong together."""
        self._above[self.top(child)] = self.top(parent)


@dataclass(eq=False)
class Skeleton:
    """Links by name, the ground among them, connections, which make trees, and others, which close loops."""

    links: dict[str, Link] = field(default_factory=lambda: {GROUND: Link(GROUND)})
    connections: list[Connection] = field(default_factory=list)
    loops: list[Connection] = field(default_factory=list)

    def poses(self, coordinates: Mapping[str, float]) -> dict[str, Pose]:
        """Links in the world where motions have these values, all others those of the drawing."""
        moved = {GROUND: HERE}
        for way in self.connections:
            here = moved[way.parent]
            for motion in way.motions:
                if motion.name in coordinates:
                    here = here @ _moved(motion, coordinates[motion.name] - motion.start)
            moved[way.child] = here
        return {name: pose @ self.links[name].pose for name, pose in moved.items()}


def _moved(motion: Motion, amount: float) -> Pose:
    """By a turn about, or a slide along, the line of a motion."""
    if motion.kind == "slide":
        return Pose(scaled(motion.axis, amount))
    turn = Pose(ORIGIN, about(motion.axis, amount))
    return Pose(added(motion.point, scaled(turn.point(motion.point), -1.0)), turn.rotation)


def summed(parts: Iterable[tuple[MassProperties, Pose]]) -> MassProperties | None:
    """The sum of parts, each given in a frame of that pose; None if nothing has a mass.

    A part may have an inertia alone, as rotors do in some files.
    """
    known = list(parts)
    if sum(part.mass for part, _ in known) <= 0.0:
        return None
    return total(part.moved(pose.position, pose.rotation) for part, pose in known)
