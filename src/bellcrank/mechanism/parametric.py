"""Numbers of a description that are expressions of parameters: holding them, checking them, evaluating them.

An element whose fields hold expressions is checked by a twin with the numbers that these have now; what is
compiled is always such a twin.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import wraps
from importlib import import_module
from typing import Any, TypeVar

import numpy as np

from bellcrank.errors import FaultList, MechanismError

_MODULE = "bellcrank.expression.expression"
E = TypeVar("E")
Evaluate = Callable[[Any], float]
"""The number that an expression stands for."""


def expressions_loaded() -> bool:
    """Whether there can be expressions: as long as nobody has loaded their module, there are none."""
    return _MODULE in sys.modules


def is_expression(value: Any) -> bool:
    """Whether this is an expression."""
    module = sys.modules.get(_MODULE)
    return module is not None and isinstance(value, module.Expression)


class Parametric:
    """Base of description classes in whose fields expressions of parameters may stand for numbers.

    A subclass that checks its fields in `__post_init__` need not know of them: where there are any, a twin
    with numbers is checked in its place, and the expressions are kept.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if (own := cls.__dict__.get("__post_init__")) is not None:
            cls.__post_init__ = _by_twin(own)  # type: ignore[attr-defined]


def _by_twin(check: Callable[[Any], None]) -> Callable[[Any], None]:
    @wraps(check)
    def checked(self: Any) -> None:
        if expressions_loaded() and not hasattr(type(self), "open_parameters"):
            _adopt_functions(self)
            if holds_expressions(self):
                _check_dependence(self)
                _settle(self, present(self))
                return
        check(self)

    return checked


def _check_dependence(element: Any) -> None:
    """Raise MechanismError, with the fields, where numbers depend on what is no parameter."""
    faults = FaultList()
    for field in fields(element):
        try:
            for expression in expressions_in(getattr(element, field.name)):
                present_value(expression)
        except MechanismError as error:
            label = f"body {element.name!r}" if "mass" in vars(element) else type(element).__name__
            for fault in error.faults:
                faults.add(label, f"{field.name}: {fault.rule}", fault.value, fault.advice)
    faults.raise_any()


def _adopt_functions(element: Any) -> None:
    """Let expressions in fields that take functions become functions."""
    for field in fields(element):
        hint = str(field.type)
        if field.init and ("Function" in hint or hint in ("Any", "PathCurve")):
            given = getattr(element, field.name)
            if given is not (taken := _functions(given)):
                object.__setattr__(element, field.name, taken)


def _functions(value: Any) -> Any:
    if is_expression(value):
        return import_module("bellcrank.mechanism.functions.function_of_time").FunctionOfTime(value)
    if isinstance(value, (tuple, list)) and any(map(is_expression, value)):
        return tuple(_functions(item) for item in value)
    return value


def _settle(element: Any, twin: Any) -> None:
    """Give an element the fields of its twin, with the expressions for which the twin has numbers."""
    for field in fields(element):
        if field.init:
            given = getattr(element, field.name)
            object.__setattr__(element, field.name, kept(given, getattr(twin, field.name)))
    if "free" in vars(twin):  # of a joint kind whose coordinates depend on its fields
        object.__setattr__(element, "free", vars(twin)["free"])


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
    """For arithmetic of arrays that may hold expressions, whose infinite bounds are no reason to warn."""
    return np.errstate(all="ignore") if expressions_loaded() else np.errstate()


def holds_expressions(value: Any) -> bool:
    """Whether there are expressions of parameters in a value: an element, a tuple, a number, ..."""
    if value is None or isinstance(value, (float, int, str)):
        return False
    if isinstance(value, (tuple, list)):
        return any(map(holds_expressions, value))
    return any(True for _ in expressions_in(value))


def expressions_in(value: Any) -> Iterator[Any]:
    """The expressions of parameters in a value; of functions of time, the parameters."""
    if value is None or isinstance(value, (float, int, str)):
        return
    if is_expression(value):
        yield value
    elif hasattr(value, "open_parameters"):
        yield from value.open_parameters
    else:
        for item in _held(value):
            yield from expressions_in(item)


def _held(value: Any) -> Iterable[Any]:
    """What a value consists of."""
    if isinstance(value, (tuple, list)):
        return value
    if isinstance(value, Mapping):
        return value.values()
    if isinstance(value, np.ndarray) and value.dtype == object:
        return list(value.flat)
    if is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, field.name) for field in fields(value) if field.init]
    return ()


def evaluated(value: E, number: Evaluate) -> E:
    """The value with numbers for its expressions; itself if it has none.

    Raises MechanismError where an element does not take its numbers.
    """
    return mapped(value, number, lambda function: function.with_numbers(number))


def mapped(value: E, expression: Callable[[Any], Any], function: Callable[[Any], Any]) -> E:
    """The value with each expression of parameters, and each function of time with some, replaced."""
    return _mapped(value, expression, function) if holds_expressions(value) else value


def _mapped(value: Any, expression: Callable[[Any], Any], function: Callable[[Any], Any]) -> Any:
    if is_expression(value):
        return expression(value)
    if not holds_expressions(value):
        return value
    if hasattr(value, "open_parameters"):
        return function(value)
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (tuple, list)):
        return tuple(_mapped(item, expression, function) for item in value)
    if isinstance(value, Mapping):
        return {key: _mapped(item, expression, function) for key, item in value.items()}
    given = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
    return type(value)(**{name: _mapped(item, expression, function) for name, item in given.items()})


def present(value: E) -> E:
    """The value with the numbers that its parameters were made with, for checks and previews."""
    return evaluated(value, present_value)


def present_value(expression: Any) -> float:
    """The number of an expression where its parameters have the values that they were made with."""
    from bellcrank.mechanism.parameter import value_as_made

    return value_as_made(expression)


def comparable(value: Any) -> Any:
    """The value with the same symbols for all of one name: equal for other symbols of the same names."""
    if not expressions_loaded():
        return value
    if is_expression(value):
        reading = import_module("bellcrank.expression.reading")
        expressions = import_module("bellcrank.expression")
        images = {s: expressions.symbol(s.name) for s in reading.symbols_of(value) if s != reading.TIME}
        return expressions.substitute(value, images)
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
