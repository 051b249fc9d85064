"""The engine of a live session: a run that goes on part by part, with what it has passed through.

It belongs to one thread; `session` gives it one and a queue of commands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from time import perf_counter
from typing import ClassVar, Final

import numpy as np

from bellcrank.assembly.state import Floats, State
from bellcrank.errors import BellcrankError, SimulationError
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.run.run import Run
from bellcrank.simulate import start
from bellcrank.trajectory.events import state_of
from bellcrank.trajectory.origin import Origin
from bellcrank.trajectory.status import Status
from bellcrank.trajectory.store import FloatArray
from bellcrank.trajectory.trajectory import Trajectory
from bellcrank.viewer.hand import Hold, released, times_of
from bellcrank.viewer.jogging import Jog
from bellcrank.viewer.leading import held
from bellcrank.viewer.pace import PERIOD, Pace
from bellcrank.viewer.past import Past
from bellcrank.viewer.preparing import Preparing
from bellcrank.viewer.pulling import Puller
from bellcrank.viewer.settings import Settings, ranges_of
from bellcrank.viewer.snapshot import Snapshot
from bellcrank.viewer.twin import Twin

_PATIENCE: Final = 0.25  # s on the wall for a part, beyond which commands would wait too long
_LONG: Final = 10.0  # s on the wall for what was asked for outright


class LiveEngine:
    """A mechanism live: it stands at its start, "paused".

    clock: s on the wall. background: prepare what takes long beside a run that goes on.
    twin: what is simulated. past: what was recorded. shown: the frame of it that is shown, None for the last.
    holds: what hands do, by body. posed: point and target of what is dragged without time, by body.
    values: of inputs, those of hands left out.

    Raises as `bc.start` where it cannot start.
    """

    live: ClassVar[bool] = True

    def __init__(
        self,
        mechanism: Mechanism,
        settings: Settings,
        clock: Callable[[], float],
        start_time: float = 0.0,
        background: bool = True,
    ) -> None:
        self.clock, self.settings, self.name = clock, settings, mechanism.name
        self.twin, self.model = Twin.of(mechanism, start_time)
        self.pace = Pace()
        self.status, self.message = "paused", ""
        self.values: dict[str, float] = {one.name: one.value for one in self.model.inputs}
        self.ranges = ranges_of(self.model, mechanism)
        self.markers = (*(m for m in mechanism.markers if not m.startswith("ground.")), *self.model.bodies)
        self.holds: dict[str, Hold] = {}
        self.posed: dict[str, tuple[Floats, Floats]] = {}
        self.jog: Jog | None = None
        self._puller: tuple[Twin, Puller] | None = None
        self.preparing = Preparing(background)
        self._coming: tuple[Twin, Settings] | None = None  # what is being prepared
        self.shown: int | None = None
        self.work = 0.0
        self._number = 0
        self.run: Run | None = self._started(self.twin, settings, self.model.initial)
        self.first = self.run.state
        self.past = Past(self.run.now().layout)
        self._note(self.run)

    @property
    def state(self) -> State:
        """Where the bodies are and how they move: now, or in the frame of the past that is shown."""
        if self.shown is None and self.run is not None:
            return self.run.state
        found = state_of(self.past.layout, self.past.frames[-1 if self.shown is None else self.shown])
        lacking = found.angles is not None and not np.isfinite(found.angles).all()
        return replace(found, angles=None) if lacking else found

    def tick(self, now: float) -> None:
        """Do what is due at a moment on the wall, s."""
        self._take_up_prepared()
        if self.status != "playing" or self.run is None:
            self.pace.rest()
            return
        due = self.pace.due(now, self.settings.fixed_step)
        if due > 0.0:
            began, before = self.clock(), self.run.time
            self.advance(due, _PATIENCE)
            if self.run is not None and self.run.time > before:
                self.pace.took(began, self.clock(), self.run.time - before)

    def wait(self, now: float) -> float:
        """How long, s on the wall, until `tick` has something to do, where no command comes in."""
        if self.status != "playing":
            return PERIOD if self.preparing.what else 0.25
        return self.pace.wait(now, self.settings.fixed_step)

    def fail(self, message: str) -> None:
        """Stand still after something that should not happen."""
        self.status, self.message, self.run = "failed", message, None

    def advance(self, duration: float, patience: float = _LONG) -> None:
        """Go on from what is shown; where the run breaks down, what it came to is kept, "failed".

        patience: s on the wall; what takes longer ends where it is then.
        """
        run, end = self.from_shown(), perf_counter() + patience
        if self.jog is not None and self.twin.leads:
            self.jog = self.jog.following(self.twin, run.state)
            run.inputs.update(self.jog.inputs(run.model, run.state, duration, self.clock()))
        times = times_of(run.time, duration, self.settings.fixed_step, bool(self.holds))
        try:
            self._record(run.part(times, lambda: perf_counter() > end))
        except BellcrankError as error:
            self.fail(str(error))
            if isinstance(error, SimulationError) and isinstance(error.trajectory, Trajectory):
                self._record(error.trajectory)

    def from_shown(self) -> Run:
        """The run, which stands at what is shown; what was later is forgotten."""
        if self.shown is not None or self.run is None:
            state = self.state
            number = len(self.past) - 1 if self.shown is None else self.shown
            inputs = {**self.values, **self.past.inputs(number, self.values)}
            self.run = self._started(self.twin, self.settings, state, inputs)
            self.values, self.work = dict(inputs), float(self.past.work[number])
            self.past.cut(state.time)
            self.shown = None
            self.set_holds(self.holds)
            if self.status == "failed":
                self.status, self.message = "paused", ""
        return self.run

    @property
    def coming(self) -> tuple[Twin, Settings]:
        """The twin and the settings that are being prepared; those at work where nothing is."""
        return (self.twin, self.settings) if self._coming is None else self._coming

    def change(self, what: str, twin: Twin | None = None, settings: Settings | None = None) -> None:
        """Go on with another twin or other settings, with state and inputs kept, once they are prepared.

        what: is prepared, in words. Raises as `bc.start` where it is prepared at once; all is as before then.
        """
        new = (twin or self.coming[0], settings or self.coming[1])
        state, values, self._coming = self.state, dict(self.values), new

        def take_over(run: Run) -> None:
            if self.run is not None or self.shown is not None:
                run.inputs.update(held(new[0].leads, run.model, self.state))
                run.set_state(self.state)
            run.inputs.update(self.values)
            self.past.follow(run.now().layout)
            self.run, (self.twin, self.settings), self._coming = run, new, None
            self.set_holds(self.holds)

        try:
            self.preparing.begin(what, lambda: self._started(*new, state, values), take_over)
        except BellcrankError:
            self._coming = None
            raise

    def set_holds(self, holds: Mapping[str, Hold]) -> None:
        """Let hands hold on."""
        for body, hold in list(holds.items()):
            self.set_hold(body, hold)

    def set_hold(self, body: str, hold: Hold | None) -> None:
        """Let the hand of a body hold on, or let go."""
        self.holds.pop(body, None)
        if hold is not None:
            self.holds[body] = hold
        hand = self.twin.hands.get(body)
        if self.run is not None and hand is not None and hand.inputs[0] in self.run.inputs:
            self.run.inputs.update(released(hand) if hold is None else hold.values(hand))

    def reset(self) -> None:
        """Back to the start, with nothing in hand and nothing pinned, and paused."""
        self.holds.clear()
        self.posed.clear()
        self.twin, self.jog = replace(self.twin, pins={}, leads=()), None
        fresh = self._started(self.twin, self.settings, self.first)
        self.run, self.shown, self.work = fresh, None, 0.0
        self.values = {name: value for name, value in fresh.inputs.items() if name in self.values}
        self.past = Past(fresh.now().layout)
        self.status, self.message, self._coming = "paused", "", None
        self.preparing.forget()
        self._note(fresh)

    def trajectory(self) -> Trajectory:
        """What was recorded, as a trajectory; runs after a change of twin record more than those before."""
        status = Status("failed" if self.status == "failed" else "interrupted", self.message)
        source = Origin(source=self.twin.mechanism(), start=self.first.time)
        return Trajectory(self.past.layout, self.past.store(), status, {"work_of_hands": self.work}, source)

    def window(self, seconds: float, frames: int) -> Trajectory:
        """At most so many frames of the last seconds up to what is shown."""
        return self.past.window(seconds, frames, self.shown)

    def has_news(self, shown: Snapshot) -> bool:
        """Whether there is more than a snapshot shows."""
        now = float(self.past.time[-1 if self.shown is None else self.shown])
        seen = (shown.time, shown.status, shown.message, shown.preparing)
        return (now, self.status, self.message, self.preparing.what) != seen

    def snapshot(self) -> Snapshot:
        """What there is to show."""
        self._number += 1
        past, number = self.past, len(self.past) - 1 if self.shown is None else self.shown
        return Snapshot(
            number=self._number,
            status=self.status,
            message=self.message,
            bodies=past.layout.bodies,
            layout=past.layout,
            frame=past.frames[number].copy(),
            past=(float(past.time[0]), float(past.time[-1])),
            speed=self.pace.speed,
            factor=self.pace.factor,
            is_late=self.status == "playing" and self.pace.is_late,
            settings=self.settings,
            formulation=self.settings.formulation if self.run is None else self.run.formulation,
            inputs=dict(self.values),
            parameters={name: one.value for name, one in self.twin.base.parameters.items()},
            holds=dict(self.holds),
            pins=tuple(self.twin.pins),
            preparing=self.preparing.what,
            work=float(past.work[number]),
        )

    def drop_all(self) -> None:
        """Let go of everything that is dragged."""
        self.posed.clear()
        for body in list(self.holds):
            self.set_hold(body, None)

    def pull(self) -> None:
        """Bring what is dragged without time to where it is pulled, or as near as it comes."""
        if self._puller is None or self._puller[0] is not self.twin:
            self._puller = (self.twin, Puller.of(self.twin, self.state))
        self.show_state(self._puller[1].pull(self.state, self.values, self.posed))

    def show_state(self, state: State) -> None:
        """Put the bodies somewhere at the time that is shown."""
        run = self.from_shown()
        run.set_state(state.at_time(run.time))
        self.note_again()

    def note_again(self) -> None:
        """Record anew where the run stands, in place of what was recorded at that time."""
        run = self.from_shown()
        self.past.drop(run.time)
        self._note(run)

    def _started(
        self, twin: Twin, settings: Settings, state: State, values: Mapping[str, float] | None = None
    ) -> Run:
        """A run of a twin from a state. Raises as `bc.start`."""
        model, given = twin.model(state), settings.arguments()
        led = held(twin.leads, model, state)
        values = {**(values or {}), **led} if led else values
        run: Run = start(model, start=state.time, state=state, assemble=False, inputs=values, **given)
        return run

    def _take_up_prepared(self) -> None:
        try:
            self.preparing.take_up()
        except BellcrankError as error:
            self._coming = None
            self.message = f"{self.preparing.last}: {error}"

    def _record(self, part: Trajectory) -> None:
        """Keep the end of a part, unless it has left the numbers; add up what hands have done in it."""
        if len(part) < 2 or not np.isfinite(frame := _last_frame(part))[0, : 1 + 7 * len(part.bodies)].all():
            return
        for body, hold in self.holds.items():
            history = part.body(body)
            motion = (history.position, history.rotation, history.velocity, history.angular_velocity)
            self.work += hold.work(part.time, motion)
        self.past.add(frame, np.array([self.work]))

    def _note(self, run: Run) -> None:
        """Record where a run stands before it has gone on."""
        self.past.add(_last_frame(run.now()), np.array([self.work]))


def _last_frame(part: Trajectory) -> FloatArray:
    """(1, 1 + width)."""
    return np.concatenate([np.ravel(part.store.read(name)[-1]) for name in part.layout.shapes])[None]
