"""How many degrees of freedom a model has at a state."""

from __future__ import annotations

import numpy as np

from bellcrank import _core
from bellcrank.assembly.model import Model
from bellcrank.assembly.positions import without_rows
from bellcrank.assembly.state import State


def redundant_at(model: Model, at: State, system: _core.Lagrange | None = None) -> tuple[int, ...]:
    """Active rows that are redundant at a state, according to a system of the model, which is moved there.

    A closed stop removes no degree of freedom, since it may open: a drive that starts at one is needed.
    """
    system = _core.Lagrange(model.core) if system is None else system
    system.set_state(*at.arrays)
    system.accelerate()
    of_stops = model.arrays["block_unilateral"].astype(bool)[model.row_block]
    if of_stops.any():
        holding = without_rows(model, np.flatnonzero(of_stops))
        held = np.flatnonzero(~of_stops)
        return tuple(int(held[row]) for row in redundant_at(holding, at))
    return tuple(row for row in system.dropped_rows() if model.rigid_rows[row])


def freedom_left(model: Model, redundant: tuple[int, ...]) -> int:
    """6 per body less the rank of the rows of a model, from the rows that are redundant."""
    return 6 * len(model.bodies) - int(np.count_nonzero(model.rigid_rows)) + len(redundant)
