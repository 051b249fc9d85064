"""Consecutive runs joined into one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bellcrank.trajectory.contact_log import rows_of
from bellcrank.trajectory.store import MemoryStore
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
    """One run from several with the same columns, each of which starts where the previous one ended.

    At the joins, the frame of the later run is kept: forces may have been switched there.
    """
    if len(runs) == 1:
        return runs[0]
    last = runs[-1]
    sections = {
        name: np.concatenate([*(run.store.read(name)[:-1] for run in runs[:-1]), last.store.read(name)])
        for name in last.layout.shapes
    }
    touching = None
    if last.layout.contacts:
        ends = [rows_of(run.store, slice(0, len(run) - 1)) for run in runs[:-1]]
        touching = np.concatenate([*ends, last.store.contacts])
    statistics = dict(last.statistics)
    for name in _SUMMED:
        if name in statistics:
            statistics[name] = sum(run.statistics.get(name, 0) for run in runs)  # type: ignore[misc]
    return Trajectory(last.layout, MemoryStore(sections, touching), last.status, statistics, last.mechanism)
