"""Cost against the number of bodies: chains, rings and ladders of loops, and the exponents fitted to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import click
import numpy as np

import bellcrank as bc
from bellcrank.compile.compile import compile_mechanism
from bellcrank.gallery import chain, ladder, ring
from benchmarks.command_line import Form, form_option, invoke, peer_python_option, repeats_option
from benchmarks.environment import environment
from benchmarks.report import Column, Report, Row, Table, publish
from benchmarks.targets import target, targets_tables
from benchmarks.timing import acceleration_time, step_time
from benchmarks.yardstick import Yardstick

STEP: Final = 1e-3
SIZES: Final = (20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000)
LEAST_BODY_STEPS: Final = 20_000
"""Small systems make more steps than asked for, so that a run lasts some milliseconds."""
EXPONENT_TARGET: Final = 1.05
PER_BODY_TARGET: Final = 0.45
"""Microseconds per body of an acceleration, chains of 100 to 20,000."""

FAMILIES: Final[dict[str, Callable[[int], bc.Mechanism]]] = {
    "chain": chain,
    "ring": lambda bodies: ring(max(4, 2 * round(bodies / 2))),
    "ladder": lambda bodies: ladder(max(1, round(bodies / 3))),
}
"""By name: a mechanism of about so many bodies."""

_COLUMNS: Final = (
    Column("family", "family"),
    Column("bodies", "bodies"),
    Column("constraints", "constraints"),
    Column("acceleration_us", "acceleration, us"),
    Column("acceleration_us_per_body", "us per body"),
    Column("step_us", "semi-implicit step, us"),
    Column("step_us_per_body", "us per body"),
)
_FIT_COLUMNS: Final = (
    Column("family", "family"),
    Column("acceleration_exponent", "exponent, acceleration", 4),
    Column("step_exponent", "exponent, step", 4),
    Column("largest_acceleration_us_per_body", "acceleration: most us per body from 100 bodies on"),
)


def run(
    sizes: Sequence[int] = SIZES,
    families: Sequence[str] = tuple(FAMILIES),
    steps: int = 50,
    repeats: int = 5,
    python: str = "",
) -> Report:
    """Time accelerations and projected semi-implicit steps of families of mechanisms.

    sizes: numbers of bodies (rings have an even number of them, ladders three a rung). steps: of 1 ms, in a
    run, more if the system is small. repeats: number of runs, of which the median is used. python: an
    interpreter that has the engines that measure the speed of this machine; without them times are compared
    directly.
    """
    facts = environment()
    rows = []
    with Yardstick(python) as yardstick:
        for family in families:
            for size in sizes:
                rows.append(_row(family, size, steps, repeats))
                yardstick.measure()
    fits = [_fit(family, [row for row in rows if row["family"] == family]) for family in families]
    notes = (
        f"Steps of {STEP:g} s from rest, {steps} or more of them; medians of {repeats} (least .. largest).",
        "Accelerations: each at another configuration than the one before.",
        "Exponents: least squares of log(time) over log(bodies), all sizes listed.",
        *yardstick.missing,
    )
    return Report(
        "scaling",
        facts,
        {"step": STEP, "steps": steps, "repeats": repeats, "sizes": list(sizes), "families": list(families)},
        [
            Table("times", "Cost against size", _COLUMNS, rows),
            Table("fits", "time ~ bodies ^ exponent", _FIT_COLUMNS, fits),
            *yardstick.tables(),
            *targets_tables(_targets(fits), yardstick.factor),
        ],
        notes,
    )


def _targets(fits: Sequence[Row]) -> list[Row]:
    out: list[Row] = []
    for fit in fits:
        if fit["family"] != "chain":
            continue
        slope, most = fit["acceleration_exponent"], fit["largest_acceleration_us_per_body"]
        if slope is not None:
            out += target("chains: exponent of an acceleration", EXPONENT_TARGET, slope)
        if most is not None:
            out += target("chains from 100 bodies: most us per body", PER_BODY_TARGET, most, is_time=True)
    return out


def _row(family: str, size: int, steps: int, repeats: int) -> Row:
    model = compile_mechanism(FAMILIES[family](size))
    bodies = model.core.bodies
    acceleration = acceleration_time(model, repeats)
    steps = max(steps, round(LEAST_BODY_STEPS / bodies))
    step = step_time(model, "semi_implicit_euler", STEP, steps, repeats)
    return {
        "family": family,
        "bodies": bodies,
        "constraints": model.core.rows,
        "acceleration_us": acceleration,
        "acceleration_us_per_body": acceleration.median / bodies,
        "step_us": step,
        "step_us_per_body": step.median / bodies,
        "steps": steps,
    }


def exponent(sizes: Sequence[float], times: Sequence[float]) -> float | None:
    """The k of time ~ size^k by least squares of logarithms; None for fewer than two sizes."""
    if len(set(sizes)) < 2:
        return None
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def _fit(family: str, rows: Sequence[Row]) -> Row:
    bodies = [row["bodies"] for row in rows]
    large = [row["acceleration_us_per_body"] for row in rows if row["bodies"] >= 100]
    return {
        "family": family,
        "acceleration_exponent": exponent(bodies, [row["acceleration_us"].median for row in rows]),
        "step_exponent": exponent(bodies, [row["step_us"].median for row in rows]),
        "largest_acceleration_us_per_body": max(large, default=None),
    }


def plot(report: Report, path: Path) -> None:
    """Plot the times over the number of bodies, both logarithmic, into an image file.

    Raises ImportError without matplotlib (extra "plot").
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 4.0), layout="constrained")
    axes: Any = figure.subplots(1, 2, sharey=True)
    rows = report.tables[0].rows
    for panel, key, title in zip(
        axes, ("acceleration_us", "step_us"), ("acceleration", "projected semi-implicit step"), strict=True
    ):
        for family in dict.fromkeys(row["family"] for row in rows):
            mine = [row for row in rows if row["family"] == family]
            bodies = [row["bodies"] for row in mine]
            panel.loglog(bodies, [row[key].median for row in mine], "o-", label=family)
        panel.set(title=title, xlabel="bodies", ylabel="CPU time, us")
        panel.grid(visible=True, which="major", alpha=0.3)
        panel.legend()
    figure.savefig(path, dpi=150)


@click.command
@click.option("--bodies", multiple=True, type=click.IntRange(4), help="Sizes (repeatable).")
@click.option("--family", "families", multiple=True, type=click.Choice(list(FAMILIES)), help="Only these.")
@click.option(
    "--steps", default=50, show_default=True, type=click.IntRange(1), help="Steps of 1 ms in a run."
)
@peer_python_option
@repeats_option(5)
@click.option("--plot", "image", type=click.Path(path_type=Path, dir_okay=False), help="Draw into this file.")
@form_option
def command(
    bodies: tuple[int, ...],
    families: tuple[str, ...],
    steps: int,
    peer_python: str,
    repeats: int,
    image: Path | None,
    form: Form,
) -> None:
    """Cost against the number of bodies: chains, rings, ladders of loops."""
    report = run(bodies or SIZES, families or tuple(FAMILIES), steps, repeats, peer_python)
    publish([report], form)
    if image is not None:
        plot(report, image)


def main(arguments: list[str]) -> int:
    """The command line of `bellcrank bench scaling`."""
    return invoke(command, "scaling", arguments)
