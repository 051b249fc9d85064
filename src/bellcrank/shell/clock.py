"""Commands on time: step, run, reset, the clock, accuracy, formulation, method."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from bellcrank.errors import Fault, MechanismError
from bellcrank.formulations.preparing import FORMULATIONS, check_request, takes_names
from bellcrank.io.node import resolved
from bellcrank.mechanism.checking import Check
from bellcrank.run.adaptive import MEASURES, Limits
from bellcrank.run.plan import METHODS, find_method, method_options
from bellcrank.shell.adaptive_runs import split
from bellcrank.shell.language import Argument, Command, Given, Option, Reply
from bellcrank.shell.parsing import plain_fields
from bellcrank.shell.pictures import drawn
from bellcrank.shell.session import Session

if TYPE_CHECKING:
    from bellcrank.trajectory.trajectory import Trajectory

GROUP: Final = "Simulation"
_RECORDED = ("reactions", "accelerations", "ledger", "assemble", "left_out")
_LONGEST = 1e6  # steps of one command
_METHOD = {"step": float, "max_step": float, "max_order": int}


def _seconds(name: str, optional: bool = False) -> Argument:
    return Argument(name, "number", unit="s", optional=optional)


def _step(session: Session, given: Given) -> Reply:
    count, size = given["count"], session.now.settings.stepsize
    if count > _LONGEST:
        raise MechanismError(Fault("step", f"at most {_LONGEST:g} steps are taken at a time", count))
    run = session.run(count * size, size, **plain_fields(given.fields, ("assemble", "left_out"), "step"))
    return _reply(run, drawn(session, run))


def _run(session: Session, given: Given) -> Reply:
    duration = given.get("duration")
    if duration is None:
        duration = session.now.simulation.duration
    if duration is None:
        raise MechanismError(Fault("run", "the duration is missing", None, "such as run 2.5"))
    options = plain_fields(given.fields, (*_RECORDED, "output_step"), "run")
    output = options.pop("output_step", None)
    return _reply(session.run(duration, output, **options))


def _reply(run: Trajectory, frames: dict[str, Any] | None = None) -> Reply:
    frames = dict(frames or {})
    text = "\n".join([*frames.pop("lines", ()), *([run.status.message] if run.status.message else [])])
    steps = run.statistics.get("steps")
    data = {"time": float(run.time[-1]), "frames": len(run), "steps": steps, "status": str(run.status)}
    last = f"t = {run.time[-1]:.6g} s"
    balance = str(run.energy_balance()) if run.layout.works else ""
    return Reply("\n".join(filter(None, (text, last, balance))), {**data, **frames})


def _read_time(session: Session, given: Given) -> Reply:  # noqa: ARG001
    return Reply(f"{session.now.time:.9g} s", {"time": session.now.time})


def _set_time(session: Session, given: Given) -> Reply:
    live, time = session.now.live, given["time"]
    if live is None:
        session.set(start=time, history=())
    else:
        session.set(live=live.at_time(time), history=())
    return Reply(data={"time": time})


def _settings(session: Session, **changes: Any) -> None:
    session.set(settings=replace(session.now.settings, **changes))


def _accuracy(session: Session, given: Given) -> Reply:
    for word, name in (("-r", "rtol"), ("-a", "atol")):
        if (value := given.option(word)) is not None:
            if value <= 0.0:
                raise MechanismError(Fault(f"sacc {word}", "the accuracy must be greater than zero", value))
            _settings(session, **{name: value})
    settings = session.now.settings
    text = f"relative {settings.rtol:g}, absolute {settings.atol:g}"
    return Reply(text, {"rtol": settings.rtol, "atol": settings.atol})


def _read_size(session: Session, given: Given) -> Reply:  # noqa: ARG001
    size = session.now.settings.stepsize
    return Reply(f"{size:.9g} s", {"stepsize": size})


def _set_size(session: Session, given: Given) -> Reply:
    if given["stepsize"] <= 0.0:
        raise MechanismError(Fault("sstepsize", "it must be greater than zero", given["stepsize"]))
    _settings(session, stepsize=given["stepsize"])
    return Reply(data={"stepsize": given["stepsize"]})


def _statistics(session: Session, given: Given) -> Reply:  # noqa: ARG001
    settings, history = session.now.settings, session.now.history
    statistics = dict(history[-1].statistics) if history else {}
    rows: dict[str, Any] = {
        "last stepsize": statistics.get("step"),
        "next stepsize": statistics.get("next_step", statistics.get("step")),
        "steps": statistics.get("steps_since_restart", statistics.get("steps")),
        "calls": statistics.get("evaluations_since_restart", statistics.get("evaluations")),
        "order": statistics.get("last_order", find_method(settings.method).order),
        "absolute accuracy": settings.atol,
        "relative accuracy": settings.rtol,
        "method": settings.method,
        "formulation": settings.formulation,
    }
    lines = [f"{name:18} {'not given' if value is None else value}" for name, value in rows.items()]
    return Reply("\n".join(lines), {name.replace(" ", "_"): value for name, value in rows.items()})


def _reset(session: Session, given: Given) -> Reply:  # noqa: ARG001
    session.set(live=None, history=())
    return Reply(f"t = {session.now.time:.6g} s", {"time": session.now.time})


def _formulation(session: Session, given: Given) -> Reply:
    name = given.get("formulation")
    if name is not None:
        options = {k: text if takes_names(k) else resolved(text) for k, text in given.fields.items()}
        limits, others = split(options) if name == "adaptive" else ({}, options)
        check_request(name, others)
        with Check("formulation") as check:
            Limits.of(check, limits.get("max_error", 0.0), limits.get("max_loss"), limits.get("max_joints"))
            if "measure" in limits:
                check.choice("measure", limits["measure"], MEASURES)
        _settings(session, formulation=name, options=options)
    now = session.now.settings.formulation
    return Reply(f"{now} (there are auto, {', '.join(FORMULATIONS)})", {"formulation": now})


def _method(session: Session, given: Given) -> Reply:
    name = given.get("method")
    if name is not None:
        options = plain_fields(given.fields, tuple(_METHOD), "method")
        method_options(name, 1e300, **options)
        _settings(session, method=name, method_options=options)
    now = session.now.settings.method
    return Reply(f"{now} (there are {', '.join(METHODS)})", {"method": now})


COMMANDS: Final = (
    Command(
        "step",
        "Go on by so many step sizes, and draw after every one; inside the integrator takes its own steps, "
        "and goes on with its history from one command to the next unless something was changed. With "
        "assemble=constraint_forces the bodies come together first, within the steps.",
        _step,
        (Argument("count", "count"),),
        fields="assemble=... left_out=...",
        example="step 30",
    ),
    Command(
        "rtime",
        "Read the time that the clock of the simulation shows.",
        _read_time,
        example="rtime",
        keeps=True,
    ),
    Command(
        "stime",
        "Set the clock; the bodies stay where they are. What was recorded before is let go.",
        _set_time,
        (Argument("time", "number", unit="s"),),
        example="stime 0",
    ),
    Command(
        "sacc",
        "Set the accuracy goal of the integrator, for methods that choose their steps.",
        _accuracy,
        (),
        (
            Option("-r", "Relative accuracy.", (Argument("accuracy", "number"),)),
            Option("-a", "Absolute accuracy.", (Argument("accuracy", "number"),)),
        ),
        example="sacc -r 1e-6 -a 1e-7",
    ),
    Command(
        "rstepsize", "Read the time from one frame to the next.", _read_size, example="rstepsize", keeps=True
    ),
    Command(
        "sstepsize",
        "Set the time from one frame to the next.",
        _set_size,
        (_seconds("stepsize"),),
        example="sstepsize 1/30",
    ),
    Command(
        "rlsode",
        "Read statistics of the integrator since it was last started: step sizes, steps, calls of the "
        "dynamics, order, accuracy goals.",
        _statistics,
        example="rlsode",
        keeps=True,
    ),
    Command(
        "run",
        "Go on for a time, by default that of the loaded file. With assemble=constraint_forces the bodies "
        "come together first, in the run itself, so that one sees a structure snap together. With "
        "ledger=true the work of every force is added up, and the balance of energy is shown. With "
        "left_out=allow a model runs without what moves or weighs in its file and was not read.",
        _run,
        (_seconds("duration", optional=True),),
        fields="output_step=... reactions=... accelerations=... ledger=... assemble=... left_out=...",
        example="run 0.5 output_step=0.01",
    ),
    Command(
        "reset", "Go back to where the mechanism starts, and forget what was run.", _reset, example="reset"
    ),
    Command(
        "formulation",
        "Set how the equations of motion are formed and solved, with its options, such as cut=hinge3,hinge7: "
        "joints at which loops are cut, or max_error, measure, max_loss, max_joints of adaptive; without a "
        "name, show it.",
        _formulation,
        (Argument("formulation", "text", optional=True),),
        fields="option=...",
        example="formulation symbolic",
    ),
    Command(
        "method",
        "Set the integration method, with step, max_step, max_order; without a name, show it.",
        _method,
        (Argument("method", "text", optional=True),),
        fields="step=... max_step=... max_order=...",
        example="method dopri5 max_step=0.1",
    ),
)
