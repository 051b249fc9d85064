"""`bellcrank statics`: equilibrium of a mechanism, drive efforts and joint reactions."""

from __future__ import annotations

from typing import Any

import click

from bellcrank.cli.analysis_options import mechanism_of, show_result, study


@click.command("statics")
@study
@click.option("--pin", "pinned", multiple=True, metavar="BODY", help="A body that keeps its placement.")
@click.option(
    "--keep-unstable", is_flag=True, help="Accept an equilibrium that is not a minimum of the energy."
)
@click.option(
    "--draw", "picture", type=click.Path(dir_okay=False), metavar="PNG", help="Draw it in equilibrium."
)
def command(
    file: str,
    time: float,
    parameters: tuple[str, ...],
    as_json: bool,
    keep_unstable: bool,
    picture: str | None,
    **given: Any,
) -> None:
    """Show the equilibrium of the mechanism in FILE, the efforts of its drives and its joint reactions."""
    from bellcrank.analysis.statics import statics

    found = statics(mechanism_of(file, parameters, time), time, leave_unstable=not keep_unstable, **given)
    if picture is not None:
        found.draw(picture)
    show_result(found, as_json)
