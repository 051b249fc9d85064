"""Efforts that follow one input within bounds: how they are made, and what an expression says of them.

Such an effort is  clamp(gain · clamp(input) + bias + Σ slope · symbol), as MuJoCo has it: the input is held
in its range, and then the force in its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import inf
from typing import Any, TypeAlias

from bellcrank.mechanism.functions.function import Constant
from bellcrank.mechanism.parameters import is_input

Range: TypeAlias = tuple[float, float]

FREE: Range = (-inf, inf)


def clamped(value: Any, limits: Range) -> Any:
    """A number or an expression, held between limits."""
    low, high = limits
    if isinstance(value, float):
        return min(max(value, low), high)
    from bellcrank.expression import maximum, minimum

    value = value if high == inf else minimum(value, high)
    return value if low == -inf else maximum(value, low)


def scaled(limits: Range, factor: float) -> Range:
    """The limits of a multiple."""
    a, b = sorted(bound * factor for bound in limits)
    return a, b


def common(one: Range, other: Range) -> Range | None:
    """What two ranges have in common; None if that is less than a range."""
    low, high = max(one[0], other[0]), min(one[1], other[1])
    return (low, high) if low < high else None


@dataclass(frozen=True)
class Bounded:
    """An effort. input: None if it is zero. slopes: by the symbols of coordinates and rates."""

    input: Any = None
    gain: float = 0.0
    bias: float = 0.0
    control: Range = FREE
    force: Range = FREE
    slopes: dict[Any, float] = field(default_factory=dict)


def bounded(effort: Any) -> Bounded | None:
    """What an effort, a function or an expression, says; None if it is of another form."""
    if isinstance(effort, Constant) and effort.value == 0.0:
        return Bounded()
    found = _sum(getattr(effort, "expression", effort))
    if found is None:
        return None
    if len(found.terms) == 1 and (inner := _held(next(iter(found.terms)))) is not None:
        ((_, factor),) = found.terms.items()
        within = _sum(inner[0])
        if within is None:
            return None
        if not (within.constant == 0.0 and [*within.terms.values()] == [1.0]):  # it is no range of an input
            made = _of(within.times(factor).plus(found.constant))
            low, high = scaled(inner[1], factor)
            return (
                None if made is None else replace(made, force=(low + found.constant, high + found.constant))
            )
    return _of(found)


@dataclass
class _Sum:
    """A sum of expressions with factors, and a number."""

    terms: dict[Any, float]
    constant: float = 0.0

    def times(self, factor: float) -> _Sum:
        return _Sum({key: factor * value for key, value in self.terms.items()}, factor * self.constant)

    def plus(self, number: float) -> _Sum:
        return _Sum(self.terms, self.constant + number)


def _sum(value: Any) -> _Sum | None:
    """An expression as a sum of symbols and of what is held between limits."""
    if not hasattr(value, "operands"):
        return None
    if value.is_constant:
        return _Sum({}, float(value))
    if value.negative:
        found = _sum(-value)
        return None if found is None else found.times(-1.0)
    if value.op in ("symbol", "min", "max"):
        return _Sum({value: 1.0})
    parts = [_sum(part) for part in value.operands]
    if len(parts) != 2 or parts[0] is None or parts[1] is None:
        return None
    one, two = parts[0], parts[1]
    if value.op == "add":
        keys = {**one.terms, **two.terms}
        terms = {key: one.terms.get(key, 0.0) + two.terms.get(key, 0.0) for key in keys}
        return _Sum(terms, one.constant + two.constant)
    if value.op == "multiply" and not (one.terms and two.terms):
        return two.times(one.constant) if not one.terms else one.times(two.constant)
    return None


def _held(value: Any) -> tuple[Any, Range] | None:
    """What an expression holds between limits, and these; None if it holds nothing."""
    low, high = FREE
    held = False
    while not value.negative and value.op in ("min", "max"):
        numbers = [part for part in value.operands if part.is_constant]
        others = [part for part in value.operands if not part.is_constant]
        if len(numbers) != 1 or len(others) != 1:
            return None
        bound = float(numbers[0])
        if value.op == "min":
            low, high = min(low, bound), min(high, bound)
        else:
            low, high = max(low, bound), max(high, bound)
        held, value = True, others[0]
    return (value, (low, high)) if held and low < high else None


def _of(found: _Sum) -> Bounded | None:
    """A sum over one input, which may be held in a range, and other symbols."""
    made = Bounded(bias=found.constant)
    for term, factor in found.terms.items():
        inner = _held(term)
        symbol, sign, limits = term, 1.0, FREE
        if inner is not None:
            symbol, limits = inner
            if symbol.negative:
                symbol, sign, limits = -symbol, -1.0, scaled(limits, -1.0)
        if symbol.op == "symbol" and is_input(symbol) and made.input is None:
            made = replace(made, input=symbol, gain=sign * factor, control=limits)
        elif symbol.op == "symbol" and inner is None and not is_input(symbol):
            made.slopes[symbol] = factor
        else:
            return None
    return made if made.input is not None and made.gain else None
