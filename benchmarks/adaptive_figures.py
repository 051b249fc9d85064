"""Figures 1, 5, 7 and 8 of Redon and Lin, and pictures of linkages with their active joints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.adaptive_linkages import HingeTree, millipede, molecule
from benchmarks.report import Report, Row


def plot(report: Report, folder: Path) -> None:
    """Draw what a report holds, and the linkages, into a folder. Raises ImportError without matplotlib."""
    folder.mkdir(parents=True, exist_ok=True)
    tables = {table.name: list(table.rows) for table in report.tables}
    if "figure1" in tables:
        _figure(folder / "adaptive-chain.png", (9.0, 3.6), 1, 2, _chain, tables["figure1"])
    if "figure5" in tables:
        _figure(folder / "adaptive-millipede.png", (9.0, 3.6), 1, 2, _millipede, tables["figure5"])
    if "table1" in tables:
        _figure(folder / "adaptive-molecule.png", (9.0, 6.4), 2, 2, _molecule, tables["table1"])
    _linkages(folder / "adaptive-linkages.png")


def _figure(
    path: Path, size: tuple[float, float], rows: int, columns: int, draw: Any, data: list[Row]
) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    draw(figure.subplots(rows, columns).ravel(), data)
    figure.savefig(path, dpi=110)


def _chain(panels: Any, rows: list[Row]) -> None:
    """Where the chain ends, and its last links."""
    for panel in panels:
        for row in rows:
            points = np.array(row["end"])
            exact = row["power"] == "exact"
            label = "exact" if exact else f"bound 2^-{row['power']}, {row['joints']} joints"
            style = "k-" if exact else "o-"
            panel.plot(points[:, 0], points[:, 2], style, markersize=3, label=label, zorder=1 + exact)
        panel.set(xlabel="x, m", ylabel="z, m", aspect="equal")
        panel.grid(visible=True, alpha=0.3)
    panels[1].legend(fontsize=7, loc="upper left")
    panels[0].set_title("figure 1: chain of 30, its last link pulled up")
    ends = np.array([row["end"][-1] for row in rows])
    room = 0.6 * np.ptp(ends, axis=0).max() + 0.015
    centre = (ends.max(axis=0) + ends.min(axis=0)) / 2.0
    panels[1].set(xlim=centre[0] + room * np.array([-1, 1]), ylim=centre[2] + room * np.array([-1, 1]))
    panels[1].set_title("the end")


def _millipede(panels: Any, rows: list[Row]) -> None:
    bounds = [2.0 ** -row["power"] for row in rows]
    panels[0].loglog(bounds, [row["ms"] for row in rows], "o-", label="error-bounded")
    panels[0].loglog(bounds, [row["exact"] for row in rows], "k--", label="exact, all joints")
    panels[1].loglog(bounds, [row["joints"] for row in rows], "o-")
    panels[0].set(title="figure 5: millipede, 13,000 links", ylabel="ms a step")
    panels[1].set(title="joints computed", ylabel="joints")
    panels[0].legend()
    _finish(panels)


def _molecule(panels: Any, rows: list[Row]) -> None:
    for forces in dict.fromkeys(row["forces"] for row in rows):
        mine = [row for row in rows if row["forces"] == forces]
        bounds = [2.0 ** -row["power"] for row in mine]
        (line,) = panels[0].loglog(bounds, [1e-3 * row["us"] for row in mine], "o-", label=f"{forces} forces")
        drawn = {"color": line.get_color()}
        panels[0].loglog(bounds, [row["paper_ms"] for row in mine], ":", **drawn)
        for panel, ours, paper in ((panels[1], "joints", "paper_joints"), (panels[2], "error", "paper_error"),
                                   (panels[3], "speedup", "paper_speedup")):  # fmt: skip
            panel.loglog(bounds, [row[ours] for row in mine], "o-", **drawn)
            panel.loglog(bounds, [row[paper] for row in mine], ":", **drawn)
    panels[0].set(title="figure 7: ms a step (dotted: the paper, 2005)", ylabel="ms")
    panels[1].set(title="joints computed", ylabel="joints")
    panels[2].set(title="figure 8: relative displacement error", ylabel="error")
    panels[3].set(title="exact step / this step", ylabel="ratio")
    panels[0].legend(fontsize=7)
    _finish(panels)


def _finish(panels: Any) -> None:
    for panel in panels:
        panel.invert_xaxis()
        panel.set_xlabel("bound of the relative joint error")
        panel.grid(visible=True, alpha=0.3)


def _linkages(path: Path) -> None:
    """A millipede that is pulled by a foot, and a molecule: where they were, are, and what moved last."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 4.6), layout="constrained")
    cases = (
        ("millipede, a foot pulled", millipede(12, spine=36), 2e-2, 1500),
        ("molecule, unfolding as its end is pulled", _pulled(molecule(150, seed=2)), 5e-2, 1500),
    )
    for number, (title, linkage, step, count) in enumerate(cases):
        axes: Any = figure.add_subplot(1, 2, number + 1, projection="3d")
        _draw(axes, linkage, step, count)
        axes.set_title(title, fontsize=9)
    figure.savefig(path, dpi=110)


def _pulled(linkage: HingeTree) -> HingeTree:
    """With a force at the last atom, away from the first."""
    away = linkage.poses()[0][-1]
    return linkage.loaded(np.array([len(linkage.mass) - 1]), 3.0 * away[None] / np.linalg.norm(away))


def _draw(axes: Any, linkage: HingeTree, step: float, count: int) -> None:
    import bellcrank as bc

    run = bc.start(linkage.mechanism(), mode="quasistatic", step=step, max_error=0.05, assemble=False)
    names = [f"link {k}" for k in range(len(linkage.mass))]

    def places() -> np.ndarray:
        return np.array([run.pose(name)[0] for name in names])

    before = places()
    moved = {int(name.split()[1]) for name in run.advance(steps=count) if name}
    for points, color in ((before, "0.85"), (places(), "0.4")):
        for k, parent in enumerate(linkage.parent):
            if parent >= 0:
                ends = points[[parent, k]].T
                active = color == "0.4" and k in moved
                axes.plot(*ends, color="crimson" if active else color, linewidth=2.2 if active else 0.9)
    axes.set_box_aspect((1.0, 1.0, 0.8))
    axes.tick_params(labelsize=6)
