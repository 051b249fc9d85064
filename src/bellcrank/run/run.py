"""The Run: a simulation in progress, which can be controlled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any, NoReturn, Self

import numpy as np

from bellcrank import _core
from bellcrank.compile.hints import hints
from bellcrank.compile.initial import settled
from bellcrank.compile.model import Model
from bellcrank.compile.report import AssemblyReport
from bellcrank.compile.standing import refuse_changes
from bellcrank.compile.start_values import continued
from bellcrank.compile.state import Floats, State
from bellcrank.errors import (
    Fault,
    MechanismError,
    SimulationError,
    Unsupported,
)
from bellcrank.formulations.friction_notes import friction_notes
from bellcrank.formulations.system import System
from bellcrank.progress import Progress
from bellcrank.run import start
from bellcrank.run.advance import Outcome, deferred_interrupt
from bellcrank.run.changing import Changing, Holding
from bellcrank.run.controllers import RunInputs, Steering
from bellcrank.run.course import Course
from bellcrank.run.ending import Explanation, happened, statistics
from bellcrank.run.events import STATE_SET, Event
from bellcrank.run.plan import Plan
from bellcrank.run.sensing import needs_accelerations, sensors_of
from bellcrank.slips import answering
from bellcrank.trajectory.observation import Observation
from bellcrank.trajectory.origin import Origin
from bellcrank.trajectory.recorder import Recorder
from bellcrank.trajectory.trajectory import Trajectory
from bellcrank.turns import Turn, in_turn


@answering
@in_turn
class Run:
    """A run that is advanced part by part, keeping the history of its method; see `bc.start`.

    A run serves one thread at a time and cannot be copied or pickled; a second concurrent thread is
    refused with Unsupported. Used as a context manager, it calls `stop()` on leaving.

    >>> with bc.start(block) as run:
    ...     run.advance(1.0)
    >>> print(f"{run.time} s, {run.trajectory.body('block').position[-1, 2]:.4f} m")    # -g t^2 / 2
    1.0 s, -4.9050 m
    """

    def __init__(
        self,
        model: Model,
        plan: Plan,
        assemble: bool | str = False,
        state: State | None = None,
        events: Sequence[Event] = (),
        path: str | Path | None = None,
        description: str = "",
        progress: bool | Callable[[float], None] = False,
        steering: Steering | None = None,
    ) -> None:
        self.model, self.plan = model, plan
        self._turn = Turn("a Run serves one thread at a time: start one for each")
        self._events, self._steering = list(events), steering or Steering()
        self._report: AssemblyReport | None = None
        self._motion: start.Closing | None = None  # that closes the mechanism before it is simulated
        self._final: Trajectory | None = None
        self._interrupted: Callable[[], bool] = lambda: False
        self._ended = Outcome("finished", plan.begin)
        self._time = plan.begin
        self._first, self._going = True, False  # nothing has been recorded
        self._moved = False  # since the last frame
        self._events_given = 0  # to parts
        self._counted: dict[str, int] = {}  # before the part at hand
        self._moves_state = isinstance(assemble, str) and assemble == start.PROJECTION
        assemble = False if self._moves_state else assemble
        self._started_from = {} if assemble else {"started_from": "the description, projected"}
        self._sets: list[Floats] = []  # frames where the state was set, since the last part
        self._earlier: list[tuple[list[str], Floats]] = []  # events before the last change of the mechanism
        self._changed = False  # the mechanism, where the run stands
        if plan.ledger:
            start.refuse_ledger(plan.method.method, assemble)
        if not isinstance(assemble, bool):
            self._motion = start.opening_motion(model, assemble, state, plan.end)
        elif assemble:
            self.model, self._report = start.assembled_for(model, state)
        if state is not None:
            self.model, self._started_from = continued(self.model, state), {"started_from": "a given state"}
        self._changing = self._changing_of(model)
        self._formulate(state, closed=self._motion is None)
        origin = Origin.of_model(self.model, description)
        self._recorder = Recorder(self._course.layout, path, description=origin)
        self._holding = Holding(self._pass_on, self._course.layout)
        self._shown = Progress(progress, plan.begin, plan.duration).__enter__()
        self._wall = 0.0

    def __reduce__(self) -> NoReturn:
        raise Unsupported(
            "a Run is tied to this process and cannot be copied or pickled: send its trajectory or its state"
        )

    def __repr__(self) -> str:
        return (
            f"<Run of {self.model.name!r}, {'ended ' * (self._final is not None)}at t = {self._time:.6g} s>"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def time(self) -> float:
        """The current time of the run, s."""
        return self._time

    @property
    def state(self) -> State:
        """Poses and velocities of the bodies."""
        return self._course.system.state()

    @property
    def system(self) -> System:
        """The mechanism in its formulation, at the current time."""
        return self._course.system

    @property
    def formulation(self) -> str:
        """The formulation in use, which "auto" may have chosen."""
        return self._course.system.formulation

    @property
    def inputs(self) -> RunInputs:
        """The inputs by name; they can be set: `run.inputs["torque"] = 1.2`. See `bc.Input`."""
        return self._steering.inputs

    def now(self) -> Trajectory:
        """A trajectory of one frame: the current state of the run, with the inputs that act now.

        Raises MechanismError while constraint forces are still bringing the bodies together.

        >>> run = bc.start(block)
        >>> run.advance(0.5)
        >>> run.now().joint("guide").position.round(3)    # m: one frame, -g t^2 / 2
        array([[-1.226]])
        """
        if self._course.core is None:
            raise MechanismError(Fault("run", "bodies are still brought together", None, "advance it first"))
        recorder = Recorder(self._course.layout, description=Origin.of_model(self.model))
        recorder.on_block(*self._course.frame())
        return recorder.so_far({})

    def _changing_of(self, model: Model) -> Changing | None:
        """The changes of the run; None without any."""
        if self.model.source is None or not self.model.source.changes:
            return None
        if self._motion is not None:
            refuse_changes(model.source, "constraint forces that close a mechanism during its run")
        accelerations = self.plan.accelerations or (
            self._steering.measures and needs_accelerations(sensors_of(self.model))
        )
        return Changing(self.model, self.plan, accelerations)

    @property
    def trajectory(self) -> Trajectory:
        """What has been recorded so far; once the run has ended, all of it, with its final status."""
        if self._final is not None:
            return self._final
        self._flush()
        return self._recorder.so_far(self._summary())

    @property
    def observed(self) -> Observation:
        """What is recorded."""
        return self._course.what

    def followed(self, watched: list[tuple[int, int]], tolerance: float = 0.0) -> _core.RunTangent:
        """The run, which has ended and kept its tape, along directions.

        watched: as the core takes it. tolerance: of derivatives; those of the run, unless it is larger.
        """
        course, method = self._course, self.plan.method
        looser = tolerance > max(method.rtol, method.atol)
        tolerances = (tolerance, tolerance) if looser else (method.rtol, method.atol)
        parts = course.system.core, course.system.model.core, course.core.tape
        return _core.RunTangent(*parts, method.method.name, *tolerances, looser, watched)

    def advance(self, duration: float | None = None) -> None:
        """Advance by a duration, s; without one, to the end of the run if it was started with an end.

        A frame is recorded at the end of each advance, unless the run was started with times, a duration or
        an output_step.

        Ctrl-C raises KeyboardInterrupt; the run keeps the time it has reached, and can be continued. Raises
        MechanismError for an invalid duration or one beyond the end, and once the run has ended (by `stop`,
        a terminal event or a SimulationError); SimulationError, with what was computed in its `trajectory`,
        if the run breaks down.

        >>> run = bc.start(pendulum, output_step=0.01)
        >>> run.advance(0.3)
        >>> len(run.trajectory.time), round(run.time, 6)
        (31, 0.3)
        """
        self._refuse_going()
        self._advance_to(self.plan.end_of(self._time, duration))
        if self._ended.status == "interrupted":
            raise KeyboardInterrupt

    def set_state(self, state: State) -> None:
        """Continue from another state, not earlier than the current time; the method restarts there.

        The run's events contain it, under the name "state set".

        The state is first projected onto the constraints. Raises MechanismError for anything but a state of
        this mechanism and for an earlier one, AssemblyError if it cannot satisfy the constraints.

        >>> run = bc.start(block)
        >>> at_rest = run.state
        >>> run.advance(0.5)
        >>> run.set_state(at_rest.at_time(0.5))    # back to the start, at rest
        >>> run.advance(0.5)
        >>> print(run.state.velocity[0].round(4))    # m/s: half a second of falling
        [0.     0.    -4.905]
        """
        self._refuse_going()
        if self._changing is not None:
            self._changing.refuse_other(state)
        start.move(self._course.system, state, self._time)
        self._time, self._moved = float(state.time), True
        if self._course.core is not None:
            self._course.core.move()
            self._sets.append(self._course.whole_frames(self._course.core.observe()))

    def stop(self) -> Trajectory:
        """End the run; return what was recorded.

        >>> run = bc.start(block, duration=2.0)
        >>> run.advance(0.5)
        >>> run.stop()
        <Trajectory of 'block': 251 frames, t = 0 to 0.5 s, finished>
        """
        if self._final is None:
            self._refuse_going()
            self._finish(self._ended)
        return self.trajectory

    def complete(self) -> Trajectory:
        """Advance to the end of the run and stop; Ctrl-C ends it early, with the status "interrupted".

        >>> run = bc.start(block, duration=2.0)
        >>> run.advance(0.5)
        >>> run.complete()
        <Trajectory of 'block': 1001 frames, t = 0 to 2 s, finished>
        """
        with deferred_interrupt() as self._interrupted:
            self._advance_to(self.plan.end_of(self._time, None))
        return self.stop()

    def part(self, times: Floats, until: Callable[[], bool] = lambda: False) -> Trajectory:
        """Advance and record at times, s, starting at the current time; return a Trajectory of that part.

        until: called about twenty times a second; the part ends at the time reached when it returns True.
        The run can be continued afterwards. Ctrl-C and errors are as for `complete`.

        >>> run = bc.start(block)
        >>> first = run.part(np.array([0.0, 0.5, 1.0]))
        >>> print(first.joint("guide").position[:, 0].round(3))    # m
        [0.    -1.226 -4.905]
        >>> run.part(np.array([1.0, 1.5])).time.tolist()
        [1.0, 1.5]
        """
        course, self.plan = self._course, replace(self.plan, times=times)
        self._holding.flush()
        if not self._first:
            self._counted = course.counted(self._ended)
            self._wall, last = 0.0, course.frame() if self._moved else self._recorder.last
            self._recorder = Recorder(course.layout, description=Origin.of_model(self.model))
            self._recorder.on_block(*last)
        with deferred_interrupt() as interrupted:
            self._interrupted = lambda: interrupted() or until()
            self._advance_to(float(times[-1]), last=False)
        if self._final is not None:
            return self._final
        course = self._course  # another one, where constraint forces have closed the mechanism
        if course.core is not None:
            self._flush()
            if self._ended.status == "interrupted" and self._recorder.last[0][0, 0] < self._time:
                self._recorder.on_block(*course.frame())
            self._ended = replace(course.outcome(), status=self._ended.status)
        earlier = sum(len(names) for names, _ in self._earlier)
        given, self._events_given = self._events_given, earlier + len(self._ended.events)
        names, frames = self._happened(self._ended, given)
        self._sets.clear()
        summary = self._summary(self._ended.status, course.explained(self._ended).message)
        return self._recorder.finish({**summary, "part": "of a live run"}, names, frames)

    def _formulate(self, state: State | None, closed: bool) -> None:
        """Prepare the system, which, once it is closed, must satisfy the constraints at its start."""
        self._course = course = Course(
            self.model, self.plan, self._events, self._steering, self._record, self._changing
        )
        self._steering.attach(course.system, self._turn, self._refuse_ended)
        if closed:
            start.set_start(course.system, state, self._steering.set_values, self._moves_state)
            course.begin()

    def _advance_to(self, end: float, last: bool = True) -> None:
        """Advance to a time, and end the run if it breaks down."""
        self._refuse_going()
        if self._course.core is None and self._motion is not None:
            start.check_closed(self._motion, end)
        begun, self._going = perf_counter(), True
        try:
            if self._course.core is None:
                self._close(end)
            if self._course.core is not None and self._time < end:
                self._advance_part(end, last and end == self.plan.end)
        except Exception as error:
            self._end_by(error)
            raise
        finally:
            self._wall, self._going = self._wall + perf_counter() - begun, False

    def _advance_part(self, end: float, last: bool) -> None:
        """Let the core advance to a time, and process the outcome."""
        course, outcome = self._course, None
        outputs = self.plan.outputs(self._time, end, self._first)
        if self._changed and outputs[:1] != [self._time]:
            outputs = [self._time, *outputs]
        callbacks = (course.sink, self._is_alive, self._steering.sample, course.warn_slow)
        try:
            went = course.core.advance(outputs, end, last, last or course.regularity.watches, *callbacks)
        except KeyboardInterrupt:  # raised within a callback
            went, outcome = False, replace(course.outcome(), status="interrupted")
        self._first = self._moved = self._changed = False
        if went and not course.regularity.is_lost() and not last:
            self._time = end
            if self._ended.status == "interrupted":
                self._ended = replace(self._ended, status="finished")
            return
        if self._judge(outcome or course.outcome()):
            self._advance_part(end, last)

    def _judge(self, outcome: Outcome) -> bool:
        """Note how the core stopped, and whether the run can continue; end it if not."""
        course = self._course
        if course.regularity is not None and course.regularity.lost is not None:
            outcome = replace(outcome, status="singular", time=course.regularity.lost[0])
        self._time, self._ended = outcome.time, outcome
        if outcome.status not in ("finished", "interrupted"):
            if course.hand_over(outcome):
                return True
            explained = self._finish(outcome)
            raise SimulationError(explained.message, outcome.time, explained.body, self._final, explained.row)
        if outcome.ended and (names := course.changes_met()):
            self._change(names)
            return True
        if outcome.ended:
            self._finish(outcome)
        return False

    def _change(self, met: Sequence[str]) -> None:
        """Go on with the mechanism that is there after changes, and after those that follow at once."""
        course, changing = self._course, self._changing
        assert changing is not None
        self._flush(holds=True)
        self._holding.drop_from(self._time)
        changing.note_armed(course.watched, course.core.armed)
        outcome, state = course.outcome(), course.system.state()
        frame = course.whole_frames(course.core.observe())
        happened_ones = changing.happen(met, state)
        changing.refuse_endless(self._time, happened_ones)
        names = happened(course.model, course.watched, course.own_outcome())
        names = [*names[: len(names) - len(met)], *(one.name for one in happened_ones)]
        frames = course.whole_frames(course.own_outcome().event_frames)
        frames = np.concatenate([frames[: len(frames) - len(met)], *([frame] * len(happened_ones))])
        self._earlier.append((names, frames))
        self.model = changing.model(state)
        try:
            for one in happened_ones:
                changing.check_fit(one, self.model, state)
        except MechanismError as error:
            raise SimulationError(str(error), self._time) from None
        self._steering.keep_values()
        values = dict(self._steering.inputs)
        later = course.followed_by(self.model, outcome, values, self._turn, self._refuse_ended, state, frame)
        self._course, self._changed = later, True

    def _flush(self, holds: bool = False) -> None:
        """Hand over what is buffered. holds: the last frame may still be replaced."""
        self._course.flush()
        if not holds:
            self._holding.flush()

    def _pass_on(self, frames: Floats, contacts: np.ndarray | None) -> None:
        self._recorder.on_block(frames, contacts)

    def _close(self, end: float) -> None:
        """Run through the motion that closes the mechanism, and record the requested frames."""
        motion = self._motion
        assert motion is not None
        times = self.plan.outputs(motion.begin, end, True)
        course = self._course
        outcome = start.close_on_the_way(motion, times, course.what, course.recorded, self._shown.at)
        self._time, self._ended = outcome.time, outcome
        if outcome.status == "finished":
            self.model, self._report = settled(self.model, motion.found())
            self._formulate(None, closed=True)
            self._time = motion.end
        elif outcome.status != "interrupted":
            self._judge(outcome)

    def _record(self, frames: Floats, contacts: np.ndarray | None = None) -> None:
        if self._changing is None:
            self._recorder.on_block(frames, contacts)
        else:
            self._holding.on_block(frames, contacts)

    def _is_alive(self, time: float) -> bool:
        self._shown.at(time)
        return not (self._interrupted() or self._course.regularity.is_lost())

    def _finish(self, outcome: Outcome) -> Explanation:
        """End the recording and the run."""
        if self._course.core is not None:
            self._flush()
            outcome = replace(self._course.outcome(), status=outcome.status, time=outcome.time)
        self._shown.__exit__(None, None, None)
        self._ended, explained = outcome, self._course.explained(outcome)
        summary = self._summary(outcome.status, explained.message)
        self._final = self._recorder.finish(summary, *self._happened(outcome))
        return explained

    def _end_by(self, error: Exception) -> None:
        """End the recording of a run aborted by an exception, keeping what was computed."""
        if self._final is not None:
            return
        self._shown.__exit__(None, None, None)
        broken = isinstance(error, SimulationError)  # of the file, unless a controller has failed
        message = str(error) if broken else f"{type(error).__name__}: {error}"
        summary: dict[str, Any] = {"status": "failed", "message": message}
        if self._course.core is not None and (not broken or error is self._steering.failure):
            self._flush()
            self._ended = self._course.outcome()
            self._time, summary = self._ended.time, self._summary(**summary)
        self._final = self._recorder.finish(summary, *self._happened(self._ended))
        if isinstance(error, SimulationError):
            error.trajectory = self._final

    def _refuse_going(self) -> None:
        if self._going:
            advice = "a controller returns what it sets; all else is for the time after run.advance"
            raise MechanismError(Fault("run", "it is on its way", None, advice))
        self._refuse_ended()

    def _refuse_ended(self) -> None:
        if self._final is not None:
            advice = "start another one: bc.start(..., state=run.state)"
            raise MechanismError(Fault("run", f"it has ended at t = {self._time:g} s", None, advice))

    def _summary(self, status: str = "", message: str = "") -> dict[str, Any]:
        """The statistics of the run or the part at hand, and how the run was started."""
        course = self._course
        outcome = self._ended if course.core is None else course.outcome()
        counts = {n: count - self._counted.get(n, 0) for n, count in course.counted(outcome).items()}
        summary = statistics(course.system, self.plan.method, outcome, counts)
        if course.core is not None and (slow := course.slowness.warning(outcome)):
            summary["slow"] = slow
        summary["wall_seconds"] = self._wall
        if self._report is not None and self._report.notes:
            summary["assembly_notes"] = "; ".join(self._report.notes)
        strained = (beam.strained for beam in course.beams if beam.strained)
        if told := (*self._hints, *strained):
            summary["hints"] = "; ".join(told)
        if notes := self._friction_notes:
            summary["friction"] = "; ".join(notes)
        if self._motion is not None:
            summary |= {"closed_at": self._motion.end, "time_constant": self._motion.time_constant}
        summary |= {**self._recorder.span, **self._started_from}
        return {"status": status, "message": message, **summary} if status else summary

    @cached_property
    def _hints(self) -> tuple[str, ...]:
        return hints(self.model, self._report)

    @cached_property
    def _friction_notes(self) -> tuple[str, ...]:
        return friction_notes(self._course.system.model)

    def _happened(self, outcome: Outcome, since: int = 0) -> tuple[list[str], Floats]:
        """Names and frames of the events from one on, by time, with the states that were set."""
        course = self._course
        names = happened(course.model, course.watched, outcome)
        frames = course.whole_frames(outcome.event_frames)
        if self._earlier:
            names = [name for earlier, _ in self._earlier for name in earlier] + names
            last = [frames] if len(frames) else []
            frames = np.concatenate([*(before for _, before in self._earlier), *last])
        names, frames = names[since:], frames[since:]
        if self._sets:
            frames = np.concatenate([*([frames] if len(names) else []), *self._sets])
            names += [STATE_SET] * len(self._sets)
            order = np.argsort(frames[:, 0], kind="stable")
            names, frames = [names[k] for k in order.tolist()], frames[order]
        return names, frames
