"""Paths in space over time: a curve and its timing law; curves through points, and their composition."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from bellcrank.errors import MechanismError
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.fields import Description, array, as_function_in, checked, described, flag, function
from bellcrank.mechanism.functions.function import (
    Constant,
    Function,
    Harmonic,
    OptionalFunctionField,
    as_function,
)
from bellcrank.mechanism.functions.nurbs import NurbsCurve, from_fraction
from bellcrank.mechanism.functions.piecewise import FAR, Pieces, _PiecewiseFunction, from_pieces
from bellcrank.mechanism.functions.spline import hermite, spline_slopes
from bellcrank.mechanism.given import PointsField
from bellcrank.mechanism.parameters import present


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
            raise MechanismError.of(
                "Path",
                "a closed curve can be run through without end at constant rate only",
                None,
                "use a timing that is linear, or one that holds its value outside its range (a Ramp, "
                "extrapolation='hold')",
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
        _extend(breaks, rows, (value, slope), reach, before)
    return Pieces(np.array(breaks), np.array(rows)), "linear"


def _extend(
    breaks: list[Any], rows: list[Any], end: tuple[float, float], length: float, before: bool
) -> None:
    """Add a linear piece of a length before or after the others; end: value and slope where it begins."""
    value, slope = end
    row = np.zeros(max(len(rows[0]), 2))
    row[:2] = (value - slope * length if before else value), slope
    row = row[: len(rows[0])]
    breaks.insert(0, breaks[0] - length) if before else breaks.append(breaks[-1] + length)
    rows.insert(0, row) if before else rows.append(row)


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
    for edge, piece, bound, before in ((breaks[0], 0, low, True), (breaks[-1], last, high, False)):
        beyond = edge - bound if before else bound - edge
        if beyond <= slack:
            continue
        value = float(outer.evaluate(np.array(edge), 0, np.array(piece)))
        slope = (
            float(outer.evaluate(np.array(edge), 1, np.array(piece))) if extrapolation == "linear" else 0.0
        )
        _extend(breaks, rows, (value, slope), beyond, before)
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
    for one in outer:
        rows = []
        for piece, row in parts:
            argument = np.array(row)
            argument[0] -= one.breaks[piece]
            total = np.array([0.0])
            for coefficient in one.coefficients[piece][::-1]:
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


_SAMPLES = 8  # tangents looked at in each piece when the reference direction is chosen
_SPIRAL = 200  # directions tried on the half sphere


@described
class Curve(Description):
    """The cubic spline through points in space, with continuous curvature.

    points: (n, 3) positions, m, in the axes of the marker or frame that carries the curve; n >= 2, or 3 if
        closed.
    closed: it returns from the last point to the first (do not repeat this point).

    The parameter is the length of the polygon through the points, in m, from 0 at the first point: close to
    the arc length if the points are closely spaced. An open curve continues straight beyond its ends.

    >>> curve = bc.Curve([(0, 0, 0), (1, 0, 1), (2, 0, 0)])
    >>> print(f"{curve.length:.6f} m")    # of the polygon, 2 sqrt(2)
    2.828427 m
    """

    points: PointsField = array("m", None, 3, followed=False)
    closed: bool = flag(default=False)

    def _judge(self, check: Check) -> None:
        least = 3 if self.closed else 2
        if len(self.points) < least:
            check.fault(f"it needs {least} points or more", len(self.points))
            return
        ring = np.array((*self.points, self.points[0]) if self.closed else self.points)
        same = np.flatnonzero(np.linalg.norm(np.diff(ring, axis=0), axis=1) == 0.0)
        if len(same):
            which = f"see point {same[0]}, counted from 0"
            check.fault("neighbouring points must differ", ring[same[0]].tolist(), which)

    @cached_property
    def components(self) -> tuple[Pieces, Pieces, Pieces]:
        """x, y and z over the parameter, as cubic pieces on the same breaks."""
        points = np.array(self.points)
        if self.closed:
            points = np.vstack([points, points[:1]])
        parameter = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
        slopes = spline_slopes(parameter, points, "periodic" if self.closed else "natural")
        x, y, z = (hermite(parameter, points[:, i], slopes[:, i]) for i in range(3))
        return (x, y, z)

    @property
    def denominator(self) -> None:
        """None: the components are polynomials, not quotients."""
        return None

    @property
    def extrapolation(self) -> str:
        """The extrapolation of the components beyond their range."""
        return "periodic" if self.closed else "linear"

    @property
    def length(self) -> float:
        """The end of the parameter range, m: the length of the polygon through the points."""
        return float(self.components[0].breaks[-1])

    def sampled(self, count: int) -> np.ndarray:
        """Points (count, 3) of the curve, evenly spread over its parameter, both ends included.

        >>> loop = bc.Curve([(1, 0, 0), (0, 1, 0), (-1, 0, 0), (0, -1, 0)], closed=True)
        >>> radii = np.linalg.norm(loop.sampled(9), axis=1)
        >>> print(radii.min().round(3), radii.max().round(3))    # m: nearly a circle
        0.972 1.0
        """
        breaks = self.components[0].breaks
        u = np.linspace(0.0, self.length, count)
        piece = np.clip(np.searchsorted(breaks, u, "right") - 1, 0, len(breaks) - 2)
        return np.column_stack([component.evaluate(u, 0, piece) for component in self.components])

    def coordinate_params(self) -> tuple[float, ...]:
        """The flat form that the curve coordinates take.

        closed (0 or 1), pieces n, reference direction (3), breaks (n + 1), then for each piece four vectors,
        ascending powers of (u - break). The normals at a point are made from the tangent and the reference
        direction, which must be parallel to no tangent.
        """
        breaks = self.components[0].breaks
        coefficients = np.stack(
            [component.coefficients for component in self.components], axis=2
        )  # (n, 4, 3)
        head = [float(self.closed), float(len(breaks) - 1)]
        return tuple(
            np.concatenate([head, self._reference_direction(), breaks, coefficients.ravel()]).tolist()
        )

    def _reference_direction(self) -> np.ndarray:
        """A unit vector far from all tangents; marker axes come first, the normal of a plane curve next."""
        tangents = self._tangents()
        values, vectors = np.linalg.eigh(tangents.T @ tangents)
        height = (np.arange(_SPIRAL) + 0.5) / _SPIRAL
        angle = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(_SPIRAL)
        radius = np.sqrt(1.0 - height**2)
        spiral = np.column_stack([radius * np.cos(angle), radius * np.sin(angle), height])
        tried = np.vstack([np.eye(3)[::-1], vectors[:, np.argmin(values)], spiral])
        clearance = np.min(np.linalg.norm(np.cross(tried[:, None, :], tangents[None, :, :]), axis=2), axis=1)
        best = 0
        for index in range(1, len(tried)):
            if clearance[index] > 1.1 * clearance[best]:
                best = index
        return np.asarray(tried[best] / np.linalg.norm(tried[best]))

    def _tangents(self) -> np.ndarray:
        """Unit tangents at some points of each piece, (m, 3)."""
        breaks = self.components[0].breaks
        shares = np.linspace(0.0, 1.0, _SAMPLES + 1)
        u = (breaks[:-1, None] + np.diff(breaks)[:, None] * shares).ravel()
        piece = np.repeat(np.arange(len(breaks) - 1), _SAMPLES + 1)
        tangents = np.column_stack([component.evaluate(u, 1, piece) for component in self.components])
        norms = np.linalg.norm(tangents, axis=1, keepdims=True)
        return np.asarray(tangents / np.where(norms == 0.0, 1.0, norms))


PathCurve: TypeAlias = "Curve | NurbsCurve | tuple[Function | float, Function | float, Function | float]"


def _curve(check: Check, _: str, value: Any) -> PathCurve:
    if isinstance(value, (Curve, NurbsCurve)):
        return value
    if not isinstance(value, (tuple, list)) or len(value) != 3:
        check.fault("curve must be a Curve, a NurbsCurve or three functions of time", value)
        value = (0.0, 0.0, 0.0)
    x, y, z = (
        as_function_in(check, f"component {axis}", given) for axis, given in zip("xyz", value, strict=True)
    )
    return (x, y, z)


@described
class Path(Description):
    """A moving point.

    curve: a Curve or NurbsCurve, or three functions of time (x, y, z) in m.
    timing: the curve's parameter as a function of time: a Ramp (rest to rest), a Polynomial, a CubicSpline,
        ...; by default the parameter is the time itself. A path has as many continuous derivatives as both
            curve and timing have.

    >>> line = bc.Path(bc.Curve([(0, 0, 0), (0.3, 0.4, 0)]), timing=bc.Ramp(0.0, 0.5, duration=1.0))
    >>> drive = cube.add_drive("hand", marker="cube", path=line)
    >>> run = bc.simulate(cube, 1.0)
    >>> print(run.body("cube").position[-1].round(6), np.abs(run.body("cube").velocity[-1]).max().round(6))
    [0.3 0.4 0. ] 0.0
    """

    curve: PathCurve = checked(_curve)
    timing: OptionalFunctionField = function(default=None, followed=False)

    def _judge(self, check: Check) -> None:
        if self.timing is not None and isinstance(self.curve, (Curve, NurbsCurve)):
            with check.faults.collect():
                _timing(present(self.timing))
        elif self.timing is not None:
            check.fault("timing belongs to a curve", self.timing, "three functions of time need none")

    @cached_property
    def functions(self) -> tuple[Function, Function, Function]:
        """x, y and z as functions of time."""
        curve = self.curve
        if not isinstance(curve, (Curve, NurbsCurve)):
            x, y, z = (as_function("Path", "component", value) for value in curve)
            return (x, y, z)
        timing, beyond = _timing(self.timing)
        if curve.denominator is None:
            made = [
                compose([component], curve.extrapolation, timing, beyond) for component in curve.components
            ]
            x, y, z = (from_pieces(pieces[0], extrapolation) for pieces, extrapolation in made)
        else:
            both = [
                compose([component, curve.denominator], curve.extrapolation, timing, beyond)
                for component in curve.components
            ]
            x, y, z = (from_fraction(pieces[0], pieces[1], extrapolation) for pieces, extrapolation in both)
        return (x, y, z)


def _timing(timing: Function | None) -> tuple[Pieces, str]:
    """The timing as piecewise polynomial and its extrapolation."""
    if timing is None:
        return Pieces(np.array([0.0, FAR]), np.array([[0.0, 1.0]])), "linear"
    if isinstance(timing, Constant):
        return Pieces(np.array([0.0, FAR]), np.array([[timing.value, 0.0]])), "linear"
    if isinstance(timing, Harmonic) and timing.amplitude == 0.0:
        return Pieces(np.array([0.0, FAR]), np.array([[timing.offset, timing.slope]])), "linear"
    if isinstance(timing, _PiecewiseFunction):
        return timing.pieces, timing.extrapolation
    raise MechanismError.of(
        "Path",
        "the timing must be a piecewise polynomial",
        timing,
        "use a Ramp, Polynomial or CubicSpline; a harmonic motion as a CubicSpline through its values",
    )
