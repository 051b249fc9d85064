"""Shapes of bodies: what the viewer draws and, with a density, the distribution of mass."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from math import pi
from typing import Any, Final

import numpy as np

from bellcrank.mechanism.checking import Check, Quat, Vec3, nearest
from bellcrank.mechanism.colors import COLORS, color_of
from bellcrank.mechanism.fields import Description, checked, described, flag, quantity, rotation, vector
from bellcrank.mechanism.given import (
    ColorField,
    FloatField,
    OptionalFloatField,
    RotationField,
    TableField,
    VectorField,
)
from bellcrank.mechanism.mass import MassProperties
from bellcrank.mechanism.parameters import quiet
from bellcrank.mechanism.rotation import IDENTITY, matrix, multiply, rotate
from bellcrank.mechanism.slicing import MassBeyond, of_ball, of_revolution, of_surface

SHAPES: dict[str, type[Shape]] = {}
"""Every shape class by name, as files refer to it. All are frozen dataclasses."""


def as_color(check: Check, name: str, value: Any) -> tuple[float, ...]:
    """Red, green, blue and, if given, opacity, from numbers or a name; faults are noted."""
    if isinstance(value, str):
        if (found := color_of(value)) is not None:
            return found
        advice = f"{nearest(value, COLORS)}; or give '#rrggbb', or three numbers from 0 to 1"
        check.fault(f"{name}: there is no colour of this name", value, advice)
        return (0.5, 0.5, 0.5)
    noted = len(check.faults)
    color = check.array(name, value, (None,))
    if len(check.faults) > noted:
        return (0.5, 0.5, 0.5)
    if len(color) not in (3, 4) or np.any(color < 0.0) or np.any(color > 1.0):
        rule = f"{name} must be three or four numbers from 0 to 1 (red, green, blue, opacity)"
        check.fault(rule, value, "or a name, such as 'tan'")
    return tuple(color.tolist())


@dataclass(frozen=True, kw_only=True)
class Shape(Description, ABC):
    """The base of all shapes.

    position, rotation: pose of the shape's frame in the body frame (m; unit quaternion (w, x, y, z)).
    density: kg/m^3, or None for a shape that is only drawn.
    color: red, green, blue and, if wanted, opacity, each 0 to 1; or a name, as in CSS, or "#rrggbb"; None
        leaves it to the viewer.
    touches: whether it takes part in the contacts of its body (`Contact`).
    shown: whether it is drawn, in pictures, films and the live page.

    >>> shape = bc.Box((0.2, 0.2, 0.2), position=(0.1, 0, 0), density=1000.0, color="steelblue")
    >>> isinstance(shape, bc.Shape), shape.touches
    (True, True)
    >>> print(shape.mass_properties().com.round(6))    # m, in the body frame
    [0.1 0.  0. ]
    """

    position: VectorField = vector("m", default=(0.0, 0.0, 0.0))  # noqa: RUF009  (a declaration)
    rotation: RotationField = rotation(default=IDENTITY)  # noqa: RUF009
    density: OptionalFloatField = quantity("kg/m^3", "positive", default=None)  # noqa: RUF009
    color: ColorField = checked(as_color, "1", default=None, parametric=True)  # noqa: RUF009
    touches: bool = flag(default=True)
    shown: bool = flag(default=True)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        SHAPES[cls.__name__] = cls

    @abstractmethod
    def volume_properties(self) -> MassProperties:
        """Mass properties in the shape's frame at density 1 (so that the mass is the volume in m^3).

        >>> volume = bc.Sphere(radius=0.5).volume_properties().mass
        >>> print(f"{volume:.6f} m^3, by hand {np.pi / 6:.6f} m^3")
        0.523599 m^3, by hand 0.523599 m^3
        """

    def mass_properties(self) -> MassProperties:
        """Mass properties in the body frame. The shape must have a density.

        >>> rod = bc.Cylinder(radius=0.01, length=1.0, position=(0, 0, 0.5), density=7850.0)
        >>> properties = rod.mass_properties()
        >>> print(f"{properties.mass:.4f} kg at {properties.com[2]:.2f} m")
        2.4662 kg at 0.50 m
        """
        if self.density is None:
            raise ValueError(f"this {type(self).__name__} has no density")
        return self.volume_properties().scaled(self.density).moved(self.position, self.rotation)

    def volume_beyond(self, normal: np.ndarray, offsets: np.ndarray) -> MassBeyond:  # noqa: ARG002
        """The part beyond planes  normal.r = offset  at density 1; normal: (3,), unit, offsets: (n,), m."""
        raise ValueError(f"a {type(self).__name__} has no mass")

    def mass_beyond(self, normal: np.ndarray, offsets: np.ndarray) -> MassBeyond:
        """The mass beyond planes, all in the body frame. The shape must have a density."""
        if self.density is None:
            raise ValueError(f"this {type(self).__name__} has no density")
        own = offsets - np.asarray(self.position) @ normal
        found = self.volume_beyond(matrix(self.rotation).T @ normal, own)
        return found.scaled(self.density).moved(self.position, self.rotation)

    def moved(self, position: Vec3, rotation: Quat) -> Shape:
        """The shape, given in one frame, in the frame in which that one has the given pose."""
        with quiet():
            x, y, z = (np.asarray(position) + np.asarray(rotate(rotation, self.position))).tolist()
        return replace(self, position=(x, y, z), rotation=multiply(rotation, self.rotation))


def _diagonal(volume: float, squares: tuple[float, float, float]) -> MassProperties:
    """A shape centred in its frame with the given mean squares of x, y and z over its volume, m^2."""
    x, y, z = squares
    return MassProperties(volume, np.zeros(3), volume * np.diag([y + z, z + x, x + y]))


@described
class Box(Shape):
    """A box centred in its frame; size: full lengths along x, y, z, m.

    >>> beam = bc.Body.described(name="beam", shapes=[bc.Box(size=(2.0, 0.1, 0.1), density=7850.0)])
    >>> print(f"{beam.mass:.1f} kg, {beam.inertia[2][2]:.3f} kg m^2")    # m (a^2 + b^2) / 12
    157.0 kg, 52.464 kg m^2
    """

    size: VectorField = vector("m", "positive")

    def volume_properties(self) -> MassProperties:
        """Mass properties in the shape's frame at density 1."""
        a, b, c = self.size
        return _diagonal(a * b * c, (a * a / 12, b * b / 12, c * c / 12))

    def volume_beyond(self, normal: np.ndarray, offsets: np.ndarray) -> MassBeyond:
        """The part beyond planes at density 1."""
        a, b, c = 0.5 * np.asarray(self.size)
        base = Prism(outline=((-a, -b), (a, -b), (a, b), (-a, b)), length=2.0 * c)
        return base.volume_beyond(normal, offsets)


@described
class Sphere(Shape):
    """A ball centred in its frame.

    >>> ball = bc.Sphere(radius=0.1, density=7850.0).mass_properties()
    >>> print(f"{ball.mass:.4f} kg, {ball.inertia[0, 0] / ball.mass:.6f} m^2")    # 2/5 r^2
    32.8820 kg, 0.004000 m^2
    """

    radius: FloatField = quantity("m", "positive")

    def volume_properties(self) -> MassProperties:
        """Mass properties in the shape's frame at density 1."""
        square = self.radius**2 / 5
        return _diagonal(4 / 3 * pi * self.radius**3, (square, square, square))

    def volume_beyond(self, normal: np.ndarray, offsets: np.ndarray) -> MassBeyond:
        """The part beyond planes at density 1."""
        return of_ball(np.full(3, self.radius), normal, offsets)


@described
class Ellipsoid(Shape):
    """An ellipsoid centred in its frame; radii: half axes along x, y, z, m.

    >>> egg = bc.Ellipsoid((0.3, 0.2, 0.1), density=1000.0).mass_properties()
    >>> print(f"{egg.inertia[2, 2] / egg.mass:.6f} m^2, by hand {(0.3**2 + 0.2**2) / 5:.6f} m^2")
    0.026000 m^2, by hand 0.026000 m^2
    """

    radii: VectorField = vector("m", "positive")

    def volume_properties(self) -> MassProperties:
        """Mass properties in the shape's frame at density 1."""
        a, b, c = self.radii
        return _diagonal(4 / 3 * pi * a * b * c, (a * a / 5, b * b / 5, c * c / 5))

    def volume_beyond(self, normal: np.ndarray, offsets: np.ndarray) -> MassBeyond:
        """The part beyond planes at density 1."""
        return of_ball(np.asarray(self.radii), normal, offsets)


@described
class Cylinder(Shape):
    """A cylinder about z, centred in its frame; length: full length, m.

    >>> disc = bc.Cylinder(radius=0.2, length=0.05, density=7850.0).mass_properties()
    >>> print(f"{disc.inertia[2, 2] / disc.mass:.6f} m^2")    # r^2 / 2
    0.020000 m^2
    """

    radius: FloatField = quantity("m", "positive")
    length: FloatField = quantity("m", "positive")

    def volume_properties(self) -> MassProperties:
        """Mass properties in the shape's frame at density 1."""
        square = self.radius**2 / 4
        return _diagonal(pi * self.radius**2 * self.length, (square, square, self.length**2 / 12))

    def volume_beyond(self, normal: np.ndarray, offsets: np.ndarray) -> MassBeyond:
        """The part beyond planes at density 1."""
        half = self.length / 2
        return of_revolution([(-half, half, self.radius**2, 0.0, 0.0)], normal, offsets)


@described
class Capsule(Shape):
    """A cylinder about z with half balls on its ends, centred; length: of the cylinder alone, m.

    >>> pill = bc.Capsule(radius=0.1, length=0.5, density=1000.0).mass_properties()
    >>> print(f"{pill.mass:.4f} kg, by hand {1000 * np.pi * (0.1**2 * 0.5 + 4 / 3 * 0.1**3):.4f} kg")
    19.8968 kg, by hand 19.8968 kg
    """

    radius: FloatField = quantity("m", "positive")
    length: FloatField = quantity("m", "positive")

    def volume_properties(self) -> MassProperties:
        """Mass properties in the shape's frame at density 1."""
        r, half = self.radius, self.length / 2
        tube, ball = pi * r * r * self.length, 4 / 3 * pi * r**3
        # A half ball reaches from the cylinder's end at z = half outward, with <s> = 3r/8 and <s^2> = r^2/5.
        radial = tube * r * r / 4 + ball * r * r / 5
        axial = tube * half * half / 3 + ball * (half * half + 0.75 * r * half + r * r / 5)
        volume = tube + ball
        return _diagonal(volume, (radial / volume, radial / volume, axial / volume))

    def volume_beyond(self, normal: np.ndarray, offsets: np.ndarray) -> MassBeyond:
        """The part beyond planes at density 1."""
        r, half = self.radius, self.length / 2
        tube, ends = (-half, half, r * r, 0.0, 0.0), r * r - half * half
        lower, upper = (-half - r, -half, ends, -2 * half, -1.0), (half, half + r, ends, 2 * half, -1.0)
        return of_revolution([lower, tube, upper], normal, offsets)


@described
class Cone(Shape):
    """A cone about z: base of the given radius at z = -height/2, tip at z = +height/2, m.

    >>> cone = bc.Cone(radius=0.3, height=0.6, density=1000.0).mass_properties()
    >>> print(f"{cone.mass:.4f} kg, by hand {1000 * np.pi * 0.3**2 * 0.6 / 3:.4f} kg")
    56.5487 kg, by hand 56.5487 kg
    """

    radius: FloatField = quantity("m", "positive")
    height: FloatField = quantity("m", "positive")

    def volume_properties(self) -> MassProperties:
        """Mass properties in the shape's frame at density 1."""
        r, h = self.radius, self.height
        centred = _diagonal(pi * r * r * h / 3, (3 * r * r / 20, 3 * r * r / 20, 3 * h * h / 80))
        return MassProperties(centred.mass, np.array([0.0, 0.0, -h / 4]), centred.inertia)

    def volume_beyond(self, normal: np.ndarray, offsets: np.ndarray) -> MassBeyond:
        """The part beyond planes at density 1."""
        half, slope = self.height / 2, self.radius / self.height
        square = slope * slope  # radius = slope (half - z)
        return of_revolution(
            [(-half, half, square * half * half, -2 * square * half, square)], normal, offsets
        )


@described
class Plane(Shape):
    """All that lies below the plane z = 0 of its frame: a floor, a wall, an incline.

    It is infinite; size: of the square that is drawn, m. It cannot have a density.

    >>> floor = cube.replace(cube.ground, shapes=[bc.Plane(position=(0, 0, -0.6))])
    >>> touch = cube.add_force("touch", bc.Contact(stiffness=1e6), "cube", "ground")
    >>> cube.gravity = (0, 0, -9.81)
    >>> print(f"{bc.simulate(cube, 2.0).body('cube').position[-1, 2]:.3f} m")    # it falls by 0.1 m
    -0.100 m
    """

    size: FloatField = quantity("m", "positive", default=4.0)

    def _judge(self, check: Check) -> None:
        if self.density is not None:
            check.fault("a plane has no end, and so no mass", self.density, "leave the density out")

    def volume_properties(self) -> MassProperties:
        """Refused: a plane is infinite."""
        raise ValueError("a plane has no mass")


_STRAIGHT: Final = 1e-9  # sine of the least turn at a corner: the core merges faces that are flatter


def _outline(check: Check, name: str, value: Any) -> tuple[tuple[float, ...], ...]:
    noted = len(check.faults)
    points = check.array(name, value, (None, 2), "m")
    if len(check.faults) > noted:
        return ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0))
    if len(points) < 3:
        check.fault(f"{name} must have at least three corners", len(points))
    elif (fault := _first_fault(points)) is not None:
        number, text = fault
        advice = "a shape that is not convex is made of several prisms"
        check.fault(f"{name} must be convex, with corners counter-clockwise; {text}", number, advice)
    return tuple((float(x), float(y)) for x, y in points)


def _first_fault(points: np.ndarray) -> tuple[list[float], str] | None:
    """The first invalid corner of an outline, and the reason; None for a convex outline."""
    ways = np.roll(points, -1, axis=0) - points
    lengths = np.linalg.norm(ways, axis=1)
    if np.min(lengths) == 0.0:
        return points[int(np.argmin(lengths))].tolist(), "a corner is given twice"
    before, after = np.roll(ways / lengths[:, None], 1, axis=0), ways / lengths[:, None]
    sines = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]
    turns = np.arctan2(sines, np.sum(before * after, axis=1))
    if np.min(sines) < _STRAIGHT:
        return points[int(np.argmin(sines))].tolist(), "the outline does not turn left at a corner"
    if abs(np.sum(turns) - 2.0 * np.pi) > 1e-6:
        return points[0].tolist(), "the outline goes round more than once"
    return None


@described
class Prism(Shape):
    """A convex outline in the xy plane of its frame, extended along z by half the length to either side.

    outline: corners (n, 2), m, counter-clockwise, in the shape's frame, which need not be in the middle.
    length: along z, m. Several prisms on a body make an outline that is not convex.

    >>> wedge = bc.Prism([(0, 0), (0.3, 0), (0, 0.4)], length=0.5, density=1000.0)
    >>> print(f"{wedge.mass_properties().mass:.3f} kg, com {wedge.mass_properties().com.round(3).tolist()} m")
    30.000 kg, com [0.1, 0.133, 0.0] m
    """

    outline: TableField = checked(_outline, "m", parametric=True)
    length: FloatField = quantity("m", "positive")

    def corners(self) -> np.ndarray:
        """The outline as an array (n, 2), m.

        >>> wedge = bc.Prism([(0, 0), (0.3, 0), (0, 0.4)], length=0.5)
        >>> x, y = wedge.corners().T
        >>> print(f"{abs(x @ np.roll(y, 1) - y @ np.roll(x, 1)) / 2:.3f} m^2")    # half base times height
        0.060 m^2
        """
        return np.array(self.outline, dtype=float)

    def surface(self) -> tuple[np.ndarray, np.ndarray]:
        """Vertices (2 n, 3), m, the lower ones first, and triangles (4 n - 4, 3) in the shape's frame.

        >>> vertices, triangles = bc.Prism([(0, 0), (0.3, 0), (0, 0.4)], length=0.5).surface()
        >>> a, b, c = np.moveaxis(vertices[triangles], 1, 0)
        >>> area = np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2
        >>> print(f"{area:.3f} m^2, by hand {2 * 0.06 + 1.2 * 0.5:.3f} m^2")
        0.720 m^2, by hand 0.720 m^2
        """
        flat, half = self.corners(), 0.5 * self.length
        n = len(flat)
        vertices = np.vstack([np.column_stack([flat, np.full(n, z)]) for z in (-half, half)])
        here = np.arange(n)
        beyond = (here + 1) % n
        fan = np.column_stack([np.zeros(n - 2, dtype=int), here[1:-1], here[2:]])
        walls = np.vstack(
            [np.column_stack([here, beyond, n + beyond]), np.column_stack([here, n + beyond, n + here])]
        )
        return vertices, np.vstack([fan[:, ::-1], fan + n, walls]).astype(np.int32)

    def volume_properties(self) -> MassProperties:
        """Mass properties at density 1: exact integrals over the triangles of the outline."""
        flat = self.corners()
        a, b, c = np.broadcast_to(flat[0], (len(flat) - 2, 2)), flat[1:-1], flat[2:]
        one, two = b - a, c - a
        areas = 0.5 * (one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0])
        area = float(areas.sum())
        com = areas @ (a + b + c) / (3.0 * area)
        # Over a triangle the mean of p pᵀ is (Σ vᵢ vᵢᵀ + s sᵀ)/12 with the corners vᵢ and their sum s.
        corners = np.stack([a, b, c]) - com
        sums = corners.sum(axis=0)
        second = np.einsum("t,kti,ktj->ij", areas, corners, corners)
        second = (second + np.einsum("t,ti,tj->ij", areas, sums, sums)) / 12.0
        volume = area * self.length
        squares = np.zeros((3, 3))
        squares[:2, :2] = second * self.length
        squares[2, 2] = volume * self.length**2 / 12.0
        inertia = np.trace(squares) * np.eye(3) - squares
        return MassProperties(volume, np.array([*com, 0.0]), inertia)

    def volume_beyond(self, normal: np.ndarray, offsets: np.ndarray) -> MassBeyond:
        """The part beyond planes at density 1."""
        return of_surface(*self.surface(), normal, offsets)
