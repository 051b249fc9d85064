"""Cost of a sampled controller: a 6R arm held by a PD controller at 1 kHz."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import click

import bellcrank as bc
from bellcrank.gallery.arms import DhLink, dh_arm
from bellcrank.run.controllers import Readings
from benchmarks.command_line import Form, form_option, invoke, repeats_option
from benchmarks.environment import environment
from benchmarks.report import Column, Report, Row, Table, publish
from benchmarks.timing import Spread, timed

FORMULATIONS: Final = ("lagrange", "recursive", "symbolic")
PERIOD: Final = 1e-3
TARGET: Final = 60.0
"""Microseconds of a sample at most, with the step of the method in it."""
GAINS: Final = (30.0, 30.0, 10.0, 1.0, 1.0, 0.2)
"""N m s/rad."""
_JOINTS: Final = tuple(f"joint {number}" for number in range(1, 7))
_SHAPES: Final = (
    (0.09, 0, 1.57),
    (0, -0.43, 0),
    (0, -0.39, 0),
    (0.11, 0, 1.57),
    (0.09, 0, -1.57),
    (0.08, 0, 0),
)
_MASSES: Final = (3.7, 8.4, 2.3, 1.2, 1.2, 0.2)
_COLUMNS: Final = (
    Column("formulation", "formulation"),
    Column("sample_us", "us per sample"),
    Column("step_us", "of these the step"),
    Column("samples", "samples"),
)


def steered_arm() -> bc.Mechanism:
    """An arm of six revolute joints, each with a torque input: "torque_1" and so on."""
    links = [
        DhLink(*shape, mass, (0.0, 0.0, 0.02), (0.02 * mass,) * 3, 0.0, 1.0, 0.0, (0.0, 0.0))
        for shape, mass in zip(_SHAPES, _MASSES, strict=True)
    ]
    still = [(0.3 * number, 0.0, 0.0) for number in range(6)]
    arm = dh_arm(still, links, motors=False, friction=False, led=False, name="6R arm")
    for number, joint in enumerate(_JOINTS, start=1):
        arm.add_force(f"motor {number}", bc.JointMotor(bc.Input(f"torque_{number}", unit="N m")), joint)
    return arm


def held(_time: float, readings: Readings) -> Mapping[str, float]:
    """Torques of a PD controller that drives all joints to zero."""
    return {
        f"torque_{number}": -GAINS[number - 1] * (20.0 * readings.coordinate(joint) + readings.rate(joint))
        for number, joint in enumerate(_JOINTS, start=1)
    }


def run(samples: int = 2000, repeats: int = 5) -> Report:
    """Time runs with and without the controller, for a number of samples, with one step of rk4 per sample."""
    rows: list[Row] = []
    duration = samples * PERIOD
    for formulation in FORMULATIONS:
        taken: dict[bool, list[float]] = {True: [], False: []}
        for steered in [True, False] * repeats:
            controllers = [bc.Controller(held, PERIOD)] if steered else []
            options: dict[str, Any] = {"step": PERIOD, "output_step": duration, "reactions": False}
            live = bc.start(steered_arm(), formulation=formulation, controllers=controllers, **options)
            live.advance(10 * PERIOD)
            taken[steered].append(timed(partial(live.advance, duration)))
        spreads = {steered: Spread.of(times, 1e6 / samples) for steered, times in taken.items()}
        row = {"formulation": formulation, "sample_us": spreads[True], "step_us": spreads[False]}
        rows.append({**row, "samples": samples})
    title = f"A 6R arm with a PD controller at {1 / PERIOD:g} Hz: at most {TARGET:g} us a sample wanted"
    notes = (
        f"CPU time, medians of {repeats} runs (smallest .. largest); one step of rk4 for each sample.",
        "A sample reads six coordinates and six rates, sets six torques, and takes the step.",
    )
    settings = {"samples": samples, "repeats": repeats, "period_s": PERIOD}
    return Report("sampling", environment(), settings, [Table("samples", title, _COLUMNS, rows)], notes)


@click.command()
@click.option("--samples", default=2000, show_default=True, type=click.IntRange(10), help="Samples of a run.")
@repeats_option(5)
@form_option
def command(samples: int, repeats: int, form: Form) -> None:
    """Time the samples of a controller."""
    publish([run(samples, repeats)], form)


def main(arguments: list[str]) -> int:
    """Run the benchmark from a command line."""
    return invoke(command, "sampling", arguments)
