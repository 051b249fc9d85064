"""Scaling of sweeps: thousands of inverse dynamics in one process, in two, and on a Dask cluster of two."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import click
import numpy as np

import bellcrank as bc
from benchmarks.command_line import Form, form_option, invoke, repeats_option
from benchmarks.environment import environment
from benchmarks.report import Column, Report, Row, Table, publish
from benchmarks.timing import Spread

TARGET: Final = 1.8
"""Times faster on two processes than on one, at least, on a machine that is idle."""
_MEASURE: Final = "peak drive.motor"
_COLUMNS: Final = (
    Column("who", "computed by"),
    Column("wall_s", "wall s"),
    Column("busiest_s", "CPU s of the busiest process"),
    Column("wall_ratio", "times faster, wall"),
    Column("cpu_ratio", "times faster, CPU of the busiest"),
    Column("failed", "failed"),
)


def driven_four_bar() -> bc.Mechanism:
    """A crank-rocker with its crank driven through one turn; lengths of coupler and rocker are parameters."""
    mech = bc.Mechanism("driven four-bar", gravity=(0.0, -9.81, 0.0))
    coupler = mech.add_parameter("coupler", 0.36, unit="m", low=0.3, high=0.45)
    rocker = mech.add_parameter("rocker", 0.28, unit="m", low=0.2, high=0.35)
    pins = {"crank": 0.12, "coupler": coupler, "rocker": rocker}
    bodies = [
        mech.add_body(
            name,
            mass=length,
            inertia=(1e-4, length**3 / 12 + 1e-4, length**3 / 12 + 1e-4),
            com=(length / 2, 0.0, 0.0),
            position=(x, 0.0, 0.0),
            rotation=(np.cos(turn), 0.0, 0.0, np.sin(turn)),
        )
        for (name, length), x, turn in zip(pins.items(), (0.0, 0.12, 0.4), (0.0, 0.25, 0.9), strict=True)
    ]
    mech.add_joint("crank pivot", bc.Revolute(), mech.ground, bodies[0])
    mech.add_joint("crank pin", bc.Revolute(), bodies[0].marker((0.12, 0.0, 0.0)), bodies[1])
    mech.add_joint(
        "rocker pin",
        bc.Revolute(),
        bodies[1].marker((coupler, 0.0, 0.0)),
        bodies[2].marker((rocker, 0.0, 0.0)),
    )
    mech.add_joint("rocker pivot", bc.Revolute(), mech.ground.marker((0.4, 0.0, 0.0)), bodies[2])
    mech.add_drive("motor", joint="crank pivot", velocity=2 * np.pi)
    return mech


def run(points: int = 10_000, frames: int = 100, repeats: int = 3) -> Report:
    """Time sweeps with a number of points, each one turn of the crank, in alternation."""
    side = int(np.ceil(np.sqrt(points)))
    values = {"coupler": np.linspace(0.34, 0.40, side), "rocker": np.linspace(0.25, 0.31, -(-points // side))}
    mech, taken, reference = driven_four_bar(), dict[str, list[tuple[float, float]]](), None
    counts: dict[str, int] = {}
    for _ in range(repeats):
        for who, opened in _WHO.items():
            with opened() as (arguments, spent):
                before, begun = spent(), time.perf_counter()
                found = bc.sweep(
                    mech,
                    values,
                    _MEASURE,
                    analysis="inverse_dynamics",
                    duration=1.0,
                    step=1.0 / frames,
                    progress=False,
                    **arguments,
                )
                wall, after = time.perf_counter() - begun, spent()
            busiest = max(after[process] - before.get(process, 0.0) for process in after)
            taken.setdefault(who, []).append((wall, busiest))
            counts[who] = len(found.failed)
            reference = found.values if reference is None else reference
            if not np.array_equal(found.values, reference, equal_nan=True):
                raise AssertionError(f"{who} gives other values")
    return _report(taken, counts, {"points": points, "frames": frames, "repeats": repeats})


@contextmanager
def _alone() -> Iterator[tuple[dict[str, Any], Callable[[], dict[int, float]]]]:
    yield {"processes": 1}, lambda: {0: time.process_time()}


@contextmanager
def _processes() -> Iterator[tuple[dict[str, Any], Callable[[], dict[int, float]]]]:
    from loky import get_reusable_executor
    from psutil import Process

    executor = get_reusable_executor(max_workers=2)
    list(executor.map(_warm, range(4)))

    def spent() -> dict[int, float]:
        pids = [child.pid for child in Process().children() if "loky" in " ".join(child.cmdline())]
        return {0: time.process_time()} | {pid: sum(Process(pid).cpu_times()[:2]) for pid in pids}

    yield {"processes": 2}, spent
    executor.shutdown()


@contextmanager
def _cluster() -> Iterator[tuple[dict[str, Any], Callable[[], dict[int, float]]]]:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        client.gather(client.map(_warm, range(4), pure=False))

        def spent() -> dict[int, float]:
            return {0: time.process_time(), **client.run(time.process_time)}

        yield {"executor": client}, spent


_WHO: Final = {"one process": _alone, "two processes": _processes, "two Dask workers": _cluster}


def _warm(_: int) -> int:
    """Load the modules that a worker needs."""
    return len(bc.inverse_dynamics(driven_four_bar(), 0.1, 0.05))


def _report(
    taken: dict[str, list[tuple[float, float]]], counts: dict[str, int], settings: dict[str, int]
) -> Report:
    rows: list[Row] = []
    alone = taken["one process"]
    for who, times in taken.items():
        wall = [a[0] / b[0] for a, b in zip(alone, times, strict=True)]
        cpu = [a[1] / b[1] for a, b in zip(alone, times, strict=True)]
        row: Row = {"who": who, "wall_s": Spread.of([t for t, _ in times], 1.0), "failed": counts[who]}
        row["busiest_s"] = Spread.of([t for _, t in times], 1.0)
        rows.append({**row, "wall_ratio": Spread.of(wall, 1.0), "cpu_ratio": Spread.of(cpu, 1.0)})
    title = f"{settings['points']} inverse dynamics of a driven four-bar: {TARGET:g} times faster wanted"
    notes = (
        f"Medians of {settings['repeats']} rounds (smallest .. largest), all three in each; processes",
        "and workers stand before the clock runs. On an idle machine the wall time is the CPU time of the",
        "busiest process.",
        "All give the same numbers, to the last bit.",
    )
    return Report("sweeps", environment(), dict(settings), [Table("sweeps", title, _COLUMNS, rows)], notes)


@click.command()
@click.option(
    "--points", default=10_000, show_default=True, type=click.IntRange(4), help="Points of a sweep."
)
@click.option(
    "--frames", default=100, show_default=True, type=click.IntRange(2), help="Frames of each motion."
)
@repeats_option(3)
@form_option
def command(points: int, frames: int, repeats: int, form: Form) -> None:
    """Time sweeps on one and two processes."""
    publish([run(points, frames, repeats)], form)


def main(arguments: list[str]) -> int:
    """Run the benchmark from a command line."""
    return invoke(command, "sweeps", arguments)
