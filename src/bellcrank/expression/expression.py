"""Scalar expressions and the symbols they are made of."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import count
from math import inf
from typing import Final, TypeAlias

from bellcrank import _core
from bellcrank.errors import MechanismError
from bellcrank.slips import answered

__all__ = ["Expression", "Scalar", "as_expression", "fresh_symbol", "symbol", "symbols", "t", "table"]

Expression = _core.Expression
Scalar: TypeAlias = _core.Expression | float

_PROCESS: Final = os.urandom(16).hex()
_made: Final = count()


@answered
def symbol(
    name: str, *, positive: bool = False, low: float | None = None, high: float | None = None
) -> _core.Expression:
    """The symbol of this name; "t" is the time.

    The same name and declaration always give the same symbol; other declarations give different symbols, and
    a parameter of a mechanism is a symbol of its own.

    positive: the value is greater than zero. low, high: bounds of the value. Declarations are assumed when
    expressions are simplified: with positive=True, sqrt(x**2) is x.

    Raises MechanismError for an invalid name, ValueError if the bounds leave no value.

    >>> x = bc.symbol("x", positive=True)
    >>> bc.expression.sqrt(x**2)    # x, as it is positive
    x
    >>> bc.symbol("x", positive=True) == x
    True
    """
    if not isinstance(name, str) or not name or not name.isprintable():
        raise MechanismError.of("symbol", "the name must be a text without line breaks", name)
    return _core.expression_symbol(name, *_bounds(name, positive, low, high))


def fresh_symbol(
    name: str, *, low: float | None = None, high: float | None = None, value: float | None = None
) -> _core.Expression:
    """A symbol that differs from all others, whatever they are called; arguments as for `symbol`.

    value: of a parameter, initially.
    """
    kind = "plain" if value is None else "parameter"
    bounds, origin = _bounds(name, False, low, high), f"{_PROCESS} {next(_made)}"
    return _core.expression_symbol(name, *bounds, kind, value or 0.0, origin=origin)


def steered_symbol(name: str, kind: str, value: float = 0.0, unit: str = "") -> _core.Expression:
    """The symbol of an input, or of the offset of a drive: equal arguments give the same one."""
    return _core.expression_symbol(name, kind=kind, value=value, unit=unit)


def _bounds(name: str, positive: bool, low: float | None, high: float | None) -> tuple[float, float, bool]:
    """The least and the greatest value, and whether zero is left out."""
    least, most = -inf if low is None else float(low), inf if high is None else float(high)
    if not least <= most or (positive and most <= 0.0):
        raise ValueError(f"symbol {name!r}: no value lies between low = {least:g} and high = {most:g}")
    open_below = positive and least <= 0.0
    return 0.0 if open_below else least, most, open_below


@answered
def symbols(names: str, *, positive: bool = False) -> tuple[_core.Expression, ...]:
    """The symbols of these names, "x y z" or "x, y, z".

    >>> x, y = bc.symbols("x y")
    >>> x + y - x
    y
    """
    return tuple(symbol(name, positive=positive) for name in names.replace(",", " ").split())


def as_expression(value: Scalar) -> _core.Expression:
    """A number as a constant; an expression unchanged. Raises TypeError for anything else."""
    if isinstance(value, Expression):
        return value
    if isinstance(value, str):
        raise MechanismError.of(
            "expression", "a text is no number", value, f"bc.symbol({value!r}) is a symbol"
        )
    return Expression(float(value))


def table(kind: str, params: Sequence[float], x: Scalar) -> _core.Expression:
    """A function of one variable at x: its kind and flat parameters, in the form of the core.

    >>> flat = bc.Harmonic(2.0, 3.0).flat()
    >>> wave = bc.expression.table(flat.kind, flat.params, bc.t)
    >>> print(bc.expression.compile_function([wave], [bc.t])([0.5]).round(6), round(2 * np.sin(1.5), 6))
    [1.99499] 1.99499
    """
    return _core.expression_table(kind, list(params), as_expression(x))


t: Final = symbol("t")
"""The time, s."""
