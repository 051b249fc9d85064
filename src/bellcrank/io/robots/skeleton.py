"""The common form of every robot model before it becomes a mechanism: links, and motions between them.

Everything is given in the pose in which the file defines the model. A connection contains the motions of its
child relative to its parent, the outermost first; each is a turn about, or a slide along, a line of the world
in that pose. The product of their exponentials therefore gives every pose, and motions can be put in series.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from math import cos, sin
from typing import Final

import numpy as np

from bellcrank.expression.parser import RESERVED, is_name
from bellcrank.io.robots.xml_tree import Element
from bellcrank.mechanism.checking import Quat, Vec3
from bellcrank.mechanism.collisions import Surface
from bellcrank.mechanism.mass import MassProperties, total
from bellcrank.mechanism.rotation import IDENTITY, about, conjugate, multiply, rotate, unit
from bellcrank.mechanism.shape import Shape

ORIGIN: Final[Vec3] = (0.0, 0.0, 0.0)
AXES: Final[dict[str, Vec3]] = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


@dataclass(frozen=True)
class Pose:
    """The pose of a frame in another: position, m, and unit quaternion from its axes to the other's."""

    position: Vec3 = ORIGIN
    rotation: Quat = IDENTITY

    def __matmul__(self, inner: Pose) -> Pose:
        if self == HERE:
            return inner
        return Pose(self.point(inner.position), unit(multiply(self.rotation, inner.rotation)))

    def point(self, local: Vec3) -> Vec3:
        """A point of this frame in the outer frame."""
        return added(self.position, rotate(self.rotation, local))

    def vector(self, local: Vec3) -> Vec3:
        """A direction of this frame in the axes of the outer frame."""
        return rotate(self.rotation, local)

    def inverse(self) -> Pose:
        """The pose of the outer frame in this one."""
        if self == HERE:
            return self
        back = conjugate(self.rotation)
        return Pose(scaled(rotate(back, self.position), -1.0), back)


HERE: Final = Pose()
"""The pose of a frame in itself."""


def added(a: Vec3, b: Vec3) -> Vec3:
    """A + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def scaled(a: Vec3, factor: float) -> Vec3:
    """A times a number."""
    return (a[0] * factor + 0.0, a[1] * factor + 0.0, a[2] * factor + 0.0)


def of_rpy(roll: float, pitch: float, yaw: float) -> Quat:
    """The rotation of fixed-axis angles, rad: first roll about x, then pitch about y, then yaw about z."""
    if roll == pitch == yaw == 0.0:
        return IDENTITY
    (a, b, c), (d, e, f) = (tuple(g(0.5 * angle) for angle in (roll, pitch, yaw)) for g in (cos, sin))
    return unit((a * b * c + d * e * f, d * b * c - a * e * f, a * e * c + d * b * f, a * b * f - d * e * c))


def of_euler(sequence: str, angles: Vec3) -> Quat:
    """The rotation of three turns, rad: lower-case letters are rotated axes, upper-case ones fixed axes."""
    found = IDENTITY
    for letter, angle in zip(sequence, angles, strict=True):
        turn = about(AXES[letter.lower()], angle)
        found = multiply(found, turn) if letter.islower() else multiply(turn, found)
    return unit(found)


def element_name(wanted: str, taken: Container[str] = (), forbidden: str = "") -> str:
    """A valid, unused element name: invalid characters are replaced, and primes added if it is taken."""
    name = "".join("_" if c in forbidden or not c.isprintable() else c for c in wanted.strip())
    name = re.sub("/{2,}", "/", name).strip("/").strip() or "unnamed"
    if name == "ground":
        name = "ground_"
    while name in taken:
        name += "'"
    return name


def symbol_name(wanted: str, taken: Container[str] = ()) -> str:
    """A name that is valid in expressions."""
    name = re.sub(r"\W", "_", wanted.strip(), flags=re.ASCII) or "q"
    if not is_name(name):
        name = f"q_{name}"
    while name in RESERVED or name in taken:
        name += "_"
    return name


GROUND: Final = ""
"""The name of the link that does not move."""


@dataclass(eq=False)
class Link:
    """A frame with mass, shapes and named frames, all given in it.

    pose: in the world. at: its element in the file, None for the ground.
    """

    name: str
    pose: Pose = HERE
    at: Element | None = None
    masses: list[MassProperties] = field(default_factory=list)
    shapes: list[Shape] = field(default_factory=list)
    markers: list[tuple[str, Pose]] = field(default_factory=list)
    surfaces: list[Surface] = field(default_factory=list)
    """Of its shapes that collide; they have no body yet."""
    relieved: float = 0.0
    """Which part of its weight is held up."""
    massless: bool = False
    """Whether the file states that its mass is zero."""
    unweighed: bool = False
    """Whether it is a body all the same although the file states no mass."""


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
    """The connection of a child to its parent: by motions, or rigid if there are none.

    kept: whether a rigid connection is not dissolved, so that it can be removed later.
    """

    name: str
    parent: str
    child: str
    at: Element | None = None
    motions: list[Motion] = field(default_factory=list)
    kept: bool = False


class Forest:
    """Disjoint sets of names (union-find)."""

    def __init__(self, names: Iterable[str]) -> None:
        self._above = {name: name for name in names}

    def top(self, name: str) -> str:
        """The representative of the set that this name belongs to."""
        above = self._above
        while above[name] != name:
            above[name] = above[above[name]]
            name = above[name]
        return name

    def join(self, child: str, parent: str) -> None:
        """Merge the sets of two names."""
        self._above[self.top(child)] = self.top(parent)


@dataclass(eq=False)
class Skeleton:
    """Links by name, with the ground, connections that form trees, and connections that close loops."""

    links: dict[str, Link] = field(default_factory=lambda: {GROUND: Link(GROUND)})
    connections: list[Connection] = field(default_factory=list)
    loops: list[Connection] = field(default_factory=list)

    def poses(self, coordinates: Mapping[str, float]) -> dict[str, Pose]:
        """Poses of the links in the world for given values of motions, all others as in the file's pose."""
        found = {GROUND: HERE}
        for way in self.connections:
            here = found[way.parent]
            for motion in way.motions:
                if motion.name in coordinates:
                    here = here @ moved(motion, coordinates[motion.name] - motion.start)
            found[way.child] = here
        return {name: pose @ self.links[name].pose for name, pose in found.items()}


def moved(motion: Motion, amount: float) -> Pose:
    """The displacement by a turn about, or a slide along, the line of a motion."""
    if motion.kind == "slide":
        return Pose(scaled(motion.axis, amount))
    turn = Pose(ORIGIN, about(motion.axis, amount))
    return Pose(added(motion.point, scaled(turn.point(motion.point), -1.0)), turn.rotation)


ENTRIES: Final = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
"""What URDF and SDF call the entries of an inertia."""


def symmetric(xx: float, xy: float, xz: float, yy: float, yz: float, zz: float) -> np.ndarray:
    """An inertia (3, 3) by its entries."""
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def summed(parts: Iterable[tuple[MassProperties, Pose]]) -> MassProperties | None:
    """The sum of parts, each given in a frame of that pose; None if nothing has a mass.

    A part may have an inertia only, as rotors do in some files.
    """
    known = list(parts)
    if sum(part.mass for part, _ in known) <= 0.0:
        return None
    return total(part.moved(pose.position, pose.rotation) for part, pose in known)
