"""`bellcrank plot`: figures of a recorded run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bellcrank.errors import Fault, MechanismError


@click.command("plot")
@click.argument("run", metavar="RUN.h5", type=click.Path(exists=True, dir_okay=False))
@click.argument("names", nargs=-1)
@click.option(
    "--what", "--kind", "-w", default="overview", metavar="KIND", show_default=True, help="Kind of figure."
)
@click.option("--out", type=click.Path(dir_okay=False), metavar="FILE", help="PNG, PDF or SVG.")
@click.option("--degrees", is_flag=True, default=None, help="Angles of joints in degrees.")
@click.option("--components", is_flag=True, default=None, help="Reactions by components.")
@click.option("--plane", metavar="XY", help="Plane of paths: xy, xz or yz.")
@click.option("--times", metavar="T,T,...", help="Instants of a picture, s.")
@click.option("--instants", type=int, metavar="N", help="How many of them, spread over the run; 5.")
@click.option("--point", metavar="X,Y,Z", help="Point of the bodies whose path is shown, m.")
def command(
    run: str,
    names: tuple[str, ...],
    what: str,
    out: str | None,
    point: str | None,
    times: str | None,
    **given: Any,
) -> None:
    """Plot a recorded run: of the joints, bodies, drives or forces named, or of those that matter most.

    Kinds: overview, joint, body, path, reaction, drive, force, limit, energy, violation, and picture: the
    mechanism itself at instants (see `bellcrank draw`).
    """
    from bellcrank.cli.messages import note
    from bellcrank.trajectory.trajectory import Trajectory

    options = {name: value for name, value in given.items() if value is not None}
    if point is not None:
        options["point"] = _numbers("--point", point, "it takes three numbers parted by commas")
    if times is not None:
        options["times"] = _numbers("--times", times, "it takes numbers parted by commas")
    recorded = Trajectory.load(run)
    path = out if out is not None else f"{Path(run).stem}_{what}.png"
    recorded.plot(what, *names, path=path, **options)
    if recorded.status != "finished":
        note(f"the run is not complete ({recorded.status}): {recorded.status.message}")
    click.echo(f"written: {path}")


def _numbers(option: str, text: str, rule: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise MechanismError(Fault(option, rule, text, "such as 0.1,0,0.2")) from None
