"""Poses of frames, and the conventions by which files of other programs give them."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, sin
from typing import Final

from bellcrank.mechanism.checking import Quat, Vec3
from bellcrank.mechanism.rotation import IDENTITY, about, conjugate, multiply, rotate, unit

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
