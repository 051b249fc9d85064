"""Figures 1, 5, 7 and 8 of Redon and Lin, pictures of linkages with active joints; adaptive dynamics."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np

from bellcrank.trajectory.panels import COLOURS, GREY, SETTINGS
from benchmarks.adaptive_linkages import HingeTree, millipede, molecule
from benchmarks.report import Report, Row

_ACTIVE: Final = COLOURS[1]


def plot(report: Report, folder: Path) -> None:
    """Draw a report's contents, and the linkages, into a folder. Raises ImportError without matplotlib."""
    import matplotlib as mpl

    folder.mkdir(parents=True, exist_ok=True)
    tables = {table.name: list(table.rows) for table in report.tables}
    with mpl.rc_context({**SETTINGS, "axes.xmargin": 0.04}):
        if "figure1" in tables:
            _figure(folder / "adaptive-chain.png", (7.6, 2.6), (1, 2), _chain, tables["figure1"])
        if "figure5" in tables:
            _figure(folder / "adaptive-millipede.png", (7.6, 3.0), (1, 2), _millipede, tables["figure5"])
        for table, name in (("table1", "molecule"), ("protein", "protein")):
            if table in tables:
                _figure(folder / f"adaptive-{name}.png", (7.6, 5.8), (2, 2), _molecule, tables[table])
        if "figure5" in tables:
            _figure(folder / "adaptive-linkages.png", (7.6, 4.4), (2, 2), _linkages, None)
        if "dynamics" in tables:
            _figure(folder / "adaptive-dynamics.png", (7.6, 5.8), (2, 2), _dynamics, tables)


def _figure(path: Path, size: tuple[float, float], shape: tuple[int, int], draw: Any, data: Any) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    draw(figure.subplots(*shape).ravel(), data)
    figure.savefig(path, dpi=120)


def _chain(panels: Any, rows: list[Row]) -> None:
    """The final position of the chain, and its last links."""
    ends = np.array([row["end"][-1] for row in rows])
    room = 0.6 * np.ptp(ends, axis=0).max() + 5e-4
    centre = (ends.max(axis=0) + ends.min(axis=0)) / 2.0
    for panel, unit, scale in zip(panels, ("m", "mm"), (1.0, 1e3), strict=True):
        for row, color in zip(rows, COLOURS, strict=False):
            points = scale * np.array(row["end"])
            exact = row["power"] == "exact"
            label = "exact" if exact else f"bound 2^-{row['power']}: {row['joints']} joints"
            look = (
                {"color": "black", "linestyle": "--", "zorder": 3}
                if exact
                else {"color": color, "marker": "o"}
            )
            panel.plot(points[:, 0], points[:, 2], markersize=2.5, label=label, **look)
        panel.set(xlabel=f"x of centres of mass [{unit}]", ylabel=f"z [{unit}]")
    panels[0].set(title="Figure 1: chain of 30, its end pulled up", aspect="equal", ylim=(-0.03, 0.09))
    panels[1].set(title="Its end, enlarged", aspect="equal")
    panels[1].set_xlim(1e3 * (centre[0] - 2.0 * room), 1e3 * (centre[0] + 2.0 * room))
    panels[1].set_ylim(1e3 * (centre[2] - room), 1e3 * (centre[2] + room))
    panels[0].legend(loc="upper left", ncols=2)


def _millipede(panels: Any, rows: list[Row]) -> None:
    bounds = [2.0 ** -row["power"] for row in rows]
    panels[0].loglog(
        bounds, [row["ms"] for row in rows], "o-", color=COLOURS[0], label="error-bounded", markersize=3
    )
    panels[0].loglog(bounds, [row["exact"] for row in rows], "k--", label="exact, all joints")
    panels[1].loglog(bounds, [row["joints"] for row in rows], "o-", color=COLOURS[0], markersize=3)
    panels[0].set(title="Figure 5: millipede, a foot pulled", ylabel="CPU time of a step [ms]")
    panels[1].set(title="Joints computed", ylabel="joints [1]")
    panels[0].legend(loc="center left")
    _finish(panels)


def _molecule(panels: Any, rows: list[Row]) -> None:
    kinds = (
        ("us", "paper_ms", 1e-3, "Figure 7: time of a step", "CPU time [ms]"),
        ("joints", "paper_joints", 1.0, "Joints computed", "joints [1]"),
        ("error", "paper_error", 1.0, "Figure 8: displacement error", "largest error / way [1]"),
        ("speedup", "paper_speedup", 1.0, "Exact step / this step", "ratio [1]"),
    )
    for number, forces in enumerate(dict.fromkeys(row["forces"] for row in rows)):
        mine = [row for row in rows if row["forces"] == forces]
        bounds, color = [2.0 ** -row["power"] for row in mine], COLOURS[number]
        label = "1 force" if forces == 1 else f"{forces:,} forces"
        for panel, (ours, paper, scale, title, unit) in zip(panels, kinds, strict=True):
            values = [scale * row[ours] for row in mine]
            panel.loglog(bounds, values, "o-", color=color, markersize=3, label=label)
            panel.loglog(bounds, [row[paper] for row in mine], ":", color=color)
            panel.set(title=title, ylabel=unit)
    panels[0].plot([], [], ":", color=GREY, label="the paper, 2005")
    _finish(panels)
    panels[0].get_figure().legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)


def _dynamics(panels: Any, tables: dict[str, list[Row]]) -> None:
    """Error and cost by free joints, distance from the exact run by limit, energies over time."""
    error, cost, way, energy = panels
    kinds = {"locked": "others locked", "truncated": "others cut off"}
    _curves(error, tables["dynamics_error"], "free", kinds)
    error.set(title="Error of accelerations", xlabel="joints [1]", ylabel="RMS error / RMS of all [1]")
    kinds = {
        "h": "step, symplectic",
        "hf": "accelerations, error",
        "first": "first decision",
        "rk4": "step, RK4",
    }
    _curves(cost, tables["dynamics"], "free", kinds)
    recursive = next(row["value"] for row in tables["dynamics_others"] if "recursive" in row["what"])
    cost.axhline(recursive, color="black", linestyle="--", label="recursive, all joints")
    cost.set(title="Cost of steps", xlabel="free joints [1]", ylabel="CPU time [us]", ylim=(0.3, None))
    rows = tables["dynamics_distance"]
    _curves(way, rows, "limit", {"part": "measured"})
    limits, parts = (np.array([row[key] for row in rows]) for key in ("limit", "part"))
    line = limits * np.exp(np.mean(np.log(parts / limits)))
    way.loglog(limits, line, ":", color=GREY, label="in proportion")
    way.set(title="Distance from the exact run", xlabel="limit of the relative error [1]")
    way.set_ylabel("distance / way [1]")
    way.invert_xaxis()
    rows = tables["dynamics_energy"]
    time, names = [row["t"] for row in rows], {"kinetic": "kinetic", "lost": "lost by locks"}
    for (key, label), color in zip((names | {"unexplained": "unexplained"}).items(), COLOURS, strict=False):
        energy.semilogy(time, [abs(row[key]) for row in rows], color=color, label=label)
    energy.set(title="Energy of a run", xlabel="time [s]", ylabel="energy [J]", ylim=(1e-9, None))
    for panel, place in zip(panels, ("lower left", "lower right", "upper right", "lower right"), strict=True):
        panel.legend(loc=place)


def _curves(panel: Any, rows: list[Row], along: str, names: dict[str, str]) -> None:
    for (key, label), color in zip(names.items(), COLOURS, strict=False):
        points = [(row[along], row[key]) for row in rows if row[key] > 1e-12]
        panel.loglog(*zip(*points, strict=True), "o-", color=color, markersize=3, label=label)


def _finish(panels: Any) -> None:
    for panel in panels:
        panel.invert_xaxis()
        panel.set_xlabel("bound of the relative joint error [1]")


def _linkages(panels: Any, _: None) -> None:
    """A millipede pulled by a foot, and a molecule: before and after, with the joints that moved last."""
    pulled = _pulled(molecule(150, seed=2))
    cases = (
        ("Millipede, a foot pulled", millipede(12, spine=36), 2e-2, 500, (0, 1)),
        ("Molecule, an end pulled", pulled, 5e-2, 1500, (0, 2)),
    )
    for column, (title, linkage, step, count, view) in enumerate(cases):
        pair = panels[column::2]
        _draw(pair, linkage, step, count, view)
        pair[0].set_title(title)
        pair[1].set_title(f"After {count} steps")
    text = "orange: hinges that the last step moved; blue: where the force acts"
    panels[0].get_figure().text(0.06, 0.0, text, fontsize=8.0, color=GREY, va="bottom")


def _pulled(linkage: HingeTree) -> HingeTree:
    """The linkage with a force at the last atom, away from the first."""
    away = linkage.poses()[0][-1]
    return linkage.loaded(np.array([len(linkage.mass) - 1]), 3.0 * away[None] / np.linalg.norm(away))


def _draw(panels: Any, linkage: HingeTree, step: float, count: int, view: tuple[int, int]) -> None:
    import bellcrank as bc

    run = bc.start(linkage.mechanism(), mode="quasistatic", step=step, max_error=0.05, assemble=False)
    names = [f"link {k}" for k in range(len(linkage.mass))]

    def places() -> np.ndarray:
        return np.array([run.pose(name)[0] for name in names])[:, view]

    before = places()
    moved = {int(name.split()[1]) for name in run.advance(steps=count) if name}
    both = (before, places())
    loaded = int(linkage.loads[0][0])
    for panel, points, active in zip(panels, both, (set(), moved), strict=True):
        for k, parent in enumerate(linkage.parent):
            if parent >= 0:
                look = {"color": _ACTIVE, "linewidth": 2.0, "zorder": 3} if k in active else {"color": "0.55"}
                panel.plot(*points[[parent, k]].T, **look)
        panel.plot(*points[loaded], "o", color=COLOURS[0], markersize=4, zorder=4)
        panel.set(aspect="equal", xlabel=f"{'xyz'[view[0]]} [m]", ylabel=f"{'xyz'[view[1]]} [m]")
    low, high = np.min([b.min(axis=0) for b in both], axis=0), np.max([b.max(axis=0) for b in both], axis=0)
    room = 0.05 * (high - low).max()
    for panel in panels:
        panel.set(xlim=(low[0] - room, high[0] + room), ylim=(low[1] - room, high[1] + room))
