"""What a formulation says of a mechanism at given states, in the form in which runs are recorded."""

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
    """The answers of a formulation at states.

    evidence: the answers, one frame for each state. dropped: (states,) numbers of redundant rows. pivots:
        (states,), the smallest relative pivots of those kept.
    """

    formulation: str
    evidence: Evidence
    dropped: np.ndarray
    pivots: Floats

    @property
    def sections(self) -> dict[str, Floats]:
        """The answers by the names of `FrameLayout.shapes`."""
        return self.evidence.sections


def testimony(model: Model, system: System, states: Sequence[State]) -> Testimony:
    """What a system of the model says at states that satisfy the constraints."""
    what = observation(model, accelerations=True)
    frames: dict[str, list[Floats]] = {name: [] for name in what.layout.shapes}
    plain = _core.Lagrange(model.core)
    dropped, pivots = [], []
    for state in states:
        acc = system.accelerate(state)
        values, rates = (np.asarray(v)[list(what.coordinates)] for v in system.core.coordinates())
        model.put(plain, state)
        own = len(what.layout.coordinates)
        second = plain.coordinate_accelerations(acc.linear, acc.angular)
        kinetic, potential = system.core.energy()
        rows = list(what.rows)
        said = {
            "time": state.time,
            "position": state.position,
            "rotation": state.rotation,
            "velocity": state.velocity,
            "angular_velocity": state.angular_velocity,
            "coordinates": values[:own],
            "angles": values[own:],
            "rates": rates[:own],
            "angle_rates": rates[own:],
            "multipliers": acc.multipliers[rows],
            "reactions": acc.reactions,
            "unique_multipliers": acc.determined[rows],
            "unique_reactions": acc.unique,
            "kinetic": kinetic,
            "potential": potential,
            **dict(zip(("position_violation", "velocity_violation"), system.core.violation(), strict=True)),
            "acceleration": acc.linear,
            "angular_acceleration": acc.angular,
            "coordinate_accelerations": second[list(what.coordinates[:own])],
        }
        for name, shape in what.layout.shapes.items():
            frames[name].append(np.asarray(said[name], dtype=np.float64).reshape(shape))
        dropped.append(len(system.stats.dropped))
        pivots.append(system.stats.smallest_pivot)
    store = MemoryStore({name: np.array(values) for name, values in frames.items()})
    run = Trajectory(what.layout, store, statistics={"formulation": system.formulation})
    return Testimony(system.formulation, Evidence(model, run, None), np.array(dropped), np.array(pivots))
