"""Texts that stand for numbers: with a unit, such as "30 deg" or "12 N/mm", or arithmetic, such as "pi/4".

Files and Python accept the same texts. Units are a fixed table of engineering units. A conversion to SI is
exact up to the last rounding: factors are fractions, with a power of pi beside them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import pi
from typing import Any, Final, TypeAlias

from bellcrank.errors import MechanismError
from bellcrank.expression.reading import read
from bellcrank.mechanism.checking import Check, nearest
from bellcrank.slips import answered
from bellcrank.words import UNITS

Dimension: TypeAlias = tuple[int, ...]
"""Exponents of m, kg, s, A, K and rad."""

_NAMES: Final = ("m", "kg", "s", "A", "K", "rad")
_NONE: Final[Dimension] = (0,) * len(_NAMES)
_BASE: dict[str, Dimension] = {name: tuple(int(name == one) for one in _NAMES) for name in _NAMES}
_DEFINITIONS: dict[str, tuple[str, str]] = {  # factor, and the unit it multiplies
    "km": ("1000", "m"),
    "cm": ("1/100", "m"),
    "mm": ("1/1000", "m"),
    "um": ("1/1000000", "m"),
    "µm": ("1/1000000", "m"),
    "in": ("254/10000", "m"),
    "inch": ("1", "in"),
    "ft": ("12", "in"),
    "g": ("1/1000", "kg"),
    "mg": ("1/1000000", "kg"),
    "t": ("1000", "kg"),
    "lb": ("45359237/100000000", "kg"),
    "ms": ("1/1000", "s"),
    "us": ("1/1000000", "s"),
    "min": ("60", "s"),
    "h": ("3600", "s"),
    "mrad": ("1/1000", "rad"),
    "deg": ("pi/180", "rad"),
    "°": ("1", "deg"),
    "rev": ("pi 2", "rad"),
    "turn": ("1", "rev"),
    "rpm": ("1", "rev/min"),
    "Hz": ("1", "s^-1"),
    "kHz": ("1000", "Hz"),
    "N": ("1", "kg m/s^2"),
    "mN": ("1/1000", "N"),
    "kN": ("1000", "N"),
    "MN": ("1000000", "N"),
    "lbf": ("980665/100000", "lb m/s^2"),
    "Nm": ("1", "N m"),
    "Nmm": ("1", "N mm"),
    "kNm": ("1", "kN m"),
    "J": ("1", "N m"),
    "kJ": ("1000", "J"),
    "W": ("1", "J/s"),
    "kW": ("1000", "W"),
    "Pa": ("1", "N/m^2"),
    "kPa": ("1000", "Pa"),
    "MPa": ("1000000", "Pa"),
    "GPa": ("1000000000", "Pa"),
    "bar": ("100", "kPa"),
    "mA": ("1/1000", "A"),
    "V": ("1", "W/A"),
    "mV": ("1/1000", "V"),
    "ohm": ("1", "V/A"),
    "H": ("1", "V s/A"),
    "mH": ("1/1000", "H"),
    "%": ("1/100", ""),
}
_QUANTITY = re.compile(
    r"\s*([-+]?(?:\.[0-9]{1,40}|[0-9]{1,40}(?:\.[0-9]{0,40})?)(?:[eE][-+]?[0-9]{1,3}|(?![eE][-+]?[0-9])))"
    r"\s*([^\s\d.+*/^()-].*?)\s*"
)
_MISSPELT = re.compile(r"\s*[-+0-9.eE]+\s+[A-Za-zµ°%]{2,}(?:\s*/\s*[A-Za-z]+)?\s*")  # no expression either
_COMMA = re.compile(r"\s*[-+]?[0-9.]+,[0-9]")
_NUMBER = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+\.?[0-9]*)(?:[eE][-+]?[0-9]+)?")
_FACTOR = re.compile(r"([A-Za-zµμ°%]+)(?:(?:\^|\*\*)?([-+]?[0-9])|([²³]))?")
_SEPARATOR = re.compile(r"\s*([/*·]?)\s*")
_POWERS = {"²": 2, "³": 3}


@dataclass(frozen=True)
class Quantity:
    """A value in SI units and its dimension."""

    value: float
    dimension: Dimension


class UnitError(ValueError):
    """A text begins like a quantity but is not one; `advice` says what to do."""

    def __init__(self, rule: str, advice: str = "") -> None:
        super().__init__(rule)
        self.advice = advice


class Misfit(UnitError):
    """A quantity has another unit than those that are expected."""


def read_quantity(text: str) -> Quantity | None:
    """The quantity given by a text; None for a text that does not look like one.

    Raises UnitError for a number with an unknown unit, or without a unit.
    """
    if _NUMBER.fullmatch(text.strip()):
        raise UnitError("a number must not stand in quotes", "take the quotes away, or add a unit")
    found = _QUANTITY.fullmatch(text)
    if found is None:
        return None
    if _COMMA.match(text):
        raise UnitError("a number must not contain a comma", "write a decimal point, as in '1.5 m'")
    unit = _unit(found[2])
    try:
        return Quantity(float(Fraction(found[1]) * unit.factor) * pi**unit.turns, unit.dimension)
    except OverflowError as error:
        raise UnitError("this number is too large", "is the exponent right?") from error


@dataclass(frozen=True)
class _Unit:
    """factor * pi^turns SI units of a dimension."""

    factor: Fraction = Fraction(1)
    turns: int = 0
    dimension: Dimension = _NONE

    def times(self, other: _Unit, power: int) -> _Unit:
        sums = tuple(a + power * b for a, b in zip(self.dimension, other.dimension, strict=True))
        return _Unit(self.factor * other.factor**power, self.turns + power * other.turns, sums)


@cache
def _named(name: str) -> _Unit:
    name = name.replace("\N{GREEK SMALL LETTER MU}", "\N{MICRO SIGN}")
    if name in _BASE:
        return _Unit(dimension=_BASE[name])
    if name not in _DEFINITIONS:
        raise UnitError("this unit is not known", f"{name!r}: {_meant(name)}")
    factor, unit = _DEFINITIONS[name]
    number = factor.removeprefix("pi").strip()
    scale = Fraction(1, int(number[1:])) if number.startswith("/") else Fraction(number)
    return _unit(unit).times(_Unit(scale, 1 if factor.startswith("pi") else 0), 1)


def _meant(name: str) -> str:
    """What to write for a unit that is not known."""
    spelled = [unit for words, unit in UNITS.items() if name.casefold() in words.split()]
    return f"here it is written {spelled[0]!r}" if spelled else nearest(name, known_units())


def _unit(text: str) -> _Unit:
    """A unit such as "N m/rad"; each "/" divides by the one unit after it."""
    result = _Unit()
    at, sign = 0, 1
    while at < len(text):
        found = _FACTOR.match(text, at)
        if found is None:
            advice = f"write it like 'N m/rad' or 'kg/m^3'; {text[at]!r} has no meaning in it"
            raise UnitError("this is not a unit", advice)
        count = sign * int(_POWERS.get(found[3], found[2] or 1))
        result = result.times(_named(found[1]), count)
        separator = _SEPARATOR.match(text, found.end())
        assert separator is not None
        at, sign = separator.end(), -1 if separator[1] == "/" else 1
        if separator[1] and at == len(text):
            raise UnitError("this is not a unit", f"a unit is missing after {separator[1]!r}")
    return result


def size_of_unit(unit: str) -> float | None:
    """A unit as a number in SI, such as 0.001 for "mm"; None for one without meaning here."""
    try:
        found = _unit("" if unit == "1" else unit)
    except UnitError:
        return None
    return float(found.factor) * pi**found.turns


def dimension_of(unit: str) -> Dimension:
    """The dimension of a unit; "1" has none."""
    return _unit("" if unit == "1" else unit).dimension


@cache
def _dimensions(units: tuple[str, ...]) -> frozenset[Dimension]:
    return frozenset(map(dimension_of, units))


def fits(dimension: Dimension, units: tuple[str, ...]) -> bool:
    """Whether a quantity of this dimension is compatible with one of the units.

    An angle in the denominator may be left out ("N m" for a torsional stiffness), but not in rad/s: "2 Hz"
    could mean two turns a second as well as 2 rad/s.
    """
    if not units or dimension in _dimensions(units):
        return True
    return (*dimension[:-1], -1) in _dimensions(units)


def number_in(text: str, units: tuple[str, ...]) -> float | None:
    """The number that a text gives in SI units; None for a text that does not look like a quantity.

    units: the accepted ones; empty for any. Raises Misfit for another, and as `read_quantity`.
    """
    found = read_quantity(text)
    if found is not None and not fits(found.dimension, units):
        advice = f"give it in {' or '.join(units)}" if units != ("1",) else "it is a plain number"
        raise Misfit("this unit does not fit here", advice)
    return None if found is None else found.value


def known_units() -> list[str]:
    """The names of all units."""
    return [*_BASE, *_DEFINITIONS]


def definition(name: str) -> str:
    """The definition of a unit in other units; "" for the base units."""
    factor, unit = _DEFINITIONS.get(name, ("", ""))
    return f"{factor} {unit}".removeprefix("1 ").strip()


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


def in_degrees(angle: float) -> bool:
    """Whether an angle, rad, is a number such as 90, which one writes in degrees."""
    return abs(angle) > 2.0 * pi and abs(angle) <= 720.0 and angle % 5.0 == 0.0


def degrees_text(angle: float) -> str:
    """What is odd about such an angle, and what to write."""
    return f"{angle:g} rad is {angle / (2.0 * pi):.3g} turns; if degrees are meant, write '{angle:g} deg'"


@answered
def quantity(text: str, unit: str = "") -> float:
    """Convert a text such as "12 N/mm" or "30 deg" to a number in SI units.

    unit: one that it must fit, such as "N/m"; by default any.

    Raises MechanismError for a text that is not a number with a unit, and for a unit that does not fit.

    >>> print(f"{bc.quantity('30 deg', 'rad'):.6f}")
    0.523599
    >>> bc.quantity("12 N/mm"), bc.quantity("60 rpm", "rad/s") / np.pi
    (12000.0, 2.0)
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
        if formulas and not isinstance(error, Misfit) and not _MISSPELT.fullmatch(value):
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
