"""`bellcrank plot` and `draw`: figures of a recorded run, pictures and films of a mechanism."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import click

from bellcrank.cli.options import EXISTING, NEW, listed, reading_options
from bellcrank.cli.output import note, show_json, wants_progress
from bellcrank.errors import Fault, MechanismError


@click.command("plot")
@click.argument("run", metavar="RUN.h5", type=EXISTING)
@click.argument("names", nargs=-1)
@click.option(
    "--what", "--kind", "-w", default="overview", metavar="KIND", show_default=True, help="Kind of figure."
)
@click.option("--out", "-o", type=NEW, metavar="FILE", help="PNG, PDF or SVG.")
@click.option("--degrees", is_flag=True, default=None, help="Angles of joints in degrees.")
@click.option("--components", is_flag=True, default=None, help="Reactions by components.")
@click.option("--plane", metavar="XY", help="Plane of paths: xy, xz or yz.")
@click.option("--times", metavar="T,T,...", help="Instants of a picture, s.")
@click.option(
    "--instants", type=int, metavar="N", help="Number of instants, spread over the run (default: 5)."
)
@click.option("--point", metavar="X,Y,Z", help="Point of the bodies whose path is shown, m.")
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
def plot_command(
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

    Kinds: overview, joint, body, path, reaction, drive, force, limit, section (loads along a body), energy,
    violation, and picture: the mechanism itself at several instants (see `bellcrank draw`).
    """
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


_RULE: Final = "it takes numbers separated by commas"


@click.command("draw")
@click.argument("file", metavar="FILE", type=EXISTING)
@click.option("-o", "--out", type=NEW, metavar="PICTURE", help="PNG, PDF, SVG, GLB; of a run also MP4, GIF.")
@click.option(
    "--view",
    metavar="VIEW",
    help="A name (front, top, oblique, ...); or two angles in degrees, such as 30,20.",
)
@click.option("--names", is_flag=True, help="Write the names of the bodies.")
@click.option("--follow", metavar="BODY", help="A film moves with it; a picture shows what is around it.")
@click.option("--times", metavar="T,T,...", help="Instants of a run, s.")
@click.option(
    "--instants", type=int, metavar="N", help="Number of instants, spread over the run (default: 5)."
)
@click.option(
    "--path", "paths", multiple=True, metavar="NAME", help="Draw the path of a marker, or of a body's origin."
)
@click.option("--contacts", is_flag=True, help="Mark where bodies touch in a run, with forces as arrows.")
@click.option(
    "--contact", "chosen", multiple=True, metavar="NAME", help="The same for this contact or tyre only."
)
@click.option(
    "--force-scale",
    metavar="N/M",
    help="Force per metre of arrow, such as '2 kN/m'; by default it suits the picture.",
)
@click.option(
    "--beams",
    metavar="QUANTITY",
    help="Colour the beams of a run by moment, torsion, force, shear, stress, von_mises, curvature or "
    "deflection.",
)
@click.option("--fps", type=float, default=30.0, show_default=True, help="Pictures per second of a film.")
@click.option(
    "--speed", type=float, default=1.0, show_default=True, help="Seconds of the run per second of film."
)
@reading_options
def draw_command(
    file: str,
    out: str | None,
    view: str | None,
    names: bool,
    follow: str | None,
    times: str | None,
    instants: int | None,
    paths: tuple[str, ...],
    contacts: bool,
    chosen: tuple[str, ...],
    force_scale: str | None,
    beams: str | None,
    fps: float,
    speed: float,
    reading: dict[str, Any],
) -> None:
    """Draw a mechanism at its assembled start, or a recorded run (HDF5), also as a film.

    The mechanism is in a YAML or JSON file, a model of another program, or a mesh (STL, OBJ, glTF).
    """
    from bellcrank.scene.film import SUFFIXES
    from bellcrank.scene.gltf import SUFFIX, write_gltf
    from bellcrank.scene.making import of
    from bellcrank.trajectory.own_file import is_run

    options: dict[str, Any] = {"names": True} if names else {}
    if follow is not None:
        options["follow"] = follow
    if view is not None:
        options["view"] = listed("--view", view, "", _RULE, "30,20") if "," in view else view
    over: dict[str, Any] = {"contacts": contacts or list(chosen) or None, "force_scale": _scale(force_scale)}
    over["beams"] = beams
    path = out if out is not None else f"{Path(file).stem}.png"
    if not is_run(file):
        _refuse("a mechanism has no", times=times, instants=instants, path=paths or None)
        if beams is not None:
            rule = "of a mechanism that is not simulated no loads are known"
            raise MechanismError(Fault("--beams", rule, beams, "draw a run of it"))
        if over["contacts"] or force_scale is not None:
            rule = "a mechanism that is not simulated has no contact forces"
            raise MechanismError(Fault("--contacts", rule, None, "draw a run of it"))
        from bellcrank.io.files import load

        mechanism = load(file, **reading)
        if Path(path).suffix.lower() == SUFFIX:
            _refuse("a GLB file has no", **options)
            write_gltf(path, of(mechanism))
        else:
            mechanism.draw(path, **options)
    else:
        from bellcrank.trajectory.moves import run_in

        run = run_in(file)
        if Path(path).suffix.lower() in (*SUFFIXES, SUFFIX):
            _refuse("a film has no", times=times, instants=instants)
            bar = wants_progress(None)
            run.animate(path, fps=fps, speed=speed, paths=paths, progress=bar, **over, **options)
        else:
            if times is not None:
                options["times"] = listed("--times", times, "s", _RULE, "0.1,0.2")
            if instants is not None:
                options["instants"] = instants
            run.draw(path, paths=paths, **over, **options)
    click.echo(f"written: {path}")


def _scale(text: str | None) -> float | str | None:
    """A number, or a text with a unit."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def _refuse(rule: str, **given: Any) -> None:
    for name, value in given.items():
        if value is not None:
            raise MechanismError(
                Fault(f"--{name}", f"{rule} {name}", value, "it belongs to a picture of a run")
            )
