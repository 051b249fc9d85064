"""Joint kinds that keep a point, a ball or a cylinder on a surface or a curve."""

from __future__ import annotations

from functools import cached_property
from math import pi, tan
from typing import Any, ClassVar

from bellcrank.expression import functions
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.fields import checked, described, quantity
from bellcrank.mechanism.functions.curve import Curve
from bellcrank.mechanism.given import FloatField, OptionalFloatField, PointsField
from bellcrank.mechanism.joint import JointKind, register
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.parametric import is_expression
from bellcrank.mechanism.rows import Row, combination, lock
from bellcrank.mechanism.special_joints import _ALL, _AXIS_ANGLES


@register
@described
class PointOnCylinder(JointKind):
    """Origin 2 stays on a cylinder about z of marker 1.

    radius: m; None takes the distance from the axis in the assembled initial configuration.
    """

    radius: OptionalFloatField = quantity("m", "positive", default=None)
    free: ClassVar[tuple[str, ...]] = ("z", "azimuth", *_ALL)
    own: ClassVar[str] = "distance_xy = radius"
    meaning: ClassVar[str] = "Origin 2 stays on a cylinder about the z axis of marker 1."

    def rows(self, marker_1: Marker, marker_2: Marker) -> tuple[Row, ...]:
        """The row  distance_xy - radius = 0."""
        return (lock(self.coordinate("distance_xy", marker_1, marker_2), self.radius),)


@register
@described
class PointOnCone(JointKind):
    """Origin 2 stays on a cone about z of marker 1, tip at its origin, opening along +z.

    half_angle: between the axis and the surface, rad, 0 to pi/2.
    """

    half_angle: FloatField = quantity("rad", "positive")
    free: ClassVar[tuple[str, ...]] = ("z", "azimuth", *_ALL)
    own: ClassVar[str] = "distance_xy = tan(half_angle) z"
    meaning: ClassVar[str] = "Origin 2 stays on a cone about the z axis of marker 1."

    def _judge(self, check: Check) -> None:
        if self.half_angle >= pi / 2:
            check.fault("half_angle must be less than pi/2", self.half_angle, "give it in rad")

    def rows(self, marker_1: Marker, marker_2: Marker) -> tuple[Row, ...]:
        """The row  distance_xy - tan(half_angle) z = 0."""
        radius, height = (self.coordinate(name, marker_1, marker_2) for name in ("distance_xy", "z"))
        angle: Any = self.half_angle
        slope: Any = functions.tan(angle) if is_expression(angle) else tan(angle)
        return (combination((1.0, -slope), (radius, height), 0.0),)


@register
@described
class PointOnHelix(JointKind):
    """Origin 2 stays on a helix about z of marker 1: a bead on a coiled wire.

    radius: m. pitch: rise for each turn, m (negative: left-handed). The helix crosses the x axis.
    """

    radius: FloatField = quantity("m", "positive")
    pitch: FloatField = quantity("m a turn")
    free: ClassVar[tuple[str, ...]] = ("azimuth", *_ALL)
    own: ClassVar[str] = "distance_xy = radius, z = pitch/(2 pi) azimuth"
    meaning: ClassVar[str] = "Origin 2 stays on a helix about the z axis of marker 1."

    def rows(self, marker_1: Marker, marker_2: Marker) -> tuple[Row, ...]:
        """The rows  distance_xy - radius = 0  and  z - pitch/(2 pi) azimuth = 0."""
        radius, height, angle = (
            self.coordinate(name, marker_1, marker_2) for name in ("distance_xy", "z", "azimuth")
        )
        return lock(radius, self.radius), combination((1.0, -self.pitch / (2 * pi)), (height, angle), 0.0)


@register
@described
class SphereOnPlane(JointKind):
    """A ball about origin 2 stays in contact with the xy plane of marker 1, on its +z side; it may slide."""

    radius: FloatField = quantity("m", "positive", optional=True)
    free: ClassVar[tuple[str, ...]] = ("x", "y", *_ALL)
    own: ClassVar[str] = "z = radius"
    meaning: ClassVar[str] = "A ball about origin 2 touches the xy plane of marker 1 and slides on it freely."

    def rows(self, marker_1: Marker, marker_2: Marker) -> tuple[Row, ...]:
        """The row  z - radius = 0."""
        return (lock(self.coordinate("z", marker_1, marker_2), self.radius),)


@register
@described
class CylinderOnPlane(JointKind):
    """A cylinder about z of marker 2 lies on the +z side of marker 1's xy plane; it may slide and roll."""

    radius: FloatField = quantity("m", "positive", optional=True)
    free: ClassVar[tuple[str, ...]] = ("x", "y", *_AXIS_ANGLES)
    own: ClassVar[str] = "z = radius, dot_zz"
    meaning: ClassVar[str] = (
        "A cylinder about z of marker 2 lies on the xy plane of marker 1 and slides freely."
    )

    def rows(self, marker_1: Marker, marker_2: Marker) -> tuple[Row, ...]:
        """The rows  z - radius = 0  and  dot_zz = 0."""
        height, tilt = (self.coordinate(name, marker_1, marker_2) for name in ("z", "dot_zz"))
        return lock(height, self.radius), lock(tilt)


@register
@described
class PointOnCurve(JointKind):
    """Origin 2 stays on a curve fixed to marker 1: the spline through `points` (see Curve).

    points: (n, 3), m, in marker-1 axes. closed: the curve returns to its first point.

    The free coordinate along the curve is curve_parameter (m), or curve_angle (2 pi a round) on a closed
    curve.
    """

    points: PointsField = checked(unit="m", parametric=True, followed=False)
    closed: bool = checked(default=False)
    locked: ClassVar[tuple[str, ...]] = ("curve_normal_1", "curve_normal_2")
    free: ClassVar[tuple[str, ...]] = ("curve_parameter", *_ALL)
    meaning: ClassVar[str] = "Origin 2 stays on a smooth curve through given points of marker 1."

    def _judge(self, check: Check) -> None:
        with check.faults.collect():
            curve = Curve(self.points, self.closed)
            self._store(points=curve.points, closed=curve.closed)
            if curve.closed:
                self._store(free=("curve_angle", *_ALL))

    @cached_property
    def curve(self) -> Curve:
        """The curve."""
        return Curve(self.points, self.closed)

    @cached_property
    def _curve_params(self) -> tuple[float, ...]:
        return self.curve.coordinate_params()

    def params(self, coordinate_name: str) -> tuple[float, ...]:
        """The curve in flat form, for the curve coordinates."""
        return self._curve_params if coordinate_name.startswith("curve_") else ()
