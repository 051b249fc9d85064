"""`bellcrank convert` and `export`: files of other formats, and equations as code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bellcrank.cli.options import EXISTING, NEW, reading_options
from bellcrank.cli.output import note, note_left_out, show_json
from bellcrank.errors import Unsupported
from bellcrank.trajectory.own_file import is_run

if TYPE_CHECKING:
    from bellcrank.formulations.symbolic import SymbolicSystem


@click.command("convert")
@click.argument("source", metavar="FROM", type=EXISTING)
@click.argument("target", metavar="TO", type=NEW)
@reading_options
def convert_command(source: str, target: str, reading: dict[str, Any]) -> None:
    """Write the mechanism or the run in FROM as TO; the suffixes choose the formats.

    A mechanism (.yaml, .yml, .json) is written in SI units with placed mechanisms expanded, or for other
    programs as URDF (.urdf) or MJCF (.xml); it may be read from these, from SDF, protein and mesh files. A
    run (.h5) becomes a table (.csv; .npz for NumPy; .mat for MATLAB, needs SciPy), a NetCDF file with named
    axes (.nc, needs xarray), or a clean run file (.h5) if its process was killed. An existing file TO is
    replaced.
    """
    if is_run(source):
        from bellcrank.trajectory.trajectory import Trajectory

        Trajectory.load(source).save(target, replace=True)
    else:
        from bellcrank.io import read, save

        content = read(source, **reading)
        note_left_out(content.mechanism.left_out)
        for fault in save(content.mechanism, target, content.simulation):
            note(f"left out: {fault}")
    click.echo(f"written: {target}")


@click.command("export")
@click.argument("source", metavar="MECHANISM", type=EXISTING)
@click.argument("target", metavar="[TO]", type=NEW, required=False)
@click.option(
    "--frame",
    "frames",
    multiple=True,
    metavar="NAME",
    help="Body, or marker as body.marker, whose pose, velocity and Jacobian are written; may be repeated.",
)
@click.option("--name", metavar="NAME", help="Prefix of the C functions; by default the name of the file TO.")
@click.option(
    "--eliminate-driven",
    is_flag=True,
    help="Replace coordinates that drives prescribe by their functions of time (text and LaTeX).",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
def export_command(
    source: str,
    target: str | None,
    frames: tuple[str, ...],
    name: str | None,
    eliminate_driven: bool,
    as_json: bool,
) -> None:
    """Write the equations of motion of MECHANISM as TO: C with a header (.c), LaTeX (.tex) or text (.txt).

    The equations are those of the symbolic formulation, in joint coordinates; without TO they are printed as
    text. What they do not contain, such as limits, is listed.
    """
    from bellcrank.formulations.preparing import prepare
    from bellcrank.io import load

    suffix = "" if target is None else Path(target).suffix.lower()
    if suffix not in ("", ".c", ".tex", ".txt") or (target is not None and not suffix):
        raise Unsupported(f"equations of motion become a .c, .tex or .txt file, not {target!r}")
    if name is not None and suffix != ".c":
        raise click.UsageError("--name is for C files")
    if eliminate_driven and suffix == ".c":
        raise click.UsageError("--eliminate-driven is for text and LaTeX")
    mechanism = load(source)
    note_left_out(mechanism.left_out)
    system = prepare(mechanism, "symbolic")
    if suffix == ".c":
        found, left_out = _as_c(system, str(target), frames, name)
    else:
        found, left_out = _as_text(system, target, frames, eliminate_driven)
    if as_json:
        show_json(found)
        return
    if target is None:
        click.echo(found["text"])
        return
    for one in left_out:
        note(f"not contained: {one}")
    click.echo(f"written: {', '.join(found['written'])}")


def _as_c(
    system: SymbolicSystem, target: str, frames: tuple[str, ...], name: str | None
) -> tuple[dict[str, Any], tuple[str, ...]]:
    written = system.export_c(target, frames, name)
    lists = ("functions", "coordinates", "speeds", "parameters", "inputs", "left_out")
    found = {key: list(getattr(written, key)) for key in lists}
    return {"written": [str(written.source), str(written.header)], **found}, written.left_out


def _as_text(
    system: SymbolicSystem, target: str | None, frames: tuple[str, ...], eliminate_driven: bool
) -> tuple[dict[str, Any], tuple[str, ...]]:
    from bellcrank.whole_files import write_whole

    equations = system.equations(frames, eliminate_driven=eliminate_driven)
    latex = f"\\[\n{equations.latex}\n\\]\n"
    if target is not None:
        text = latex if Path(target).suffix.lower() == ".tex" else f"{equations}\n"
        write_whole(target, text)
        return {"written": [target], "left_out": list(equations.left_out)}, equations.left_out
    return {
        "text": str(equations),
        "latex": equations.latex,
        "left_out": list(equations.left_out),
    }, equations.left_out
