"""Checks of user input: numbers and their ranges, shapes, unit axes and quaternions, names, arguments.

A `Check` collects the faults of one element and raises them together when its `with` block ends.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from sys import float_info
from types import TracebackType
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np

from bellcrank.errors import FaultList
from bellcrank.slips import alike


@dataclass(frozen=True)
class Range:
    """Bounds of a number.

    least: lower bound of numbers that must be greater than zero. most: upper bound of the magnitude.
    """

    least: float
    most: float


DIRECTION: Final = "direction"
"""Stands for the unit of vectors of which the length does not matter."""

RANGES: Final = {
    "m": Range(1e-15, 1e15),
    "m a turn": Range(1e-15, 1e15),
    "kg": Range(1e-30, 1e28),
    "kg m^2": Range(1e-50, 1e45),
    "kg/m^3": Range(1e-12, 1e18),
    "s": Range(1e-15, 1e15),
    "rad": Range(1e-15, 1e12),
    "m/s": Range(1e-15, 1e9),
    "rad/s": Range(1e-15, 1e15),
    "m/s^2": Range(1e-15, 1e15),
    DIRECTION: Range(0.0, float_info.max),
}
"""The bounds by unit."""

OTHERS: Final = Range(1e-25, 1e25)
"""The bounds of what has another unit: stiffness, damping, forces, coefficients, functions, ratios, ..."""


@lru_cache(maxsize=256)
def range_of(unit: str) -> Range:
    """The bounds of numbers of a unit; of several units, as in "rad or m", the wider ones."""
    found = [RANGES.get(one, OTHERS) for one in unit.split(" or ")]
    return (
        found[0]
        if len(found) == 1
        else Range(min(bounds.least for bounds in found), max(bounds.most for bounds in found))
    )


EXACT: Final = 8 * float(np.finfo(float).eps)
"""Closer to one than this, a vector is not normalised again."""

plain_name = re.compile(r"\w(?:[\w -]*\w)?").fullmatch
"""Whether this is a name of letters, digits, blanks and hyphens."""


def plain_vector(value: Any, most: float) -> Vec3 | None:
    """Three floats or integers of a size up to `most` as they are stored.

    A tuple of floats is stored as it is.
    """
    if (found := _listed(value, 3)) is None:
        return None
    x, y, z = found
    if type(x) is type(y) is type(z) is float:
        if -most <= x <= most and -most <= y <= most and -most <= z <= most:
            return value if type(value) is tuple else (x, y, z)
        return None
    return (float(x), float(y), float(z)) if _within(found, most) else None


def plain_quaternion(value: Any) -> Quat | None:
    """A unit quaternion of floats or integers as it is stored."""
    if (found := _listed(value, 4)) is None:
        return None
    w, x, y, z = found
    are_floats = type(w) is type(x) is type(y) is type(z) is float
    if not (are_floats or _within(found, 2.0)) or not abs(math.hypot(w, x, y, z) - 1.0) <= EXACT:
        return None
    return value if are_floats and type(value) is tuple else (float(w), float(x), float(y), float(z))


def plain_number(unit: str, sign: str) -> Callable[[Any], float | None]:
    """For floats within the range of a unit; `sign` as in the declaration of a field."""
    bounds = range_of(unit)
    most, least = bounds.most, {"any": -bounds.most, "not negative": 0.0}.get(sign, bounds.least)
    return lambda value: value if type(value) is float and least <= value <= most else None


def _listed(value: Any, count: int) -> Any:
    """A tuple or list with the given number of items; None for anything else."""
    kind = type(value)
    if kind is np.ndarray and value.ndim == 1 and value.dtype.kind in "fiu":
        value = value.tolist()
    elif kind is not tuple and kind is not list:
        return None
    return value if len(value) == count else None


def _within(value: Any, most: float) -> bool:
    """Whether these are floats or integers of a size up to `most`."""
    return all((isinstance(x, float) or type(x) is int) and -most <= x <= most for x in value)


def rounded(values: Iterable[float]) -> str:
    """Numbers as text with twelve digits, for advice that can be pasted back."""
    return "(" + ", ".join(f"{value:.12g}" for value in values) + ")"


def extents(value: Any) -> tuple[int, ...]:
    """The shape of nested numbers; that of a scalar where there is none."""
    try:
        return np.shape(value)
    except ValueError:
        return ()


def are_pairs(given: Any) -> bool:
    """Whether these are pairs of a name and something."""
    listed = isinstance(given, (tuple, list))
    return listed and all(isinstance(p, tuple) and len(p) == 2 and isinstance(p[0], str) for p in given)


IN_RADIANS: Final = "numbers are in rad; degrees are written as '20 deg'"


Vec3: TypeAlias = tuple[float, float, float]
Quat: TypeAlias = tuple[float, float, float, float]
Mat3: TypeAlias = tuple[Vec3, Vec3, Vec3]
T = TypeVar("T")

UNIT_TOLERANCE = 1e-6  # how far the norm of a quaternion may lie from one, and axes from perpendicular
_MOST = 2**31 - 1  # of whole numbers


class Check:
    """Checks the fields of one element, collecting every fault; raises them all at the end of the block.

    >>> with Check("body 'crank'") as check:
    ...     mass = check.positive("mass", 1.5)

    Each method returns the value in its stored form (floats and tuples of floats), or a harmless stand-in if
    it noted a fault; the stand-in never leaves the block, since the block then raises MechanismError.
    """

    def __init__(self, element: str) -> None:
        self.element = element
        self.faults = FaultList()

    def __enter__(self) -> Check:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.faults.raise_any()

    def fault(self, rule: str, value: object = None, advice: str = "") -> None:
        """Note a fault of this element."""
        self.faults.add(self.element, rule, value, advice)

    def number(self, field: str, value: Any, unit: str = "", least: float | None = None) -> float:
        """A number within the range of its unit; messages give `least` as its lower."""
        most = range_of(unit).most
        if type(value) is float and -most <= value <= most:
            return value
        if isinstance(value, str) and unit:
            value = self._in_si(field, value, unit)
        numeric = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(
            value, (bool, np.bool_)
        )
        if not numeric:
            self.fault(f"{field} must be a number", value, _advice(unit))
            return 1.0
        if not -most <= value <= most:
            self._out_of_range(field, value, unit, least)
            return 1.0
        return float(value)

    def _in_si(self, field: str, value: Any, unit: str) -> Any:
        """The value with numbers in place of texts with units; faults of these are noted."""
        from bellcrank.mechanism.units import in_si, units_of

        return in_si(self, field, value, units_of("1" if unit == DIRECTION else unit))

    def _out_of_range(self, field: str, value: Any, unit: str, least: float | None = None) -> None:
        """Note numbers that are not finite, or larger than allowed for their unit."""
        whole = isinstance(value, int)  # which may be too large for a float
        if not whole and not np.all(np.isfinite(value)):
            shown = value if np.ndim(value) else float(value)
            self.fault(f"{field} must be finite", shown, "look where it was computed")
            return
        shown = f"a whole number of {value.bit_length()} bits" if whole else value
        most = range_of(unit).most
        rule = f"{field} must lie between {-most if least is None else least:g} and {most:g} {unit}"
        self.fault(rule.rstrip(), shown, "is the unit or the exponent right?")

    def positive(self, field: str, value: Any, unit: str = "") -> float:
        """A number greater than zero, within the range of its unit."""
        noted, least = len(self.faults), range_of(unit).least
        number = self.number(field, value, unit, least)
        if len(self.faults) > noted:
            return 1.0
        if number <= 0.0:
            self.fault(f"{field} must be greater than zero", number, _advice(unit))
            return 1.0
        if number < least:
            self._out_of_range(field, number, unit, least)
            return 1.0
        return number

    def all_positive(
        self, field: str, lowest: float, unit: str, rule: str, value: object, advice: str = ""
    ) -> None:
        """Note numbers of which the lowest is not greater than zero, or is below the range of the unit."""
        least = range_of(unit).least
        if lowest <= 0.0:
            self.fault(rule, value, advice)
        elif lowest < least:
            self._out_of_range(field, lowest, unit, least)

    def not_negative(self, field: str, value: Any, unit: str = "") -> float:
        """A number within the range of its unit, zero or greater."""
        noted = len(self.faults)
        number = self.number(field, value, unit, 0.0)
        if number < 0.0 and len(self.faults) == noted:
            self.fault(f"{field} must not be negative", number, _advice(unit))
            return 1.0
        return number

    def not_zero(self, field: str, value: Any, unit: str = "") -> float:
        """A number within the range of its unit, not smaller than what must be greater than zero."""
        number, least = self.number(field, value, unit), range_of(unit).least
        if number == 0.0:
            self.fault(f"{field} must not be zero", number)
        elif abs(number) < least:
            rule = f"{field} must be at least {least:g} {unit}".rstrip()
            self.fault(f"{rule} in size", number, "is the unit or the exponent right?")
            return least
        return number

    def fraction(self, field: str, value: Any) -> float:
        """A finite number between zero and one, both included."""
        noted = len(self.faults)
        number = self.number(field, value)
        if not 0.0 <= number <= 1.0 and len(self.faults) == noted:
            self.fault(f"{field} must lie between 0 and 1", number)
            return 1.0
        return number

    def array(
        self, field: str, value: Any, shape: tuple[int | None, ...], unit: str = "", advice: str = ""
    ) -> np.ndarray:
        """Numbers of the given shape (None = any length), within the range of their unit, as floats.

        advice: where they are not numbers of that shape.
        """
        stand_in = np.ones([1 if extent is None else extent for extent in shape])
        wanted = " x ".join("n" if extent is None else str(extent) for extent in shape)
        if isinstance(value, (str, bytes)):
            self.fault(f"{field} must hold {wanted} numbers", value, advice)
            return stand_in
        if unit and isinstance(value, (tuple, list)):
            value = self._in_si(field, value, unit)
        try:
            raw = np.asarray(value)
            if raw.dtype.kind not in "iuf":
                raise ValueError
            array = np.array(raw, dtype=float)
        except (TypeError, ValueError, OverflowError):
            self.fault(f"{field} must hold {wanted} numbers", value, advice or _advice(unit, "them"))
            return stand_in
        fits = array.ndim == len(shape) and all(
            want is None or want == have for want, have in zip(shape, array.shape, strict=True)
        )
        if not fits or array.size == 0:
            self.fault(f"{field} must hold {wanted} numbers", value, advice)
            return stand_in
        if not np.all(np.abs(array) <= range_of(unit).most):
            self._out_of_range(field, array.tolist(), unit)
            return stand_in
        return array

    def vector(self, field: str, value: Any, unit: str = "") -> Vec3:
        """Three numbers within the range of their unit."""
        if (plain := plain_vector(value, range_of(unit).most)) is not None:
            return plain
        x, y, z = self.array(field, value, (3,), unit).tolist()
        return (x, y, z)

    def axis(self, field: str, value: Any) -> Vec3:
        """A direction: the unit vector along three numbers that are not all zero."""
        plain = plain_vector(value, 2.0)
        if plain is not None and abs(math.hypot(*plain) - 1.0) <= EXACT:
            return plain
        if isinstance(value, str):
            self.fault(
                f"{field} must be a direction", value, "give three numbers, or one of x, y, z, -x, -y, -z"
            )
            return (1.0, 0.0, 0.0)
        noted = len(self.faults)
        array = self.array(field, value, (3,), DIRECTION)
        if len(self.faults) > noted:
            return (1.0, 0.0, 0.0)
        largest = float(np.max(np.abs(array)))
        if largest == 0.0:
            self.fault(f"{field} must be a direction", array.tolist(), "the zero vector has none")
            return (1.0, 0.0, 0.0)
        array = array / largest  # so that no square overflows or vanishes
        x, y, z = (array / math.hypot(*array)).tolist()
        return (x, y, z)

    def quaternion(self, field: str, value: Any) -> Quat:
        """A unit quaternion (w, x, y, z), local to world; refused with the normalised one as advice.

        It may also be given as a rotation matrix (3, 3), whose columns are the local axes.
        """
        if (plain := plain_quaternion(value)) is not None:
            return plain
        if not isinstance(value, str) and len(extents(value)) == 2:
            return self._matrix(field, value)
        w, x, y, z = self._unit_quaternion(field, value).tolist()
        return (w, x, y, z)

    def _matrix(self, field: str, value: Any) -> Quat:
        from bellcrank.mechanism.rotation import from_matrix

        noted = len(self.faults)
        matrix = self.array(field, value, (3, 3))
        if len(self.faults) == noted:
            error = float(np.max(np.abs(matrix.T @ matrix - np.eye(3))))
            if error > 2 * UNIT_TOLERANCE:
                advice = f"its columns must be perpendicular unit vectors, they miss by {error:.2g}"
                self.fault(f"{field} must be a rotation matrix", matrix.tolist(), advice)
            elif np.linalg.det(matrix) < 0.0:
                advice = "it mirrors: its axes are left-handed, change the sign of one column"
                self.fault(f"{field} must be a rotation matrix", matrix.tolist(), advice)
            else:
                return from_matrix(matrix)
        return (1.0, 0.0, 0.0, 0.0)

    def _unit_quaternion(self, field: str, value: Any) -> np.ndarray:
        rule = f"{field} must be a unit quaternion (w, x, y, z)"
        stand_in = np.array([1.0, 0.0, 0.0, 0.0])
        noted = len(self.faults)
        array = self.array(
            field, value, (4,), advice='bc.rotation makes them, as in bc.rotation("z", "90 deg")'
        )
        if len(self.faults) > noted:
            return stand_in
        norm = math.hypot(*array)
        if norm == 0.0:
            self.fault(rule, array.tolist(), "the zero vector is no rotation")
            return stand_in
        if abs(norm - 1.0) > UNIT_TOLERANCE:
            advice = f"its norm is {norm:.6g}; normalised it is {rounded(array / norm)}"
            self.fault(rule, array.tolist(), advice)
            return stand_in
        return array if abs(norm - 1.0) <= EXACT else array / norm

    def choice(self, field: str, value: Any, choices: Iterable[str]) -> str:
        """One of the given words."""
        known = list(choices)
        if isinstance(value, str) and value in known:
            return value
        self.fault(f"{field} must be one of {', '.join(map(repr, known))}", value)
        return known[0]

    def flag(self, field: str, value: Any) -> bool:
        """True or False."""
        if isinstance(value, (bool, np.bool_)):
            return bool(value)
        self.fault(f"{field} must be True or False", value)
        return False

    def integer(self, field: str, value: Any, least: int) -> int:
        """A whole number, not below `least` and not beyond what an int of the core holds."""
        whole = isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))
        if whole and least <= value <= _MOST:
            return int(value)
        wanted = f"from {least} to {_MOST}" if whole and value > _MOST else f"at least {least}"
        self.fault(f"{field} must be a whole number, {wanted}", value)
        return least

    def instance(self, field: str, value: Any, wanted: type[T], advice: str = "") -> T:
        """An object of the class `wanted`."""
        if not isinstance(value, wanted):
            if isinstance(value, type) and issubclass(value, wanted):
                advice = f"write {value.__name__}(), with parentheses"
            self.fault(f"{field} must be a {wanted.__name__}", value, advice)
        found: T = value
        return found

    def store(self, element: object, **values: object) -> None:
        """Store checked values into a frozen dataclass, unless there were faults (which are raised here)."""
        self.faults.raise_any()
        for field, value in values.items():
            object.__setattr__(element, field, value)


def _advice(unit: str, what: str = "it") -> str:
    return f"give {what} in {unit}" if unit not in ("", DIRECTION) else ""


def nearest(name: object, known: Iterable[str]) -> str:
    """Advice that names what may have been meant, or the available names."""
    names = list(known)
    close = alike(str(name), names)
    close += [other for other in names if other.endswith(f"/{name}") and other not in close][:3]
    if close:
        return f"did you mean {' or '.join(map(repr, close))}?"
    if not names:
        return "there is none yet"
    shown = ", ".join(map(repr, names[:8]))
    return f"there are {shown}" + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def kind_meant(kind: object, known: Iterable[str], example: str) -> str:
    """What to do about something that is no kind: which one a text means, or an example."""
    found = alike(kind, known) if isinstance(kind, str) else []
    return (
        f"did you mean {' or '.join(f'bc.{name}(...)' for name in found)}?" if found else f"such as {example}"
    )


def check_name(element: str, name: Any, forbidden: str = "") -> str:
    """A name: a non-empty text without blanks at its ends, line breaks, or any of the `forbidden` characters.

    Raises MechanismError naming the `element` otherwise.
    """
    if type(name) is str and plain_name(name):
        return name
    with Check(element) as check:
        if not isinstance(name, str):
            check.fault("the name must be a text", name)
        elif not name or name != name.strip() or not name.isprintable():
            check.fault("the name must be a non-empty text without blanks at its ends or line breaks", name)
        elif name.startswith("/") or name.endswith("/") or "//" in name:
            check.fault(
                "the name must not start or end with '/' or hold '//'", name, "'/' parts a prefix from a name"
            )
        elif found := sorted(set(name) & set(forbidden)):
            check.fault(f"the name must not contain {found[0]!r}", name)
    return str(name)


def required(element: str, value: Any, wanted: type[T], advice: str = "") -> T:
    """The value, if it is of that class. Raises MechanismError naming the `element` otherwise."""
    with Check(element) as check:
        if not isinstance(value, wanted):
            check.fault(f"a {wanted.__name__} is needed here", value, advice)
    found: T = value
    return found


def required_names(element: str, value: Any) -> tuple[str, ...]:
    """One name, or several, as names. Raises MechanismError naming the `element` otherwise."""
    listed = (value,) if isinstance(value, str) or not isinstance(value, Iterable) else tuple(value)
    with Check(element) as check:
        for name in listed:
            if not isinstance(name, str):
                check.fault("a name, or a list of names, is needed here", name)
    return listed


def required_path(element: str, value: Any) -> str | os.PathLike[str]:
    """The value, if it is a valid file path. Raises MechanismError otherwise."""
    with Check(element) as check:
        if not isinstance(value, (str, os.PathLike)):
            check.fault("a path is needed here", value)
        elif "\0" in os.fsdecode(value):
            check.fault("the name of a file must not contain the character NUL", str(value))
        elif not _is_encodable(value):
            check.fault("the system cannot write the name of this file", ascii(os.fspath(value)))
    found: str | os.PathLike[str] = value
    return found


def _is_encodable(path: str | os.PathLike[str]) -> bool:
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return False
    return True


def required_progress(element: str, value: Any) -> bool | Callable[[float], None]:
    """The value, if it is a valid progress argument. Raises MechanismError naming the `element` otherwise."""
    with Check(element) as check:
        if not callable(value):
            check.flag("progress", value)
    found: bool | Callable[[float], None] = value
    return found
