"""Allowed ranges of the numbers of a description, by unit: from atoms to planets.

Numbers outside are mistakes of a unit or an exponent. Within the ranges, products and quotients of a few
numbers stay far from overflow and underflow in double precision.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from sys import float_info
from typing import Final


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
