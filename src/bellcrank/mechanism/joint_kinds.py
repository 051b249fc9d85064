"""Joint kinds: those that lock coordinates, one line each, and classes for those with rows of their own.

A line gives name, locked coordinates, free coordinates and meaning. x, y, z is the position of marker 2 seen
from marker 1; e1, e2, e3 the imaginary part of its quaternion. Locking e1 and e2 leaves only the turn about
z; locking e3 alone ("no turn about z") keeps the axis of the relative rotation perpendicular to z, and so on.
A name that ends in X says of marker axis x what the plain name says of z.
"""

from __future__ import annotations

from functools import cached_property
from math import cos, pi, tan
from typing import Any, ClassVar, Final

from bellcrank.expression import functions
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.fields import checked, described, quantity
from bellcrank.mechanism.functions.path import Curve
from bellcrank.mechanism.given import FloatField, OptionalFloatField, PointsField
from bellcrank.mechanism.joint import JointKind, joint_kind, register
from bellcrank.mechanism.kind_examples import EXAMPLES
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.parameters import is_expression
from bellcrank.mechanism.rows import FROM_START, Row, Term, combination, lock

_ALL: Final = "rot_x rot_y rot_z"
_TURNS: Final = tuple(_ALL.split())
_AXIS_ANGLES = ("azimuth_axis", "mirrored_azimuth_axis")


def _kind(name: str, locked: str, free: str, meaning: str) -> type[JointKind]:
    kind = joint_kind(name, locked, free, meaning, __name__)
    kind.__doc__ = f"{meaning}\n{EXAMPLES[name]}"
    return kind


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
    """Turns about z and moves along z by `pitch` metres a turn (negative: left-handed).

    >>> screw = cube.add_joint("screw", bc.Screw(pitch=0.005), "ground", "cube", velocity=4 * np.pi)
    >>> print(bc.simulate(cube, 1.0).body("cube").position[-1].round(6))    # m: two turns of 5 mm
    [0.   0.   0.01]
    """

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

    >>> rod = cube.add_joint("rod", bc.Distance(), cube.ground.marker((0, 0, 2)), "cube")
    >>> cube.gravity = (0, 0, -9.81)
    >>> print(bc.simulate(cube, 1.0).joint("rod").force[-1].round(6))    # N: it hangs on the rod of 2 m
    [0.    0.   58.86]
    """

    length: OptionalFloatField = quantity("m", "positive", default=None)
    free: ClassVar[tuple[str, ...]] = ("z", "azimuth", *_TURNS)
    massless_rod: ClassVar[bool] = True
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
    massless_rod: ClassVar[bool] = True

    def rows(self, marker_1: Marker, marker_2: Marker) -> tuple[Row, ...]:
        """The locks and  distance_xy - length = 0."""
        across = lock(self.coordinate("distance_xy", marker_1, marker_2), self.length)
        return (*super().rows(marker_1, marker_2), across)


@register
@described
class RevoluteSpherical(_Link):
    """A massless rod with a revolute joint about z of marker 1 and a ball joint; length: m or None.

    >>> rod = cube.add_joint("rod", bc.RevoluteSpherical(2.0), cube.ground.marker((2, 0, 0)), "cube")
    >>> swung = cube.replace(cube.bodies["cube"], velocity=(0, 3.0, 0))
    >>> run = bc.simulate(cube, 1.0)
    >>> print(np.linalg.norm(run.joint("rod").force[-1]).round(6), bc.info(cube).freedom)    # N: m v^2 / r
    27.0 4
    """

    locked: ClassVar[tuple[str, ...]] = ("z",)
    free: ClassVar[tuple[str, ...]] = ("azimuth", *_TURNS)
    meaning: ClassVar[str] = "A massless rod between a revolute joint (z of marker 1) and a ball joint."


@register
@described
class ParallelLink(_Link):
    """A massless rod between two parallel revolute axes, z of both markers; length: m or None.

    >>> rod = cube.add_joint("rod", bc.ParallelLink(2.0), cube.ground.marker((2, 0, 0)), "cube")
    >>> swung = cube.replace(cube.bodies["cube"], velocity=(0, 3.0, 0))
    >>> run = bc.simulate(cube, 1.0)
    >>> print(np.linalg.norm(run.joint("rod").force[-1]).round(6))    # N: m v^2 / r
    27.0
    """

    locked: ClassVar[tuple[str, ...]] = ("z", "e1", "e2")
    free: ClassVar[tuple[str, ...]] = ("azimuth", "theta_z")
    meaning: ClassVar[str] = "A massless rod between two parallel revolute axes (z of both markers)."


@register
@described
class PlungingParallelLink(_Link):
    """A massless rod between a revolute and a cylindrical joint, z axes parallel; length: m or None.

    >>> rod = cube.add_joint("rod", bc.PlungingParallelLink(2.0), cube.ground.marker((2, 0, 0)), "cube")
    >>> flung = cube.replace(cube.bodies["cube"], velocity=(0, 3.0, 1.0))
    >>> run = bc.simulate(cube, 1.0)
    >>> print(run.body("cube").position[-1, 2].round(6), np.linalg.norm(run.joint("rod").force[-1]).round(6))
    1.0 27.0
    """

    locked: ClassVar[tuple[str, ...]] = ("e1", "e2")
    free: ClassVar[tuple[str, ...]] = ("z", "azimuth", "theta_z")
    meaning: ClassVar[str] = "A massless rod between a revolute and a cylindrical joint with parallel axes."


@register
@described
class AxisAngle(JointKind):
    """The z axes keep an angle.

    angle: rad, between 0 and pi (at the ends use ParallelAxes); None keeps the initial one.

    >>> tilted = cube.bodies["cube"].marker(rotation=bc.rotation("x", "30 deg"))
    >>> lean = cube.add_joint("lean", bc.AxisAngle(bc.quantity("30 deg")), "ground", tilted)
    >>> spun = cube.replace(cube.bodies["cube"], angular_velocity=(1.0, 0, 2.0))
    >>> turn = bc.simulate(cube, 0.001).body("cube").angular_velocity[0]
    >>> print(turn.round(6), bc.info(cube).freedom)    # rad/s: the turn about x would change the angle
    [0. 0. 2.] 5
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


@register
@described
class PointOnCylinder(JointKind):
    """Origin 2 stays on a cylinder about z of marker 1.

    radius: m; None takes the distance from the axis in the assembled initial configuration.

    >>> wall = cube.add_joint("wall", bc.PointOnCylinder(2.0), cube.ground.marker((2, 0, 0)), "cube")
    >>> flung = cube.replace(cube.bodies["cube"], velocity=(0, 3.0, 1.0))
    >>> print(np.linalg.norm(bc.simulate(cube, 1.0).joint("wall").force[-1]).round(6))    # N: m v^2 / r
    27.0
    """

    radius: OptionalFloatField = quantity("m", "positive", default=None)
    free: ClassVar[tuple[str, ...]] = ("z", "azimuth", *_TURNS)
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

    >>> funnel, tip = bc.PointOnCone(bc.quantity("45 deg")), cube.ground.marker((-1, 0, -1))
    >>> slide = cube.add_joint("slide", funnel, tip, "cube")
    >>> cube.gravity = (0, 0, -9.81)
    >>> round_it = cube.replace(cube.bodies["cube"], velocity=(0, np.sqrt(9.81), 0))    # v^2 = g h
    >>> x, y, z = bc.simulate(cube, 1.0).body("cube").position[-1]
    >>> print(f"{np.hypot(x + 1, y):.6f} m, {abs(z):.6f} m")    # it goes round at its height
    1.000000 m, 0.000000 m
    """

    half_angle: FloatField = quantity("rad", "positive")
    free: ClassVar[tuple[str, ...]] = ("z", "azimuth", *_TURNS)
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

    >>> wire = bc.PointOnHelix(radius=1.0, pitch=0.5)
    >>> start = cube.ground.marker((-1, 0, 0))
    >>> bead = cube.add_joint("bead", wire, start, "cube", velocity={"azimuth": 2 * np.pi})
    >>> print(bc.simulate(cube, 1.0).body("cube").position[-1].round(6))    # m: one turn up
    [0.   0.   0.5]
    """

    radius: FloatField = quantity("m", "positive")
    pitch: FloatField = quantity("m a turn")
    free: ClassVar[tuple[str, ...]] = ("azimuth", *_TURNS)
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
    """A ball about origin 2 stays in contact with the xy plane of marker 1, on its +z side; it may slide.

    >>> ball = cube.add_joint("ball", bc.SphereOnPlane(0.5), cube.ground.marker((0, 0, -0.5)), "cube")
    >>> cube.gravity = (0, 0, -9.81)
    >>> pushed = cube.replace(cube.bodies["cube"], velocity=(1.0, 0, 0))
    >>> print(bc.simulate(cube, 1.0).body("cube").position[-1].round(6), bc.info(cube).freedom)    # m
    [ 1.  0.  0.] 5
    """

    radius: FloatField = quantity("m", "positive", optional=True)
    free: ClassVar[tuple[str, ...]] = ("x", "y", *_TURNS)
    own: ClassVar[str] = "z = radius"
    meaning: ClassVar[str] = "A ball about origin 2 touches the xy plane of marker 1 and slides on it freely."

    def rows(self, marker_1: Marker, marker_2: Marker) -> tuple[Row, ...]:
        """The row  z - radius = 0."""
        return (lock(self.coordinate("z", marker_1, marker_2), self.radius),)


@register
@described
class CylinderOnPlane(JointKind):
    """A cylinder about z of marker 2 lies on the +z side of marker 1's xy plane; it may slide and roll.

    >>> roll = bc.CylinderOnPlane(0.5)
    >>> axle = cube.bodies["cube"].marker(axis="y")
    >>> lies = cube.add_joint("lies", roll, cube.ground.marker((0, 0, -0.5)), axle)
    >>> cube.gravity = (0, 0, -9.81)
    >>> print(bc.simulate(cube, 1.0).joint("lies").force[-1].round(6), bc.info(cube).freedom)    # N
    [0.    0.   58.86] 4
    """

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

    >>> wire = bc.PointOnCurve([(0, 0, 0), (1, 0, 1), (2, 0, 0)])
    >>> bead = cube.add_joint("bead", wire, "ground", "cube", position={"curve_parameter": np.sqrt(2)})
    >>> cube.gravity = (0, 0, -9.81)
    >>> report = bc.find_equilibrium(cube, leave_unstable=False)
    >>> report.stability, bc.info(cube).freedom    # on the crest
    ('unstable', 4)
    """

    points: PointsField = checked(unit="m", parametric=True, followed=False)
    closed: bool = checked(default=False)
    locked: ClassVar[tuple[str, ...]] = ("curve_normal_1", "curve_normal_2")
    free: ClassVar[tuple[str, ...]] = ("curve_parameter", *_TURNS)
    meaning: ClassVar[str] = "Origin 2 stays on a smooth curve through given points of marker 1."

    def _judge(self, check: Check) -> None:
        with check.faults.collect():
            curve = Curve(self.points, self.closed)
            self._store(points=curve.points, closed=curve.closed)
            if curve.closed:
                self._store(free=("curve_angle", *_TURNS))

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


# Position free.
Free = _kind("Free", "", f"x y z {_ALL}", "Nothing is held; the relative pose is measured.")
NoTwist = _kind("NoTwist", "e3", "x y z rot_x rot_y", "No turn about z; everything else is free.")
NoTwistX = _kind("NoTwistX", "e1", "x y z rot_y rot_z", "No turn about x; everything else is free.")
ParallelAxes = _kind("ParallelAxes", "e1 e2", "x y z theta_z", "The z axes stay parallel.")
ParallelAxesX = _kind("ParallelAxesX", "e2 e3", "x y z theta_x", "The x axes stay parallel.")
Orientation = _kind(
    "Orientation", "e1 e2 e3", "x y z", "No relative turn; translation is free in all directions."
)

# A point in a plane.
PointOnPlane = _kind("PointOnPlane", "z", f"x y {_ALL}", "Origin 2 stays in the xy plane of marker 1.")
KeyedPointOnPlane = _kind(
    "KeyedPointOnPlane", "z e3", "x y rot_x rot_y", "A point in the xy plane, no turn about z."
)
GuidedPointOnPlane = _kind(
    "GuidedPointOnPlane", "z e1", "x y rot_y rot_z", "A point in the xy plane, no turn about x."
)
Planar = _kind(
    "Planar", "z e1 e2", "x y theta_z", "The xy planes coincide: slides along x and y, turns about z."
)
PlanarHinge = _kind(
    "PlanarHinge", "z e2 e3", "x y theta_x", "Slides in the xy plane and turns about x, which lies in it."
)
Oldham = _kind(
    "Oldham", "z e1 e2 e3", "x y", "Slides in the xy plane without any turn, as in an Oldham coupling."
)
PointOnPlaneX = _kind("PointOnPlaneX", "x", f"y z {_ALL}", "Origin 2 stays in the yz plane of marker 1.")
KeyedPointOnPlaneX = _kind(
    "KeyedPointOnPlaneX", "x e1", "y z rot_y rot_z", "A point in the yz plane, no turn about x."
)
GuidedPointOnPlaneX = _kind(
    "GuidedPointOnPlaneX", "x e3", "y z rot_x rot_y", "A point in the yz plane, no turn about z."
)
PlanarX = _kind(
    "PlanarX", "x e2 e3", "y z theta_x", "The yz planes coincide: slides along y and z, turns about x."
)
PlanarHingeX = _kind(
    "PlanarHingeX", "x e1 e2", "y z theta_z", "Slides in the yz plane and turns about z, which lies in it."
)
OldhamX = _kind("OldhamX", "x e1 e2 e3", "y z", "Slides in the yz plane without any turn.")

# A point on a line.
PointOnLine = _kind(
    "PointOnLine", "x y", f"z {_ALL}", "Origin 2 stays on the z axis of marker 1: a ball in a tube."
)
PlungingConstantVelocity = _kind(
    "PlungingConstantVelocity",
    "x y e3",
    "z rot_x rot_y",
    "A constant velocity joint that slides along z (tripod).",
)
GuidedPointOnLine = _kind(
    "GuidedPointOnLine", "x y e1", "z rot_y rot_z", "A point on the z axis, no turn about x."
)
Cylindrical = _kind("Cylindrical", "x y e1 e2", "z theta_z", "Slides along z and turns about z.")
RevolutePrismatic = _kind(
    "RevolutePrismatic", "x y e2 e3", "z theta_x", "Slides along z and turns about x, across it."
)
Prismatic = _kind("Prismatic", "x y e1 e2 e3", "z", "Slides along z.")
SphericalSlot = _kind("SphericalSlot", "y z", f"x {_ALL}", "A ball in a straight slot along x.")
PlungingConstantVelocityX = _kind(
    "PlungingConstantVelocityX",
    "y z e1",
    "x rot_y rot_z",
    "A constant velocity joint about x that slides along x.",
)
GuidedPointOnLineX = _kind(
    "GuidedPointOnLineX", "y z e3", "x rot_x rot_y", "A point on the x axis, no turn about z."
)
CylindricalX = _kind("CylindricalX", "y z e2 e3", "x theta_x", "Slides along x and turns about x.")
PinInSlot = _kind("PinInSlot", "y z e1 e2", "x theta_z", "A pin along z in a slot along x of marker 1.")
PrismaticX = _kind("PrismaticX", "y z e1 e2 e3", "x", "Slides along x.")

# A point held.
Spherical = _kind("Spherical", "x y z", _ALL, "The origins coincide; turns in all directions.")
ConstantVelocity = _kind(
    "ConstantVelocity", "x y z e3", "rot_x rot_y", "Transmits the turn about z at equal speed at any bend."
)
ConstantVelocityX = _kind(
    "ConstantVelocityX", "x y z e1", "rot_y rot_z", "Transmits the turn about x at equal speed at any bend."
)
Revolute = _kind("Revolute", "x y z e1 e2", "theta_z", "Turns about z.")
RevoluteX = _kind("RevoluteX", "x y z e2 e3", "theta_x", "Turns about x.")
Fixed = _kind("Fixed", "x y z e1 e2 e3", "", "Holds the markers together: no motion.")

# In a plane mechanism: only what acts in the plane, so that plane loops close without redundant rows.
PlanarSlider = _kind(
    "PlanarSlider", "y e3", "x z rot_x rot_y", "In the xy plane: slides along x without a turn about z."
)
PlanarSlot = _kind(
    "PlanarSlot", "y", f"x z {_ALL}", "In the xy plane: origin 2 stays on the x axis of marker 1."
)
