"""Scalar expressions and the symbols they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Final, TypeAlias

from bellcrank import _core

__all__ = ["Expression", "Scalar", "as_expression", "fresh_symbol", "symbol", "symbols", "t", "table"]

Expression = _core.Expression
Scalar: TypeAlias = _core.Expression | float

Declaration: TypeAlias = tuple[str, bool, float, float]
"""Name, whether zero is left out below, least and greatest value."""

_declared: Final[dict[Declaration, Expression]] = {}
_declarations: Final[dict[Expression, Declaration]] = {}


def symbol(
    name: str, *, positive: bool = False, low: float | None = None, high: float | None = None
) -> _core.Expression:
    """The symbol of this name; "t" is the time.

    A name is one symbol, however often it is asked for. Declared otherwise it is another one, as a parameter
    of a mechanism is one of its own.

    positive: the value is greater than zero. low, high: bounds of the value. What is declared is taken for
    true where expressions are simplified: with positive=True, sqrt(x**2) is x.

    Raises ValueError if the bounds leave no value.
    """
    least, most = -inf if low is None else float(low), inf if high is None else float(high)
    open_below = positive and least <= 0.0
    key = (name, open_below, 0.0 if open_below else least, most)
    if key not in _declared:
        made = _declared[key] = fresh_symbol(name, positive=positive, low=low, high=high)
        _declarations[made] = key
    return _declared[key]


def fresh_symbol(
    name: str, *, positive: bool = False, low: float | None = None, high: float | None = None
) -> _core.Expression:
    """A symbol that differs from all others, whatever they are called; arguments as for `symbol`."""
    least, most = -inf if low is None else float(low), inf if high is None else float(high)
    if not least <= most or (positive and most <= 0.0):
        raise ValueError(f"symbol {name!r}: no value lies between low = {least:g} and high = {most:g}")
    if positive and least <= 0.0:
        return _core.expression_positive_symbol(name, most)
    return _core.expression_symbol(name, least, most)


def declaration_of(made: _core.Expression) -> Declaration | None:
    """What `symbol` was given for this symbol, which says which one it is; None for a fresh one."""
    return _declarations.get(made)


def symbols(names: str, *, positive: bool = False) -> tuple[_core.Expression, ...]:
    """The symbols of these names, "x y z" or "x, y, z"."""
    return tuple(symbol(name, positive=positive) for name in names.replace(",", " ").split())


def as_expression(value: Scalar) -> _core.Expression:
    """A number as a constant; an expression as it is. Raises TypeError for anything else."""
    if isinstance(value, Expression):
        return value
    return Expression(float(value))


def table(kind: str, params: Sequence[float], x: Scalar) -> _core.Expression:
    """A function of one variable at x: its kind and flat parameters, as the core has them."""
    return _core.expression_table(kind, list(params), as_expression(x))


t: Final = symbol("t")
"""The time, s."""
