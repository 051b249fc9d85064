"""Timing on one core: thread CPU time, medians, and the pieces of work that benchmarks time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

import numpy as np

from bellcrank import _core
from bellcrank.compile.model import Model
from bellcrank.compile.state import Floats
from bellcrank.errors import SimulationError
from bellcrank.formulations.preparing import prepare
from bellcrank.formulations.system import System
from bellcrank.run.advance import Outcome, advance
from bellcrank.run.plan import MethodOptions, method_options

_NOTHING = _core.Observation()
LEAST_SECONDS = 0.05
"""Samples of accelerations last at least about this long."""
TICK: Final = time.get_clock_info("thread_time").resolution
"""Of the clock by which all is timed, s."""


CALLS: Final = 5
"""Calls without a step by which the fixed cost of a call is known."""


@dataclass(frozen=True)
class Spread:
    """Median, smallest and largest of repeated measurements, all in one unit."""

    median: float
    smallest: float
    largest: float

    @classmethod
    def of(cls, samples: list[float], scale: float = 1.0) -> Spread:
        """The spread of samples, each multiplied by a scale."""
        return cls(scale * median(samples), scale * min(samples), scale * max(samples))


def pin_to_one_core() -> int | None:
    """Bind this process to the last core it may use; the core's index, None if that is not possible."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    return core


def timed(work: Callable[[], object]) -> float:
    """CPU seconds that this thread spends on a piece of work."""
    begun = time.thread_time()
    work()
    return time.thread_time() - begun


@dataclass(frozen=True, eq=False)
class TimedRun:
    """A run of the core's loop: how it ended, its frames (n, 1 + width) and its CPU seconds."""

    outcome: Outcome
    frames: Floats
    seconds: float


def timed_run(model: Model, method: str, times: Floats, **settings: float) -> TimedRun:
    """One run of `timed_runs`."""
    return timed_runs(model, method, times, 1, **settings)[0]


def timed_runs(
    model: Model,
    method: str,
    times: Floats,
    runs: int,
    *,
    step: float | None = None,
    tolerance: float | None = None,
    rtol: float | None = None,
    max_order: float | None = None,
    **options: Any,
) -> list[TimedRun]:
    """Simulate a model by the lagrange formulation several times, recording frames at the given times only.

    The CPU time is that of the loop over time: without preparing the system, which is done once, without the
    first projection, and without the fixed cost of a call. Does not raise if a run breaks down; the outcome
    says so.
    """
    system = prepare(model, "lagrange", **options)
    chosen = method_options(
        method,
        float(times[-1] - times[0]),
        step,
        tolerance=tolerance,
        rtol=rtol,
        max_order=None if max_order is None else int(max_order),
    )
    call = median(_timed_run(system, chosen, times[:1]).seconds for _ in range(CALLS))
    return [_timed_run(system, chosen, times, call) for _ in range(runs)]


def _timed_run(system: System, chosen: MethodOptions, times: Floats, call: float = 0.0) -> TimedRun:
    system.set_state(system.model.initial)
    system.project()
    blocks: list[Floats] = []

    def keep(frames: Floats) -> None:
        blocks.append(frames.copy())

    begun = time.thread_time()
    outcome = advance(system.core, chosen, times, _NOTHING, keep, _ignore)
    seconds = max(0.0, time.thread_time() - begun - call)
    return TimedRun(outcome, np.concatenate(blocks), seconds)


def step_time(model: Model, method: str, step: float, steps: int, repeats: int) -> Spread:
    """Microseconds per step, starting from the initial state, with one frame at the end.

    The fixed cost of a call, measured by calls that make one step, is subtracted. One run is made to warm up.
    What the clock cannot tell from that cost counts as one of its ticks, for ratios are taken of these times.
    Raises SimulationError if a run breaks down.
    """

    def seconds(count: int) -> float:
        run = timed_run(model, method, np.array([0.0, count * step]) + model.initial.time, step=step)
        if run.outcome.status != "finished":
            text = f"timing {model.name!r} by {method}: {run.outcome.status} at t = {run.outcome.time:g} s"
            raise SimulationError(text, run.outcome.time)
        return run.seconds

    seconds(steps)
    fixed = median([seconds(1) for _ in range(repeats)])
    samples = [max(seconds(1 + steps) - fixed, TICK) for _ in range(repeats)]
    return Spread.of(samples, 1e6 / steps)


def acceleration_time(model: Model, repeats: int) -> Spread:
    """Microseconds per evaluation of all accelerations and multipliers near the initial state.

    Each is at a different configuration from the previous one, as in stages of a step.
    """
    system = prepare(model, "lagrange")
    system.project()
    count = max(3, round(LEAST_SECONDS / max(_one_acceleration(system), 1e-7)))
    samples = [timed(lambda: system.core.repeat("accelerate", count)) for _ in range(repeats)]
    return Spread.of(samples, 1e6 / count)


def _one_acceleration(system: System) -> float:
    system.core.repeat("accelerate", 3)
    return timed(lambda: system.core.repeat("accelerate", 10)) / 10


def _ignore(_time: float) -> None:
    """A progress callback that does nothing."""
