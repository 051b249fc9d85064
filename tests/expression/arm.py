"""Inverse dynamics of a serial arm of hinges as expressions: Newton–Euler in Denavit–Hartenberg frames.

Frame i has z along hinge i and comes from frame i − 1 by a turn about x, translations along x and z, and the
hinge's turn about z, the two turns applied one after the other. Mass properties are (m, m c, ∫ r rᵀ dm) about
the origin of the frame; U = ω̇~ + ω~ ω~.
"""

from __future__ import annotations

import numpy as np

from bellcrank import expression as ex
from bellcrank.expression import Expression, Vector


def _turn_x(alpha: float, v: Vector, sign: float) -> Vector:
    c, s = np.cos(alpha), sign * np.sin(alpha)
    c, s = (0.0 if abs(value) < 1e-12 else float(value) for value in (c, s))
    return Vector(v.x, c * v.y - s * v.z, s * v.y + c * v.z)


def _turn_z(q: Expression, v: Vector, sign: float) -> Vector:
    c, s = ex.cos(q), sign * ex.sin(q)
    return Vector(c * v.x - s * v.y, s * v.x + c * v.y, v.z)


class Arm:
    """n hinges with the twists alpha and arms r (in the frame before) and random full mass properties."""

    def __init__(self, alphas: list[float], seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.alphas = alphas
        n = len(alphas)
        lengths, offsets = rng.uniform(0.1, 0.5, n), rng.uniform(0.1, 0.5, n)
        self.arms = [
            Vector(a, -np.sin(alpha) * d, np.cos(alpha) * d)
            for a, d, alpha in zip(lengths, offsets, alphas, strict=True)
        ]
        self.masses = rng.uniform(1.0, 3.0, n)
        self.moments = rng.uniform(-0.3, 0.3, (n, 3))
        spread = rng.uniform(-0.3, 0.3, (n, 3, 3))
        self.second = np.einsum("nij,nkj->nik", spread, spread) + 0.1 * np.eye(3)

    def torques(self, q: list[Expression], v: list[Expression], a: list[Expression]) -> list[Expression]:
        """Torques of the hinges for the angles, rates and accelerations; gravity 9.81 along −z."""
        spin, spin_rate, acceleration = Vector(0, 0, 0), Vector(0, 0, 0), Vector(0, 0, 9.81)
        loads = []
        tensor = _tensor(spin, spin_rate)
        for i, alpha in enumerate(self.alphas):
            acceleration = acceleration + tensor @ self.arms[i]
            spin, spin_rate, acceleration = (
                _turn_z(q[i], _turn_x(alpha, w, -1.0), -1.0) for w in (spin, spin_rate, acceleration)
            )
            spin_rate = Vector(spin_rate.x + v[i] * spin.y, spin_rate.y - v[i] * spin.x, spin_rate.z + a[i])
            spin = Vector(spin.x, spin.y, spin.z + v[i])
            tensor = _tensor(spin, spin_rate)
            loads.append(self._load(i, tensor, acceleration))
        return self._backwards(q, loads)

    def _load(self, i: int, tensor: ex.Matrix, acceleration: Vector) -> tuple[Vector, Vector]:
        moment, second = Vector(self.moments[i]), ex.Matrix(self.second[i])
        force = tensor @ moment + float(self.masses[i]) * acceleration
        w = tensor @ second
        turning = Vector(w[2, 1] - w[1, 2], w[0, 2] - w[2, 0], w[1, 0] - w[0, 1])
        return force, turning + moment.cross(acceleration)

    def _backwards(self, q: list[Expression], loads: list[tuple[Vector, Vector]]) -> list[Expression]:
        torques = []
        force, turning = Vector(0, 0, 0), Vector(0, 0, 0)
        for i in reversed(range(len(q))):
            force, turning = loads[i][0] + force, loads[i][1] + turning
            torques.append(turning.z)
            force, turning = (_turn_x(self.alphas[i], _turn_z(q[i], w, 1.0), 1.0) for w in (force, turning))
            turning = turning + self.arms[i].cross(force)
        return torques[::-1]


def _tensor(spin: Vector, rate: Vector) -> ex.Matrix:
    x, y, z = spin
    xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
    return ex.Matrix(
        [
            [-(yy + zz), xy - rate.z, xz + rate.y],
            [xy + rate.z, -(xx + zz), yz - rate.x],
            [xz - rate.y, yz + rate.x, -(xx + yy)],
        ]
    )
