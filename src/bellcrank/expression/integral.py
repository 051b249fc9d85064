"""Antiderivatives in time of simple expressions, for drives given by their velocity."""

from __future__ import annotations

from bellcrank.errors import Unsupported
from bellcrank.expression import functions
from bellcrank.expression.expression import Expression, as_expression
from bellcrank.expression.reading import TIME, symbols_of
from bellcrank.expression.time_function import rate


def antiderivative(expression: Expression) -> Expression:
    """An antiderivative with respect to time: sums of constants, powers of t, and sin, cos, exp of a t + b.

    Factors that do not depend on time may stand before each. Raises Unsupported for anything else.
    """
    if expression.negative:
        return -antiderivative(-expression)
    if not _timed(expression):
        return expression * TIME
    if expression == TIME:
        return 0.5 * TIME * TIME
    if expression.op == "add":
        a, b = expression.operands
        return antiderivative(a) + antiderivative(b)
    if expression.op == "multiply":
        return _product(expression)
    if expression.op in ("sin", "cos", "exp"):
        (inner,) = expression.operands
        slope = rate(inner)
        if not _timed(slope):
            outer = {"sin": -functions.cos(inner), "cos": functions.sin(inner), "exp": expression}
            return outer[expression.op] / slope
    raise _unknown(expression)


def _product(expression: Expression) -> Expression:
    """An antiderivative of constant factors times one time-dependent factor or a power of t."""
    constant, timed = as_expression(1.0), []
    waiting = [expression]
    while waiting:
        node = waiting.pop()
        if node.op == "multiply":
            constant = -constant if node.negative else constant
            waiting += node.operands
        elif _timed(node):
            timed.append(node)
        else:
            constant = constant * node
    if len(timed) == 1:
        return constant * antiderivative(timed[0])
    if all(factor == TIME for factor in timed):
        power = len(timed) + 1
        return constant * TIME**power / power
    raise _unknown(expression)


def _timed(expression: Expression) -> bool:
    return TIME in symbols_of(expression)


def _unknown(expression: Expression) -> Unsupported:
    return Unsupported(
        f"no antiderivative of {expression} is known; give the position instead of the velocity"
    )
