"""Bellcrank's side of `bellcrank bench symbolic`: derive, compile and time the equations of a robot."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

import bellcrank as bc
from bellcrank.compile.compile import compile_mechanism
from bellcrank.errors import Unsupported
from bellcrank.expression import native
from bellcrank.mechanism.rotation import matrix
from benchmarks.symbolic_robots import Robot, States
from benchmarks.timing import timed

Array = NDArray[np.float64]
LEAST_SECONDS: Final = 1e-3
"""A sample lasts at least so long, as those of the other engines do."""
BATCH_POINTS: Final = 4096


@contextmanager
def nothing_stored() -> Iterator[None]:
    """Within this context, object code is generated anew, and not stored."""
    before = os.environ.get(native.VARIABLE)
    os.environ[native.VARIABLE] = "off"
    try:
        yield
    finally:
        if before is None:
            del os.environ[native.VARIABLE]
        else:
            os.environ[native.VARIABLE] = before


class Generated:
    """A generated form of a mechanism's equations of motion, with the cost of generating it.

    program: the form. inputs: (states, inputs) of it. seconds: CPU time by step: "describe" (checking and
    flattening the mechanism), "derive" (equations and the form), "first" (from the mechanism to one
    interpreted evaluation, all included), "compile" (native code for one point).
    """

    def __init__(self, mechanism: bc.Mechanism, form: str = "accelerations") -> None:
        begun = time.thread_time()
        model = compile_mechanism(mechanism)
        described = time.thread_time()
        self.system = cast(Any, bc.prepare(model, "symbolic"))
        self.program = self.system.program(form)
        derived = time.thread_time()
        self.out = np.empty(len(self.program.program.outputs))
        self.inputs = self._input()[np.newaxis]
        self.program.evaluate(self.inputs[0], self.out, True)
        first = time.thread_time()
        self.seconds = {"describe": described - begun, "derive": derived - described, "first": first - begun}
        self.operations = self.system.operations(form)
        self.method: str = self.system.core.method()

    def compile(self) -> None:
        """Generate native code for one point, as if for the first time.

        Raises Unsupported without llvmlite: interpreted programs are not what is compared.
        """
        if not native.available():
            raise Unsupported("symbolic: there is no native code to be timed; pip install llvmlite")
        if not self.program.native:
            native.attach(cast(Any, bc.prepare(_smallest(), "symbolic")).program("accelerations"))
            with nothing_stored():
                self.seconds["compile"] = timed(lambda: native.attach(self.program))

    def set_states(self, robot: Robot, states: States) -> None:
        """Use the robot's states as inputs."""
        rows = []
        for number in range(len(states.q)):
            self.system.set_state(compile_mechanism(robot.mechanism(states, number)).initial)
            rows.append(self._input())
        self.inputs = np.array(rows)

    def _input(self) -> Array:
        """The current state: time, coordinates, speeds; all other inputs are 0."""
        core = self.system.core
        known = np.concatenate(([0.0], core.configuration(), core.speeds()))
        row = np.zeros(self.program.program.inputs)
        row[: len(known)] = known
        return row

    def nanoseconds(self) -> float:
        """Nanoseconds of one evaluation, the mean over all states."""
        return 1e9 * float(np.mean([self._seconds(row) for row in self.inputs]))

    def _seconds(self, row: Array) -> float:
        once = max(self.program.seconds(row, 20), 1e-8)
        count = max(20, round(LEAST_SECONDS / (once * len(self.inputs))))
        return float(self.program.seconds(row, count))

    def batch_nanoseconds(self) -> float:
        """Nanoseconds per point in a batch of many, in one thread."""
        points = np.ascontiguousarray(np.resize(self.inputs, (BATCH_POINTS, self.inputs.shape[1])))
        out = np.empty((BATCH_POINTS, len(self.out)))
        shared = np.empty(0)
        if native.available():
            native.attach(self.program, batch=True)
        self.program.evaluate_batch(points, shared, out, 1)
        seconds = timed(lambda: self.program.evaluate_batch(points, shared, out, 1))
        return 1e9 * seconds / BATCH_POINTS

    def accelerations(self, robot: Robot, states: States) -> Array:
        """Accelerations of all states, (states, degrees of freedom), as the other engines give them.

        Those of joints come from the timed program; those of a free body from its frame's acceleration.
        """
        place = {speed.joint: k for k, speed in enumerate(self.system.speeds)}
        rows = []
        for number, inputs in enumerate(self.inputs):
            self.program.evaluate(inputs, self.out)
            row: list[float] = []
            for k, joint in enumerate(robot.joints):
                if joint.type == "free":
                    row += self._of_free_body(robot, states, number, f"body {k}")
                else:
                    row.append(self.out[place[f"joint {k}"]])
            rows.append(row)
        return np.array(rows)

    def _of_free_body(self, robot: Robot, states: States, number: int, name: str) -> list[float]:
        """Derivatives of velocity and angular velocity in the body's axes."""
        mechanism = robot.mechanism(states, number)
        body = mechanism.bodies[name]
        found = self.system.accelerate(compile_mechanism(mechanism).initial).body(name)
        back, spin, velocity = matrix(body.rotation).T, body.angular_velocity, body.velocity
        linear = back @ (np.asarray(found.linear) - np.cross(spin, velocity))
        return [*linear.tolist(), *(back @ np.asarray(found.angular)).tolist()]


def _smallest() -> bc.Mechanism:
    """A pendulum, whose compilation loads LLVM."""
    mech = bc.Mechanism("pendulum")
    bob = mech.add_body("bob", mass=1.0, inertia=(1.0, 1.0, 1.0), com=(1.0, 0.0, 0.0))
    mech.add_joint("pin", bc.Revolute(), mech.ground, bob)
    return mech
