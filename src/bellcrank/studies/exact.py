"""Jacobians of what studies compute from runs, by following each run along its parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np

from bellcrank.compile.state import Floats
from bellcrank.errors import Fault, MechanismError, Unsupported
from bellcrank.linear.followed import FollowedRun
from bellcrank.mechanism.checking import Check, nearest
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.studies.data import Record
from bellcrank.studies.measures import (
    END_SLOPES,
    JUMP_SLOPES,
    REDUCTIONS,
    SLOPES,
    Measure,
    kinks,
    reduction_of,
)
from bellcrank.trajectory.columns import quantity

Jacobian: TypeAlias = Callable[[Mechanism, Sequence[str], Mapping[str, Any]], Floats]
"""Derivatives (numbers, parameters) of what is computed from a run, from its mechanism, the names of
parameters and the arguments of the run. Raises Unsupported where something has none."""

_LANES: Final = 4  # directions that cost as much as one gradient
SEARCHED: Final = 1e-8  # relative tolerance of derivatives that lead a search


def asked_for(what: str, names: tuple[str, ...], name: str) -> int:
    """The place of a name among those that were asked for. Raises MechanismError if it is none."""
    if name in names:
        return names.index(name)
    raise MechanismError(Fault(f"{what} {name!r}", "it was not asked for", None, nearest(str(name), names)))


def exactly(jacobian: Jacobian, derivatives: str, analysis: Any) -> dict[str, Any]:
    """How an Evaluator differentiates. Raises MechanismError for a choice that there is not."""
    with Check("study") as check:
        chosen = check.choice("derivatives", derivatives, ("auto", "differences"))
    if chosen == "differences":
        return {}
    if analysis != "simulate":
        what = f"analysis {analysis!r}" if isinstance(analysis, str) else "an analysis of one's own"
        return {"inexact": f"{what} has no exact derivatives"}
    return {"exact": jacobian}


def followed(
    mechanism: Mechanism,
    of: Sequence[str],
    by: Sequence[str],
    arguments: Mapping[str, Any],
    tolerance: float = 0.0,
    **start: Any,
) -> FollowedRun:
    """A run with quantities named as in studies: a unique beginning of a name is enough.

    start: `held` and `chart` of a FollowedRun.
    """
    given = dict(arguments)
    return FollowedRun(
        mechanism,
        given.pop("duration", None),
        lambda run: [quantity(run, name).name for name in of],
        by,
        given,
        tolerance,
        **start,
    )


def reductions(measures: Sequence[Measure]) -> list[tuple[str, str]]:
    """Reductions and quantities of measures. Raises Unsupported for one that is a function."""
    found = [reduction_of(one) for one in measures]
    for one, (text, _) in zip(measures, found, strict=True):
        if not text:
            raise Unsupported(f"measure {one.name!r} is a function, which only differences can differentiate")
    return found


def watched(wanted: Sequence[tuple[str, str]]) -> list[str]:
    """Quantities to be followed for reductions of some: besides, the time at which an average ends."""
    names = [name for _, name in wanted]
    return [*names, "time"] if any(reduction in END_SLOPES for reduction, _ in wanted) else names


def weights_of(run: FollowedRun, wanted: Sequence[tuple[str, str]]) -> tuple[Floats, Floats, list[str]]:
    """Derivatives of measures, and warnings of kinks.

    By what is watched() (measures, frames, quantities), and by the times of impacts (measures, impacts).
    """
    time, warnings = run.run.time, list[str]()
    weights = np.zeros((len(wanted), len(time), len(run.of)))
    struck, before, behind = run.impacts
    of_impacts = np.zeros((len(wanted), len(struck)))
    inside = (struck >= time[0]) & (struck <= time[-1])
    for k, (reduction, _) in enumerate(wanted):
        values = quantity(run.run, run.of[k].name).values
        weights[k, :, k] = SLOPES[reduction](time, values)
        if reduction in END_SLOPES:
            weights[k, -1, -1] += END_SLOPES[reduction](time, values)
            if inside.any():
                slopes = JUMP_SLOPES[reduction](time, values, before[:, k], behind[:, k])
                of_impacts[k] = np.where(inside, slopes, 0.0)
        if kink := kinks(reduction, values):
            warnings.append(f"{kink} of {run.of[k].name}: the derivative is that of the first of them")
    return weights, of_impacts, warnings


def cheapest_way(parameters: int, measures: int) -> str:
    """The way of differentiating measures of a run that costs least: "forward" or "backward"."""
    return "backward" if parameters > _LANES * measures else "forward"


def values_of(run: FollowedRun, wanted: Sequence[tuple[str, str]]) -> Floats:
    """Measures (measures,) of a run."""
    return np.array([REDUCTIONS[one](run.run.time, quantity(run.run, name).values) for one, name in wanted])


def differentiated(
    run: FollowedRun, wanted: Sequence[tuple[str, str]], backward: bool, errors: bool = False
) -> tuple[Floats, Floats, list[str]]:
    """Gradients (measures, by), errors of the values (measures,), nan unless asked for, and warnings."""
    weights, of_impacts, warnings = weights_of(run, wanted)
    error = np.full(len(wanted), np.nan)
    if backward:
        rows = []
        for k, weight in enumerate(weights):
            row, error[k] = run.back(weight, of_impacts[k], errors)
            rows.append(row)
        found = np.array(rows)
    else:
        changes, late = run.along()
        found = np.einsum("tmp,ktm->kp", changes, weights) + of_impacts @ late
    return found, error, [*warnings, *run.warnings()]


@dataclass(frozen=True)
class OfMeasures:
    """The Jacobian of measures."""

    measures: tuple[Measure, ...]

    def __call__(self, mechanism: Mechanism, by: Sequence[str], arguments: Mapping[str, Any]) -> Floats:
        """Derivatives (measures, parameters). Raises Unsupported where something has none."""
        wanted = reductions(self.measures)
        run = followed(mechanism, watched(wanted), by, arguments, SEARCHED)
        return differentiated(run, wanted, False)[0]


@dataclass(frozen=True)
class OfRecords:
    """The Jacobian of predictions of recorded data. tolerance: relative."""

    records: tuple[Record, ...]
    tolerance: float = SEARCHED

    def __call__(self, mechanism: Mechanism, by: Sequence[str], arguments: Mapping[str, Any]) -> Floats:
        """Derivatives (data, parameters). Raises Unsupported where something has none."""
        run = followed(mechanism, [one.name for one in self.records], by, arguments, self.tolerance)
        changes, _ = run.along()
        return np.vstack(
            [
                np.column_stack([np.interp(one.times, run.run.time, column) for column in changes[:, k].T])
                for k, one in enumerate(self.records)
            ]
        )
