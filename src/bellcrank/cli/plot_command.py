"""`bellcrank plot`: figures of a recorded run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bellcrank.cli.values import listed, show_json


@click.command("plot")
@click.argument("run", metavar="RUN.h5", type=click.Path(exists=True, dir_okay=False))
@click.argument("names", nargs=-1)
@click.option(
    "--what", "--kind", "-w", default="overview", metavar="KIND", show_default=True, help="Kind of figure."
)
@click.option("--out", "-o", type=click.Path(dir_okay=False), metavar="FILE", help="PNG, PDF or SVG.")
@click.option("--degrees", is_flag=True, default=None, help="Angles of joints in degrees.")
@click.option("--components", is_flag=True, default=None, help="Reactions by components.")
@click.option("--plane", metavar="XY", help="Plane of paths: xy, xz or yz.")
@click.option("--times", metavar="T,T,...", help="Instants of a picture, s.")
@click.option(
    "--instants", type=int, metavar="N", help="Number of instants, spread over the run (default: 5)."
)
@click.option("--point", metavar="X,Y,Z", help="Point of the bodies whose path is shown, m.")
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
def command(
    run: str,
    names: tuple[str, ...],
    what: str,
    out: str | None,
    point: str | None,
    times: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Plot a recorded run: the named joints, bodies, drives or forces, or the most significant ones.

    Kinds: overview, joint, body, path, reaction, drive, force, limit, energy, violation, and picture: the
    mechanism itself at several instants (see `bellcrank draw`).
    """
    from bellcrank.cli.messages import note
    from bellcrank.trajectory.trajectory import Trajectory

    options = {name: value for name, value in given.items() if value is not None}
    if point is not None:
        rule = "it takes three numbers separated by commas"
        options["point"] = listed("--point", point, "m", rule, "0.1,0,0.2")
    if times is not None:
        options["times"] = listed("--times", times, "s", "it takes numbers separated by commas", "0.1,0.2")
    recorded = Trajectory.load(run)
    path = out if out is not None else f"{Path(run).stem}_{what}.png"
    recorded.plot(what, *names, path=path, **options)
    if recorded.status != "finished":
        note(f"the run is not complete ({recorded.status}): {recorded.status.message}")
    if as_json:
        show_json({"run": run, "kind": what, "status": str(recorded.status), "written": [path]})
    else:
        click.echo(f"written: {path}")
