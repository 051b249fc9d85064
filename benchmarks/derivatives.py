"""Derivatives of accelerations beside the accelerations themselves, and beside Pinocchio's."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Final

import click

import bellcrank as bc
from bellcrank import gallery
from bellcrank.compile.compile import compile_mechanism
from bellcrank.formulations.preparing import prepare as prepared
from bellcrank.formulations.system import System
from benchmarks.command_line import Form, form_option, invoke, peer_python_option, repeats_option
from benchmarks.environment import environment
from benchmarks.peer_replay import default_python
from benchmarks.recursive_own import Own
from benchmarks.report import Column, Report, Row, Table, publish
from benchmarks.symbolic_peers import Files, Peer, check_agreement, default_build_folder, prepare
from benchmarks.symbolic_robots import GENERAL, TIMED, Robot, alternating, arm, general, limbs
from benchmarks.targets import target, targets_tables
from benchmarks.timing import LEAST_SECONDS, Spread, timed

ENGINE: Final = "pinocchio_derivatives"
SEVEN: Final = "general 7R"
TREE: Final = "tree of 38"
ROBOTS: Final[dict[str, Callable[[], Robot]]] = {
    GENERAL: TIMED[GENERAL],
    SEVEN: lambda: arm("7R", general(7), tilt=0.7),
    TREE: limbs,
    "chain of 100": lambda: arm("chain", alternating(100)),
    "chain of 1,000": lambda: arm("chain", alternating(1000)),
    "chain of 10,000": lambda: arm("chain", alternating(10_000)),
}
LOOPS: Final[dict[str, Callable[[], bc.Mechanism]]] = {
    "four-bar": gallery.four_bar,
    "Stewart platform": gallery.stewart_platform,
}
DENSE: Final = 1000
"""Speeds of the largest trees whose full Jacobians are timed."""
PEER_SPEEDS: Final = 100
"""Of the largest trees that Pinocchio takes: it keeps room for derivatives of second order, n^3 numbers."""
LANES: Final = 4
"""Directions that are followed side by side."""
STATES: Final = 8
SAMPLES: Final = 3
DIRECTION_TARGET: Final = 1.0
"""Accelerations that one direction costs beside the acceleration that has been found."""
LANE_TARGET: Final = 0.25
GRADIENT_TARGET: Final = 1.1
"""By the state and all parameters, beside the acceleration."""
JACOBIAN_TARGETS: Final = {GENERAL: 1.6, TREE: 20.0}
"""Microseconds, with the acceleration."""

_COLUMNS: Final = (
    Column("mechanism", "mechanism"),
    Column("speeds", "speeds"),
    Column("acceleration", "acceleration a, us"),
    Column("direction", "one direction, a"),
    Column("lane", "of four at once, a"),
    Column("gradient", "gradient, a"),
    Column("jacobian", "Jacobian, us"),
    Column("peer_acceleration", "aba, us"),
    Column("peer_jacobian", "computeABADerivatives, us"),
    Column("ratio", "Jacobian / Pinocchio"),
)


class _Timed:
    """Times of one system: microseconds of its works, each with the acceleration."""

    def __init__(self, system: System) -> None:
        self._core = system.core
        preloads = _preloads(system)
        self.speeds = len(system.core.speeds())
        self._works: dict[str, tuple[object, ...]] = {"accelerate": (), "tangent": (), "adjoint": ()}
        if self.speeds <= DENSE:
            self._works["jacobian"] = (1e-12, preloads)
        self._counts: dict[str, int] = {}
        self.samples: dict[str, list[float]] = {work: [] for work in self._works}

    def measure(self) -> None:
        """Time every work once, one after another."""
        for work, arguments in self._works.items():
            if work not in self._counts:
                self._core.repeat(work, 1, *arguments)
                once = timed(lambda: self._core.repeat(work, 3, *arguments)) / 3  # noqa: B023
                self._counts[work] = max(1, round(LEAST_SECONDS / max(once, 1e-7)))
            count = self._counts[work]
            spent = timed(lambda: self._core.repeat(work, count, *arguments))  # noqa: B023
            self.samples[work].append(1e6 * spent / count)

    def beside(self, work: str) -> float:
        """What a work costs beside the acceleration, in accelerations measured in the same round."""
        pairs = zip(self.samples[work], self.samples["accelerate"], strict=True)
        return median(spent / once - 1.0 for spent, once in pairs)


def _preloads(system: System) -> list[tuple[str, int]]:
    """Where constant efforts of the robots' joints stand among the model's numbers."""
    starts = system.model.arrays["law_param_start"]
    return [("law_params", int(end) - 1) for end in starts[1:]]


def _row(name: str, own: _Timed) -> Row:
    row: Row = {
        "mechanism": name,
        "speeds": own.speeds,
        "acceleration": Spread.of(own.samples["accelerate"]),
        "direction": own.beside("tangent"),
        "lane": own.beside("tangent") / LANES,
        "gradient": own.beside("adjoint"),
    }
    if "jacobian" in own.samples:
        row["jacobian"] = Spread.of(own.samples["jacobian"])
    return row


def _race(name: str, peers: bool, python: str, build: Path, repeats: int) -> tuple[Row, str]:
    """A robot by both engines in turns; and why Pinocchio is missing."""
    robot = ROBOTS[name]()
    states = robot.states(STATES)
    bellcrank = Own(robot, states)
    own = _Timed(bellcrank.system)
    times: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        files = Files.written(robot, states, Path(folder))
        peer: Peer | str = ""
        if peers and own.speeds <= PEER_SPEEDS:
            peer = prepare(ENGINE, files, python, build)
        for _ in range(repeats):
            own.measure()
            if isinstance(peer, str):
                continue
            found = peer.measure(files, SAMPLES)
            accelerations = {key: measured.accelerations for key, measured in found.items()}
            check_agreement({"bellcrank": bellcrank.accelerations(), **accelerations})
            for algorithm, measured in found.items():
                times.setdefault(algorithm, []).extend(measured.nanoseconds)
    row = _row(name, own)
    for key, algorithm in (("peer_acceleration", "aba"), ("peer_jacobian", "computeABADerivatives")):
        spreads = [Spread.of(ns, 1e-3) for label, ns in times.items() if label.startswith(algorithm)]
        if spreads:
            row[key] = min(spreads, key=lambda spread: spread.median)
    if "peer_jacobian" in row:
        row["ratio"] = row["jacobian"].median / row["peer_jacobian"].median
    return row, peer if isinstance(peer, str) else ""


def _loops(repeats: int) -> list[Row]:
    rows = []
    for name, make in LOOPS.items():
        own = _Timed(prepared(compile_mechanism(make()), "recursive"))
        for _ in range(repeats):
            own.measure()
        rows.append(_row(name, own))
    return rows


def _targets(rows: Sequence[Row]) -> list[Row]:
    out: list[Row] = []
    for key, text, limit in (
        ("direction", "one direction, in accelerations", DIRECTION_TARGET),
        ("lane", "one of four at once, in accelerations", LANE_TARGET),
        ("gradient", "gradient by state and parameters, in accelerations", GRADIENT_TARGET),
    ):
        worst = max(rows, key=lambda row: row[key])
        out += target(f"{text}: the most, of {worst['mechanism']}", limit, worst[key])
    for row in rows:
        if row["mechanism"] in JACOBIAN_TARGETS:
            text = f"{row['mechanism']}: us of the full Jacobian"
            limit = JACOBIAN_TARGETS[row["mechanism"]]
            out += target(text, limit, row["jacobian"].median, is_time=True)
        if row["mechanism"] == GENERAL and "ratio" in row:
            out += target(f"{GENERAL}: full Jacobian, part of pinocchio's time", 1.0, row["ratio"])
    return out


def run(
    names: Sequence[str] = tuple(ROBOTS),
    peers: bool = True,
    python: str = "",
    build: Path | None = None,
    repeats: int = 7,
) -> Report:
    """Time derivatives; Pinocchio runs in `python`, its executables are kept in `build`."""
    facts = environment()
    rows, notes = [], []
    for name in names:
        row, missing = _race(
            name, peers, python or default_python(), build or default_build_folder(), repeats
        )
        rows.append(row)
        notes += [missing] if missing else []
    rows += _loops(repeats)
    tables = [
        Table("derivatives", "Derivatives of accelerations, one core", _COLUMNS, rows),
        *targets_tables(_targets(rows)),
    ]
    settings = {"names": list(names), "peers": peers, "repeats": repeats}
    note = (
        "Thread CPU time; medians (least .. largest) of rounds in which all take turns. Directions of the "
        "state and gradients by state and all numbers cost so many accelerations beside the one that was "
        "found; one direction is as much work as four. Jacobians are by state and efforts of joints, in "
        "fours, with the acceleration."
    )
    return Report("derivatives", facts, settings, tables, (note, *dict.fromkeys(notes)))


@click.command
@click.option("--robot", "names", multiple=True, type=click.Choice(tuple(ROBOTS)), help="Only these.")
@peer_python_option
@click.option("--build", type=click.Path(path_type=Path), help="Where executables of other engines are kept.")
@repeats_option(7)
@form_option
def command(names: tuple[str, ...], peer_python: str, build: Path | None, repeats: int, form: Form) -> None:
    """Derivatives of accelerations beside accelerations and Pinocchio's derivatives."""
    publish([run(names or tuple(ROBOTS), python=peer_python, build=build, repeats=repeats)], form)


def main(arguments: list[str]) -> int:
    """The command line of `bellcrank bench derivatives`."""
    return invoke(command, "derivatives", arguments)
