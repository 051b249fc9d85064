"""Texts that stand for numbers: with a unit, such as "2 kg" and "30 deg", or arithmetic, such as "pi/4".

Files and Python accept the same texts: the units are those of units.py.
"""

from __future__ import annotations

from typing import Any, Final

from bellcrank.errors import MechanismError
from bellcrank.expression.reading import read
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.units import Misfit, UnitError, dimension_of, number_in

_ANGULAR: Final = frozenset({"1", "rad", "rad/s", "N m", "N m/rad", "N m s/rad"})
"""Of two units that a field takes, such as "rad or m", the one along an angle."""


def units_of(unit: str) -> tuple[str, ...]:
    """The accepted units of a number, from a text such as "N/m or N m/rad"; empty for any."""
    return tuple(one.removesuffix(" a turn") for one in unit.split(" or ")) if unit else ()


def unit_along(unit: str, coordinate: str) -> str:
    """The unit, among those of a field such as "rad/s or m/s", that fits a coordinate in rad or m."""
    if coordinate not in ("rad", "m"):
        return unit
    return next((one for one in unit.split(" or ") if (one in _ANGULAR) == (coordinate == "rad")), unit)


def quantity(text: str, unit: str = "") -> float:
    """Convert a text such as "12 N/mm" or "30 deg" to a number in SI units.

    unit: one that it must fit, such as "N/m"; by default any.

    >>> bc.quantity("30 deg", "rad")    # 0.5235987755982988

    Raises MechanismError for a text that is not a number with a unit, and for a unit that does not fit.
    """
    with Check("quantity") as check:
        units = units_of(unit)
        try:
            for one in units:
                dimension_of(one)
        except UnitError as error:
            check.fault(f"the unit: {error}", unit, error.advice)
            units = ()
        found = in_si(check, "the text", text, units)
        return check.number("the text", found)


def holds_texts(value: Any) -> bool:
    """Whether this is a text, or a tuple or list with one in it."""
    if isinstance(value, str):
        return True
    return isinstance(value, (tuple, list)) and any(map(holds_texts, value))


def in_si(check: Check, name: str, value: Any, units: tuple[str, ...], *, formulas: bool = False) -> Any:
    """The value with numbers in place of its texts; their faults are noted.

    units: the accepted ones; empty for any. formulas: texts may also be expressions of time, which are left
        as they are. A text without meaning is left as well; the check of numbers will refuse it.
    """
    if isinstance(value, (tuple, list)):
        if not holds_texts(value):
            return value
        return type(value)(in_si(check, name, item, units, formulas=formulas) for item in value)
    if not isinstance(value, str):
        return value
    try:
        found = number_in(value, units)
    except UnitError as error:
        if formulas and not isinstance(error, Misfit):
            return value
        check.fault(f"{name}: {error}", value, error.advice)
        return 1.0
    return found if found is not None else value if formulas else _arithmetic(value)


def _arithmetic(text: str) -> Any:
    """The value of a text such as "-pi/4"; the text itself if it is not such a number."""
    try:
        found = read(text, {}, "number")
    except MechanismError:
        return text
    return found if isinstance(found, float) else text
