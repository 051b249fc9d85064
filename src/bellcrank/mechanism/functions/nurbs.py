"""NURBS: rational B-splines as functions of one variable and as curves in space."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.fields import Description, array, as_tuple, checked, choice, described, whole
from bellcrank.mechanism.functions.function import FlatFunction, Function
from bellcrank.mechanism.functions.piecewise import (
    EXTRAPOLATIONS,
    Pieces,
    extrapolated,
    followed,
    increasing,
    quotient,
    smoothness,
)
from bellcrank.mechanism.given import FloatsField, OptionalFloatsField, PointsField, TableField
from bellcrank.mechanism.parameters import evaluated, holds_expressions, values_of


class _RationalFunction(Function):
    """A quotient of two piecewise polynomials on the same breaks."""

    extrapolation: str

    @cached_property
    def fraction(self) -> tuple[Pieces, Pieces]:
        """Numerator and denominator."""
        return self._make_fraction()

    @abstractmethod
    def _make_fraction(self) -> tuple[Pieces, Pieces]:
        """Numerator and denominator, made once."""

    def derivative(self, x: Any, order: int = 1) -> np.ndarray:
        """See Function.derivative."""
        return extrapolated(self.fraction[0], quotient(*self.fraction), self.extrapolation, x, order)

    @cached_property
    def smoothness(self) -> int:
        """See Function.smoothness."""
        return smoothness(self.fraction[0], quotient(*self.fraction), self.extrapolation)

    def flat(self) -> FlatFunction:
        """See Function.flat."""
        numerator, denominator = self.fraction
        count, order = numerator.coefficients.shape
        head = np.array([order, count, EXTRAPOLATIONS.index(self.extrapolation)], dtype=float)
        parts = [head, numerator.breaks, numerator.coefficients.ravel(), denominator.coefficients.ravel()]
        return FlatFunction("rational", tuple(np.concatenate(parts).tolist()))


@described
class Rational(_RationalFunction):
    """A quotient of piecewise polynomials.

    breaks: n + 1 increasing values of x.
    numerator, denominator: n rows of k numbers each, ascending powers of (x - break); the denominator is
        positive.
    extrapolation: outside the range "hold", "linear" or "periodic".

    >>> witch = bc.Rational([-1.0, 1.0], [[1.0, 0.0, 0.0]], [[2.0, -2.0, 1.0]])    # of u = x + 1
    >>> print(witch.derivative([0.0, 1.0], 0))    # 1 / (1 + x^2)
    [1.  0.5]
    """

    breaks: FloatsField = checked(increasing, parametric=True)
    numerator: TableField = array("", None, None)
    denominator: TableField = array("", None, None)
    extrapolation: str = choice(EXTRAPOLATIONS, default="hold")

    def _judge(self, check: Check) -> None:
        rows = len(self.breaks) - 1
        if len(self.numerator) != rows or len(self.denominator) != rows:
            check.fault("there must be one row of coefficients between any two breaks")
        if np.shape(self.numerator) != np.shape(self.denominator):
            check.fault("numerator and denominator must have the same shape")

    def _make_fraction(self) -> tuple[Pieces, Pieces]:
        breaks = np.array(self.breaks)
        return Pieces(breaks, np.array(self.numerator)), Pieces(breaks, np.array(self.denominator))

    def scaled(self, factor: float) -> Rational:
        """See Function.scaled."""
        numerator = tuple(tuple(factor * c for c in row) for row in self.numerator)
        return Rational(self.breaks, numerator, self.denominator, self.extrapolation)


def from_fraction(numerator: Pieces, denominator: Pieces, extrapolation: str) -> Rational:
    """The Rational function of given pieces."""
    above, below = (tuple(tuple(r) for r in p.coefficients.tolist()) for p in (numerator, denominator))
    return Rational(tuple(numerator.breaks.tolist()), above, below, extrapolation)


class _Basis(Description):
    """Common base of functions and curves: control points, degree, weights and knots."""

    control_points: tuple[Any, ...]
    degree: int
    weights: tuple[float, ...] | None
    knots: tuple[float, ...] | None

    def _judge(self, check: Check) -> None:
        weights, knots = _checked_basis(
            check, len(self.control_points), self.degree, self.weights, self.knots
        )
        self._store(weights=weights, knots=knots)


@described
class Nurbs(_Basis, _RationalFunction):
    """A scalar NURBS  f(x) = sum N_i(x) w_i P_i / sum N_i(x) w_i.

    control_points: (n,), n > degree.
    degree: 1 to 10.
    weights: (n,) positive, all 1 by default.
    knots: (n + degree + 1,) not falling; by default spread evenly over 0 to 1 and repeated at the ends, so
        that the function starts at the first and ends at the last control point.
    extrapolation: outside the inner knots "hold" or "linear".

    >>> bump = bc.Nurbs([0.0, 1.0, 0.0], degree=2, weights=[1.0, 1.0, 1.0])
    >>> print(bump.derivative([0.0, 0.5, 1.0], 0))    # the parabola 2 x (1 - x)
    [0.  0.5 0. ]
    """

    control_points: FloatsField = array("", None, followed=False)
    degree: int = whole(1, default=3)
    weights: OptionalFloatsField = checked(default=None, parametric=True, followed=False)
    knots: OptionalFloatsField = checked(default=None, parametric=True, followed=False)
    extrapolation: str = choice(("hold", "linear"), default="hold")

    def _make_fraction(self) -> tuple[Pieces, Pieces]:
        return _fraction(np.array(self.control_points)[:, None], self.degree, self.weights, self.knots)

    def first_order(self, known: Mapping[Any, float]) -> Function | None:
        """The same function, whose control points follow parameters, which are linear in it.

        known: values of parameters, by symbol. None where parameters are in weights or knots.
        """
        if holds_expressions((self.weights, self.knots)):
            return None
        now = evaluated(self, lambda one: values_of([one], known)[one])

        def along(change: np.ndarray) -> np.ndarray:
            return _fraction(change[:, None], now.degree, now.weights, now.knots)[0].coefficients

        return followed(now, now.fraction[0].coefficients, self.control_points, known, along)

    def scaled(self, factor: float) -> Nurbs:
        """See Function.scaled."""
        points = tuple(factor * p for p in self.control_points)
        return Nurbs(points, self.degree, self.weights, self.knots, self.extrapolation)


@described
class NurbsCurve(_Basis):
    """A NURBS curve in space: as `Nurbs`, with control points (n, 3) in m. Used as the curve of a `Path`.

    >>> points = [(1, 0, 0), (1, 1, 0), (0, 1, 0)]
    >>> arc = bc.NurbsCurve(points, degree=2, weights=[1.0, np.sqrt(0.5), 1.0])    # a quarter of a circle
    >>> drive = cube.add_drive("hand", marker="cube", path=bc.Path(arc, timing=bc.Ramp(0.0, 1.0)))
    >>> x, y, z = bc.simulate(cube, times=[0.0, 0.3]).body("cube").position[-1]
    >>> print(np.hypot(x, y).round(6))    # m
    1.0
    """

    control_points: PointsField = array("m", None, 3, followed=False)
    degree: int = whole(1, default=3)
    weights: OptionalFloatsField = checked(default=None, parametric=True, followed=False)
    knots: OptionalFloatsField = checked(default=None, parametric=True, followed=False)

    @cached_property
    def components(self) -> tuple[Pieces, Pieces, Pieces]:
        """The numerators of x, y and z over the parameter."""
        x, y, z = (
            _fraction(np.array(self.control_points)[:, i : i + 1], self.degree, self.weights, self.knots)[0]
            for i in range(3)
        )
        return (x, y, z)

    @cached_property
    def denominator(self) -> Pieces:
        """The common denominator of the components."""
        return _fraction(np.array(self.control_points)[:, :1], self.degree, self.weights, self.knots)[1]

    @property
    def extrapolation(self) -> str:
        """The extrapolation of the components beyond their range."""
        return "hold"


def _checked_basis(
    check: Check, count: int, degree: int, weights: Any, knots: Any
) -> tuple[tuple[float, ...] | None, tuple[float, ...]]:
    """Weights and knots as stored; equal weights are stored as None."""
    if degree > 10:
        check.fault("degree must not exceed 10", degree)
    if count <= degree:
        check.fault("there must be more control points than the degree", count, f"the degree is {degree}")
        return None, ()
    if weights is not None:
        found = check.array("weights", weights, (count,))
        if np.any(found <= 0.0):
            check.fault("weights must be greater than zero", weights)
        weights = None if np.all(found == found[0]) else as_tuple(found)
    if knots is None:
        inner = np.linspace(0.0, 1.0, count - degree + 1)
        knots = np.concatenate([np.zeros(degree), inner, np.ones(degree)])
    found = check.array("knots", knots, (count + degree + 1,))
    if np.any(np.diff(found) < 0.0):
        check.fault("knots must not fall", knots)
    elif len(found) == count + degree + 1 and found[degree] == found[count]:
        check.fault("the knots leave no range", knots)
    return weights, as_tuple(found)


def _fraction(
    points: np.ndarray, degree: int, weights: tuple[float, ...] | None, knots: tuple[float, ...] | None
) -> tuple[Pieces, Pieces]:
    """Numerator (of the first column of points) and denominator as polynomials on the knot spans."""
    t = np.array(knots)
    w = np.ones(len(points)) if weights is None else np.array(weights)
    spans = [k for k in range(degree, len(points)) if t[k] < t[k + 1]]
    above, below = np.zeros((len(spans), degree + 1)), np.zeros((len(spans), degree + 1))
    for row, span in enumerate(spans):
        basis = _basis_polynomials(t, degree, span)
        local = slice(span - degree, span + 1)
        above[row] = (w[local] * points[local, 0]) @ basis
        below[row] = w[local] @ basis
    breaks = np.append(t[spans], t[spans[-1] + 1])
    return Pieces(breaks, above), Pieces(breaks, below)


def _basis_polynomials(t: np.ndarray, degree: int, span: int) -> np.ndarray:
    """The degree + 1 bases that live on [t_span, t_(span+1)], as coefficients of powers of (x - t_span).

    Cox and de Boor's recursion on polynomials: N_(i,p) = (x - t_i)/(t_(i+p) - t_i) N_(i,p-1)
    + (t_(i+p+1) - x)/(t_(i+p+1) - t_(i+1)) N_(i+1,p-1).
    """
    origin = t[span]
    basis = np.zeros((degree + 1, degree + 1))  # row j: N_(span - degree + j, p)
    basis[degree, 0] = 1.0
    for p in range(1, degree + 1):
        raised = np.zeros_like(basis)
        for j in range(degree - p, degree + 1):
            i = span - degree + j
            if t[i + p] > t[i]:
                raised[j] += _times_linear(basis[j], (origin - t[i]), 1.0) / (t[i + p] - t[i])
            if j < degree and t[i + p + 1] > t[i + 1]:
                raised[j] += _times_linear(basis[j + 1], t[i + p + 1] - origin, -1.0) / (
                    t[i + p + 1] - t[i + 1]
                )
        basis = raised
    return basis


def _times_linear(polynomial: np.ndarray, constant: float, slope: float) -> np.ndarray:
    """(constant + slope x) times a polynomial whose highest coefficient is zero."""
    product = constant * polynomial
    product[1:] += slope * polynomial[:-1]
    return product
