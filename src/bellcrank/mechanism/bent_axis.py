"""The axis of a bent beam: a smooth curve through points, by its arc length."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np

from bellcrank.mechanism.checking import Vec3
from bellcrank.mechanism.functions.spline import spline_slopes

_PARTS: Final = 16  # of each piece of the spline, over which lengths are summed
_GAUSS: Final = np.polynomial.legendre.leggauss(5)


class BentAxis:
    """A cubic spline through points in space; at its ends it has the slope of the cubic through four of them.

    length: of the curve, m.
    """

    def __init__(self, points: np.ndarray) -> None:
        apart = np.linalg.norm(np.diff(points, axis=0), axis=1)
        self._breaks = np.concatenate([[0.0], np.cumsum(apart)])
        four = slice(4), slice(None, -5, -1)
        ends = np.array([_slope(self._breaks[part], points[part]) for part in four])
        slopes = spline_slopes(self._breaks, points, "clamped", ends)
        h, secant = apart[:, None], np.diff(points, axis=0) / apart[:, None]
        left, right = slopes[:-1], slopes[1:]
        self._powers = np.stack(
            [points[:-1], left, (3 * secant - 2 * left - right) / h, (left + right - 2 * secant) / h**2]
        )
        inner = np.arange(_PARTS) / _PARTS
        self._fine = np.append((self._breaks[:-1, None] + inner * h).ravel(), self._breaks[-1])
        self._lengths = np.concatenate([[0.0], np.cumsum(self._between(self._fine[:-1], self._fine[1:]))])
        self.length = float(self._lengths[-1])

    def at(self, stations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Places and unit tangents (n, 3) at distances from the start (n,), m."""
        u = np.interp(stations, self._lengths, self._fine)
        for _ in range(4):
            part = np.clip(np.searchsorted(self._fine, u, "right") - 1, 0, len(self._fine) - 2)
            reached = self._lengths[part] + self._between(self._fine[part], u)
            step = (reached - stations) / np.linalg.norm(self._along(u), axis=1)
            u = np.clip(u - step, 0.0, self._breaks[-1])
        tangents = self._along(u)
        return self._places(u), tangents / np.linalg.norm(tangents, axis=1)[:, None]

    def _between(self, begin: np.ndarray, end: np.ndarray) -> np.ndarray:
        """Lengths of the curve from one parameter to another."""
        nodes, weights = _GAUSS
        half = 0.5 * (end - begin)
        u = (begin + half)[:, None] + half[:, None] * nodes
        speed = np.linalg.norm(self._along(u.ravel()), axis=1).reshape(u.shape)
        return np.asarray(half * (speed @ weights))

    def _pieces(self, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        piece = np.clip(np.searchsorted(self._breaks, u, "right") - 1, 0, len(self._breaks) - 2)
        return self._powers[:, piece], (u - self._breaks[piece])[:, None]

    def _places(self, u: np.ndarray) -> np.ndarray:
        (a, b, c, d), x = self._pieces(u)
        return np.asarray(a + x * (b + x * (c + x * d)))

    def _along(self, u: np.ndarray) -> np.ndarray:
        (_, b, c, d), x = self._pieces(u)
        return np.asarray(b + x * (2.0 * c + x * 3.0 * d))


def _slope(u: np.ndarray, points: np.ndarray) -> np.ndarray:
    """The slope at the first of up to four points of the polynomial through them."""
    powers = np.vander(u - u[0], increasing=True)
    return np.asarray(np.linalg.solve(powers, points)[1])


@lru_cache(maxsize=64)
def bent_axis(points: tuple[Vec3, ...]) -> BentAxis:
    """The axis through points, made once."""
    return BentAxis(np.array(points, dtype=float))
