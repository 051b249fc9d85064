"""A run: a model assembled, prepared for a formulation, advanced and recorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import numpy as np

from bellcrank.assembly.initial import assembled, settled
from bellcrank.assembly.model import Model
from bellcrank.assembly.regularity import Regularity
from bellcrank.assembly.report import AssemblyReport, limit_of_digits
from bellcrank.assembly.state import Floats, State
from bellcrank.continuation import Continuation
from bellcrank.errors import AssemblyError, SimulationError
from bellcrank.formulations.system import System, SystemStatistics, prepare
from bellcrank.integrate.advance import Observed, Outcome, advance
from bellcrank.integrate.closing import Closing, closing
from bellcrank.integrate.events import CompiledEvents
from bellcrank.integrate.failure import Explanation, explain
from bellcrank.integrate.methods import DEFAULT_STEP, MethodOptions
from bellcrank.integrate.progress import Progress
from bellcrank.mechanism.checking import Check
from bellcrank.trajectory.observation import Observation, observation
from bellcrank.trajectory.recorder import Recorder
from bellcrank.trajectory.trajectory import Trajectory

_CUTS: Final = 50  # joints that a run tells by name


@dataclass(frozen=True, eq=False)
class Plan:
    """What is to be done, all of it checked.

    begin: s. times: to record, s. method: with its options. formulation: a name; options: its own.
    reactions, accelerations: whether they are recorded. continuation: of the runs that it is one of.
    """

    begin: float
    times: Floats
    method: MethodOptions
    formulation: str
    options: dict[str, Any]
    reactions: bool
    accelerations: bool
    continuation: Continuation | None = None


class Run:
    """A model on its way to a Trajectory: assemble(), prepare(), advance().

    model: in the configuration that it is simulated from; where constraint forces close it, from then on.
    """

    def __init__(self, model: Model, plan: Plan) -> None:
        self.model = model
        self.plan = plan
        self._report: AssemblyReport | None = None
        self._motion: Closing | None = None  # that closes the mechanism before it is simulated
        self._begun = 0.0
        self._lost = ""  # what to say of a joint that ceased to be regular
        self._before: dict[str, int] = {}  # what the system had counted where it is that of the run before

    def assemble(self, how: bool | str, state: State | None) -> None:
        """Mend the initial configuration, or get ready to close it by constraint forces."""
        if self._resumed(state):
            return
        if not isinstance(how, bool):
            self._motion = _motion(self.model, how, state, self.plan.times)
        elif how:
            self.model, self._report = assembled(self.model)

    def prepare(
        self, state: State | None, watched: CompiledEvents, path: str | Path | None, description: str
    ) -> None:
        """Take up the formulation, at a state if there is one, and the recording."""
        self._watched = watched
        self._formulate(state)
        self._recorder = Recorder(self._what.layout, path, description=description)
        self._begun = perf_counter()

    def advance(self, progress: bool | Callable[[float], None]) -> Trajectory:
        """Go through time as planned.

        Raises SimulationError, which holds the trajectory so far, if that breaks down.
        """
        begin = self.plan.begin
        with Progress(progress, begin, float(self.plan.times[-1]) - begin) as shown, self._recorder:
            outcome = self._outcome(shown)
        if outcome.status == "singular":
            explained = Explanation(f"singular at t = {outcome.time:.6g} s: {self._lost}")
        else:
            explained = explain(self._system.model, self._system.core, self.plan.method, outcome)
        trajectory = self._recorder.finish(
            self._told(outcome, explained), self._happened(outcome), outcome.event_frames
        )
        if outcome.status not in ("finished", "interrupted"):
            raise SimulationError(explained.message, outcome.time, explained.body, trajectory, explained.row)
        if self.plan.continuation is not None and outcome.status == "finished":
            self.plan.continuation.keep(self.model, self._system, trajectory.at(outcome.time))
        return trajectory

    def _outcome(self, shown: Progress) -> Outcome:
        begin, times = self.plan.begin, self.plan.times
        if self._motion is not None:
            outcome = self._close(self._motion, shown)
            if outcome.status != "finished":
                return outcome
            self.model, self._report = settled(self.model, self._motion.found())
            begin, times = self._motion.end, times[times >= self._motion.end]
            self._formulate(None, closed=True)
        regularity = self._regularity()
        record = regularity.watching(self._recorder.on_block)
        sink = _from(times[0], self._what.completed(self.model, record))
        passed = times if times[0] <= begin else np.concatenate([[begin], times])
        observed = _observed(self._what)
        kept = None if self.plan.continuation is None else self.plan.continuation.core
        core, method = self._system.core, self.plan.method
        lost = regularity.is_lost
        outcome = advance(core, method, passed, observed, sink, shown.at, self._watched, kept, lost)
        if regularity.lost is None:
            return outcome
        time, self._lost = regularity.lost
        return replace(outcome, status="singular", time=time)

    def _regularity(self) -> Regularity:
        """What watches the joints whose formulas have a limit."""
        first = self._what.layout.columns["coordinates"].start
        recorded = enumerate(self._what.coordinates[: len(self._what.layout.coordinates)])
        return Regularity(self.model, {c: first + place for place, c in recorded})

    def _resumed(self, state: State | None) -> bool:
        """Whether the run goes on with the system of the one before, and its history."""
        plan = self.plan
        if plan.continuation is None:
            return False
        last = plan.continuation.at(self.model, (plan.formulation, plan.options), plan.method, state)
        if last is None:
            return False
        self.model, self._system = last
        self._before = self._system.stats.counts
        return True

    def _formulate(self, state: State | None, closed: bool = False) -> None:
        """Prepare the system; one that is not open must meet the constraints from its start."""
        if not self._before:
            self._system = prepare(self.model, self.plan.formulation, **self.plan.options)
            if self._motion is None or closed:
                _start(self._system, state)
        self._what = observation(self._system.model, self.plan.reactions, self.plan.accelerations)

    def _close(self, motion: Closing, shown: Progress) -> Outcome:
        """Go through the motion, and record what of it falls on the times to be recorded."""
        times = self.plan.times
        inside = times[(times > motion.begin) & (times < motion.end)]
        passed = np.concatenate([[motion.begin], inside, [motion.end]])
        first = min(float(times[0]), motion.end)
        sink = self._what.completed(self.model, self._recorder.on_block)
        return motion.advance(
            passed,
            _observed(self._what),
            lambda f: sink(f[(f[:, 0] >= first) & (f[:, 0] < motion.end)]),
            shown.at,
        )

    def _happened(self, outcome: Outcome) -> list[str]:
        """The names of what happened."""
        model = self.model
        return [
            self._watched.names[number] if number >= 0 else model.block_owner[int(model.row_block[row])]
            for number, row in outcome.events
        ]

    def _told(self, outcome: Outcome, explained: Explanation) -> dict[str, Any]:
        """What the run tells of itself."""
        system, options = self._system, self.plan.method
        told = {
            "status": outcome.status,
            "message": explained.message,
            "formulation": system.formulation,
            "method": options.method.name,
            "step": outcome.last_step if options.method.adaptive else options.step or DEFAULT_STEP,
            "steps": outcome.steps,
            "rejected_steps": outcome.rejected,
            **outcome.of_adaptive(options.method),
            **{name: count - self._before.get(name, 0) for name, count in system.stats.counts.items()},
            "redundant_rows": ", ".join(map(str, system.stats.dropped)),
            "wall_seconds": perf_counter() - self._begun,
        }
        if system.cut_joints:
            told["cut_joints"] = _listed(system.cut_joints)
        if self._report is not None and self._report.notes:
            told["assembly_notes"] = "; ".join(self._report.notes)
        limits = _limits_of_digits(outcome, system.stats)
        if limits:
            told["accuracy"] = "; ".join(limits)
        if self._motion is not None:
            told |= {"closed_at": self._motion.end, "time_constant": self._motion.time_constant}
        return told


def _motion(model: Model, assemble: str, state: State | None, times: Floats) -> Closing:
    """The motion that closes the mechanism before it is simulated."""
    with Check("simulate") as check:
        if not isinstance(assemble, str) or assemble != "constraint_forces":
            check.fault("assemble must be True, False or 'constraint_forces'", assemble)
        elif state is not None:
            check.fault("a state to go on from is not assembled", None, "leave out state or assemble=")
    motion = closing(model, released=True)
    if not times[-1] > motion.end:
        with Check("simulate") as check:
            rule = f"constraint forces take {motion.end - motion.begin:.3g} s to close the mechanism"
            check.fault(rule, float(times[-1]), "let the run last longer")
    return motion


def _start(system: System, state: State | None) -> None:
    """Go to the start, which must satisfy the constraints of this formulation, to its own tolerance."""
    if state is not None:
        system.set_state(state)
    try:
        system.project()
    except AssemblyError as error:
        raise AssemblyError(f"the simulation cannot start: {error}", error.violations) from None


def _limits_of_digits(outcome: Outcome, statistics: SystemStatistics) -> list[str]:
    """Where double precision, and not the tolerance, has decided how accurate the run is."""
    limits = []
    if outcome.rounding:
        steps = f"{outcome.rounding} of {outcome.steps} steps"
        limits.append(
            f"{steps} have errors above the tolerance that are rounding; shorter steps would not help"
        )
    limits.append(limit_of_digits(statistics.uncertainty))
    if not limits[-1]:
        limits.append(limit_of_digits(statistics.effort_uncertainty, "reaction or effort"))
    return [limit for limit in limits if limit]


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _CUTS
    return ", ".join(names[:_CUTS]) + (f" and {more} more" if more > 0 else "")


def _observed(what: Observation) -> Observed:
    return Observed(what.coordinates, what.rows, what.reactions, what.layout.accelerations)


def _from(time: float, sink: Callable[[Floats], None]) -> Callable[[Floats], None]:
    """Passes frames from this time on."""
    return lambda frames: sink(frames[frames[:, 0] >= time])
