"""`bellcrank demo`: a first look that needs no file."""

from __future__ import annotations

import sys
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Any, Final

import click

from bellcrank.cli.output import facts, note, show, wants_progress
from bellcrank.errors import Unsupported

if TYPE_CHECKING:
    from bellcrank.mechanism.mechanism import Mechanism
    from bellcrank.trajectory.trajectory import Trajectory


_SIZE: Final = (9.0, 5.6)  # inches
_SHOWN: Final = 6  # drives whose efforts are plotted
_VIEW: Final = (34.0, 14.0)  # degrees


@click.command("demo")
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(),
    metavar="FOLDER",
    help="Folder to write into (default: the working folder).",
)
def demo_command(folder: Path) -> None:
    """Simulate a prosthetic arm that takes a book from a shelf.

    Writes the mechanism (demo.yaml), the recorded run (demo.h5) and, if matplotlib is installed, an overview
    of the run (demo.png) and a sheet with the arm in motion and the torques of its motors (demo-sheet.png).
    """
    from bellcrank.gallery.prosthetic_tasks import TAKE_A_BOOK, demonstration
    from bellcrank.io import Simulation, dumps
    from bellcrank.run.simulate import simulate
    from bellcrank.whole_files import write_whole

    mechanism = demonstration()
    settings = Simulation(duration=TAKE_A_BOOK.end, step=1e-3, output_step=5e-3)
    folder.mkdir(parents=True, exist_ok=True)
    description, recorded = folder / "demo.yaml", folder / "demo.h5"
    text = dumps(mechanism, "yaml", settings)
    write_whole(description, text)
    run = simulate(
        mechanism, path=recorded, description=text, progress=wants_progress(None), **settings.arguments()
    )
    written = [description, recorded]
    try:
        written += _drawn(mechanism, run, folder)
    except Unsupported as error:
        note(str(error))
    show(facts([*_facts(mechanism, run), ("written", ", ".join(map(str, written)))]))
    program = "bellcrank" if which("bellcrank") else sys.argv[0]
    click.echo(f"To see it move, drag and steer it in the browser: {program} view {description}")


def _facts(mechanism: Mechanism, run: Trajectory) -> list[tuple[str, str]]:
    """Counts of the mechanism without its drives, and how fast it was simulated."""
    from bellcrank.analysis.info import info

    undriven = mechanism.copy()
    for drive in list(undriven.drives.values()):
        undriven.remove(drive)
    found = info(undriven)
    span, seconds = run.time[-1] - run.time[0], float(run.statistics["wall_seconds"])
    return [
        (
            "simulated",
            f"{mechanism.name}, {span:g} s in {seconds:.2g} s ({span / seconds:.2g} times real time)",
        ),
        ("bodies", f"{found.bodies} ({6 * found.bodies} coordinates), {found.weight}"),
        ("constraint rows", f"{found.rows}, {len(found.redundant)} redundant; closed loops: {found.loops}"),
        ("degrees of freedom", f"{found.freedom}, driven: {len(run.drives)}"),
        ("constraints met to", f"{run.violation.position.max():.1e} (m, rad)"),
    ]


def _drawn(mechanism: Mechanism, run: Trajectory, folder: Path) -> list[Path]:
    """The pictures that were written."""
    from bellcrank.scene.figure import check_matplotlib, write_figure

    check_matplotlib()
    overview, sheet = folder / "demo.png", folder / "demo-sheet.png"
    run.plot(path=overview)
    write_figure(_sheet(mechanism, run), sheet)
    return [overview, sheet]


def _sheet(mechanism: Mechanism, run: Trajectory) -> Any:
    """The mechanism at instants, the path of the body that travels farthest, and the efforts of drives."""
    import matplotlib as mpl
    import numpy as np

    from bellcrank.scene.figure import new_figure
    from bellcrank.trajectory.panels import COLOURS, GREY, SETTINGS

    farthest = max(
        mechanism.bodies, key=lambda name: float(np.ptp(run.body(name).com_position, axis=0).max())
    )
    body, drives = mechanism.bodies[farthest], list(run.drives)[:_SHOWN]
    with mpl.rc_context(SETTINGS):
        figure = new_figure(_SIZE, on_screen=False)
        grid = figure.add_gridspec(len(drives), 2, width_ratios=(1.25, 1.0))
        scene = figure.add_subplot(grid[:, 0])
        run.draw(axes=scene, instants=3, view=_VIEW, paths=[body.marker(body.com)])
        scene.set_title(f"{run.name}, with the path of {farthest!r}")
        for row, name in enumerate(drives):
            drive = run.drive(name)
            axis = figure.add_subplot(grid[row, 1])
            axis.plot(run.time, drive.effort, color=COLOURS[row])
            axis.set(title=f"{name} ({drive.unit.replace(' ', '·')})", xlim=(run.time[0], run.time[-1]))
            axis.axhline(0.0, color=GREY, linewidth=0.6)
            if row < len(drives) - 1:
                axis.set_xticklabels([])
            else:
                axis.set_xlabel("time (s)")
    return figure
