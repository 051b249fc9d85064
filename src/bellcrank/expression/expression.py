"""Scalar expressions and the symbols they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Final, TypeAlias

from bellcrank import _core

__all__ = ["Expression", "Scalar", "as_expression", "symbol", "symbols", "t", "table"]

Expression = _core.Expression
Scalar: TypeAlias = _core.Expression | float


def symbol(
    name: str, *, positive: bool = False, low: float | None = None, high: float | None = None
) -> _core.Expression:
    """A new symbol; two symbols differ even if their names do not.

    positive: the value is greater than zero. low, high: bounds of the value. What is declared is taken for
    true where expressions are simplified: with positive=True, sqrt(x**2) is x.

    Raises ValueError if the bounds leave no value.
    """
    least, most = -inf if low is None else float(low), inf if high is None else float(high)
    if not least <= most or (positive and most <= 0.0):
        raise ValueError(f"symbol {name!r}: no value lies between low = {least:g} and high = {most:g}")
    if positive and least <= 0.0:
        return _core.expression_positive_symbol(name, most)
    return _core.expression_symbol(name, least, most)


def symbols(names: str, *, positive: bool = False) -> tuple[_core.Expression, ...]:
    """New symbols, one for each name in "x y z" or "x, y, z"."""
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
