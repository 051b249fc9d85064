"""`bellcrank run`: simulate a mechanism file."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from bellcrank.cli.options import EXISTING, NEW, SECONDS, reading_options, with_settings
from bellcrank.cli.output import (
    balance_of,
    facts,
    heading,
    note,
    note_left_out,
    show,
    show_balance,
    show_json,
    wants_progress,
)
from bellcrank.errors import Fault, MechanismError, SimulationError

if TYPE_CHECKING:
    from bellcrank.trajectory.moves import MoveTrajectory
    from bellcrank.trajectory.trajectory import Trajectory


@click.command("run")
@click.argument("file", type=EXISTING)
@click.option("--formulation", "-f", metavar="NAME", help="How the equations are formed and solved.")
@click.option("--method", "-m", metavar="NAME", help="Integration method.")
@click.option("--step", "-s", type=SECONDS, metavar="H", help="Time step, s, or with a unit: '1 ms'.")
@click.option("--duration", "-d", type=SECONDS, metavar="T", help="Simulated time, s, or with a unit.")
@click.option("--start", type=SECONDS, metavar="T", help="Time to start at, s.")
@click.option("--output-step", type=SECONDS, metavar="H", help="Time between recorded frames, s.")
@click.option("--tolerance", type=float, metavar="EPS", help="Tolerance of adaptive methods.")
@click.option(
    "--max-error", type=float, metavar="EPS", help="Largest error of an adaptive run, in its measure."
)
@click.option("--measure", metavar="NAME", help="Of an adaptive run: rms_relative, or rms (m/s^2).")
@click.option("--max-loss", type=float, metavar="W", help="Energy per second that locking joints may take.")
@click.option("--max-joints", type=int, metavar="N", help="The most joints that are free in an adaptive run.")
@click.option("--accelerations", is_flag=True, default=None, help="Record the bodies' accelerations.")
@click.option(
    "--ledger", is_flag=True, default=None, help="Record the work of every force; show the energy balance."
)
@click.option("--no-reactions", is_flag=True, help="Do not record joint reactions and forces.")
@click.option(
    "--option", "-O", "options", multiple=True, metavar="NAME=VALUE", help="Option of the formulation."
)
@click.option("--set", "parameters", multiple=True, metavar="NAME=VALUE", help="Value of a parameter.")
@click.option("--out", "-o", type=NEW, metavar="RUN.h5", help="Record into this file.")
@click.option("--plot", type=NEW, metavar="PNG", help="Write an overview (PNG, PDF, SVG).")
@click.option(
    "--allow-left-out", is_flag=True, help="Run without what moves or weighs in the file and was not read."
)
@click.option("--progress/--no-progress", default=None, help="Show a bar (default: on a terminal).")
@click.option("--quiet", "-q", is_flag=True, help="Write nothing but errors.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@reading_options
def run_command(
    file: str,
    out: str | None,
    plot: str | None,
    progress: bool | None,
    quiet: bool,
    as_json: bool,
    parameters: tuple[str, ...],
    reading: dict[str, Any],
    **given: Any,
) -> None:
    """Simulate the mechanism in FILE (YAML, JSON, a model of another program, or a mesh).

    Settings under "simulation" in the file apply unless an option is given. Ctrl-C ends the run and keeps
    what was computed.
    """
    from bellcrank.io import dumps, read

    content = read(file, **reading)
    note_left_out(content.mechanism.left_out)
    mechanism = with_settings(content.mechanism, parameters)
    arguments = content.simulation.arguments() | _overrides(given)
    if arguments.get("duration") is None:
        advice = "add --duration 10, or write 'simulation: {duration: 10 s}' into the file"
        raise MechanismError(Fault(f"file '{file}'", "it does not say how long to simulate", None, advice))
    if plot is not None:
        if arguments.get("formulation") == "adaptive":
            advice = "add --out RUN.h5, and draw it: bellcrank draw RUN.h5"
            raise MechanismError(Fault("--plot", "an adaptive run has no overview", plot, advice))
        _check_plot(plot)
    from bellcrank.run.simulate import simulate

    try:
        run = simulate(
            mechanism,
            path=out,
            progress=wants_progress(progress) and not quiet,
            description=dumps(mechanism, "yaml", content.simulation),
            **arguments,
        )
    except SimulationError as error:
        _keep(error.trajectory, out, plot, quiet, as_json)
        raise
    _keep(run, out, plot, quiet, as_json)
    if run.status == "interrupted":
        note(run.status.message)
        sys.exit(130)


def _overrides(given: dict[str, Any]) -> dict[str, Any]:
    """Arguments for `simulate` from the options of the command line that were given."""
    without_reactions, allow = given.pop("no_reactions"), given.pop("allow_left_out")
    arguments = _options(given.pop("options"))
    arguments |= {name: value for name, value in given.items() if value is not None}
    arguments |= {"left_out": "allow"} if allow else {}
    return arguments | ({"reactions": False} if without_reactions else {})


def _options(texts: tuple[str, ...]) -> dict[str, Any]:
    """Options by name; one that takes names of joints may be given several times."""
    options: dict[str, Any] = {}
    for text in texts:
        name, value = _option(text)
        options[name] = [*options.get(name, ()), *value] if isinstance(value, list) else value
    return options


def _option(text: str) -> tuple[str, Any]:
    """The name and the value of NAME=VALUE: a number, true or false, a text, or a list of names."""
    from bellcrank.formulations.preparing import takes_names

    name, equals, value = text.partition("=")
    if not name or not equals:
        raise MechanismError(
            Fault("--option", "it is written as NAME=VALUE", text, "such as rank_tolerance=1e-9")
        )
    if takes_names(name):
        return name, [value]
    if value.lower() in ("true", "false"):
        return name, value.lower() == "true"
    for kind in (int, float):
        try:
            return name, kind(value)
        except ValueError:
            continue
    return name, value


def _check_plot(path: str) -> None:
    """Refuse, before the work is done, a picture that could not be written."""
    from bellcrank.scene.figure import check_picture
    from bellcrank.trajectory.own_file import check_place

    check_picture(path)
    check_place(path)


def _keep(run: Any, out: str | None, plot: str | None, quiet: bool, as_json: bool) -> None:
    """Plot the results, and print a summary."""
    if run is None or len(run) == 0:
        return
    if plot is not None:
        run.plot(path=plot)
    written = [path for path in (out, plot) if path is not None]
    if as_json:
        show_json(_facts(run, written))
    elif not quiet:
        _summary(run, written)


def _facts(run: Trajectory | MoveTrajectory, written: list[str]) -> dict[str, Any]:
    """The summary as an object: times in s, energy in J, violations in m and rad."""
    return {
        "mechanism": run.name,
        "status": str(run.status),
        "message": run.status.message,
        "start": run.time[0],
        "end": run.time[-1],
        "frames": len(run),
        **_judged(run),
        "statistics": run.statistics,
        "written": written,
    }


def _judged(run: Trajectory | MoveTrajectory) -> dict[str, Any]:
    """How good a run is, as an object."""
    from bellcrank.trajectory.moves import MoveTrajectory

    if isinstance(run, MoveTrajectory):
        free = {"mean": float(run.free.mean()), "most": int(run.free.max())}
        return {"error": run.statistics["error"], "lost_energy": run.lost_energy[-1], "free_joints": free}
    change, violation = abs(run.energy.drift).max(), run.violation.position.max()
    return {"energy_change": change, **balance_of(run), "violation": violation}


def _summary(run: Trajectory | MoveTrajectory, written: list[str]) -> None:
    from bellcrank.trajectory.trajectory import Trajectory

    counted = run.statistics
    rows = [
        ("simulated", f"t = {run.time[0]:g} to {run.time[-1]:.6g} s, {len(run)} frames ({run.status})"),
        ("by", _made(counted)),
        *_judged_rows(run),
    ]
    if counted.get("choice"):
        rows.append(("because", str(counted["choice"])))
    if counted.get("note"):
        rows.append(("note", str(counted["note"])))
    if counted.get("redundant_rows"):
        rows.append(("redundant", str(counted["redundant_rows"])))
    if counted.get("accuracy"):
        rows.append(("accuracy", str(counted["accuracy"])))
    if counted.get("friction"):
        rows.append(("friction", str(counted["friction"])))
    if counted.get("cut_joints"):
        rows.append(("loops cut at", str(counted["cut_joints"])))
    rows += [("written", path) for path in written]
    show(heading(run.name), facts(rows))
    if isinstance(run, Trajectory):
        show_balance(run)


def _judged_rows(run: Trajectory | MoveTrajectory) -> list[tuple[str, str]]:
    """How good a run is, in words."""
    from bellcrank.trajectory.moves import MoveTrajectory

    if isinstance(run, MoveTrajectory):
        unit = " m/s^2" if run.statistics["measure"] == "rms" else ""
        free = f"{float(run.free.mean()):.4g} of {sum(map(bool, run.joints))} joints on average"
        return [
            ("error", f"up to {float(run.statistics['error']):.3g}{unit} ({run.statistics['measure']})"),
            ("energy", f"{float(run.lost_energy[-1]):.3g} J lost by locking joints"),
            ("free", f"{free}, at most {int(run.free.max())}"),
        ]
    return [
        ("energy", f"changed by up to {float(abs(run.energy.drift).max()):.3g} J"),
        ("constraints", f"met to {float(run.violation.position.max()):.2g} (m, rad)"),
    ]


def _made(counted: Any) -> str:
    parts = [f"{counted.get('formulation', '?')}, {counted.get('method', '?')}"]
    if "steps" in counted:
        rejected = f" and {counted['rejected_steps']} rejected" if counted.get("rejected_steps") else ""
        parts.append(f"{counted['steps']} steps{rejected}")
    if "wall_seconds" in counted:
        parts.append(f"{counted['wall_seconds']:.3g} s of computing")
    return ", ".join(parts)
