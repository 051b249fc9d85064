"""Friction of a run, found again at its frames: what these do not hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from bellcrank.errors import Unsupported
from bellcrank.formulations.preparing import prepare
from bellcrank.trajectory.rubbing import FoundAgain, laws_of
from bellcrank.trajectory.trajectory import Trajectory


def friction_again(run: Trajectory) -> dict[str, FoundAgain]:
    """By name of the friction, what equations determine of it, and how far it is from jamming.

    Raises Unsupported for runs whose mechanism changes.
    """
    if run.changes:
        names = ", ".join(map(repr, run.changes))
        raise Unsupported(f"friction is not found again in a run whose mechanism changes ({names})")
    system = prepare(run.origin.model, "lagrange")
    model, frames = system.model, len(run.time)

    def rows(section: str) -> Any:
        return np.ascontiguousarray(run.store.read(section)).reshape(frames, -1)

    motion = map(rows, ("position", "rotation", "velocity", "angular_velocity"))
    inputs = rows("inputs") if model.inputs else np.zeros((frames, 0))
    times = np.ascontiguousarray(run.time)
    states, unique, margins = system.core.friction_again(model.core, times, *motion, inputs)
    columns = {row: k for k, (row, _) in enumerate(system.core.friction_states())}
    found = {}
    for name, law in laws_of(model).items():
        k = columns[model.friction_rows[law]]
        slips = np.abs(states[:, k]) == 1.0
        alone = states[:, k] == 0.0
        found[name] = FoundAgain(unique[:, k] > 0.5, alone, np.where(slips, margins, np.nan))
    return found
