"""The course of a run: its model in a formulation, and the run of the core; another one follows a change."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from bellcrank.compile.beam_watch import watched_beams
from bellcrank.compile.flank_watch import watched_flanks
from bellcrank.compile.flexible_watch import watched_solids
from bellcrank.compile.model import Model
from bellcrank.compile.rope_watch import watched_ropes
from bellcrank.compile.state import Floats, State
from bellcrank.compile.undefined import Regularity
from bellcrank.errors import (
    AssemblyError,
    MechanismError,
    SlowRunWarning,
    Unsupported,
)
from bellcrank.formulations.preparing import others
from bellcrank.formulations.system import System
from bellcrank.run import start
from bellcrank.run.advance import Outcome, core_run
from bellcrank.run.changing import Changing, Laid, free_energy, works_after
from bellcrank.run.controllers import Steering
from bellcrank.run.ending import Explanation, Slowness, counted, explain
from bellcrank.run.events import Event, compiled
from bellcrank.run.plan import Plan
from bellcrank.run.sensing import Sensing, needs_accelerations, sensors_of
from bellcrank.trajectory.joining import remembered
from bellcrank.trajectory.layout import FrameLayout
from bellcrank.trajectory.observation import Observation, observation
from bellcrank.turns import Turn

_FARTHER: Final = 1e-6  # of a time: who takes over and gets no farther than that has failed likewise


@dataclass(frozen=True)
class _Failed:
    """A formulation that broke down: how, why, and what it had counted."""

    outcome: Outcome
    explanation: Explanation
    counts: dict[str, int]


@dataclass(frozen=True)
class _Past:
    """What a run did before the mechanism changed: its outcome, and what the systems had counted."""

    outcome: Outcome
    counts: dict[str, int]


class Course:
    """A model in a formulation and, once it has begun, the core's run of it.

    Another formulation goes on if "auto" chose the first and it breaks down.
    record: receives the frames. system: the model in the formulation. what: what is recorded.
    changing: the changes of the mechanism; frames are then those of the whole one, made by `laid`.
    before: the course before the last change.
    core: the core's run, None before it begins; it hands frames to `sink`.
    """

    def __init__(
        self,
        model: Model,
        plan: Plan,
        events: Sequence[Event],
        steering: Steering,
        record: Callable[..., None],
        changing: Changing | None = None,
        before: Course | None = None,
    ) -> None:
        self.model, self._plan, self._events = model, plan, events
        self._steering, self._record, self._changing = steering, record, changing
        self._failed: _Failed | None = None
        self._past: _Past | None = None
        self.core: Any = None
        self.regularity: Any = None
        self.laid: Laid | None = None
        self.watched = compiled(events, (), model) if changing is None else changing.watched(events, model)
        self.system, self.what = self._prepared(plan)
        whole = (model, self.what.layout) if changing is None else (changing.whole, changing.layout)
        self.sensing: Sensing | None = steering.sensing(*whole) if before is None else before.sensing
        self.layout: FrameLayout = whole[1] if self.sensing is None else self.sensing.layout
        self.slowness = Slowness(model, plan.method, self.watched, steering.sampled)

    def begin(self, before: Course | None = None, works: Floats | None = None) -> None:
        """Create the core's run from the system's current state. before: the course that it goes on with."""
        self.regularity = self._watching()
        self.sink = self.regularity.watching(self.recorded)
        method, limit, periods = self._plan.method, self._plan.max_step, self._steering.periods
        tape, sampling = self._plan.keeps_tape, () if before is None else (before.core.sampling,)
        self.core = core_run(
            self.system.core, method, limit, self.what.core, self.watched, periods, tape, *sampling
        )
        if self._changing is not None:
            layout = self._changing.layout
            done = np.zeros(len(layout.works)) if works is None else works
            self.laid = Laid(self.core, self.what.layout, layout, done)
        self._steering.begin(self.core, self.what.layout, self.sensing, self.laid, before is not None)

    def changes_met(self) -> list[str]:
        """The names of the changes at whose conditions the core's run has ended."""
        numbers = (number for number, _ in self.own_outcome().events)
        return [self.watched.names[number] for number in numbers if number >= len(self._events)]

    def followed_by(
        self,
        model: Model,
        outcome: Outcome,
        inputs: Mapping[str, float],
        turn: Turn,
        refuse: Callable[[], None],
        state: State,
        frame: Floats,
    ) -> Course:
        """The course of the mechanism after a change, from a state and the last frame before it."""
        later = Course(model, self._plan, self._events, self._steering, self._record, self._changing, self)
        if state.contacts is not None:
            shapes = (course.what.layout.contact_shapes for course in (self, later))
            state = replace(state, contacts=remembered(state.contacts, *shapes))
        self._steering.attach(later.system, turn, refuse)
        start.go_on(later.system, state, inputs, self._steering.set_values)
        later.begin(self)
        assert later.laid is not None
        gained = free_energy(later.laid.layout, later.laid.observe()) - free_energy(later.laid.layout, frame)
        later.laid.book(works_after(later.laid.layout, frame, gained))
        if self._plan.method.method.by_impulses:
            outcome = replace(outcome, lost_to_impacts=outcome.lost_to_impacts - gained)
        counts = {} if self._past is None else self._past.counts
        for name, count in self.system.stats.counts.items():
            counts = {**counts, name: counts.get(name, 0) + count}
        later._past = _Past(outcome, counts)
        return later

    def recorded(self, frames: Floats, contacts: Floats | None = None) -> None:
        """Record frames of the core."""
        self._record(self._read(frames), contacts if self.laid is None else self.laid.points(contacts))

    def whole_frames(self, frames: Floats) -> Floats:
        """Frames of the core as those of the whole mechanism, where that changes."""
        return frames if self.laid is None or not len(frames) else self.laid.frames(frames)

    def _read(self, frames: Floats) -> Floats:
        """Frames of the core with what sensors read."""
        frames = self.whole_frames(frames)
        return frames if self.sensing is None else self.sensing.with_readings(frames)

    def flush(self) -> None:
        """Hand over the frames that the core still buffers."""
        if self.core is not None:
            self.core.flush(self.sink)

    def frame(self) -> tuple[Floats, np.ndarray | None]:
        """What would be recorded now: a frame (1, 1 + width), and its contacts if any."""
        frame = self._read(self.core.observe())
        contacts = self.system.core.contacts() if self.model.contacts else None
        return frame, contacts if self.laid is None else self.laid.points(contacts)

    def outcome(self) -> Outcome:
        """The outcome of the run so far; events are those since the last change of the mechanism."""
        now = self.own_outcome()
        if self._past is None:
            return now
        before = self._past.outcome
        sums = ("steps", "rejected", "rounding", "samples", "impacts", "weakened", "halved")
        most = ("highest_order", "residual", "penetration")
        lost = ("lost_to_impacts", "lost_to_friction")
        return replace(
            now,
            **{name: getattr(before, name) + getattr(now, name) for name in (*sums, *lost)},
            **{name: max(getattr(before, name), getattr(now, name)) for name in most},
            stiff_since=now.stiff_since if np.isnan(before.stiff_since) else before.stiff_since,
        )

    def own_outcome(self) -> Outcome:
        """The outcome of the core's run, including the part before another formulation took over."""
        now = Outcome(**self.core.outcome())
        if self._failed is None:
            return now
        before = self._failed.outcome
        added = ("steps", "rejected", "rounding", "samples")
        frames = [before.event_frames] if len(before.events) else []
        return replace(
            now,
            **{name: getattr(before, name) + getattr(now, name) for name in added},
            highest_order=max(before.highest_order, now.highest_order),
            stiff_since=now.stiff_since if np.isnan(before.stiff_since) else before.stiff_since,
            events=[*before.events, *now.events],
            event_frames=np.concatenate([*frames, now.event_frames]),
        )

    def counted(self, outcome: Outcome) -> dict[str, int]:
        """What was counted up to an outcome, by name."""
        before = {} if self._failed is None else self._failed.counts
        if self._past is not None:
            before = {name: before.get(name, 0) + count for name, count in self._past.counts.items()}
        return {name: count + before.get(name, 0) for name, count in counted(self.system, outcome).items()}

    def explained(self, outcome: Outcome) -> Explanation:
        """Why the run has ended, according to the formulation that got farthest."""
        if self._failed is not None and outcome.status not in ("finished", "interrupted"):
            before = self._failed.outcome.time
            if outcome.time <= before + _FARTHER * max(1.0, abs(before)):
                return self._failed.explanation
        if outcome.status == "endless":
            return self.slowness.ending(outcome)
        if outcome.status == "singular" and self.regularity.lost is not None:
            return Explanation(f"singular at t = {outcome.time:.6g} s: {self.regularity.lost[1]}")
        return explain(self.system.model, self.system.core, self._plan.method, outcome)

    def warn_slow(self) -> None:
        """Warn that the run does not get on."""
        warnings.warn(self.slowness.warning(self.outcome()), SlowRunWarning, stacklevel=2)

    def hand_over(self, outcome: Outcome) -> bool:
        """Let another formulation continue from the last good state, if "auto" chose the one that broke down.

        Fixed steps break down because of their length, in every formulation alike. A run that is controlled,
        or whose tape is kept, keeps its system: no other formulation takes over there either.
        """
        chosen = self._plan.formulation == "auto" and self.core is not None and self._failed is None
        bound = self.model.inputs or self._steering.periods or self._plan.keeps_tape
        if not chosen or bound or not self._plan.method.method.adaptive or outcome.status == "singular":
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
                self._failed = _Failed(outcome, explanation, failed.stats.counts)
                self.system, self.what = system, what
                works = self.core.works()
                self.begin(works=None if self.laid is None else self.laid.works)
                self.core.go_on_from(works)
                return True
        return False

    def _prepared(self, plan: Plan) -> tuple[System, Observation]:
        system = start.prepared(self.model, plan)
        measures = self._steering.measures and needs_accelerations(sensors_of(system.model))
        return system, observation(system.model, plan.reactions, plan.accelerations or measures, plan.ledger)

    def _watching(self) -> Regularity:
        """The monitor of joints whose formulas become singular."""
        columns = self.what.layout.columns
        first, inputs = columns["coordinates"].start, columns["inputs"]
        listed = dict.fromkeys(index for joint in self.model.joints for index in joint.coordinates)
        places = {index: first + place for place, index in enumerate(listed)}
        poses = (columns["position"], columns["rotation"])
        ropes = watched_ropes(self.model, poses, self._turning(columns))
        flanks = watched_flanks(self.model, columns["multipliers"])
        self.beams = tuple(watched_beams(self.model, poses))
        solids = watched_solids(self.model, columns["angular_velocity"])
        further = (*ropes, *flanks, *self.beams, *solids)
        return Regularity(self.model, places, range(inputs.start, inputs.stop), further)

    def _turning(self, columns: Mapping[str, slice]) -> dict[int, int]:
        """The column of each angle of the model."""
        layout = self.what.layout
        own = len(layout.coordinates)
        places = [
            columns["coordinates"].start + n if n < own else columns["angles"].start + n - own
            for n in layout.turning
        ]
        return dict(zip(self.model.angular.tolist(), places, strict=True))
