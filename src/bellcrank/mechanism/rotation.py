"""Rotations: unit quaternions, and the forms of input that make them."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, hypot, sin
from typing import Any, Final
from warnings import warn

import numpy as np

from bellcrank.errors import HintWarning, MechanismError
from bellcrank.expression import functions
from bellcrank.mechanism.checking import UNIT_TOLERANCE, Check, Quat, Vec3, plain_quaternion, rounded
from bellcrank.mechanism.given import Axis, Number, Numbers
from bellcrank.mechanism.parameters import holds_expressions, is_expression, present, quiet
from bellcrank.mechanism.units import degrees_text, in_degrees, in_si
from bellcrank.slips import answered

IDENTITY: Quat = (1.0, 0.0, 0.0, 0.0)


def multiply(p: Quat, q: Quat) -> Quat:
    """The quaternion product p q: first q, then p, as rotations of vectors."""
    a, b, c, d = p
    w, x, y, z = q
    return (
        a * w - b * x - c * y - d * z,
        a * x + b * w + c * z - d * y,
        a * y - b * z + c * w + d * x,
        a * z + b * y - c * x + d * w,
    )


def conjugate(q: Quat) -> Quat:
    """The inverse rotation of a unit quaternion."""
    return (q[0], -q[1], -q[2], -q[3])


def matrix(q: Quat) -> np.ndarray:
    """The (3, 3) rotation matrix of a unit quaternion; its columns are the local axes in world axes."""
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def rotate(q: Quat, v: Vec3) -> Vec3:
    """The vector v, given in local axes, in world axes."""
    if q == IDENTITY:
        return v
    with quiet():
        x, y, z = (matrix(q) @ np.asarray(v)).tolist()
    return (x, y, z)


def unit(q: Quat) -> Quat:
    """The quaternion scaled to norm one."""
    norm = sum(x * x for x in q) ** 0.5 if any(map(is_expression, q)) else hypot(*q)
    return (q[0] / norm, q[1] / norm, q[2] / norm, q[3] / norm)


def direction(v: Vec3) -> Vec3:
    """The unit vector along v, numbers or expressions; v is not zero."""
    if any(map(is_expression, v)):
        norm = sum(x * x for x in v) ** 0.5
        return (v[0] / norm, v[1] / norm, v[2] / norm)
    largest = max(map(abs, v))
    norm = hypot(*(x / largest for x in v))
    return (v[0] / largest / norm, v[1] / largest / norm, v[2] / largest / norm)


def from_matrix(r: np.ndarray) -> Quat:
    """The unit quaternion, w >= 0, of a rotation matrix (3, 3) (Shepperd: by the largest component).

    Of expressions the component is chosen, and its sign, at present values: others are near these.
    """
    trace = np.trace(r)
    squares = present((trace, r[0, 0], r[1, 1], r[2, 2]))
    k = int(np.argmax(squares))
    if k == 0:
        q = [1 + trace, r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]]
    else:
        i, j, m = k - 1, k % 3, (k + 1) % 3
        q = [r[m, j] - r[j, m], 0.0, 0.0, 0.0]
        q[1 + i] = 1 + r[i, i] - r[j, j] - r[m, m]
        q[1 + j] = r[j, i] + r[i, j]
        q[1 + m] = r[m, i] + r[i, m]
    norm = np.linalg.norm(q) if r.dtype != object else sum(x * x for x in q) ** 0.5
    sign = 1.0 if present(q[0]) >= 0.0 else -1.0
    w, x, y, z = (np.array(q) * sign / norm).tolist()
    return (w, x, y, z)


def between(a: Vec3, b: Vec3) -> Quat:
    """The shortest rotation that carries the unit vector a onto the unit vector b.

    For opposite vectors the half turn is about the coordinate axis following that of the largest component
    of a, made perpendicular to a, so that the result is reproducible.
    """
    w = 1.0 + a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    if not is_expression(w) and w < 1e-4:  # where its digits cancel: a half turn to -a, and from there to b
        u = np.asarray(a, dtype=float)
        opposite = w < 1e-14
        helper = np.eye(3)[(int(np.argmax(np.abs(u))) + 1) % 3] if opposite else np.cross(u, b)
        axis = helper - (helper @ u) * u
        x, y, z = (axis / np.linalg.norm(axis)).tolist()
        return multiply(between((-a[0], -a[1], -a[2]), b), (0.0, x, y, z))
    return unit((w, a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]))


def about(axis: Vec3, angle: float) -> Quat:
    """The rotation about a unit axis by an angle in rad."""
    if is_expression(angle) or any(map(is_expression, axis)):
        cosine: Any = functions.cos(0.5 * angle)
        sine: Any = functions.sin(0.5 * angle)
        return (cosine, sine * axis[0], sine * axis[1], sine * axis[2])
    return from_rotation_vector((angle * axis[0], angle * axis[1], angle * axis[2]))


def from_rotation_vector(vector: Vec3) -> Quat:
    """The unit quaternion of a rotation vector (axis times angle in rad)."""
    v = np.asarray(vector, dtype=float)
    angle = float(np.linalg.norm(v))
    x, y, z = (0.5 * np.sinc(angle / (2 * np.pi)) * v).tolist()
    return unit((float(np.cos(angle / 2)), x, y, z))


_UNIT_AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
_NAMED_AXES: Final[dict[str, Vec3]] = {
    f"{sign}{name}": (factor * x, factor * y, factor * z)
    for name, (x, y, z) in zip("xyz", _UNIT_AXES, strict=True)
    for sign, factor in (("", 1.0), ("+", 1.0), ("-", -1.0))
}


@answered
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

    Raises MechanismError for anything else.

    >>> np.round(bc.rotation("z", "90 deg"), 6).tolist()    # (w, x, y, z): carries x to y
    [0.707107, 0.0, 0.0, 0.707107]
    >>> marker = cube.bodies["cube"].marker(rotation=bc.rotation("z", "90 deg"))
    >>> np.round(marker.x_axis, 6).tolist()
    [0.0, 1.0, 0.0]
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
            angles = check.vector("rpy", rpy, "rad")
            if len(check.faults) == 0:
                _warn_of_degrees("rpy", angles, rpy)
            turns = zip(_UNIT_AXES, angles, strict=True)
            x, y, z = (_turn(one, amount) for one, amount in turns)
            return unit(multiply(z, multiply(y, x)))
        if vector is not None:
            return from_rotation_vector(check.vector("vector", vector, "rad"))
        direct, turned = named_axis(axis), in_si(check, "angle", angle, ("rad",))
        if holds_expressions((direct, turned)):
            orientation("rotation", axis=direct)
            return about(direction(direct), turned)
        number = check.number("angle", turned, "rad")
        _warn_of_degrees("angle", (number,), (angle,))
        return unit(_turn(check.axis("axis", direct), number))


def _warn_of_degrees(name: str, angles: Sequence[float], given: Any) -> None:
    """Warn of bare numbers that look like degrees. angles: rad. given: the same as they were given."""
    for value, written in zip(angles, given, strict=True):
        if not isinstance(written, str) and in_degrees(value):
            warn(f"rotation: {name}: {degrees_text(value)}", HintWarning, stacklevel=4)


def _turn(axis: Vec3, angle: float) -> Quat:
    s = sin(0.5 * angle)
    return (cos(0.5 * angle), s * axis[0], s * axis[1], s * axis[2])


def named_axis(value: Any) -> Any:
    """The direction of a name such as "x" or "-z"; anything else is returned unchanged."""
    return _NAMED_AXES.get(value, value) if isinstance(value, str) else value


def orientation(
    element: str,
    rotation: Any = None,
    axis: Any = None,
    x_axis: Any = None,
    y_axis: Any = None,
    z_axis: Any = None,
) -> Quat:
    """The quaternion of a frame given by a quaternion, or by one or two of its axes.

    Axes are vectors or names, such as "x" and "-z". `axis` is an alias of `z_axis`. For one axis alone, the
    shortest rotation from the reference frame is used; two must be perpendicular. The length of an axis does
    not matter. If nothing is given, the frame is the reference frame.

    Raises MechanismError for axes that are zero or not perpendicular, a quaternion that is not a unit
    quaternion, and for redundant arguments.
    """
    axis, x_axis, y_axis, z_axis = map(named_axis, (axis, x_axis, y_axis, z_axis))
    if axis is None and x_axis is None and y_axis is None and z_axis is None:
        if rotation is None:
            return IDENTITY
        if (plain := plain_quaternion(rotation)) is not None:
            return plain
    if holds_expressions((rotation, axis, x_axis, y_axis, z_axis)):
        return _parametric_orientation(element, rotation, axis, x_axis, y_axis, z_axis)
    if axis is not None and z_axis is not None:
        raise MechanismError.of(element, "axis and z_axis mean the same", advice="give one of them")
    named = {"x_axis": x_axis, "y_axis": y_axis, "z_axis": z_axis if axis is None else axis}
    given = {name: value for name, value in named.items() if value is not None}
    with Check(element) as check:
        if rotation is not None:
            if given:
                check.fault("the orientation is given twice", sorted(given), "give either rotation or axes")
            return check.quaternion("rotation", rotation)
        if len(given) > 2:
            check.fault("two axes determine a frame", sorted(given), "leave one of the three out")
        axes = {
            "xyz".index(name[0]): check.axis("axis" if name == "z_axis" and axis is not None else name, value)
            for name, value in given.items()
        }
    if len(axes) == 1:
        ((index, vector),) = axes.items()
        return between(_UNIT_AXES[index], vector)
    return _from_two_axes(element, axes)


def _parametric_orientation(element: str, *given: Any) -> Quat:
    """A rotation given by expressions of parameters: a quaternion, or one axis."""
    orientation(element, *map(present, given))
    named = {place: value for place, value in enumerate(given) if value is not None}
    if len(named) > 1:
        advice = "give one axis, or a quaternion"
        raise MechanismError.of(element, "two axes must be numbers", None, advice)
    ((place, value),) = named.items()
    if place == 0:
        w, x, y, z = value
        return (w, x, y, z)
    x, y, z = value
    return between(_UNIT_AXES[(2, 0, 1, 2)[place - 1]], direction((x, y, z)))


def _from_two_axes(element: str, axes: dict[int, Vec3]) -> Quat:
    (first, a), (second, b) = ((index, np.asarray(vector)) for index, vector in axes.items())
    square = b - (a @ b) * a
    length = float(np.linalg.norm(square))
    if abs(float(a @ b)) > UNIT_TOLERANCE:
        names = f"{'xyz'[first]}_axis and {'xyz'[second]}_axis"
        advice = (
            f"a perpendicular {'xyz'[second]}_axis is {rounded(square / length)}" if length > 1e-9 else ""
        )
        raise MechanismError.of(element, f"{names} must be perpendicular", (a.tolist(), b.tolist()), advice)
    columns = np.zeros((3, 3))
    columns[:, first], columns[:, second] = a, square / length
    third = 3 - first - second
    cyclic = (first + 1) % 3 == second
    columns[:, third] = np.cross(columns[:, first], columns[:, second]) * (1.0 if cyclic else -1.0)
    return from_matrix(columns)
