"""`bellcrank sweep`: one analysis of a mechanism at many values of its parameters."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from bellcrank.cli.study_options import (
    EXISTING,
    arguments_of,
    check_pictures,
    study_options,
    table_of,
    values_of,
)
from bellcrank.cli.values import show_json
from bellcrank.errors import Unsupported
from bellcrank.studies.points import ARRANGEMENTS, SAMPLES
from bellcrank.studies.result import SweepResult


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
@click.option(
    "--keep",
    "path",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Keep results here; resume if it exists.",
)
@click.option(
    "--runs", type=click.Path(file_okay=False), metavar="FOLDER", help="Record each run into this folder."
)
@click.option(
    "--out",
    "-o",
    type=click.Path(dir_okay=False),
    metavar="TABLE",
    help="Write a table (.csv) or a Dataset (.nc).",
)
@study_options
def command(
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
