"""The dca formulation: time per body and iteration, threads, and projected gain from many processors."""

from __future__ import annotations

import os
import time
from functools import cache
from heapq import heappop, heappush
from math import log2
from statistics import median
from typing import Final

import click
import numpy as np

from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.model import Model
from bellcrank.formulations.preparing import prepare
from bellcrank.formulations.system import System
from bellcrank.gallery.rings import chain
from benchmarks.command_line import Form, form_option, invoke, repeats_option
from benchmarks.environment import environment
from benchmarks.report import Column, Report, Row, Table, publish
from benchmarks.targets import target, targets_tables
from benchmarks.timing import pin_to_one_core

LENGTHS: Final = (100, 1000, 10_000, 50_000)
THREADED: Final = (2000, 10_000, 50_000)
USUAL: Final = 10_000
"""Bodies of the longest chain unless more are asked for: describing 50,000 takes longer than to measure."""
FIRST_TARGET: Final = 2.0
"""Microseconds per body of the first iteration."""
FURTHER_TARGET: Final = 0.3
GROWTH_TARGET: Final = 1.25
SPEED_UP_TARGET: Final = 1.7
SIMULATED: Final = (1, 4, 16, 64, 256, 1024)
SPREAD_TARGET: Final = 1.5
"""The simulated speed-up against n / log2 n, either way."""


@cache
def _model(n: int) -> Model:
    return compile_mechanism(chain(n))


def _seconds(system: System, times: int = 4, wall: bool = False) -> float:
    """Seconds of one acceleration, matrices included; CPU time of this thread unless `wall`."""
    clock = time.perf_counter if wall else time.thread_time
    start = clock()
    system.core.repeat("accelerate", times)
    return (clock() - start) / times


def _mean_iterations(system: System) -> float:
    counts = system.stats.iterations["accelerations"]  # type: ignore[attr-defined]
    return float(sum(i * n for i, n in counts.items()) / sum(counts.values()))


def iterations(repeats: int, longest: int = USUAL) -> list[Row]:
    """The first and each further iteration for chains of each length, and lagrange, in turns, us per body."""
    rows = []
    for n in (length for length in LENGTHS if length <= longest):
        model = _model(n)
        systems = {
            "first": prepare(model, "dca", threads=1, max_iterations=1, max_penalty=1e10),
            "all": prepare(model, "dca", threads=1),
            "lagrange": prepare(model, "lagrange"),
        }
        found: dict[str, list[float]] = {name: [] for name in systems}
        for _ in range(repeats):
            for name, system in systems.items():
                found[name].append(_seconds(system) / n * 1e6)
        first, whole, other = (median(times) for times in found.values())
        mean = _mean_iterations(systems["all"])
        further = (whole - first) / (mean - 1.0)
        rows.append({"n": n, "first": first, "further": further, "mean": mean, "lagrange": other})
    return rows


def threads(repeats: int, longest: int = USUAL) -> list[Row]:
    """One and two threads in turns, by the fast decile; whether all bits are the same.

    It runs on all processors: measurements on one core (`environment`) pin this process with its threads.
    """
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, range(os.cpu_count() or 1))
    rows = []
    for n in (length for length in THREADED if length <= longest):
        model = _model(n)
        systems = [prepare(model, "dca", threads=count) for count in (1, 2)]
        found: list[list[float]] = [[], []]
        for _ in range(3 * repeats):
            for times, system in zip(found, systems, strict=True):
                times.append(_seconds(system, wall=True))
        one, two = (float(np.quantile(times, 0.1)) for times in found)
        answers = [system.accelerate() for system in systems]
        same = bool(np.array_equal(answers[0].multipliers, answers[1].multipliers))
        rows.append({"n": n, "one": one / n * 1e6, "two": two / n * 1e6, "speed_up": one / two, "same": same})
    pin_to_one_core()
    return rows


def makespan(children: list[list[int]], seconds: list[float], processors: int) -> float:
    """The time of a tree on a number of processors: children before their parent, longest paths first."""
    count = len(children)
    parent, waiting, way = [-1] * count, [len(below) for below in children], list(seconds)
    for node, below in enumerate(children):
        for child in below:
            parent[child] = node
    for node in reversed(range(count)):
        if parent[node] >= 0:
            way[node] += way[parent[node]]
    ready = [(-way[node], node) for node in range(count) if not waiting[node]]
    ready.sort()
    running: list[tuple[float, int]] = []
    now = 0.0
    while ready or running:
        while ready and len(running) < processors:
            node = heappop(ready)[1]
            heappush(running, (now + seconds[node], node))
        now, node = heappop(running)
        above = parent[node]
        if above >= 0:
            waiting[above] -= 1
            if not waiting[above]:
                heappush(ready, (-way[above], above))
    return now


def replayed(most: int, repeats: int) -> list[Row]:
    """Speed-ups of the upward pass (matrices, residuals) from measured times of nodes, n = `most` bodies.

    The downward pass takes the same tree in reverse.
    """
    system = prepare(_model(most), "dca", threads=1)
    system.accelerate()
    samples = np.array([system.core.node_times() for _ in range(repeats)])
    factor, up, down = np.median(samples, axis=0)
    seconds, children = list(factor + up + down), system.core.tree()
    whole = makespan(children, seconds, 1)
    rows = []
    for processors in [p for p in SIMULATED if p < most] + [most]:
        speed_up = whole / makespan(children, seconds, processors)
        n = len(children)
        law = n / (n / processors + log2(processors)) if processors < n else n / log2(n)
        rows.append({"processors": processors, "speed_up": speed_up, "law": law, "ratio": speed_up / law})
    return rows


def run(processors: int = 1024, repeats: int = 7, longest: int = USUAL) -> Report:
    """Run all measurements, those of one thread on one core."""
    machine = environment()
    lengths, many = iterations(repeats, longest), replayed(processors, repeats)
    shared = threads(repeats, longest)
    growth = lengths[-1]["first"] / lengths[1]["first"]
    ratio = many[-1]["ratio"]
    goals = [
        *target("first iteration, us per body", FIRST_TARGET, max(r["first"] for r in lengths), is_time=True),
        *target(
            "further iterations, us per body",
            FURTHER_TARGET,
            max(r["further"] for r in lengths),
            is_time=True,
        ),
        *target(f"growth from 1,000 to {lengths[-1]['n']:,} bodies", GROWTH_TARGET, growth),
        *target(
            "one thread by two, inverse", 1.0 / SPEED_UP_TARGET, max(1.0 / r["speed_up"] for r in shared)
        ),
        *target("n / log2 n by the simulated speed-up", SPREAD_TARGET, max(ratio, 1.0 / ratio)),
    ]
    tables = [
        Table(
            "iterations",
            "One acceleration of a chain, one thread, us per body",
            [Column("n", "bodies", 6), Column("first", "first iteration"),
             Column("further", "each further one"), Column("mean", "iterations"),
             Column("lagrange", "lagrange, all")],
            lengths,
        ),
        Table(
            "threads",
            "One and two threads in turns, fast decile, us per body",
            [Column("n", "bodies", 6), Column("one", "one"), Column("two", "two"),
             Column("speed_up", "speed-up"), Column("same", "same bits")],
            shared,
        ),
        Table(
            "processors",
            f"Simulated processors, chain of {processors} bodies, by measured times of nodes",
            [Column("processors", "processors", 6), Column("speed_up", "speed-up"),
             Column("law", "n / (n/p + log2 p)"), Column("ratio", "ratio")],
            many,
        ),
        *targets_tables(goals),
    ]  # fmt: skip
    notes = ("With p = n processors the law is n / log2 n.",)
    settings = {"processors": processors, "repeats": repeats, "bodies": longest}
    return Report("dca", machine, settings, tables, notes)


@click.command
@click.option(
    "--processors",
    default=1024,
    show_default=True,
    type=click.IntRange(2),
    help="Bodies and simulated processors.",
)
@click.option(
    "--bodies",
    default=USUAL,
    show_default=True,
    type=click.IntRange(2000),
    help="Of the longest chain; 50,000 take minutes to describe.",
)
@repeats_option(7)
@form_option
def command(processors: int, bodies: int, repeats: int, form: Form) -> None:
    """The dca formulation: iterations, threads, simulated processors."""
    publish([run(processors, repeats, bodies)], form)


def main(arguments: list[str]) -> int:
    """The command line of `bellcrank bench dca`."""
    return invoke(command, "dca", arguments)
