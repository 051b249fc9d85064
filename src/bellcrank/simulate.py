"""The facade: mechanism + formulation + method -> Trajectory."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.assembly.compile import compile_mechanism
from bellcrank.assembly.model import Model
from bellcrank.assembly.state import Floats, State
from bellcrank.errors import Fault, FaultList, MechanismError
from bellcrank.formulations.preparing import check_request
from bellcrank.integrate.advance import check_resolved, output_times
from bellcrank.integrate.events import CompiledEvents, Event, compiled_events
from bellcrank.integrate.methods import MethodOptions, find_method, method_options
from bellcrank.mechanism.arguments import required_path, required_progress
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.run.controllers import Controller, checked_controllers
from bellcrank.run.plan import Plan
from bellcrank.run.run import Run
from bellcrank.run.steering import Steering
from bellcrank.trajectory.trajectory import Trajectory


def simulate(
    mechanism: Mechanism | Model,
    duration: float | None = None,
    *,
    times: Any = None,
    start: float = 0.0,
    state: State | None = None,
    formulation: str = "auto",
    method: str = "auto",
    step: float | None = None,
    output_step: float | None = None,
    tolerance: float | None = None,
    rtol: float | Mapping[str, float] | None = None,
    atol: float | Mapping[str, float] | None = None,
    max_step: float | None = None,
    max_order: int | None = None,
    events: Event | Iterable[Event] = (),
    controllers: Controller | Iterable[Controller] = (),
    reactions: bool = True,
    accelerations: bool = False,
    path: str | Path | None = None,
    progress: bool | Callable[[float], None] = False,
    assemble: bool | str = True,
    description: str = "",
    **options: Any,
) -> Trajectory:
    """Simulate a mechanism and return what happened.

    start: s. Give either duration, s, or times to record at, s, increasing, the last of which ends the run.
    state: go on from here, say `run.at(t)`, not from the mechanism's initial configuration. Drives that count
        from the start count from this state; all else that is taken from that configuration stays as it was.
    formulation: a name. method: one of integrate.methods.METHODS. "auto" chooses and gives its reasons in
        `statistics["choice"]`: rk4 for a step without a tolerance; else adams, and bdf where it proves stiff.
    step: s; of fixed-step methods, by default 1e-3; the others take it as their first step.
    output_step: s between recorded frames; by default about 1000 frames, at steps of the method.
    tolerance (or rtol and atol), max_step, max_order: of adaptive methods, by default 1e-8 (auto: 1e-9) and
        no limit. rtol and atol may be given for "translation", "rotation", "velocity", "angular_velocity".
    events: to find and record (`Trajectory.events`), of adaptive methods; a terminal one ends the run.
    controllers: functions that are called at multiples of a period and set inputs; see `Controller`.
    reactions, accelerations: whether to record what joints and forces exert, and body accelerations.
    path: HDF5 file to record into while it runs. description: text to keep instead of the mechanism's own.
    progress: True for a bar on the terminal, or a function of the fraction done. options: of the formulation.
    assemble: mend the initial state first (for this run, not in the mechanism); else it is projected only.
        "constraint_forces": the bodies come together in the run itself, under the applied forces and those of
        the constraints, as `bc.assemble` says; once closed, at `statistics["closed_at"]` (s), the formulation
        takes over. Before that there are no reactions and efforts (not a number).

    Ctrl-C ends the run and returns what there is, with the status "interrupted". Raises MechanismError for
    what is wrong with the mechanism or the arguments, Unsupported for names that do not exist, AssemblyError
    if it cannot start, SimulationError, with its `trajectory` up to then, if it or a controller breaks down.
    """
    arguments = {**locals(), **options}
    del arguments["options"]
    if times is None and duration is None:
        faults = FaultList()
        with faults.collect():
            check_request(formulation, options, _ARGUMENTS)
        faults.add("simulate", "it needs a duration, or times", None, "such as duration=1.0")
        faults.raise_any()
    return _start(**arguments).complete()


def start(
    mechanism: Mechanism | Model,
    duration: float | None = None,
    *,
    times: Any = None,
    start: float = 0.0,
    state: State | None = None,
    formulation: str = "auto",
    method: str = "auto",
    step: float | None = None,
    output_step: float | None = None,
    tolerance: float | None = None,
    rtol: float | Mapping[str, float] | None = None,
    atol: float | Mapping[str, float] | None = None,
    max_step: float | None = None,
    max_order: int | None = None,
    events: Event | Iterable[Event] = (),
    controllers: Controller | Iterable[Controller] = (),
    reactions: bool = True,
    accelerations: bool = False,
    path: str | Path | None = None,
    progress: bool | Callable[[float], None] = False,
    assemble: bool | str = True,
    description: str = "",
    **options: Any,
) -> Run:
    """A run that stands at its start and goes on as far as it is told to.

    The arguments are those of `simulate`, but neither a duration nor times are needed: then the end is open,
    and a frame is recorded at the end of each `Run.advance`, or every output_step. progress needs a duration,
    or times. Going through time in parts keeps the history of the method from one to the next. Raises what
    `simulate` raises where it cannot start.
    """
    _check_things(reactions, accelerations, path, progress, description, state)
    begin = start if state is None else state.time
    given = (step, max_step, tolerance, rtol, atol, max_order)
    steering = Steering(checked_controllers(controllers))
    planned = _plan((formulation, options), method, (duration, begin, output_step, times), given)
    if planned[0] is None and progress is not False:
        with Check("start") as check:
            check.fault("progress is a part of a duration, which is missing", None, "give duration=")
    plan = Plan(begin, *planned, formulation, options, reactions, accelerations, output_step)
    model = _described(mechanism, start)
    watched = _watched(events, model, plan.method)
    return Run(model, plan, assemble, state, watched, path, description, progress, steering)


_start = start  # which arguments are called as well


def _check_things(
    reactions: Any,
    accelerations: Any,
    path: Any,
    progress: Any,
    description: Any,
    state: Any,
) -> None:
    """Raise MechanismError for arguments that are of another class than they must be."""
    with Check("simulate") as check:
        check.flag("reactions", reactions)
        check.flag("accelerations", accelerations)
        check.instance("description", description, str)
        if state is not None:
            check.instance("state", state, State)
        with check.faults.collect():
            required_progress("simulate", progress)
        with check.faults.collect():
            if path is not None:
                required_path("simulate, path", path)


def _watched(events: Event | Iterable[Event], model: Model, chosen: MethodOptions) -> CompiledEvents:
    """The events for the core. Raises MechanismError for a method that cannot find them."""
    compiled = compiled_events(events, model)
    if compiled.names and not chosen.method.adaptive:
        rule = f"method {chosen.method.name!r} knows nothing of what lies between its steps"
        raise MechanismError(
            Fault("events", rule, compiled.names[0], "use method='dopri5', 'adams' or 'bdf'")
        )
    return compiled


def _described(mechanism: Mechanism | Model, start: float) -> Model:
    """The model in its initial configuration at a time."""
    model = mechanism if isinstance(mechanism, Model) else compile_mechanism(mechanism, start)
    if model.initial.time != start:
        model = model.starting(model.initial.at_time(start), model.given)
    return model


def _plan(
    formulation: tuple[str, dict[str, Any]],
    method: str,
    span: tuple[Any, Any, Any, Any],
    given: tuple[Any, ...],
) -> tuple[Floats | None, MethodOptions]:
    """The times to record and the options of the method, all arguments checked."""
    faults, found = FaultList(), None
    with faults.collect():
        check_request(*formulation, _ARGUMENTS)
    with faults.collect():
        found = _times_and_method(method, *span, given)
    faults.raise_any()
    assert found is not None
    return found


def _times_and_method(
    method: str,
    duration: Any,
    begin: Any,
    output_step: Any,
    times: Any,
    given: tuple[Any, ...],
) -> tuple[Floats | None, MethodOptions]:
    find_method(method)
    with Check("simulate") as check:
        begin = check.number("start", begin, "s")
        recorded = None if times is None else _checked_times(check, times, begin)
        if recorded is not None:
            for name, value in (("duration", duration), ("output_step", output_step)):
                if value is not None:
                    check.fault(f"times tell it, so {name} has no meaning", value, "leave one of them out")
            duration = max(float(recorded[-1]) - begin, 0.0) or 1.0
        else:
            if duration is not None:
                duration = check.positive("duration", duration, "s")
            if output_step is not None:
                output_step = check.positive("output_step", output_step, "s")
    if duration is None:
        return None, method_options(method, np.inf, *given)
    chosen = method_options(method, duration, *given)
    with Check("simulate") as check:
        apart = output_step if recorded is None or len(recorded) == 1 else float(np.diff(recorded).min())
        steps = {"step": chosen.step or None, "max_step": chosen.max_step or None}
        check_resolved(check, begin, duration, output_step=apart, **steps)
    return output_times(begin, duration, output_step, chosen) if recorded is None else recorded, chosen


def _checked_times(check: Check, times: Any, begin: float) -> Floats:
    """Times (n,) to record, increasing from the beginning of the run or later."""
    recorded: Floats = check.array("times", times, (None,), "s")
    if len(check.faults) == 0:
        steps = np.diff(recorded)
        if np.any(steps <= 0.0):
            at = int(np.argmax(steps <= 0.0))
            check.fault("times must increase", recorded[at : at + 2].tolist(), "sort them, drop doubles")
        elif recorded[0] < begin:
            check.fault(f"times must not lie before the start at {begin:g} s", float(recorded[0]))
        elif recorded[-1] <= begin:
            check.fault(f"times must go beyond the start at {begin:g} s", float(recorded[-1]))
    return recorded


_ARGUMENTS = tuple(inspect.signature(simulate).parameters)[1:-1]
