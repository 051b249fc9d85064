"""Spatial joint axes: a link's frames as given, and the axis in them along which it moves."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import Any

import numpy as np

from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.checking import Vec3
from bellcrank.mechanism.joint import Joint
from bellcrank.mechanism.joint_kinds import Prismatic, Revolute, Screw
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.rotation import between, multiply, rotate

_REVOLUTE = 1e-12  # a smaller pitch, m/rad, counts as zero


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
