"""bellcrank on the closed-loop problems used to measure other engines (peers/loop_problems.py).

Runs are judged like the peers': energy and gaps by the same formula from the poses and velocities of all
rods, at every step, or every millisecond if steps are shorter or of varying length. The judged run
records frames; the timed run is the same one with frames at its two ends only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Final

import numpy as np

import bellcrank as bc
from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.model import Model
from bellcrank.compile.state import Floats
from bellcrank.gallery import n_four_bar, ring
from bellcrank.run.plan import METHODS
from benchmarks.peers.loop_problems import ENERGY_BOUND, GAP_BOUND, LENGTH, PROBLEMS, Judge, Problem
from benchmarks.report import Row
from benchmarks.timing import Spread, TimedRun, timed_run, timed_runs

SAMPLE_PERIOD: Final = 1e-3
BRANCH_BOUND: Final = 0.05
"""Largest distance, m, of a four-bar's tip from the reference: a run on another branch is a metre away."""
GENERATORS: Final[dict[str, Callable[[int], bc.Mechanism]]] = {"four_bar": n_four_bar, "ring": ring}


@dataclass(frozen=True)
class LoopProblem:
    """A problem, its size and how long to simulate, s."""

    name: str
    n: int
    duration: float

    @property
    def reference(self) -> Problem:
        """The problem as the peers' scripts describe it."""
        return PROBLEMS[self.name](self.n)

    @property
    def model(self) -> Model:
        """The compiled model from bellcrank's generator: the same rods in the same order."""
        return _model(self.name, self.n)


@lru_cache
def _model(name: str, n: int) -> Model:
    return compile_mechanism(GENERATORS[name](n))


@dataclass(frozen=True)
class Setting:
    """The settings for solving a problem. value: the step, s, or the tolerance of an adaptive method."""

    method: str
    value: float
    options: Mapping[str, float] = field(default_factory=dict)

    @property
    def adaptive(self) -> bool:
        """Whether `value` is a tolerance."""
        return METHODS[self.method].adaptive

    def text(self) -> str:
        """The setting as text for people."""
        what = "tolerance" if self.adaptive else "step"
        options = (f"{k} {v}" if isinstance(v, bool) else f"{k} {v:g}" for k, v in self.options.items())
        return ", ".join([f"{what} {self.value:.3g}", *options])

    def run(self, problem: LoopProblem, times: Floats) -> TimedRun:
        """The run with frames at the given times."""
        key = "tolerance" if self.adaptive else "step"
        return timed_run(problem.model, self.method, times, **{key: self.value}, **self.options)

    def timed(self, problem: LoopProblem) -> TimedRun:
        """The run with frames at its two ends only."""
        return self.run(problem, np.array([0.0, problem.duration]))

    def timed_again(self, problem: LoopProblem, repeats: int) -> list[TimedRun]:
        """The same run several times, with one system, after an uncounted warm-up run, as for peers."""
        key = "tolerance" if self.adaptive else "step"
        times = np.array([0.0, problem.duration])
        settings = {key: self.value, **self.options}
        return timed_runs(problem.model, self.method, times, 1 + repeats, **settings)[1:]

    def sample_times(self, problem: LoopProblem) -> Floats:
        """Times at which a run is judged: every step or every millisecond, whichever is longer."""
        if self.adaptive:
            return np.linspace(0.0, problem.duration, 1 + round(problem.duration / SAMPLE_PERIOD))
        steps = max(1, math.ceil(problem.duration / self.value - 1e-9))
        every = max(1, round(SAMPLE_PERIOD * steps / problem.duration))
        marks = [*range(0, steps, every), steps]
        return np.array(marks) * (problem.duration / steps)


@dataclass(frozen=True)
class Judged:
    """Largest errors of a run: energy, J; gap, m; distance of the four-bar's tip from the reference, m."""

    energy_error: float
    gap: float
    tip_error: float | None

    @property
    def within(self) -> bool:
        """Whether the run is inside the bounds, and on the reference's branch."""
        on_branch = self.tip_error is None or self.tip_error < BRANCH_BOUND
        return self.energy_error <= ENERGY_BOUND and self.gap <= GAP_BOUND and on_branch


def judge(problem: LoopProblem, setting: Setting, bounded: bool = False) -> Judged:
    """Run once with frames and judge these; a run that broke down has infinite errors.

    bounded: stop at the first sample out of bounds.
    """
    return judge_at(problem, setting, setting.sample_times(problem), bounded)


def judge_at(problem: LoopProblem, setting: Setting, times: Floats, bounded: bool = False) -> Judged:
    """Run with frames at given times, which must include both ends, and judge these."""
    run = setting.run(problem, times)
    if run.outcome.status != "finished":
        return Judged(math.inf, math.inf, None)
    bounds = (ENERGY_BOUND, GAP_BOUND) if bounded else ()
    verdict = Judge(problem.reference, *bounds)
    for sample in planar_samples(run.frames, problem.model.core.bodies):
        if not verdict.accept(*sample):
            break
    return Judged(verdict.energy_error, verdict.gap, verdict.tip_error())


def planar_samples(frames: Floats, bodies: int) -> list[tuple[float, Floats, Floats, Floats, Floats]]:
    """The judge's input for each frame: time, and the rods' angles, rates, start points and their velocities.

    frames: (n, 1 + width), of rods whose frames are at their middles, x along them, in the xy-plane.
    """
    count = len(frames)
    cuts = np.cumsum([1, 3 * bodies, 4 * bodies, 3 * bodies, 3 * bodies])
    middle, turn, velocity, spin = (frames[:, a:b].reshape(count, bodies, -1) for a, b in pairwise(cuts))
    angle = 2.0 * np.arctan2(turn[:, :, 3], turn[:, :, 0])
    rate = spin[:, :, 2]
    half = 0.5 * LENGTH * np.stack([np.cos(angle), np.sin(angle)], axis=2)
    across = np.stack([-half[:, :, 1], half[:, :, 0]], axis=2)
    start = middle[:, :, :2] - half
    moving = velocity[:, :, :2] - rate[:, :, None] * across
    return [(float(frames[i, 0]), angle[i], rate[i], start[i], moving[i]) for i in range(count)]


def measure(problem: LoopProblem, setting: Setting, repeats: int) -> Row:
    """Time to solution and errors of one setting."""
    verdict = judge(problem, setting)
    runs = setting.timed_again(problem, repeats)
    steps = runs[0].outcome.steps
    finished = runs[0].outcome.status == "finished"
    seconds = [run.seconds for run in runs] if finished else [math.inf]
    return {
        "steps": steps,
        "rejected": runs[0].outcome.rejected,
        "status": runs[0].outcome.status,
        "milliseconds": Spread.of(seconds, 1e3),
        "us_per_step": Spread.of(seconds, 1e6 / max(1, steps)),
        "energy_error": verdict.energy_error,
        "gap": verdict.gap,
        "tip_error": verdict.tip_error,
        "within": verdict.within,
    }
