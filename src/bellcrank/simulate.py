"""The facade: mechanism + formulation + method -> Trajectory."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, Unpack

from bellcrank.compile.model import Model
from bellcrank.compile.state import Floats, State
from bellcrank.errors import Fault, FaultList, MechanismError, Unsupported
from bellcrank.formulations.preparing import check_request
from bellcrank.integrate.events import CompiledEvents, Event, compiled_events
from bellcrank.integrate.methods import MethodOptions
from bellcrank.mechanism.checking import Check, required_path, required_progress
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.overloads import overload
from bellcrank.run.arguments import DynamicArguments, QuasistaticArguments
from bellcrank.run.controllers import Controller, checked_controllers
from bellcrank.run.described import described
from bellcrank.run.opening import PROJECTION
from bellcrank.run.plan import Plan
from bellcrank.run.quasistatic import QuasistaticRun, begun, refuse_arguments
from bellcrank.run.run import Run
from bellcrank.run.span import times_and_method
from bellcrank.run.steering import Steering
from bellcrank.trajectory.moves import MoveTrajectory
from bellcrank.trajectory.trajectory import Trajectory


@overload
def simulate(
    mechanism: Mechanism | Model,
    duration: float | None = None,
    *,
    mode: Literal["quasistatic"],
    **arguments: Unpack[QuasistaticArguments],
) -> MoveTrajectory: ...


@overload
def simulate(
    mechanism: Mechanism | Model,
    duration: float | None = None,
    *,
    mode: Literal["dynamic"] = "dynamic",
    **arguments: Unpack[DynamicArguments],
) -> Trajectory: ...


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
    inputs: Mapping[str, float] | None = None,
    reactions: bool = True,
    accelerations: bool = False,
    ledger: bool = False,
    path: str | Path | None = None,
    progress: bool | Callable[[float], None] = False,
    assemble: bool | str = True,
    left_out: str = "refuse",
    description: str = "",
    mode: str = "dynamic",
    max_error: float | None = None,
    measure: str | None = None,
    **options: Any,
) -> Any:
    """Simulate a mechanism and return its Trajectory.

    start: s. Give either duration, s, or the times to record, s, increasing; the last one ends the run.
    state: start from here, say `run.at(t)`, instead of the mechanism's initial configuration. Drives that
        count from the start count from this state; all else taken from that configuration is unchanged. What
        does not depend on time or inputs must hold there, or it is refused; see `assemble`.
    formulation: a name. method: one of integrate.methods.METHODS. "auto" chooses and gives its reasons in
        `statistics["choice"]`: rk4 for a step without a tolerance; else adams, and bdf once it proves stiff.
    step: s; the step of fixed-step methods, 1e-3 by default; other methods take it as their first step.
    output_step: s between recorded frames; by default about 1000 frames, at steps of the method.
    tolerance (or rtol and atol, also by "translation", "rotation", "velocity", "angular_velocity"), max_step,
        max_order: for adaptive methods, by default 1e-8 (auto: 1e-9), no limit. For `moreau`: of impulses.
    events: to find and record (`Trajectory.events`), adaptive methods only; a terminal one ends the run.
    controllers: functions called at multiples of a period that set inputs; see `Controller`.
    inputs: initial values by name, in place of those they were made with; bodies are moved to match.
    reactions, accelerations, ledger: whether to record joint and force loads, accelerations, work.
    path: HDF5 file to record into during the run. description: text to store in place of the mechanism's.
    progress: True for a bar on the terminal, or a function of the fraction done. options: of the formulation.
    assemble: correct the initial configuration first (for this run, not in the mechanism); else only project
        it. "projection": project a given state as well, which moves bodies to where its constraints hold.
        "constraint_forces": the bodies come together during the run, as `bc.assemble` describes; from
        `statistics["closed_at"]` (s) on, the formulation takes over; until then, reactions are NaN.
    left_out: "allow" runs a mechanism without what moves or weighs in its file (`Mechanism.left_out`).
    mode, max_error, measure: "quasistatic" for steps from rest, see `QuasistaticRun`; a `MoveTrajectory`.

    Ctrl-C returns what was computed, "interrupted". Raises MechanismError for wrong arguments, Unsupported
    for unknown names, AssemblyError if it cannot start, SimulationError, with its `trajectory`, if it fails.
    """
    arguments = {name: value for name, value in locals().items() if name != "options"} | options
    if times is None and duration is None:
        _refuse_endless(formulation, options)
    return _start(**arguments).complete()


def _refuse_endless(formulation: str, options: dict[str, Any]) -> None:
    """Refuse a simulation without an end, and report all other faults of the request."""
    faults = FaultList()
    with faults.collect():
        check_request(formulation, options, _ARGUMENTS)
    faults.add("simulate", "it needs a duration, or times", None, "such as duration=1.0")
    faults.raise_any()


@overload
def start(
    mechanism: Mechanism | Model,
    duration: float | None = None,
    *,
    mode: Literal["quasistatic"],
    **arguments: Unpack[QuasistaticArguments],
) -> QuasistaticRun: ...


@overload
def start(
    mechanism: Mechanism | Model,
    duration: float | None = None,
    *,
    mode: Literal["dynamic"] = "dynamic",
    **arguments: Unpack[DynamicArguments],
) -> Run: ...


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
    inputs: Mapping[str, float] | None = None,
    reactions: bool = True,
    accelerations: bool = False,
    ledger: bool = False,
    path: str | Path | None = None,
    progress: bool | Callable[[float], None] = False,
    assemble: bool | str = True,
    left_out: str = "refuse",
    description: str = "",
    mode: str = "dynamic",
    max_error: float | None = None,
    measure: str | None = None,
    **options: Any,
) -> Any:
    """Prepare a run at its start, to be advanced in parts.

    The arguments are those of `simulate`. Without a duration or times the end is open, and a frame is
    recorded at the end of each `Run.advance`, or every output_step. progress needs a duration or times. The
    method keeps its history from part to part. Raises the errors of `simulate` if the run cannot start.
    """
    start, output_step = _seconds(start=start, output_step=output_step)
    if mode != "dynamic":
        return _quasistatic({**locals(), **options})
    if formulation == "adaptive":
        raise Unsupported(
            "formulation 'adaptive' computes quasi-statics, in which nothing has a velocity: give "
            "mode='quasistatic', or take formulation='recursive' for a motion with velocities"
        )
    for name, value in (("max_error", max_error), ("measure", measure)):
        if value is not None:
            raise MechanismError(Fault("simulate", f"{name} is a part of mode='quasistatic'", value))
    _check_things(reactions, accelerations, ledger, path, progress, description, state)
    begin = start if state is None else state.time
    given = (step, max_step, tolerance, rtol, atol, max_order)
    steering = Steering(checked_controllers(controllers), _checked_inputs(inputs, assemble))
    planned = _plan((formulation, options), method, (duration, begin, output_step, times), given)
    if planned[0] is None and progress is not False:
        with Check("start") as check:
            check.fault("progress is a part of a duration, which is missing", None, "give duration=")
    plan = Plan(begin, *planned, formulation, options, reactions, accelerations, output_step, ledger)
    model = described(mechanism, start, left_out)
    watched = _watched(events, model, plan.method)
    return Run(model, plan, assemble, state, watched, path, description, progress, steering)


def _seconds(**times: Any) -> Iterable[Any]:
    """Times as numbers; they may be given as texts such as "2 s"."""
    with Check("simulate") as check:
        return [check.number(n, v, "s") if isinstance(v, str) else v for n, v in times.items()]


def _quasistatic(arguments: dict[str, Any]) -> QuasistaticRun:
    """A quasi-static run. Raises MechanismError for arguments that have no meaning in it."""
    defaults = {name: item.default for name, item in inspect.signature(start).parameters.items()}
    refuse_arguments(arguments, defaults)
    _check_things(True, False, False, arguments["path"], False, arguments["description"], arguments["state"])
    return begun(described(*(arguments[name] for name in ("mechanism", "start", "left_out"))), arguments)


_start = start  # which arguments are called as well


def _check_things(
    reactions: Any,
    accelerations: Any,
    ledger: Any,
    path: Any,
    progress: Any,
    description: Any,
    state: Any,
) -> None:
    """Raise MechanismError for arguments of the wrong class."""
    with Check("simulate") as check:
        check.flag("reactions", reactions)
        check.flag("accelerations", accelerations)
        check.flag("ledger", ledger)
        check.instance("description", description, str)
        if state is not None:
            check.instance("state", state, State)
        with check.faults.collect():
            required_progress("simulate", progress)
        with check.faults.collect():
            if path is not None:
                required_path("simulate, path", path)


def _checked_inputs(inputs: Any, assemble: bool | str) -> Mapping[str, float]:
    """Initial values of inputs, by name. Raises MechanismError where they are impossible."""
    with Check("simulate") as check:
        check.instance("inputs", {} if inputs is None else inputs, Mapping)
        if inputs and isinstance(assemble, str) and assemble != PROJECTION:
            rule = "while constraint forces close a mechanism no input can be set"
            check.fault(rule, dict(inputs), "set them once it is closed, or leave out assemble=")
    return inputs or {}


def _watched(events: Event | Iterable[Event], model: Model, chosen: MethodOptions) -> CompiledEvents:
    """The events for the core. Raises MechanismError for a method that cannot find them."""
    compiled = compiled_events(events, model)
    if compiled.names and not chosen.method.adaptive:
        rule = f"method {chosen.method.name!r} cannot find what lies between its steps"
        raise MechanismError(
            Fault("events", rule, compiled.names[0], "use method='dopri5', 'adams' or 'bdf'")
        )
    return compiled


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
        found = times_and_method(method, *span, given)
    faults.raise_any()
    assert found is not None
    return found


_ARGUMENTS = tuple(inspect.signature(simulate).parameters)[1:-1]
