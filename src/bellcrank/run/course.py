"""The course of a run: in one formulation, and in another if "auto" chose the first and it breaks down."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import numpy as np

from bellcrank.compile.model import Model
from bellcrank.compile.state import Floats, State
from bellcrank.errors import AssemblyError, MechanismError, SlowRunWarning, Unsupported
from bellcrank.formulations.preparing import others
from bellcrank.formulations.system import System
from bellcrank.integrate.advance import Outcome, core_run
from bellcrank.integrate.events import CompiledEvents
from bellcrank.integrate.failure import Explanation
from bellcrank.run import opening, telling
from bellcrank.run.plan import Plan
from bellcrank.run.slowness import Slowness
from bellcrank.run.steering import Steering
from bellcrank.trajectory.observation import Observation, observation

_FARTHER: Final = 1e-6  # of a time: who takes over and gets no farther than that has failed likewise


class Course:
    """A model prepared for a run and, once it has begun, the core's run of it.

    state: the state that the run starts from, if one is given.
    system: the model in a formulation. what: what is recorded. core: the core's run, None before it begins.
    """

    def __init__(self, model: Model, plan: Plan, state: State | None, watched: CompiledEvents) -> None:
        self._model, self._plan, self._from, self._watched = model, plan, state, watched
        self._past: Outcome | None = None  # of formulations that broke down
        self._counted: dict[str, int] = {}  # by them
        self._failures: list[tuple[Outcome, Explanation]] = []
        self.core: Any = None
        self.system, self.what = self._prepared(plan)

    def set_start(self, steering: Steering, moves: bool) -> None:
        """Set the start of the run, on the constraints, with the initial inputs.

        moves: whether the state may be moved to satisfy them.
        """
        opening.set_start(self.system, self._from, steering.set_values, moves)

    def begin(self, steering: Steering, record: Callable[..., None]) -> None:
        """Create the core's run from the system's current state. record: receives the frames."""
        self._steering, self._record = steering, record
        self.regularity = opening.regularity(self._model, self.what)
        self.sink = self.regularity.watching(record)
        method, limit, periods = self._plan.method, self._plan.max_step, steering.periods
        self.core = core_run(self.system.core, method, limit, self.what.core, self._watched, periods)
        steering.begin(self.core, self.what.layout)

    def flush(self) -> None:
        """Hand over the frames that the core still buffers."""
        if self.core is not None:
            self.core.flush(self.sink)

    def frame(self) -> tuple[Floats, Floats | None]:
        """What would be recorded now: a frame (1, 1 + width), and its contacts if any."""
        frame: Floats = self.core.observe()
        return frame, self.system.core.contacts() if self._model.contacts else None

    def outcome(self) -> Outcome:
        """The outcome of the core's run, including the part before another formulation took over."""
        now = Outcome(**self.core.outcome())
        return now if self._past is None else _joined(self._past, now)

    def counted(self, outcome: Outcome) -> dict[str, int]:
        """What was counted up to an outcome, by name."""
        counts = telling.counted(self.system, outcome)
        return {name: count + self._counted.get(name, 0) for name, count in counts.items()}

    def explained(self, outcome: Outcome) -> Explanation:
        """Why the run has ended, according to the formulation that got farthest."""
        lost = self.regularity.lost if outcome.status == "singular" else None
        for past, explanation in self._failures:
            nearby = past.time + _FARTHER * max(1.0, abs(past.time))
            if outcome.status not in ("finished", "interrupted") and outcome.time <= nearby:
                return explanation
        if outcome.status == "endless":
            return Explanation(self._slowness.ending(outcome), self._slowness.body(outcome))
        return telling.explained(self.system, self._plan.method, outcome, lost)

    def slowness(self, outcome: Outcome) -> str:
        """Why the run does not get on; empty if it does."""
        return self._slowness.warning(outcome) if self.core is not None else ""

    def warn_slow(self) -> None:
        """Warn that the run does not get on."""
        warnings.warn(self.slowness(self.outcome()), SlowRunWarning, stacklevel=2)

    @property
    def _slowness(self) -> Slowness:
        return Slowness(self._model, self._plan.method, self._watched, self._steering.named)

    def hand_over(self, outcome: Outcome) -> bool:
        """Let another formulation continue from the last good state, if "auto" chose the one that broke down.

        Fixed steps break down because of their length, in every formulation alike. A run that is controlled
        keeps its system: no other formulation takes over there either.
        """
        chosen = self._plan.formulation == "auto" and self.core is not None and not self._failures
        steered = self._model.inputs or self._steering.periods
        if not chosen or steered or not self._plan.method.method.adaptive or outcome.status == "singular":
            return False
        self.flush()
        failed, explanation = self.system, self.explained(outcome)
        for name in others(failed.formulation, self._plan.options):
            try:
                system, what = self._prepared(replace(self._plan, formulation=name))
                system.set_state(failed.state())
                system.project()
            except (AssemblyError, MechanismError, Unsupported):
                continue
            if what.layout == self.what.layout:
                broken = f"{failed.formulation} broke down at t = {outcome.time:.6g} s"
                system.reason = f"{failed.reason}; {broken}, {name} goes on"
                self._past, self._counted = outcome, failed.stats.counts
                self._failures.append((outcome, explanation))
                self.system, self.what = system, what
                works = self.core.works()
                self.begin(self._steering, self._record)
                self.core.go_on_from(works)
                return True
        return False

    def _prepared(self, plan: Plan) -> tuple[System, Observation]:
        system = opening.prepared(self._model, plan)
        return system, observation(system.model, plan.reactions, plan.accelerations, plan.ledger)


def _joined(past: Outcome, now: Outcome) -> Outcome:
    """The outcome of a run in two formulations, one after the other."""
    added = ("steps", "rejected", "rounding", "difference_evaluations", "samples")
    return replace(
        now,
        **{name: getattr(past, name) + getattr(now, name) for name in added},
        highest_order=max(past.highest_order, now.highest_order),
        stiff_since=now.stiff_since if np.isnan(past.stiff_since) else past.stiff_since,
        events=[*past.events, *now.events],
        event_frames=np.concatenate([past.event_frames, now.event_frames])
        if len(past.events)
        else now.event_frames,
    )
