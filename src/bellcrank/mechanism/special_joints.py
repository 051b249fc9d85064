"""Joint kinds beyond the lock formulation's mask: with axes at an angle, distances, curves, or sizes of their own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import cos, pi, tan
from typing import Any, ClassVar

from bellcrank.mechanism.checking import Check, Vec3
from bellcrank.mechanism.functions.curve import Curve
from bellcrank.mechanism.joint import JointKind, joint_kind, register
from bellcrank.mechanism.marker import Marker
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


def _length(kind: JointKind, field: str = "length") -> None:
    """Check a length that may be None, for the initial one."""
    with Check(kind.name) as check:
        value = getattr(kind, field)
        if value is not None:
            check.settle(kind, **{field: check.positive(field, value, "m")})


@register
@dataclass(frozen=True)
class Screw(JointKind):
    """Turns about z and moves along z by `pitch` metres a turn (negative: left-handed)."""

    pitch: float
    locked: ClassVar[tuple[str, ...]] = ("x", "y", "e1", "e2")
    free: ClassVar[tuple[str, ...]] = ("theta_z",)
    meaning: ClassVar[str] = "Turns about z and moves along z by the pitch each turn; z = 0 at angle 0."

    def __post_init__(self) -> None:
        with Check("Screw") as check:
            pitch = check.number("pitch", self.pitch, "m a turn")
            if pitch == 0.0:
                check.fault("pitch must not be zero", pitch, "use bc.Revolute()")
            check.settle(self, pitch=pitch)

    def rows(self, marker_1: Marker, marker_2: Marker) -> tuple[Row, ...]:
        """The locks and  z - pitch/(2 pi) theta_z = 0."""
        z, angle = (self.coordinate(name, marker_1, marker_2) for name in ("z", "theta_z"))
        return (
            *super().rows(marker_1, marker_2),
            combination((1.0, -self.pitch / (2 * pi)), (z, angle), 0.0),
        )


@register
@dataclass(frozen=True)
class Distance(JointKind):
    """Holds the distance of the origins: a massless rod between two ball joints.

    length: m; None takes the distance in the assembled initial configuration.
    """

    length: float | None = None
    free: ClassVar[tuple[str, ...]] = ("z", "azimuth", *_ALL)
    meaning: ClassVar[str] = (
        "The distance of the origins stays the same: a massless rod with two ball joints."
    )

    def __post_init__(self) -> None:
        _length(self)

    def rows(self, marker_1: Marker, marker_2: Marker) -> tuple[Row, ...]:
        """Distance - length = 0."""
        return (lock(self.coordinate("distance", marker_1, marker_2), self.length),)


@dataclass(frozen=True)
class _AxisDistance(JointKind):
    """Holds the distance of origin 2 from the z axis of marker 1, beside other locks.

    length: m; None takes the distance in the assembled initial configuration.
    """

    length: float | None = None

    def __post_init__(self) -> None:
        _length(self)

    def rows(self, marker_1: Marker, marker_2: Marker) -> tuple[Row, ...]:
        """The locks and  distance_xy - length = 0."""
        radius = lock(self.coordinate("distance_xy", marker_1, marker_2), self.length)
        return (*super().rows(marker_1, marker_2), radius)


def _axis_distance(name: str, locked: str, free: str, meaning: str) -> type[_AxisDistance]:
    body = {
        "locked": tuple(locked.split()),
        "free": tuple(free.split()),
        "meaning": meaning,
        "__doc__": f"{meaning}\n\n    length: m; None takes the initial distance from the axis.\n    ",
        "__module__": __name__,
    }
    kind = dataclass(frozen=True)(type(name, (_AxisDistance,), body))
    register(kind)
    return kind


PointOnCylinder = _axis_distance(
    "PointOnCylinder",
    "",
    "z azimuth rot_x rot_y rot_z",
    "Origin 2 stays on a cylinder about the z axis of marker 1.",
)
PointOnCircle = _axis_distance(
    "PointOnCircle",
    "z",
    "azimuth rot_x rot_y rot_z",
    "Origin 2 stays on a circle about z of marker 1: a massless rod with a revolute and a ball joint.",
)
ParallelLink = _axis_distance(
    "ParallelLink",
    "z e1 e2",
    "azimuth theta_z",
    "A massless rod between two parallel revolute axes (z of both markers).",
)
PlungingParallelLink = _axis_distance(
    "PlungingParallelLink",
    "e1 e2",
    "z azimuth theta_z",
    "A massless rod between a revolute and a cylindrical joint with parallel axes (z of both markers).",
)


@register
@dataclass(frozen=True)
class PointOnCone(JointKind):
    """Origin 2 stays on a cone about z of marker 1, tip at its origin, opening along +z.

    half_angle: between the axis and the surface, rad, 0 to pi/2.
    """

    half_angle: float
    free: ClassVar[tuple[str, ...]] = ("z", "azimuth", *_ALL)
    meaning: ClassVar[str] = "Origin 2 stays on a cone about the z axis of marker 1."

    def __post_init__(self) -> None:
        with Check("PointOnCone") as check:
            angle = check.positive("half_angle", self.half_angle, "rad")
            if angle >= pi / 2:
                check.fault("half_angle must be less than pi/2", angle, "give it in rad")
            check.settle(self, half_angle=angle)

    def rows(self, marker_1: Marker, marker_2: Marker) -> tuple[Row, ...]:
        """distance_xy - tan(half_angle) z = 0."""
        radius, height = (self.coordinate(name, marker_1, marker_2) for name in ("distance_xy", "z"))
        return (combination((1.0, -tan(self.half_angle)), (radius, height), 0.0),)


@register
@dataclass(frozen=True)
class PointOnHelix(JointKind):
    """Origin 2 stays on a helix about z of marker 1: a bead on a coiled wire.

    radius: m. pitch: rise for each turn, m (negative: left-handed). The helix crosses the x axis.
    """

    radius: float
    pitch: float
    free: ClassVar[tuple[str, ...]] = ("azimuth", *_ALL)
    meaning: ClassVar[str] = "Origin 2 stays on a helix about the z axis of marker 1."

    def __post_init__(self) -> None:
        with Check("PointOnHelix") as check:
            radius = check.positive("radius", self.radius, "m")
            check.settle(self, radius=radius, pitch=check.number("pitch", self.pitch, "m a turn"))

    def rows(self, marker_1: Marker, marker_2: Marker) -> tuple[Row, ...]:
        """distance_xy - radius = 0  and  z - pitch/(2 pi) azimuth = 0."""
        radius, height, angle = (
            self.coordinate(name, marker_1, marker_2) for name in ("distance_xy", "z", "azimuth")
        )
        return lock(radius, self.radius), combination((1.0, -self.pitch / (2 * pi)), (height, angle), 0.0)


@register
@dataclass(frozen=True)
class SphereOnPlane(JointKind):
    """A ball about origin 2 stays in contact with the xy plane of marker 1, on its +z side; it may slide."""

    radius: float
    free: ClassVar[tuple[str, ...]] = ("x", "y", *_ALL)
    meaning: ClassVar[str] = "A ball about origin 2 touches the xy plane of marker 1 and slides on it freely."

    def __post_init__(self) -> None:
        _length(self, "radius")

    def rows(self, marker_1: Marker, marker_2: Marker) -> tuple[Row, ...]:
        """Z - radius = 0."""
        return (lock(self.coordinate("z", marker_1, marker_2), self.radius),)


@register
@dataclass(frozen=True)
class CylinderOnPlane(JointKind):
    """A cylinder about z of marker 2 lies on the xy plane of marker 1, on its +z side; it may slide and roll."""

    radius: float
    free: ClassVar[tuple[str, ...]] = ("x", "y", *_AXIS_ANGLES)
    meaning: ClassVar[str] = (
        "A cylinder about z of marker 2 lies on the xy plane of marker 1 and slides freely."
    )

    def __post_init__(self) -> None:
        _length(self, "radius")

    def rows(self, marker_1: Marker, marker_2: Marker) -> tuple[Row, ...]:
        """Z - radius = 0  and  dot_zz = 0."""
        height, tilt = (self.coordinate(name, marker_1, marker_2) for name in ("z", "dot_zz"))
        return lock(height, self.radius), lock(tilt)


@register
@dataclass(frozen=True)
class AxisAngle(JointKind):
    """The z axes keep an angle.

    angle: rad, between 0 and pi (at the ends use ParallelAxes); None keeps the initial one.
    """

    angle: float | None = None
    free: ClassVar[tuple[str, ...]] = ("x", "y", "z", *_AXIS_ANGLES)
    meaning: ClassVar[str] = "The z axes keep an angle between 0 and 180 degrees."

    def __post_init__(self) -> None:
        if self.angle is None:
            return
        with Check("AxisAngle") as check:
            angle = check.positive("angle", self.angle, "rad")
            if angle >= pi:
                check.fault(
                    "angle must be less than pi", angle, "give it in rad; for parallel axes use ParallelAxes"
                )
            check.settle(self, angle=angle)

    def rows(self, marker_1: Marker, marker_2: Marker) -> tuple[Row, ...]:
        """dot_zz - cos(angle) = 0."""
        constant = FROM_START if self.angle is None else cos(self.angle)
        return (Row((Term(1.0, self.coordinate("dot_zz", marker_1, marker_2)),), constant),)


@register
@dataclass(frozen=True)
class PointOnCurve(JointKind):
    """Origin 2 stays on a curve fixed to marker 1: the spline through `points` (see Curve).

    points: (n, 3), m, in marker-1 axes. closed: the curve returns to its first point.

    The free coordinate along the curve is curve_parameter (m), or curve_angle (2 pi a round) on a closed curve.
    """

    points: tuple[Vec3, ...]
    closed: bool = False
    locked: ClassVar[tuple[str, ...]] = ("curve_normal_1", "curve_normal_2")
    free: ClassVar[tuple[str, ...]] = ("curve_parameter", *_ALL)
    meaning: ClassVar[str] = "Origin 2 stays on a smooth curve through given points of marker 1."

    def __post_init__(self) -> None:
        curve = Curve(self.points, self.closed)
        values: dict[str, Any] = {"points": curve.points, "closed": curve.closed}
        if curve.closed:
            values["free"] = ("curve_angle", *_ALL)
        for field, value in values.items():
            object.__setattr__(self, field, value)

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
