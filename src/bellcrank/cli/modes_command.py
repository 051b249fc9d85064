"""`bellcrank modes`: natural frequencies, damping ratios and shapes."""

from __future__ import annotations

from typing import Any

import click

from bellcrank.cli.analysis_options import about, mechanism_of, show_result, study

_FILE = click.Path(dir_okay=False)


@click.command("modes")
@study
@about
@click.option("--draw", "picture", type=_FILE, metavar="PNG", help="Draw the shapes (PNG, PDF, SVG).")
@click.option("--animate", "film", type=_FILE, metavar="FILM", help="Film a mode (MP4, GIF).")
@click.option(
    "--mode",
    "number",
    type=int,
    metavar="N",
    help="The mode to film; by default the first that is not neutral.",
)
def command(
    file: str,
    time: float,
    parameters: tuple[str, ...],
    as_json: bool,
    at_rest: bool,
    any_state: bool,
    picture: str | None,
    film: str | None,
    number: int | None,
    **given: Any,
) -> None:
    """Show natural frequencies, damping ratios and shapes of small motions of the mechanism in FILE."""
    from bellcrank.linear.linearize import modes

    found = modes(mechanism_of(file, parameters, time, at_rest), time=time, steady=not any_state, **given)
    if picture is not None:
        found.draw(picture)
    if film is not None:
        first = next((mode.number for mode in found if mode.kind != "neutral"), 1)
        found.mode(first if number is None else number).animate(film)
    show_result(found, as_json)
