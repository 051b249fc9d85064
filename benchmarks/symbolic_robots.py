"""Robots of `bellcrank bench symbolic`: six-revolute arms of named geometry, revolute chains, a humanoid.

All are trees of revolute joints about z, except the humanoid's trunk, which is free, so that one text
describes them to every engine. Frames of arms are those of Denavit and Hartenberg with z on the joint that
carries the link; the joint after link k lies at Tz(d) Tx(a) Rx(alpha) in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import pi
from typing import Final

import numpy as np
from numpy.typing import NDArray

import bellcrank as bc
from bellcrank.gallery.trees import FREEDOMS, POSITIONS, TreeBody, TreeJoint, tree
from bellcrank.mechanism.checking import Quat
from bellcrank.mechanism.rotation import from_rotation_vector, matrix, multiply

Array = NDArray[np.float64]
LEAST_ENTRY: Final = 1e-15
"""Smaller entries of rotations come from rounding quarter turns, and are 0."""


@dataclass(frozen=True, eq=False)
class States:
    """Random states: q (states, numbers), v and effort (states, degrees of freedom), joint after joint."""

    q: Array
    v: Array
    effort: Array

    def text(self) -> str:
        """The states in the format of the drivers of other engines."""
        rows = np.hstack((self.q, self.v, self.effort))
        return "\n".join([str(len(rows)), *(_numbers(row) for row in rows)]) + "\n"


@dataclass(frozen=True)
class Robot:
    """A tree of bodies; joint k carries body k."""

    name: str
    bodies: Sequence[TreeBody]
    joints: Sequence[TreeJoint]

    @property
    def freedoms(self) -> int:
        """The number of generalized speeds."""
        return sum(FREEDOMS[joint.type] for joint in self.joints)

    def text(self) -> str:
        """The robot in the format of the drivers of other engines (benchmarks/peers/trees.h)."""
        lines = [str(len(self.bodies))]
        for body, joint in zip(self.bodies, self.joints, strict=True):
            turn = matrix(joint.rotation)
            turn[abs(turn) < LEAST_ENTRY] = 0.0
            values = [*joint.position, *turn.ravel(), body.mass, *body.com, *np.array(body.inertia).ravel()]
            lines.append(f"{int(joint.type == 'free')} {joint.parent} {_numbers(values)}")
        return "\n".join(lines) + "\n"

    def states(self, count: int, seed: int = 0) -> States:
        """Random states: angles of a few radians, rates of about 1/s, and the same efforts for all of them.

        No effort acts on a free body.
        """
        rng = np.random.default_rng(seed)
        q = rng.uniform(-2.0, 2.0, size=(count, sum(POSITIONS[joint.type] for joint in self.joints)))
        first = 0
        for joint in self.joints:
            if joint.type == "free":
                turn = rng.normal(size=(count, 4))
                q[:, first + 3 : first + 7] = turn / np.linalg.norm(turn, axis=1, keepdims=True)
            first += POSITIONS[joint.type]
        effort = 5.0 * rng.normal(size=self.freedoms)
        effort[: 6 * sum(joint.type == "free" for joint in self.joints)] = 0.0
        return States(q, rng.normal(size=(count, self.freedoms)), np.tile(effort, (count, 1)))

    def mechanism(self, states: States | None = None, number: int = 0) -> bc.Mechanism:
        """The robot as a mechanism, in one of the states with its efforts; or at rest without efforts."""
        if states is None:
            q, v = self._by_joint(self._zero(), POSITIONS), self._by_joint([0.0] * self.freedoms, FREEDOMS)
            return tree(self.bodies, self.joints, q, v, name=self.name)
        q, v = self._by_joint(states.q[number], POSITIONS), self._by_joint(states.v[number], FREEDOMS)
        mech = tree(self.bodies, self.joints, q, v, name=self.name)
        efforts = self._by_joint(states.effort[number], FREEDOMS)
        for k, (joint, effort) in enumerate(zip(self.joints, efforts, strict=True)):
            if joint.type != "free":
                constant = bc.TorsionSpring(stiffness=0.0, preload=effort[0])
                mech.add_force(f"effort {k}", constant, joint=f"joint {k}")
        return mech

    def _zero(self) -> list[float]:
        numbers: list[float] = []
        for joint in self.joints:
            numbers += [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0] if joint.type == "free" else [0.0]
        return numbers

    def _by_joint(self, values: Sequence[float] | Array, sizes: dict[str, int]) -> list[list[float]]:
        ends = np.cumsum([sizes[joint.type] for joint in self.joints])
        return [part.tolist() for part in np.split(np.asarray(values, dtype=float), ends[:-1])]


def _numbers(values: Sequence[float] | Array) -> str:
    return " ".join(repr(float(value)) for value in values)


Row = tuple[float, float, float]
"""Twist alpha (rad), length a and offset d (m) of a link."""
_RIGHT: Final = pi / 2
_TILT: Final = 0.7
"""Of the first axis where the geometry is general, rad."""
PUMA: Final[Sequence[Row]] = (
    (-_RIGHT, 0, 0), (0, 0.4318, 0.1491), (_RIGHT, -0.0203, 0), (-_RIGHT, 0, 0.4331), (_RIGHT, 0, 0),
    (0, 0, 0),
)  # fmt: skip
"""B. Armstrong, O. Khatib, J. Burdick, ICRA 1986: a2, a3, d3, d4 of the Unimation PUMA 560."""
UR5: Final[Sequence[Row]] = (
    (_RIGHT, 0, 0.089159), (0, -0.425, 0), (0, -0.39225, 0), (_RIGHT, 0, 0.10915), (-_RIGHT, 0, 0.09465),
    (0, 0, 0.0823),
)  # fmt: skip
"""The maker's Denavit-Hartenberg table."""


def alternating(links: int) -> Sequence[Row]:
    """Links with twists of a right angle, alternately positive and negative, each with its own length."""
    return [(-_RIGHT if k % 2 else _RIGHT, 0.3 + 0.02 * k, 0.0) for k in range(links)]


def parallel(links: int) -> Sequence[Row]:
    """Links with parallel axes."""
    return [(0.0, 0.3 + 0.02 * k, 0.0) for k in range(links)]


def general(links: int) -> Sequence[Row]:
    """Links with skew axes, none of them parallel, at right angles or intersecting."""
    rng = np.random.default_rng(6)
    return [
        (float(rng.uniform(0.3, 1.3)), float(rng.uniform(0.2, 0.5)), float(rng.uniform(0.1, 0.4)))
        for _ in range(links)
    ]


def arm(name: str, rows: Sequence[Row], full: bool = True, tilt: float = 0.0) -> Robot:
    """A serial arm.

    tilt: angle from the direction of gravity to the first axis, rad. full: centres of mass and inertia
    tensors are random; otherwise the centre lies on one axis of the frame (x, y, z in turn) and the frame's
    axes are principal axes.
    """
    rng = np.random.default_rng(len(rows))
    joints, rotation, position = [], from_rotation_vector((tilt, 0.0, 0.0)), (0.0, 0.0, 0.0)
    for k, (twist, length, offset) in enumerate(rows):
        joints.append(TreeJoint("revolute", k - 1, position, rotation))
        rotation, position = from_rotation_vector((twist, 0.0, 0.0)), (length, 0.0, offset)
    return Robot(name, [_body(rng, full, k) for k in range(len(rows))], joints)


def arm_in_any_frames(name: str, rows: Sequence[Row]) -> Robot:
    """A serial arm whose bodies have frames anywhere on their joints' axes, at any angle, as files give them.

    Unless the frames are chosen anew, rotations and offsets contain no zeros.
    """
    rng = np.random.default_rng(len(rows) + 100)
    base = multiply(from_rotation_vector((_TILT, 0.0, 0.0)), _about_z(rng.uniform(-pi, pi)))
    joints, rotation, position = [], base, (0.0, 0.0, 0.0)
    for k, (twist, length, offset) in enumerate(rows):
        joints.append(TreeJoint("revolute", k - 1, position, rotation))
        angle, shift = rng.uniform(-pi, pi), rng.uniform(-0.2, 0.2)
        here = _about_z(angle)
        place = matrix(here) @ np.array([length, 0.0, offset + rng.uniform(-0.2, 0.2)])
        after = multiply(from_rotation_vector((twist, 0.0, 0.0)), _about_z(rng.uniform(-pi, pi)))
        rotation = multiply(here, after)
        x, y, z = (place + shift * matrix(rotation)[:, 2]).tolist()
        position = (x, y, z)
    return Robot(name, [_body(rng, True) for _ in rows], joints)


def _about_z(angle: float) -> Quat:
    return from_rotation_vector((0.0, 0.0, float(angle)))


def _body(rng: np.random.Generator, full: bool, number: int = 0, size: float = 0.3) -> TreeBody:
    """Six random point masses, or a body with its com on a frame axis and principal axes along the frame."""
    if not full:
        com = [0.0, 0.0, 0.0]
        com[number % 3] = float(rng.uniform(0.05, 0.2))
        return TreeBody(float(rng.uniform(1.0, 5.0)), com, np.diag(rng.uniform(0.1, 0.19, 3)).tolist())
    points, masses = rng.uniform(-size, size, (6, 3)), rng.uniform(0.1, 0.6, 6)
    points += rng.uniform(-size, size, 3)
    com = masses @ points / masses.sum()
    arms = points - com
    outer = arms.T @ (masses[:, None] * arms)
    outer = 0.5 * (outer + outer.T)
    inertia = np.trace(outer) * np.eye(3) - outer
    return TreeBody(float(masses.sum()), com.tolist(), inertia.tolist())


_TURNS: Final[dict[str, Quat]] = {
    "x": (0.5, 0.5, 0.5, 0.5),
    "y": (0.5, -0.5, -0.5, -0.5),
    "z": (1.0, 0.0, 0.0, 0.0),
}
"""Permutations of axes that put z on the axis of this name, exact in floating point."""
_Limb = Sequence[tuple[str, tuple[float, float, float]]]
_LEG: Final[_Limb] = (
    ("z", (0, 0.1, -0.1)), ("x", (0, 0, 0)), ("y", (0, 0, 0)), ("y", (0, 0, -0.4)), ("y", (0, 0, -0.4)),
    ("x", (0, 0, 0)),
)  # fmt: skip
"""Axes in the trunk's directions, and places: hip (three axes that meet), knee, ankle (two that meet)."""
_ARM: Final[_Limb] = (
    ("y", (0, 0.2, 0.4)), ("x", (0, 0, 0)), ("z", (0, 0, 0)), ("y", (0, 0, -0.3)), ("z", (0, 0, -0.25)),
)  # fmt: skip
_HEAD: Final[_Limb] = (("z", (0, 0, 0.5)), ("y", (0, 0, 0.05)))


def humanoid() -> Robot:
    """Thirty coordinates: a free trunk, legs with six joints, arms with five, a head with two.

    The axes are parallel to those of the trunk in the zero position; masses are random, of human size.
    """
    rng = np.random.default_rng(30)
    joints, bodies = [TreeJoint("free", -1)], [_body(rng, True, size=0.4)]
    for side, limb in ((1, _LEG), (-1, _LEG), (1, _ARM), (-1, _ARM), (1, _HEAD)):
        parent, before = 0, "z"
        for axis, (x, y, z) in limb:
            turn = matrix(_TURNS[before]).T
            place = turn @ np.array([x, side * y, z])
            joints.append(TreeJoint("revolute", parent, place.tolist(), _between(before, axis)))
            bodies.append(_body(rng, True, size=0.1))
            parent, before = len(joints) - 1, axis
    return Robot("humanoid", bodies, joints)


def limbs(count: int = 4, links: int = 8) -> Robot:
    """A free trunk with equal limbs of skew axes: 38 degrees of freedom with four limbs of eight links."""
    rng = np.random.default_rng(38)
    joints, bodies = [TreeJoint("free", -1)], [_body(rng, True, size=0.4)]
    rows = general(links)
    for limb in range(count):
        parent, rotation, (x, y, z) = 0, _about_z(2.0 * pi * limb / count), (0.0, 0.0, 0.1 * limb)
        for twist, length, offset in rows:
            joints.append(TreeJoint("revolute", parent, (x, y, z), rotation))
            bodies.append(_body(rng, True, size=0.1))
            parent, rotation, (x, y, z) = (
                len(joints) - 1,
                from_rotation_vector((twist, 0.0, 0.0)),
                (length, 0.0, offset),
            )
    return Robot(f"{count} limbs", bodies, joints)


def _between(before: str, axis: str) -> Quat:
    """The transform from the frame with z on one axis to that with z on another, as exact as both."""
    w, x, y, z = _TURNS[before]
    a, b, c, d = _TURNS[axis]
    return (  # conjugate of the first times the second
        w * a + x * b + y * c + z * d,
        w * b - x * a - y * d + z * c,
        w * c + x * d - y * a - z * b,
        w * d - x * c + y * b - z * a,
    )


GENERAL: Final = "general 6R"
TIMED: Final[dict[str, Callable[[], Robot]]] = {
    GENERAL: lambda: arm_in_any_frames(GENERAL, general(6)),
    "general 6R, DH frames": lambda: arm("6R", general(6), tilt=_TILT),
    "PUMA": lambda: arm("PUMA", PUMA),
    "humanoid": humanoid,
}
"""Robots whose forward dynamics are timed beside other engines, all with full mass properties."""
ARMS: Final[dict[str, Callable[[], Robot]]] = {
    "all parallel, full": lambda: arm("all parallel", parallel(6), tilt=_RIGHT),
    "PUMA, simple": lambda: arm("PUMA", PUMA, full=False),
    "PUMA, full": lambda: arm("PUMA", PUMA),
    "UR5, simple": lambda: arm("UR5", UR5, full=False),
    "UR5, full": lambda: arm("UR5", UR5),
    "alternating, simple": lambda: arm("alternating", alternating(6), full=False),
    "alternating, full": lambda: arm("alternating", alternating(6)),
    "general axes, full": lambda: arm("general axes", general(6), tilt=_TILT),
}
"""Six-revolute arms by geometry and mass properties."""
