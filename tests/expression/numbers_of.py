"""Values of expressions by a walk over their nodes in plain Python, independent of programs."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from bellcrank import _core
from bellcrank.expression import Expression


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
        return float(_core.Function(kind, params)(np.array(operands))[0, order])
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
