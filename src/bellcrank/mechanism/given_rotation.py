"""Rotations in the usual forms of input."""

from __future__ import annotations

from math import cos, sin
from typing import Any, Final

from bellcrank.mechanism.checking import Check, Quat, Vec3
from bellcrank.mechanism.given import Axis, Number, Numbers
from bellcrank.mechanism.marker import named_axis, orientation
from bellcrank.mechanism.parametric import holds_expressions
from bellcrank.mechanism.quantities import in_si
from bellcrank.mechanism.rotation import IDENTITY, about, direction, from_rotation_vector, multiply, unit

_AXES: Final[tuple[Vec3, ...]] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def rotation(
    axis: Axis | None = None,
    angle: Number | None = None,
    *,
    rpy: Numbers | None = None,
    vector: Numbers | None = None,
    matrix: Any = None,
    x_axis: Axis | None = None,
    y_axis: Axis | None = None,
    z_axis: Axis | None = None,
) -> Quat:
    """Make a rotation as a unit quaternion (w, x, y, z), the form of all `rotation=` arguments.

    axis, angle: a vector of any length, or "x", "-y", ..., and rad; or instead one of
    rpy: roll, pitch, yaw, rad: rotations about the fixed axes x, then y, then z, as in URDF.
    vector: the rotation vector (axis times angle), rad.
    matrix: (3, 3), whose columns are the rotated axes.
    x_axis, y_axis, z_axis: one or two of the rotated axes; for one alone, the shortest rotation is used.

    >>> bc.rotation("z", "90 deg")     # carries x to y

    Raises MechanismError for anything else.
    """
    axes = {"x_axis": x_axis, "y_axis": y_axis, "z_axis": z_axis}
    if any(value is not None for value in axes.values()):
        with Check("rotation") as check:
            if any(value is not None for value in (axis, angle, rpy, vector, matrix)):
                check.fault("the orientation is given twice", None, "give axes, and nothing else")
        return orientation("rotation", **axes)
    with Check("rotation") as check:
        given = {"axis": axis, "rpy": rpy, "vector": vector, "matrix": matrix}
        named = [name for name, value in given.items() if value is not None]
        if len(named) != 1 or (angle is None) is (axis is not None):
            rule = "give axis and angle, or rpy, or vector, or matrix, or axes"
            check.fault(rule, None, 'such as ("z", 0.5)')
            return IDENTITY
        if matrix is not None:
            return check.quaternion("matrix", matrix)
        if rpy is not None:
            turns = zip(_AXES, check.vector("rpy", rpy, "rad"), strict=True)
            x, y, z = (_turn(one, amount) for one, amount in turns)
            return unit(multiply(z, multiply(y, x)))
        if vector is not None:
            return from_rotation_vector(check.vector("vector", vector, "rad"))
        direct, turned = named_axis(axis), in_si(check, "angle", angle, ("rad",))
        if holds_expressions((direct, turned)):
            orientation("rotation", axis=direct)
            return about(direction(direct), turned)
        return unit(_turn(check.axis("axis", direct), check.number("angle", turned, "rad")))


def _turn(axis: Vec3, angle: float) -> Quat:
    s = sin(0.5 * angle)
    return (cos(0.5 * angle), s * axis[0], s * axis[1], s * axis[2])
