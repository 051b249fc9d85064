"""`bellcrank inverse`: the drive efforts that a motion requires."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import numpy as np

from bellcrank.cli.analysis_options import mechanism_of, study
from bellcrank.cli.values import SECONDS, show_json
from bellcrank.errors import Fault, MechanismError

if TYPE_CHECKING:
    from bellcrank.trajectory.trajectory import Trajectory

_FILE = click.Path(dir_okay=False)


@click.command("inverse")
@study
@click.option("--duration", "-d", type=SECONDS, required=True, metavar="T", help="Duration of the motion, s.")
@click.option("--step", "-s", type=SECONDS, metavar="H", help="Time between frames, s.")
@click.option(
    "--along", multiple=True, metavar="MARKER=X;Y;Z", help="A marker's path: three functions of t, m."
)
@click.option("--keep", multiple=True, metavar="DRIVE", help="A drive that stays active beside paths.")
@click.option("--formulation", "-f", default="auto", metavar="NAME", help="Formulation for the efforts.")
@click.option("--out", "-o", type=_FILE, metavar="RUN.h5", help="Record into this file.")
def command(
    file: str,
    time: float,
    parameters: tuple[str, ...],
    as_json: bool,
    duration: float,
    step: float | None,
    along: tuple[str, ...],
    out: str | None,
    **given: Any,
) -> None:
    """Compute the efforts of the drives of the mechanism in FILE.

    Its drives prescribe the motion, or markers follow paths, as in  --along "hand=0.6+0.1*cos(t); 0; 0.2".
    Drives are then released, and their efforts are those required by the paths.
    """
    from bellcrank.analysis.kinematics import inverse_dynamics

    mechanism = mechanism_of(file, parameters, time)
    paths = dict(_path(text) for text in along)
    if given["keep"] and not paths:
        raise click.UsageError("--keep is for paths: give --along")
    arguments: dict[str, Any] = {"along": paths or None, **given}
    run = inverse_dynamics(mechanism, duration, step, start=time, path=out, **arguments)
    if as_json:
        show_json(_content(run))
    else:
        _show(run)


def _path(text: str) -> tuple[str, tuple[Any, ...]]:
    marker, equals, rest = (part.strip() for part in text.partition("="))
    functions = tuple(part.strip() for part in rest.split(";"))
    if not equals or len(functions) != 3:
        rule = "it is written as MARKER=X;Y;Z, each a function of t"
        raise MechanismError(Fault("--along", rule, text, 'such as "hand=0.6+0.1*cos(t); 0; 0.2"'))
    return marker, functions


def _efforts(run: Trajectory) -> dict[str, tuple[Any, str]]:
    """Efforts (T,) with their units, by what exerts them."""
    found: dict[str, tuple[Any, str]] = {}
    for name in run.drives:
        history = run.drive(name)
        efforts = history.effort.reshape(len(run), -1)
        for k, column in enumerate(history.columns):
            found[name if len(history.columns) == 1 else f"{name}.{column.name}"] = efforts[:, k], column.unit
    return found


def _content(run: Trajectory) -> dict[str, Any]:
    listed = {name: {"unit": unit, "effort": values} for name, (values, unit) in _efforts(run).items()}
    return {"mechanism": run.mechanism, "status": str(run.status), "time": run.time, "drives": listed}


def _show(run: Trajectory) -> None:
    from bellcrank.cli.messages import heading, show, table

    columns = (
        ("drive", "left"),
        ("least", "right"),
        ("largest", "right"),
        ("rms", "right"),
        ("unit", "left"),
    )
    rows = [
        (name, f"{min(values):.6g}", f"{max(values):.6g}", f"{float(np.sqrt(np.mean(values**2))):.6g}", unit)
        for name, (values, unit) in _efforts(run).items()
    ]
    show(heading(f"Efforts of {run.mechanism}, {len(run)} frames"), table(columns, rows))
