"""Times of the symbolic formulation beside other engines, same robots, states, run and core."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any, Final

import numpy as np

from bellcrank.errors import SimulationError
from benchmarks.report import Column, Row, Table
from benchmarks.symbolic_chains import torus_chain
from benchmarks.symbolic_own import Generated
from benchmarks.symbolic_peers import Files, Measured, Peer, check_agreement, difference, prepare
from benchmarks.symbolic_robots import TIMED, Robot, States
from benchmarks.timing import Spread

STATES: Final = 32
SAMPLES: Final = 3
"""Of an engine at a time; all engines take turns, so that a slow phase of the machine meets all of them."""
OWN: Final = "bellcrank"
NATIVE: Final = "native code"
BATCH: Final = "batch, one thread"
SLOW: Final = {"sympy": ("general 6R, DH frames",)}
"""Engines that take a minute and more to derive a robot, and the robots that they are asked for."""
FORWARD: Final = {"pinocchio": "aba", "mujoco": "kinematics to solve", "casadi": "", "sympy": ""}
"""How the names of those algorithms begin of which the fastest stands for the engine."""
TORUS_COORDINATES: Final = 14
PAPER_MICROSECONDS: Final = 21.3
"""The paper's torus chain: 20 to evaluate and 1.3 to solve, on a core of 2.66 GHz."""

_TIME_COLUMNS: Final = (
    Column("robot", "robot"),
    Column("coordinates", "coordinates"),
    Column("engine", "engine"),
    Column("algorithm", "algorithm"),
    Column("us", "us"),
    Column("ratio", "bellcrank / engine"),
    Column("operations", "+ - / *"),
    Column("difference", "accelerations differ by", 2),
)
_MAKING_COLUMNS: Final = (
    Column("robot", "robot"),
    Column("engine", "engine"),
    Column("first", "first evaluation, s"),
    Column("derive", "derive, s"),
    Column("compile", "compile, s"),
    Column("total", "derive and compile, s"),
    Column("speedup", "bellcrank faster by"),
)


class Race:
    """One robot, with all engines ready for it."""

    def __init__(self, robot: Robot, peers: Sequence[Peer], files: Files, own: Generated | None) -> None:
        self.robot, self.peers, self.files, self.own = robot, peers, files, own
        self.times: dict[tuple[str, str], list[float]] = {}
        self.accelerations: dict[tuple[str, str], Any] = {}
        if own is not None:
            self.accelerations[OWN, NATIVE] = own.accelerations(robot, files.states)

    def run(self, repeats: int) -> None:
        """Measure every engine in a number of rounds; raises SimulationError if engines disagree."""
        for number in range(repeats):
            for peer in self.peers:
                for name, measured in peer.measure(self.files, SAMPLES).items():
                    self._keep(peer.engine, name, measured)
            if number == 0:
                check_agreement({" ".join(key): found for key, found in self.accelerations.items()})
            if self.own is not None:
                times = self.times.setdefault((OWN, NATIVE), [])
                times += [self.own.nanoseconds() for _ in range(SAMPLES)]
                batch = self.times.setdefault((OWN, BATCH), [])
                batch += [self.own.batch_nanoseconds() for _ in range(SAMPLES)]

    def _keep(self, engine: str, name: str, measured: Measured) -> None:
        self.times.setdefault((engine, name), []).extend(measured.nanoseconds)
        self.accelerations[engine, name] = measured.accelerations

    def fastest(self, engine: str) -> float | None:
        """The median of the engine's fastest algorithm, ns."""
        start = FORWARD[engine]
        found = [median(ns) for (e, name), ns in self.times.items() if e == engine and name.startswith(start)]
        return min(found, default=None)

    def ratio(self, engine: str, algorithm: str = NATIVE) -> float | None:
        """Bellcrank's time relative to an engine's."""
        theirs, ours = self.fastest(engine), self.times.get((OWN, algorithm))
        return None if theirs is None or ours is None else median(ours) / theirs

    def rows(self) -> list[Row]:
        """One row for each engine and algorithm."""
        reference: Any = next(iter(self.accelerations.values()), None)
        ours = self.times.get((OWN, NATIVE))
        rows = []
        for (engine, name), nanoseconds in self.times.items():
            spread = Spread.of(nanoseconds, 1e-3)
            found = self.accelerations.get((engine, name))
            rows.append(
                {
                    "robot": self.robot.name,
                    "coordinates": self.robot.freedoms,
                    "engine": engine,
                    "algorithm": name,
                    "us": spread,
                    "ratio": 1e-3 * median(ours) / spread.median if ours and engine != OWN else None,
                    "operations": self._operations(engine, name),
                    "difference": None
                    if found is None or reference is None
                    else difference(found, reference),
                }
            )
        return rows

    def _operations(self, engine: str, name: str) -> str | None:
        if engine == OWN and self.own is not None:
            counts = self.own.operations
        else:
            counts = next((p.operations.get(name, {}) for p in self.peers if p.engine == engine), {})
        return f"{counts['additions']}/{counts['multiplications']}" if "additions" in counts else None

    def making_rows(self) -> list[Row]:
        """The cost of generating native code, for engines that do so."""
        rows: list[Row] = []
        own = None
        if self.own is not None:
            s = self.own.seconds
            derive, compiling = s["describe"] + s["derive"], s.get("compile")
            own = None if compiling is None else derive + compiling
            rows.append(
                {
                    "engine": "bellcrank",
                    "first": s["first"],
                    "derive": derive,
                    "compile": compiling,
                    "total": own,
                }
            )
        for peer in self.peers:
            for name, seconds in peer.seconds.items():
                derive = sum(value for step, value in seconds.items() if step != "compile")
                whole = derive + seconds["compile"]
                row = {"engine": f"{peer.engine}, {name}", "derive": derive, "compile": seconds["compile"]}
                rows.append(row | {"total": whole, "speedup": None if own is None else whole / own})
        return [{"robot": self.robot.name, **row} for row in rows]


def race(
    name: str, engines: Sequence[str], python: str, build: Path, repeats: int, with_own: bool = True
) -> tuple[Race, list[str]]:
    """One robot timed by all available engines; and why others are missing."""
    robot = TIMED[name]()
    states: States = robot.states(STATES)
    own = None
    if with_own:
        own = Generated(robot.mechanism(states))
        own.compile()
        own.set_states(robot, states)
    peers, notes = [], []
    with tempfile.TemporaryDirectory() as folder:
        files = Files.written(Robot(name, robot.bodies, robot.joints), states, Path(folder))
        for engine in engines:
            if name not in SLOW.get(engine, (name,)):
                continue
            peer = prepare(engine, files, python, build)
            if isinstance(peer, str):
                notes.append(peer)
            else:
                peers.append(peer)
        found = Race(files.robot, peers, files, own)
        found.run(repeats)
    return found, notes


def times_table(races: Sequence[Race]) -> Table:
    """All times."""
    rows = [row for race in races for row in race.rows()]
    return Table("times", "Forward dynamics, one core", _TIME_COLUMNS, rows)


def making_table(races: Sequence[Race]) -> Table:
    """The cost of deriving and compiling."""
    rows = [row for race in races for row in race.making_rows()]
    return Table("making", "From the description to native code, CPU time", _MAKING_COLUMNS, rows)


def torus_table(repeats: int, coordinates: int = TORUS_COORDINATES) -> Table:
    """The torus chain, inverse and forward, beside the paper's time."""
    mechanism = torus_chain(coordinates)
    rows: list[Row] = []
    for title, form in (("inverse", "inverse"), ("forward", "accelerations")):
        made = Generated(mechanism, form)
        made.compile()
        samples = [made.nanoseconds() for _ in range(SAMPLES * repeats)]
        if not np.isfinite(made.out).all():
            raise SimulationError(f"{mechanism.name}: {title} dynamics that are not finite", 0.0)
        counts = made.operations
        rows.append(
            {
                "dynamics": title,
                "coordinates": coordinates,
                "us": Spread.of(samples, 1e-3),
                "operations": f"{counts['additions']}/{counts['multiplications']}",
                "divisions": counts["divisions"],
                "paper_us": PAPER_MICROSECONDS if form == "accelerations" and coordinates == 14 else None,
            }
        )
    columns = (
        Column("dynamics", "torus chain"),
        Column("coordinates", "coordinates"),
        Column("us", "us"),
        Column("operations", "+ - / *"),
        Column("divisions", "divisions"),
        Column("paper_us", "paper, us"),
    )
    return Table("torus", "Torus chain, one core", columns, rows)
