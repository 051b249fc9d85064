"""Rotations of many frames at once: unit quaternions (w, x, y, z), rotation vectors, along the last axis."""

from __future__ import annotations

import numpy as np

from bellcrank.trajectory.store import FloatArray


def product(p: FloatArray, q: FloatArray) -> FloatArray:
    """The quaternion product p q: first q, then p, as rotations of vectors. Shapes (..., 4) broadcast."""
    pw, qw = p[..., :1], q[..., :1]
    pv, qv = p[..., 1:], q[..., 1:]
    scalar = pw * qw - np.sum(pv * qv, axis=-1, keepdims=True)
    result: FloatArray = np.concatenate([scalar, pw * qv + qw * pv + np.cross(pv, qv)], axis=-1)
    return result


def conjugate(q: FloatArray) -> FloatArray:
    """The inverse rotations of unit quaternions (..., 4)."""
    inverse: FloatArray = q * np.array([1.0, -1.0, -1.0, -1.0])
    return inverse


def rotate(q: FloatArray, v: FloatArray) -> FloatArray:
    """Vectors v (..., 3), given in local axes, in world axes."""
    vector = q[..., 1:]
    turned = 2.0 * np.cross(vector, v)
    result: FloatArray = v + q[..., :1] * turned + np.cross(vector, turned)
    return result


def exponential(vector: FloatArray) -> FloatArray:
    """Unit quaternions (..., 4) of rotation vectors (..., 3)."""
    half = 0.5 * np.linalg.norm(vector, axis=-1, keepdims=True)
    result: FloatArray = np.concatenate([np.cos(half), 0.5 * np.sinc(half / np.pi) * vector], axis=-1)
    return result


def logarithm(q: FloatArray) -> FloatArray:
    """Rotation vectors (..., 3) of norm at most pi of unit quaternions (..., 4)."""
    q = np.where(q[..., :1] < 0.0, -q, q)
    sine = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    half = np.arctan2(sine, q[..., :1])
    vector: FloatArray = 2.0 * q[..., 1:] / np.sinc(half / np.pi)
    return vector


def left_jacobian(vector: FloatArray, rate: FloatArray) -> FloatArray:
    """Angular velocity (..., 3) in world axes of exp(vector) for the rate of the rotation vector."""
    angle = np.linalg.norm(vector, axis=-1, keepdims=True)
    near = angle < 1e-4
    safe = np.where(near, 1.0, angle)
    first = 0.5 * np.sinc(0.5 * angle / np.pi) ** 2
    second = np.where(near, 1.0 / 6.0, (safe - np.sin(safe)) / safe**3)
    turned = np.cross(vector, rate)
    omega: FloatArray = rate + first * turned + second * np.cross(vector, turned)
    return omega


def inverse_left_jacobian(vector: FloatArray, omega: FloatArray) -> FloatArray:
    """Rate (..., 3) of a rotation vector of norm below 2 pi for the angular velocity in world axes."""
    angle = np.linalg.norm(vector, axis=-1, keepdims=True)
    near = angle < 1e-3
    safe = np.where(near, 1.0, angle)
    factor = np.where(near, 1.0 / 12.0 + angle**2 / 720.0, (1.0 - 0.5 * safe / np.tan(0.5 * safe)) / safe**2)
    turned = np.cross(vector, omega)
    rate: FloatArray = omega - 0.5 * turned + factor * np.cross(vector, turned)
    return rate
