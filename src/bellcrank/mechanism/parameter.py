"""Parameters: named numbers of a mechanism, of which other numbers are expressions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from bellcrank.errors import Fault, FaultList, MechanismError
from bellcrank.expression.evaluation import evaluate
from bellcrank.expression.expression import fresh_symbol
from bellcrank.expression.grammar import RESERVED, is_name
from bellcrank.expression.reading import symbols_of
from bellcrank.mechanism.checked_name import check_name
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.input import is_input, refused_as_number
from bellcrank.mechanism.naming import nearest
from bellcrank.mechanism.quantities import in_si


@dataclass(frozen=True)
class Parameter:
    """A named number.

    value: in SI units, or a text with a unit. unit: of the value, for people and files, such as "m" or "N/m".
    low, high: bounds of the value; None for none. They are assumed when expressions are simplified.
    doc: its description.
    symbol: the expression that stands for it.
    """

    name: str
    value: float
    unit: str = ""
    low: float | None = None
    high: float | None = None
    doc: str = ""
    symbol: Any = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        element = f"parameter {self.name!r}"
        check_name(element, self.name)
        with Check(element) as check:
            if not is_name(self.name):
                rule = "the name must be letters, digits and '_', as expressions use it"
                check.fault(rule, self.name)
            elif self.name in RESERVED:
                check.fault("this name has a meaning in expressions", self.name, "choose another")
            for text in ("unit", "doc"):
                if not isinstance(getattr(self, text), str):
                    check.fault(f"{text} must be a text", getattr(self, text))
            unit = self.unit if isinstance(self.unit, str) else ""
            low, high = (
                None if bound is None else check.number(name, in_si(check, name, bound, ()), unit)
                for name, bound in (("low", self.low), ("high", self.high))
            )
            value = check.number("value", in_si(check, "value", self.value, ()), unit)
            if low is not None and high is not None and low > high:
                check.fault("low must not be greater than high", (low, high))
            elif len(check.faults) == 0:
                _check_bounds(check, value, low, high)
            check.store(self, value=value, low=low, high=high)
        if self.symbol is None:
            object.__setattr__(self, "symbol", self._new_symbol())

    def _new_symbol(self) -> Any:
        return fresh_symbol(self.name, low=self.low, high=self.high, value=self.value)


def _check_bounds(check: Check, value: float, low: float | None, high: float | None) -> None:
    if low is not None and value < low:
        check.fault(f"value must not be less than low = {low:g}", value)
    if high is not None and value > high:
        check.fault(f"value must not be greater than high = {high:g}", value)


def changed_parameters(known: Mapping[str, Parameter], values: Mapping[str, Any]) -> dict[str, Parameter]:
    """The parameters that get other values, with these values.

    Raises MechanismError for unknown names, and for values that are not numbers or out of bounds.
    """
    faults, changed = FaultList(), {}
    for name, value in values.items():
        if name not in known:
            advice = nearest(name, known)
            faults.add(f"parameter {name!r}", "there is no parameter of this name", None, advice)
            continue
        with faults.collect():
            changed[name] = replace(known[name], value=value)
    faults.raise_any()
    return changed


def is_parameter(symbol: Any) -> bool:
    """Whether a symbol is that of a parameter of some mechanism, or of an input."""
    return symbol.kind != "plain"  # type: ignore[no-any-return]


def value_as_made(expression: Any) -> float:
    """The value of an expression at the values with which its parameters were made.

    Raises MechanismError if it depends on something else, or has no value there.
    """
    symbols = [s for s in symbols_of(expression) if is_parameter(s) and not is_input(s)]
    known: dict[Any, Any] = {symbol: symbol.value for symbol in symbols}
    return values_of([expression], known)[expression]


def values_of(expressions: Iterable[Any], known: Mapping[Any, float]) -> dict[Any, float]:
    """The values of expressions at known values of symbols.

    Raises MechanismError for expressions that depend on other symbols, or have no finite value.
    """
    wanted = list(dict.fromkeys(expressions))
    strangers = {
        expression: unknown
        for expression in wanted
        if (unknown := [symbol for symbol in symbols_of(expression) if symbol not in known])
    }
    if strangers:
        names = {symbol.name for symbol in known}
        raise MechanismError([_stranger(e, symbols, names) for e, symbols in strangers.items()])
    values = evaluate(wanted, known)
    return dict(zip(wanted, values, strict=True))


def _stranger(expression: Any, symbols: Iterable[Any], known: Iterable[str]) -> Fault:
    if steered := [symbol for symbol in symbols if is_input(symbol)]:
        return refused_as_number(expression, steered)
    names = [str(symbol) for symbol in symbols]
    if names == ["t"]:
        return Fault("expression", "a number must not depend on the time", str(expression))
    if alike := sorted(set(names) & set(known)):
        rule = f"its symbol {alike[0]!r} is not the parameter of this name"
        return Fault("expression", rule, str(expression), f"use mech.parameters[{alike[0]!r}].symbol")
    return Fault(
        "expression",
        f"it depends on {' and '.join(map(repr, names))}",
        str(expression),
        "use parameters of this mechanism, made by mech.add_parameter(...)"
        f" and named by mech.parameters[{names[0]!r}].symbol",
    )
