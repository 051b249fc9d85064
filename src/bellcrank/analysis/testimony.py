"""The results of a formulation at given states, in the form in which runs are recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bellcrank import _core
from bellcrank.analysis.evidence import Evidence
from bellcrank.assembly.model import Model
from bellcrank.assembly.state import Floats, State
from bellcrank.formulations.system import System
from bellcrank.trajectory.observation import observation
from bellcrank.trajectory.store import MemoryStore
from bellcrank.trajectory.trajectory import Trajectory


@dataclass(frozen=True, eq=False)
class Testimony:
    """The results of a formulation at states.

    evidence: the results, one frame for each state. dropped: (states,) numbers of redundant rows. pivots:
        (states,), the smallest relative pivots of those kept.
    """

    formulation: str
    evidence: Evidence
    dropped: np.ndarray
    pivots: Floats

    @property
    def sections(self) -> dict[str, Floats]:
        """The results by the names of `FrameLayout.shapes`."""
        return self.evidence.sections


def testimony(model: Model, system: System, states: Sequence[State]) -> Testimony:
    """The results of a system of the model at states that satisfy the constraints."""
    what = observation(model, accelerations=True)
    rows = [m.row for m in model.multipliers]
    frames, dropped, pivots = [], [], []
    contacts = []
    for state in states:
        acc = system.accelerate(state)
        said = {
            "multipliers": acc.multipliers[rows],
            "reactions": acc.reactions,
            "unique_multipliers": acc.determined[rows],
            "unique_reactions": acc.unique,
            "acceleration": acc.linear,
            "angular_acceleration": acc.angular,
        }
        frame = _core.observe(system.core, what.core)
        for name, values in said.items():
            frame[0, what.layout.columns[name]] = np.ravel(values)
        frames.append(frame)
        contacts += [system.core.contacts()] if model.contacts else []
        dropped.append(len(system.stats.dropped))
        pivots.append(system.stats.smallest_pivot)
    points = np.concatenate(contacts) if contacts else None
    store = MemoryStore.from_frames(what.layout, np.concatenate(frames), points)
    run = Trajectory(what.layout, store, statistics={"formulation": system.formulation})
    return Testimony(system.formulation, Evidence(model, run, None), np.array(dropped), np.array(pivots))
