"""Figures and films of adaptive dynamics: all, or those that are named as arguments.

Usage: .venv/bin/python tools/adaptive_pictures.py [--films FOLDER] [--whole] [NAME ...]
Figures and stills are written into docs/img/adaptive, films, as MP4 or GIF, into the folder that is given.
With --whole films are those of 200 full characters and of a molecule with 5,000 hinges, which take minutes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from matplotlib.figure import Figure

import bellcrank as bc
from bellcrank.trajectory.panels import COLOURS, GREY, SETTINGS

ROOT: Final = Path(__file__).resolve().parent.parent
FOLDER: Final = ROOT / "docs" / "img" / "adaptive"
FREE: Final = (300, 100, 50, 20, 1)
"""Free joints of the pendulum."""
FPS: Final = 12
Array = np.ndarray


def pendulum() -> bc.Mechanism:
    """A chain of 300 rods, 30 m and 30 kg, let go at 0.5 rad below the horizontal."""
    return bc.gallery.chain(300, length=0.1, mass=0.1, angle=-0.5)


def limited(mech: bc.Mechanism, duration: float, joints: int, step: float) -> bc.MoveTrajectory:
    """A run with at most so many free joints, whatever the error and the losses then are."""
    run = bc.simulate(
        mech, duration, formulation="adaptive", max_error=0.0, max_joints=joints, max_loss=np.inf, step=step,
        output_step=0.05, assemble=False,
    )  # fmt: skip
    assert isinstance(run, bc.MoveTrajectory)
    return run


def draw_pendulum() -> None:
    """Where the chain is at four instants, the error and what locks lost, by the number of free joints."""
    import matplotlib as mpl

    mech, times = pendulum(), (0.0, 1.0, 2.0, 3.0)
    runs = {count: limited(mech, 3.0, count, 1e-3) for count in FREE}
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(7.6, 5.6), layout="constrained")
        panels = figure.subplots(2, 2).ravel()
        for (count, run), colour in zip(runs.items(), COLOURS, strict=False):
            label = "all 300 joints free" if count == 300 else f"{count} free"
            for time in times:
                points = np.vstack([np.zeros(3), run.at(time).position])
                panels[0].plot(points[:, 0], points[:, 1], color=colour, label=label if time == 0.0 else None)
            if count < 300:
                panels[1].plot(run.time[1:], run.error[1:], color=colour)
            panels[2].plot(run.time, run.lost_energy, color=colour)
            if count < 300:
                off = [away(run.at(time).position, runs[300].at(time).position) for time in run.time]
                panels[3].semilogy(run.time[1:], off[1:], color=colour)
        panels[0].set(title="At 0, 1, 2 and 3 s", xlabel="x [m]", ylabel="y [m]", aspect="equal")
        panels[1].set(title="Error of accelerations", xlabel="time [s]", ylabel="RMS error / RMS of all [1]")
        panels[2].set(title="Energy lost by locks", xlabel="time [s]", ylabel="energy [J]")
        panels[3].set(title="Distance from the exact run", xlabel="time [s]", ylabel="RMS distance [m]")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
        figure.savefig(FOLDER / "pendulum.png", dpi=110)


def away(one: Array, two: Array) -> float:
    """Of bodies of one mass, by root mean square, m."""
    return float(np.sqrt(np.mean(np.sum((one - two) ** 2, axis=1))))


def draw_errors() -> None:
    """Errors by the number of joints: others locked, or given no acceleration; a molecule and a chain."""
    import matplotlib as mpl

    from benchmarks.adaptive_dynamics import truncation

    tables = [
        ("Molecule of 2,000, ten forces", truncation(2000).rows),
        ("Chain of 300, let go", chain_rows()),
    ]
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(7.6, 3.2), layout="constrained")
        for panel, (title, rows) in zip(figure.subplots(1, 2), tables, strict=True):
            for (key, label), colour in zip(
                {"locked": "others locked", "truncated": "others given no acceleration"}.items(), COLOURS,
                strict=False,
            ):  # fmt: skip
                points = [(row["free"], row[key]) for row in rows if row[key] > 1e-12]
                x, y = zip(*points, strict=True)
                panel.loglog(x, y, "o-", color=colour, label=label, markersize=3)
            panel.axhline(1.0, color=GREY, linestyle=":")
            panel.set(title=title, xlabel="joints [1]", ylabel="RMS error / RMS of all [1]")
        figure.axes[0].legend()
        figure.savefig(FOLDER / "errors.png", dpi=110)


def chain_rows() -> list[dict[str, float]]:
    """The chain at rest: errors of accelerations by root mean square over the mass, as told and cut off."""
    mech = pendulum()
    exact = bc.prepare(mech, "recursive").accelerate()
    gyration = 0.1 / np.sqrt(12.0)  # m, of a rod; what thickness adds is left out
    whole = rms(np.hstack([exact.linear, gyration * exact.angular]))
    turns = np.diff(exact.angular[:, 2], prepend=0.0)
    order, rows = np.argsort(-np.abs(turns)), []
    half = np.array(mech.bodies["rod 0"].position)
    for count in (1, 3, 10, 30, 100, 200):
        run = bc.start(
            mech, formulation="adaptive", max_error=0.0, max_joints=count, step=1e-6, method="symplectic",
            assemble=False,
        )  # fmt: skip
        run.advance()
        spin = np.cumsum(np.where(np.isin(np.arange(300), order[:count]), turns, 0.0))
        arms = spin[:, None] * np.array([-half[1], half[0], 0.0])
        cut = 2.0 * np.cumsum(arms, axis=0) - arms
        off = np.column_stack([cut - exact.linear, gyration * (spin - exact.angular[:, 2])])
        rows.append({"free": count, "locked": run.error, "truncated": rms(off) / whole})
    return rows


def rms(vectors: Array) -> float:
    """The root mean square of vectors (n, k)."""
    return float(np.sqrt(np.mean(np.sum(vectors**2, axis=1))))


def draw_distances() -> None:
    """Distances from the exact run after 0.4 s against the limit of the error, for ten random trees."""
    import matplotlib as mpl

    limits = 2.0 ** -np.arange(1.0, 8.0)
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(4.4, 3.4), layout="constrained")
        panel = figure.subplots()
        for seed in range(10):
            mech = bc.gallery.random_tree(60, "branch", ("revolute", "universal"), seed=seed)
            way, off = distances(mech, limits.tolist())
            part = np.where(np.array(off) > 0.0, off, np.nan) / way  # nothing is off where all are free
            panel.loglog(limits, part, "o-", markersize=2.5, linewidth=0.9)
        panel.loglog(limits, limits, ":", color=GREY, label="in proportion")
        panel.invert_xaxis()
        panel.legend()
        panel.set(xlabel="limit of the relative error [1]", ylabel="distance / way [1]")
        panel.set_title("Ten random trees of 60 bodies, 0.4 s")
        figure.savefig(FOLDER / "distances.png", dpi=110)


def distances(mech: bc.Mechanism, limits: list[float]) -> tuple[float, list[float]]:
    """How far the bodies of the exact run moved, and how far those of runs with limits are off, m."""
    ends = []
    for limit in [0.0, *limits]:
        run = bc.simulate(mech, 0.4, formulation="adaptive", max_error=limit, max_loss=limit**2, step=2e-3)
        ends.append(run.at(0.4).position)
        begin = run.at(0.0).position
    return away(ends[0], begin), [away(end, ends[0]) for end in ends[1:]]


def draw_energy() -> None:
    """The ledger of the pendulum with 100 joints: kinetic, potential, lost, and what is unexplained."""
    import matplotlib as mpl

    mech = pendulum()
    run = bc.start(
        mech,
        formulation="adaptive",
        max_error=0.0,
        max_joints=100,
        max_loss=np.inf,
        step=5e-4,
        assemble=False,
    )
    times, kinetic, potential, lost = [], [], [], []
    for _ in range(61):
        times.append(run.time)
        kinetic.append(run.kinetic_energy)
        potential.append(0.1 * 9.81 * float(np.sum(run.state.position[:, 1])))
        lost.append(run.lost_energy)
        run.advance(steps=100)
    fallen = np.array(potential) - potential[0]
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(7.6, 3.0), layout="constrained")
        left, right = figure.subplots(1, 2)
        for values, label, colour in zip(
            (kinetic, -fallen, lost), ("kinetic", "potential, fallen", "lost by locks"), COLOURS, strict=False
        ):
            left.plot(times, values, color=colour, label=label)
        left.legend()
        right.plot(times, np.array(kinetic) + fallen + lost, color=COLOURS[3])
        left.set(title="Energies, at most 100 of 300 joints free", xlabel="time [s]", ylabel="energy [J]")
        right.set(title="Kinetic + potential + lost: unexplained", xlabel="time [s]", ylabel="energy [J]")
        figure.savefig(FOLDER / "energy.png", dpi=110)


def draw_cost() -> None:
    """Times of steps of a molecule with 1,000 hinges, beside `recursive` and MuJoCo if it is there."""
    import matplotlib as mpl

    from benchmarks.adaptive_dynamics import PEER_JOINTS, costs, peer

    (table, _), _ = costs(PEER_JOINTS, (10, 30, 100, 300), 5)
    others, note = peer(5, "")
    print(note)
    names = {"h": "step, symplectic", "hf": "accelerations, error", "rk4": "step, RK4"}
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(4.6, 3.4), layout="constrained")
        panel = figure.subplots()
        for (key, label), colour in zip(names.items(), COLOURS, strict=False):
            x, y = zip(*((row["free"], row[key]) for row in table.rows), strict=True)
            panel.loglog(x, y, "o-", color=colour, label=label, markersize=3)
        for row, style in zip(others[0].rows[:2] if others else [], ("-.", "--"), strict=False):
            panel.axhline(row["us"], color="black", linestyle=style, label=row["what"])
        panel.set(xlabel="free joints [1]", ylabel="CPU time [us]", title="Molecule with 1,000 hinges")
        panel.legend(fontsize=7)
        figure.savefig(FOLDER / "cost.png", dpi=110)


@dataclass(frozen=True)
class Shot:
    """A film. make: the run, of the whole scene or of a small one; times: of the still; options: of both."""

    make: Callable[[bool], bc.MoveTrajectory]
    times: tuple[float, ...]
    speed: float
    options: dict[str, Any]


def _of_pendulum(_: bool) -> bc.MoveTrajectory:
    mech = pendulum()
    for body in list(mech.bodies.values()):  # wide enough to be seen
        mech.replace(body, shapes=[bc.Box(size=(0.1, 0.5, 0.1))])
    return limited(mech, 3.0, 50, 1e-3)


def _of_crowd(full: bool) -> bc.MoveTrajectory:
    mech = bc.gallery.crowd(200 if full else 9, full=full, push=40.0)
    run = bc.simulate(
        mech, 1.5, formulation="adaptive", max_error=0.1, step=2.5e-3, output_step=0.05, assemble=False
    )
    assert isinstance(run, bc.MoveTrajectory)
    return run


def _of_mail(full: bool) -> bc.MoveTrajectory:
    mech = bc.gallery.chain_mail(5, 16 if full else 5)
    run = bc.simulate(
        mech, 0.25, formulation="adaptive", max_error=0.1, step=5e-4, output_step=0.01, assemble=False
    )
    assert isinstance(run, bc.MoveTrajectory)
    return run


def _of_molecule(full: bool) -> bc.MoveTrajectory:
    from benchmarks.adaptive_dynamics import pulled

    tree = pulled(5_000 if full else 400, 1, size=20.0)
    mech = tree.mechanism()
    run = bc.simulate(
        mech, 1.0, formulation="adaptive", max_error=0.1, step=2e-3, output_step=0.05, assemble=False
    )
    assert isinstance(run, bc.MoveTrajectory)
    return run


SHOTS: Final = {
    "pendulum-film": Shot(_of_pendulum, (0.0, 1.0, 2.0, 3.0), 1.0, {}),
    "crowd": Shot(_of_crowd, (1.5,), 1.0, {"view": (20.0, 25.0)}),
    "chain-mail": Shot(_of_mail, (0.0, 0.1, 0.25), 0.1, {"view": (35.0, 15.0)}),
    "molecule": Shot(_of_molecule, (1.0,), 0.5, {}),
}


def film(name: str, folder: Path | None, is_whole: bool) -> None:
    """A still, and a film if there is a folder for it."""
    shot = SHOTS[name]
    run = shot.make(is_whole)
    options = {"clusters": True, "joints": False, **shot.options}
    print(f"{name}: {len(run.bodies)} bodies, {np.mean(run.free[1:]):.0f} of the joints free on average")
    name += "-whole" if is_whole else ""
    run.draw(FOLDER / f"{name}.png", times=list(shot.times), size=(6.0, 4.0), dpi=100, **options)
    if folder is not None:
        path = folder / f"{name}.mp4"
        run.animate(path, fps=FPS, speed=shot.speed, width=640, **options)
        print(f"{path}: {path.stat().st_size / 1e3:.0f} kB")


FIGURES: Final = {
    "pendulum": draw_pendulum, "errors": draw_errors, "distances": draw_distances, "energy": draw_energy,
    "cost": draw_cost,
}  # fmt: skip


def main() -> None:
    """Draw what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help=f"some of {', '.join([*FIGURES, *SHOTS])}; all by default")
    parser.add_argument("--films", type=Path, help="a folder for films")
    parser.add_argument("--whole", action="store_true", help="films of the largest scenes")
    given = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in given.names or [*FIGURES, *SHOTS]:
        if name in FIGURES:
            FIGURES[name]()
        elif name in SHOTS:
            film(name, given.films, given.whole)
        else:
            parser.error(f"there is no picture {name!r}")


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main()
