"""Quick recognition of obviously valid values: large mechanisms contain hundreds of thousands of them.

Each function returns the stored form of such a value, and None for any other, which `checking` examines.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bellcrank.mechanism.ranges import range_of

if TYPE_CHECKING:
    from bellcrank.mechanism.checking import Quat, Vec3

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
    return (float(x), float(y), float(z)) if _plain(found, most) else None


def plain_quaternion(value: Any) -> Quat | None:
    """A unit quaternion of floats or integers as it is stored."""
    if (found := _listed(value, 4)) is None:
        return None
    w, x, y, z = found
    are_floats = type(w) is type(x) is type(y) is type(z) is float
    if not (are_floats or _plain(found, 2.0)) or not abs(math.hypot(w, x, y, z) - 1.0) <= EXACT:
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


def _plain(value: Any, most: float) -> bool:
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
