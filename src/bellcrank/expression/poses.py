"""Rotations and rigid transforms of expressions.

A transform keeps the elementary factors from which it was made: formulations can make better use of a
rotation about a known axis than of nine formulas.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from bellcrank.expression.arrays import Matrix, Vector, cross
from bellcrank.expression.expression import Expression, Scalar, as_expression
from bellcrank.expression.functions import cos, piecewise, sin, sqrt
from bellcrank.overloads import overload

Axis: TypeAlias = Literal["x", "y", "z"]
_INDEX = {"x": 0, "y": 1, "z": 2}


class Rotation(Matrix):
    """A rotation matrix, local to outer axes; its transpose is its inverse.

    >>> q = bc.symbol("q")
    >>> turn = bc.expression.rotation_z(q)
    >>> turn @ bc.expression.Vector((1, 0, 0))
    Vector(cos(q), sin(q), 0)
    """

    __slots__ = ()

    @property
    def T(self) -> Rotation:  # noqa: N802 (the word of the field)
        """The inverse."""
        return Rotation(self.columns)

    @overload  # type: ignore[override]
    def __matmul__(self, other: Rotation) -> Rotation: ...
    @overload
    def __matmul__(self, other: Matrix) -> Matrix: ...
    @overload
    def __matmul__(self, other: Iterable[Scalar]) -> Vector: ...
    def __matmul__(self, other: Matrix | Iterable[Scalar]) -> Matrix | Vector:
        product = super().__matmul__(other)
        return Rotation(product) if isinstance(product, Matrix) and isinstance(other, Rotation) else product


@dataclass(frozen=True)
class Turn:
    """An elementary rotation about a coordinate axis. angle: rad."""

    axis: Axis
    angle: Expression


@dataclass(frozen=True)
class Shift:
    """A translation. offset: m."""

    offset: Vector


@dataclass(frozen=True)
class General:
    """Any rigid transform, given by its formulas."""

    rotation: Rotation
    offset: Vector


Factor: TypeAlias = Turn | Shift | General


def _elementary(axis: Axis, angle: Scalar) -> Rotation:
    c, s = cos(angle), sin(angle)
    i = _INDEX[axis]
    rows = [[as_expression(float(row == column)) for column in range(3)] for row in range(3)]
    j, k = (i + 1) % 3, (i + 2) % 3
    rows[j][j], rows[j][k], rows[k][j], rows[k][k] = c, -s, s, c
    return Rotation(rows)


class Transform:
    """A rigid transform: p in local axes becomes `rotation @ p + position` in the outer ones.

    `a @ b` applies b first; `a @ p` transforms a point. factors: elementary transforms whose product it is,
    if known.

    >>> q = bc.symbol("q")
    >>> crank = bc.expression.rotation_z(q) @ bc.expression.translation(2, 0, 0)
    >>> crank.position
    Vector(2*cos(q), 2*sin(q), 0)
    """

    __slots__ = ("_factors", "_position", "_rotation")

    def __init__(
        self,
        rotation: Iterable[Iterable[Scalar]] | None = None,
        position: Iterable[Scalar] = (0.0, 0.0, 0.0),
        *,
        factors: tuple[Factor, ...] | None = None,
    ) -> None:
        self._rotation = Rotation(_identity() if rotation is None else rotation)
        self._position = Vector(position)
        if self._rotation.shape != (3, 3) or len(self._position) != 3:
            raise ValueError("a rigid transform has a rotation (3, 3) and a position (3,)")
        if factors is not None:
            self._factors = factors
        elif rotation is None:
            self._factors = (Shift(self._position),)
        else:
            self._factors = (General(self._rotation, self._position),)

    @property
    def rotation(self) -> Rotation:
        """Local to outer axes."""
        return self._rotation

    @property
    def position(self) -> Vector:
        """The local origin in outer axes, m."""
        return self._position

    @property
    def factors(self) -> tuple[Factor, ...]:
        """Elementary transforms whose product this is, from the outside in."""
        return self._factors

    @overload
    def __matmul__(self, other: Transform) -> Transform: ...
    @overload
    def __matmul__(self, other: Iterable[Scalar]) -> Vector: ...
    def __matmul__(self, other: Transform | Iterable[Scalar]) -> Transform | Vector:
        if isinstance(other, Transform):
            return Transform(
                self.rotation @ other.rotation,
                self.rotation @ other.position + self.position,
                factors=self.factors + other.factors,
            )
        return self.rotation @ other + self.position

    def inverse(self) -> Transform:
        """The inverse of this transform.

        >>> there = bc.expression.translation(1, 2, 3)
        >>> (there @ there.inverse()).position
        Vector(0, 0, 0)
        """
        rotation = self.rotation.T
        factors = tuple(_inverse(factor) for factor in reversed(self.factors))
        return Transform(rotation, -(rotation @ self.position), factors=factors)

    def __repr__(self) -> str:
        return f"Transform({self.rotation!r}, {self.position!r})"


def _inverse(factor: Factor) -> Factor:
    if isinstance(factor, Turn):
        return Turn(factor.axis, -factor.angle)
    if isinstance(factor, Shift):
        return Shift(-factor.offset)
    rotation = factor.rotation.T
    return General(rotation, -(rotation @ factor.offset))


def _identity() -> list[list[float]]:
    return [[float(row == column) for column in range(3)] for row in range(3)]


def _turn(axis: Axis, angle: Scalar) -> Transform:
    factor = Turn(axis, as_expression(angle))
    return Transform(_elementary(axis, angle), factors=(factor,))


def rotation_x(angle: Scalar) -> Transform:
    """A rotation about x. angle: rad.

    >>> q = bc.symbol("q")
    >>> bc.expression.rotation_x(q) @ bc.expression.Vector((0, 1, 0))
    Vector(0, cos(q), sin(q))
    """
    return _turn("x", angle)


def rotation_y(angle: Scalar) -> Transform:
    """A rotation about y. angle: rad.

    >>> q = bc.symbol("q")
    >>> bc.expression.rotation_y(q) @ bc.expression.Vector((0, 0, 1))
    Vector(sin(q), 0, cos(q))
    """
    return _turn("y", angle)


def rotation_z(angle: Scalar) -> Transform:
    """A rotation about z. angle: rad.

    >>> q = bc.symbol("q")
    >>> bc.expression.rotation_z(q) @ bc.expression.Vector((1, 0, 0))
    Vector(cos(q), sin(q), 0)
    """
    return _turn("z", angle)


def translation(x: Scalar, y: Scalar, z: Scalar) -> Transform:
    """A translation, m.

    >>> (bc.expression.translation(1, 0, 0) @ bc.expression.translation(0, 2, 0)).position
    Vector(1, 2, 0)
    """
    return Transform(position=(x, y, z))


def rotation_about(axis: Iterable[float], angle: Scalar) -> Transform:
    """A rotation about a constant axis of any length. angle: rad. Raises ValueError for a zero axis.

    >>> q = bc.symbol("q")
    >>> bc.expression.rotation_about((0, 0, 1), q) @ bc.expression.Vector((1, 0, 0))
    Vector(cos(q), sin(q), 0)
    """
    numbers = [float(a) for a in axis]
    length = sum(a * a for a in numbers) ** 0.5
    if len(numbers) != 3 or not length > 0.0:
        raise ValueError(f"an axis is a vector of three numbers that are not all zero, got {numbers}")
    n = Vector(a / length for a in numbers)
    return Transform(_rodrigues(n, sin(angle), 1.0 - cos(angle)))


def _rodrigues(n: Vector, sine: Scalar, versine: Scalar) -> Rotation:
    """1 + sine n~ + versine n~ n~ for a vector n (unit with the sine and 1 - cos of the angle)."""
    columns = []
    for column in _identity():
        turned = cross(n, column)
        columns.append(Vector(column) + turned * sine + cross(n, turned) * versine)
    return Rotation(zip(*columns, strict=True))


def rotation_from_vector(vector: Iterable[Scalar]) -> Transform:
    """The rotation about a vector by its length, rad; smooth everywhere, including the zero vector.

    With a = |v|: 1 + (sin a / a) v~ + ((1 - cos a) / a²) v~ v~, and the series of both factors near a = 0.

    >>> quarter = bc.expression.rotation_from_vector((0, 0, np.pi / 2)) @ bc.expression.Vector((1, 0, 0))
    >>> [round(float(part), 6) for part in quarter]    # x is carried to y
    [0.0, 1.0, 0.0]
    """
    v = Vector(vector)
    square = v @ v
    near = square < 1e-4  # the next terms of the series are below rounding there
    safe = piecewise(near, 1.0, square)
    angle = sqrt(safe)
    sine = piecewise(near, _series(square, (1.0, -1 / 6, 1 / 120, -1 / 5040, 1 / 362880)), sin(angle) / angle)
    half = sin(0.5 * angle)
    versine = piecewise(
        near, _series(square, (0.5, -1 / 24, 1 / 720, -1 / 40320, 1 / 3628800)), 2.0 * half * half / safe
    )
    return Transform(_rodrigues(v, sine, versine))


def _series(x: Expression, coefficients: tuple[float, ...]) -> Expression:
    result = Expression(0.0)
    for coefficient in reversed(coefficients):
        result = result * x + coefficient
    return result


def rotation_from_quaternion(quaternion: Iterable[Scalar]) -> Transform:
    """The rotation of a quaternion (w, x, y, z), scalar first, of any length except zero.

    >>> bc.expression.rotation_from_quaternion((0, 0, 0, 1)) @ bc.expression.Vector((1, 0, 0))
    Vector(-1, 0, 0)
    """
    w, x, y, z = (as_expression(a) for a in quaternion)
    s = 2.0 / (w * w + x * x + y * y + z * z)
    return Transform(
        [
            [1.0 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)],
            [s * (x * y + w * z), 1.0 - s * (x * x + z * z), s * (y * z - w * x)],
            [s * (x * z - w * y), s * (y * z + w * x), 1.0 - s * (x * x + y * y)],
        ]
    )
