"""The changes of a run: what is in force, which conditions are watched, and how a run goes on after one.

Frames of a run have the layout of the whole mechanism, with all of its elements in force.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from bellcrank import _core
from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.model import Model
from bellcrank.compile.standing import EVERYTHING, Standing, changed, misfit_at, switched_by
from bellcrank.compile.state import Floats, Points, State
from bellcrank.compile.variants import variant
from bellcrank.errors import Fault, MechanismError, SimulationError
from bellcrank.mechanism.changes import Change, Engagement
from bellcrank.mechanism.contents import with_numbers
from bellcrank.run.events import CompiledEvents, Event, compiled
from bellcrank.run.plan import Plan
from bellcrank.trajectory.energy_balance import IMPACTS
from bellcrank.trajectory.joining import laid, relaid_points
from bellcrank.trajectory.layout import FrameLayout
from bellcrank.trajectory.observation import observation
from bellcrank.trajectory.store import points_of

ABSENT: Final = {
    **dict.fromkeys(
        ("multipliers", "reactions", "force_efforts", "force_potentials", "works", "contact_points"), 0.0
    ),
    **dict.fromkeys(("unique_multipliers", "unique_reactions"), 1.0),
}
"""What sections hold of an element that is not in force: it exerts nothing."""

_MOST: Final = 3  # times that a change may happen at one time


class Changing:
    """The changes of a run and what is in force in it.

    whole: the model with all elements in force. layout: of its frames.
    """

    def __init__(self, model: Model, plan: Plan, accelerations: bool) -> None:
        assert model.source is not None
        self._source, self._mechanism = model.source, with_numbers(model.source)
        self.standing = model.standing or EVERYTHING
        self.whole = compile_mechanism(model.source, model.initial.time, EVERYTHING)
        self.layout = observation(self.whole, plan.reactions, accelerations, plan.ledger).layout
        self._armed = {name: name not in self.standing.spent for name in self._changes}
        self._moment = (float("nan"), Counter[str]())  # what has happened at the last time
        conditional = [(one, True) for one in self._changes.values() if one.kind.when is not None]
        compiled((), conditional, self.whole)  # for faults

    @property
    def _changes(self) -> dict[str, Change]:
        return dict(self._mechanism.changes)

    def _due(self) -> Change | None:
        """A change that happens at once, for it follows another one without a condition."""
        listed = (one for one in self._changes.values() if one.kind.when is None and self._may_happen(one))
        return next(listed, None)

    def watched(self, events: Sequence[Event], model: Model) -> CompiledEvents:
        """The events of the run and the conditions of the changes that may happen now."""
        listed = [
            one for one in self._changes.values() if one.kind.when is not None and self._may_happen(one)
        ]
        return compiled(events, [(one, self._armed[one.name]) for one in listed], model, self.whole)

    def refuse_endless(self, time: float, happened: Sequence[Change]) -> None:
        """Raise SimulationError where changes follow each other again and again at one time, s."""
        self._moment = self._moment if self._moment[0] == time else (time, Counter[str]())
        self._moment[1].update(change.name for change in happened)
        if again := [name for name, count in self._moment[1].items() if count > _MOST]:
            named = " and ".join(map(repr, again))
            advice = "give one of them a condition that fails in between"
            raise SimulationError(
                f"changes {named} follow each other without end at t = {time:.6g} s; {advice}", time
            )

    def refuse_other(self, state: State) -> None:
        """Raise MechanismError for a state in which other elements are in force than now."""
        values = getattr(getattr(state, "source", None), "values", None)
        if values is not None and Standing.of(values).released != self.standing.released:
            rule, advice = (
                "other elements are in force there",
                "start another run: bc.start(..., state=state)",
            )
            raise MechanismError(Fault("state", rule, None, advice))

    def note_armed(self, watched: CompiledEvents, armed: Sequence[bool]) -> None:
        """Keep which conditions have failed since they last counted."""
        for name, is_armed in zip(watched.names, armed, strict=True):
            if name in self._armed:
                self._armed[name] |= is_armed

    def happen(self, names: Sequence[str], state: State) -> list[Change]:
        """Let changes happen at a state whose conditions are met there, and those that follow at once."""
        listed = []
        for name in names:
            change: Change | None = self._changes[name]
            while change is not None and self._may_happen(change):
                self._happen(change, state)
                listed.append(change)
                change = self._due()
        return listed

    def _happen(self, change: Change, state: State) -> None:
        spent = replace(self.standing, spent=frozenset())
        now = changed(self._mechanism, spent, change, state)
        self._armed.update(dict.fromkeys(now.spent, False))
        not_armed = (name for name, is_armed in self._armed.items() if not is_armed)
        self.standing = replace(now, spent=frozenset(not_armed))

    def model(self, state: State) -> Model:
        """The model with what is in force, going on from a state of the one before."""
        return variant(self._source, self.standing, state)

    def check_fit(self, change: Change, model: Model, state: State) -> None:
        """Raise MechanismError where what takes hold must fit the state and does not."""
        kind = change.kind
        if not isinstance(kind, Engagement) or kind.pose != "fits":
            return
        owners = {f"{noun} {name!r}" for noun, name in switched_by(self._mechanism, change)}
        own = (
            np.isin([model.block_owner[block] for block in model.row_block], list(owners)) & model.rigid_rows
        )
        errors = np.abs(model.put(_core.Bodies(model.core), state).rows()[0][own])
        if len(errors) and np.max(errors) > float(kind.tolerance):
            raise misfit_at(change, kind.of, float(np.max(errors)), state.time)

    def _may_happen(self, change: Change) -> bool:
        if change.kind.after is not None and change.name not in self.standing.waiting:
            return False
        released = [one in self.standing.released for one in switched_by(self._mechanism, change)]
        return any(released) if isinstance(change.kind, Engagement) else not all(released)


class Laid:
    """Frames of a part of a run between two changes, as frames of the whole mechanism.

    core: the core's run of the part, whose frames have the layout `own`. works: done before it, J.
    """

    def __init__(self, core: Any, own: FrameLayout, layout: FrameLayout, works: Floats) -> None:
        self._core, self._own, self.layout, self.works = core, own, layout, works
        first = 2.0  # numbers of columns from there on: none is what stands for an element that is absent
        numbers = np.arange(first, first + 1 + own.width)[None]
        self._template = laid(numbers, own, layout, ABSENT)[0]
        self._there = np.flatnonzero(self._template >= first)
        self._here = (self._template[self._there] - first).astype(int)
        self.book(works)
        self._booked = np.zeros(1 + layout.width, dtype=bool)
        self._booked[layout.columns["works"] if layout.works else slice(0, 0)] = True

    def frames(self, frames: Floats) -> Floats:
        """Frames (n, 1 + width)."""
        found = np.tile(self._template, (len(frames), 1))
        booked = self._booked[self._there]
        found[:, self._there] = frames[:, self._here]
        if booked.any():
            columns = self._there[booked]
            found[:, columns] += self.works[columns - self.layout.columns["works"].start]
        return found

    def points(self, contacts: Floats | None) -> Points | None:
        """Touching points."""
        if not self.layout.contacts:
            return None
        if contacts is None:
            return points_of(np.zeros((0, 0)))
        return relaid_points(points_of(contacts), self._own, self.layout)

    def book(self, works: Floats) -> None:
        """Set the works done before."""
        self.works = works
        if self.layout.works:
            self._template[self.layout.columns["works"]] = works

    def observe(self) -> Floats:
        """The frame at the state of the part."""
        return self.frames(self._core.observe())


def free_energy(layout: FrameLayout, frame: Floats) -> float:
    """Kinetic energy and that of the weight at a frame (1, 1 + width), J."""
    columns = layout.columns
    stored = frame[0, columns["force_potentials"]].sum()
    return float(frame[0, columns["kinetic"]].item() + frame[0, columns["potential"]].item() - stored)


def works_after(layout: FrameLayout, frame: Floats, gained: float) -> Floats:
    """The works up to a change, J, with what kinetic energy has gained by it, which counts as an impact."""
    if not layout.works:
        return np.zeros(0)
    works = frame[0, layout.columns["works"]].copy()
    works[layout.works.index(IMPACTS)] += gained
    return works


def refuse_names_twice(events: Sequence[Event], model: Model) -> None:
    """Raise MechanismError for events that are called as a change is."""
    changes = {} if model.source is None else model.source.changes
    if taken := [event.name for event in events if event.name in changes]:
        raise MechanismError(Fault("events", "a change has this name", taken[0], "choose another"))


class Holding:
    """Passes frames on, the last one late: where a change happens at its time, it is the one after it.

    record: receives frames (n, 1 + width) and the points that touch in them.
    """

    def __init__(self, record: Callable[[Floats, Points | None], None], layout: FrameLayout) -> None:
        self._record, self._layout = record, layout
        self._frames: Floats = np.empty((0, 1 + layout.width))
        self._points: Points | None = None
        self._passed_on = -np.inf

    def on_block(self, frames: Floats, points: Points | None = None) -> None:
        """Take frames; of two at one time the later one counts, unless the first was passed on."""
        fresh = frames[:, 0] > self._passed_on
        points = None if points is None else points[np.repeat(fresh, self._counts(frames))]
        frames = frames[fresh]
        if not len(frames):
            return
        self._pass_on()
        self._frames, last = frames[-1:].copy(), int(self._counts(frames)[-1])
        if len(frames) > 1:
            before = None if points is None else points[: len(points) - last]
            self._record(frames[:-1], before)
            self._passed_on = float(frames[-2, 0])
        self._points = None if points is None else points[len(points) - last :].copy()

    def drop_from(self, time: float) -> None:
        """Forget a frame that is not earlier than a time, s."""
        if len(self._frames) and self._frames[0, 0] >= time:
            self._frames, self._points = self._frames[:0], None

    def flush(self) -> None:
        """Pass on what is held."""
        self._pass_on()
        self._frames, self._points = self._frames[:0], None

    def _pass_on(self) -> None:
        if len(self._frames):
            self._record(self._frames, self._points)
            self._passed_on = float(self._frames[0, 0])

    def _counts(self, frames: Floats) -> np.ndarray:
        if "contact_points" not in self._layout.columns:
            return np.zeros(len(frames), dtype=int)
        return frames[:, self._layout.columns["contact_points"]][:, 0].astype(int)
