"""Descriptions given as formulas of their own symbols, time, parameters and inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, ClassVar

import numpy as np

from bellcrank.errors import MechanismError
from bellcrank.expression.expression import Expression
from bellcrank.expression.reading import TIME, symbols_of
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.input import is_input
from bellcrank.mechanism.parameter import is_parameter
from bellcrank.mechanism.parametric import Evaluate, is_expression

CUSTOM_KINDS: dict[str, type[Formulas]] = {}
"""Every kind of custom joint, constraint and force by name. All are frozen dataclasses."""


class Formulas:
    """Base of custom kinds: formulas over own symbols, parameters and inputs, and of time where `timed`.

    A subclass is a frozen dataclass with a field `values`: the numbers of the parameters that have them.
    Parameters stay symbols in the formulas, so that other values need no new code.
    """

    timed: ClassVar[bool] = False
    values: tuple[tuple[Any, float], ...]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not cls.__name__.startswith("_"):
            CUSTOM_KINDS[cls.__name__] = cls

    @property
    def own_symbols(self) -> tuple[Any, ...]:
        """The symbols that belong to this description."""
        raise NotImplementedError

    @property
    def formulas(self) -> tuple[Any, ...]:
        """All expressions in it."""
        held = [f.name for f in fields(self) if f.name not in ("values", "ends")]  # type: ignore[arg-type]
        return tuple(_expressions([getattr(self, name) for name in held]))

    @property
    def input_symbols(self) -> tuple[Any, ...]:
        """The inputs on which its formulas depend."""
        return tuple(filter(is_input, symbols_of(*self.formulas)))

    @property
    def known(self) -> dict[Any, float]:
        """Numbers of parameters that have them, and initial values of inputs."""
        return {**dict(self.values), **{symbol: symbol.value for symbol in self.input_symbols}}

    @property
    def open_parameters(self) -> tuple[Any, ...]:
        """The parameters in its formulas that have no numbers yet."""
        known = {*self.own_symbols, *self.known}
        every = symbols_of(*self.formulas)
        return tuple(symbol for symbol in every if symbol not in known and symbol != TIME)

    def with_numbers(self, number: Evaluate) -> Any:
        """The same with numbers for its parameters."""
        given = tuple((symbol, number(symbol)) for symbol in self.open_parameters)
        return replace(self, values=(*self.values, *given))  # type: ignore[type-var]

    def with_formulas(self, change: Callable[[Any], Any], symbols: bool = False) -> Any:
        """The same with each formula changed.

        symbols: whether formulas that are no more than an own symbol are changed as well.
        """
        own = set() if symbols else set(self.own_symbols)
        given = {
            f.name: _changed(getattr(self, f.name), lambda e: e if e in own else change(e))
            for f in fields(self)  # type: ignore[arg-type]
            if f.name not in ("values", "ends")
        }
        return replace(self, **given)  # type: ignore[type-var]

    def check_symbols(self, check: Check) -> None:
        """Note symbols that are neither its own nor parameters, and the time where it is not allowed."""
        if TIME in self.own_symbols:
            check.fault("the time cannot be a symbol of its own", "t", "take another name")
        elif not self.timed and TIME in symbols_of(*self.formulas):
            check.fault(
                "its formulas must not depend on the time", None, "lead a coordinate of it by a drive"
            )
        strangers = [str(symbol) for symbol in self.open_parameters if not is_parameter(symbol)]
        if strangers:
            own = list(map(str, self.own_symbols))
            rule = f"its formulas depend on {' and '.join(map(repr, strangers))}"
            advice = (
                f"its own symbols are {', '.join(own) or 'none'}; others must be inputs, or parameters of "
                "the mechanism"
            )
            check.fault(rule, None, _alike(own, strangers) or advice)


def _expressions(value: Any) -> Iterable[Any]:
    if is_expression(value):
        yield value
    elif isinstance(value, Mapping):
        yield from _expressions(list(value.values()))
    elif is_dataclass(value) and not isinstance(value, type):
        for f in fields(value):
            yield from _expressions(getattr(value, f.name))
    elif np.iterable(value) and not isinstance(value, str):
        for item in value:
            yield from _expressions(item)


def _changed(value: Any, change: Callable[[Any], Any]) -> Any:
    if is_expression(value):
        return change(value)
    if isinstance(value, (tuple, list)):
        return tuple(_changed(item, change) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{f.name: _changed(getattr(value, f.name), change) for f in fields(value)})
    if np.iterable(value) and not isinstance(value, (str, Mapping)):
        return type(value)(_changed(item, change) for item in value)  # type: ignore[call-arg]
    return value


def check_dependence(
    check: Check, field: str, noun: str, symbols: Iterable[Any], formulas: Iterable[Any]
) -> None:
    """Note symbols on which formulas do not depend."""
    found = symbols_of(*formulas)
    for symbol in symbols:
        if symbol not in found:
            rule = f"the {field} does not depend on its {noun} {symbol.name!r}"
            check.fault(rule, None, _alike([symbol.name], [other.name for other in found]))


def _alike(own: Iterable[str], others: Iterable[str]) -> str:
    """Advice if another symbol has the name of an expected one."""
    names = sorted(set(own) & set(others))
    if not names:
        return ""
    return (
        f"another symbol is called {names[0]!r} too: a parameter, or one of other bounds; "
        "use the same symbol in both places"
    )


def as_formula(check: Check, field: str, value: Any) -> Any:
    """An expression from an expression or a number."""
    if is_expression(value):
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return Expression(check.number(field, value))
    check.fault(f"{field} must be an expression", value, "such as 2*u + 1, or a number")
    return Expression(0.0)


def as_formulas(check: Check, field: str, values: Any, count: int) -> tuple[Any, ...]:
    """A given number of expressions."""
    given = [] if isinstance(values, str) or not np.iterable(values) else list(values)
    if len(given) != count:
        check.fault(f"{field} must hold {count} expressions", values)
        given = [0.0] * count
    return tuple(
        as_formula(check, f"{field} {'xyz'[i] if count == 3 else i + 1}", v) for i, v in enumerate(given)
    )


def as_symbols(check: Check, field: str, values: Any, count: int | None = None) -> tuple[Any, ...]:
    """Symbols with different names; a single one need not be in a list."""
    if is_expression(values):
        values = (values,)
    given = tuple(values) if np.iterable(values) and not isinstance(values, str) else ()
    good = bool(given) and all(is_expression(s) and s.op == "symbol" and not s.negative for s in given)
    if not good or (count is not None and len(given) != count):
        wanted = "symbols" if count is None else f"{count} symbol{'s' * (count > 1)}"
        check.fault(f"{field} must be {wanted}", values, "make them by bc.symbol(name)")
        raise MechanismError(list(check.faults))
    names = [symbol.name for symbol in given]
    if len(set(names)) < len(names):
        check.fault(f"{field} must have different names", names)
    if any(map(is_parameter, given)):
        check.fault(f"{field} must not be parameters", names, "make symbols of their own by bc.symbol(name)")
    return given


def as_symbol(check: Check, field: str, value: Any) -> Any:
    """One symbol."""
    return as_symbols(check, field, value, 1)[0]


__all__ = ["CUSTOM_KINDS", "Formulas", "as_formula", "as_formulas", "as_symbol", "as_symbols"]
