"""The objective of an optimization, and the search for its minimum by the algorithms of scipy.

Its coordinates run from 0 to 1 between the bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from bellcrank.compile.state import Floats
from bellcrank.errors import FaultList
from bellcrank.extras import needed
from bellcrank.mechanism.checking import Check
from bellcrank.studies.evaluator import Evaluator
from bellcrank.studies.experiment import Outcome
from bellcrank.studies.measures import Measure, measures_of

_KEPT: Final = 1e-6  # of the size of a bound: by how much a constraint may be missed


class OutOfBudget(Exception):
    """The budget of runs is used up."""


@dataclass(frozen=True)
class Limits:
    """Measures that must stay within bounds (n,), infinite for none."""

    measures: tuple[Measure, ...]
    low: Floats
    high: Floats

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the measures."""
        return tuple(measure.name for measure in self.measures)

    @property
    def scale(self) -> Floats:
        """Scales (n,) to which violations are relative."""
        sizes = np.maximum(*(np.where(np.isfinite(b), np.abs(b), 0.0) for b in (self.low, self.high)))
        return np.where(sizes > 0.0, sizes, 1.0)

    def violation(self, values: Floats) -> Floats:
        """By how much values (n,) miss their bounds, relative to the scales."""
        return np.asarray(np.maximum(0.0, np.maximum(self.low - values, values - self.high)) / self.scale)

    def kept(self, values: Floats) -> bool:
        """Whether values (n,) are within their bounds."""
        return bool(np.all(self.violation(values) <= _KEPT))


def limits_of(given: Mapping[Any, Any] | None) -> Limits:
    """The constraints of an optimization. Raises MechanismError listing all faults."""
    with Check("constraints") as check:
        check.instance("constraints", {} if given is None else given, Mapping, "{measure: (low, high)}")
    found, low, high, faults = list[Measure](), list[float](), list[float](), FaultList()
    for measure, bounds in (given or {}).items():
        with faults.collect():
            found += measures_of(measure, "constraint")
        if not isinstance(bounds, Sequence) or isinstance(bounds, str) or len(bounds) != 2:
            faults.add(
                f"constraint {measure!r}", "its bounds must be (low, high)", bounds, "None for no bound"
            )
            continue
        with faults.collect(), Check(f"constraint {measure!r}") as check:
            ends = [
                None if b is None else check.number(n, b)
                for n, b in zip(("low", "high"), bounds, strict=True)
            ]
            low.append(-np.inf if ends[0] is None else ends[0])
            high.append(np.inf if ends[1] is None else ends[1])
            if not low[-1] <= high[-1] or (ends[0] is None and ends[1] is None):
                check.fault("low must be less than high, and one of them given", tuple(bounds))
    faults.raise_any()
    return Limits(tuple(found), np.array(low), np.array(high))


class Goal:
    """A measure to minimise within limits. Points u (parameters,) lie between 0 and 1.

    Raises OutOfBudget when more runs than `most` would be needed.
    """

    def __init__(self, evaluator: Evaluator, limits: Limits, maximize: bool, most: int) -> None:
        self.evaluator, self.limits, self.maximize = evaluator, limits, maximize
        self._sign, self._most = (-1.0 if maximize else 1.0), most
        self._span = evaluator.high - evaluator.low
        self.start = np.array([one.start for one in evaluator.free])

    @property
    def start_u(self) -> Floats:
        """The start of the search."""
        return np.asarray((self.start - self.evaluator.low) / self._span)

    def point(self, u: Floats) -> Floats:
        """The parameters at u."""
        inside = np.clip(self.evaluator.low + self._span * u, self.evaluator.low, self.evaluator.high)
        return np.asarray(inside)

    def at(self, rows: Sequence[Floats]) -> list[Outcome]:
        """Outcomes at several u, computed together."""
        if self.evaluator.runs >= self._most:
            raise OutOfBudget
        return self.evaluator.at([self.point(u) for u in rows])

    def values(self, rows: Sequence[Floats]) -> Floats:
        """The objective at each u; infinite for runs that fail."""
        return np.array([self._sign * o.values[0] if not o.reason else np.inf for o in self.at(rows)])

    def constraints(self, rows: Sequence[Floats]) -> Floats:
        """Measures of constraints over their scales (constraints, rows); far outside for failed runs."""
        found = [o.values[1:] / self.limits.scale if not o.reason else self._outside() for o in self.at(rows)]
        return np.array(found).T

    def value(self, u: Floats) -> float:
        """The objective at u; for failed runs, worse than all others, and more so farther from the best."""
        value = float(self.values([u])[0])
        if np.isfinite(value):
            return value
        good = [(self._sign * o.values[0], p) for p, o in self.evaluator.order if not o.reason]
        if not good:
            return 1e6
        values = np.array([v for v, _ in good])
        away = np.linalg.norm((self.point(u) - good[int(np.argmin(values))][1]) / self._span)
        return float(values.max() + (np.ptp(values) + abs(values.max()) + 1e-6) * (0.1 + away))

    def size(self, u: Floats) -> float:
        """The scale of values near u, even if the value there is zero."""
        value = abs(self.value(u))
        known = [abs(o.values[0]) for _, o in self.evaluator.order if not o.reason]
        return float(max(value, 1e-3 * np.median(known)) if known else value) or 1.0

    def gradient(self, u: Floats) -> Floats:
        """Derivatives of the value by u; zero where that cannot be computed."""
        return np.asarray(self._sign * self._derivatives(u)[0])

    def constraint(self, u: Floats) -> Floats:
        """Measures of the constraints at one u, over their scales."""
        return np.asarray(self.constraints([u])[:, 0])

    def constraint_gradient(self, u: Floats) -> Floats:
        """Derivatives of the constraints by u (constraints, parameters)."""
        return np.asarray(self._derivatives(u)[1:] / self.limits.scale[:, None])

    def _derivatives(self, u: Floats) -> Floats:
        if self.evaluator.runs >= self._most:
            raise OutOfBudget
        return np.asarray(np.nan_to_num(self.evaluator.derivatives(self.point(u)) * self._span))

    def _outside(self) -> Floats:
        scale = self.limits.scale
        return (
            np.where(
                np.isfinite(self.limits.high), self.limits.high + 10 * scale, self.limits.low - 10 * scale
            )
            / scale
        )


_POPULATION: Final = 10  # for each parameter
_GENERATIONS: Final = 60
_ACCURACY: Final = 1e-9  # of SLSQP, relative to the size of the measure
_SPREAD: Final = 1e-2  # of the box, that a population which has converged takes up

BUDGETS: Final[Mapping[str, Callable[[int], int]]] = {
    "differential_evolution": lambda n: _POPULATION * n * (_GENERATIONS + 1) + 200 * (2 * n + 1),
    "SLSQP": lambda n: 200 * (2 * n + 1),
    "L-BFGS-B": lambda n: 200 * (2 * n + 1),
    "Nelder-Mead": lambda n: 400 * (n + 1),
    "COBYLA": lambda n: 400 * (n + 1),
}
"""Runs at most, by the number of parameters."""

METHODS: Final = tuple(BUDGETS)


def searched(method: str, goal: Goal, seed: int) -> tuple[bool, str]:
    """Run the search; return whether it converged and the algorithm's message. Raises OutOfBudget."""
    if method == "differential_evolution":
        return _global(goal, seed)
    return _local(method, goal, goal.start_u)


def _global(goal: Goal, seed: int) -> tuple[bool, str]:
    """Differential evolution, whole populations at once; then a search by derivatives from the best."""
    optimize = needed("scipy.optimize", "an optimization")
    count, limits = len(goal.evaluator.free), goal.limits
    constraints: Any = ()
    if limits.measures:
        low, high = limits.low / limits.scale, limits.high / limits.scale
        constraints = optimize.NonlinearConstraint(
            lambda u: goal.constraints(list(np.atleast_2d(u.T))), low, high
        )
    found = optimize.differential_evolution(
        lambda u: goal.values(list(u.T)),
        [(0.0, 1.0)] * count,
        popsize=_POPULATION,
        maxiter=_GENERATIONS,
        tol=0.0,
        rng=seed,
        polish=False,
        vectorized=True,
        updating="deferred",
        constraints=constraints,
        x0=goal.start_u,
        callback=_has_drawn_together,
    )
    together = bool(found.success) or np.max(np.ptp(found.population, axis=0)) < _SPREAD
    _, polished = _local("SLSQP" if limits.measures else "L-BFGS-B", goal, found.x)
    ended = "the population has drawn together" if together else _sentence(found.message)
    return together, f"{ended}; then by derivatives: {polished}"


def _has_drawn_together(intermediate_result: Any) -> bool:
    """Whether a population has converged to one point; scipy compares the values, which may be zero."""
    return bool(np.max(np.ptp(intermediate_result.population, axis=0)) < _SPREAD)


def _local(method: str, goal: Goal, begin: Floats) -> tuple[bool, str]:
    optimize = needed("scipy.optimize", "an optimization")
    limits = goal.limits
    size = goal.size(begin)  # values near 1 suit the tolerances of the algorithms
    by_derivatives = method in ("SLSQP", "L-BFGS-B")
    arguments: dict[str, Any] = {"jac": lambda u: goal.gradient(u) / size} if by_derivatives else {}
    if limits.measures and method != "L-BFGS-B":
        gradient = {"jac": goal.constraint_gradient} if by_derivatives else {}
        low, high = limits.low / limits.scale, limits.high / limits.scale
        if method == "Nelder-Mead":
            return _penalized(goal, begin, size)
        arguments["constraints"] = optimize.NonlinearConstraint(goal.constraint, low, high, **gradient)
    if method == "SLSQP":
        arguments["options"] = {"ftol": _ACCURACY}
    found = optimize.minimize(
        lambda u: goal.value(u) / size,
        begin,
        method=method,
        bounds=[(0.0, 1.0)] * len(begin),
        **arguments,
    )
    return bool(found.success), _sentence(found.message)


def _penalized(goal: Goal, begin: Floats, size: float) -> tuple[bool, str]:
    """Nelder and Mead's simplex takes no constraints: violations make a point worse than its start."""
    optimize = needed("scipy.optimize", "an optimization")

    def value(u: Floats) -> float:
        missed = goal.limits.violation(goal.constraint(u) * goal.limits.scale)
        return goal.value(u) / size + 10.0 * float(np.sum(missed))

    found = optimize.minimize(value, begin, method="Nelder-Mead", bounds=[(0.0, 1.0)] * len(begin))
    return bool(found.success), f"{_sentence(found.message)} (constraints by a penalty)"


def _sentence(message: Any) -> str:
    return str(message).strip().rstrip(".").lower()
