"""Piecewise polynomials in numpy: the arithmetic behind tables, splines, ramps and NURBS."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb
from typing import Any, Final

import numpy as np

EXTRAPOLATIONS: Final = ("hold", "linear", "periodic")
"""What lies outside the range, in the order of C++'s codes 0, 1, 2."""

SMOOTHNESS_TOLERANCE: Final = (
    1e-9  # jump of a derivative, relative to its size over a piece, that counts as none
)


@dataclass(frozen=True, eq=False)
class Pieces:
    """Polynomials on neighbouring intervals.

    breaks: (n + 1,) increasing.
    coefficients: (n, k), ascending powers of (x - break) of each piece.
    """

    breaks: np.ndarray
    coefficients: np.ndarray

    def locate(self, x: np.ndarray) -> np.ndarray:
        """Index of the piece that holds x; x outside belongs to the first or last piece."""
        index = np.searchsorted(self.breaks, x, side="right") - 1
        return np.asarray(np.clip(index, 0, len(self.coefficients) - 1))

    def evaluate(self, x: np.ndarray, order: int, piece: np.ndarray) -> np.ndarray:
        """The derivative of that order at x (any shape), each by the polynomial of the given piece."""
        h = x - self.breaks[piece]
        result = np.zeros_like(h)
        for power in range(self.coefficients.shape[1] - 1, order - 1, -1):
            falling = float(np.prod(np.arange(power - order + 1, power + 1)))
            result = result * h + falling * self.coefficients[piece, power]
        return np.asarray(result)

    def antiderivative(self) -> Pieces:
        """The continuous antiderivative that vanishes at the first break."""
        count, order = self.coefficients.shape
        coefficients = np.zeros((count, order + 1), dtype=self.coefficients.dtype)
        coefficients[:, 1:] = self.coefficients / np.arange(1, order + 1)
        whole = Pieces(self.breaks, coefficients).evaluate(self.breaks[1:], 0, np.arange(count))
        coefficients[1:, 0] = np.cumsum(whole)[:-1]
        return Pieces(self.breaks, coefficients)


Derivative = Callable[[np.ndarray, int, np.ndarray], np.ndarray]


def extrapolated(
    pieces: Pieces, derivative: Derivative, extrapolation: str, x: Any, order: int
) -> np.ndarray:
    """The derivative of that order at x, with the rule for x outside the range (hold, linear or periodic).

    derivative(x, order, piece) evaluates within the range; `pieces` gives the breaks.
    """
    at = np.asarray(x, dtype=float)
    start, end = pieces.breaks[0], pieces.breaks[-1]
    if extrapolation == "periodic":
        span = end - start
        at = at - span * np.floor((at - start) / span)
        at = np.where(at < end, at, start)
    edge = np.clip(at, start, end)
    piece = pieces.locate(edge)
    inside = derivative(edge, order, piece)
    outside = at != edge
    if not np.any(outside):
        return inside
    if extrapolation == "hold":
        beyond = inside if order == 0 else np.zeros_like(inside)
    else:
        slope = derivative(edge, 1, piece)
        beyond = (
            inside + slope * (at - edge) if order == 0 else slope if order == 1 else np.zeros_like(inside)
        )
    return np.where(outside, beyond, inside)


def smoothness(pieces: Pieces, derivative: Derivative, extrapolation: str, most: int = 2) -> int:
    """How many derivatives, up to `most`, are continuous at all breaks, the ends included."""
    breaks, last = pieces.breaks, len(pieces.coefficients) - 1
    lengths = np.diff(breaks)
    left, right = np.arange(last), np.arange(1, last + 1)  # the pieces left and right of each inner break
    for order in range(most + 1):
        before = derivative(breaks[1:-1], order, left)
        after = derivative(breaks[1:-1], order, right)
        first, final = derivative(breaks[[0, -1]], order, np.array([0, last]))
        if extrapolation == "periodic":
            jumps = np.append(after - before, first - final)
        elif order == 0 or (extrapolation == "linear" and order == 1):
            jumps = after - before
        else:
            jumps = np.concatenate([after - before, [first, final]])
        size = _size(pieces, derivative, order, float(np.min(lengths)))
        if np.any(np.abs(jumps) > SMOOTHNESS_TOLERANCE * size):
            return order - 1
    return most


def _size(pieces: Pieces, derivative: Derivative, order: int, length: float) -> float:
    """The size that a derivative of this order may have, from samples and the shortest piece."""
    shares = np.linspace(0.0, 1.0, 5)
    index = np.repeat(np.arange(len(pieces.coefficients)), len(shares))
    x = (pieces.breaks[:-1, None] + np.diff(pieces.breaks)[:, None] * shares).ravel()
    greatest = [float(np.max(np.abs(derivative(x, lower, index)))) for lower in range(order + 1)]
    return max(size / length ** (order - lower) for lower, size in enumerate(greatest))


def quotient(numerator: Pieces, denominator: Pieces) -> Derivative:
    """Derivatives of N / D by Leibniz' rule:  f_k = (N_k - sum over j < k of C(k, j) f_j D_(k-j)) / D."""

    def derivative(x: np.ndarray, order: int, piece: np.ndarray) -> np.ndarray:
        below = [denominator.evaluate(x, k, piece) for k in range(order + 1)]
        values: list[np.ndarray] = []
        for k in range(order + 1):
            value = numerator.evaluate(x, k, piece)
            for j in range(k):
                value = value - comb(k, j) * values[j] * below[k - j]
            values.append(value / below[0])
        return values[order]

    return derivative
