"""Rotations of the description: unit quaternions (w, x, y, z), local to world, as plain tuples.

Only what placement and description require; the dynamics has its own frame algebra in C++.
"""

from __future__ import annotations

from math import hypot
from typing import Any

import numpy as np

from bellcrank.expression import functions
from bellcrank.mechanism.checking import Quat, Vec3
from bellcrank.mechanism.parametric import is_expression, quiet

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
    """The unit quaternion, w >= 0, of a rotation matrix (3, 3) (Shepperd: by the largest component)."""
    trace = float(np.trace(r))
    squares = np.array([trace, r[0, 0], r[1, 1], r[2, 2]])
    k = int(np.argmax(squares))
    if k == 0:
        q = np.array([1 + trace, r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]])
    else:
        i, j, m = k - 1, k % 3, (k + 1) % 3
        q = np.empty(4)
        q[0] = r[m, j] - r[j, m]
        q[1 + i] = 1 + r[i, i] - r[j, j] - r[m, m]
        q[1 + j] = r[j, i] + r[i, j]
        q[1 + m] = r[m, i] + r[i, m]
    q /= np.linalg.norm(q)
    w, x, y, z = (q if q[0] >= 0 else -q).tolist()
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
