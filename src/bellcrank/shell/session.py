"""A session: the state that commands work on, as immutable values, so that any step can be undone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import pairwise
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from bellcrank.analysis.assemble import hold_values_of, write_positions
from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.initial import assembled
from bellcrank.compile.state import State
from bellcrank.errors import Fault, MechanismError, Unsupported
from bellcrank.io.fields import Simulation
from bellcrank.mechanism.attachment import Force
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.collisions import refuse_left_out
from bellcrank.mechanism.contents import with_numbers
from bellcrank.mechanism.marker import GROUND
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.shell.adaptive_runs import adaptive_run
from bellcrank.shell.places import Places
from bellcrank.trajectory.joining import goes_on, joined, relaid, remembered, united
from bellcrank.trajectory.trajectory import Trajectory

if TYPE_CHECKING:
    from bellcrank._core import Expression
    from bellcrank.compile.model import Model
    from bellcrank.run.run import Run
    from bellcrank.shell.language import Command, Reply
    from bellcrank.shell.links import Frames
    from bellcrank.trajectory.trajectory import Trajectory


Compiled: TypeAlias = "tuple[Mechanism, float, Model] | None"
"""What was compiled of a mechanism that starts at a time, s."""


@dataclass(frozen=True)
class Settings:
    """The settings of time integration.

    method_options: step, max_step, max_order if they were given. stepsize: s from one frame to the next.
    """

    formulation: str = "auto"
    options: Mapping[str, Any] = field(default_factory=dict)
    method: str = "auto"
    method_options: Mapping[str, Any] = field(default_factory=dict)
    rtol: float = 1e-6
    atol: float = 1e-7
    stepsize: float = 1.0 / 30.0

    def arguments(self) -> dict[str, Any]:
        """The arguments for `simulate`."""
        from bellcrank.run.plan import find_method

        tolerances = {"rtol": self.rtol, "atol": self.atol} if find_method(self.method).adaptive else {}
        given = {"formulation": self.formulation, "method": self.method}
        return {**given, **self.options, **self.method_options, **tolerances}


@dataclass(frozen=True)
class Drawing:
    """The drawing after every step: convention "null", "bolio" or "corpus", and the file for the last one.

    over: whether existing files may be overwritten. contacts: whether the pictures show points and forces of
    contact. scale: of the forces, N/m, or None.
    """

    convention: str = "null"
    file: str = ""
    every: int = 1
    over: bool = False
    contacts: bool = False
    scale: float | None = None


@dataclass(frozen=True)
class Situation:
    """Everything that a command can change.

    mechanism: as it is at the time `start`; it is replaced, never changed. live: the current state of the
    bodies, or None as long as the clock is at `start`. off: forces that are switched off.
    frames: of links by joint, as `sl` set them; they are valid as long as the joint has their markers.
    idle_brakes: forces that are brakes with zero damping, which does not identify them.
    inputs: those that were created or set, with the values that runs continue with.
    history: completed runs, as consecutive pieces. closed: the model as constraint forces closed it at the
    beginning of a run, with the mechanism and the start for which it is valid.
    """

    mechanism: Mechanism
    start: float = 0.0
    live: State | None = None
    off: Mapping[str, Force] = field(default_factory=dict)
    frames: Mapping[str, Frames] = field(default_factory=dict)
    idle_brakes: frozenset[str] = frozenset()
    inputs: Mapping[Expression, float] = field(default_factory=dict)
    settings: Settings = Settings()
    drawing: Drawing = Drawing()
    history: tuple[Trajectory, ...] = ()
    simulation: Simulation = field(default_factory=Simulation)
    closed: Compiled = None

    @property
    def time(self) -> float:
        """The time shown by the clock, s."""
        return self.start if self.live is None else self.live.time


def fresh(name: str = "mechanism") -> Situation:
    """An empty mechanism without gravity."""
    return Situation(Mechanism(name, gravity=(0.0, 0.0, 0.0)))


_SUMMED = (
    "steps",
    "rejected_steps",
    "wall_seconds",
    "evaluations",
    "factorizations",
    "corrections",
    "impacts",
)


def merged(runs: Sequence[Trajectory]) -> Trajectory:
    """One run from several, each of which starts where the previous one ended.

    Forces, drives and constraints may differ: where one is not there, it exerts nothing. At the joins, the
    frame of the later run is kept: forces may have been switched there.
    """
    if len(runs) == 1:
        return runs[0]
    layout = reduce(united, [run.layout for run in runs])
    whole = joined([relaid(run, layout) for run in runs], changed=True)
    statistics = dict(whole.statistics)
    for name in _SUMMED:
        if name in statistics:
            statistics[name] = sum(run.statistics.get(name, 0) for run in runs)  # type: ignore[misc]
    if changes := [two.time[0] for one, two in pairwise(runs) if _differ(one, two)]:
        statistics["changed_at"] = ", ".join(f"{time:.6g} s" for time in changes)
    return Trajectory(layout, whole.store, whole.status, statistics, whole.origin, whole.events)


def _differ(one: Trajectory, two: Trajectory) -> bool:
    """Whether two runs are of different mechanisms."""
    return one.origin.mechanism is not two.origin.mechanism and one.mechanism != two.mechanism


_UNDONE = 200  # number of steps that can be undone
_PERIOD: Final = 0.04  # s of wall time between checks of a run that is watched
_Before: TypeAlias = "tuple[Situation, tuple[Situation, ...], tuple[Situation, ...]]"


@dataclass
class _Following:
    """A run of a model by given arguments, and the state in which it ended."""

    run: Run
    model: Model
    arguments: dict[str, Any]
    end: State | None = None

    def continues(self, model: Model, arguments: dict[str, Any], state: State | None) -> bool:
        """Whether a run by these arguments from that state is the continuation of this one."""
        return model is self.model and arguments == self.arguments and state is self.end


class Session:
    """The current situation, earlier and undone ones, and the compiled data of the current one.

    notes: remarks of the current command. commands: all available ones. source: runs the commands of a file.
    places: where commands may read and write. watch: receives each part of a run in progress, and may
    end it by returning True; without it, runs are done in one part.
    """

    def __init__(self, places: Places | None = None) -> None:
        self.now = fresh()
        self.places = places or Places()
        self._undoable: tuple[Situation, ...] = ()
        self._redoable: tuple[Situation, ...] = ()
        self._compiled: Compiled = None
        self._following: _Following | None = None  # the last run, if one can continue from its end
        self.notes: list[str] = []
        self.commands: Mapping[str, Command] = {}
        self.source: Callable[[str], list[Reply]] = lambda _file: []
        self.watch: Callable[[Trajectory], bool] | None = None

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism; do not change it, use `edit`."""
        return self.now.mechanism

    def set(self, **changes: Any) -> None:
        """Replace values of the current situation."""
        self.now = replace(self.now, **changes)

    def remember(self, before: Situation) -> None:
        """Record a situation to which `undo` can return; undone situations are forgotten."""
        if before is not self.now:
            self._undoable = (*self._undoable[1 - _UNDONE :], before)
            self._redoable = ()

    def combine(self, everything: _Before) -> None:
        """Combine everything since an earlier state of the session into one step."""
        now = self.now
        self.restore(everything)
        before, self.now = self.now, now
        self.remember(before)

    @property
    def steps_back(self) -> int:
        """The number of recorded situations."""
        return len(self._undoable)

    @property
    def steps_ahead(self) -> int:
        """The number of situations that were undone and can be redone."""
        return len(self._redoable)

    @property
    def everything(self) -> _Before:
        """The current situation with the earlier and undone ones, as taken by `restore`."""
        return self.now, self._undoable, self._redoable

    def restore(self, everything: _Before) -> None:
        """Return to an earlier state of the session, as if nothing had been done since."""
        self.now, self._undoable, self._redoable = everything

    def undo(self) -> bool:
        """Return to the situation before the last change; False if there is none."""
        if not self._undoable:
            return False
        *past, before = self._undoable
        self.restore((before, tuple(past), (self.now, *self._redoable)))
        return True

    def redo(self) -> bool:
        """Return to the situation that was undone last; False if there is none."""
        if not self._redoable:
            return False
        after, *future = self._redoable
        self.restore((after, (*self._undoable, self.now), tuple(future)))
        return True

    def edit(self, change: Callable[[Mechanism], Any], structure: bool = True) -> Any:
        """Change a copy of the mechanism and substitute it; return the result of `change`.

        structure: bodies or constraints are changed; the current poses then become the start.
        """
        if structure:
            self.commit()
        copy = self.mechanism.copy()
        result = change(copy)
        self.set(mechanism=copy)
        return result

    def commit(self) -> None:
        """Make the current state the start of the mechanism, keeping values taken from the previous start."""
        live = self.now.live
        if live is None:
            return
        model, copy = self.model(), self.mechanism.copy()
        hold_values_of(copy, model, live)
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
        """The mechanism compiled as described, without assembly."""
        if not self.mechanism.bodies:
            raise MechanismError(Fault("mechanism", "there are no bodies yet", None, "make one: ib <name>"))
        return compile_mechanism(self.mechanism, self.now.start)

    def state(self) -> State:
        """The current poses and velocities of the bodies; as described while the clock is at the start."""
        if self.now.live is not None:
            return self.now.live
        bodies = list(with_numbers(self.mechanism).bodies.values())

        def rows(name: str) -> Any:
            return np.array([getattr(body, name) for body in bodies], dtype=np.float64)

        return State(self.now.start, *map(rows, ("position", "rotation", "velocity", "angular_velocity")))

    def run(self, duration: float, output_step: float | None, **given: Any) -> Trajectory:
        """Advance by a duration (s); the errors are those of `simulate`."""
        from bellcrank.run.plan import check_resolved, output_times
        from bellcrank.run.simulate import start
        from bellcrank.run.start import PROJECTION

        how = given.pop("assemble", False)
        closing = isinstance(how, str) and how != PROJECTION
        allowed = given.pop("left_out", "refuse")
        if self.now.live is None:  # a run that goes on has been allowed
            refuse_left_out(self.mechanism, allowed)
        if closing:
            self.commit()
        model = self._described() if closing else self.model()
        arguments = {**self.now.settings.arguments(), **given}
        if self.now.settings.formulation == "adaptive":
            return self._went_adaptively(model, duration, output_step, {**arguments, "assemble": how})
        following, self._following = self._following, None
        if closing or following is None or not following.continues(model, arguments, self.now.live):
            state: State | None = self._continued(model)
            assemble: Any = how if closing else PROJECTION
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
        if closing:  # values taken from the initial configuration now refer to the closed one
            reached = following.run.model
            closed = reached if reached is not model else model.started(live.at_time(self.now.start))
            self.set(closed=(self.mechanism, self.now.start, closed))
            following.model = closed
        before = self.now.history
        fits = bool(before) and goes_on(before[-1].layout, run.layout) and before[-1].time[-1] == run.time[0]
        self.set(live=live, history=(*before, run) if fits else (run,))
        if run.status == "finished":
            following.end, self._following = live, following
        return run

    def _went_adaptively(
        self, model: Model, duration: float, output_step: float | None, arguments: Mapping[str, Any]
    ) -> Trajectory:
        """A run with adaptive dynamics, which begins with the joints that move."""
        start = {name: value for name, value in arguments.items() if name not in ("formulation", "assemble")}
        if arguments["assemble"] not in (False, "projection"):
            raise Unsupported("adaptive runs do not close a mechanism: take 'formulation auto' until it is")
        live = self.now.live
        if live is None:
            start |= {"start": self.now.start}
        run = adaptive_run(model, live, duration, output_step, start, self.watch)
        before = self.now.history
        fits = bool(before) and goes_on(before[-1].layout, run.layout) and before[-1].time[-1] == run.time[0]
        self._following = None
        self.set(live=run.at(float(run.time[-1])), history=(*before, run) if fits else (run,))
        return run

    def _continued(self, model: Model) -> State | None:
        """The state from which a model goes on: contacts may have been switched since the last run."""
        live, history = self.now.live, self.now.history
        if live is None or live.contacts is None or not history:
            return live
        shapes = tuple([*model.bodies, GROUND][body] for body in model.contact_shapes)
        before = history[-1].layout.contact_shapes
        return live if shapes == before else replace(live, contacts=remembered(live.contacts, before, shapes))

    def _went(self, run: Run, times: Any) -> Trajectory:
        """Run over times, s; a run that is watched proceeds in parts as short as a picture."""
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
        """Everything run since bodies or joints last changed. Raises MechanismError if there is nothing."""
        if not self.now.history:
            raise MechanismError(
                Fault("history", "nothing has been run yet", None, "use step <n> or run <duration>")
            )
        return merged(self.now.history)


def _holds(compiled: Compiled, mechanism: Mechanism, start: float) -> bool:
    """Whether the compiled data belong to this mechanism at this time."""
    return compiled is not None and compiled[0] is mechanism and compiled[1] == start


def pose_in(state: State, number: int) -> dict[str, tuple[float, ...]]:
    """The fields of a body at a state."""
    names = ("position", "rotation", "velocity", "angular_velocity")
    return {name: tuple(getattr(state, name)[number].tolist()) for name in names}
