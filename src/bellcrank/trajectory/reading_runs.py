"""The run in a file, of either kind."""

from __future__ import annotations

from pathlib import Path

from bellcrank.trajectory.moves import MoveTrajectory
from bellcrank.trajectory.moves_file import holds_moves
from bellcrank.trajectory.trajectory import Trajectory


def run_in(path: str | Path) -> Trajectory | MoveTrajectory:
    """The recorded run in a file. Raises MechanismError for a damaged file or one without a run."""
    return MoveTrajectory.load(path) if holds_moves(path) else Trajectory.load(path)
