"""Reading texts as expressions of the process-wide graph, and finding the symbols of expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from bellcrank import _core
from bellcrank.expression import functions
from bellcrank.expression.expression import Expression, as_expression, t
from bellcrank.expression.parser import FUNCTIONS, parse

TIME: Final = t
"""The time, s: what texts call t."""


def _equal(a: Expression, b: Expression) -> Expression:
    return functions.all_of(a <= b, b <= a)


def _divided(a: Expression, b: Expression) -> Expression:
    if b.is_constant and float(b) == 0.0:
        raise ZeroDivisionError("division by zero")
    return a / b


_OPERATIONS: Final[dict[str, Callable[..., Any]]] = {
    "negate": lambda a: -a,
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": _divided,
    "power": lambda a, b: a**b,
    "less": lambda a, b: a < b,
    "less_equal": lambda a, b: a <= b,
    "greater": lambda a, b: a > b,
    "greater_equal": lambda a, b: a >= b,
    "equal": _equal,
    "and": functions.all_of,
    "or": functions.any_of,
    "not": functions.negation,
    "select": functions.piecewise,
    "abs": abs,
    "min": functions.minimum,
    "max": functions.maximum,
    **{
        name: getattr(functions, name)
        for name in FUNCTIONS
        if hasattr(functions, name) and name != "piecewise"
    },
}


class ExpressionBuilder:
    """Builds expressions of the process-wide graph."""

    def number(self, value: float) -> Expression:
        """A constant."""
        return as_expression(value)

    def apply(self, operation: str, operands: Sequence[Expression]) -> Expression:
        """An operation. Raises ZeroDivisionError or ValueError for constants at which it is undefined."""
        made: Expression = _OPERATIONS[operation](*operands)
        if not made.is_constant and all(operand.is_constant for operand in operands):
            raise ValueError("the result is not a finite number")
        return made


def read(text: str, names: Mapping[str, Expression], element: str = "expression") -> Expression | float:
    """The expression that a text means, or a number if it is constant.

    names: the names that it may use, besides the constants pi and e; {"t": TIME} for functions of time.
    element: the element named in errors.

    Raises ExpressionError, which points at the character, for a text that is not an expression.
    """
    found = parse(text, ExpressionBuilder(), names, element)
    return float(found) if found.is_constant else found


def symbols_of(*expressions: Expression) -> tuple[Expression, ...]:
    """The symbols on which expressions depend, the oldest first."""
    return tuple(node for node in _core.expression_nodes(list(expressions)) if node.op == "symbol")
