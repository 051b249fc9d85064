"""`simulate` and `start`: mechanism + formulation + method -> Trajectory."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, Literal, TypedDict, Unpack

import numpy as np

from bellcrank.compile.model import Model
from bellcrank.compile.standing import refuse_changes
from bellcrank.compile.state import State
from bellcrank.errors import Fault, FaultList, MechanismError, Unsupported
from bellcrank.formulations.contract import FormulationOptions
from bellcrank.formulations.preparing import check_request
from bellcrank.mechanism.checking import Check, nearest, required_path, required_progress
from bellcrank.mechanism.contents import required_mechanism
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.overloads import overload
from bellcrank.run import adaptive, quasistatic
from bellcrank.run.adaptive import MEASURES, AdaptiveRun, Limits
from bellcrank.run.changing import refuse_names_twice
from bellcrank.run.controllers import Controller, HeldInputs, Steering, checked_controllers
from bellcrank.run.events import Event, checked_events, compiled
from bellcrank.run.lifting import lift_events
from bellcrank.run.plan import Plan, times_and_method
from bellcrank.run.quasistatic import QuasistaticRun
from bellcrank.run.run import Run
from bellcrank.run.start import PROJECTION, described
from bellcrank.slips import answered
from bellcrank.trajectory.moves import MoveTrajectory
from bellcrank.trajectory.trajectory import Trajectory

Assemble = bool | Literal["projection", "constraint_forces"]


class QuasistaticArguments(TypedDict, total=False):
    """The arguments of a quasi-static run, other than a duration."""

    start: float
    formulation: str
    step: float | None
    output_step: float | None
    max_error: float | None
    measure: str | None
    assemble: bool
    left_out: Literal["refuse", "allow"]
    path: str | Path | None
    description: str


class AdaptiveArguments(TypedDict, total=False):
    """The arguments of an adaptive run, other than a duration."""

    start: float
    state: State | None
    method: str
    step: float | None
    output_step: float | None
    max_error: float | None
    measure: str | None
    max_loss: float | None
    max_joints: int | None
    max_error_of: Mapping[str, float] | None
    controllers: Controller | HeldInputs | Iterable[Controller | HeldInputs]
    inputs: Mapping[str, float] | None
    assemble: bool
    left_out: Literal["refuse", "allow"]
    path: str | Path | None
    progress: bool | Callable[[float], None]
    description: str


class DynamicArguments(FormulationOptions, total=False):
    """The arguments of a dynamic run, other than a duration."""

    times: Sequence[float] | np.ndarray[Any, Any] | None
    start: float
    state: State | None
    formulation: str
    method: str
    step: float | None
    output_step: float | None
    tolerance: float | None
    rtol: float | Mapping[str, float] | None
    atol: float | Mapping[str, float] | None
    max_step: float | None
    max_order: int | None
    events: Event | Iterable[Event]
    controllers: Controller | HeldInputs | Iterable[Controller | HeldInputs]
    inputs: Mapping[str, float] | None
    reactions: bool
    accelerations: bool
    ledger: bool
    path: str | Path | None
    progress: bool | Callable[[float], None]
    assemble: Assemble
    left_out: Literal["refuse", "allow"]
    description: str


@overload
def simulate(
    mechanism: Mechanism | Model,
    duration: float | None = None,
    *,
    mode: Literal["quasistatic"],
    rule: Literal["lock"],
    **arguments: Unpack[QuasistaticArguments],
) -> MoveTrajectory: ...


@overload
def simulate(
    mechanism: Mechanism | Model,
    duration: float | None = None,
    *,
    mode: Literal["quasistatic"],
    rule: Literal["leave"] | None = None,
    **arguments: Unpack[QuasistaticArguments],
) -> MoveTrajectory: ...


@overload
def simulate(  # type: ignore[overload-overlap]
    mechanism: Mechanism | Model,
    duration: float | None = None,
    *,
    formulation: Literal["adaptive"],
    mode: Literal["dynamic"] = "dynamic",
    **arguments: Unpack[AdaptiveArguments],
) -> MoveTrajectory: ...


@overload
def simulate(
    mechanism: Mechanism | Model,
    duration: float | None = None,
    *,
    mode: Literal["dynamic"] = "dynamic",
    **arguments: Unpack[DynamicArguments],
) -> Trajectory: ...


@answered
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
    controllers: Controller | HeldInputs | Iterable[Controller | HeldInputs] = (),
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
    max_loss: float | None = None,
    max_joints: int | None = None,
    max_error_of: Mapping[str, float] | None = None,
    rule: str | None = None,
    **options: Any,
) -> Any:
    """Simulate a mechanism and return its Trajectory.

    start: s. Give either duration, s, or the times to record, s, increasing; the last one ends the run.
    state: start from here, say `run.at(t)`, instead of the mechanism's initial configuration. Drives that
        count from the start count from this state; all else taken from that configuration is unchanged. What
        does not depend on time or inputs must hold there, or it is refused; see `assemble`.
    formulation: a name. method: one of run.plan.METHODS. "auto" chooses and gives its reasons in
        `statistics["choice"]`: rk4 for a step without a tolerance; else adams; once stiff, bdf or esdirk.
    step: s; the step of fixed-step methods, 1e-3 by default; other methods take it as their first step.
    output_step: s between recorded frames; by default about 1000 frames, at steps of the method.
    tolerance (or rtol and atol, also by "translation", "rotation", "velocity", "angular_velocity"), max_step,
        max_order: for adaptive methods, by default 1e-8 (auto: 1e-9), no limit. For `moreau`: of impulses.
    events: to find and record (`Trajectory.events`), adaptive methods only; a terminal one ends the run.
    controllers: functions called at multiples of a period that set inputs, see `Controller`; or `HeldInputs`.
    inputs: initial values by name, in place of those they were made with; bodies are moved to match.
    reactions, accelerations, ledger: whether to record joint and force loads, accelerations, work.
    path: HDF5 file to record into during the run. description: text to store in place of the mechanism's.
    progress: True for a bar on the terminal, or a function of the fraction done. options: of the formulation.
    assemble: correct the initial configuration first (for this run, not in the mechanism); else only project
        it. "projection": project a given state as well, which moves bodies to where its constraints hold.
        "constraint_forces": the bodies come together during the run, as `bc.assemble` describes; from
        `statistics["closed_at"]` (s) on, the formulation takes over; until then, reactions are NaN.
    left_out: "allow" runs a mechanism without what moves or weighs in its file (`Mechanism.left_out`).
    mode: "quasistatic" for steps from rest, see `QuasistaticRun`; returns a `MoveTrajectory`. rule: what
        joints do that matter little: "leave", no motion (default, as published); "lock", they are rigid, and
        the others react to that: bodies come several times nearer to where they should, see `AdaptiveRun`.
    max_error, measure: of quasi-static and adaptive runs. formulation="adaptive" moves few joints of a tree,
        see `AdaptiveRun`, by method "rk4" or "symplectic"; its error is measured by "rms_relative" (default)
        or "rms", m/s^2. max_loss: kinetic energy that locking joints may take, W, by default 1 % of it per
        second. max_joints: the most that are free, whatever the error. max_error_of: largest errors of the
        accelerations of single points, m/s^2, by body or marker ("body.name"). Returns a `MoveTrajectory`.
        With formulation="auto", max_error admits such an error: large trees are run adaptively.

    Ctrl-C returns what was computed, "interrupted". Raises MechanismError for wrong arguments, Unsupported
    for unknown names, AssemblyError if it cannot start, SimulationError, with its `trajectory`, if it fails.

    >>> run = bc.simulate(pendulum, duration=2.0)
    >>> speed = abs(run.joint("hinge").velocity[:, 0]).max()
    >>> print(f"{speed:.3f} rad/s at the bottom, by energy {np.sqrt(3 * 9.81 / 1.0):.3f} rad/s")
    5.425 rad/s at the bottom, by energy 5.425 rad/s
    """
    given = {**locals()}
    del given["options"]
    if times is None and duration is None:
        faults = FaultList()
        with faults.collect():
            check_request(formulation, options, _ARGUMENTS)
        with faults.collect():
            if not isinstance(mechanism, Model):
                required_mechanism("simulate", mechanism)
        faults.add("simulate", "it needs a duration, or times", None, "such as duration=1.0")
        faults.raise_any()
    return _started(given, options).complete()


_DEFAULTS: Final = {name: item.default for name, item in inspect.signature(simulate).parameters.items()}
_ARGUMENTS: Final = tuple(_DEFAULTS)[1:-1]  # without the mechanism and the options
_OF_LINKAGES: Final = {
    **dict.fromkeys(("max_error", "measure"), "formulation='adaptive' or mode='quasistatic'"),
    **dict.fromkeys(("max_loss", "max_joints", "max_error_of"), "formulation='adaptive'"),
    "rule": "mode='quasistatic'",
}
_OF_ADAPTIVE: Final = frozenset(("formulation", *AdaptiveArguments.__annotations__))
_OF_METHODS: Final = ("step", "max_step", "tolerance", "rtol", "atol", "max_order")


@overload
def start(
    mechanism: Mechanism | Model,
    duration: float | None = None,
    *,
    mode: Literal["quasistatic"],
    rule: Literal["lock"],
    **arguments: Unpack[QuasistaticArguments],
) -> AdaptiveRun: ...


@overload
def start(
    mechanism: Mechanism | Model,
    duration: float | None = None,
    *,
    mode: Literal["quasistatic"],
    rule: Literal["leave"] | None = None,
    **arguments: Unpack[QuasistaticArguments],
) -> QuasistaticRun: ...


@overload
def start(  # type: ignore[overload-overlap]
    mechanism: Mechanism | Model,
    duration: float | None = None,
    *,
    formulation: Literal["adaptive"],
    mode: Literal["dynamic"] = "dynamic",
    **arguments: Unpack[AdaptiveArguments],
) -> AdaptiveRun: ...


@overload
def start(
    mechanism: Mechanism | Model,
    duration: float | None = None,
    *,
    mode: Literal["dynamic"] = "dynamic",
    **arguments: Unpack[DynamicArguments],
) -> Run: ...


@answered
def start(mechanism: Mechanism | Model, duration: float | None = None, **arguments: Any) -> Any:
    """Prepare a run at its start, to be advanced in parts.

    The arguments are those of `simulate`. Without a duration or times the end is open, and a frame is
    recorded at the end of each `Run.advance`, or every output_step. progress needs a duration or times. The
    method keeps its history from part to part. Raises the errors of `simulate` if the run cannot start.

    >>> run = bc.start(block)
    >>> run.advance(0.5)
    >>> print(f"{run.state.velocity[0, 2]:.4f} m/s")    # -g t
    -4.9050 m/s
    >>> run.advance(0.5)
    >>> run.stop()
    <Trajectory of 'block': 3 frames, t = 0 to 1 s, finished>
    """
    given = {name: arguments.pop(name, _DEFAULTS[name]) for name in _ARGUMENTS}
    return _started({**given, "mechanism": mechanism, "duration": duration}, arguments)


def start_with_tape(mechanism: Mechanism, duration: float | None, **arguments: Any) -> Run:
    """A run as `start` prepares it, which can be followed along directions once it has ended.

    Raises Unsupported for quasi-static and adaptive runs, and what `start` raises.
    """
    if arguments.get("mode", "dynamic") != "dynamic":
        raise Unsupported("derivatives of quasi-static runs are not implemented: leave out mode=")
    if arguments.get("formulation") == "adaptive":
        raise Unsupported("derivatives of adaptive runs are not implemented: take formulation='recursive'")
    given = {name: arguments.pop(name, _DEFAULTS[name]) for name in _ARGUMENTS}
    run = _started({**given, "mechanism": mechanism, "duration": duration}, arguments, keeps_tape=True)
    assert isinstance(run, Run)
    return run


def start_unrecorded(mechanism: Mechanism | Model, **arguments: Any) -> AdaptiveRun:
    """An adaptive run of open end that records its first frame alone, for who follows its moves.

    arguments: as of `start`. Raises what `start` raises.
    """
    given = {name: arguments.pop(name, _DEFAULTS[name]) for name in _ARGUMENTS}
    run = _started(
        {**given, "mechanism": mechanism, "duration": None, "formulation": "adaptive"},
        arguments,
        records=False,
    )
    assert isinstance(run, AdaptiveRun)
    return run


_RUN: Final = "Run | AdaptiveRun | QuasistaticRun"
start.__signature__ = inspect.signature(simulate).replace(return_annotation=_RUN)  # type: ignore[attr-defined]


def _started(
    given: dict[str, Any], options: dict[str, Any], keeps_tape: bool = False, records: bool = True
) -> Run | AdaptiveRun | QuasistaticRun:
    """A run at its start. given: the arguments of `simulate`, by name. options: of the formulation."""
    with Check("simulate") as check:  # times may be texts such as "2 s"
        times = {name: given[name] for name in ("start", "output_step") if isinstance(given[name], str)}
        given |= {name: check.number(name, value, "s") for name, value in times.items()}
    a = SimpleNamespace(**given)
    if not isinstance(a.mechanism, Model):
        required_mechanism("simulate", a.mechanism)
    if a.mode != "dynamic":
        _refuse_quasistatic({**given, **options})
        _check_classes(a)
        model = described(a.mechanism, a.start, a.left_out)
        refuse_changes(model.source, "quasi-static runs")
        return quasistatic.begun(model, given)
    choice = ""
    if a.formulation == "auto" and a.max_error is not None:
        given, choice = _admitting(given, options)
        a = SimpleNamespace(**given)
    if a.formulation == "adaptive":
        _refuse_others(FaultList(), {**given, **options}, _OF_ADAPTIVE, "an adaptive run")
        _check_classes(a)
        model = described(a.mechanism, a.start, a.left_out, a.state)
        refuse_changes(model.source, "adaptive runs")
        return adaptive.begun(model, given, records, choice)
    for name, of in _OF_LINKAGES.items():
        if given[name] is not None:
            raise MechanismError(Fault("simulate", f"{name} is a part of {of}", given[name]))
    _check_classes(a)
    values = _checked_inputs(a.inputs, a.assemble)
    steering = Steering(checked_controllers(a.controllers), values, measures=not keeps_tape)
    plan = replace(_planned(a, {name: given[name] for name in _OF_METHODS}, options), keeps_tape=keeps_tape)
    if plan.times is None and a.progress is not False:
        rule, advice = "progress is a part of a duration, which is missing", "give duration="
        raise MechanismError(Fault("start", rule, None, advice))
    model = described(a.mechanism, a.start, a.left_out, a.state)
    events, method = checked_events(a.events), plan.method.method
    refuse_names_twice(events, model)
    if not model.source or not model.source.changes:
        compiled(events, (), model)
    if keeps_tape:
        refuse_changes(model.source, "derivatives of runs")
    if events and not method.adaptive:
        rule = f"method {method.name!r} cannot find what lies between its steps"
        advice = "use method='dopri5', 'adams', 'bdf' or 'esdirk'"
        raise MechanismError(Fault("events", rule, events[0].name, advice))
    if not keeps_tape:
        events = [*events, *lift_events(model.source)]
    return Run(model, plan, a.assemble, a.state, events, a.path, a.description, a.progress, steering)


def _admitting(given: dict[str, Any], options: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """The arguments of a run of formulation "auto" that admits an error, and why it is adaptive.

    Where exact equations are faster, or arguments have no meaning in an adaptive run, these are taken.
    """
    a = SimpleNamespace(**given)
    with Check("simulate") as check:
        Limits.of(check, a.max_error, a.max_loss, a.max_joints)
        if a.measure is not None:
            check.choice("measure", a.measure, MEASURES)
    _check_classes(a)
    model = described(a.mechanism, a.start, a.left_out, a.state)
    others = [
        *options,
        *(name for name in set(given) - _OF_ADAPTIVE if given[name] is not _DEFAULTS.get(name)),
    ]
    if not set(others) - {"mechanism", "duration", "mode"}:
        wins, why = adaptive.preferred(model, given)
        if wins:
            return {**given, "mechanism": model, "formulation": "adaptive"}, why
    exact = dict.fromkeys((name for name in _OF_LINKAGES if name != "rule"), None)
    return {**given, "mechanism": model, **exact}, ""


def _refuse_quasistatic(arguments: Mapping[str, Any]) -> None:
    """Raise MechanismError for arguments that have no meaning in quasi-static runs."""
    faults = FaultList()
    if arguments["mode"] != "quasistatic":
        faults.add("simulate", "mode must be 'dynamic' or 'quasistatic'", arguments["mode"])
    if arguments["formulation"] not in ("auto", "adaptive"):
        rule = "quasi-static runs have formulation 'adaptive'"
        faults.add("simulate", rule, arguments["formulation"], "leave it out")
    taken = {"state", "rule", *QuasistaticArguments.__annotations__}
    _refuse_others(faults, arguments, taken, "a quasi-static run")


def _refuse_others(faults: FaultList, arguments: Mapping[str, Any], taken: Iterable[str], run: str) -> None:
    """Raise MechanismError with these faults and those of arguments that have no meaning in a kind of run."""
    taken = {"mechanism", "duration", "mode", *taken}
    for name, value in arguments.items():
        if name not in taken and (name not in _DEFAULTS or value is not _DEFAULTS[name]):
            advice = "leave it out" if name in _DEFAULTS else nearest(name, taken)
            faults.add("simulate", f"{name} has no meaning in {run}", value, advice)
    faults.raise_any()


def _check_classes(a: SimpleNamespace) -> None:
    """Raise MechanismError for arguments of the wrong class."""
    with Check("simulate") as check:
        for name in ("reactions", "accelerations", "ledger"):
            check.flag(name, getattr(a, name))
        check.instance("description", a.description, str)
        if a.state is not None:
            check.instance("state", a.state, State)
        with check.faults.collect():
            required_progress("simulate", a.progress)
        with check.faults.collect():
            if a.path is not None:
                required_path("simulate, path", a.path)


def _checked_inputs(inputs: Any, assemble: bool | str) -> Mapping[str, float]:
    """Initial values of inputs, by name. Raises MechanismError where they are impossible."""
    with Check("simulate") as check:
        check.instance("inputs", {} if inputs is None else inputs, Mapping)
        if inputs and isinstance(assemble, str) and assemble != PROJECTION:
            rule = "while constraint forces close a mechanism no input can be set"
            check.fault(rule, dict(inputs), "set them once it is closed, or leave out assemble=")
    return inputs or {}


def _planned(a: SimpleNamespace, of_method: Mapping[str, Any], options: dict[str, Any]) -> Plan:
    """The plan of a run. Raises MechanismError with the faults of its formulation, method and times."""
    faults, found = FaultList(), None
    begin = a.start if a.state is None else a.state.time
    with faults.collect():
        check_request(a.formulation, options, _ARGUMENTS)
    with faults.collect():
        found = times_and_method(a.method, a.duration, begin, a.output_step, a.times, of_method)
    faults.raise_any()
    assert found is not None
    recorded = (a.reactions, a.accelerations, a.output_step, a.ledger)
    return Plan(begin, *found, a.formulation, options, *recorded)
