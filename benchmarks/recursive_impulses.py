"""Impulses at points of chains: the operator, the laws of impact and friction, the speed jumps."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import numpy as np

from bellcrank.assembly.compile import compile_mechanism
from bellcrank.formulations.preparing import prepare as prepared
from benchmarks.report import Column, Row, Table
from benchmarks.symbolic_robots import alternating, arm
from benchmarks.targets import target
from benchmarks.timing import Spread, timed

LENGTHS: Final = (100, 1000, 10_000)
POINTS: Final = (4, 16, 64)
COMPARED: Final = 1000
"""The longest chain that is struck in maximal coordinates as well."""
LIMIT: Final = 0.35
"""Milliseconds for a chain of 1,000 struck at 4 points."""
TOLERANCE: Final = 1e-10

Strike = tuple[list[int], np.ndarray, list[tuple[int, int]], np.ndarray, float]


def impulses(repeats: int) -> tuple[Table, list[Row]]:
    """Revolute chains that collide with the ground at points along them, with friction."""
    rows: list[Row] = []
    targets: list[Row] = []
    for joints in LENGTHS:
        model = compile_mechanism(arm("chain", alternating(joints)).mechanism())
        for points in POINTS:
            own = _struck(prepared(model, "recursive"), points, repeats)
            row: Row = {"joints": joints, "points": points, "us": own, "ns": 1e3 * own.median / joints}
            if joints <= COMPARED:
                row["lagrange"] = _struck(prepared(model, "lagrange"), points, repeats)
            rows.append(row)
            if (joints, points) == (1000, 4):
                text = "chain of 1,000 struck at 4 points: ms"
                targets += target(text, LIMIT, 1e-3 * own.median, is_time=True)
    columns = (
        Column("joints", "joints"),
        Column("points", "points"),
        Column("us", "us"),
        Column("ns", "ns per joint"),
        Column("lagrange", "lagrange, us"),
    )
    return Table("impulses", "Chains struck at points, friction 0.4, one core", columns, rows), targets


def _struck(system: Any, points: int, repeats: int) -> Spread:
    """Microseconds of a strike, after blows that drive the points into the ground."""
    state = system.state()
    bodies = len(state.position)
    where = [(k + 1) * bodies // points - 1 for k in range(points)]
    normal = np.array([0.2, 0.1, 1.0]) / np.linalg.norm([0.2, 0.1, 1.0])
    at = state.position[where]
    blows = np.column_stack([at, np.tile(-normal, (points, 1))])
    struck = np.column_stack([at, np.tile(normal, (points, 1)), np.tile([0.4, 0.0, 0.0], (points, 1))])
    times = []
    for _ in range(max(repeats, 3)):
        system.set_state(state)
        system.core.strike(where, blows, [], np.zeros((0, 9)), TOLERANCE)
        pairs = [(k, bodies) for k in where]
        times.append(timed(partial(system.core.strike, [], np.zeros((0, 6)), pairs, struck, TOLERANCE)))
    return Spread.of(times, 1e6)
