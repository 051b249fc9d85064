"""Timing, reporting and command line of every peer's script (loop_problems.py: what is measured)."""

# run as scripts, so siblings import by plain name; a checker that sees a package cannot find them
# mypy: disable-error-code="import-not-found,no-any-return"

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import time
from collections.abc import Callable
from typing import Any, Protocol

from loop_problems import ENERGY_BOUND, GAP_BOUND, PROBLEMS, Judge, Problem

SAMPLE_PERIOD = 1e-3


class Run(Protocol):
    """One peer's prepared run: a fixed number of equal steps from the initial state."""

    version: str
    integrator: str

    def record(self, judge: Judge, every: int) -> None:
        """Step through, calling judge.accept every `every` steps and at the end, while it returns True."""

    def timed(self) -> tuple[float, float]:
        """Step through once without recording: (corrected, raw) CPU seconds of the stepping alone."""


MakeRun = Callable[[Problem, float, int, dict[str, str]], Run]


def pin_to_one_core() -> None:
    """Bind this process to the last core it may use; `taskset` or the caller's affinity chooses another."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def thread_clock() -> float:
    """CPU seconds of this thread."""
    return time.thread_time()


def judge_run(run: Run, problem: Problem, step: float, bounded: bool) -> Judge:
    """Run once with recording; sample every step, or every millisecond if steps are shorter."""
    judge = Judge(problem, ENERGY_BOUND, GAP_BOUND) if bounded else Judge(problem)
    run.record(judge, max(1, round(SAMPLE_PERIOD / step)))
    return judge


def parse_options(items: list[str]) -> dict[str, str]:
    """['gain=0.1', …] → {'gain': '0.1', …}."""
    options = {}
    for item in items:
        key, equals, value = item.partition("=")
        if not equals:
            raise SystemExit(f"--set {item}: expected NAME=VALUE")
        options[key] = value
    return options


def finite_or_none(value: float | None) -> float | None:
    """JSON has no infinity: a run that blew up reports null."""
    return value if value is not None and math.isfinite(value) else None


def report(
    peer: str,
    make: MakeRun,
    problem: Problem,
    step: float,
    duration: float,
    repeat: int,
    options: dict[str, str],
) -> dict[str, Any]:
    """Measure one setting; the keys are those of the JSON line that the scripts print."""
    steps = max(1, math.ceil(duration / step - 1e-9))
    step = duration / steps
    run = make(problem, step, steps, options)
    judge = judge_run(run, problem, step, bounded=False)
    times = [run.timed() for _ in range(repeat)]
    cpu = [corrected for corrected, _ in times]
    median = statistics.median(cpu)
    return {
        "peer": peer,
        "version": run.version,
        "problem": problem.name,
        "n": problem.n,
        "step": step,
        "duration": duration,
        "integrator": run.integrator,
        "options": options,
        "steps": steps,
        "repeat": repeat,
        "cpu_seconds": finite_or_none(median),
        "cpu_seconds_raw": finite_or_none(statistics.median([raw for _, raw in times])),
        "cpu_seconds_min": finite_or_none(min(cpu)),
        "cpu_seconds_max": finite_or_none(max(cpu)),
        "time_per_step_us": finite_or_none(1e6 * median / steps),
        "max_energy_error_J": finite_or_none(judge.energy_error),
        "max_gap_m": finite_or_none(judge.gap),
        "tip_error_m": finite_or_none(judge.tip_error()),
    }


def main(peer: str, make: MakeRun, description: str | None) -> None:
    """The command line shared by the peer scripts; the last line on standard output is the result as JSON."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--problem", choices=sorted(PROBLEMS), default="four_bar")
    parser.add_argument("--n", type=int, default=1, help="windows of the four-bar, or rods of the ring")
    parser.add_argument(
        "--step", type=float, default=1e-3, help="step in s; shortened to divide the duration"
    )
    parser.add_argument("--duration", type=float, default=10.0, help="simulated time in s")
    parser.add_argument("--integrator", help="one of the peer's integrators; its default suits accuracy")
    parser.add_argument("--repeat", type=int, default=5, help="timed repeats; the median counts")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="further settings of the peer"
    )
    arguments = parser.parse_args()
    options = parse_options(arguments.set)
    if arguments.integrator:
        options["integrator"] = arguments.integrator
    pin_to_one_core()
    problem = PROBLEMS[arguments.problem](arguments.n)
    result = report(peer, make, problem, arguments.step, arguments.duration, arguments.repeat, options)
    print(json.dumps(result))
