"""The recursive formulation: robots beside other engines, and chains."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Final

import click
import numpy as np

from bellcrank.compile.compile import compile_mechanism
from bellcrank.formulations.preparing import prepare as prepared
from bellcrank.formulations.system import System
from benchmarks.command_line import Form, form_option, invoke, peer_python_option, repeats_option
from benchmarks.environment import environment
from benchmarks.peer_replay import default_python
from benchmarks.recursive_own import BATCH, Own
from benchmarks.report import Column, Report, Row, Table, publish
from benchmarks.symbolic_peers import Files, check_agreement, default_build_folder, prepare
from benchmarks.symbolic_robots import GENERAL, TIMED, Robot, alternating, arm, humanoid
from benchmarks.targets import target, targets_tables
from benchmarks.timing import Spread, timed
from benchmarks.yardstick import FASTEST, REFERENCE, beside_reference, machine_table

STATES: Final = 32
SAMPLES: Final = 3
LENGTHS: Final = (10, 100, 1000, 10_000, 50_000)
ROBOTS: Final[dict[str, Callable[[], Robot]]] = {GENERAL: TIMED[GENERAL], "humanoid": humanoid}
RATIOS: Final = {(GENERAL, "pinocchio"): 0.3, (GENERAL, "mujoco"): 0.55, ("humanoid", "pinocchio"): 0.35,
                 ("humanoid", "mujoco"): 0.6}  # fmt: skip
"""Our time as a part of an engine's fastest."""
JOINT_TARGET: Final = 100.0
"""Nanoseconds per joint of a chain of 1,000."""
BATCH_TARGET: Final = 35.0
MAKING_TARGET: Final = 2.0
"""Seconds to make a system of 50,000 joints."""
PARTS: Final = ("robots", "chains")


def _race(
    name: str, engines: Sequence[str], python: str, build: Path, repeats: int
) -> tuple[list[Row], list[str]]:
    """One robot by all available engines in turns; and why others are missing."""
    robot = ROBOTS[name]()
    states = robot.states(STATES)
    own = Own(robot, states)
    times: dict[str, list[float]] = {"bellcrank": [], "bellcrank, batch": []}
    notes = []
    with tempfile.TemporaryDirectory() as folder:
        files = Files.written(robot, states, Path(folder))
        peers = []
        for engine in engines:
            peer = prepare(engine, files, python, build)
            if isinstance(peer, str):
                notes.append(peer)
            else:
                peers.append(peer)
        for number in range(repeats):
            found = {"bellcrank": own.accelerations()} if number == 0 else {}
            for peer in peers:
                for algorithm, measured in peer.measure(files, SAMPLES).items():
                    if algorithm.startswith(FASTEST[peer.engine]):
                        key = f"{peer.engine}: {algorithm}"
                        times.setdefault(key, []).extend(measured.nanoseconds)
                        if number == 0:
                            found[key] = measured.accelerations
            check_agreement(found)
            times["bellcrank"].append(own.nanoseconds())
            times["bellcrank, batch"].append(own.batch_nanoseconds())
    ours = median(times["bellcrank"])
    rows = [
        {
            "robot": name,
            "engine": engine,
            "us": Spread.of(ns, 1e-3),
            "ratio": None if engine.startswith("bellcrank") else ours / median(ns),
        }
        for engine, ns in times.items()
    ]
    return rows, notes


def _ratio_targets(name: str, rows: Sequence[Row]) -> list[Row]:
    out: list[Row] = []
    for (robot, engine), limit in RATIOS.items():
        found = [row["ratio"] for row in rows if row["engine"].startswith(engine)]
        if robot == name and found:
            out += target(f"{name}: part of {engine}'s time", limit, max(found))
    return out


def _beside_reference(rows: Sequence[Row]) -> list[Row]:
    """The fastest result of each engine on the arm of six joints."""
    here: dict[str, float] = {}
    for row in rows:
        engine = row["engine"].split(":")[0]
        if row["robot"] == GENERAL and engine in REFERENCE:
            here[engine] = min(row["us"].median, here.get(engine, float("inf")))
    return beside_reference(here)


def _acceleration(system: System, repeats: int) -> Spread:
    """Nanoseconds per acceleration."""
    core = system.core
    core.repeat("accelerate", 2)
    once = max(timed(lambda: core.repeat("accelerate", 3)) / 3, 1e-7)
    count = max(2, round(0.02 / once))
    return Spread.of([timed(lambda: core.repeat("accelerate", count)) for _ in range(repeats)], 1e9 / count)


def _chains(repeats: int) -> tuple[Table, list[Row]]:
    """Revolute chains: time per joint, one state and many, and the time to create the system."""
    rows: list[Row] = []
    targets: list[Row] = []
    for joints in LENGTHS:
        model = compile_mechanism(arm("chain", alternating(joints)).mechanism())
        begun = time.perf_counter()
        system = prepared(model, "recursive")
        making = time.perf_counter() - begun
        single = _acceleration(system, repeats)
        q = np.tile(system.core.configuration(), (max(4, BATCH // joints // 4 * 4), 1))
        u = np.tile(system.core.speeds(), (len(q), 1))
        together = partial(system.core.joint_accelerations_batch, q, u)
        many = [timed(together) for _ in range(repeats)]
        row: Row = {
            "joints": joints,
            "ns": Spread(single.median / joints, single.smallest / joints, single.largest / joints),
            "batch": Spread.of(many, 1e9 / len(q) / joints),
            "making": making,
        }
        rows.append(row)
        if joints == 1000:
            text = "chain of 1,000: ns per joint"
            targets += target(text, JOINT_TARGET, row["ns"].median, is_time=True)
            text = "chain of 1,000, batch: ns per joint and state"
            targets += target(text, BATCH_TARGET, row["batch"].median, is_time=True)
        if joints == LENGTHS[-1]:
            targets += target(f"{joints} joints: seconds to make", MAKING_TARGET, making, is_time=True)
    columns = (
        Column("joints", "joints"),
        Column("ns", "ns per joint"),
        Column("batch", "batch, ns per joint and state"),
        Column("making", "to make, s"),
    )
    return Table("chains", "Revolute chains, one core", columns, rows), targets


def run(
    parts: Sequence[str] = PARTS,
    engines: Sequence[str] = tuple(FASTEST),
    python: str = "",
    build: Path | None = None,
    repeats: int = 7,
) -> Report:
    """Time the recursive formulation; engines run in `python`, their executables are kept in `build`."""
    facts = environment()
    tables: list[Table] = []
    targets: list[Row] = []
    notes: list[str] = []
    machine: list[Row] = []
    if "robots" in parts:
        rows: list[Row] = []
        for name in ROBOTS:
            found, missing = _race(
                name, engines, python or default_python(), build or default_build_folder(), repeats
            )
            rows += found
            notes += missing
            targets += _ratio_targets(name, found)
        columns = (
            Column("robot", "robot"), Column("engine", "engine"), Column("us", "us"),
            Column("ratio", "bellcrank / engine"),
        )  # fmt: skip
        tables.append(Table("robots", "Forward dynamics, one core", columns, rows))
        machine = _beside_reference(rows)
    if "chains" in parts:
        table, more = _chains(repeats)
        tables.append(table)
        targets += more
    if machine:
        tables.append(machine_table(machine))
    tables.extend(targets_tables(targets, median(row["factor"] for row in machine) if machine else None))
    settings = {"parts": list(parts), "engines": list(engines), "repeats": repeats}
    note = "Thread CPU time; medians (least .. largest) of rounds in which all engines take turns."
    return Report("recursive", facts, settings, tables, (note, *dict.fromkeys(notes)))


@click.command
@click.option("--part", "parts", multiple=True, type=click.Choice(PARTS), help="Only these parts.")
@peer_python_option
@click.option("--build", type=click.Path(path_type=Path), help="Where executables of other engines are kept.")
@repeats_option(7)
@form_option
def command(parts: tuple[str, ...], peer_python: str, build: Path | None, repeats: int, form: Form) -> None:
    """The recursive formulation beside other engines, and along chains."""
    publish([run(parts or PARTS, python=peer_python, build=build, repeats=repeats)], form)


def main(arguments: list[str]) -> int:
    """The command line of `bellcrank bench recursive`."""
    return invoke(command, "recursive", arguments)
