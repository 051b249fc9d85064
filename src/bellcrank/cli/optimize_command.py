"""`bellcrank optimize`: parameters of a mechanism that minimise a measure."""

from __future__ import annotations

import sys
from typing import Any

import click

from bellcrank.cli.study_options import (
    EXISTING,
    arguments_of,
    bounds_of_measures,
    check_pictures,
    conclude,
    guess_of,
    study_options,
    values_of,
)
from bellcrank.studies.goal import METHODS


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
@click.option(
    "--save", type=click.Path(dir_okay=False), metavar="FILE", help="Write the mechanism that was found."
)
@study_options
def command(
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
