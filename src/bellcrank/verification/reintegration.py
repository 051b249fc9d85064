"""Appeals of runs: what frames do not explain is integrated anew with the model, from the frame before.

A frame determines how the run goes on, since points that touch record what they remember. How well the run
itself was integrated follows from the same way taken with its own tolerance.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from bellcrank.compile.state import Floats, State
from bellcrank.errors import BellcrankError, SimulationError
from bellcrank.formulations.preparing import prepare
from bellcrank.formulations.system import System
from bellcrank.mechanism.rotation_arrays import conjugate, logarithm, product
from bellcrank.run.advance import advance
from bellcrank.run.plan import MethodOptions, method_options
from bellcrank.trajectory.observation import observation
from bellcrank.trajectory.recorder import Recorder
from bellcrank.verification.contacts import Touching
from bellcrank.verification.evidence import Evidence

_FINE: Final = 1e-11  # tolerance of what is integrated anew
_TOLERANCE: Final = 1e-6  # of runs that do not say it
_STEPS: Final = 50_000  # that appeals of a run may take together
_WORSE: Final = 10.0  # times what its tolerance makes of one interval: what a run may be off by after it
_CHAOS: Final = 1e-2  # m, rad, or of speeds: where a tolerance makes that much, no appeal says anything


@dataclass(frozen=True)
class Way:
    """The way from a frame to a later state, as the model goes it.

    missed: how far it arrives from that state: m or rad, or relative to speeds; in poses alone, and in all.
    open_still: the same of the end of the same way, with the tolerance of the run, from the exact one's.
    works: J, by account.
    """

    placed: float
    missed: float
    open_still: float = 0.0
    works: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_known(self) -> bool:
        """Whether it says anything."""
        return bool(np.isfinite(self.missed) and self.open_still < _CHAOS)

    def arrives(self, allowed: float, poses_only: bool = False) -> bool:
        """Whether it ends at the state. allowed: m and rad of poses, relative of speeds."""
        missed = self.placed if poses_only else self.missed
        return self.is_known and missed <= allowed + _WORSE * self.open_still


_UNKNOWN: Final = Way(np.inf, np.inf)


def borne_out(
    evidence: Evidence,
    intervals: Iterable[int],
    allowed: float,
    gained: tuple[str, Floats, float] | None = None,
) -> bool:
    """Whether the model, integrated anew from the first frame of each interval, arrives at the second one.

    Near a dead point, or where something touches, forces may rise and fall between frames that show nothing
    of it; where numbers were altered, it does not arrive.

    allowed: m and rad of poses, relative of speeds. gained: an account, its works (T,) and by how much these
    may differ from those on the way, J.
    """
    for k in intervals:
        way = way_to(evidence, k, evidence.run.at(float(evidence.time[k + 1])))
        if not way.arrives(allowed):
            return False
        if gained is not None:
            account, works, most = gained
            if not abs(works[k + 1] - works[k] - way.works.get(account, np.inf)) <= most:
                return False
    return True


def way_to(evidence: Evidence, frame: int, end: State) -> Way:
    """The way from a frame to a later state before the next frame, or there; found once."""
    return evidence.once(_Ways).way(frame, end)


class _Ways:
    """The ways of a run that were gone anew."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._found: dict[tuple[int, float], Way] = {}
        self._systems: dict[str, System] = {}
        self._steps = 0
        self._observed = observation(evidence.model, ledger=bool(evidence.run.layout.works))

    def way(self, frame: int, end: State) -> Way:
        """See `way_to`."""
        key = frame, end.time
        if key not in self._found:
            # A frame determines how a run goes on, but steps by impulses end where their residual allows.
            rigid = self._evidence.is_rigid and self._evidence.once(Touching).counts[frame].any()
            known = self._steps < _STEPS and not rigid
            self._found[key] = self._way(frame, end) if known else _UNKNOWN
        return self._found[key]

    def _way(self, frame: int, end: State) -> Way:
        """By the run's own steps where their length is fixed, else exactly, and by its tolerance."""
        evidence, statistics = self._evidence, self._evidence.run.statistics
        first = evidence.run.at(float(evidence.time[frame]))
        duration = end.time - first.time
        if duration <= 0.0:
            return _UNKNOWN
        method = evidence.method
        try:
            if method is not None and not method.adaptive:
                if end.time != evidence.time[frame + 1]:  # steps that end elsewhere are others
                    return _UNKNOWN
                step = min(float(statistics["step"]), duration)
                own = method_options(method.name, duration, step)
                arrived, works = self._gone(str(statistics["formulation"]), own, first, end.time)
                return Way(*_apart(arrived, end, end), works=works)
            exactly = method_options("dopri5", duration, tolerance=_FINE)
            arrived, works = self._gone("lagrange", exactly, first, end.time)
            # As exactly as the run: by its own method, and by another one, whose errors are others.
            tolerance = max(float(statistics.get("tolerance", _TOLERANCE)), _FINE)
            names = ["dopri5", *([] if method is None else [method.name])]
            chosen = [method_options(name, duration, tolerance=tolerance) for name in names]
            coarse = [self._gone("lagrange", one, first, end.time)[0] for one in chosen]
        except BellcrankError:
            return _UNKNOWN
        return Way(*_apart(arrived, end, end), max(_apart(arrived, other, end)[1] for other in coarse), works)

    def _gone(
        self, formulation: str, chosen: MethodOptions, first: State, time: float
    ) -> tuple[State, dict[str, float]]:
        """The state at a time, and the works up to there. Raises SimulationError if it is not reached."""
        if formulation not in self._systems:
            self._systems[formulation] = prepare(self._evidence.model, formulation)
        system, observed = self._systems[formulation], self._observed
        system.set_state(first)
        system.project()
        recorder = Recorder(observed.layout)
        times = np.array([first.time, time])
        outcome = advance(system.core, chosen, times, observed.core, recorder.on_block, lambda _time: None)
        self._steps += outcome.steps
        if outcome.status != "finished":
            raise SimulationError(outcome.status, outcome.time)
        run = recorder.finish({})
        works = run.store.read("works") if run.layout.works else np.zeros((2, 0))
        return run.at(time), dict(zip(run.layout.works, (works[-1] - works[0]).tolist(), strict=True))


def _apart(one: State, other: State, of: State) -> tuple[float, float]:
    """How far two states are apart: their poses, m or rad, and all, speeds relative to those of a third."""
    fastest = 1e-12 + max(float(np.max(np.abs(v), initial=0.0)) for v in (of.velocity, of.angular_velocity))
    placed = one.position - other.position, logarithm(product(one.rotation, conjugate(other.rotation)))
    speeds = one.velocity - other.velocity, one.angular_velocity - other.angular_velocity
    gaps = [float(np.max(np.abs(gap), initial=0.0)) for gap in (*placed, *speeds)]
    return max(gaps[:2]), max(*gaps[:2], gaps[2] / fastest, gaps[3] / fastest)
