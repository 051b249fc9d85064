"""Closed loops: bellcrank and the fastest peer in turns, for machines whose speed varies."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Final

from benchmarks.loop_runs import LoopProblem, Setting
from benchmarks.peer_replay import PeerSettings, replay
from benchmarks.report import Column, Row, Table
from benchmarks.timing import Spread

SAMPLES: Final = 5
"""Runs of each side in a round, of which the median counts."""
LEAST: Final = {("four_bar", 1): 2.0, ("four_bar", 10): 5.0, ("four_bar", 40): 5.0}
"""How many times as fast as a peer as a user sets it up bellcrank is to be."""
_COLUMNS: Final = (
    Column("problem", "problem"),
    Column("method", "bellcrank by"),
    Column("engine", "beside"),
    Column("level", "level"),
    Column("ratio", "ratio"),
    Column("least", "at least"),
    Column("met", "met"),
)


def duel(
    problem: LoopProblem, setting: Setting, peer: Row, settings: PeerSettings, python: str, rounds: int
) -> list[Row]:
    """The time of a peer relative to bellcrank's, by rounds; empty if it cannot be run.

    In a round bellcrank is timed before and after the peer. peer: its row among those of the problem.
    """
    ratios = []
    before = _milliseconds(problem, setting)
    for _ in range(rounds):
        rows, _reason = replay(peer["engine"], problem, settings, python, SAMPLES, peer["family"])
        times = [row["milliseconds"].median for row in rows if isinstance(row.get("milliseconds"), Spread)]
        after = _milliseconds(problem, setting)
        if not times:
            return []
        ratios.append(times[0] / (0.5 * (before + after)))
        before = after
    ratio = Spread.of(ratios)
    row: Row = {
        "problem": f"{problem.name} {problem.n}",
        "method": setting.method,
        "engine": f"{peer['engine']}, {peer['family']}",
        "level": peer["level"],
        "ratio": ratio,
    }
    if peer["level"] == "user" and (problem.name, problem.n) in LEAST:
        row["least"] = LEAST[problem.name, problem.n]
        row["met"] = ratio.median >= row["least"]
    return [row]


def duels_tables(rows: Sequence[Row]) -> list[Table]:
    """One table, or none without rows."""
    return [Table("duels", "In turns: the peer's time by bellcrank's", _COLUMNS, rows)] if rows else []


def _milliseconds(problem: LoopProblem, setting: Setting) -> float:
    return 1e3 * median(run.seconds for run in setting.timed_again(problem, SAMPLES))
