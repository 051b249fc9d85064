"""The symbolic formulation: operations beside published figures, times beside other engines, targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from bellcrank.errors import Unsupported
from benchmarks import symbolic_counts, symbolic_figures, symbolic_times
from benchmarks.command_line import Form, form_option, invoke, peer_python_option, repeats_option
from benchmarks.environment import environment
from benchmarks.peer_replay import default_python
from benchmarks.report import Column, Report, Row, Table, publish
from benchmarks.symbolic_chains import CHAINS
from benchmarks.symbolic_peers import AGREEMENT, ENGINES, default_build_folder
from benchmarks.symbolic_robots import ARMS, GENERAL, TIMED

PARTS: Final = ("operations", "growth", "times", "torus")
LARGEST: Final = 20
RATIO_TARGETS: Final = {"pinocchio": 0.2, "mujoco": 0.45, "casadi": 0.65}
"""Of six general revolute joints: our time as a part of an engine's fastest."""
BATCH_TARGET: Final = 0.05
"""Per point of many, as a part of Pinocchio's aba."""
TORUS_TARGETS: Final = {"inverse": 0.8, "forward": 1.5}
"""Microseconds."""
MAKING_TARGETS: Final = {GENERAL: 0.4, "humanoid": 8.0}
"""CPU seconds to derive and compile."""
FIRST_TARGET: Final = 0.05
"""CPU seconds from the mechanism to the first evaluation, by the interpreter."""
SYMPY_TARGET: Final = 50.0
_TARGET_COLUMNS: Final = (
    Column("target", "target"),
    Column("limit", "limit"),
    Column("measured", "measured"),
    Column("met", "met"),
)


@dataclass(frozen=True)
class Request:
    """The measurements to make.

    parts: of PARTS. python: an interpreter that has the engines. build: a folder that keeps executables. own:
        whether bellcrank is timed as well.
    """

    parts: Sequence[str] = PARTS
    robots: Sequence[str] = tuple(TIMED)
    arms: Sequence[str] = tuple(ARMS)
    chains: Sequence[str] = tuple(CHAINS)
    largest: int = LARGEST
    engines: Sequence[str] = ENGINES
    python: str = ""
    build: Path | None = None
    repeats: int = 7
    own: bool = True


def run(request: Request | None = None) -> Report:
    """Count and time the symbolic formulation."""
    asked = request or Request()
    facts = environment()
    tables: list[Table] = []
    targets: list[Row] = []
    missing: list[str] = []
    if "operations" in asked.parts:
        tables.append(symbolic_counts.arms_table(asked.arms))
        targets += _operation_targets(tables[-1])
    if "growth" in asked.parts:
        growth, fits, notes = symbolic_counts.growth_tables(asked.chains, asked.largest)
        missing += notes
        tables += [growth, fits]
        targets += _growth_targets(fits)
    if "times" in asked.parts:
        races, notes = _races(asked)
        missing += notes
        tables += [symbolic_times.times_table(races), symbolic_times.making_table(races)]
        targets += _time_targets(races)
    if "torus" in asked.parts:
        try:
            tables.append(symbolic_times.torus_table(asked.repeats))
            targets += _torus_targets(tables[-1])
        except Unsupported as error:
            missing.append(f"torus chain: {error}")
    tables.append(Table("targets", "Targets", _TARGET_COLUMNS, targets))
    settings = {key: list(value) if isinstance(value, tuple) else value for key, value in vars(asked).items()}
    settings["build"] = None if asked.build is None else str(asked.build)
    return Report("symbolic", facts, settings, tables, (*_NOTES, *dict.fromkeys(missing)))


_NOTES: Final = (
    "Operations: binary sums / binary products; signs are free; divisions, sines and cosines apart.",
    "Equation 13: the paper's, literally; only development builds count it. Recipe: what runs.",
    "Published: B. Guenter, S.-H. Lee, Table 1, best and worst; of figures 6 and 7 there are no numbers.",
    "Times: thread CPU time of one evaluation, medians (least .. largest) of rounds in which all take turns.",
    f"{symbolic_times.STATES} random states; accelerations agree to {AGREEMENT:g}, or nothing is reported.",
    "Pinocchio: C++ driver on its wheel's headers, -O3, for any processor and for this one.",
    "MuJoCo: C driver on its wheel's library. CasADi: its C, -O3 -march=native. The fastest counts.",
)


def _races(asked: Request) -> tuple[list[symbolic_times.Race], list[str]]:
    races, missing = [], []
    python, build = asked.python or default_python(), asked.build or default_build_folder()
    for name in asked.robots:
        race, notes = symbolic_times.race(name, asked.engines, python, build, asked.repeats, asked.own)
        races.append(race)
        missing += notes
    return races, missing


def _target(
    text: str, limit: float | str, measured: float | str | None, met: bool | None = None
) -> list[Row]:
    """A row, or none if nothing was measured. met: by default whether the number is at most the limit."""
    if measured is None:
        return []
    if met is None:
        met = float(measured) <= float(limit)
    return [{"target": text, "limit": limit, "measured": measured, "met": met}]


def _operation_targets(arms: Table) -> list[Row]:
    return [
        row
        for arm in arms.rows
        for column in ("inverse", "forward")
        if f"{column}_target" in arm
        for row in _target(
            f"{arm['geometry']}: {column}, operations",
            arm[f"{column}_target"],
            arm[column],
            arm[f"{column}_met"],
        )
    ]


def _growth_targets(fits: Table) -> list[Row]:
    found = []
    for fit in fits.rows:
        ours = fit["form"] == "recipe" and fit["chain"].startswith("revolute")
        if not ours or "inverse_sums_per_coordinate" not in fit:
            continue
        slopes = (fit["inverse_sums_per_coordinate"], fit["inverse_products_per_coordinate"])
        limit = symbolic_counts.PER_JOINT_TARGET
        exact = fit["inverse_residual"] < 1e-6
        met = exact and all(slope <= most + 1e-9 for slope, most in zip(slopes, limit, strict=True))
        text = f"{fit['chain']} chain: inverse per joint, exactly linear"
        measured = f"{slopes[0]:.4g}/{slopes[1]:.4g}" + ("" if exact else ", not exactly")
        found += _target(text, f"{limit[0]}/{limit[1]}", measured, met)
    return found


def _time_targets(races: Sequence[symbolic_times.Race]) -> list[Row]:
    found = []
    for race in races:
        name = race.robot.name
        if name == GENERAL:
            for engine, limit in RATIO_TARGETS.items():
                found += _target(f"{name}: time as a part of {engine}'s", limit, race.ratio(engine))
            batch = race.ratio("pinocchio", symbolic_times.BATCH)
            found += _target(f"{name}: batch, per point, as a part of pinocchio's", BATCH_TARGET, batch)
        if name == "humanoid":
            for engine in ("pinocchio", "mujoco"):
                found += _target(f"{name}: time as a part of {engine}'s", 1.0, race.ratio(engine))
        for row in race.making_rows():
            if row["engine"] == symbolic_times.OWN:
                if name in MAKING_TARGETS:
                    found += _target(f"{name}: derive and compile, s", MAKING_TARGETS[name], row["total"])
                if name == GENERAL:
                    found += _target(f"{name}: first evaluation, s", FIRST_TARGET, row["first"])
            elif row["engine"].startswith("sympy") and row["speedup"] is not None:
                text = f"{name}: derive and compile faster than sympy by"
                found += _target(text, SYMPY_TARGET, row["speedup"], row["speedup"] >= SYMPY_TARGET)
    return found


def _torus_targets(torus: Table) -> list[Row]:
    return [
        row
        for times in torus.rows
        if times["coordinates"] == symbolic_times.TORUS_COORDINATES
        for row in _target(
            f"torus chain, {times['dynamics']}, us", TORUS_TARGETS[times["dynamics"]], times["us"].median
        )
    ]


@click.command
@click.option("--part", "parts", multiple=True, type=click.Choice(PARTS), help="Only these.")
@click.option("--robot", "robots", multiple=True, type=click.Choice(list(TIMED)), help="Time only these.")
@click.option("--arm", "arms", multiple=True, type=click.Choice(list(ARMS)), help="Count only these.")
@click.option("--chain", "chains", multiple=True, type=click.Choice(list(CHAINS)), help="Grow only these.")
@click.option("--largest", default=LARGEST, show_default=True, type=click.IntRange(2), help="Coordinates.")
@click.option("--peer", "engines", multiple=True, type=click.Choice([*ENGINES, "none"]), help="Only these.")
@peer_python_option
@click.option("--build", type=click.Path(path_type=Path, file_okay=False), help="Keeps compiled drivers.")
@click.option("--peers-alone", is_flag=True, help="Time the other engines only.")
@repeats_option(7)
@click.option(
    "--plot", "image", type=click.Path(path_type=Path, dir_okay=False), help="Draw figures 6 and 7."
)
@form_option
def command(
    parts: tuple[str, ...],
    robots: tuple[str, ...],
    arms: tuple[str, ...],
    chains: tuple[str, ...],
    largest: int,
    engines: tuple[str, ...],
    peer_python: str,
    build: Path | None,
    peers_alone: bool,
    repeats: int,
    image: Path | None,
    form: Form,
) -> None:
    """Operations and times of the symbolic formulation, beside published figures and other engines."""
    if image is not None and "growth" not in (parts or PARTS):
        raise click.UsageError("--plot draws what --part growth counts")
    wanted = tuple(engine for engine in engines or ENGINES if engine != "none")
    request = Request(
        parts=parts or PARTS,
        robots=robots or tuple(TIMED),
        arms=arms or tuple(ARMS),
        chains=chains or tuple(CHAINS),
        largest=largest,
        engines=wanted,
        python=peer_python,
        build=build,
        repeats=repeats,
        own=not peers_alone,
    )
    report = run(request)
    publish([report], form)
    if image is not None:
        symbolic_figures.plot(next(table for table in report.tables if table.name == "growth"), image)


def main(arguments: list[str]) -> int:
    """The command line of `bellcrank bench symbolic`."""
    return invoke(command, "symbolic", arguments)
