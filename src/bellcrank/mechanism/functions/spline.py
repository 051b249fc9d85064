"""Interpolation through points, given or read from a file: polygons, monotone cubics and cubic splines."""

from __future__ import annotations

import csv
import os
import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any, Final, Self, TypeAlias, cast

import numpy as np

from bellcrank.errors import Fault, FaultList, Location, MechanismError
from bellcrank.mechanism.checking import Check, nearest, required_path
from bellcrank.mechanism.fields import array, checked, choice, described
from bellcrank.mechanism.functions.function import Function
from bellcrank.mechanism.functions.piecewise import (
    EXTRAPOLATIONS,
    Pieces,
    _PiecewiseFunction,
    followed,
    increasing,
)
from bellcrank.mechanism.given import FloatsField
from bellcrank.mechanism.parameters import evaluated, holds_expressions, values_of
from bellcrank.mechanism.units import UnitError, read_quantity
from bellcrank.named_files import content_of

Column: TypeAlias = str | int
Points: TypeAlias = tuple[tuple[float, ...], tuple[float, ...]]

_SIZE: Final = 100_000_000
_FAULTS: Final = 20  # rows that are named
_HEADING: Final = re.compile(r"(.*?)\s*(?:\[([^\]]*)\]|\(([^)]*)\))")


def points_of(
    path: str | os.PathLike[str], column: Column | None, x: Column, unit: str | None, x_unit: str | None
) -> Points:
    """The values of the columns `x` and `column`, by their headings or by their numbers from 0.

    Without `column`, the file must have two. Units are those of the headings, "angle [deg]", or as given.
    Columns are separated by semicolons, tabs, commas or blanks; where it is not by commas, or in quotes, a
    number may have a decimal comma.

    Raises MechanismError with all faults, each with its line; OSError if the file cannot be read.
    """
    required_path("points from CSV", path)
    name = os.fspath(path) if isinstance(os.fspath(path), str) else os.fsdecode(path)
    table = _Table(str(name), _text(path, str(name)))
    first = table.place(x, "x")
    second = table.place(_other(table, first) if column is None else column, "column")
    factors = table.factor(first, x_unit, "x_unit"), table.factor(second, unit, "unit")
    found = [table.numbers(place, factor) for place, factor in zip((first, second), factors, strict=True)]
    table.faults.raise_any()
    return found[0], found[1]


def _text(path: str | os.PathLike[str], name: str) -> str:
    content = content_of(path, f"table {name!r}", _SIZE)
    try:
        return content.decode("utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        fault = Fault(
            f"table {name!r}", "it is not UTF-8", None, "save it as CSV in UTF-8", Location(name, line)
        )
        raise MechanismError(fault) from None


def _other(table: _Table, first: int) -> int:
    if table.width != 2:
        shown: list[str] | int = table.headings or table.width
        table.refuse(
            "which column is meant is not stated", shown, "give column=, a heading or a number from 0"
        )
    return 1 - first


@dataclass(frozen=True)
class _Row:
    line: int
    fields: list[str]


class _Table:
    """The rows of a text, and headings if it has any."""

    def __init__(self, name: str, text: str) -> None:
        self.name, self.faults = name, FaultList()
        lines = text.splitlines()
        first = next((line for line in lines if line.strip() and not line.lstrip().startswith("#")), "")
        self.separator = next((one for one in ";\t," if one in first), " ")
        rows = list(self._rows(lines))
        if not rows:
            self.refuse("it holds no rows")
        while all(len(row.fields) > 1 and not row.fields[-1] for row in rows):  # a separator at the end
            for row in rows:
                row.fields.pop()
        # numpy writes headings as a comment.
        if rows[0].fields[0].startswith("#"):
            rows[0].fields[0] = rows[0].fields[0].removeprefix("#").strip()
            rows[0] = _Row(rows[0].line, [field for field in rows[0].fields if field])
        self.headings = [] if all(_number(field) is not None for field in rows[0].fields) else rows[0].fields
        self.rows = rows[1:] if self.headings else rows
        if len(self.rows) < 2:
            self.refuse("it must hold 2 rows of numbers or more")
        self.width = len(rows[0].fields)
        for row in self.rows:
            if len(row.fields) != self.width and len(self.faults) < _FAULTS:
                advice = "decimal commas need semicolons between columns" if self.separator == "," else ""
                rule = f"this row has {len(row.fields)} fields, the first has {self.width}"
                self.faults.add(self.element, rule, None, advice, Location(name, row.line))
        self.faults.raise_any()

    @property
    def element(self) -> str:
        return f"table {self.name!r}"

    def _rows(self, lines: Iterable[str]) -> Iterator[_Row]:
        """Rows without empty lines and comments, but with a comment that precedes them directly."""
        heading: _Row | None = None
        started = False
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            fields = self._fields(line)
            if line.lstrip().startswith("#"):
                heading = _Row(number, fields)
                continue
            if not started and heading is not None and _fits(heading.fields, fields):
                yield heading
            started = True
            yield _Row(number, fields)

    def _fields(self, line: str) -> list[str]:
        if self.separator == " ":
            return line.split()
        fields = next(csv.reader([line], delimiter=self.separator, skipinitialspace=True), [])
        return [field.strip() for field in fields]

    def refuse(self, rule: str, value: object = None, advice: str = "", line: int | None = None) -> None:
        """Raise MechanismError."""
        raise MechanismError(Fault(self.element, rule, value, advice, Location(self.name, line)))

    def place(self, column: Column, argument: str) -> int:
        """The number of a column."""
        if isinstance(column, int) and not isinstance(column, bool):
            if not -self.width <= column < self.width:
                self.refuse(f"{argument}: there are {self.width} columns, counted from 0", column)
            return column % self.width
        if not isinstance(column, str):
            self.refuse(f"{argument}: a heading or a number is needed here", column)
        found = [k for k, heading in enumerate(self.headings) if column in (heading, _split(heading)[0])]
        if len(found) != 1:
            rule = "there is no column of this name" if not found else "several columns have this name"
            advice = (
                nearest(str(column), self.headings) if self.headings else "it has no headings: give numbers"
            )
            self.refuse(f"{argument}: {rule}", column, advice)
        return found[0]

    def factor(self, place: int, given: str | None, argument: str) -> float:
        """What a column is multiplied with to be in SI units."""
        stated = _split(self.headings[place])[1] if self.headings else None
        if stated is not None and given is not None and stated != given:
            self.refuse(f"{argument}: the heading states another unit, {stated!r}", given)
        unit = given if stated is None else stated
        if unit in (None, "", "1", "-"):
            return 1.0
        try:
            found = read_quantity(f"1 {unit}")
        except UnitError as error:
            self.refuse(f"{argument}: {error}", unit, error.advice or "give the unit of the column")
        else:
            if found is not None:
                return found.value
            self.refuse(f"{argument}: this is not a unit", unit)
        raise AssertionError

    def numbers(self, place: int, factor: float) -> tuple[float, ...]:
        """The values of a column in SI units; fields that are no numbers are noted."""
        found = []
        for row in self.rows:
            number = _number(row.fields[place])
            if number is None and len(self.faults) < _FAULTS:
                rule = f"column {self.headings[place] if self.headings else place}: a number is needed here"
                advice = "digits are not grouped" if re.search(r"\d[.,]\d+[.,]", row.fields[place]) else ""
                self.faults.add(self.element, rule, row.fields[place], advice, Location(self.name, row.line))
            found.append(factor * (0.0 if number is None else number))
        return tuple(found)


def _fits(heading: list[str], fields: list[str]) -> bool:
    return len([field for field in heading if field != "#"]) == len(fields) and _number(fields[0]) is not None


def _split(heading: str) -> tuple[str, str | None]:
    """Name and unit of a heading such as "angle [deg]"; brackets that hold no unit belong to the name."""
    found = _HEADING.fullmatch(heading)
    if found is None:
        return heading, None
    if found[2] is None and found[3] not in ("1", "-", ""):
        try:
            read_quantity(f"1 {found[3]}")
        except UnitError:
            return heading, None
    return found[1], found[2] if found[2] is not None else found[3]


def _number(field: str) -> float | None:
    """The number in a field; None if it is none, or not finite."""
    text = field.replace(",", ".") if field.count(",") == 1 and "." not in field else field
    try:
        number = float(text) if "_" not in text else None
    except ValueError:
        return None
    return number if number is not None and abs(number) < float("inf") else None


_COMPLEX_STEP: Final = 1e-100


class _ThroughPoints(_PiecewiseFunction):
    """A function given by points; subclasses say how it goes on between them."""

    x: tuple[float, ...]
    y: tuple[float, ...]
    slopes: tuple[float, ...] = ()

    @abstractmethod
    def _through(self, values: np.ndarray) -> Pieces:
        """The polynomials through the values of `_values`, which may be complex."""

    @property
    def _values(self) -> tuple[Any, ...]:
        return (*self.y, *self.slopes)

    def _make_pieces(self) -> Pieces:
        return self._through(np.array(self._values))

    def first_order(self, known: Mapping[Any, float]) -> Function | None:
        """The same function, whose values follow parameters to first order: exactly, by complex steps.

        known: values of parameters, by symbol. None where parameters move the places.
        """
        if holds_expressions(self.x):
            return None
        now = evaluated(self, lambda one: values_of([one], known)[one])
        values = np.array(now._values)  # noqa: SLF001  (its own, with numbers for parameters)

        def along(change: np.ndarray) -> np.ndarray:
            moved = self._through(values + 1j * _COMPLEX_STEP * change)
            return np.asarray(moved.coefficients.imag / _COMPLEX_STEP)

        return followed(now, now.pieces.coefficients, self._values, known, along)

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

    >>> buffer = bc.Table([0.0, 0.01, 0.02], [0.0, 50.0, 400.0], interpolation="linear")
    >>> print(buffer.derivative([0.005, 0.015], 0))    # N
    [ 25. 225.]
    """

    x: FloatsField = checked(increasing, parametric=True, followed=False)
    y: FloatsField = array("", None, followed=False)
    interpolation: str = choice(("pchip", "linear"), default="pchip")
    extrapolation: str = choice(EXTRAPOLATIONS, default="linear")

    def _judge(self, check: Check) -> None:
        _check_points(check, self.x, self.y, self.extrapolation == "periodic")

    def _through(self, values: np.ndarray) -> Pieces:
        x, y = np.array(self.x), values
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

    >>> spline = bc.CubicSpline([0.0, 1.0, 2.0], [0.0, 1.0, 0.0])
    >>> print(spline.derivative([0.5, 1.0], 0), spline.derivative([0.0, 2.0], 2))    # straight at its ends
    [0.6875 1.    ] [0. 0.]
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

    def _through(self, values: np.ndarray) -> Pieces:
        x, y, slopes = np.array(self.x), values[:-2], values[-2:]
        return hermite(x, y, spline_slopes(x, y[:, None], self.ends, slopes[:, None])[:, 0])

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
    same = (before * after).real > 0.0
    safe_before, safe_after = np.where(same, before, 1.0), np.where(same, after, 1.0)
    inner = np.where(same, (w1 + w2) / (w1 / safe_before + w2 / safe_after), 0.0)
    if periodic:
        return np.append(inner[-1], inner)
    first = _end_slope(h[0], h[1], secant[0], secant[1])
    last = _end_slope(h[-1], h[-2], secant[-1], secant[-2])
    return np.concatenate([[first], inner, [last]])


def _end_slope(h0: float, h1: float, s0: Any, s1: Any) -> Any:
    """One-sided three-point slope at an end, limited so that the cubic stays monotone."""
    slope = ((2 * h0 + h1) * s0 - h0 * s1) / (h0 + h1)
    if (slope * s0).real <= 0.0:
        return 0.0
    if (s0 * s1).real <= 0.0 and abs(slope) > 3 * abs(s0):
        return 3 * s0
    return slope


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
    pivot, solution = diagonal.astype(float), right.astype(np.result_type(right, float))
    for i in range(1, len(pivot)):
        factor = lower[i - 1] / pivot[i - 1]
        pivot[i] -= factor * upper[i - 1]
        solution[i] -= factor * solution[i - 1]
    solution[-1] /= pivot[-1]
    for i in range(len(pivot) - 2, -1, -1):
        solution[i] = (solution[i] - upper[i] * solution[i + 1]) / pivot[i]
    return solution
