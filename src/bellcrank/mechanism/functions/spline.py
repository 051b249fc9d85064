"""Interpolation through points: tables (polygon or monotone cubic) and cubic splines."""

from __future__ import annotations

from os import PathLike
from typing import Any, Self, cast

import numpy as np

from bellcrank.errors import FaultList, Location, MechanismError
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.fields import array, checked, choice, described
from bellcrank.mechanism.functions.csv_points import points_of
from bellcrank.mechanism.functions.pieces import EXTRAPOLATIONS, Pieces
from bellcrank.mechanism.functions.piecewise import _PiecewiseFunction, increasing
from bellcrank.mechanism.given import FloatsField


class _ThroughPoints(_PiecewiseFunction):
    """A function given by points; subclasses say how it goes on between them."""

    @classmethod
    def from_csv(
        cls,
        path: str | PathLike[str],
        column: str | int | None = None,
        x: str | int = 0,
        unit: str | None = None,
        x_unit: str | None = None,
        **options: Any,
    ) -> Self:
        r"""The function through the points of a CSV file, such as a recorded motion for a drive.

        path: columns are separated by commas, semicolons, tabs or blanks; numbers may have decimal commas
            where columns are not separated by commas.
        column: of the values, by its heading or its number from 0; not needed if there are two columns.
        x: the column of the places, usually of time, in the same way.
        unit, x_unit: of these columns, such as "deg" or "ms", unless the headings state them, as in
            "angle [deg]"; without either, numbers are in SI units.
        options: further arguments of the class, such as `extrapolation`.

        >>> _ = open("motion.csv", "w").write("t [ms];angle [deg]\n0;0\n500;90,5\n1000;0\n")
        >>> bc.CubicSpline.from_csv("motion.csv").x
        (0.0, 0.5, 1.0)

        Raises MechanismError with all faults, each with its line; OSError if the file cannot be read.
        """
        xs, ys = points_of(path, column, x, unit, x_unit)
        faults = FaultList()
        with faults.collect(Location(str(path))):
            return cls(xs, ys, **options)  # type: ignore[call-arg]
        raise MechanismError(faults)


@described
class Table(_ThroughPoints):
    """Values at given places, interpolated without overshoot.

    x: increasing places, at least two. y: as many values.
    interpolation: "pchip", cubic pieces with a continuous first derivative that stay between neighbouring
        values (Fritsch and Butland, SIAM J. Sci. Stat. Comput. 5 (1984): harmonic means of slopes);
        or "linear", a polygon, whose derivative jumps at the places: good for forces, refused for positions.
    extrapolation: outside the range "hold", "linear" or "periodic" (first and last value must agree).
    """

    x: FloatsField = checked(increasing, parametric=True, followed=False)
    y: FloatsField = array("", None, followed=False)
    interpolation: str = choice(("pchip", "linear"), default="pchip")
    extrapolation: str = choice(EXTRAPOLATIONS, default="linear")

    def _judge(self, check: Check) -> None:
        _check_points(check, self.x, self.y, self.extrapolation == "periodic")

    def _make_pieces(self) -> Pieces:
        x, y = np.array(self.x), np.array(self.y)
        if self.interpolation == "linear":
            return Pieces(x, np.column_stack([y[:-1], np.diff(y) / np.diff(x)]))
        return hermite(x, y, _monotone_slopes(x, y, self.extrapolation == "periodic"))

    def scaled(self, factor: float) -> Table:
        """See Function.scaled."""
        return Table(self.x, tuple(factor * v for v in self.y), self.interpolation, self.extrapolation)


@described
class CubicSpline(_ThroughPoints):
    """The cubic spline through given points: two continuous derivatives within the range.

    x: increasing places, at least two. y: as many values.
    ends: "natural" (no curvature at the ends), "clamped" (slopes given by `slopes`, zero by default) or
        "periodic" (value, slope and curvature join; first and last value must agree, at least three places).
    extrapolation: outside the range "linear" or "hold"; a periodic spline repeats, whatever is given.
    """

    x: FloatsField = checked(increasing, parametric=True, followed=False)
    y: FloatsField = array("", None, followed=False)
    ends: str = choice(("natural", "clamped", "periodic"), default="natural")
    slopes: tuple[float, float] = array("", 2, default=(0.0, 0.0), followed=False)
    extrapolation: str = checked(default="linear")

    def _judge(self, check: Check) -> None:
        periodic = self.ends == "periodic"
        _check_points(check, self.x, self.y, periodic)
        if self.ends != "clamped" and any(self.slopes):
            check.fault(
                "slopes belong to clamped ends", self.slopes, "use ends='clamped' or leave the slopes out"
            )
        if periodic and len(self.x) < 3:
            check.fault("a periodic spline needs three places or more", self.x)
        other = "periodic" if periodic else "hold"
        extrapolation = check.choice("extrapolation", self.extrapolation, ("linear", other))
        self._store(extrapolation=other if periodic else extrapolation)

    def _make_pieces(self) -> Pieces:
        x, y = np.array(self.x), np.array(self.y)
        return hermite(x, y, spline_slopes(x, y[:, None], self.ends, np.array(self.slopes)[:, None])[:, 0])

    def scaled(self, factor: float) -> CubicSpline:
        """See Function.scaled."""
        y = tuple(factor * v for v in self.y)
        return CubicSpline(
            self.x, y, self.ends, (factor * self.slopes[0], factor * self.slopes[1]), self.extrapolation
        )


def _check_points(check: Check, x: tuple[float, ...], y: tuple[float, ...], periodic: bool) -> None:
    if len(x) != len(y):
        check.fault("x and y must have the same length", (len(x), len(y)))
    elif periodic and abs(y[-1] - y[0]) > 1e-9 * max(map(abs, y)):
        both = (y[0], y[-1])
        check.fault("a periodic function must end where it starts", both, "repeat the first value")


def hermite(x: np.ndarray, y: np.ndarray, slopes: np.ndarray) -> Pieces:
    """Cubic pieces with the given values and slopes (n + 1,) at the places x."""
    h = np.diff(x)
    secant = np.diff(y) / h
    left, right = slopes[:-1], slopes[1:]
    quadratic = (3 * secant - 2 * left - right) / h
    cubic = (left + right - 2 * secant) / h**2
    return Pieces(x, np.column_stack([y[:-1], left, quadratic, cubic]))


def _monotone_slopes(x: np.ndarray, y: np.ndarray, periodic: bool) -> np.ndarray:
    """Slopes of the monotone cubic: weighted harmonic means of the neighbouring secants, zero at extrema."""
    h = np.diff(x)
    secant = np.diff(y) / h
    if len(h) == 1:
        return np.array([secant[0], secant[0]])
    if periodic:
        h, secant = np.append(h, h[0]), np.append(secant, secant[0])
    before, after = secant[:-1], secant[1:]
    w1, w2 = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
    same = before * after > 0.0
    safe_before, safe_after = np.where(same, before, 1.0), np.where(same, after, 1.0)
    inner = np.where(same, (w1 + w2) / (w1 / safe_before + w2 / safe_after), 0.0)
    if periodic:
        return np.append(inner[-1], inner)
    first = _end_slope(h[0], h[1], secant[0], secant[1])
    last = _end_slope(h[-1], h[-2], secant[-1], secant[-2])
    return np.concatenate([[first], inner, [last]])


def _end_slope(h0: float, h1: float, s0: float, s1: float) -> float:
    """One-sided three-point slope at an end, limited so that the cubic stays monotone."""
    slope = ((2 * h0 + h1) * s0 - h0 * s1) / (h0 + h1)
    if slope * s0 <= 0.0:
        return 0.0
    if s0 * s1 <= 0.0 and abs(slope) > 3 * abs(s0):
        return float(3 * s0)
    return float(slope)


def spline_slopes(x: np.ndarray, y: np.ndarray, ends: str, slopes: np.ndarray | None = None) -> np.ndarray:
    """Slopes (n + 1, m) of the C2 cubic splines through y (n + 1, m) at x (n + 1,).

    The rows are those of continuous curvature,  s_(i-1)/h_(i-1) + 2 (1/h_(i-1) + 1/h_i) s_i + s_(i+1)/h_i
    = 3 (secant_(i-1)/h_(i-1) + secant_i/h_i).
    """
    inverse = 1.0 / np.diff(x)
    rise = 3.0 * np.diff(y, axis=0) * (inverse**2)[:, None]
    if ends == "periodic":
        return _periodic_slopes(inverse, rise)
    count = len(x)
    diagonal, upper, lower = np.empty(count), np.empty(count - 1), np.empty(count - 1)
    right = np.empty_like(y)
    diagonal[1:-1] = 2.0 * (inverse[:-1] + inverse[1:])
    upper[1:], lower[:-1] = inverse[1:], inverse[:-1]
    right[1:-1] = rise[:-1] + rise[1:]
    if ends == "natural":
        diagonal[0], upper[0], right[0] = 2.0 * inverse[0], inverse[0], rise[0]
        diagonal[-1], lower[-1], right[-1] = 2.0 * inverse[-1], inverse[-1], rise[-1]
    else:
        diagonal[0] = diagonal[-1] = 1.0
        upper[0] = lower[-1] = 0.0
        right[[0, -1]] = cast(np.ndarray, slopes)
    return _tridiagonal(lower, diagonal, upper, right)


def _periodic_slopes(inverse: np.ndarray, rise: np.ndarray) -> np.ndarray:
    """The cyclic system, as a tridiagonal one with a correction of rank one (Sherman and Morrison)."""
    before = np.roll(inverse, 1)
    diagonal, right = 2.0 * (before + inverse), np.roll(rise, 1, axis=0) + rise
    count, corner = len(inverse), inverse[-1]
    if count == 2:
        matrix = np.diag(diagonal) + np.array([[0.0, 1.0], [1.0, 0.0]]) * np.sum(inverse)
        solution = np.linalg.solve(matrix, right)
    else:
        gamma = -diagonal[0]
        u, v = np.zeros(count), np.zeros(count)
        u[0], u[-1], v[0], v[-1] = gamma, corner, 1.0, corner / gamma
        diagonal = diagonal.copy()
        diagonal[0] -= gamma
        diagonal[-1] -= corner**2 / gamma
        both = _tridiagonal(inverse[:-1], diagonal, inverse[:-1], np.column_stack([right, u]))
        plain, extra = both[:, :-1], both[:, -1:]
        solution = plain - extra * (v @ plain) / (1.0 + v @ extra)
    return np.vstack([solution, solution[:1]])


def _tridiagonal(lower: np.ndarray, diagonal: np.ndarray, upper: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve a diagonally dominant tridiagonal system for several right-hand sides (columns)."""
    pivot, solution = diagonal.astype(float).copy(), right.astype(float).copy()
    for i in range(1, len(pivot)):
        factor = lower[i - 1] / pivot[i - 1]
        pivot[i] -= factor * upper[i - 1]
        solution[i] -= factor * solution[i - 1]
    solution[-1] /= pivot[-1]
    for i in range(len(pivot) - 2, -1, -1):
        solution[i] = (solution[i] - upper[i] * solution[i + 1]) / pivot[i]
    return solution
