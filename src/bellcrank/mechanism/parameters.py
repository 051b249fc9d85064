"""Parameters, inputs, and the expressions of parameters that stand for numbers in a description.

An element whose fields contain expressions is checked by a twin with their present values; such a twin is
what is compiled. Inputs may change during a run, in functions of time and in formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeVar
from weakref import ref

import numpy as np

from bellcrank.errors import Fault, FaultList, MechanismError
from bellcrank.expression.compiled import evaluate, slopes
from bellcrank.expression.derivatives import substitute
from bellcrank.expression.expression import Expression, fresh_symbol, steered_symbol, symbol
from bellcrank.expression.parser import RESERVED, is_name
from bellcrank.expression.reading import TIME, symbols_of
from bellcrank.mechanism.checking import Check, check_name, nearest
from bellcrank.mechanism.units import in_si, size_of_unit
from bellcrank.slips import answered

if TYPE_CHECKING:
    from bellcrank.mechanism.contents import Contents


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


_SEARCHED: Final[dict[int, tuple[ref[Any], tuple[Any, ...]]]] = {}
"""What was found in elements that still exist, by `id`; not in them, for all that stands there is pickled."""


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
        number = id(value)
        known = _SEARCHED.get(number)
        if known is None or known[0]() is not value:
            found = _within([getattr(value, name) for name in names])
            known = _SEARCHED[number] = ref(value, lambda _: _SEARCHED.pop(number, None)), found
        return known[1]
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
    if isinstance(value, (list, tuple)):
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

    left: if given, makes the replacement in fields marked as not followed (mechanism/fields.py). Functions
        that follow parameters to first order are then replaced as a whole.
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
    if hasattr(value, "open_parameters") or (left is not None and hasattr(value, "first_order")):
        return function(value)
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (tuple, list)):
        return tuple(_mapped(item, expression, function, left) for item in value)
    if isinstance(value, Mapping):
        return {key: _mapped(item, expression, function, left) for key, item in value.items()}
    made = {}
    for one in fields(value):
        if one.init:
            item = getattr(value, one.name)
            if left is None or one.metadata.get("followed", True):
                made[one.name] = _mapped(item, expression, function, left)
            else:
                made[one.name] = left(item)
    return type(value)(**made)


def present(value: E) -> E:
    """The value with the numbers that its parameters were made with, for checks and previews."""
    return evaluated(value, present_value)


def present_value(expression: Any) -> float:
    """The value of an expression at the values with which its parameters were made."""
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


@dataclass(frozen=True)
class Parameter:
    """A named number.

    value: in SI units, or a text with a unit. unit: of the value, for people and files, such as "m" or "N/m".
    low, high: bounds of the value; None for none. They are assumed when expressions are simplified.
    doc: its description.
    symbol: the expression that stands for it.

    >>> length = pendulum.parameters["length"]
    >>> length.value, length.unit, length.low
    (1.0, 'm', 0.1)
    >>> bc.Parameter("width", "30 mm", "m").value
    0.03
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
            if unit and size_of_unit(unit) not in (None, 1.0):
                advice = f"give the value as a text, such as '{self.value} {unit}', with a unit of SI or none"
                check.fault("unit must be one of SI, in which the value is", unit, advice)
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
    _refuse_strangers(wanted, known)
    values = evaluate(wanted, known)
    return dict(zip(wanted, values, strict=True))


def slopes_of(expressions: Sequence[Any], known: Mapping[Any, float], by: Sequence[Any]) -> Any:
    """Derivatives (symbols, expressions) by some symbols at known values of all.

    Raises MechanismError for expressions that depend on other symbols.
    """
    _refuse_strangers(expressions, known)
    return slopes(expressions, known, by)


def _refuse_strangers(wanted: Iterable[Any], known: Mapping[Any, float]) -> None:
    strangers = {
        expression: unknown
        for expression in wanted
        if (unknown := [symbol for symbol in symbols_of(expression) if symbol not in known])
    }
    if strangers:
        names = {symbol.name for symbol in known}
        raise MechanismError([_stranger(e, symbols, names) for e, symbols in strangers.items()])


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


@answered
def Input(name: str, value: float = 0.0, unit: str = "") -> Any:  # noqa: N802  (it stands beside Drive, Event)
    """A number that may change during a run: an expression, from which others may be built.

    It may be used in functions of time, such as drives and the efforts of motors and forces, and in joints,
    constraints and forces given by formulas; not in numbers that define the mechanism, such as masses.
    `run.inputs[name] = value` changes it from then on, and so do controllers. A name identifies an input:
    made again with the same value and unit, it is the same one. Its `name`, `value` and `unit` can be read.

    value: at the start of a run, in SI units. unit: of the value, for people and files, such as "N m".

    Raises MechanismError for a name that expressions cannot use, or a value that is not a finite number.

    >>> force = bc.Input("force", 2 * 9.81, unit="N")
    >>> motor = block.add_force("motor", bc.JointMotor(force), "guide")
    >>> run = bc.simulate(block, 1.0, inputs={"force": 2 * 9.81 + 4.0})
    >>> print(f"{run.joint('guide').position[-1, 0]:.3f} m")    # 1/2 (4 N / 2 kg) t^2
    1.000 m
    """
    with Check(f"input {name!r}") as check:
        if not isinstance(name, str) or not is_name(name):
            check.fault("the name must be letters, digits and '_', as expressions use it", name)
        elif name in RESERVED:
            check.fault("this name has a meaning in expressions", name, "choose another")
        if not isinstance(unit, str) or not (unit.isprintable() or not unit):
            check.fault("unit must be a text without line breaks", unit)
            unit = ""
        value = check.number("value", in_si(check, "value", value, ()), unit)
    return steered_symbol(name, "input", value, unit)


def offset() -> Any:
    """The symbol of a drive's position offset at the time when an input last changed its velocity."""
    return steered_symbol("offset", "offset")


def is_input(symbol: Any) -> bool:
    """Whether a symbol is that of an input."""
    return symbol.kind == "input"  # type: ignore[no-any-return]


def is_steered(symbol: Any) -> bool:
    """Whether the value of a symbol may change during a run: that of an input, and `offset()`."""
    return symbol.kind in ("input", "offset")


def inputs_in(value: Any) -> Iterator[Expression]:
    """The inputs in an element, a function, formulas, or a container of these."""
    for one in dependents(value):
        yield from getattr(one, "input_symbols", ())


def inputs_of(mechanism: Contents) -> dict[str, Expression]:
    """The inputs of a mechanism by name, in the order in which its elements use them.

    Raises MechanismError, naming all, if two of them, or an input and a parameter, have the same name.
    """
    faults = FaultList()
    found: dict[str, Expression] = {}
    tables = (mechanism.joints, mechanism.constraints, mechanism.forces, mechanism.drives, mechanism.changes)
    for one in dict.fromkeys(inputs_in(tables)):
        if one.name in mechanism.parameters:
            rule = "a parameter has this name too"
            faults.add(f"input {one.name!r}", rule, None, "give one of them another name")
        if one.name in found:
            both = ", and ".join(f"{same.value:g} {same.unit}".rstrip() for same in (found[one.name], one))
            advice = "make it once and use it in all places, or give them different names"
            faults.add(f"input {one.name!r}", "two inputs have this name", both, advice)
        found[one.name] = one
    faults.raise_any()
    return found


def with_other_inputs(value: E, image: Callable[[Any], Any]) -> E:
    """The value, an element for instance, with the formulas changed that depend on inputs."""
    if not any(True for _ in inputs_in(value)):
        return value
    found: Any = value
    if hasattr(found, "input_symbols"):
        return found.with_formulas(image)  # type: ignore[no-any-return]
    if isinstance(found, (tuple, list)):
        return tuple(with_other_inputs(item, image) for item in found)  # type: ignore[return-value]
    changed = {f.name: with_other_inputs(getattr(found, f.name), image) for f in fields(found) if f.init}
    return replace(found, **changed)  # type: ignore[no-any-return]


def refused_as_number(expression: Any, symbols: Iterable[Any]) -> Fault:
    """The fault of inputs in a number that defines a mechanism."""
    names = " and ".join(repr(symbol.name) for symbol in symbols)
    advice = (
        "inputs stand in functions of time and in formulas; for other numbers take mech.add_parameter(...)"
    )
    return Fault("expression", f"a number must not depend on the input {names}", str(expression), advice)
