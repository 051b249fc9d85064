"""Rotations in arrays: unit quaternions (w, x, y, z) and rotation vectors, along the last axis."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]


def cross(a: Floats, b: Floats) -> Floats:
    """The cross product of vectors (..., 3), as `numpy.cross` computes it, which takes four times as long."""
    a, b = np.asarray(a), np.asarray(b)
    (ax, ay, az), (bx, by, bz) = ((v[..., 0], v[..., 1], v[..., 2]) for v in (a, b))
    found = np.empty(np.broadcast(a, b).shape, np.result_type(a, b))
    np.subtract(ay * bz, az * by, out=found[..., 0])
    np.subtract(az * bx, ax * bz, out=found[..., 1])
    np.subtract(ax * by, ay * bx, out=found[..., 2])
    return found


def product(p: Floats, q: Floats) -> Floats:
    """The quaternion product p q: first q, then p, as rotations of vectors. Shapes (..., 4) broadcast."""
    pw, qw = p[..., :1], q[..., :1]
    pv, qv = p[..., 1:], q[..., 1:]
    scalar = pw * qw - np.sum(pv * qv, axis=-1, keepdims=True)
    return np.asarray(np.concatenate([scalar, pw * qv + qw * pv + cross(pv, qv)], axis=-1))


def conjugate(q: Floats) -> Floats:
    """The inverse rotations of unit quaternions (..., 4)."""
    return np.asarray(q * np.array([1.0, -1.0, -1.0, -1.0]))


def rotate(q: Floats, v: Floats) -> Floats:
    """Vectors v (..., 3), given in local axes, in world axes."""
    vector = q[..., 1:]
    turned = 2.0 * cross(vector, v)
    return np.asarray(v + q[..., :1] * turned + cross(vector, turned))


def exponential(vector: Floats) -> Floats:
    """Unit quaternions (..., 4) of rotation vectors (..., 3)."""
    half = 0.5 * np.linalg.norm(vector, axis=-1, keepdims=True)
    return np.asarray(np.concatenate([np.cos(half), 0.5 * np.sinc(half / np.pi) * vector], axis=-1))


def logarithm(q: Floats) -> Floats:
    """Rotation vectors (..., 3) of norm at most pi of unit quaternions (..., 4)."""
    q = np.where(q[..., :1] < 0.0, -q, q)
    sine = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    half = np.arctan2(sine, q[..., :1])
    return np.asarray(2.0 * q[..., 1:] / np.sinc(half / np.pi))


def left_jacobian(vector: Floats, rate: Floats) -> Floats:
    """Angular velocity (..., 3) in world axes of exp(vector) for the rate of the rotation vector."""
    angle = np.linalg.norm(vector, axis=-1, keepdims=True)
    near = angle < 1e-4
    safe = np.where(near, 1.0, angle)
    first = 0.5 * np.sinc(0.5 * angle / np.pi) ** 2
    second = np.where(near, 1.0 / 6.0, (safe - np.sin(safe)) / safe**3)
    turned = cross(vector, rate)
    return np.asarray(rate + first * turned + second * cross(vector, turned))


def inverse_left_jacobian(vector: Floats, omega: Floats) -> Floats:
    """Rate (..., 3) of a rotation vector of norm below 2 pi for the angular velocity in world axes."""
    angle = np.linalg.norm(vector, axis=-1, keepdims=True)
    near = angle < 1e-3
    safe = np.where(near, 1.0, angle)
    factor = np.where(near, 1.0 / 12.0 + angle**2 / 720.0, (1.0 - 0.5 * safe / np.tan(0.5 * safe)) / safe**2)
    turned = cross(vector, omega)
    return np.asarray(omega - 0.5 * turned + factor * cross(vector, turned))


def between(
    position: Floats, rotation: Floats, way: Floats, number: NDArray[np.integer], part: Floats
) -> tuple[Floats, Floats]:
    """Poses on the screws from each of n poses to the next, (..., s, 3) and (..., s, 4).

    way: their twists, (..., n - 1, 6), as of `relative_logarithm`. number: of the screw, (s,); part: of it
    that is before, (s, 1).
    """
    move, turn = part * way[..., number, :3], part * way[..., number, 3:]
    first = rotation[..., number, :]
    return position[..., number, :] + rotate(first, left_jacobian(turn, move)), product(
        first, exponential(turn)
    )


def relative_logarithm(position: Floats, rotation: Floats) -> Floats:
    """The twists (..., n - 1, 6), translation and turn, from each of n poses to the next in unit time."""
    back = conjugate(rotation[..., :-1, :])
    turn = logarithm(product(back, rotation[..., 1:, :]))
    way = inverse_left_jacobian(turn, rotate(back, np.diff(position, axis=-2)))
    return np.asarray(np.concatenate([way, turn], axis=-1))
