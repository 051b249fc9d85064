"""Piecewise polynomials: their arithmetic in numpy, by coefficients, a single polynomial, a smooth ramp."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import Any, Final

import numpy as np

from bellcrank import expression as e
from bellcrank.errors import Unsupported
from bellcrank.expression.reading import symbols_of
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.fields import array, as_tuple, checked, choice, described, quantity
from bellcrank.mechanism.functions.function import FlatFunction, Function
from bellcrank.mechanism.given import FloatField, FloatsField, TableField
from bellcrank.mechanism.parameters import is_expression, present, quiet, slopes_of

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


FAR = 1e9  # stands for the end of time: where a polynomial's only piece ends


def increasing(check: Check, field: str, value: Any) -> tuple[float, ...]:
    """Two strictly increasing numbers or more."""
    array = check.array(field, value, (None,))
    if len(array) < 2:
        check.fault(f"{field} must hold 2 numbers or more", value)
        return (0.0, 1.0)
    falls = np.flatnonzero(np.diff(array) <= 0.0)
    if len(falls):
        pair = (float(array[falls[0]]), float(array[falls[0] + 1]))
        check.fault(
            f"{field} must increase", pair, f"see entries {falls[0]} and {falls[0] + 1}, counted from 0"
        )
    return as_tuple(array)


class _Followed(Function):
    """A function by polynomials whose coefficients follow parameters to first order.

    now: the function as it is, Piecewise or Rational or made of points. coefficients: of its polynomials, or
    of the numerators, with expressions.
    """

    def __init__(self, now: Any, coefficients: np.ndarray) -> None:
        self.now, self.coefficients = now, coefficients

    @property
    def open_parameters(self) -> tuple[Any, ...]:
        """What follows parameters."""
        return tuple(one for one in self.coefficients.flat if is_expression(one))

    def with_numbers(self, _: Any) -> Function:
        """The function as it is."""
        found: Function = self.now
        return found

    def derivative(self, x: Any, order: int = 1) -> np.ndarray:
        """See Function.derivative."""
        return np.asarray(self.now.derivative(x, order))

    @property
    def smoothness(self) -> int:
        """See Function.smoothness."""
        return int(self.now.smoothness)

    def flat(self) -> FlatFunction:
        """See Function.flat."""
        flat: FlatFunction = self.now.flat()
        params: list[Any] = list(flat.params)
        first = 4 + int(params[1])  # after order, pieces, extrapolation and breaks
        params[first : first + self.coefficients.size] = self.coefficients.ravel().tolist()
        return FlatFunction(flat.kind, tuple(params))

    def scaled(self, factor: float) -> Function:
        """See Function.scaled."""
        return _Followed(self.now.scaled(factor), factor * self.coefficients)

    def integral(self) -> Function:
        """See Function.integral."""
        whole = self.now.integral()
        return _Followed(whole, Pieces(whole.pieces.breaks, self.coefficients).antiderivative().coefficients)


def followed(
    now: Function,
    coefficients: np.ndarray,
    values: Sequence[Any],
    known: Mapping[Any, float],
    along: Callable[[np.ndarray], np.ndarray],
) -> Function:
    """A function whose coefficients, (n, k), follow the parameters in some values to first order.

    now: the function at the known values of parameters. along: their change where the values change by (n,).
    """
    found = coefficients.astype(object)
    open_ones = [k for k, one in enumerate(values) if is_expression(one)]
    expressions = [values[k] for k in open_ones]
    symbols = symbols_of(*expressions)
    for symbol, slopes in zip(symbols, slopes_of(expressions, known, symbols), strict=True):
        change = np.zeros(len(values))
        change[open_ones] = slopes
        made = along(change)
        moved = made != 0.0
        with quiet():
            found[moved] += made[moved] * (symbol - known[symbol])
    return _Followed(now, found)


class _PiecewiseFunction(Function):
    """A function that is a piecewise polynomial; subclasses say which."""

    extrapolation: str

    @cached_property
    def pieces(self) -> Pieces:
        """The polynomials."""
        return self._make_pieces()

    @abstractmethod
    def _make_pieces(self) -> Pieces:
        """The polynomials, made once."""

    def derivative(self, x: Any, order: int = 1) -> np.ndarray:
        """See Function.derivative."""
        return extrapolated(self.pieces, self.pieces.evaluate, self.extrapolation, x, order)

    @cached_property
    def smoothness(self) -> int:
        """See Function.smoothness."""
        return smoothness(self.pieces, self.pieces.evaluate, self.extrapolation)

    def flat(self) -> FlatFunction:
        """See Function.flat."""
        count, order = self.pieces.coefficients.shape
        head = [order, count, EXTRAPOLATIONS.index(self.extrapolation)]
        params = np.concatenate([head, self.pieces.breaks, self.pieces.coefficients.ravel()])
        return FlatFunction("piecewise", tuple(params.tolist()))

    def formula(self, x: Any) -> Any:
        """See Function.formula; the polynomials themselves, so that files can hold it."""
        breaks, rows = self.pieces.breaks.tolist(), self.pieces.coefficients.tolist()
        start, end = breaks[0], breaks[-1]
        if self.extrapolation == "periodic":
            at = x - (end - start) * e.floor((x - start) / (end - start))
        else:
            at = e.minimum(e.maximum(x, start), end)
        values = []
        for begin, row in zip(breaks, rows, strict=False):
            value = row[-1]
            for coefficient in reversed(row[:-1]):
                value = value * (at - begin) + coefficient
            values.append(value)
        chosen = [
            item for pair in zip([at < edge for edge in breaks[1:-1]], values, strict=False) for item in pair
        ]
        found = e.piecewise(*chosen, values[-1])
        if self.extrapolation == "linear":
            slopes = self.derivative(np.array([start, end]), 1).tolist()
            found = found + slopes[0] * e.minimum(x - start, 0.0) + slopes[1] * e.maximum(x - end, 0.0)
        return found

    def scaled(self, factor: float) -> Function:
        """See Function.scaled."""
        return from_pieces(Pieces(self.pieces.breaks, factor * self.pieces.coefficients), self.extrapolation)

    def integral(self) -> Function:
        """The antiderivative that vanishes at the start of the range.

        Raises Unsupported for a periodic function with nonzero mean, and if the function continues with a
        slope beyond its range: the antiderivative would have to continue as a parabola.
        """
        present(self)._refuse_slope_beyond()  # noqa: SLF001  (its own, with numbers for parameters)
        going_on = "periodic" if self.extrapolation == "periodic" else "linear"
        return from_pieces(self.pieces.antiderivative(), going_on)

    def _refuse_slope_beyond(self) -> None:
        if self.extrapolation == "periodic":
            pieces = self.pieces.antiderivative()
            rise = pieces.evaluate(self.pieces.breaks[-1:], 0, np.array([len(self.pieces.coefficients) - 1]))[
                0
            ]
            size = float(np.sum(np.abs(np.diff(pieces.coefficients[:, 0])))) + abs(float(rise))
            if abs(rise) > 1e-12 * size:
                raise Unsupported(
                    f"the periodic {type(self).__name__} has a mean that is not zero, so that its "
                    "antiderivative is not periodic; give a position, or a velocity without a mean"
                )
        if self.extrapolation == "linear" and not self._level_at_the_ends():
            raise Unsupported(
                f"the {type(self).__name__} goes on with a slope beyond its range, where its "
                "antiderivative is not available; use extrapolation='hold'"
            )

    def _level_at_the_ends(self) -> bool:
        """Whether the slopes at both ends are zero, up to rounding."""
        breaks = self.pieces.breaks
        change = np.abs(self.derivative(breaks[[0, -1]], 1)) * np.diff(breaks)[[0, -1]]
        return bool(np.all(change <= 1e-12 * np.max(np.abs(self.pieces.coefficients[:, 0]))))


@described
class Piecewise(_PiecewiseFunction):
    """Polynomials on neighbouring intervals.

    breaks: n + 1 increasing values of x.
    coefficients: n rows of k numbers, ascending powers of (x - break).
    extrapolation: outside the range "hold" the end values, go on "linear"ly, or repeat ("periodic").

    >>> steps = bc.Piecewise([0.0, 1.0, 2.0], [[0.0, 2.0], [2.0, 0.0]])    # 2 x, then 2
    >>> print(steps.derivative([0.5, 1.5, 5.0], 0))
    [1. 2. 2.]
    """

    breaks: FloatsField = checked(increasing, parametric=True)
    coefficients: TableField = array("", None, None)
    extrapolation: str = choice(EXTRAPOLATIONS, default="hold")

    def _judge(self, check: Check) -> None:
        if len(self.coefficients) != len(self.breaks) - 1:
            count = len(self.coefficients)
            check.fault("there must be one row of coefficients between any two breaks", count)
        if (width := len(self.coefficients[0])) > 64:
            check.fault("a piece has at most 64 coefficients", width)

    def _make_pieces(self) -> Pieces:
        return Pieces(np.array(self.breaks), np.array(self.coefficients))


def from_pieces(pieces: Pieces, extrapolation: str) -> Piecewise:
    """The Piecewise function of given pieces."""
    rows = tuple(tuple(row) for row in pieces.coefficients.tolist())
    return Piecewise(tuple(pieces.breaks.tolist()), rows, extrapolation)


@described
class Polynomial(_PiecewiseFunction):
    """The sum of c_i (x - start)^i for x >= start; before `start` it goes on linearly.

    coefficients: c_0, c_1, ... in ascending powers.

    >>> fall = bc.Polynomial([0.0, 0.0, 9.81 / 2])
    >>> print(fall.derivative(2.0, 0).round(6), fall.derivative(2.0).round(6))    # m, m/s after 2 s
    19.62 19.62
    """

    coefficients: FloatsField = array("", None)
    start: FloatField = quantity(default=0.0)

    def _judge(self, check: Check) -> None:
        if len(self.coefficients) > 64:
            check.fault("a polynomial has at most 64 coefficients", len(self.coefficients))

    @property
    def extrapolation(self) -> str:  # type: ignore[override]
        """Beyond `start` (and in about thirty years) it goes on linearly."""
        return "linear"

    def _make_pieces(self) -> Pieces:
        return Pieces(np.array([self.start, self.start + FAR]), np.array([self.coefficients]))

    @cached_property
    def smoothness(self) -> int:
        """As a function of time from `start` on it has all derivatives; at `start` itself at least one."""
        curved = len(self.coefficients) > 2 and self.coefficients[2] != 0.0
        return 1 if curved else 2

    def scaled(self, factor: float) -> Polynomial:
        """See Function.scaled."""
        return Polynomial(tuple(factor * c for c in self.coefficients), self.start)

    def integral(self) -> Polynomial:
        """The antiderivative for x >= start, zero at `start`."""
        return Polynomial((0.0, *(c / (i + 1) for i, c in enumerate(self.coefficients))), self.start)


@described
class Ramp(_PiecewiseFunction):
    """A step made smooth: from one value to another, with two continuous derivatives (rest to rest).

    The transition is  s^3 (10 - 15 s + 6 s^2)  with s = (x - start)/duration; before and after, the values
    hold. The greatest rate is 15/8 of height/duration, in the middle.

    >>> ramp = bc.Ramp(0.0, 1.0, start=1.0, duration=2.0)
    >>> print(ramp.derivative([1.0, 2.0, 3.0], 0), ramp.derivative(2.0).round(6))    # 15/8 of 1/2
    [0.  0.5 1. ] 0.9375
    """

    from_value: FloatField = quantity()
    to_value: FloatField = quantity()
    start: FloatField = quantity(default=0.0)
    duration: FloatField = quantity("s", "positive", default=1.0)

    @property
    def extrapolation(self) -> str:  # type: ignore[override]
        """Before and after the ramp the values hold."""
        return "hold"

    @property
    def smoothness(self) -> int:
        """Two continuous derivatives."""
        return 2

    def _make_pieces(self) -> Pieces:
        height = self.to_value - self.from_value
        shape = np.array([0.0, 0.0, 0.0, 10.0, -15.0, 6.0]) * height / self.duration ** np.arange(6)
        shape[0] = self.from_value
        return Pieces(np.array([self.start, self.start + self.duration]), shape[None, :])

    def scaled(self, factor: float) -> Ramp:
        """See Function.scaled."""
        return Ramp(factor * self.from_value, factor * self.to_value, self.start, self.duration)
