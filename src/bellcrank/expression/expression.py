"""Scalar expressions and the symbols they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan
from typing import Final, TypeAlias

from bellcrank import _core
from bellcrank.errors import Fault, MechanismError

__all__ = ["Expression", "Scalar", "as_expression", "fresh_symbol", "symbol", "symbols", "t", "table"]

Expression = _core.Expression
Scalar: TypeAlias = _core.Expression | float

Declaration: TypeAlias = tuple[str, bool, float, float]
"""Name, whether zero is left out below, least and greatest value."""

_DECLARED: Final = "declared "  # prefix of the keys of symbols identified by name


def symbol(
    name: str, *, positive: bool = False, low: float | None = None, high: float | None = None
) -> _core.Expression:
    """The symbol of this name; "t" is the time.

    The same name and declaration always give the same symbol; other declarations give different symbols, and
    a parameter of a mechanism is a symbol of its own.

    positive: the value is greater than zero. low, high: bounds of the value. Declarations are assumed when
    expressions are simplified: with positive=True, sqrt(x**2) is x.

    Raises MechanismError for an invalid name, ValueError if the bounds leave no value.
    """
    if not isinstance(name, str) or not name or not name.isprintable():
        raise MechanismError(Fault("symbol", "the name must be a text without line breaks", name))
    least, most = -inf if low is None else float(low), inf if high is None else float(high)
    open_below = positive and least <= 0.0
    key = f"{_DECLARED}{open_below} {0.0 if open_below else least} {most} {name}"
    found = _core.expression_symbol_of(key)
    return fresh_symbol(name, positive=positive, low=low, high=high, key=key) if found is None else found


def fresh_symbol(
    name: str,
    *,
    positive: bool = False,
    low: float | None = None,
    high: float | None = None,
    key: str = "",
    value: float = nan,
) -> _core.Expression:
    """A symbol that differs from all others, whatever they are called; arguments as for `symbol`.

    key: by which it is found, as long as anything made from it is in use. value: of a parameter, initially.
    """
    least, most = -inf if low is None else float(low), inf if high is None else float(high)
    if not least <= most or (positive and most <= 0.0):
        raise ValueError(f"symbol {name!r}: no value lies between low = {least:g} and high = {most:g}")
    open_below = positive and least <= 0.0
    return _core.expression_symbol(name, 0.0 if open_below else least, most, open_below, key, value)


def declaration_of(made: _core.Expression) -> Declaration | None:
    """The arguments of `symbol` that identify this symbol; None for a fresh one."""
    if not made.key.startswith(_DECLARED):
        return None
    low, high = made.range
    return made.name, made.is_nonzero and low == 0.0, low, high


def symbols(names: str, *, positive: bool = False) -> tuple[_core.Expression, ...]:
    """The symbols of these names, "x y z" or "x, y, z"."""
    return tuple(symbol(name, positive=positive) for name in names.replace(",", " ").split())


def as_expression(value: Scalar) -> _core.Expression:
    """A number as a constant; an expression unchanged. Raises TypeError for anything else."""
    if isinstance(value, Expression):
        return value
    return Expression(float(value))


def table(kind: str, params: Sequence[float], x: Scalar) -> _core.Expression:
    """A function of one variable at x: its kind and flat parameters, in the form of the core."""
    return _core.expression_table(kind, list(params), as_expression(x))


t: Final = symbol("t")
"""The time, s."""
