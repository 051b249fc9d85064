"""Optimization: the parameters that minimise a measure, `bc.optimize`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bellcrank.errors import Fault, MechanismError
from bellcrank.extras import needed
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.html import displayed
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.slips import answered, answering
from bellcrank.studies.evaluator import Evaluator, Free, free_parameters
from bellcrank.studies.exact import OfMeasures, exactly
from bellcrank.studies.experiment import Experiment, Measures, checked_analysis
from bellcrank.studies.goal import BUDGETS, METHODS, Goal, Limits, OutOfBudget, limits_of, searched
from bellcrank.studies.measures import measures_of
from bellcrank.studies.progress import CountProgress
from bellcrank.studies.workers import workers_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NAMES: Final = ("auto", *METHODS)


@dataclass(frozen=True)
class Entry:
    """A run: its point, the measure (nan if it failed), and whether it satisfies the constraints."""

    point: Mapping[str, float]
    value: float
    constraints: Mapping[str, float]
    feasible: bool
    reason: str


@displayed("plot")
@answering
@dataclass(frozen=True, eq=False, repr=False)
class OptimizeReport:
    """The results of an optimization.

    values: of the parameters, whose units are in `parameters`. value: the measure there. constraints:
    their measures there. history: every run, in order. failures: how many of them failed. search, reason:
    the algorithm, and why it was chosen. converged, message: how it ended. mechanism: with the values.

    >>> fall = {"measure": "final joint.hinge.theta_z", "guess": {"length": 1.0}, "duration": 0.3}
    >>> report = bc.optimize(pendulum, {"length": (0.5, 2.0)}, **fall)
    >>> report.search, report.converged
    ('L-BFGS-B', True)
    >>> print(f"{report.values['length']:.4f} m")    # the shortest rod falls fastest
    0.5000 m
    """

    mechanism: Mechanism
    measure: str
    maximize: bool
    parameters: Mapping[str, str]
    values: Mapping[str, float]
    value: float
    constraints: Mapping[str, float]
    history: tuple[Entry, ...]
    search: str
    reason: str
    derivatives: str
    converged: bool
    message: str

    @property
    def runs(self) -> int:
        """How many runs were computed."""
        return len(self.history)

    @property
    def failures(self) -> int:
        """How many of them failed."""
        return sum(bool(entry.reason) for entry in self.history)

    def plot(self, path: str | Path | None = None) -> Figure:
        """Plot the measure and parameters over runs (needs matplotlib). path: PNG, PDF or SVG to write.

        >>> fall = {"measure": "final joint.hinge.theta_z", "guess": {"length": 1.0}, "duration": 0.3}
        >>> figure = bc.optimize(pendulum, {"length": (0.5, 2.0)}, **fall).plot("optimum.png")
        >>> len(figure.axes)    # the measure, and the parameter
        2
        """
        from bellcrank.studies.plots import plot_course

        return plot_course(self, path)

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values, as it is printed as JSON.

        >>> fall = {"measure": "final joint.hinge.theta_z", "guess": {"length": 1.0}, "duration": 0.3}
        >>> values = bc.optimize(pendulum, {"length": (0.5, 2.0)}, **fall).to_dict()
        >>> values["search"], values["converged"]
        ('L-BFGS-B', True)
        """
        return {
            "mechanism": self.mechanism.name,
            "measure": self.measure,
            "maximize": self.maximize,
            "values": dict(self.values),
            "value": self.value,
            "constraints": dict(self.constraints),
            "search": self.search,
            "reason": self.reason,
            "derivatives": self.derivatives,
            "converged": self.converged,
            "message": self.message,
            "runs": self.runs,
            "failures": self.failures,
        }

    def __repr__(self) -> str:
        return f"<{str(self).splitlines()[0]}>"

    def __str__(self) -> str:
        ended = "converged" if self.converged else "not converged"
        lines = [f"{self.measure} = {self.value:.6g} after {self.runs} runs, {self.failures} failed, {ended}"]
        lines += [f"  {n:24} {v:.6g} {self.parameters[n]}".rstrip() for n, v in self.values.items()]
        lines += [f"  {name:24} {value:.6g}" for name, value in self.constraints.items()]
        lines.append(f"  {self.search}: {self.reason}; {self.message}")
        lines += [f"  derivatives: {self.derivatives}"] if self.derivatives else []
        return "\n".join(lines)


@answered
def optimize(
    mechanism: Mechanism,
    parameters: Any,
    measure: str | Callable[[Any], float],
    *,
    maximize: bool = False,
    constraints: Mapping[Any, Any] | None = None,
    search: str = "auto",
    derivatives: str = "auto",
    guess: Mapping[str, Any] | None = None,
    budget: int | None = None,
    seed: int = 0,
    analysis: str | Callable[..., Any] = "simulate",
    executor: Any = None,
    processes: int | None = 1,
    progress: bool | Callable[[float], None] | None = None,
    **arguments: Any,
) -> OptimizeReport:
    """Find the parameters that minimise, or maximise, a measure of the run.

    parameters: a mapping from names to bounds (low, high), or names of parameters that have bounds.
    measure: a text or a function, as for `bc.sweep`. maximize: maximise it instead.
    constraints: a mapping from measures to their bounds (low, high); None for no bound.
    search: "differential_evolution" (global), "SLSQP", "L-BFGS-B" (both use derivatives), "Nelder-Mead",
        "COBYLA" (both do not). "auto": with a `guess`, the nearest minimum, using derivatives; without, the
        global one, finished with derivatives. The report gives the reason.
    derivatives: "auto" for exact ones where that is possible, as by `bc.gradient`; "differences" for
        differences alone, with steps matched to the tolerance of the runs. The report says which, and why.
    guess: start values by name; parameters that are left out keep their present values.
    budget: the largest number of runs. seed: of the global search.
    analysis, executor, processes, arguments: as for `bc.sweep`; populations and differences are computed in
        parallel, with processes=None on all cores.

    Runs that fail are counted and avoided. Raises MechanismError for wrong arguments, and if no run that
    satisfies the constraints is found; Unsupported without scipy.

    >>> report = bc.optimize(
    ...     pendulum, {"length": (0.5, 2.0)}, "final joint.hinge.theta_z", guess={"length": 1.0}, duration=0.3
    ... )
    >>> print(f"{report.values['length']:.4f} m")    # the shortest rod falls fastest
    0.5000 m
    """
    needed("scipy.optimize", "an optimization")
    free = free_parameters(mechanism, parameters, guess)
    limits = limits_of(constraints)
    (objective,) = _single(measure)
    chosen = _checked(search, free, limits, maximize, budget, seed)
    analysis = checked_analysis("optimize", analysis, arguments)
    measures = (objective, *limits.measures)
    experiment = Experiment(mechanism, analysis, arguments, Measures(measures), len(measures))
    workers = workers_of(executor, processes)
    chosen, reason = _chosen(chosen, guess is not None, bool(limits.measures))
    most = BUDGETS[chosen](len(free)) if budget is None else budget
    with CountProgress(progress, "optimize", None) as shown:
        exact = exactly(OfMeasures(measures), derivatives, analysis)
        evaluator = Evaluator(experiment, free, workers, shown, **exact)
        goal = Goal(evaluator, limits, maximize, most)
        evaluator.probe(goal.start)
        try:
            converged, message = searched(chosen, goal, seed)
        except OutOfBudget:
            converged, message = False, f"the budget of {most} runs is used up"
        except KeyboardInterrupt:
            converged, message = False, "interrupted"
        finally:
            workers.close()
    return _report(mechanism, objective.name, goal, chosen, reason, converged, message)


def _checked(search: Any, free: Sequence[Free], limits: Limits, maximize: Any, budget: Any, seed: Any) -> str:
    """The search. Raises MechanismError listing all faults of the arguments."""
    with Check("optimize") as check:
        check.flag("maximize", maximize)
        chosen = check.choice("search", search, _NAMES)
        for one in free:
            if not np.isfinite([one.low, one.high]).all():
                advice = f"give {{'{one.name}': (low, high)}}"
                check.fault(f"parameter {one.name!r} needs two bounds", (one.low, one.high), advice)
        if budget is not None:
            check.integer("budget", budget, 1)
        check.integer("seed", seed, 0)
        if chosen == "L-BFGS-B" and limits.measures:
            check.fault("search 'L-BFGS-B' takes no constraints", None, "use 'SLSQP'")
    return chosen


def _single(measure: Any) -> tuple[Any]:
    found = measures_of(measure)
    if len(found) != 1:
        names = [one.name for one in found]
        raise MechanismError(Fault("measure", "one is made least", names, "bound the others by constraints="))
    return (found[0],)


def _chosen(search: str, started: bool, bounded: bool) -> tuple[str, str]:
    if search != "auto":
        return search, "as asked"
    if not started:
        return "differential_evolution", "no guess is given, so the whole box is searched"
    if bounded:
        return "SLSQP", "a guess is given, and there are constraints"
    return "L-BFGS-B", "a guess is given, and there are no constraints but bounds"


def _report(
    mechanism: Mechanism,
    measure: str,
    goal: Goal,
    search: str,
    reason: str,
    converged: bool,
    message: str,
) -> OptimizeReport:
    names, free = goal.evaluator.names, goal.evaluator.free
    limits: Limits = goal.limits
    history = []
    for point, outcome in goal.evaluator.order:
        values = outcome.values
        history.append(
            Entry(
                dict(zip(names, point.tolist(), strict=True)),
                float(values[0]),
                dict(zip(limits.names, values[1:].tolist(), strict=True)),
                limits.kept(values[1:]) and not outcome.reason,
                outcome.reason,
            )
        )
    good = [entry for entry in history if entry.feasible]
    if not good:
        raise _nothing_found(history)
    best = (max if goal.maximize else min)(good, key=lambda entry: entry.value)
    return OptimizeReport(
        mechanism.with_parameters(**best.point),
        measure,
        goal.maximize,
        {one.name: one.unit for one in free},
        dict(best.point),
        best.value,
        dict(best.constraints),
        tuple(history),
        search,
        reason,
        goal.evaluator.says if goal.evaluator.differentiated else "",
        converged,
        message,
    )


def _nothing_found(history: list[Entry]) -> MechanismError:
    reasons = [entry.reason for entry in history if entry.reason]
    if len(reasons) == len(history):
        return MechanismError(
            Fault("optimize", f"all {len(history)} runs failed, the first for this: {reasons[0]}")
        )
    rule = f"none of {len(history)} runs keeps the constraints"
    return MechanismError(Fault("optimize", rule, None, "widen bounds or constraints, or raise the budget"))
