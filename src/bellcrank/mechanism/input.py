"""Inputs: named numbers that may change during a run, in functions of time and in formulas."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from bellcrank.errors import Fault, FaultList
from bellcrank.expression.expression import steered_symbol
from bellcrank.expression.grammar import RESERVED, is_name
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.parametric import dependents
from bellcrank.mechanism.quantities import in_si

if TYPE_CHECKING:
    from bellcrank._core import Expression
    from bellcrank.mechanism.contents import Contents

E = TypeVar("E")


def Input(name: str, value: float = 0.0, unit: str = "") -> Any:  # noqa: N802  (it stands beside Drive, Event)
    """A number that may change during a run: an expression, from which others may be built.

    It may be used in functions of time, such as drives and the efforts of motors and forces, and in joints,
    constraints and forces given by formulas; not in numbers that define the mechanism, such as masses.
    `run.inputs[name] = value` changes it from then on, and so do controllers. A name identifies an input:
    made again with the same value and unit, it is the same one. Its `name`, `value` and `unit` can be read.

    value: at the start of a run, in SI units. unit: of the value, for people and files, such as "N m".

    Raises MechanismError for a name that expressions cannot use, or a value that is not a finite number.
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
    tables = (mechanism.joints, mechanism.constraints, mechanism.forces, mechanism.drives)
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
