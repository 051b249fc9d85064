"""`bellcrank convert`: files from one format to another."""

from __future__ import annotations

from typing import Any

import click

from bellcrank.cli.reading_options import reading_options
from bellcrank.trajectory.own_file import is_run


@click.command("convert")
@click.argument("source", metavar="FROM", type=click.Path(exists=True, dir_okay=False))
@click.argument("target", metavar="TO", type=click.Path(dir_okay=False))
@reading_options
def command(source: str, target: str, reading: dict[str, Any]) -> None:
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
        from bellcrank.cli.messages import note, note_left_out
        from bellcrank.io import read, save

        content = read(source, **reading)
        note_left_out(content.mechanism.left_out)
        for fault in save(content.mechanism, target, content.simulation):
            note(f"left out: {fault}")
    click.echo(f"written: {target}")
