"""Random states of a mechanism that satisfy its constraints, and the results of formulations at states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bellcrank import _core
from bellcrank.compile.model import Model
from bellcrank.compile.state import Floats, State
from bellcrank.errors import AssemblyError
from bellcrank.formulations.preparing import prepare
from bellcrank.formulations.system import System
from bellcrank.trajectory.observation import observation
from bellcrank.trajectory.store import MemoryStore
from bellcrank.trajectory.trajectory import Trajectory
from bellcrank.verification.evidence import Evidence

_HOPS = 8  # from the start to a state
_TIME = 0.15  # of a hop, s, at speeds of about 1 rad/s


def admissible_states(model: Model, count: int, seed: int = 0) -> list[State]:
    """The initial state, then up to a number of others at that time, reached by random motions.

    They satisfy the constraints; there are fewer if the mechanism locks on the way. Raises AssemblyError if
    the initial state does not satisfy the constraints.
    """
    random = np.random.default_rng(seed)
    system = prepare(model, "lagrange")
    start = system.project()
    reach = 0.1 + float(np.max(np.abs(start.position - np.mean(start.position, axis=0)), initial=0.0))
    found = [start]
    for _ in range(count):
        state = start
        for _ in range(_HOPS):
            try:
                state = _hop(system, state, reach, random)
            except AssemblyError:
                system.set_state(state)
        try:
            found.append(_moving(system, state, reach, random))
        except AssemblyError:
            continue
    return found


def _moving(system: System, state: State, reach: float, random: np.random.Generator) -> State:
    """The state with random velocities that the constraints allow."""
    shape = state.position.shape
    velocity, spin = reach * random.standard_normal(shape), random.standard_normal(shape)
    return system.project(replace(state, velocity=velocity, angular_velocity=spin))


def _hop(system: System, state: State, reach: float, random: np.random.Generator) -> State:
    """The state that such a motion reaches in a short time."""
    moving = _moving(system, state, reach, random)
    there = system.retract(moving, moving.velocity, moving.angular_velocity, _TIME)
    return system.project(replace(there, time=state.time))


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
    frames, dropped, pivots, contacts = [], [], [], []
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
