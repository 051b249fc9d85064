"""A session: what the commands work on, as values that never change, so that any step can be taken back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from bellcrank.analysis.start_values import hold_values_of, write_positions
from bellcrank.assembly.compile import compile_mechanism
from bellcrank.assembly.initial import assembled
from bellcrank.assembly.state import State
from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.evaluation import with_numbers
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.shell.history import merged
from bellcrank.shell.places import Places
from bellcrank.shell.situation import Compiled, Situation, fresh

if TYPE_CHECKING:
    from bellcrank.assembly.model import Model
    from bellcrank.run.run import Run
    from bellcrank.shell.language import Command
    from bellcrank.shell.reply import Reply
    from bellcrank.trajectory.trajectory import Trajectory

_UNDONE = 200  # how many steps can be taken back
_PERIOD: Final = 0.04  # s on the wall between looks at a run that is watched
_Before: TypeAlias = "tuple[Situation, tuple[Situation, ...], tuple[Situation, ...]]"


@dataclass
class _Following:
    """A run of a model by these arguments, and the state in which it ended."""

    run: Run
    model: Model
    arguments: dict[str, Any]
    end: State | None = None

    def leads_on(self, model: Model, arguments: dict[str, Any], state: State | None) -> bool:
        """Whether a run by these arguments from that state is this one, gone on with."""
        return model is self.model and arguments == self.arguments and state is self.end


class Session:
    """The situation now, those before, those taken back, and what was compiled for the one now.

    notes: remarks of the command at work. commands: all there are. source: runs the commands of a file.
    places: where commands may read and write. watch: is shown each part of a run while it goes on, and may
    end it by True; without one, runs go on in one part.
    """

    def __init__(self, places: Places | None = None) -> None:
        self.now = fresh()
        self.places = places or Places()
        self._past: tuple[Situation, ...] = ()
        self._future: tuple[Situation, ...] = ()
        self._compiled: Compiled = None
        self._following: _Following | None = None  # the last run, if one can go on from its end
        self.notes: list[str] = []
        self.commands: Mapping[str, Command] = {}
        self.source: Callable[[str], list[Reply]] = lambda _file: []
        self.watch: Callable[[Trajectory], bool] | None = None

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism; do not change it, use `edit`."""
        return self.now.mechanism

    def set(self, **changes: Any) -> None:
        """Go to a situation with other values."""
        self.now = replace(self.now, **changes)

    def remember(self, before: Situation) -> None:
        """Note a situation to which `undo` can return; what was taken back is forgotten."""
        if before is not self.now:
            self._past = (*self._past[1 - _UNDONE :], before)
            self._future = ()

    def combine(self, everything: _Before) -> None:
        """Make one step of all that was done since the session was there."""
        now = self.now
        self.restore(everything)
        before, self.now = self.now, now
        self.remember(before)

    @property
    def steps_back(self) -> int:
        """How many situations are remembered."""
        return len(self._past)

    @property
    def everything(self) -> _Before:
        """The situation with those before and those taken back: what `restore` takes."""
        return self.now, self._past, self._future

    def restore(self, everything: _Before) -> None:
        """Be where the session was, as if nothing had been done since."""
        self.now, self._past, self._future = everything

    def undo(self) -> bool:
        """Return to the situation before the last change; False if there is none."""
        if not self._past:
            return False
        *past, before = self._past
        self.restore((before, tuple(past), (self.now, *self._future)))
        return True

    def redo(self) -> bool:
        """Return to the situation that was taken back last; False if there is none."""
        if not self._future:
            return False
        after, *future = self._future
        self.restore((after, (*self._past, self.now), tuple(future)))
        return True

    def edit(self, change: Callable[[Mechanism], Any], structure: bool = True) -> Any:
        """Change a copy of the mechanism and put it in its place; what `change` returns.

        structure: what moves or holds is changed; then where the bodies are now becomes where they start.
        """
        if structure:
            self.commit()
        copy = self.mechanism.copy()
        result = change(copy)
        self.set(mechanism=copy)
        return result

    def commit(self) -> None:
        """Let the mechanism start from where it is now, with what it took from where it started before."""
        live = self.now.live
        if live is None:
            return
        model, copy = self.model(), self.mechanism.copy()
        hold_values_of(copy, model)
        for number, body in enumerate(list(copy.bodies.values())):
            copy.replace(body, **pose_in(live, number))
        write_positions(copy, model, model.coordinate_values(live), keep=False)
        self.set(mechanism=copy, start=live.time, live=None)

    def model(self) -> Model:
        """The mechanism compiled and assembled at its start.

        Raises MechanismError if it has no bodies or is faulty, AssemblyError if it does not fit together.
        """
        mechanism, start = self.mechanism, self.now.start
        if self.now.live is not None and _holds(self.now.closed, mechanism, start):
            return self.now.closed[2]  # type: ignore[index]
        if not _holds(self._compiled, mechanism, start):
            self._compiled = (mechanism, start, assembled(self._described())[0])
        return self._compiled[2]  # type: ignore[index]

    def _described(self) -> Model:
        """The mechanism compiled as it is described."""
        if not self.mechanism.bodies:
            raise MechanismError(Fault("mechanism", "there are no bodies yet", None, "make one: ib <name>"))
        return compile_mechanism(self.mechanism, self.now.start)

    def state(self) -> State:
        """Where the bodies are now: while the clock stands at the start, as they are described."""
        if self.now.live is not None:
            return self.now.live
        bodies = list(with_numbers(self.mechanism).bodies.values())

        def rows(name: str) -> Any:
            return np.array([getattr(body, name) for body in bodies], dtype=np.float64)

        return State(self.now.start, *map(rows, ("position", "rotation", "velocity", "angular_velocity")))

    def run(self, duration: float, output_step: float | None, **given: Any) -> Trajectory:
        """Go on by a duration (s); the errors are those of `simulate`."""
        from bellcrank.integrate.advance import check_resolved, output_times
        from bellcrank.simulate import start

        how = given.pop("assemble", False)
        closing = isinstance(how, str)
        if closing:
            self.commit()
        model = self._described() if closing else self.model()
        arguments = {**self.now.settings.arguments(), **given}
        following, self._following = self._following, None
        if closing or following is None or not following.leads_on(model, arguments, self.now.live):
            state, assemble = self.now.live, how if closing else False
            begun = start(model, start=self.now.start, state=state, assemble=assemble, **arguments)
            following = _Following(begun, model, arguments)
        steered = following.run.inputs
        steered.update({one.name: value for one, value in self.now.inputs.items() if one.name in steered})
        begin = following.run.time
        with Check("simulate") as check:
            duration = check.positive("duration", duration, "s")
            if output_step is not None:
                output_step = check.positive("output_step", output_step, "s")
            check_resolved(check, begin, duration, output_step=output_step)
        run = self._went(following.run, output_times(begin, duration, output_step, following.run.plan.method))
        if len(run) == 0:
            return run
        live = run.at(float(run.time[-1]))
        if closing:  # what is taken from the initial configuration is now that of the closed one
            reached = following.run.model
            closed = reached if reached is not model else model.started(live.at_time(self.now.start))
            self.set(closed=(self.mechanism, self.now.start, closed))
            following.model = closed
        before = self.now.history
        fits = bool(before) and before[-1].layout == run.layout and before[-1].time[-1] == run.time[0]
        self.set(live=live, history=(*before, run) if fits else (run,))
        if run.status == "finished":
            following.end, self._following = live, following
        return run

    def _went(self, run: Run, times: Any) -> Trajectory:
        """What a run does over times, s; one that is watched goes on in parts as short as a picture."""
        if self.watch is None:
            return run.part(times)
        parts, at, count = [], 0, 1
        while at < len(times) - 1:
            begun = perf_counter()
            parts.append(run.part(times[at : at + count + 1]))
            at, took = at + count, perf_counter() - begun
            if self.watch(parts[-1]) or parts[-1].status != "finished":
                break
            count = max(1, round(count * min(max(_PERIOD / max(took, 1e-9), 0.25), 4.0)))
        return merged(parts)

    def trajectory(self) -> Trajectory:
        """All that was run since the results last changed their columns. Raises MechanismError if nothing."""
        if not self.now.history:
            raise MechanismError(
                Fault("history", "nothing has been run yet", None, "use step <n> or run <duration>")
            )
        return merged(self.now.history)


def _holds(compiled: Compiled, mechanism: Mechanism, start: float) -> bool:
    """Whether that was compiled of this mechanism at this time."""
    return compiled is not None and compiled[0] is mechanism and compiled[1] == start


def pose_in(state: State, number: int) -> dict[str, tuple[float, ...]]:
    """The fields of a body at a state."""
    names = ("position", "rotation", "velocity", "angular_velocity")
    return {name: tuple(getattr(state, name)[number].tolist()) for name in names}
