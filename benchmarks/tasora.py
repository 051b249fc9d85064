"""Table 2 of Tasora's paper, published figures beside today's.

A. Tasora, An optimized Lagrangian-multiplier approach for interactive multibody simulation in kinematic and
dynamical digital prototyping (2000), section 6: CPU time per step of five mechanisms on a 700 MHz processor.
The data of the man on the bicycle were not published; the gallery's has the paper's counts, and tyres.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import click

import bellcrank as bc
from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.model import Model
from bellcrank.gallery import free_ring, man_on_bicycle, misplaced_stone, ring
from bellcrank.gallery.prosthetic_arm import prosthetic_arm, prosthetic_shoulder
from benchmarks.command_line import Form, form_option, invoke, peer_python_option, repeats_option
from benchmarks.dense import SOLUTIONS, dense_equations, gauss_time, lapack_time
from benchmarks.environment import environment
from benchmarks.report import Column, Report, Row, Table, publish
from benchmarks.targets import target, targets_tables
from benchmarks.timing import Spread, acceleration_time, step_time
from benchmarks.yardstick import Yardstick

STEP: Final = 1e-3
TARGETED: Final = "ring of 40, hinges"
RING_OF_40_TARGET: Final = 25.0
"""Microseconds per projected semi-implicit step."""


@dataclass(frozen=True)
class Published:
    """A row of Table 2: sizes of the system of equations and CPU time per step, s."""

    variables: int
    coordinates: int
    constraints: int
    seconds: float


@dataclass(frozen=True)
class Entry:
    """A mechanism of the table. published: None for a variant that is not in the paper."""

    name: str
    make: Callable[[], bc.Mechanism]
    published: Published | None


def coasting_man() -> bc.Mechanism:
    """The gallery's man on a bicycle, on flat ground."""
    return man_on_bicycle(ground=misplaced_stone(0.0))


_ARM: Final = Published(82, 42, 40, 0.006)
_RING_20: Final = Published(180, 120, 60, 0.015)
_RING_40: Final = Published(360, 240, 120, 0.042)
ENTRIES: Final = (
    Entry("shoulder", prosthetic_shoulder, _ARM),
    Entry("complete arm", prosthetic_arm, Published(104, 54, 50, 0.008)),
    Entry("ring of 20, ball joints", lambda: free_ring(20), _RING_20),
    Entry("ring of 40, ball joints", lambda: free_ring(40), _RING_40),
    Entry("ring of 20, hinges", lambda: ring(20), _RING_20),
    Entry(TARGETED, lambda: ring(40), _RING_40),
    Entry("man with bike", coasting_man, Published(200, 108, 92, 0.018)),
)
"""The paper's rings have three rows a joint, as of ball joints; hinges, five a joint, are the harder case."""

_MAN: Final = (
    "The paper does not give the data of the man on the bicycle, and counts the ground as a body; here "
    "he coasts on two tyres, whose slices on flat ground are part of each evaluation."
)
_COLUMNS: Final = (
    Column("mechanism", "mechanism"),
    Column("published_variables", "variables 2000"),
    Column("variables", "today"),
    Column("coordinates", "coordinates"),
    Column("constraints", "constraints"),
    Column("published_us", "us per step 2000", 5),
    Column("semi_implicit_us", "projected semi-implicit"),
    Column("speedup", "faster by", 3),
    Column("rk4_us", "rk4"),
    Column("acceleration_us", "acceleration"),
)

_NAIVE: Final = (
    "Naive: masses, gradients and all unknowns in one dense matrix, redundant rows left out; Gauss is plain "
    "elimination in C++, LAPACK its LU through numpy on one thread. One solution is timed, not the forming "
    f"of the matrix; a step is set against {SOLUTIONS} of them: accelerations, velocities, positions. The "
    "paper tells of 2 to 3 times for the arm and of 20 and more for large systems."
)
_NAIVE_COLUMNS: Final = (
    Column("mechanism", "mechanism"),
    Column("unknowns", "unknowns"),
    Column("gauss_us", "Gauss, one solution"),
    Column("lapack_us", "LAPACK, one solution"),
    Column("acceleration_us", "acceleration here"),
    Column("acceleration_by_gauss", "Gauss takes, times", 3),
    Column("acceleration_by_lapack", "LAPACK, times", 3),
    Column("semi_implicit_us", "step here"),
    Column("step_by_gauss", "Gauss takes, times", 3),
    Column("step_by_lapack", "LAPACK, times", 3),
)


def run(steps: int = 500, repeats: int = 7, names: Sequence[str] | None = None, python: str = "") -> Report:
    """Time the mechanisms of Table 2, or those named.

    steps: of 1 ms, in a run. repeats: number of runs, of which the median is used. python: an interpreter
    that has the engines that measure the speed of this machine; without them times are compared directly.
    """
    facts = environment()
    rows = []
    with Yardstick(python) as yardstick:
        for entry in ENTRIES:
            if names is None or entry.name in names:
                rows.append(_row(entry, steps, repeats))
                yardstick.measure()
    targets = [
        row
        for entry in rows
        if entry["mechanism"] == TARGETED
        for row in target(
            f"{TARGETED}: us per step", RING_OF_40_TARGET, entry["semi_implicit_us"].median, is_time=True
        )
    ]
    title = "Tasora's Table 2: CPU time per step on a 700 MHz processor, and today"
    notes = (
        *yardstick.missing,
        f"Steps of {STEP:g} s from rest, {steps} of them; medians of {repeats} runs (smallest .. largest).",
        "Times in us. Variables are coordinates (six a body) and constraints together.",
        _NAIVE,
        _MAN,
    )
    measured = [row for row in rows if "semi_implicit_us" in row]
    naive = "Beside dense elimination of all unknowns, which the paper calls naive"
    return Report(
        "tasora", facts, {"step": STEP, "steps": steps, "repeats": repeats},
        [
            Table("table_2", title, _COLUMNS, rows),
            *([Table("naive", naive, _NAIVE_COLUMNS, measured)] if measured else []),
            *yardstick.tables(),
            *targets_tables(targets, yardstick.factor),
        ],
        notes,
    )  # fmt: skip


def _row(entry: Entry, steps: int, repeats: int) -> Row:
    row: Row = {"mechanism": entry.name}
    if entry.published is not None:
        row["published_variables"] = entry.published.variables
        row["published_coordinates"] = entry.published.coordinates
        row["published_constraints"] = entry.published.constraints
        row["published_us"] = 1e6 * entry.published.seconds
    model = compile_mechanism(entry.make())
    coordinates, constraints = 6 * model.core.bodies, model.core.rows
    semi_implicit: Spread = step_time(model, "semi_implicit_euler", STEP, steps, repeats)
    row |= {
        "bodies": model.core.bodies,
        "variables": coordinates + constraints,
        "coordinates": coordinates,
        "constraints": constraints,
        "semi_implicit_us": semi_implicit,
        "rk4_us": step_time(model, "rk4", STEP, steps, repeats),
        "acceleration_us": acceleration_time(model, repeats),
    }
    row |= _naive(model, repeats, row["acceleration_us"].median, semi_implicit.median)
    if entry.published is not None:
        row["speedup"] = 1e6 * entry.published.seconds / semi_implicit.median
    return row


def _naive(model: Model, repeats: int, acceleration: float, step: float) -> Row:
    """Dense solutions beside an acceleration and a step, us."""
    equations = dense_equations(model)
    gauss, lapack = gauss_time(equations, repeats), lapack_time(equations, repeats)
    return {
        "unknowns": len(equations.right),
        "gauss_us": gauss,
        "lapack_us": lapack,
        "acceleration_by_gauss": gauss.median / acceleration,
        "acceleration_by_lapack": lapack.median / acceleration,
        "step_by_gauss": SOLUTIONS * gauss.median / step,
        "step_by_lapack": SOLUTIONS * lapack.median / step,
    }


@click.command
@click.option(
    "--steps", default=500, show_default=True, type=click.IntRange(1), help="Steps of 1 ms in a run."
)
@click.option(
    "--mechanism", "names", multiple=True, type=click.Choice([entry.name for entry in ENTRIES]),
    help="Only these (repeatable).",
)  # fmt: skip
@peer_python_option
@repeats_option(7)
@form_option
def command(steps: int, names: tuple[str, ...], peer_python: str, repeats: int, form: Form) -> None:
    """The mechanisms of Tasora's Table 2: published CPU time per step beside today's."""
    publish([run(steps, repeats, names or None, peer_python)], form)


def main(arguments: list[str]) -> int:
    """The command line of `bellcrank bench tasora`."""
    return invoke(command, "tasora", arguments)
