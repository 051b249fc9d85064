"""Joint kinds beyond the lock formulation's mask: axes at an angle, screws, rods, points on curves."""

from __future__ import annotations

from math import cos, pi
from typing import Any, ClassVar

from bellcrank.expression import functions
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.fields import described, quantity
from bellcrank.mechanism.given import FloatField, OptionalFloatField
from bellcrank.mechanism.joint import JointKind, joint_kind, register
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.parametric import is_expression
from bellcrank.mechanism.rows import FROM_START, Row, Term, combination, lock

_ALL = ("rot_x", "rot_y", "rot_z")
_AXIS_ANGLES = ("azimuth_axis", "mirrored_azimuth_axis")


def _kind(name: str, locked: str, free: str, meaning: str) -> type[JointKind]:
    return joint_kind(name, locked, free, meaning, __name__)


Universal = _kind(
    "Universal",
    "x y z dot_xy",
    "universal_1 universal_2",
    "A Cardan joint: turns about x of marker 1 and about y of marker 2, which stay perpendicular.",
)
PlungingUniversal = _kind(
    "PlungingUniversal",
    "x y dot_xy",
    "z universal_1 universal_2",
    "A Cardan joint that slides along z of marker 1.",
)
Perpendicular = _kind(
    "Perpendicular", "dot_zz", "x y z azimuth_axis mirrored_azimuth_axis", "The z axes stay perpendicular."
)
CrossedAxes = _kind(
    "CrossedAxes",
    "x y z dot_zz",
    "azimuth_axis mirrored_azimuth_axis",
    "The z axes meet at a right angle: turns about both of them.",
)
LineOnPlane = _kind(
    "LineOnPlane",
    "z dot_zz",
    "x y azimuth_axis mirrored_azimuth_axis",
    "The z axis of marker 2 lies in the xy plane of marker 1: line contact.",
)


@register
@described
class Screw(JointKind):
    """Turns about z and moves along z by `pitch` metres a turn (negative: left-handed)."""

    pitch: FloatField = quantity("m a turn")
    locked: ClassVar[tuple[str, ...]] = ("x", "y", "e1", "e2")
    free: ClassVar[tuple[str, ...]] = ("theta_z",)
    own: ClassVar[str] = "z = pitch/(2 pi) theta_z"
    meaning: ClassVar[str] = "Turns about z and moves along z by the pitch each turn; z = 0 at angle 0."

    def _judge(self, check: Check) -> None:
        if self.pitch == 0.0:
            check.fault("pitch must not be zero", self.pitch, "use bc.Revolute()")

    def rows(self, marker_1: Marker, marker_2: Marker) -> tuple[Row, ...]:
        """The locks and  z - pitch/(2 pi) theta_z = 0."""
        z, angle = (self.coordinate(name, marker_1, marker_2) for name in ("z", "theta_z"))
        return (
            *super().rows(marker_1, marker_2),
            combination((1.0, -self.pitch / (2 * pi)), (z, angle), 0.0),
        )


@register
@described
class Distance(JointKind):
    """Keeps the distance of the origins: a massless rod between two ball joints.

    length: m; None takes the distance in the assembled initial configuration.
    """

    length: OptionalFloatField = quantity("m", "positive", default=None)
    free: ClassVar[tuple[str, ...]] = ("z", "azimuth", *_ALL)
    meaning: ClassVar[str] = (
        "The distance of the origins stays the same: a massless rod with two ball joints."
    )

    def rows(self, marker_1: Marker, marker_2: Marker) -> tuple[Row, ...]:
        """The row  distance - length = 0."""
        return (lock(self.coordinate("distance", marker_1, marker_2), self.length),)


@described
class _Link(JointKind):
    """A massless rod across the z axis of marker 1.

    length: m; None takes the distance from the axis in the assembled initial configuration.
    """

    length: OptionalFloatField = quantity("m", "positive", default=None)
    own: ClassVar[str] = "distance_xy = length"

    def rows(self, marker_1: Marker, marker_2: Marker) -> tuple[Row, ...]:
        """The locks and  distance_xy - length = 0."""
        across = lock(self.coordinate("distance_xy", marker_1, marker_2), self.length)
        return (*super().rows(marker_1, marker_2), across)


@register
@described
class RevoluteSpherical(_Link):
    """A massless rod with a revolute joint about z of marker 1 and a ball joint; length: m or None."""

    locked: ClassVar[tuple[str, ...]] = ("z",)
    free: ClassVar[tuple[str, ...]] = ("azimuth", *_ALL)
    meaning: ClassVar[str] = "A massless rod between a revolute joint (z of marker 1) and a ball joint."


@register
@described
class ParallelLink(_Link):
    """A massless rod between two parallel revolute axes, z of both markers; length: m or None."""

    locked: ClassVar[tuple[str, ...]] = ("z", "e1", "e2")
    free: ClassVar[tuple[str, ...]] = ("azimuth", "theta_z")
    meaning: ClassVar[str] = "A massless rod between two parallel revolute axes (z of both markers)."


@register
@described
class PlungingParallelLink(_Link):
    """A massless rod between a revolute and a cylindrical joint, z axes parallel; length: m or None."""

    locked: ClassVar[tuple[str, ...]] = ("e1", "e2")
    free: ClassVar[tuple[str, ...]] = ("z", "azimuth", "theta_z")
    meaning: ClassVar[str] = "A massless rod between a revolute and a cylindrical joint with parallel axes."


@register
@described
class AxisAngle(JointKind):
    """The z axes keep an angle.

    angle: rad, between 0 and pi (at the ends use ParallelAxes); None keeps the initial one.
    """

    angle: OptionalFloatField = quantity("rad", "positive", default=None)
    free: ClassVar[tuple[str, ...]] = ("x", "y", "z", *_AXIS_ANGLES)
    own: ClassVar[str] = "dot_zz = cos(angle)"
    meaning: ClassVar[str] = "The z axes keep an angle between 0 and 180 degrees."

    def _judge(self, check: Check) -> None:
        if self.angle is not None and self.angle >= pi:
            advice = "give it in rad; for parallel axes use ParallelAxes"
            check.fault("angle must be less than pi", self.angle, advice)

    def rows(self, marker_1: Marker, marker_2: Marker) -> tuple[Row, ...]:
        """The row  dot_zz - cos(angle) = 0."""
        angle: Any = self.angle
        cosine: Any = functions.cos if is_expression(angle) else cos
        constant = FROM_START if angle is None else cosine(angle)
        return (Row((Term(1.0, self.coordinate("dot_zz", marker_1, marker_2)),), constant),)
