"""Expressions of parameters in place of numbers in a description: storing, checking and evaluating them.

An element whose fields contain expressions is checked by a twin with their present values; such a twin is
what is compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Final, TypeVar

import numpy as np

from bellcrank.expression.derivatives import substitute
from bellcrank.expression.expression import Expression, symbol
from bellcrank.expression.reading import TIME, symbols_of

_PLAIN: Final = frozenset({float, int, str, bool, type(None)})
E = TypeVar("E")
Evaluate = Callable[[Any], float]
"""The number that an expression stands for."""


def is_expression(value: Any) -> bool:
    """Whether this is an expression."""
    return isinstance(value, Expression)


def kept(given: Any, checked: Any) -> Any:
    """The checked form of a value, with the expressions that were given."""
    if not holds_expressions(given) or (is_expression(given) and given.is_constant):
        return given if given is None else checked
    if isinstance(given, np.ndarray):
        given = given.tolist()
    if isinstance(given, (tuple, list)):
        if isinstance(checked, tuple) and len(given) == len(checked):
            if isinstance(checked[0], tuple) and not isinstance(given[0], (tuple, list)):  # a diagonal
                return tuple(
                    tuple(value if column == row else 0.0 for column in range(len(given)))
                    for row, value in enumerate(given)
                )
            return tuple(map(kept, given, checked))
        return tuple(given)
    return given


def quiet() -> np.errstate:
    """Context for arithmetic of arrays that may contain expressions: no warnings from infinite bounds."""
    return np.errstate(all="ignore")


def holds_expressions(value: Any) -> bool:
    """Whether there are expressions of parameters in a value: an element, a tuple, a number, ..."""
    found = dependents(value)
    return bool(found) and any(is_expression(one) or one.open_parameters for one in found)


def expressions_in(value: Any) -> Iterator[Any]:
    """The expressions of parameters in a value; of functions of time, the parameters."""
    for one in dependents(value):
        yield from (one,) if is_expression(one) else one.open_parameters


def dependents(value: Any) -> tuple[Any, ...]:
    """What may depend on parameters and inputs in a value: expressions, functions of time, formulas.

    Elements, which do not change, are searched once.
    """
    kind: type = type(value)
    if kind in _PLAIN:
        return ()
    if kind is tuple:
        return _within(value)
    names = _parts(kind)
    if names is None:
        return (value,)
    if names:
        known = vars(value)
        if "_dependents" not in known:
            known["_dependents"] = _within([getattr(value, name) for name in names])
        return known["_dependents"]  # type: ignore[no-any-return]
    return _within(_held(value))


def _within(values: Iterable[Any]) -> tuple[Any, ...]:
    """The dependents in each of some values."""
    found: tuple[Any, ...] = ()
    for value in values:
        kind = type(value)
        if kind not in _PLAIN and not (kind is tuple and _PLAIN.issuperset(map(type, value))):
            found += dependents(value)
    return found


def _held(value: Any) -> Iterable[Any]:
    """The parts of a container."""
    if isinstance(value, list):
        return value
    if isinstance(value, Mapping):
        return value.values()
    if isinstance(value, np.ndarray) and value.dtype == object:
        return list(value.flat)
    return ()


@cache
def _parts(kind: type) -> tuple[str, ...] | None:
    """The fields with which instances of a dataclass are made; None of a class that may depend itself."""
    if issubclass(kind, Expression) or hasattr(kind, "open_parameters"):
        return None
    return tuple(field.name for field in fields(kind) if field.init) if is_dataclass(kind) else ()


def evaluated(value: E, number: Evaluate) -> E:
    """The value with numbers in place of its expressions; itself if it has none.

    Raises MechanismError if an element does not accept its numbers.
    """
    return mapped(value, number, lambda function: function.with_numbers(number))


def mapped(
    value: E,
    expression: Callable[[Any], Any],
    function: Callable[[Any], Any],
    left: Callable[[Any], Any] | None = None,
) -> E:
    """The value with each expression of parameters, and each function of time with some, replaced.

    left: if given, makes the replacement in fields marked as not followed (mechanism/fields.py).
    """
    return _mapped(value, expression, function, left) if holds_expressions(value) else value


def _mapped(
    value: Any,
    expression: Callable[[Any], Any],
    function: Callable[[Any], Any],
    left: Callable[[Any], Any] | None,
) -> Any:
    if is_expression(value):
        return expression(value)
    if not holds_expressions(value):
        return value
    if hasattr(value, "open_parameters"):
        return function(value)
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (tuple, list)):
        return tuple(_mapped(item, expression, function, left) for item in value)
    if isinstance(value, Mapping):
        return {key: _mapped(item, expression, function, left) for key, item in value.items()}
    made = {}
    for field in fields(value):
        if field.init:
            item = getattr(value, field.name)
            if left is None or field.metadata.get("followed", True):
                made[field.name] = _mapped(item, expression, function, left)
            else:
                made[field.name] = left(item)
    return type(value)(**made)


def present(value: E) -> E:
    """The value with the numbers that its parameters were made with, for checks and previews."""
    return evaluated(value, present_value)


def present_value(expression: Any) -> float:
    """The value of an expression at the values with which its parameters were made."""
    from bellcrank.mechanism.parameter import value_as_made

    return value_as_made(expression)


def comparable(value: Any) -> Any:
    """The value with the same symbols for all of one name: equal for other symbols of the same names."""
    if is_expression(value):
        symbols = [s for s in symbols_of(value) if s != TIME and s.kind != "input"]  # inputs are their fields
        return substitute(value, {s: symbol(s.name) for s in symbols})
    if isinstance(value, (tuple, list)):
        return tuple(map(comparable, value))
    if isinstance(value, Mapping):
        return {key: comparable(item) for key, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        own = tuple(comparable(getattr(value, field.name)) for field in fields(value) if field.compare)
        return (type(value), own)
    if type(value).__module__.startswith("bellcrank.expression."):  # vectors, matrices
        return tuple(map(comparable, value))
    return value
