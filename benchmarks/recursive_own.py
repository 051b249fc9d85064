"""Bellcrank's side of `bellcrank bench recursive`: robots at given states."""

from __future__ import annotations

from typing import Final

import numpy as np

from bellcrank.compile.compile import compile_mechanism
from bellcrank.formulations.preparing import prepare
from bellcrank.formulations.system import System
from bellcrank.mechanism.rotation import matrix
from benchmarks.symbolic_robots import Array, Robot, States
from benchmarks.timing import timed

BATCH: Final = 4096
"""States at once."""
TIMED_STATES: Final = 8


class Own:
    """A robot's accelerations by this formulation, at given states."""

    def __init__(self, robot: Robot, states: States) -> None:
        self.robot, self.states = robot, states
        self.system: System = prepare(robot.mechanism(states), "recursive")
        core = self.system.core
        self.q, self.u = [], []
        for number in range(len(states.q)):
            self.system.set_state(compile_mechanism(robot.mechanism(states, number)).initial)
            self.q.append(core.configuration())
            self.u.append(core.speeds())

    def nanoseconds(self) -> float:
        """Nanoseconds of one evaluation, the mean over some states."""
        core, times = self.system.core, []
        for q, u in zip(self.q[:TIMED_STATES], self.u[:TIMED_STATES], strict=True):
            core.set_configuration(0.0, q, u)
            times.append(timed(lambda: core.repeat("accelerate", 2000)) / 2000)
        return 1e9 * float(np.mean(times))

    def batch_nanoseconds(self) -> float:
        """Nanoseconds per state in a batch of many."""
        rows = np.arange(BATCH) % len(self.q)
        q, u = np.array(self.q)[rows], np.array(self.u)[rows]
        return 1e9 * timed(lambda: self.system.core.joint_accelerations_batch(q, u)) / BATCH

    def accelerations(self) -> Array:
        """Accelerations (states, speeds), a free body's in its own axes, as other engines give them."""
        core, rows = self.system.core, []
        for q, u in zip(self.q, self.u, strict=True):
            core.set_configuration(0.0, q, u)
            row = np.array(core.joint_accelerations())
            if self.robot.joints[0].type == "free":
                row[:6] = _of_free_body(self.system)
            rows.append(row)
        return np.array(rows)


def _of_free_body(system: System) -> Array:
    """Derivatives of velocity and angular velocity of the first body in its axes."""
    state = system.state()
    linear, angular, _ = system.core.accelerate()
    back = matrix(tuple(state.rotation[0])).T
    moved = linear[0] - np.cross(state.angular_velocity[0], state.velocity[0])
    return np.concatenate([back @ moved, back @ angular[0]])
