"""Compatibility of a quantity's unit with the units that are expected."""

from __future__ import annotations

from functools import cache

from bellcrank.mechanism.units import Dimension, dimension_of


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
    return (*dimension[:3], -1) in _dimensions(units)
