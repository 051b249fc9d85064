"""The engine of a live session: a run that advances part by part, with its recorded past.

It belongs to one thread; `session` provides the thread and a queue of commands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from bellcrank.compile.model import Model
from bellcrank.compile.state import Floats, State, StateSource
from bellcrank.errors import BellcrankError, Fault, MechanismError, SimulationError
from bellcrank.mechanism.contents import with_numbers
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.run.run import Run
from bellcrank.trajectory.joining import frames_of
from bellcrank.trajectory.origin import Origin
from bellcrank.trajectory.trajectory import Status, Trajectory, state_of
from bellcrank.viewer.built import Built, begun, markers_of, started
from bellcrank.viewer.history import History
from bellcrank.viewer.jogging import Jog, held
from bellcrank.viewer.motion import Motion
from bellcrank.viewer.pace import PERIOD, Pace
from bellcrank.viewer.preparing import Preparing
from bellcrank.viewer.settings import Settings, ranges_of
from bellcrank.viewer.snapshot import Entry, Snapshot, snapshot_of
from bellcrank.viewer.twin import Hold, Puller, Twin, released, times_of

if TYPE_CHECKING:
    from bellcrank.viewer.editor import Editor

_PATIENCE: Final = 0.25  # s on the wall for a part, beyond which commands would wait too long
_RENEWAL: Final = 0.2  # s on the wall between editions that differ in parameters alone
_LONG: Final = 10.0  # s on the wall for what was asked for outright


class LiveEngine:
    """A mechanism live: it stands at its start, "paused".

    clock: s on the wall. background: prepare what takes long beside a run that goes on.
    twin: what is simulated. past: what was recorded. shown: the frame of it that is shown, None for the last.
    holds: what hands do, by body. posed: point and target of what is dragged without time, by body.
    values: of inputs, those of hands left out. open: why it cannot run yet, "" where it can. misfits: joints
    that cannot all fit. motion: shown in
    place of the run. editor: what it is built on. log: what command lines did. edition: counts mechanisms.
    publish: shows what there is while a command is at work. numbers: the mechanism without expressions.
    marks: of the last moves of front ends, which count them. looks_old: whether parameters have changed since
    the edition that is shown; it follows them a few times a second, for pictures of it take long.
    Raises the errors of `bc.start` if it cannot start.
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
        self.clock, self.settings = clock, settings
        self.pace = Pace()
        self.status, self.message = "paused", ""
        self.holds: dict[str, Hold] = {}
        self._in_force: list[
            tuple[float, Mapping[str, float]]
        ] = []  # of a mechanism that changes, since when
        self.posed: dict[str, tuple[Floats, Floats]] = {}
        self.puller: tuple[Twin, Puller] | None = None
        self._origin: tuple[Twin, Origin] | None = None
        self.preparing = Preparing(background)
        self.log: tuple[Entry, ...] = ()
        self.marks: dict[str, int] = {}
        self.looks_old, self._renewed = False, -1.0
        self.editor: Editor | None = None
        self.publish: Callable[[], None] = lambda: None
        self._number, self.edition, self.mechanism = 0, 0, mechanism
        self.history: History
        self.take(begun(mechanism, settings, start_time))

    def take(self, new: Built, follows: bool = False, plays: bool = False) -> None:
        """Go on with what was built. follows: what was recorded is kept. plays: the run goes on."""
        self.edition += new.mechanism is not self.mechanism
        self.mechanism, self.twin, self.model, self.run = new.mechanism, new.twin, new.model, new.run
        self.name, self.open, self.first = new.mechanism.name, new.open, new.first
        self.misfits = new.misfits
        self.ranges = {} if new.model is None else ranges_of(new.model, new.mechanism)
        self.markers = markers_of(new)
        self.values, self.numbers = new.values, with_numbers(new.mechanism)
        self.jog: Jog | None = None
        self.holds.clear()
        self.posed.clear()
        self.preparing.forget()
        self._coming: tuple[Twin, Settings] | None = None  # what is being prepared
        self.shown: int | None = None
        self.motion: Motion | None = None
        if not (plays and new.run is not None and self.status == "playing"):
            self.status = "open" if new.open else "paused"
        self.message = ""
        if follows:
            self.history.follow(new.layout)
            self.history.drop(new.frame[0])
        else:
            self.work, self.history = 0.0, History(new.layout)
        self.history.add(new.frame[None], np.array([self.work]), new.now)

    @property
    def runs(self) -> bool:
        """Whether time goes on by itself."""
        return self.status == "playing"

    def ready(self) -> Model:
        """The model of the run. Raises MechanismError if the mechanism is open."""
        if self.open or self.model is None:
            raise MechanismError(Fault(f"mechanism {self.name!r}", self.open))
        return self.model

    @property
    def state(self) -> State:
        """Poses and velocities of the bodies: now, or in the past frame that is shown."""
        if self.shown is None and self.run is not None:
            return self.run.state
        layout = self.history.layout
        found = state_of(layout, self.history.frames[-1 if self.shown is None else self.shown])
        if values := [values for time, values in self._in_force if time <= found.time][-1:]:
            found = replace(found, source=StateSource(layout.bodies, layout.angle_labels, values[0]))
        lacking = found.angles is not None and not np.isfinite(found.angles).all()
        return replace(found, angles=None) if lacking else found

    @property
    def time(self) -> float:
        """The time that is shown, s."""
        return float(self.history.time[-1 if self.shown is None else self.shown])

    def tick(self, now: float) -> None:
        """Do what is due at a moment of real time, s."""
        self._take_up_prepared()
        if self.looks_old and now - self._renewed > _RENEWAL:
            self.looks_old, self._renewed = False, now
            self.edition += 1
        if self.motion is not None:
            self.motion = self.motion if self.motion.go_on(now) else None
            self.pace.rest()
            return
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
        """How long, s of real time, until `tick` has something to do, if no command arrives."""
        if self.status != "playing" or self.motion is not None:
            is_busy = self.preparing.what or self.motion is not None or self.looks_old
            return PERIOD if is_busy else 0.25
        return self.pace.wait(now, self.settings.fixed_step)

    def interrupt(self) -> None:
        """End what a command line runs."""
        if self.editor is not None:
            self.editor.interrupt.set()

    def fail(self, message: str) -> None:
        """Pause after an unexpected error."""
        self.status, self.message, self.run = "failed", message, None

    def advance(self, duration: float, patience: float = _LONG) -> None:
        """Advance from what is shown; if the run breaks down, its results are kept, with status "failed".

        patience: s of real time; a part that takes longer ends where it is then.
        """
        run, end = self.from_shown(), perf_counter() + patience
        if self.jog is not None and self.twin.driven:
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
        """The run, which stands at what is shown; what was later is forgotten.

        While time stands, what is being prepared is waited for. Raises MechanismError where it stands open.
        """
        self.ready()
        if self.status != "playing":
            self._take_up_prepared(waits=True)
        if self.shown is not None or self.run is None:
            state = self.state
            number = len(self.history) - 1 if self.shown is None else self.shown
            inputs = {**self.values, **self.history.inputs(number, self.values)}
            self.run = started(self.twin, self.settings, state, inputs)
            self.values, self.work = dict(inputs), float(self.history.work[number])
            self.history.cut(state.time)
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
        self.ready()
        new = (twin or self.coming[0], settings or self.coming[1])
        state, values, self._coming = self.state, dict(self.values), new

        def take_over(run: Run) -> None:
            if self.run is not None or self.shown is not None:
                run.inputs.update(held(new[0].driven, run.model, self.state))
                run.set_state(self.state)
            run.inputs.update(self.values)
            self.history.follow(run.now().layout)
            self.run, (self.twin, self.settings), self._coming = run, new, None
            self.set_holds(self.holds)

        try:
            self.preparing.begin(what, lambda: started(*new, state, values), take_over)
        except BellcrankError:
            self._coming = None
            raise

    def set_holds(self, holds: Mapping[str, Hold]) -> None:
        """Set the points that hands hold."""
        for body, hold in list(holds.items()):
            self.set_hold(body, hold)

    def set_hold(self, body: str, hold: Hold | None) -> None:
        """Make the hand of a body hold on, or let go."""
        self.holds.pop(body, None)
        if hold is not None:
            self.holds[body] = hold
        hand = self.twin.hands.get(body)
        if self.run is not None and hand is not None and hand.inputs[0] in self.run.inputs:
            self.run.inputs.update(released(hand) if hold is None else hold.values(hand))

    def reset(self) -> None:
        """Go back to the start, paused, with nothing dragged and nothing pinned."""
        self.ready()
        self.holds.clear()
        self.posed.clear()
        self.twin, self.jog = replace(self.twin, pins={}, driven=()), None
        fresh = started(self.twin, self.settings, self.first)
        self.run, self.shown, self.work = fresh, None, 0.0
        self.values = {name: value for name, value in fresh.inputs.items() if name in self.values}
        self.history = History(fresh.now().layout)
        self.status, self.message, self._coming = "paused", "", None
        self.preparing.forget()
        self.note_again()

    def trajectory(self) -> Trajectory:
        """What was recorded, as a trajectory; runs after a change of twin record more than those before."""
        status = Status("failed" if self.status == "failed" else "interrupted", self.message)
        source = Origin(source=self.twin.mechanism(), start=self.first.time)
        return Trajectory(
            self.history.layout, self.history.store(), status, {"work_of_hands": self.work}, source
        )

    def frame_shown(self) -> Trajectory:
        """The frame that is shown."""
        if self._origin is None or self._origin[0] is not self.twin:
            self._origin = (self.twin, Origin(source=self.twin.mechanism(), start=self.first.time))
        number = len(self.history) - 1 if self.shown is None else self.shown
        store = self.history.store(slice(number, number + 1))
        return Trajectory(self.history.layout, store, "running", {}, self._origin[1])

    def window(self, seconds: float, frames: int) -> Trajectory:
        """At most so many frames of the last seconds up to what is shown."""
        return self.history.window(seconds, frames, self.shown)

    def has_news(self, shown: Snapshot) -> bool:
        """Whether there is anything newer than a snapshot."""
        now = self.time
        seen = (shown.time, shown.status, shown.message, shown.preparing, shown.edition)
        moving = self.motion is not None or shown.moving
        return moving or (now, self.status, self.message, self.preparing.what, self.edition) != seen

    def snapshot(self) -> Snapshot:
        """The current snapshot."""
        self._number += 1
        return snapshot_of(self, self._number)

    def drop_all(self) -> None:
        """Release everything that is dragged."""
        self.posed.clear()
        for body in list(self.holds):
            self.set_hold(body, None)

    def note_again(self) -> None:
        """Record anew where the run stands, in place of what was recorded at that time."""
        now = self.from_shown().now()
        self.history.drop(now.time[0])
        self.history.add(frames_of(now), np.array([self.work]), now)

    def _take_up_prepared(self, waits: bool = False) -> None:
        try:
            self.preparing.finish() if waits else self.preparing.take_up()
        except BellcrankError as error:
            self._coming = None
            self.message = f"{self.preparing.last}: {error}"

    def _record(self, part: Trajectory) -> None:
        """Keep the end of a part, unless it has left the numbers; add up what hands have done in it."""
        if (
            len(part) < 2
            or not np.isfinite(frame := frames_of(part)[-1:])[0, : 1 + 7 * len(part.bodies)].all()
        ):
            return
        for body, hold in self.holds.items():
            history = part.body(body)
            motion = (history.position, history.rotation, history.velocity, history.angular_velocity)
            self.work += hold.work(part.time, motion)
        self.history.add(frame, np.array([self.work]), part)
        if self.mechanism.changes and self.run is not None:
            self._note_in_force(self.run)

    def _note_in_force(self, run: Run) -> None:
        """Keep what is in force from where the run stands on, if that has changed."""
        self._in_force = [one for one in self._in_force if one[0] < run.time]
        values = run.model.state_source.values or {}
        if not self._in_force or self._in_force[-1][1] != values:
            self._in_force.append((run.time, values))
