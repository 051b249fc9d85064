"""Frames along curves and on surfaces that are given by formulas.

Source: B. Guenter, S.-H. Lee, Symbolic Lagrangian multibody dynamics (joints on curves and surfaces).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from bellcrank.expression.arrays import Vector
from bellcrank.expression.derivatives import derivative
from bellcrank.expression.expression import Expression
from bellcrank.expression.functions import cos, sin
from bellcrank.expression.poses import (
    Factor,
    Rotation,
    Shift,
    Transform,
    Turn,
    rotation_x,
    rotation_y,
    rotation_z,
    translation,
)

Surface: TypeAlias = tuple[Sequence[Expression], Sequence[Expression]]
"""The formulas of x, y and z, and the two parameters."""


def transform_of(factors: Iterable[Factor]) -> Transform:
    """The product of factors, from the outside in."""
    turns = {"x": rotation_x, "y": rotation_y, "z": rotation_z}
    result = Transform(factors=())
    for factor in factors:
        if isinstance(factor, Turn):
            result = result @ turns[factor.axis](factor.angle)
        elif isinstance(factor, Shift):
            result = result @ translation(*factor.offset)
        else:
            result = result @ Transform(factor.rotation, factor.offset)
    return result


def _along(formulas: Iterable[Expression], symbol: Expression) -> Vector:
    return Vector([derivative(formula, symbol) for formula in formulas])


def _frame(x: Vector, y: Vector, z: Vector, origin: Iterable[Expression]) -> Transform:
    return Transform(Rotation([[x[i], y[i], z[i]] for i in range(3)]), origin)


def path_frame(curve: Sequence[Expression], parameter: Expression, up: Sequence[float] | None) -> Transform:
    """The frame of a curve: x along the tangent; the Frenet frame, or z towards `up`."""
    velocity = _along(curve, parameter)
    x = velocity.normalized()
    if up is None:
        z = velocity.cross(_along(velocity, parameter)).normalized()
    else:
        upward = Vector(up)
        z = (upward - x * upward.dot(x)).normalized()
    return _frame(x, z.cross(x), z, curve)


def surface_frame(
    surface: Sequence[Expression], parameters: Sequence[Expression], spin: Expression | None
) -> Transform:
    """The frame of a surface: x along the first parameter, z the normal; turned about it by the spin."""
    first, second = (_along(surface, symbol) for symbol in parameters)
    x, z = first.normalized(), first.cross(second).normalized()
    frame = _frame(x, z.cross(x), z, surface)
    return frame if spin is None else frame @ rotation_z(spin)


def face_to_face() -> Transform:
    """Half a turn about x: the normals of touching surfaces point against each other."""
    return Transform([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]])


def rolling_conditions(
    one: Surface, two: Surface, spin: Expression | None, coordinates: Sequence[Expression]
) -> tuple[tuple[Expression, ...], ...]:
    """Two rows of factors of the coordinates' rates, whose sums are zero if nothing slides.

    The point of contact moves over both surfaces with the same velocity; the rows are its components along x
    and y of the contact frame.
    """
    frame_1 = surface_frame(*one, spin).rotation
    frame_2 = surface_frame(*two, None).rotation @ face_to_face().rotation.T
    speeds: dict[Expression, Vector] = {}
    for (surface, parameters), frame, sign in ((one, frame_1, 1.0), (two, frame_2, -1.0)):
        for symbol in parameters:
            speeds[symbol] = frame.T @ _along(surface, symbol) * sign
    still = Vector(0.0, 0.0, 0.0)
    return tuple(tuple(speeds.get(symbol, still)[row] for symbol in coordinates) for row in range(2))


def upright() -> Transform:
    """A quarter turn about x: the y axis of a curve's frame stands along the normal of a surface."""
    return Transform([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])


def curve_rolling_conditions(
    surface: Surface,
    curve: tuple[Sequence[Expression], Expression],
    heading: Expression,
    coordinates: Sequence[Expression],
) -> tuple[tuple[Expression, ...], ...]:
    """Two rows of factors of the coordinates' rates, whose sums are zero if a curve rolls.

    The point of contact moves over the surface as fast as along the curve; the rows are the components of the
    difference along the curve's tangent and across it.
    """
    frame = surface_frame(*surface, heading).rotation
    speeds = {symbol: frame.T @ _along(surface[0], symbol) for symbol in surface[1]}
    speeds[curve[1]] = Vector(-_along(*curve).norm(), 0.0, 0.0)
    still = Vector(0.0, 0.0, 0.0)
    return tuple(tuple(speeds.get(symbol, still)[row] for symbol in coordinates) for row in range(2))


def relative_curvature(
    surface: Surface,
    curve: tuple[Sequence[Expression], Expression],
    up: Sequence[float] | None,
    heading: Expression,
    lean: Expression,
) -> Expression:
    """Curvature of a curve along the normal of a surface, less that of the surface along the curve."""
    formulas, parameters = surface
    frame = surface_frame(formulas, parameters, None).rotation
    first, second = (frame.T @ _along(formulas, symbol) for symbol in parameters)
    across = sin(heading) / second[1]  # rates of the parameters for unit speed along the heading
    rates = [(cos(heading) - second[0] * across) / first[0], across]
    bending = sum(
        (
            rates[i] * rates[j] * (frame.T @ _along(_along(formulas, one), other))[2]
            for i, one in enumerate(parameters)
            for j, other in enumerate(parameters)
        ),
        start=Expression(0.0),
    )
    velocity = _along(*curve)
    turning = path_frame(*curve, up).rotation.T @ _along(velocity, curve[1])
    return (turning[1] * cos(lean) - turning[2] * sin(lean)) / velocity.dot(velocity) - bending
