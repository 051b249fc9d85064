"""Cost of the solver for contact impulses: factorizations and time of one step, cold and warm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import click
import numpy as np

from benchmarks.command_line import Form, form_option, invoke, repeats_option
from benchmarks.cone_scenes import Scene, arch, biped, spheres, tower
from benchmarks.environment import environment
from benchmarks.report import Column, Report, Row, Table, publish
from benchmarks.timing import Spread

_COLUMNS: Final = (
    Column("scene", "scene"),
    Column("rows", "rows", 5),
    Column("end", "ended by"),
    Column("cold", "fact."),
    Column("residual", "residual"),
    Column("cold_us", "us cold"),
    Column("warm", "fact. warm"),
    Column("worst", "most"),
    Column("warm_us", "us warm"),
    Column("failed", "failed"),
)
SCENES: Final[dict[str, Callable[[], Scene]]] = {
    "1 box": lambda: tower(1),
    "10 boxes": lambda: tower(10),
    "10 boxes, top 1e3": lambda: tower(10, 1e3, 0.2),
    "30 boxes, top 1e3": lambda: tower(30, 1e3, 0.1),
    "30 boxes, top 1e3, pushed hard": lambda: tower(30, 1e3, 0.2),
    "arch of 15": arch,
    "biped": biped,
    "60 spheres, stirred": lambda: spheres(60, seed=2),
    "200 spheres, stirred": lambda: spheres(200, seed=2),
    "200 spheres, another pile": lambda: spheres(200, seed=1),
}


def _row(name: str, scene: Scene, repeats: int, steps: int) -> Row:
    """Time a cold start, then warm-started steps of fixed geometry whose forces vary by 1 %."""
    rng = np.random.default_rng(7)
    problem, q = scene.problem(), scene.free_velocity()
    start = np.zeros(scene.count)
    x, cold = problem.solve(q, start)
    often = 20 if scene.count < 500 else 1
    cold_us = Spread.of([problem.time(q, start, often) for _ in range(repeats)], 1e6)
    weights = [f.copy() for f in scene.forces]
    counts, times, failed = [], [], 0
    for _ in range(steps):
        scene.advance(x)
        scene.forces = [w * (1.0 + 0.01 * rng.standard_normal(6)) for w in weights]
        q, before = scene.free_velocity(), x
        x, report = problem.solve(q, before)
        failed += not report.converged
        counts.append(report.factorizations)
        times.append(problem.time(q, before, often))
    return {
        "scene": name,
        "rows": scene.count,
        "end": cold.end,
        "cold": cold.factorizations,
        "residual": cold.residual,
        "cold_us": cold_us,
        "warm": float(np.median(counts)),
        "worst": max(counts),
        "warm_us": Spread.of(times, 1e6),
        "failed": failed,
    }


def run(repeats: int = 3, steps: int = 10, largest: int = 3000) -> Report:
    """Time the scenes up to a number of rows."""
    scenes = {name: made for name, make in SCENES.items() if (made := make()).count <= largest}
    rows = [_row(name, scene, repeats, steps) for name, scene in scenes.items()]
    notes = (
        f"Processor time of the solves alone; medians of {repeats} measurements cold, of {steps} steps warm.",
        "Warm: the geometry stays, forces vary by 1 % a step; factorizations: median and most of a step.",
    )
    title = "Impulses in cones, residual at most 1e-8 of the largest velocity"
    settings: dict[str, Any] = {"repeats": repeats, "steps": steps, "largest": largest}
    return Report("cones", environment(), settings, [Table("scenes", title, _COLUMNS, rows)], notes)


@click.command()
@click.option("--steps", default=10, show_default=True, type=click.IntRange(1), help="Warm steps.")
@click.option("--largest", default=3000, show_default=True, type=click.IntRange(1), help="Rows at most.")
@repeats_option(3)
@form_option
def command(steps: int, largest: int, repeats: int, form: Form) -> None:
    """Time the solver of contact impulses."""
    publish([run(repeats, steps, largest)], form)


def main(arguments: list[str]) -> int:
    """Run the benchmark from a command line."""
    return invoke(command, "cones", arguments)
