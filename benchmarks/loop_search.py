"""The search for bellcrank's best settings on closed loops, of the same kind as the peers' (peers/search.py).

Every method walks a geometric grid of steps, or of tolerances, from coarse to fine; the first run within the
bounds is timed. The options of the formulation in `REFINEMENTS` are then tried on the winner one by one, each
walk starting two grid points coarser.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from bellcrank.run.plan import METHODS
from benchmarks.loop_runs import LoopProblem, Setting, judge, judge_at
from benchmarks.timing import timed_run

STORED: Final = Path(__file__).with_name("loop_settings.json")
GRID_RATIO: Final = 2.0**0.25
MOST_SECONDS: Final = 15.0
"""A run that would cost more CPU time than this is not tried."""
TRIAL_REPEATS: Final = 3
SPARSE: Final = 10


@dataclass(frozen=True)
class Range:
    """The start and end of the search of a method, and the ratio of neighbours on its grid."""

    coarsest: float
    finest: float
    ratio: float


RANGES: Final = {
    "rk4": Range(0.08, 2e-6, GRID_RATIO),
    "dopri5": Range(1e-4, 1e-14, 10.0**0.25),
    "adams": Range(1e-4, 1e-14, 10.0**0.25),
    "semi_implicit_euler": Range(1e-4, 1e-5, 2.0),
}
"""By method: steps in s, tolerances for dopri5 and adams."""
REFINEMENTS: Final[Sequence[dict[str, float]]] = (
    {"planar": True},
    {"position_tolerance": 1e-9},
    {"position_tolerance": 1e-8},
    {"refinements": 0},
    {"max_order": 10},
)
_ADAMS_ONLY: Final = "max_order"


@dataclass(frozen=True)
class Found:
    """A setting and its CPU seconds; no setting if none is within the bounds."""

    setting: Setting | None = None
    seconds: float = math.inf


def search(problem: LoopProblem, method: str) -> Found:
    """The cheapest setting of a method."""
    best = walk(problem, method, RANGES[method].coarsest, {}, Found())
    for extra in REFINEMENTS:
        if method != "adams" and _ADAMS_ONLY in extra:
            continue
        if best.setting is not None:
            coarse = best.setting.value * RANGES[method].ratio ** 2
            best = walk(problem, method, coarse, {**best.setting.options, **extra}, best)
    return best


def walk(
    problem: LoopProblem, method: str, coarsest: float, options: Mapping[str, float], best: Found
) -> Found:
    """The coarsest setting on the grid that is within the bounds, if cheaper than the best one so far."""
    grid, value = RANGES[method], coarsest
    if not METHODS[method].adaptive:
        value = min(value, problem.duration)
    while value > grid.finest:
        setting = Setting(method, value, options)
        cost = expected_seconds(problem, setting)
        if cost > MOST_SECONDS or 0.7 * cost > best.seconds:
            return best
        if passes(problem, setting):
            seconds = min(setting.timed(problem).seconds for _ in range(TRIAL_REPEATS))
            return Found(setting, seconds) if seconds < best.seconds else best
        value /= grid.ratio
    return best


def passes(problem: LoopProblem, setting: Setting) -> bool:
    """Whether a setting is within the bounds; a few samples are judged first, as these cost time."""
    times = setting.sample_times(problem)
    few = np.unique([*times[::SPARSE], times[-1]])
    return (
        judge_at(problem, setting, few, bounded=True).within and judge(problem, setting, bounded=True).within
    )


def expected_seconds(problem: LoopProblem, setting: Setting) -> float:
    """CPU seconds of a run, from the cost of its first hundred steps; 0 for an adaptive method."""
    if setting.adaptive:
        return 0.0
    first = 100 * setting.value
    if first >= problem.duration:
        return 0.0
    times = np.array([0.0, first])
    seconds = timed_run(problem.model, setting.method, times, step=setting.value, **setting.options).seconds
    return seconds * problem.duration / first


def stored(path: Path = STORED) -> list[dict[str, Any]]:
    """The settings found by an earlier search: problem, n, duration, method, value (None: none), options."""
    entries: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return entries


def store(entries: Sequence[dict[str, Any]], path: Path = STORED) -> None:
    """Write settings, one a line; those of other problems are kept."""
    new = {(entry["problem"], entry["n"]) for entry in entries}
    old = (
        [entry for entry in stored(path) if (entry["problem"], entry["n"]) not in new]
        if path.exists()
        else []
    )
    ordered = sorted([*old, *entries], key=lambda entry: (entry["problem"], entry["n"]))
    path.write_text("[\n " + ",\n ".join(json.dumps(entry) for entry in ordered) + "\n]\n", encoding="utf-8")


def entry(problem: LoopProblem, method: str, found: Found) -> dict[str, Any]:
    """A setting in the form in which it is stored."""
    return {
        "problem": problem.name,
        "n": problem.n,
        "duration": problem.duration,
        "method": method,
        "value": found.setting.value if found.setting else None,
        "options": dict(found.setting.options) if found.setting else {},
    }
