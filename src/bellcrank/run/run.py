"""The Run: a simulation in progress, which can be controlled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any, NoReturn, Self

import numpy as np

from bellcrank.compile.initial import settled
from bellcrank.compile.model import Model
from bellcrank.compile.report import AssemblyReport
from bellcrank.compile.start_values import continued
from bellcrank.compile.state import Floats, State
from bellcrank.errors import SimulationError, Unsupported
from bellcrank.integrate.advance import Outcome, deferred_interrupt
from bellcrank.integrate.closing import Closing
from bellcrank.integrate.events import CompiledEvents
from bellcrank.integrate.failure import Explanation
from bellcrank.integrate.progress import Progress
from bellcrank.run import opening, telling
from bellcrank.run.course import Course
from bellcrank.run.happenings import happened
from bellcrank.run.place import Place
from bellcrank.run.plan import Plan
from bellcrank.run.steering import Steering
from bellcrank.trajectory.origin import Origin
from bellcrank.trajectory.recorder import Recorder
from bellcrank.trajectory.trajectory import Trajectory
from bellcrank.turns import Turn, in_turn


@in_turn
class Run(Place):
    """A run that is advanced part by part, keeping the history of its method; see `bc.start`.

    A run serves one thread at a time and cannot be copied or pickled; a second concurrent thread is
    refused with Unsupported. Used as a context manager, it calls `stop()` on leaving.
    """

    def __init__(
        self,
        model: Model,
        plan: Plan,
        assemble: bool | str = False,
        state: State | None = None,
        watched: CompiledEvents | None = None,
        path: str | Path | None = None,
        description: str = "",
        progress: bool | Callable[[float], None] = False,
        steering: Steering | None = None,
    ) -> None:
        self.model, self.plan = model, plan
        self._turn = Turn("a Run serves one thread at a time: start one for each")
        self._watched = watched or CompiledEvents((), [], [])
        self._steering = steering or Steering()
        self._report: AssemblyReport | None = None
        self._motion: Closing | None = None  # that closes the mechanism before it is simulated
        self._final: Trajectory | None = None
        self._interrupted: Callable[[], bool] = lambda: False
        self._ended = Outcome("finished", plan.begin, 0, 0, 0, 0.0, 0.0, 0, 0, 0, 0, 0, -1, -1)
        self._time = plan.begin
        self._first, self._going = True, False  # nothing has been recorded
        self._moved = False  # since the last frame
        self._told_of = 0  # events that parts have had
        self._before: dict[str, int] = {}  # what was counted before the part at hand
        self._moves_state = isinstance(assemble, str) and assemble == opening.PROJECTION
        assemble = False if self._moves_state else assemble
        self._started_from = telling.started_from(assemble, state)
        self._sets: list[Floats] = []  # frames where the state was set, since the last part
        if plan.ledger:
            opening.refuse_ledger(plan.method.method, assemble)
        if not isinstance(assemble, bool):
            self._motion = opening.opening_motion(model, assemble, state, plan.end)
        elif assemble:
            self.model, self._report = opening.assembled_for(model, state)
        if state is not None:
            self.model = continued(self.model, state)
        self._formulate(state, open_still=self._motion is not None)
        self._recorder = Recorder(
            self._course.what.layout, path, description=Origin.of_model(self.model, description)
        )
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
    def trajectory(self) -> Trajectory:
        """What has been recorded so far; once the run has ended, all of it, with its final status."""
        if self._final is not None:
            return self._final
        self._course.flush()
        return self._recorder.so_far(self._summary())

    def advance(self, duration: float | None = None) -> None:
        """Advance by a duration, s; without one, to the end of the run if it was started with an end.

        A frame is recorded at the end of each advance, unless the run was started with times, a duration or
        an output_step.

        Ctrl-C raises KeyboardInterrupt; the run keeps the time it has reached, and can be continued. Raises
        MechanismError for an invalid duration or one beyond the end, and once the run has ended (by `stop`,
        a terminal event or a SimulationError); SimulationError, with what was computed in its `trajectory`,
        if the run breaks down.
        """
        self._refuse_ended(self._going)
        self._advance_to(self.plan.end_of(self._time, duration))
        if self._ended.status == "interrupted":
            raise KeyboardInterrupt

    def set_state(self, state: State) -> None:
        """Continue from another state, not earlier than the current time; the method restarts there.

        The run's events contain it, under the name "state set".

        The state is first projected onto the constraints. Raises MechanismError for anything but a state of
        this mechanism and for an earlier one, AssemblyError if it cannot satisfy the constraints.
        """
        self._refuse_ended(self._going)
        opening.move(self._course.system, state, self._time)
        self._time, self._moved = float(state.time), True
        if self._course.core is not None:
            self._course.core.move()
            self._sets.append(self._course.frame()[0])

    def stop(self) -> Trajectory:
        """End the run; return what was recorded."""
        if self._final is None:
            self._refuse_ended(self._going)
            self._finish(self._ended)
        return self.trajectory

    def complete(self) -> Trajectory:
        """Advance to the end of the run and stop; Ctrl-C ends it early, with the status "interrupted"."""
        with deferred_interrupt() as self._interrupted:
            self._advance_to(self.plan.end_of(self._time, None))
        return self.stop()

    def part(self, times: Floats, until: Callable[[], bool] = lambda: False) -> Trajectory:
        """Advance and record at times, s, starting at the current time; return a Trajectory of that part.

        until: called about twenty times a second; the part ends at the time reached when it returns True.
        The run can be continued afterwards. Ctrl-C and errors are as for `complete`.
        """
        self.plan = replace(self.plan, times=times)
        if not self._first:
            self._before = self._course.counted(self._ended)
            self._wall, last = 0.0, self._course.frame() if self._moved else self._recorder.last
            self._recorder = Recorder(self._course.what.layout, description=Origin.of_model(self.model))
            self._recorder.on_block(*last)
        with deferred_interrupt() as interrupted:
            self._interrupted = lambda: interrupted() or until()
            self._advance_to(float(times[-1]), last=False)
        if self._final is not None:
            return self._final
        if self._course.core is not None:
            self._course.flush()
            if self._ended.status == "interrupted" and self._recorder.last[0][0, 0] < self._time:
                self._recorder.on_block(*self._course.frame())
            self._ended = replace(self._course.outcome(), status=self._ended.status)
        done, self._told_of = self._told_of, len(self._ended.events)
        names, frames = self._happened(self._ended, done)
        self._sets.clear()
        summary = self._summary(self._ended.status, self._explained(self._ended).message)
        return self._recorder.finish({**summary, "part": "of a live run"}, names, frames)

    def _formulate(self, state: State | None, open_still: bool = False) -> None:
        """Prepare the system; unless it is open, it must satisfy the constraints from its start."""
        self._course = course = Course(self.model, self.plan, state, self._watched)
        self._steering.attach(course.system, self._turn, self._refuse_ended)
        if not open_still:
            course.set_start(self._steering, self._moves_state)
            course.begin(self._steering, self._record)

    def _advance_to(self, end: float, last: bool = True) -> None:
        """Advance to a time, and end the run if it breaks down."""
        self._refuse_ended(self._going)
        if self._course.core is None and self._motion is not None:
            opening.check_closed(self._motion, end)
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
        outputs = self.plan.outputs(self._time, end, self._first)
        outcome = None
        callbacks = (self._course.sink, self._is_alive, self._steering.sample, self._course.warn_slow)
        try:
            went = self._course.core.advance(
                outputs, end, last, last or self._course.regularity.watches, *callbacks
            )
        except KeyboardInterrupt:  # raised within a callback
            went, outcome = False, replace(self._course.outcome(), status="interrupted")
        self._first = self._moved = False
        if went and not self._course.regularity.is_lost() and not last:
            self._time = end
            if self._ended.status == "interrupted":
                self._ended = replace(self._ended, status="finished")
            return
        if self._judge(outcome or self._course.outcome()):
            self._advance_part(end, last)

    def _judge(self, outcome: Outcome) -> bool:
        """Note how the core stopped, and whether the run can continue; end it if not."""
        if self._course.regularity.lost is not None:
            outcome = replace(outcome, status="singular", time=self._course.regularity.lost[0])
        self._time, self._ended = outcome.time, outcome
        if outcome.status not in ("finished", "interrupted"):
            if self._course.hand_over(outcome):
                return True
            explained = self._finish(outcome)
            raise SimulationError(explained.message, outcome.time, explained.body, self._final, explained.row)
        if outcome.ended:
            self._finish(outcome)
        return False

    def _close(self, end: float) -> None:
        """Run through the motion that closes the mechanism, and record the requested frames."""
        motion = self._motion
        assert motion is not None
        times = self.plan.outputs(motion.begin, end, True)
        outcome = opening.close_on_the_way(motion, times, self._course.what, self._record, self._shown.at)
        self._time, self._ended = outcome.time, outcome
        if outcome.status == "finished":
            self.model, self._report = settled(self.model, motion.found())
            self._formulate(None)
            self._time = motion.end
        elif outcome.status != "interrupted":
            self._judge(outcome)

    def _record(self, frames: Floats, contacts: Floats | None = None) -> None:
        self._recorder.on_block(frames, contacts)

    def _is_alive(self, time: float) -> bool:
        self._shown.at(time)
        return not (self._interrupted() or self._course.regularity.is_lost())

    def _finish(self, outcome: Outcome) -> Explanation:
        """End the recording and the run."""
        if self._course.core is not None:
            self._course.flush()
            outcome = replace(self._course.outcome(), status=outcome.status, time=outcome.time)
        self._shown.__exit__(None, None, None)
        self._ended, explained = outcome, self._explained(outcome)
        summary = self._summary(outcome.status, explained.message)
        self._final = self._recorder.finish(summary, *self._happened(outcome))
        return explained

    def _end_by(self, error: Exception) -> None:
        """End the recording of a run aborted by an exception, keeping what was computed."""
        if self._final is not None:
            return
        self._shown.__exit__(None, None, None)
        broken = isinstance(error, SimulationError)  # of the file, unless a controller has failed
        summary = {
            "status": "failed",
            "message": str(error) if broken else f"{type(error).__name__}: {error}",
        }
        if self._course.core is not None and (not broken or error is self._steering.failure):
            self._course.flush()
            self._ended = self._course.outcome()
            self._time, summary = self._ended.time, self._summary(**summary)
        self._final = self._recorder.finish(summary, *self._happened(self._ended))
        if isinstance(error, SimulationError):
            error.trajectory = self._final

    def _refuse_ended(self, going: bool = False) -> None:
        opening.refuse_after_end(self._time, going, self._final is not None)

    def _explained(self, outcome: Outcome) -> Explanation:
        return self._course.explained(outcome)

    def _summary(self, status: str = "", message: str = "") -> dict[str, Any]:
        outcome = self._ended if self._course.core is None else self._course.outcome()
        counts = {n: count - self._before.get(n, 0) for n, count in self._course.counted(outcome).items()}
        summary = telling.statistics(self._course.system, self.plan.method, outcome, counts)
        if slow := self._course.slowness(outcome):
            summary["slow"] = slow
        summary |= {"wall_seconds": self._wall, **telling.of_start(self._report, self._motion)}
        summary |= {**self._recorder.span, **self._started_from}
        return {"status": status, "message": message, **summary} if status else summary

    def _happened(self, outcome: Outcome, since: int = 0) -> tuple[list[str], Floats]:
        """Names and frames of the events from one on, by time, with the states that were set."""
        names = happened(self.model, self._watched, outcome)[since:]
        frames = outcome.event_frames[since:]
        if self._sets:
            frames = np.concatenate([*([frames] if len(names) else []), *self._sets])
            names += [telling.STATE_SET] * len(self._sets)
            order = np.argsort(frames[:, 0], kind="stable")
            names, frames = [names[k] for k in order.tolist()], frames[order]
        return names, frames
