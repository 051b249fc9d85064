"""What a recorded run shows, on one page: the mechanism in motion and the efforts of its drives.

Usage: demo_sheet.py RUN.h5 SHEET.png. The run must keep its mechanism, as `bellcrank run --out` does.
"""

from __future__ import annotations

import sys
from pathlib import Path

import figures
import numpy as np

import bellcrank as bc


def facts_of(mech: bc.Mechanism, run: bc.Trajectory) -> list[tuple[str, str]]:
    """Counts of the mechanism without its drives, and how fast it was simulated."""
    for drive in list(mech.drives.values()):
        mech.remove(drive)
    facts = bc.info(mech)
    seconds = float(run.statistics["wall_seconds"])
    span, steps = run.time[-1] - run.time[0], run.statistics["steps"]
    return [
        ("bodies", f"{facts.bodies} ({6 * facts.bodies} coordinates), {facts.mass:.3g} kg"),
        ("constraint rows", f"{facts.rows}, of them {len(facts.redundant)} redundant"),
        ("degrees of freedom", f"{facts.freedom}, drives {len(run.drives)}"),
        ("closed loops", f"{facts.loops}"),
        ("constraints met to", f"{run.violation.position.max():.1e} (m, rad)"),
        ("speed", f"{span / seconds:.1f} times real time, {steps / seconds:.0f} steps a second"),
    ]


def sheet(mech: bc.Mechanism, run: bc.Trajectory, path: Path) -> None:
    """Draw the page."""
    fig = figures.figure(size=(9.0, 5.6))
    drives = list(run.drives)[:6]
    grid = fig.add_gridspec(max(len(drives), 1), 2, width_ratios=(1.25, 1.0))
    scene = fig.add_subplot(grid[:, 0])
    farthest = max(mech.bodies, key=lambda name: float(np.ptp(run.body(name).com_position, axis=0).max()))
    body = mech.bodies[farthest]
    run.draw(axes=scene, instants=3, view=(34.0, 14.0), paths=[body.marker(body.com)])
    scene.set_title(f"{run.name}, with the path of {farthest!r}")
    for row, name in enumerate(drives):
        axis = fig.add_subplot(grid[row, 1])
        axis.plot(run.time, run.drive(name).effort, color=figures.COLOURS[row])
        axis.set(title=f"{name} ({run.drive(name).unit.replace(' ', '·')})", xlim=(run.time[0], run.time[-1]))
        axis.axhline(0.0, color=figures.GREY, linewidth=0.6)
        if row < len(drives) - 1:
            axis.set_xticklabels([])
        else:
            axis.set_xlabel("time (s)")
    figures.save(fig, path)


def main() -> None:
    run = bc.Trajectory.load(sys.argv[1])
    mech = bc.loads(run.mechanism)
    sheet(mech, run, Path(sys.argv[2]))
    for what, value in facts_of(mech, run):
        print(f"{what:20s}{value}")


if __name__ == "__main__":
    main()
