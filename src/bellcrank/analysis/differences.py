"""Derivatives of smooth functions by central differences, extrapolated, with an estimate of their error.

L. F. Richardson, J. A. Gaunt, The deferred approach to the limit, Phil. Trans. R. Soc. A 226 (1927): central
differences have an error in even powers of the step, and halved steps take these away one after another.
Steps may thus be large, so that rounding costs two digits, not half of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from bellcrank.assembly.state import Floats

LEVELS: Final = 5  # steps, each half of the one before
_SHRINK: Final = 8.0
_TRIES: Final = 5
_EPSILON: Final = 2.3e-16
_GOOD: Final = 1e-11  # error, in parts of the largest derivative of a column, with which it is done


class OutOfReach(Exception):
    """There is no value at a point, because constraints cannot be satisfied there, for instance."""


@dataclass(frozen=True, eq=False)
class Derivatives:
    """Derivatives (values, variables) at a point, and the estimated error of each."""

    matrix: Floats
    error: Floats


def derivatives(sample: Callable[[Floats], Floats], point: Floats, steps: Floats) -> Derivatives:
    """Derivatives of values by variables.

    sample: values (points, m) at points (points, n). steps: the largest ones tried, (n,); smaller ones follow
        if these go out of reach, or if the function is not smooth enough for them.

    Raises OutOfReach if no step is small enough.
    """
    middle = sample(point[None])[0]
    if not len(steps):
        return Derivatives(np.zeros((len(middle), 0)), np.zeros((len(middle), 0)))
    columns = [_column(sample, point, middle, number, step) for number, step in enumerate(steps.tolist())]
    matrix, error = (np.stack(parts, axis=1) for parts in zip(*columns, strict=True))
    return Derivatives(matrix, error)


def _column(
    sample: Callable[[Floats], Floats], point: Floats, middle: Floats, variable: int, step: float
) -> tuple[Floats, Floats]:
    best: tuple[Floats, Floats] | None = None
    reason: OutOfReach | None = None
    for _ in range(_TRIES):
        try:
            found = _extrapolated(sample, point, middle, variable, step)
        except OutOfReach as error:
            reason = error
        else:
            if best is None:
                best = found
            else:
                better = found[1] < best[1]
                best = np.where(better, found[0], best[0]), np.where(better, found[1], best[1])
            if np.max(best[1], initial=0.0) <= _GOOD * np.max(np.abs(best[0]), initial=0.0):
                break
        step /= _SHRINK
    if best is None:
        raise OutOfReach(str(reason)) from reason
    return best


def _extrapolated(
    sample: Callable[[Floats], Floats], point: Floats, middle: Floats, variable: int, step: float
) -> tuple[Floats, Floats]:
    """The entry of Neville's table that changes least from its neighbours, and by how much, of each value.

    Where there is a kink in the middle, half the jump of the slope counts as the error.
    """
    steps = step * 0.5 ** np.arange(LEVELS)
    points = np.repeat(point[None], 2 * LEVELS, axis=0)
    points[:, variable] += np.concatenate([steps, -steps])
    away = points[:LEVELS, variable] - points[LEVELS:, variable]  # as rounded
    values = sample(points)
    rows = [(values[:LEVELS] - values[LEVELS:]) / away[:, None]]
    best, least = rows[0][-1], np.full(values.shape[1], np.inf)
    for order in range(1, LEVELS):
        before = rows[-1]
        after = before[1:] + (before[1:] - before[:-1]) / (4.0**order - 1.0)
        rows.append(after)
        for now, coarse, fine in zip(after, before[:-1], before[1:], strict=True):
            error = np.maximum(np.abs(now - coarse), np.abs(now - fine))
            best, least = np.where(error < least, now, best), np.minimum(error, least)
    # (f(h) + f(-h) - 2 f(0)) / h is odd in h, and goes to the jump of the slope.
    jump = (values[:LEVELS] + values[LEVELS:] - 2.0 * middle) / steps[:, None]
    for order in range(LEVELS - 1):
        factor = 2.0 ** (2 * order + 1)
        jump = (factor * jump[1:] - jump[:-1]) / (factor - 1.0)
    # A difference that happens to agree is no better than the rounding of the values allows.
    rounding = _EPSILON * np.max(np.abs(values), axis=0) / step
    return best, np.maximum(np.maximum(least, rounding), 0.5 * np.abs(jump[0]))
