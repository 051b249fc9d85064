"""Expressions of an arm and of tori, and their values by a walk over their nodes in plain Python.

Frame i has z along hinge i and comes from frame i − 1 by a turn about x, translations along x and z, and the
hinge's turn about z, the two turns applied one after the other. Mass properties are (m, m c, ∫ r rᵀ dm) about
the origin of the frame; U = ω̇~ + ω~ ω~.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from bellcrank import _core
from bellcrank import expression as ex
from bellcrank.expression import Expression, Rotation, Transform, Vector, cos, derivative, sin


def _power(a: float, b: float) -> float:
    value = a**b
    return math.nan if isinstance(value, complex) else value


def sign(a: float) -> float:
    return float((a > 0) - (a < 0))


FUNCTIONS = {
    "add": lambda a, b: a + b,
    "multiply": lambda a, b: a * b,
    "reciprocal": lambda a: 1.0 / a,
    "sqrt": math.sqrt,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
    "atan2": lambda a, b: math.atan2(a + 0.0, b + 0.0),  # zero has no sign
    "sinh": math.sinh,
    "cosh": math.cosh,
    "tanh": math.tanh,
    "exp": math.exp,
    "log": math.log,
    "pow": _power,
    "abs": abs,
    "sign": sign,
    "min": min,
    "max": max,
    "floor": lambda a: float(math.floor(a)),
    "less": lambda a, b: float(a < b),
    "less_equal": lambda a, b: float(a <= b),
    "select": lambda a, b, c: b if a != 0.0 else c,
}


_BESIDE = 1e-4  # of a table's argument: its third derivative is constant there


def call(name: str, *operands: float) -> float:
    """A function's value, not a number where it has none."""
    try:
        return FUNCTIONS[name](*operands)
    except (ValueError, ZeroDivisionError, OverflowError):
        return math.nan


def _node(node: Expression, known: Mapping[Expression, float], values: dict[Expression, float]) -> float:
    if node.is_constant:
        return float(node)
    if node.op == "symbol":
        return known[node]
    operands = [-values[-a] if a.negative else values[a] for a in node.operands]
    if node.op == "table":
        kind, params, order = node.table_data
        function = _core.Function(kind, params)
        if order == 3:
            ways = np.array([[operands[0] + k * _BESIDE] for k in (-1, 1)])
            low, high = (function(way)[0, 2] for way in ways)
            return float((high - low) / (2.0 * _BESIDE))
        return float(function(np.array(operands))[0, order])
    return call(node.op, *operands)


def values_of(expressions: Sequence[Expression], known: Mapping[Expression, float]) -> list[float]:
    """Values where the symbols have the known values; not a number where there is none."""
    values: dict[Expression, float] = {}
    for node in _core.expression_nodes(list(expressions)):
        values[node] = _node(node, known, values)
    return [-values[-a] if a.negative else values[a] for a in expressions]


def value_of(expression: Expression, known: Mapping[Expression, float]) -> float:
    return values_of([expression], known)[0]


def differences(expression: Expression, symbol: Expression, known: Mapping[Expression, float]) -> float:
    """The derivative by differences of sixth order: error about 1e-12 for a smooth function of size one."""
    h, total = 2e-3, 0.0
    for step, weight in ((1, 45.0), (2, -9.0), (3, 1.0)):
        above, below = ({**known, symbol: known[symbol] + side * step * h} for side in (1, -1))
        total += weight * (value_of(expression, above) - value_of(expression, below))
    return total / (60.0 * h)


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


def torus_frame(u: Expression, v: Expression, radius: float = 1.0, tube: float = 0.3) -> Transform:
    """The frame of both unit tangents and their vector product at a point of a torus."""
    distance = radius + tube * cos(u)
    point = Vector(distance * cos(v), distance * sin(v), tube * sin(u))
    along_u = derivative(point, u, "forward").normalized()
    along_v = derivative(point, v, "forward").normalized()
    axes = [along_u, along_v, ex.cross(along_u, along_v)]
    return Transform(Rotation(zip(*axes, strict=True)), point)


def torus_link(u1: Expression, v1: Expression, u2: Expression, v2: Expression) -> Transform:
    """From a frame on one torus to the centre of the next, which touches it there."""
    return torus_frame(u1, v1) @ torus_frame(u2, v2).inverse()


def transform_items(transform: Transform) -> list[Expression]:
    return [*(item for row in transform.rotation for item in row), *transform.position]
