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
_CLOSE: Final = (
    1e-6  # distance of points whose values differ by rounding beside a smooth change, in parts of a step
)
_PLACES: Final = (0.0, 0.4)  # in parts of a step, where rounding is measured
_NOISES: Final = 4  # times the noise: what a value may be off


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
    noise = _noise(sample, point, steps)
    columns = [
        _column(sample, point, (middle, noise), number, step) for number, step in enumerate(steps.tolist())
    ]
    matrix, error = (np.stack(parts, axis=1) for parts in zip(*columns, strict=True))
    return Derivatives(matrix, error)


def _noise(sample: Callable[[Floats], Floats], point: Floats, steps: Floats) -> Floats:
    """The rounding of each value: what is left of fourth differences of values at points close to each other.

    R. W. Hamming, Introduction to Applied Numerical Analysis, 1971, section 6.4. At the point and away from
    it, as at the point many terms may vanish.
    """
    way = steps * np.where(np.arange(len(steps)) % 2 == 0, 1.0, -0.7)
    found = 0.0
    for part in _PLACES:
        try:
            values = sample(point + (part + _CLOSE * np.arange(-4.0, 5.0)[:, None]) * way)
        except OutOfReach:
            continue
        found = np.maximum(found, np.sqrt(np.mean(np.diff(values, n=4, axis=0) ** 2, axis=0) / 70.0))
    return np.asarray(found)


def _column(
    sample: Callable[[Floats], Floats],
    point: Floats,
    here: tuple[Floats, Floats],
    variable: int,
    step: float,
) -> tuple[Floats, Floats]:
    """Derivatives by one variable, and their errors. here: values at the point, and their noise."""
    best: tuple[Floats, Floats] | None = None
    reason: OutOfReach | None = None
    for _ in range(_TRIES):
        try:
            found = _extrapolated(sample, point, here, variable, step)
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
    sample: Callable[[Floats], Floats],
    point: Floats,
    here: tuple[Floats, Floats],
    variable: int,
    step: float,
) -> tuple[Floats, Floats]:
    """The entry of Neville's table that changes least from its neighbours, and by how much, of each value.

    Where there is a kink in the middle, half the jump of the slope counts as the error. Entries that happen
    to agree are no better than the noise of the values allows.
    """
    middle, noise = here
    steps = step * 0.5 ** np.arange(LEVELS)
    points = np.repeat(point[None], 2 * LEVELS, axis=0)
    points[:, variable] += np.concatenate([steps, -steps])
    away = points[:LEVELS, variable] - points[LEVELS:, variable]  # as rounded
    values = sample(points)
    rows = [(values[:LEVELS] - values[LEVELS:]) / away[:, None]]
    best, least = rows[0][-1], np.full(values.shape[1], np.inf)
    rounding = np.maximum(_NOISES * noise, _EPSILON * np.max(np.abs(values), axis=0))
    for order in range(1, LEVELS):
        before = rows[-1]
        after = before[1:] + (before[1:] - before[:-1]) / (4.0**order - 1.0)
        rows.append(after)
        finest = steps[order:]
        for now, coarse, fine, least_step in zip(after, before[:-1], before[1:], finest, strict=True):
            error = np.maximum(np.abs(now - coarse), np.abs(now - fine))
            error = np.maximum(error, rounding / least_step)
            best, least = np.where(error < least, now, best), np.minimum(error, least)
    # (f(h) + f(-h) - 2 f(0)) / h is odd in h, and goes to the jump of the slope.
    jump = (values[:LEVELS] + values[LEVELS:] - 2.0 * middle) / steps[:, None]
    for order in range(LEVELS - 1):
        factor = 2.0 ** (2 * order + 1)
        jump = (factor * jump[1:] - jump[:-1]) / (factor - 1.0)
    return best, np.maximum(least, 0.5 * np.abs(jump[0]))
