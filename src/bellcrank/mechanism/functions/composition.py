"""Composition of piecewise polynomials: a curve's components over its parameter, the parameter over time."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.functions.pieces import Pieces


def compose(
    outer: list[Pieces], outer_extrapolation: str, inner: Pieces, inner_extrapolation: str
) -> tuple[list[Pieces], str]:
    """outer(inner(t)) for several outer functions on the same breaks, exact, with its extrapolation.

    If the inner function continues linearly beyond its range, it is followed to the ends of the outer one.
    Raises MechanismError if the outer function is periodic and the inner one would run through it endlessly
    without being simply linear.
    """
    if outer_extrapolation == "periodic" and inner_extrapolation == "linear":
        return _run_through_periodic(outer, inner)
    pieces, extrapolation = _followed(outer[0], inner, inner_extrapolation)
    unrolled = _unrolled(outer, pieces) if outer_extrapolation == "periodic" else outer
    padded = [_padded(function, pieces, outer_extrapolation) for function in unrolled]
    result = _composed(padded, pieces)
    if extrapolation == "linear" and outer_extrapolation == "hold":
        extrapolation = "hold"
    return result, extrapolation


def _linear(inner: Pieces) -> bool:
    return len(inner.coefficients) == 1 and not np.any(inner.coefficients[0, 2:])


def _run_through_periodic(outer: list[Pieces], inner: Pieces) -> tuple[list[Pieces], str]:
    """A closed curve at constant rate: periodic in time as well."""
    speed = float(inner.coefficients[0, 1]) if inner.coefficients.shape[1] > 1 else 0.0
    if not _linear(inner) or speed == 0.0:
        if np.any(
            inner.evaluate(inner.breaks[[0, -1]], 1, np.array([0, len(inner.coefficients) - 1])) != 0.0
        ):
            raise MechanismError(
                Fault(
                    "Path",
                    "a closed curve can be run through without end at constant rate only",
                    None,
                    "use a timing that is linear, or one that holds its value outside its range (a Ramp, "
                    "extrapolation='hold')",
                )
            )
        return compose(outer, "periodic", inner, "hold")
    start, end = outer[0].breaks[0], outer[0].breaks[-1]
    first = float(inner.breaks[0] + (start - inner.coefficients[0, 0]) / speed)
    last = first + (end - start) / speed
    low, high = min(first, last), max(first, last)
    value = float(inner.coefficients[0, 0] + speed * (low - inner.breaks[0]))
    window = Pieces(np.array([low, high]), np.array([[value, speed]]))
    return _composed(outer, window), "periodic"


def _followed(outer: Pieces, inner: Pieces, extrapolation: str) -> tuple[Pieces, str]:
    """The inner function over the relevant range of t, and the extrapolation of the composition."""
    if extrapolation != "linear":
        return inner, extrapolation
    low, high = float(outer.breaks[0]), float(outer.breaks[-1])
    breaks, rows = list(inner.breaks), [np.asarray(row) for row in inner.coefficients]
    if _linear(inner) and inner.coefficients.shape[1] > 1 and inner.coefficients[0, 1] != 0.0:
        value, speed = float(inner.coefficients[0, 0]), float(inner.coefficients[0, 1])
        ends = sorted((breaks[0] + (low - value) / speed, breaks[0] + (high - value) / speed))
        return Pieces(np.array(ends), np.array([[value + speed * (ends[0] - breaks[0]), speed]])), "linear"
    last = len(rows) - 1
    for edge, piece, before in ((breaks[0], 0, True), (breaks[-1], last, False)):
        value = float(inner.evaluate(np.array(edge), 0, np.array(piece)))
        slope = float(inner.evaluate(np.array(edge), 1, np.array(piece)))
        reach = _reach(value, slope, low, high, before)
        if reach == 0.0:
            continue
        row = np.zeros(inner.coefficients.shape[1])
        row[1] = slope
        row[0] = value - slope * reach if before else value
        if before:
            breaks.insert(0, edge - reach)
            rows.insert(0, row)
        else:
            breaks.append(edge + reach)
            rows.append(row)
    return Pieces(np.array(breaks), np.array(rows)), "linear"


def _reach(value: float, slope: float, low: float, high: float, before: bool) -> float:
    """How long the inner function, continued from its end with this slope, stays between low and high."""
    direction = -slope if before else slope
    if direction == 0.0 or not low < value < high:
        return 0.0
    return ((high if direction > 0.0 else low) - value) / direction


def _range(inner: Pieces) -> tuple[float, float]:
    """Least and greatest value of the inner function over its range."""
    values: list[float] = []
    for row, length in zip(inner.coefficients, np.diff(inner.breaks), strict=True):
        inside = [h for h in _real_roots(np.polynomial.polynomial.polyder(row)) if 0.0 < h < length]
        values += [float(np.polynomial.polynomial.polyval(h, row)) for h in (0.0, float(length), *inside)]
    return min(values), max(values)


def _unrolled(outer: list[Pieces], inner: Pieces) -> list[Pieces]:
    """A periodic function repeated as often as the inner one runs through it."""
    low, high = _range(inner)
    start, end = outer[0].breaks[0], outer[0].breaks[-1]
    span = end - start
    first, last = int(np.floor((low - start) / span)), int(np.ceil((high - start) / span))
    turns = range(first, max(last, first + 1))
    breaks = np.concatenate(
        [outer[0].breaks[:-1] + k * span for k in turns] + [[start + turns[-1] * span + span]]
    )
    return [Pieces(breaks, np.tile(function.coefficients, (len(turns), 1))) for function in outer]


def _padded(outer: Pieces, inner: Pieces, extrapolation: str) -> Pieces:
    """The outer function with pieces added where the inner one leaves its range."""
    low, high = _range(inner)
    breaks, rows = list(outer.breaks), list(outer.coefficients)
    last = len(rows) - 1
    slack = 1e-12 * (breaks[-1] - breaks[0])  # rounding alone adds no piece
    order = outer.coefficients.shape[1]
    for edge, piece, bound, before in ((breaks[0], 0, low, True), (breaks[-1], last, high, False)):
        beyond = edge - bound if before else bound - edge
        if beyond <= slack:
            continue
        row = np.zeros(max(order, 2))
        value = float(outer.evaluate(np.array(edge), 0, np.array(piece)))
        slope = (
            float(outer.evaluate(np.array(edge), 1, np.array(piece))) if extrapolation == "linear" else 0.0
        )
        row[:2] = (value - slope * beyond if before else value), slope
        row = row[:order]
        if before:
            breaks.insert(0, edge - beyond)
            rows.insert(0, row)
        else:
            breaks.append(edge + beyond)
            rows.append(row)
    return Pieces(np.array(breaks), np.array(rows))


def _composed(outer: list[Pieces], inner: Pieces) -> list[Pieces]:
    """The composition within the inner function's range, cut where it crosses a break of the outer one."""
    polynomial = np.polynomial.polynomial
    times: list[float] = []
    parts: list[tuple[int, np.ndarray]] = []  # outer piece, inner polynomial about the part's start
    for row, begin, end in zip(inner.coefficients, inner.breaks[:-1], inner.breaks[1:], strict=True):
        length = float(end - begin)
        cuts = {0.0, length}
        for value in outer[0].breaks[1:-1]:
            shifted = np.array(row)
            shifted[0] -= value
            cuts.update(h for h in _real_roots(shifted) if 1e-12 * length < h < (1.0 - 1e-12) * length)
        marks = sorted(cuts)
        for left, right in pairwise(marks):
            middle = polynomial.polyval(0.5 * (left + right), row)
            times.append(float(begin + left))
            parts.append((int(outer[0].locate(np.array(middle))), _shifted(row, left)))
    breaks = np.array([*times, float(inner.breaks[-1])])
    result = []
    for function in outer:
        rows = []
        for piece, row in parts:
            argument = np.array(row)
            argument[0] -= function.breaks[piece]
            total = np.array([0.0])
            for coefficient in function.coefficients[piece][::-1]:
                total = polynomial.polyadd(polynomial.polymul(total, argument), [coefficient])
            rows.append(total)
        width = max(len(row) for row in rows)
        result.append(Pieces(breaks, np.array([np.pad(row, (0, width - len(row))) for row in rows])))
    width = max(pieces.coefficients.shape[1] for pieces in result)
    return [
        Pieces(p.breaks, np.pad(p.coefficients, ((0, 0), (0, width - p.coefficients.shape[1]))))
        for p in result
    ]


def _shifted(row: np.ndarray, by: float) -> np.ndarray:
    """The polynomial p(h + by), as coefficients of powers of h."""
    result = np.array(row, dtype=float)
    for start in range(len(result) - 1):
        for i in range(len(result) - 2, start - 1, -1):
            result[i] += by * result[i + 1]
    return result


def _real_roots(row: np.ndarray) -> list[float]:
    trimmed = np.trim_zeros(np.asarray(row), "b")
    if len(trimmed) < 2:
        return []
    roots = np.polynomial.polynomial.polyroots(trimmed)
    return [float(r.real) for r in roots if abs(r.imag) <= 1e-9 * (1.0 + abs(r))]
