"""Rotations in the ways that people give them."""

from __future__ import annotations

from math import cos, sin
from typing import Any, Final

from bellcrank.mechanism.checking import Check, Quat, Vec3
from bellcrank.mechanism.rotation import IDENTITY, from_rotation_vector, multiply, unit

_AXES: Final[dict[Any, Vec3]] = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def rotation(
    axis: Any = None, angle: Any = None, *, rpy: Any = None, vector: Any = None, matrix: Any = None
) -> Quat:
    """A rotation as a unit quaternion (w, x, y, z), as all `rotation=` arguments take it.

    axis, angle: a vector of any length, or "x", "y" or "z", and rad; or instead one of
    rpy: roll, pitch, yaw, rad: turns about the fixed axes x, then y, then z, as URDF has them.
    vector: the rotation vector (axis times angle), rad.
    matrix: (3, 3), whose columns are the turned axes.

    >>> bc.rotation("z", 0.5 * math.pi)     # carries x to y

    Raises MechanismError for anything else.
    """
    with Check("rotation") as check:
        given = {"axis": axis, "rpy": rpy, "vector": vector, "matrix": matrix}
        named = [name for name, value in given.items() if value is not None]
        if len(named) != 1 or (angle is None) is (axis is not None):
            check.fault("give axis and angle, or rpy, or vector, or matrix", None, 'such as ("z", 0.5)')
            return IDENTITY
        if matrix is not None:
            return check.quaternion("matrix", matrix)
        if rpy is not None:
            turns = zip(_AXES.values(), check.vector("rpy", rpy), strict=True)
            x, y, z = (_turn(about, amount) for about, amount in turns)
            return unit(multiply(z, multiply(y, x)))
        if vector is not None:
            return from_rotation_vector(check.vector("vector", vector))
        about = _AXES[axis] if isinstance(axis, str) and axis in _AXES else check.axis("axis", axis)
        return unit(_turn(about, check.number("angle", angle, "rad")))


def _turn(axis: Vec3, angle: float) -> Quat:
    s = sin(0.5 * angle)
    return (cos(0.5 * angle), s * axis[0], s * axis[1], s * axis[2])
