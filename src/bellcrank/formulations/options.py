"""Options of formulations: checked against the dataclass that describes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, field, fields
from typing import TYPE_CHECKING, Any, TypeVar

from bellcrank.errors import Fault, FaultList, MechanismError
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.naming import nearest

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Options = TypeVar("Options", bound="DataclassInstance")


def option(default: float, meaning: str, unit: str = "", least: float | None = None) -> Any:
    """A field of an options dataclass. least: smallest value allowed; None for values greater than zero."""
    return field(default=default, metadata={"meaning": meaning, "unit": unit, "least": least})


def checked_options(formulation: str, kind: type[Options], given: Mapping[str, Any]) -> Options:
    """The options given, the others at their defaults.

    Raises MechanismError for names that are not options and for values out of range, all at once.
    """
    known = {item.name: item for item in fields(kind)}
    faults, values = FaultList(), {}
    for name, value in given.items():
        if name not in known:
            advice = nearest(name, known)
            faults.add(f"formulation {formulation!r}", f"it has no option {name!r}", None, advice)
            continue
        with faults.collect():
            values[name] = _checked(formulation, known[name], value)
    faults.raise_any()
    return kind(**values)


def _checked(formulation: str, item: Field[Any], value: Any) -> float:
    name, least = item.name, item.metadata["least"]
    with Check(f"formulation {formulation!r}") as check:
        if isinstance(item.default, int):
            return check.integer(name, value, int(least or 0))
        if least is None:
            return check.positive(name, value, item.metadata["unit"])
        number = check.number(name, value, item.metadata["unit"])
        if number < least:
            raise MechanismError(Fault(check.element, f"{name} must be at least {least:g}", number))
    return number
