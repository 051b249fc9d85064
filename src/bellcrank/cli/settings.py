"""Parameters of a mechanism that are set on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bellcrank.errors import Fault, FaultList, MechanismError

if TYPE_CHECKING:
    from bellcrank.mechanism.mechanism import Mechanism


def with_settings(mechanism: Mechanism, settings: tuple[str, ...]) -> Mechanism:
    """The mechanism with parameters set by texts NAME=VALUE: a number in SI units or with one, or arithmetic.

    Raises MechanismError for everything that is wrong with them.
    """
    values: dict[str, float] = {}
    faults = FaultList()
    for text in settings:
        with faults.collect():
            name, value = setting(text)
            values[name] = value
    faults.raise_any()
    return mechanism.with_parameters(**values) if values else mechanism


def setting(text: str, option: str = "--set") -> tuple[str, float]:
    """Name and value of a text NAME=VALUE. Raises MechanismError naming the option."""
    from bellcrank.expression.reading import read
    from bellcrank.mechanism.units import UnitError, read_quantity

    name, equals, value = (part.strip() for part in text.partition("="))
    if not name or not equals:
        raise MechanismError(Fault(option, "it is written as NAME=VALUE", text, "such as length=0.6"))
    try:
        return name, float(value)
    except ValueError:
        pass
    try:
        found = read_quantity(value)
    except UnitError as error:
        raise MechanismError(Fault(f"{option} {name}", str(error), value, error.advice)) from None
    return name, float(read(value, {}, f"{option} {name}") if found is None else found.value)
