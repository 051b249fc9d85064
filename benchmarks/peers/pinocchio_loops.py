"""Pinocchio on closed loops: a tree closed by point constraints, `constraintDynamics` with Baumgarte terms.

The loop is Python over C++ calls, so two times are reported. Raw: as it runs. Corrected: minus the same loop
with the dynamics replaced by a function that returns a stored array, minus per call the cost of calling
`constraintDynamics` through the binding on one free joint (which over-corrects slightly, in Pinocchio's
favour).

Settings (--set NAME=VALUE):
  integrator  rk4 (default), dopri5, dop853, ab<order>, abm<order>
  gain        dimensionless Baumgarte gain g: Kp = (g/h)², Kd = 2 g/h; default 0.1
  mu, prox_accuracy, prox_iterations   of the proximal solver; default 1e-10, 1e-12, 5
  dynamics    constraint (default: `constraintDynamics`) or lcaba
"""

# run as scripts, so siblings import by plain name; a checker that sees a package cannot find them
# mypy: disable-error-code="import-not-found,no-any-return"

from __future__ import annotations

import math
import statistics
from typing import Any

import numpy as np
import pinocchio as pin
from explicit_methods import Acceleration, make_method
from loop_problems import INERTIA, LENGTH, MASS, Array, Judge, Problem
from measurement import main, thread_clock


def depth_first(problem: Problem) -> list[int]:
    """Rods in depth-first order, which `constraintDynamics` needs: with other numbering its runs blow up."""
    order: list[int] = []
    stack = [rod for rod in reversed(range(problem.rods)) if problem.parent[rod] < 0]
    while stack:
        rod = stack.pop()
        order.append(rod)
        stack += [child for child in reversed(range(problem.rods)) if problem.parent[child] == rod]
    return order


def call_cost() -> float:
    """CPU seconds of a `constraintDynamics` call on one free joint: the binding, and almost no dynamics."""
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "free")
    model.appendBodyToJoint(joint, pin.Inertia(1.0, np.zeros(3), np.eye(3)), pin.SE3.Identity())
    data = model.createData()
    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    settings = pin.ProximalSettings(1e-12, 1e-10, 5)
    pin.initConstraintDynamics(model, data, models, datas)
    zero = np.zeros(1)
    samples = []
    for _ in range(15):
        begin = thread_clock()
        for _ in range(500):
            pin.constraintDynamics(model, data, zero, zero, zero, models, datas, settings)
        samples.append((thread_clock() - begin) / 500)
    return statistics.median(samples)


class PinocchioRun:
    """A tree and its loop constraints; every run starts from the initial state."""

    version = pin.__version__

    def __init__(self, problem: Problem, step: float, steps: int, options: dict[str, str]) -> None:
        self.problem, self.step, self.steps = problem, step, steps
        self.integrator = options.get("integrator", "rk4")
        self.model, joints = self._tree()
        self.order = np.array([self.model.joints[joints[rod]].idx_q for rod in range(problem.rods)])
        gain = float(options.get("gain", "0.1"))
        self.constraints = pin.StdVec_RigidConstraintModel()
        for a, b in problem.loops:
            end = pin.SE3(np.eye(3), np.array([LENGTH, 0.0, 0.0]))
            row: Any = pin.RigidConstraintModel(
                pin.ContactType.CONTACT_3D,
                self.model,
                joints[a],
                end,
                joints[b],
                end,
                pin.ReferenceFrame.LOCAL,
            )
            row.m_baumgarte_parameters.Kp = (gain / step) ** 2
            row.m_baumgarte_parameters.Kd = 2.0 * gain / step
            self.constraints.append(row)
        self.stores = pin.StdVec_RigidConstraintData()
        for row in self.constraints:
            self.stores.append(row.createData())
        self.data = self.model.createData()
        self.settings = pin.ProximalSettings(
            float(options.get("prox_accuracy", "1e-12")),
            float(options.get("mu", "1e-10")),
            int(options.get("prox_iterations", "5")),
        )
        pin.initConstraintDynamics(self.model, self.data, self.constraints, self.stores)
        self.dynamics = pin.constraintDynamics
        if options.get("dynamics", "constraint") == "lcaba":
            self.dynamics = pin.lcaba
            pin.computeJointMinimalOrdering(self.model, self.data, self.constraints)

    def _tree(self) -> tuple[Any, dict[int, int]]:
        problem = self.problem
        model = pin.Model()
        model.gravity.linear[:] = (0.0, -9.81, 0.0)
        # far below the axial inertia's effect: planar motion never sees it
        inertia = pin.Inertia(MASS, np.array([LENGTH / 2, 0.0, 0.0]), np.diag([1e-6, INERTIA, INERTIA]))
        joints = {-1: 0}
        for rod in depth_first(problem):
            parent = problem.parent[rod]
            x, y = problem.anchor[rod] if parent < 0 else (LENGTH, 0.0)
            place = pin.SE3(np.eye(3), np.array([x, y, 0.0]))
            joints[rod] = model.addJoint(joints[parent], pin.JointModelRZ(), place, f"r{rod}")
            model.appendBodyToJoint(joints[rod], inertia, pin.SE3.Identity())
        return model, joints

    def _initial(self) -> Array:
        rods = self.problem.rods
        state = np.zeros(2 * rods)
        state[self.order] = self.problem.joint_angles()
        state[rods + self.order] = self.problem.joint_rates()
        return state

    def _dynamics(self) -> Acceleration:
        compute, model, data = self.dynamics, self.model, self.data
        constraints, stores, settings = self.constraints, self.stores, self.settings
        tau = np.zeros(self.problem.rods)

        def acceleration(q: Array, v: Array) -> Array:
            result: Array = compute(model, data, q, v, tau, constraints, stores, settings)
            return result

        return acceleration

    def record(self, judge: Judge, every: int) -> None:
        """See measurement.Run."""
        state, dynamics = self._initial(), self._dynamics()
        method = make_method(self.integrator, self.step, self.problem.rods)
        path, rods = self.problem.path, self.problem.rods
        for done in range(1, self.steps + 1):
            method.advance(state, dynamics)
            if done % every == 0 or done == self.steps:
                q, v = state[:rods][self.order], state[rods:][self.order]
                if not judge.accept(done * self.step, path @ q, path @ v):
                    return

    def _loop(self, dynamics: Acceleration, count: int) -> tuple[float, Array]:
        state = self._initial()
        advance = make_method(self.integrator, self.step, self.problem.rods).advance
        begin = thread_clock()
        for _ in range(count):
            advance(state, dynamics)
        return thread_clock() - begin, state

    def timed(self) -> tuple[float, float]:
        """See measurement.Run."""
        raw, state = self._loop(self._dynamics(), self.steps)
        if not np.isfinite(state).all():
            return math.inf, math.inf
        stored = np.zeros(self.problem.rods)
        calls = 0

        def idle(_q: Array, _v: Array) -> Array:
            return stored

        def counting(_q: Array, _v: Array) -> Array:
            nonlocal calls
            calls += 1
            return stored

        empty, _ = self._loop(idle, self.steps)
        self._loop(counting, self.steps)
        return raw - empty - calls * call_cost(), raw


def make(problem: Problem, step: float, steps: int, options: dict[str, str]) -> PinocchioRun:
    """A run of `steps` steps; `options` are the settings this script's description lists."""
    return PinocchioRun(problem, step, steps, options)


if __name__ == "__main__":
    main("pinocchio", make, __doc__)
