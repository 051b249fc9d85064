"""Common parts of the study commands: options, ranges of parameters, arguments of the analysis."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click
import numpy as np

from bellcrank.cli.settings import setting
from bellcrank.cli.values import SECONDS, in_unit, show_json
from bellcrank.errors import Fault, FaultList, MechanismError
from bellcrank.named_files import content_of
from bellcrank.studies.points import parameters_of

if TYPE_CHECKING:
    from bellcrank.io.simulation import Simulation
    from bellcrank.mechanism.mechanism import Mechanism

F = TypeVar("F", bound=Callable[..., Any])

EXISTING: Final = click.Path(exists=True, dir_okay=False)
_TABLE: Final = 100_000_000  # bytes
_ANALYSIS: Final = ("duration", "start_time", "step", "output_step", "tolerance", "formulation", "method")

_OPTIONS: Final = (
    click.option(
        "--analysis",
        "-a",
        default="simulate",
        show_default=True,
        metavar="NAME",
        help="Analysis: simulate, inverse_dynamics or kinematics.",
    ),
    click.option("--duration", "-d", type=SECONDS, metavar="T", help="Simulated time, s, or with a unit."),
    click.option("--start-time", type=SECONDS, metavar="T", help="Time to start at, s."),
    click.option(
        "--step",
        "-s",
        type=SECONDS,
        metavar="H",
        help="Time step, s; for kinematics and inverse dynamics, between frames.",
    ),
    click.option("--output-step", type=SECONDS, metavar="H", help="Time between recorded frames, s."),
    click.option("--tolerance", type=float, metavar="EPS", help="Tolerance of adaptive methods."),
    click.option("--formulation", "-f", metavar="NAME", help="How the equations are formed and solved."),
    click.option("--method", "-m", metavar="NAME", help="Integration method."),
    click.option(
        "--processes",
        "-j",
        type=click.IntRange(1),
        metavar="N",
        help="Number of processes (default: one per core).",
    ),
    click.option("--scheduler", metavar="ADDRESS", help="Compute on the Dask cluster of this scheduler."),
    click.option(
        "--plot", type=click.Path(dir_okay=False), metavar="PICTURE", help="Write a figure (PNG, PDF, SVG)."
    ),
    click.option("--progress/--no-progress", default=None, help="Show a bar (default: on a terminal)."),
    click.option("--quiet", "-q", is_flag=True, help="Write nothing but errors."),
    click.option("--json", "as_json", is_flag=True, help="Print the result as JSON."),
)


def study_options(command: F) -> F:
    """The options that all studies have."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def arguments_of(simulation: dict[str, Any], given: dict[str, Any], as_fit: bool = False) -> dict[str, Any]:
    """Arguments of the study and its analysis: those in the file, overridden by options.

    as_fit: whether the data determine the recorded times.
    """
    analysis = given.pop("analysis")
    options = {name: value for name in _ANALYSIS if (value := given.pop(name)) is not None}
    if "start_time" in options:
        options["start"] = options.pop("start_time")
    known = dict(simulation) if analysis == "simulate" else _of_motions(simulation)
    if as_fit and analysis == "simulate":
        known = {name: value for name, value in known.items() if name not in ("duration", "output_step")}
    executor, quiet, progress = given.pop("scheduler"), given.pop("quiet"), given.pop("progress")
    return {
        **known,
        **options,
        "analysis": analysis,
        "executor": executor,
        "processes": given.pop("processes"),
        "progress": False if quiet else progress,
    }


def _of_motions(simulation: dict[str, Any]) -> dict[str, Any]:
    return {name: simulation[name] for name in ("duration", "start", "formulation") if name in simulation}


def guess_of(texts: Iterable[str]) -> dict[str, float] | None:
    """Values by name from texts NAME=VALUE, None for none."""
    return dict(setting(text, "--guess") for text in texts) or None


def values_of(texts: Iterable[str], mechanism: Mechanism, counted: bool) -> dict[str, Any]:
    """Values of parameters from texts NAME=LOW:HIGH:COUNT, NAME=LOW:HIGH, NAME=A,B,C or NAME.

    counted: whether LOW:HIGH needs a count. Raises MechanismError listing all faults.
    """
    parted = [tuple(part.strip() for part in text.partition("=")) for text in texts]
    known = parameters_of(mechanism, [name for name, _, _ in parted])
    faults, found = FaultList(), {}
    for name, _, value in parted:
        with faults.collect():
            found[name] = _values(f"parameter {name!r}", value, known[name].unit, counted)
    faults.raise_any()
    return found


def _values(element: str, text: str, unit: str, counted: bool) -> Any:
    ends = [part.strip() for part in text.split(":")]
    rule = "values are LOW:HIGH:COUNT or A,B,C" if counted else "bounds are LOW:HIGH"
    example = (
        "such as length=0.1:0.5:41" if counted else "such as length=0.1:0.5, or length=0.1: for one bound"
    )
    try:
        if not counted:
            if text == "":
                return None
            low, high = ends
            return (in_unit(low, unit) if low else None, in_unit(high, unit) if high else None)
        if len(ends) == 1:
            return [in_unit(part.strip(), unit) for part in text.split(",")]
        low, high, count = ends
        return np.linspace(in_unit(low, unit), in_unit(high, unit), int(count))
    except (ValueError, MechanismError):
        raise MechanismError(Fault(element, rule, text, example)) from None


def bounds_of_measures(texts: Iterable[str]) -> dict[str, Any]:
    """Bounds by measure from texts MEASURE=LOW:HIGH, one of which may be left out."""
    found = {}
    for text in texts:
        measure, equals, value = text.rpartition("=")
        if not equals:
            raise MechanismError(
                Fault(
                    "--keep", "it is written as MEASURE=LOW:HIGH", text, 'such as "max drive.motor.effort=:5"'
                )
            )
        found[measure.strip()] = _values(f"constraint {measure.strip()!r}", value.strip(), "", False)
    return found


def check_pictures(*paths: str | None) -> None:
    """Refuse, before the work is done, files that could not be written."""
    from bellcrank.scene.figure import check_matplotlib, check_picture
    from bellcrank.trajectory.own_file import check_place

    for path in paths:
        if path is not None:
            check_picture(path)
            check_place(path)
            check_matplotlib()


def conclude(
    report: Any, simulation: Simulation, save: str | None, plot: str | None, as_json: bool, quiet: bool
) -> None:
    """Write the mechanism that was found, with the simulation of its file, and the figure; print."""
    from bellcrank.cli.messages import note
    from bellcrank.io import save as write

    if save is not None:
        for fault in write(report.mechanism, save, simulation):
            note(f"left out: {fault}")
    if plot is not None:
        report.plot(path=plot)
    written = [one for one in (save, plot) if one is not None]
    if as_json:
        show_json(report.to_dict() | {"written": written})
    elif not quiet:
        click.echo("\n".join([str(report), *(f"written: {one}" for one in written)]))


def table_of(path: str) -> Any:
    """A CSV file of 100 MB at most as a pandas table. Raises MechanismError for another."""
    from bellcrank.studies.extras import needed

    pandas = needed("pandas", "a table")
    try:
        return pandas.read_csv(BytesIO(content_of(path, f"file '{path}'", _TABLE)), skipinitialspace=True)
    except MechanismError:  # which is a ValueError
        raise
    except (ValueError, OSError) as error:
        raise MechanismError(Fault(f"file '{path}'", f"it cannot be read as a table: {error}")) from error
