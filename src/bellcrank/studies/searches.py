"""The search for the minimum of a goal, by the algorithms of scipy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from bellcrank.assembly.state import Floats
from bellcrank.studies.extras import needed
from bellcrank.studies.goal import Goal

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
