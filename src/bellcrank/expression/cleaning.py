"""Formulas for readers: without the rounding errors of the numbers in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bellcrank import _core
from bellcrank.expression.expression import Expression, as_expression

_SHORT: Final = 12  # digits of a number that counts as short
_OFF: Final = 1e-14  # of a number: how far rounding has taken it from a short one, at most


def cleaned(expressions: Sequence[Expression], digits: int = 17) -> list[Expression]:
    """The expressions with short numbers where these differ by rounding: 0.08 for 0.08000000000000002.

    digits: of the others. Products by a number that turns out to be one are simplified.
    """
    made: dict[Expression, Expression] = {}

    def image(operand: Expression) -> Expression:
        return -made[-operand] if operand.negative else made[operand]

    for node in _core.expression_nodes(list(expressions)):
        if node.op == "constant":
            made[node] = as_expression(short(float(node), digits))
        elif node.op in ("symbol", "table"):
            made[node] = node
        else:
            made[node] = _core.expression_apply(node.op, [image(operand) for operand in node.operands])
    return [image(one) for one in expressions]


def short(value: float, digits: int = 17) -> float:
    """The number of few digits from which a number differs by no more than rounding; else so many of it."""
    near = float(f"{value:.{_SHORT}g}")
    return near if abs(near - value) <= _OFF * abs(value) else float(f"{value:.{digits}g}")
