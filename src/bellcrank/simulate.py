"""The facade: mechanism + formulation + method -> Trajectory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

from bellcrank.assembly.compile import compile_mechanism
from bellcrank.assembly.initial import assembled
from bellcrank.assembly.model import Model
from bellcrank.errors import AssemblyError, SimulationError
from bellcrank.formulations.system import System, prepare
from bellcrank.integrate.advance import Observed, Outcome, advance, output_times
from bellcrank.integrate.failure import Explanation, explain
from bellcrank.integrate.methods import DEFAULT_STEP, MethodOptions, find_method, method_options
from bellcrank.integrate.progress import Progress
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.trajectory.observation import observation
from bellcrank.trajectory.recorder import Recorder
from bellcrank.trajectory.trajectory import Trajectory


def simulate(
    mechanism: Mechanism | Model,
    duration: float,
    *,
    start: float = 0.0,
    formulation: str = "lagrange",
    method: str = "rk4",
    step: float | None = None,
    output_step: float | None = None,
    tolerance: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    max_step: float | None = None,
    reactions: bool = True,
    accelerations: bool = False,
    path: str | Path | None = None,
    progress: bool | Callable[[float], None] = False,
    assemble: bool = True,
    description: str = "",
    **options: Any,
) -> Trajectory:
    """Simulate a mechanism and return what happened.

    duration, start: s. formulation: a name, or "auto". method: "semi_implicit_euler", "rk4" or "dopri5".
    step: s; of fixed-step methods, by default 1e-3; dopri5 takes it as its first step.
    output_step: s between recorded frames; by default about 1000 frames, at steps of the method.
    tolerance (or rtol and atol), max_step: of adaptive methods, by default 1e-8 and no limit.
    reactions, accelerations: whether to record joint reactions and body accelerations.
    path: HDF5 file to record into while it runs.
    progress: True for a bar on the terminal, or a function of the fraction done.
    assemble: mend the initial state first (for this run, not in the mechanism); else it is projected only.
    description: text of the mechanism's file, kept with the results.
    options: those of the formulation.

    Ctrl-C ends the run and returns what there is, with the status "interrupted".

    Raises MechanismError for what is wrong with the mechanism or the arguments, Unsupported for names that do
    not exist, AssemblyError if the initial state cannot be mended, SimulationError if the run breaks down:
    its `trajectory` holds what was computed.
    """
    times, chosen = _plan(method, duration, start, output_step, (step, max_step, tolerance, rtol, atol))
    model = mechanism if isinstance(mechanism, Model) else compile_mechanism(mechanism, start)
    if model.initial.time != start:
        model = model.started(model.initial.at_time(start))
    if assemble:
        model, _ = assembled(model)
    system = prepare(model, formulation, **options)
    _project(system)
    what = observation(model, reactions, accelerations)
    recorder = Recorder(what.layout, path, description=description)
    begun = perf_counter()
    with Progress(progress, start, duration) as shown:
        observed = Observed(what.coordinates, what.rows, what.reactions, accelerations)
        outcome = advance(system.core, chosen, times, observed, recorder.on_block, shown.at)
    seconds = perf_counter() - begun
    explained = explain(system.model, system.core, chosen, outcome)
    return _finish(system, recorder, chosen, outcome, explained, seconds)


def _plan(
    method: str, duration: float, start: float, output_step: float | None, given: tuple[float | None, ...]
) -> tuple[Any, MethodOptions]:
    """Output times and options of the method, all arguments checked."""
    find_method(method)
    with Check("simulate") as check:
        duration = check.positive("duration", duration, "s")
        start = check.number("start", start, "s")
        if output_step is not None:
            output_step = check.positive("output_step", output_step, "s")
    step, max_step, tolerance, rtol, atol = given
    chosen = method_options(method, duration, step, max_step, tolerance, rtol, atol)
    return output_times(start, duration, output_step, chosen), chosen


def _project(system: System) -> None:
    """The start must satisfy the constraints of this formulation, to its own tolerance."""
    try:
        system.project()
    except AssemblyError as error:
        raise AssemblyError(f"the simulation cannot start: {error}", error.violations) from None


def _finish(
    system: System,
    recorder: Recorder,
    options: MethodOptions,
    outcome: Outcome,
    explained: Explanation,
    seconds: float,
) -> Trajectory:
    trajectory = recorder.finish(
        {
            "status": outcome.status,
            "message": explained.message,
            "formulation": system.formulation,
            "method": options.method.name,
            "step": outcome.last_step if options.method.adaptive else options.step or DEFAULT_STEP,
            "steps": outcome.steps,
            "rejected_steps": outcome.rejected,
            "wall_seconds": seconds,
            **system.stats.counts,
            "redundant_rows": ", ".join(map(str, system.stats.dropped)),
        }
    )
    if outcome.status not in ("finished", "interrupted"):
        raise SimulationError(explained.message, outcome.time, explained.body, trajectory, explained.row)
    return trajectory
