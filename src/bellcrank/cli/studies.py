"""`bellcrank sweep`, `optimize` and `fit`: studies of many runs of one mechanism."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click
import numpy as np

from bellcrank.cli.options import EXISTING, NEW, SECONDS, in_unit, setting
from bellcrank.cli.output import note, show_json
from bellcrank.errors import Fault, FaultList, MechanismError, Unsupported
from bellcrank.mechanism.checking import nearest
from bellcrank.named_files import content_of
from bellcrank.studies.goal import METHODS
from bellcrank.studies.points import ARRANGEMENTS, SAMPLES, parameters_of
from bellcrank.studies.result import SweepResult

if TYPE_CHECKING:
    from bellcrank.io.fields import Simulation
    from bellcrank.mechanism.mechanism import Mechanism


F = TypeVar("F", bound=Callable[..., Any])

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
    click.option("--plot", type=NEW, metavar="PICTURE", help="Write a figure (PNG, PDF, SVG)."),
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
    from bellcrank.extras import needed

    pandas = needed("pandas", "a table")
    try:
        return pandas.read_csv(BytesIO(content_of(path, f"file '{path}'", _TABLE)), skipinitialspace=True)
    except MechanismError:  # which is a ValueError
        raise
    except (ValueError, OSError) as error:
        raise MechanismError(Fault(f"file '{path}'", f"it cannot be read as a table: {error}")) from error


@click.command("sweep")
@click.argument("file", type=EXISTING)
@click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="NAME=VALUES",
    help="LOW:HIGH:COUNT, or A,B,C; LOW:HIGH for samples.",
)
@click.option(
    "--points", type=EXISTING, metavar="TABLE.csv", help="A table with a column for each parameter."
)
@click.option(
    "--measure",
    "measures",
    multiple=True,
    required=True,
    metavar="MEASURE",
    help='Measure, such as "max drive.motor.effort".',
)
@click.option(
    "--arrange",
    type=click.Choice(ARRANGEMENTS),
    default="grid",
    show_default=True,
    help="How values are combined.",
)
@click.option("--count", type=int, metavar="N", help="Number of samples.")
@click.option("--seed", type=int, default=0, metavar="N", help="Seed of samples.")
@click.option("--keep", "path", type=NEW, metavar="FILE", help="Keep results here; resume if it exists.")
@click.option(
    "--runs", type=click.Path(file_okay=False), metavar="FOLDER", help="Record each run into this folder."
)
@click.option("--out", "-o", type=NEW, metavar="TABLE", help="Write a table (.csv) or a Dataset (.nc).")
@study_options
def sweep_command(
    file: str,
    sets: tuple[str, ...],
    points: str | None,
    measures: tuple[str, ...],
    path: str | None,
    runs: str | None,
    out: str | None,
    plot: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Run the mechanism in FILE at many values of its parameters, and measure each run.

    Points that fail get a row with the reason. Ctrl-C ends the sweep; with --keep it can be resumed.
    A measure is a reduction (max, min, peak, range, mean, rms, initial, final) and a quantity.
    """
    from bellcrank.io import read
    from bellcrank.studies.sweep import sweep

    content = read(file)
    check_pictures(plot)
    _checktable_of(out)
    quiet = given["quiet"]
    samples = given["arrange"] in SAMPLES
    if sets and points is not None:
        raise click.UsageError("a table of --points has all values: leave out --set")
    values: Any = table_of(points) if points is not None else values_of(sets, content.mechanism, not samples)
    arguments = arguments_of(content.simulation.arguments(), given)
    result = sweep(
        content.mechanism, values, list(measures), path=path, runs=runs or False, **given, **arguments
    )
    written = [w for w in (path, runs, out, plot) if w is not None]
    _write(result, out, plot)
    if as_json:
        show_json(result.to_dict() | {"written": written})
    elif not quiet:
        click.echo(str(result))
        for one in written:
            click.echo(f"written: {one}")
    if result.status == "interrupted":
        sys.exit(130)


def _checktable_of(out: str | None) -> None:
    if out is None:
        return
    from bellcrank.trajectory.own_file import check_place

    check_place(out)
    if Path(out).suffix.lower() not in (".csv", ".nc"):
        raise Unsupported(f"a table of a sweep is a .csv or a .nc file, not {out!r}")


def _write(result: SweepResult, out: str | None, plot: str | None) -> None:
    from bellcrank.trajectory.saving import write_dataset
    from bellcrank.whole_files import write_whole

    if out is not None and Path(out).suffix.lower() == ".csv":
        write_whole(out, result.table().to_csv(index=False))
    elif out is not None:
        dataset = result.to_xarray()
        dataset["reason"] = dataset["reason"].astype(str)
        write_dataset(dataset, out)
    if plot is not None:
        result.plot(path=plot)


@click.command("optimize")
@click.argument("file", type=EXISTING)
@click.option(
    "--free", multiple=True, required=True, metavar="NAME=LOW:HIGH", help="A parameter, and its bounds."
)
@click.option(
    "--measure", required=True, metavar="MEASURE", help='Measure, such as "max drive.motor.effort".'
)
@click.option("--maximize", is_flag=True, help="Maximise the measure.")
@click.option(
    "--keep", "limits", multiple=True, metavar="MEASURE=LOW:HIGH", help="Bounds of another measure."
)
@click.option(
    "--guess", multiple=True, metavar="NAME=VALUE", help="Start here, and find the nearest minimum."
)
@click.option(
    "--search", default="auto", show_default=True, metavar="NAME", help=f"One of {', '.join(METHODS)}."
)
@click.option("--budget", type=int, metavar="N", help="Largest number of runs.")
@click.option("--seed", type=int, default=0, metavar="N", help="Seed of the global search.")
@click.option("--save", type=NEW, metavar="FILE", help="Write the mechanism that was found.")
@study_options
def optimize_command(
    file: str,
    free: tuple[str, ...],
    measure: str,
    limits: tuple[str, ...],
    guess: tuple[str, ...],
    search: str,
    save: str | None,
    plot: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Find the parameters of the mechanism in FILE that minimise, or maximise, a measure of its run."""
    from bellcrank.io import read
    from bellcrank.studies.optimize import optimize

    content = read(file)
    check_pictures(plot)
    quiet = given["quiet"]
    arguments = arguments_of(content.simulation.arguments(), given)
    report = optimize(
        content.mechanism,
        values_of(free, content.mechanism, False),
        measure,
        constraints=bounds_of_measures(limits),
        guess=guess_of(guess),
        search=search,
        **given,
        **arguments,
    )
    conclude(report, content.simulation, save, plot, as_json, quiet)
    if report.message == "interrupted":
        sys.exit(130)


@click.command("fit")
@click.argument("file", type=EXISTING)
@click.argument("data", type=EXISTING)
@click.option(
    "--free", multiple=True, required=True, metavar="NAME[=LOW:HIGH]", help="A parameter, and its bounds."
)
@click.option("--use", multiple=True, metavar="QUANTITY", help="Columns of the data (default: all).")
@click.option("--noise", multiple=True, metavar="QUANTITY=SIGMA", help="Standard deviation of the data.")
@click.option(
    "--guess", multiple=True, metavar="NAME=VALUE", help="Start values (default: the present values)."
)
@click.option(
    "--loss",
    default="linear",
    show_default=True,
    metavar="NAME",
    help="Loss: linear, soft_l1, huber, cauchy or arctan.",
)
@click.option("--budget", type=int, metavar="N", help="Largest number of runs, not counting derivatives.")
@click.option("--save", type=NEW, metavar="FILE", help="Write the mechanism that was found.")
@study_options
def fit_command(
    file: str,
    data: str,
    free: tuple[str, ...],
    use: tuple[str, ...],
    noise: tuple[str, ...],
    guess: tuple[str, ...],
    save: str | None,
    plot: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Find the parameters with which a run of the mechanism in FILE best matches the table DATA (CSV).

    The table has a column "time [s]" and columns named by quantities, as `bellcrank convert RUN.h5 TABLE.csv`
    writes them. Prints the parameters with their standard deviations.
    """
    from bellcrank.io import read
    from bellcrank.studies.fit import fit

    content = read(file)
    check_pictures(plot)
    quiet = given["quiet"]
    arguments = arguments_of(content.simulation.arguments(), given, as_fit=True)
    report = fit(
        content.mechanism,
        values_of(free, content.mechanism, False),
        _columns(data, use),
        noise=_noise(noise),
        guess=guess_of(guess),
        **given,
        **arguments,
    )
    conclude(report, content.simulation, save, plot, as_json, quiet)


def _columns(path: str, use: tuple[str, ...]) -> dict[str, Any]:
    from bellcrank.studies.data import TIMES

    table = table_of(path)
    found = {str(name): table[name].to_numpy() for name in table.columns}
    times = next((name for name in TIMES if name in found), None)
    if times is None:
        raise MechanismError(Fault(f"file '{path}'", "it has no column 'time [s]'", list(found)[:8]))
    for name in use:
        if name not in found:
            raise MechanismError(
                Fault("--use", f"the table has no column {name!r}", None, nearest(name, found))
            )
    return {name: found[name] for name in (times, *use)} if use else found


def _noise(texts: tuple[str, ...]) -> Any:
    if not texts:
        return None
    found = {}
    for text in texts:
        name, _, value = text.rpartition("=")
        try:
            found[name.strip()] = float(value)
        except ValueError:
            advice = "such as joint.pivot.theta_z=0.01"
            raise MechanismError(Fault("--noise", "it is written as QUANTITY=SIGMA", text, advice)) from None
    return found.get("") or found
