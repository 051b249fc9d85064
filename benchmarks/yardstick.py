"""Speed of this machine now relative to the reference machine, from the times of other engines on both."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks.peer_replay import default_python
from benchmarks.report import Column, Row, Table
from benchmarks.symbolic_peers import Files, Peer, default_build_folder, prepare
from benchmarks.symbolic_robots import GENERAL, TIMED

FASTEST: Final = {"pinocchio": "aba", "mujoco": "kinematics to solve"}
"""What an engine's fastest algorithms are called."""
REFERENCE: Final = {"pinocchio": 2.0, "mujoco": 1.07}
"""Microseconds of engines for an arm of six joints on the machine that times are asked of."""
STATES: Final = 8
SAMPLES: Final = 3


def beside_reference(microseconds: Mapping[str, float]) -> list[Row]:
    """By engine: its time for the six-joint arm here and on the reference machine, and their ratio."""
    return [
        {"engine": engine, "here": here, "there": REFERENCE[engine], "factor": here / REFERENCE[engine]}
        for engine, here in microseconds.items()
    ]


def machine_table(rows: Sequence[Row]) -> Table:
    """The table of `beside_reference`."""
    columns = tuple(Column(key, key) for key in ("engine", "here", "there", "factor"))
    title = "This machine against the one that times are asked of: six joints, us"
    return Table("machine", title, columns, rows)


class Yardstick:
    """Engines timed between the measurements of a benchmark, because the speed of a shared machine varies.

    python: an interpreter that has the engines, this one if empty. build: folder of their executables.
    missing: the engines that are missing, and why.
    """

    def __init__(self, python: str = "", build: Path | None = None) -> None:
        robot = TIMED[GENERAL]()
        self._folder = tempfile.TemporaryDirectory()
        self._files = Files.written(robot, robot.states(STATES), Path(self._folder.name))
        self._peers: list[Peer] = []
        self.missing: list[str] = []
        self._samples: dict[str, list[float]] = {}
        for engine in REFERENCE:
            peer = prepare(engine, self._files, python or default_python(), build or default_build_folder())
            if isinstance(peer, str):
                self.missing.append(peer)
            else:
                self._peers.append(peer)

    def __enter__(self) -> Yardstick:
        self.measure()
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def measure(self) -> None:
        """Time the available engines once more."""
        for peer in self._peers:
            times = [
                median(measured.nanoseconds)
                for name, measured in peer.measure(self._files, SAMPLES).items()
                if name.startswith(FASTEST[peer.engine])
            ]
            self._samples.setdefault(peer.engine, []).append(1e-3 * min(times))

    def rows(self) -> list[Row]:
        """By engine, the medians so far; empty if there is no engine."""
        return beside_reference({engine: median(times) for engine, times in self._samples.items()})

    def tables(self) -> list[Table]:
        """One table or none."""
        rows = self.rows()
        return [machine_table(rows)] if rows else []

    @property
    def factor(self) -> float | None:
        """How much slower this machine is; None if there is no engine."""
        factors = [row["factor"] for row in self.rows()]
        return median(factors) if factors else None
