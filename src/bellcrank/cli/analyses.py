"""`bellcrank statics`, `modes`, `linearize`, `gradient`, `inverse` and `verify`: analyses of a mechanism."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from bellcrank.cli.options import EXISTING, NEW, SECONDS, with_settings
from bellcrank.cli.output import heading, note_left_out, show, show_json, table, text_of
from bellcrank.errors import Fault, MechanismError
from bellcrank.trajectory.own_file import is_run

if TYPE_CHECKING:
    from bellcrank.analysis.statics import Statics
    from bellcrank.formulations.state_derivatives import StateDerivatives
    from bellcrank.linear.linear_model import LinearModel
    from bellcrank.linear.modes import Modes
    from bellcrank.mechanism.mechanism import Mechanism
    from bellcrank.studies.gradient import Gradient
    from bellcrank.trajectory.trajectory import Trajectory


def study(function: Callable[..., Any]) -> Callable[..., None]:
    """A command on the mechanism in a file; what the function makes of it is printed."""

    @click.argument("file", type=EXISTING)
    @click.option(
        "--time", type=SECONDS, default=0.0, metavar="T", help="Time at which drives are evaluated, s."
    )
    @click.option("--set", "parameters", multiple=True, metavar="NAME=VALUE", help="Value of a parameter.")
    @click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
    @wraps(function)
    def command(
        file: str,
        time: float,
        parameters: tuple[str, ...],
        as_json: bool,
        at_rest: bool = False,
        **given: Any,
    ) -> None:
        from bellcrank.io import read

        mechanism = read(file).mechanism
        note_left_out(mechanism.left_out)
        mechanism = with_settings(mechanism, parameters)
        if at_rest:
            from bellcrank.analysis.statics import find_equilibrium

            find_equilibrium(mechanism, time)
        found = function(mechanism, time, **given)
        if as_json:
            show_json(found.to_dict())
        else:
            click.echo(str(found))

    return command


def about(function: Callable[..., Any]) -> Callable[..., Any]:
    """The arguments of analyses of small motions."""
    for decorate in (
        click.option("--any-state", is_flag=True, help="Accept a start that is not steady."),
        click.option("--at-rest", is_flag=True, help="Find the static equilibrium first."),
        click.option(
            "--state", "states", multiple=True, metavar="NAME", help="A coordinate to prefer as a state."
        ),
        click.option(
            "--formulation", "-f", default="auto", metavar="NAME", help="Formulation for the accelerations."
        ),
    ):
        function = decorate(function)
    return function


@click.command("statics")
@study
@click.option("--pin", "pinned", multiple=True, metavar="BODY", help="A body that keeps its placement.")
@click.option(
    "--keep-unstable", is_flag=True, help="Accept an equilibrium that is not a minimum of the energy."
)
@click.option("--no-friction", is_flag=True, help="Leave out friction that holds.")
@click.option("--draw", "picture", type=NEW, metavar="PNG", help="Draw it in equilibrium.")
def statics_command(
    mechanism: Mechanism,
    time: float,
    keep_unstable: bool,
    no_friction: bool,
    picture: str | None,
    **given: Any,
) -> Statics:
    """Show the equilibrium of the mechanism in FILE: drives, joint reactions, what friction holds."""
    from bellcrank.analysis.statics import statics

    found = statics(mechanism, time, leave_unstable=not keep_unstable, friction=not no_friction, **given)
    if picture is not None:
        found.draw(picture)
    return found


@click.command("modes")
@study
@about
@click.option("--draw", "picture", type=NEW, metavar="PNG", help="Draw the shapes (PNG, PDF, SVG).")
@click.option("--animate", "film", type=NEW, metavar="FILM", help="Film a mode (MP4, GIF).")
@click.option(
    "--mode",
    "number",
    type=int,
    metavar="N",
    help="The mode to film; by default the first that is not neutral.",
)
def modes_command(
    mechanism: Mechanism,
    time: float,
    any_state: bool,
    picture: str | None,
    film: str | None,
    number: int | None,
    **given: Any,
) -> Modes:
    """Show natural frequencies, damping ratios and shapes of small motions of the mechanism in FILE."""
    from bellcrank.linear.linearize import modes

    found = modes(mechanism, time=time, steady=not any_state, **given)
    if picture is not None:
        found.draw(picture)
    if film is not None:
        first = next((mode.number for mode in found if mode.kind != "neutral"), 1)
        found.mode(first if number is None else number).animate(film)
    return found


@click.command("linearize")
@study
@about
@click.option("--input", "inputs", multiple=True, metavar="NAME", help="An input, motor, joint or parameter.")
@click.option("--output", "outputs", multiple=True, metavar="NAME", help="A recorded number.")
def linearize_command(
    mechanism: Mechanism,
    time: float,
    any_state: bool,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    **given: Any,
) -> LinearModel:
    """Linearize the mechanism in FILE about its start: x' = A x + B u, y = C x + D u.

    By default the inputs are those of the mechanism, and the outputs are the states. Names of outputs are
    those in tables of runs, such as joint.pivot.theta_z.
    """
    from bellcrank.linear.linearize import linearize

    return linearize(
        mechanism, inputs=inputs or None, outputs=outputs or None, time=time, steady=not any_state, **given
    )


@click.command("gradient")
@study
@click.option(
    "--of", multiple=True, required=True, metavar="NAME", help="A quantity or group; of a run, a measure."
)
@click.option(
    "--by", multiple=True, required=True, metavar="NAME", help="A parameter, input, state, or time."
)
@click.option("--duration", "-d", type=SECONDS, metavar="T", help="Differentiate measures of a run, s.")
@click.option("--output-step", type=SECONDS, metavar="H", help="Time between its frames, s.")
@click.option("--method", "-m", metavar="NAME", help="Its integration method.")
@click.option("--tolerance", type=float, metavar="EPS", help="Its tolerance.")
@click.option("--at-rest", is_flag=True, help="Find the static equilibrium first.")
@click.option("--formulation", "-f", default="lagrange", metavar="NAME", help="Formulation of the equations.")
def gradient_command(
    mechanism: Mechanism,
    time: float,
    of: tuple[str, ...],
    by: tuple[str, ...],
    formulation: str,
    duration: float | None,
    **of_run: Any,
) -> StateDerivatives | Gradient:
    """Show exact derivatives at the start of the mechanism in FILE, or of measures of its run.

    Quantities have the names of tables of runs, such as joint.pivot.theta_z.acceleration, body.rod.ax,
    joint.pivot.Fx or drive.motor.effort; groups are position, velocity, acceleration, reaction and effort.
    They are differentiated by parameters, inputs, states (pivot.theta_z, pivot.theta_z.rate) and time; groups
    are parameters, inputs and states. With --duration, measures such as "peak drive.motor.effort" are
    differentiated, and both have error bars.
    """
    given = {name: value for name, value in of_run.items() if value is not None}
    if duration is not None:
        from bellcrank.studies.gradient import gradient

        given |= {"duration": duration, "start": time, "formulation": formulation}
        return gradient(mechanism, list(of), by=by, **given)
    if given:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise click.UsageError(f"{options}: of a run, which needs --duration")
    from bellcrank.compile.compile import compile_mechanism
    from bellcrank.compile.initial import assembled
    from bellcrank.formulations.preparing import prepare

    model, _ = assembled(compile_mechanism(mechanism, time))
    system = prepare(model, formulation)
    return system.derivatives(system.project(), of=of, by=by)


@click.command("inverse")
@study
@click.option("--duration", "-d", type=SECONDS, required=True, metavar="T", help="Duration of the motion, s.")
@click.option("--step", "-s", type=SECONDS, metavar="H", help="Time between frames, s.")
@click.option(
    "--along", multiple=True, metavar="MARKER=X;Y;Z", help="A marker's path: three functions of t, m."
)
@click.option("--keep", multiple=True, metavar="DRIVE", help="A drive that stays active beside paths.")
@click.option("--formulation", "-f", default="auto", metavar="NAME", help="Formulation for the efforts.")
@click.option("--out", "-o", type=NEW, metavar="RUN.h5", help="Record into this file.")
def inverse_command(
    mechanism: Mechanism,
    time: float,
    duration: float,
    step: float | None,
    along: tuple[str, ...],
    out: str | None,
    **given: Any,
) -> _Efforts:
    """Compute the efforts of the drives of the mechanism in FILE.

    Its drives prescribe the motion, or markers follow paths, as in  --along "hand=0.6+0.1*cos(t); 0; 0.2".
    Drives are then released, and their efforts are those required by the paths.
    """
    from bellcrank.analysis.kinematics import inverse_dynamics

    paths = dict(_path(text) for text in along)
    if given["keep"] and not paths:
        raise click.UsageError("--keep is for paths: give --along")
    arguments: dict[str, Any] = {"along": paths or None, **given}
    return _Efforts(inverse_dynamics(mechanism, duration, step, start=time, path=out, **arguments))


def _path(text: str) -> tuple[str, tuple[Any, ...]]:
    marker, equals, rest = (part.strip() for part in text.partition("="))
    functions = tuple(part.strip() for part in rest.split(";"))
    if not equals or len(functions) != 3:
        rule = "it is written as MARKER=X;Y;Z, each a function of t"
        raise MechanismError(Fault("--along", rule, text, 'such as "hand=0.6+0.1*cos(t); 0; 0.2"'))
    return marker, functions


@dataclass(frozen=True, eq=False)
class _Efforts:
    """The efforts of the drives in a run."""

    run: Trajectory

    def columns(self) -> dict[str, tuple[Any, str]]:
        """Efforts (T,) with their units, by what exerts them."""
        found: dict[str, tuple[Any, str]] = {}
        for name in self.run.drives:
            history = self.run.drive(name)
            efforts = history.effort.reshape(len(self.run), -1)
            for k, column in enumerate(history.columns):
                title = name if len(history.columns) == 1 else f"{name}.{column.name}"
                found[title] = efforts[:, k], column.unit
        return found

    def to_dict(self) -> dict[str, Any]:
        run = self.run
        listed = {name: {"unit": unit, "effort": values} for name, (values, unit) in self.columns().items()}
        return {"mechanism": run.mechanism, "status": str(run.status), "time": run.time, "drives": listed}

    def __str__(self) -> str:
        columns = (
            ("drive", "left"),
            ("least", "right"),
            ("largest", "right"),
            ("rms", "right"),
            ("unit", "left"),
        )
        rows = [
            (name, f"{min(v):.6g}", f"{max(v):.6g}", f"{float((v**2).mean()) ** 0.5:.6g}", unit)
            for name, (v, unit) in self.columns().items()
        ]
        title = heading(f"Efforts of {self.run.mechanism}, {len(self.run)} frames")
        return text_of(title, table(columns, rows))


@click.command("verify")
@click.argument("file", type=EXISTING)
@click.option("--run", "recorded", type=EXISTING, metavar="RUN.h5", help="Check this run of the mechanism.")
@click.option("--duration", "-d", type=SECONDS, metavar="T", help="Duration of the runs that are made, s.")
@click.option(
    "--formulation",
    "-f",
    metavar="NAME",
    help="Check this one alone; by default all that accept the mechanism.",
)
@click.option("--method", "-m", metavar="NAME", help="Method of the runs that are made.")
@click.option("--samples", type=int, metavar="N", help="Instants of a run that are examined closely.")
@click.option("--states", type=int, metavar="N", help="Random states at which formulations are compared.")
@click.option("--tolerance", type=float, metavar="EPS", help="Allowed relative error of energy and momentum.")
@click.option("--json", "as_json", is_flag=True, help="Print the judgement as JSON.")
def verify_command(file: str, recorded: str | None, as_json: bool, **given: Any) -> None:
    """Check every formulation of the mechanism in FILE, or a run, against mechanics.

    FILE is a mechanism (YAML, JSON) or a recorded run (HDF5), which is checked against the mechanism it
    contains.

    Formulations are compared with each other at random states, and each of them is checked there and along a
    run: constraints, equations of motion, energy, momentum. Everything is computed from the motion and the
    description, independently of the solver. Exit status 1 if a check failed.
    """
    from bellcrank.trajectory.trajectory import Trajectory
    from bellcrank.verification.verify import verify

    arguments = {name: value for name, value in given.items() if value is not None}
    alone = is_run(file)
    if alone or recorded is not None:
        _refuse(recorded if alone else None, arguments)
    if alone:
        judgement = verify(Trajectory.load(file), **arguments)
    else:
        from bellcrank.io import load

        if recorded is not None:
            arguments["run"] = Trajectory.load(recorded)
        judgement = verify(load(file), **arguments)
    if as_json:
        show_json(judgement.to_dict())
    else:
        _show_judgement(judgement)
    if not judgement.passed:
        sys.exit(1)


def _refuse(recorded: str | None, arguments: dict[str, Any]) -> None:
    """Refuse a second run, `recorded`, and options of runs that are made."""
    if recorded is not None:
        raise click.UsageError("FILE is a run and carries its mechanism: leave out --run")
    if of_made := sorted({"duration", "formulation", "method", "states"} & set(arguments)):
        named = ", ".join(f"--{name}" for name in of_made)
        raise click.UsageError(f"a recorded run is judged as it is: leave out {named}")


def _show_judgement(judgement: Any) -> None:

    if judgement.formulations:
        click.echo(str(judgement))
    else:
        rows = []
        for check in judgement.checks:
            if check.value is None:
                rows.append(("skipped", check.name, "", "", check.where))
                continue
            verdict = "ok" if check.passed else "FAILED"
            remark = f"{check.meaning} ({check.place})" if check.place else check.meaning
            rows.append((verdict, check.name, f"{check.value:.1e}", f"{check.limit:.0e}", remark))
        columns = (
            ("", "left"),
            ("check", "left"),
            ("found", "right"),
            ("allowed", "right"),
            ("what", "left"),
        )
        show(heading(f"{judgement.mechanism}: {judgement.subject}"), table(columns, rows))
        for fault in judgement.faults:
            click.echo(f"fault: {fault}")
    failed = dict.fromkeys(check.name for check in judgement.checks if not check.passed)
    click.echo(f"{len(failed)} checks failed: {', '.join(failed)}" if failed else "all checks passed")
