"""Random states of a mechanism that satisfy its constraints, away from its start."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bellcrank.assembly.model import Model
from bellcrank.assembly.state import State
from bellcrank.errors import AssemblyError
from bellcrank.formulations.preparing import prepare
from bellcrank.formulations.system import System

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
