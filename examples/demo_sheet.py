"""What a recorded run shows, on one page: the mechanism in motion and the efforts of its drives.

Usage: demo_sheet.py RUN.h5 SHEET.png. The run must keep its mechanism, as `bellcrank run --out` does.
"""

from __future__ import annotations

import sys
from pathlib import Path

import drawing
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
        ("freedom", f"{facts.freedom}, drives {len(run.drives)}"),
        ("closed loops", f"{facts.loops}"),
        ("constraints met to", f"{run.violation.position.max():.1e} (m, rad)"),
        ("speed", f"{span / seconds:.1f} times real time, {steps / seconds:.0f} steps a second"),
    ]


def space_of(mech: bc.Mechanism, run: bc.Trajectory, frames: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Opposite corners of the space that the shapes need in these frames, m."""
    points = []
    for body in (run.body(name) for name in mech.bodies):
        for shape in mech.bodies[body.name].shapes:
            reach = np.abs(drawing.faces(shape)).reshape(-1, 3).max(axis=0, initial=0.0)
            ends = [
                body.point(tuple(np.asarray(shape.position) + sign * reach))[frames] for sign in (1.0, -1.0)
            ]
            points += ends
    corners = np.concatenate(points)
    return corners.min(axis=0), corners.max(axis=0)


def sheet(mech: bc.Mechanism, run: bc.Trajectory, path: Path) -> None:
    """Draw the page."""
    fig = figures.figure(size=(9.0, 5.6))
    drives = list(run.drives)[:6]
    grid = fig.add_gridspec(max(len(drives), 1), 2, width_ratios=(1.25, 1.0))
    scene = fig.add_subplot(grid[:, 0], projection="3d", computed_zorder=False)
    last = len(run) - 1
    frames = [0, last // 2, last]
    for frame, opacity in zip(frames, (0.25, 0.45, 1.0), strict=True):
        drawing.add(scene, mech, run.at(run.time[frame]), opacity=opacity)
    farthest = max(mech.bodies, key=lambda name: float(np.ptp(run.body(name).com_position, axis=0).max()))
    scene.plot(*run.body(farthest).com_position.T, color=figures.PINK, linewidth=1.8, zorder=10)
    low, high = space_of(mech, run, frames)
    drawing.frame(scene, low, high, azimuth=-56, elevation=14, zoom=1.25)
    times = ", ".join(f"{run.time[frame]:.2f}" for frame in frames)
    scene.set_title(f"{run.name}\nat {times} s, with the path of {farthest!r}")
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
