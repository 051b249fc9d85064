"""Consecutive runs joined into one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import pairwise

from bellcrank.trajectory.joining import joined, relaid, united
from bellcrank.trajectory.trajectory import Trajectory

_SUMMED = (
    "steps",
    "rejected_steps",
    "wall_seconds",
    "evaluations",
    "factorizations",
    "corrections",
    "impacts",
)


def merged(runs: Sequence[Trajectory]) -> Trajectory:
    """One run from several, each of which starts where the previous one ended.

    Forces, drives and constraints may differ: where one is not there, it exerts nothing. At the joins, the
    frame of the later run is kept: forces may have been switched there.
    """
    if len(runs) == 1:
        return runs[0]
    layout = reduce(united, [run.layout for run in runs])
    whole = joined([relaid(run, layout) for run in runs], changed=True)
    statistics = dict(whole.statistics)
    for name in _SUMMED:
        if name in statistics:
            statistics[name] = sum(run.statistics.get(name, 0) for run in runs)  # type: ignore[misc]
    if changes := [two.time[0] for one, two in pairwise(runs) if _differ(one, two)]:
        statistics["changed_at"] = ", ".join(f"{time:.6g} s" for time in changes)
    return Trajectory(layout, whole.store, whole.status, statistics, whole.origin, whole.events)


def _differ(one: Trajectory, two: Trajectory) -> bool:
    """Whether two runs are of different mechanisms."""
    return one.origin.mechanism is not two.origin.mechanism and one.mechanism != two.mechanism
