"""Quasi-statics of Redon and Lin's linkages, beside the paper's numbers; and adaptive dynamics."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Final, Protocol

import click
import numpy as np

from bellcrank import _core
from benchmarks.adaptive_dynamics import dynamics
from benchmarks.adaptive_linkages import Array, HingeTree, bicycle_chain, millipede, molecule, random_forces
from benchmarks.adaptive_protein import anywhere, protein
from benchmarks.command_line import Form, form_option, invoke, peer_python_option, repeats_option
from benchmarks.environment import environment
from benchmarks.report import Column, Report, Row, Table, publish
from benchmarks.targets import target, targets_tables
from benchmarks.timing import timed
from benchmarks.yardstick import Yardstick

PARTS: Final = ("molecule", "protein", "millipede", "chain", "dynamics")
POWERS: Final = (3, 7, 11, 15, 19)
FORCES: Final = (1, 10, 100, 1000)
MEASURE: Final = "relative_joint"
STEP: Final = {"molecule": 3e-7, "protein": 1e-2, "millipede": 2e-3, "chain": 1e-3}
"""Seconds, of the protein picoseconds: so short that what moves most turns by some degrees."""
PAPER: Final[dict[tuple[int, int], tuple[float, int, float]]] = {
    (1, 3): (0.6, 25, 6e-5), (1, 7): (0.9, 37, 2e-6), (1, 11): (1.4, 47, 1e-7),
    (1, 15): (1.9, 59, 4e-9), (1, 19): (2.4, 73, 2e-9),
    (10, 3): (0.9, 32, 1e-4), (10, 7): (1.3, 45, 1e-4), (10, 11): (1.8, 56, 4e-7),
    (10, 15): (2.6, 75, 4e-8), (10, 19): (3.1, 85, 1e-8),
    (100, 3): (2.7, 39, 8e-4), (100, 7): (4.1, 80, 6e-4), (100, 11): (6.4, 145, 7e-5),
    (100, 15): (7.8, 189, 3e-6), (100, 19): (8.4, 206, 1e-7),
    (1000, 3): (17.8, 41, 6e-3), (1000, 7): (21.4, 149, 2e-3), (1000, 11): (42.6, 830, 7e-5),
    (1000, 15): (49.2, 1060, 2e-6), (1000, 19): (49.9, 1086, 6e-8),
}  # fmt: skip
"""Table 1 by number of forces and power of two: ms a step, joints computed, relative displacement error."""
PAPER_EXACT: Final = 875.0
"""Milliseconds of a step by the paper's divide and conquer."""
LIMITS: Final = {
    1: (41, 62, 96, 130, 164), 10: (62, 89, 124, 179, 213), 100: (190, 280, 440, 530, 580),
    1000: (1200, 1500, 2900, 3400, 3400),
}  # fmt: skip
"""Microseconds a step."""


class Load(Protocol):
    """Selects loads with a seed."""

    def __call__(self, linkage: HingeTree, count: int, seed: int = 0) -> HingeTree:
        """The linkage with a given number of forces."""


@dataclass(frozen=True, eq=False)
class Start:
    """A linkage for the core, at its start."""

    linkage: HingeTree
    core: _core.Model
    poses: tuple[Array, Array]

    @classmethod
    def of(cls, linkage: HingeTree) -> Start:
        """The linkage with its poses at the start."""
        return cls(linkage, linkage.core(), linkage.poses())

    def steps(self, step: float, with_totals: bool = True) -> _core.Quasistatics:
        """Quasi-static steps, at the start."""
        steps = _core.Quasistatics(self.core, step, MEASURE, with_totals)
        steps.start(self.core, 0.0, *self.poses)
        return steps

    def centres(self, steps: _core.Quasistatics) -> Array:
        """Centres of mass (n, 3) in the world."""
        from bellcrank.mechanism.rotation_arrays import rotate

        found = [steps.pose(self.core, body) for body in range(len(self.linkage.mass))]
        turned = rotate(np.array([rotation for _, rotation in found]), self.linkage.com)
        return np.asarray(np.array([position for position, _ in found]) + turned)


def _microseconds(steps: _core.Quasistatics, bound: float, count: int, repeats: int) -> float:
    """Time of a step in microseconds, the median over a number of rounds."""
    return median(1e6 * timed(lambda: steps.advance(bound, count)) / count for _ in range(repeats))


def _cells(
    tree: HingeTree, load: Load, forces: Sequence[int], count: int, repeats: int
) -> tuple[list[Row], list[Row]]:
    """Table 1: a row for each number of forces and bound; and the cost of exact steps."""
    step = STEP[tree.name]
    rows: list[Row] = []
    exact_rows: list[Row] = []
    for number in forces:
        start = Start.of(load(tree, number, seed=1))
        exact = start.steps(step, with_totals=False)
        rest = start.centres(exact)
        milliseconds = 1e-3 * _microseconds(exact, 0.0, 1, max(5, repeats))
        exact = start.steps(step, with_totals=False)
        exact.advance(0.0, count)
        moved = start.centres(exact)
        exact_rows.append({"forces": number, "ms": milliseconds, "paper": PAPER_EXACT, "bytes": 0.0})
        steps = start.steps(step)
        exact_rows[-1]["bytes"] = steps.bytes / len(tree.mass)
        for power in POWERS:
            steps.start(start.core, 0.0, *start.poses)
            computed = 0
            for _ in range(count):
                steps.advance(2.0**-power)
                computed += len(steps.moved)
            error = np.linalg.norm(start.centres(steps) - moved, axis=1).max()
            whole = np.linalg.norm(moved - rest, axis=1).max()
            us = _microseconds(steps, 2.0**-power, count, repeats)
            told = PAPER[number, power]
            rows.append(
                {
                    "forces": number, "power": power, "us": us, "speedup": 1e3 * milliseconds / us,
                    "joints": computed / count, "error": error / whole, "nodes": steps.updated,
                    "paper_ms": told[0], "paper_speedup": PAPER_EXACT / told[0], "paper_joints": told[1],
                    "paper_error": told[2],
                }
            )  # fmt: skip
    return rows, exact_rows


def _molecule(joints: int, forces: Sequence[int], count: int, repeats: int) -> tuple[list[Table], list[Row]]:
    tree = molecule(joints)
    begun = time.thread_time()
    idle = Start.of(tree)
    making = time.thread_time()
    steps = idle.steps(STEP["molecule"])
    making, whole = time.thread_time() - making, time.thread_time() - begun
    nothing = _microseconds(steps, 1.0, 1000, repeats)
    rows, exact = _cells(tree, random_forces, forces, count, repeats)
    targets = target("a step in which nothing changes, us", 2.0, nothing, is_time=True)
    targets += target("model, poses and tree, s", 2.0, whole, is_time=True)
    targets += target("bytes per joint", 6144, max(row["bytes"] for row in exact))
    targets += target("exact step, ms", 32.0, median(row["ms"] for row in exact), is_time=True)
    for row in rows:
        place = f"{row['forces']} forces, 2^-{row['power']}"
        limit = LIMITS[row["forces"]][POWERS.index(row["power"])]
        targets += target(f"{place}: us", limit, row["us"], is_time=True)
        targets += target(f"{place}: paper's speed-up / ours", 1.0, row["paper_speedup"] / row["speedup"])
    if 1 in forces:
        linear = _recursive(Start.of(random_forces(tree, 1, seed=1)), repeats)
        last = next(row for row in rows if (row["forces"], row["power"]) == (1, POWERS[-1]))
        targets += target("part of recursive's time, 1 force, 2^-19", 1 / 25, last["us"] / linear)
        exact.append({"forces": "recursive, 1", "ms": 1e-3 * linear, "paper": None, "bytes": None})
    title = f"Table 1, figures 7 and 8: molecule with {joints} hinges"
    return _tables("table1", title, rows, exact), targets


def _protein(joints: int, forces: Sequence[int], count: int, repeats: int) -> list[Table]:
    """The same table for a molecule that was not chosen by its results."""
    rows, exact = _cells(protein(joints), anywhere, forces, count, repeats)
    return _tables("protein", f"The same: backbone of a protein with {joints} torsions", rows, exact)


def _tables(name: str, title: str, rows: list[Row], exact: list[Row]) -> list[Table]:
    columns = (
        Column("forces", "forces"), Column("power", "bound 2^-"), Column("us", "us"),
        Column("joints", "joints"), Column("nodes", "nodes"), Column("speedup", "exact / this"),
        Column("error", "displacement error"), Column("paper_ms", "paper: ms"),
        Column("paper_joints", "joints", 4), Column("paper_speedup", "exact / this"),
        Column("paper_error", "displacement error"),
    )  # fmt: skip
    exact_columns = (
        Column("forces", "forces"), Column("ms", "exact step, ms"), Column("paper", "paper: ms"),
        Column("bytes", "bytes per joint", 4),
    )  # fmt: skip
    return [
        Table(name, title, columns, rows),
        Table(f"{name}_exact", "Exact steps of the same kernels, all joints", exact_columns, exact),
    ]


def _recursive(start: Start, repeats: int) -> float:
    """Microseconds of an acceleration of the linear recursion."""
    system = _core.Recursive(start.core)
    still = np.zeros((len(start.linkage.mass), 3))
    system.set_state(0.0, *start.poses, still, still)
    system.repeat("accelerate", 2)
    return median(1e6 * timed(lambda: system.repeat("accelerate", 5)) / 5 for _ in range(repeats))


def _millipede(legs: int, count: int, repeats: int) -> Table:
    start = Start.of(millipede(legs, spine=3 * legs))
    exact = start.steps(STEP["millipede"], with_totals=False)
    milliseconds = 1e-3 * _microseconds(exact, 0.0, 1, max(5, repeats))
    rows: list[Row] = []
    for power in range(20):
        steps = start.steps(STEP["millipede"])
        one, seconds, moved = partial(steps.advance, 2.0**-power, 1), 0.0, 0
        for _ in range(count):
            seconds += timed(one)
            moved += len(steps.moved)
        ms, joints = 1e3 * seconds / count, moved / count
        rows.append({"power": power, "ms": ms, "joints": joints, "exact": milliseconds})
    columns = (Column("power", "bound 2^-"), Column("ms", "ms"), Column("joints", "joints", 5),
               Column("exact", "exact step, ms"))  # fmt: skip
    title = f"Figure 5: millipede of {len(start.linkage.mass)} links, one foot pulled, means of {count} steps"
    return Table("figure5", title, columns, rows)


def _chain(count: int) -> Table:
    """The final position of the bicycle chain, at three bounds and exactly."""
    start = Start.of(bicycle_chain())
    rows: list[Row] = []
    exact = start.steps(STEP["chain"], with_totals=False)
    exact.advance(0.0, count)
    ends = start.centres(exact)
    length = np.linalg.norm(ends[-1] - start.centres(start.steps(STEP["chain"]))[-1])
    for power in (3, 6, 9):
        steps = start.steps(STEP["chain"])
        steps.advance(2.0**-power, count)
        found = start.centres(steps)
        error = np.linalg.norm(found - ends, axis=1).max() / length
        rows.append({"power": power, "joints": len(steps.moved), "error": error, "end": found.tolist()})
    rows.append({"power": "exact", "joints": len(ends), "error": 0.0, "end": ends.tolist()})
    columns = (Column("power", "bound 2^-"), Column("joints", "joints"),
               Column("error", "displacement error"))  # fmt: skip
    return Table("figure1", f"Figure 1: bicycle chain of 30 after {count} steps", columns, rows)


def run(
    parts: Sequence[str] = PARTS,
    joints: int = 50_000,
    legs: int = 1000,
    forces: Sequence[int] = FORCES,
    steps: int = 40,
    millipede_steps: int = 4000,
    chain_steps: int = 10_000,
    repeats: int = 5,
    python: str = "",
) -> Report:
    """Time steps, quasi-static and dynamic; the engines that measure this machine's speed run in `python`."""
    facts = environment()
    tables: list[Table] = []
    targets: list[Row] = []
    about: list[str] = []
    with Yardstick(python) as yardstick:
        if "molecule" in parts:
            found, targets = _molecule(joints, forces, steps, repeats)
            tables += found
            yardstick.measure()
        if "protein" in parts:
            tables += _protein(joints, forces, steps, repeats)
            yardstick.measure()
        if "millipede" in parts:
            tables.append(_millipede(legs, millipede_steps, repeats))
            yardstick.measure()
        if "chain" in parts:
            tables.append(_chain(chain_steps))
        if "dynamics" in parts:
            found, more, about = dynamics(joints, repeats, python)
            tables += found
            targets += more
            yardstick.measure()
    tables += [*yardstick.tables(), *targets_tables(targets, yardstick.factor)]
    settings = {"parts": [*parts], "joints": joints, "legs": legs, "steps": steps, "repeats": repeats}
    notes = (
        "Thread CPU time of whole steps: computing, moving and updating; medians of rounds.",
        "Masses and forces of the paper's molecule are not known: ours were tuned, the protein's were not.",
        *about,
        *yardstick.missing,
    )
    return Report("adaptive", facts, settings, tables, notes)


@click.command
@click.option("--part", "parts", multiple=True, type=click.Choice(PARTS), help="Only these parts.")
@click.option(
    "--joints", default=50_000, show_default=True, type=click.IntRange(100), help="Of the molecule."
)
@click.option("--steps", default=40, show_default=True, type=click.IntRange(5), help="Steps of a round.")
@peer_python_option
@repeats_option(5)
@click.option(
    "--plot", "folder", type=click.Path(path_type=Path, file_okay=False), help="Draw figures there."
)
@form_option
def command(
    parts: tuple[str, ...],
    joints: int,
    steps: int,
    peer_python: str,
    repeats: int,
    folder: Path | None,
    form: Form,
) -> None:
    """Quasi-statics of a molecule, a millipede and a bicycle chain; adaptive dynamics of a molecule."""
    report = run(parts or PARTS, joints, steps=steps, repeats=repeats, python=peer_python)
    publish([report], form)
    if folder is not None:
        from benchmarks.adaptive_figures import plot

        plot(report, folder)


def main(arguments: list[str]) -> int:
    """The command line of `bellcrank bench adaptive`."""
    return invoke(command, "adaptive", arguments)
