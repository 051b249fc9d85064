"""MuJoCo on closed loops: a kinematic tree closed by `connect` equalities; the stepping loop runs in C.

Settings (--set NAME=VALUE):
  integrator  RK4 (default), Euler, implicitfast, implicit, discrete
  alpha, zeta dimensionless stiffness and damping of the loop rows: solref = (−(alpha/h)², −2 zeta alpha/h),
              the direct format, which is free of the time-constant guard; default 1, 1
  softness    scale on the regularisation of the loop rows (through the model's inverse weights); 1 is what
              MuJoCo compiles, less makes the rows harder than its solimp limit of 0.9999 allows
  exact       1 turns the exact diagonal of the constraint inertia on; default 0
  jacobian    auto (default), dense, sparse
  tolerance, iterations   of the Newton solver; default 1e-8, 100
"""

# run as scripts, so siblings import by plain name; a checker that sees a package cannot find them
# mypy: disable-error-code="import-not-found,no-any-return"

from __future__ import annotations

import math

import mujoco
import numpy as np
from loop_problems import INERTIA, LENGTH, MASS, Array, Judge, Problem
from measurement import main, thread_clock

INTEGRATORS = {
    "RK4": "mjINT_RK4",
    "Euler": "mjINT_EULER",
    "implicit": "mjINT_IMPLICIT",
    "implicitfast": "mjINT_IMPLICITFAST",
    "discrete": "mjINT_DISCRETE",
}
# a thin rod's inertia about its own axis is zero; MuJoCo wants it positive, and planar motion never sees it
AXIAL_INERTIA = 1e-6


def model_text(
    problem: Problem, solref: tuple[float, float], integrator: str, options: dict[str, str]
) -> str:
    """The MJCF text; joint angles are zero in the initial configuration, where anchors are compiled."""
    children: dict[int, list[int]] = {}
    for rod, parent in enumerate(problem.parent):
        children.setdefault(parent, []).append(rod)
    turn = problem.joint_angles()

    def body(rod: int) -> str:
        parent = problem.parent[rod]
        x, y = (float(c) for c in problem.anchor[rod]) if parent < 0 else (LENGTH, 0.0)
        half = 0.5 * float(turn[rod])
        inside = "".join(body(child) for child in children.get(rod, []))
        return (
            f'<body name="r{rod}" pos="{x!r} {y!r} 0" quat="{math.cos(half)!r} 0 0 {math.sin(half)!r}">'
            f'<inertial pos="{LENGTH / 2} 0 0" mass="{MASS}" '
            f'diaginertia="{AXIAL_INERTIA} {INERTIA!r} {INERTIA!r}"/>'
            f'<joint name="r{rod}" type="hinge" axis="0 0 1"/>{inside}</body>'
        )

    loops = "".join(
        f'<connect body1="r{a}" body2="r{b}" anchor="{LENGTH} 0 0" '
        f'solref="{solref[0]!r} {solref[1]!r}" solimp="0.9999 0.9999 0.001 0.5 2"/>'
        for a, b in problem.loops
    )
    return (
        f'<mujoco><option gravity="0 -9.81 0" integrator="{integrator}" solver="Newton" '
        f'jacobian="{options.get("jacobian", "auto")}" tolerance="{options.get("tolerance", "1e-8")}" '
        f'iterations="{options.get("iterations", "100")}"/>'
        f"<worldbody>{''.join(body(rod) for rod in children[-1])}</worldbody>"
        f"<equality>{loops}</equality></mujoco>"
    )


# a run that blows up is reported by its result, not by a log file in the working directory
mujoco.set_mju_user_warning(lambda _message: None)


class MujocoRun:
    """A compiled model and its data; every run starts from the initial state."""

    version = mujoco.__version__

    def __init__(self, problem: Problem, step: float, steps: int, options: dict[str, str]) -> None:
        self.integrator = options.get("integrator", "RK4")
        if self.integrator not in INTEGRATORS:
            raise SystemExit(f"integrator {self.integrator}: choose one of {', '.join(INTEGRATORS)}")
        alpha, zeta = float(options.get("alpha", "1")), float(options.get("zeta", "1"))
        solref = (-((alpha / step) ** 2), -2.0 * zeta * alpha / step)
        self.problem, self.step, self.steps = problem, step, steps
        self.model = mujoco.MjModel.from_xml_string(model_text(problem, solref, "Euler", options))
        option = self.model.opt
        option.timestep = step
        option.integrator = getattr(mujoco.mjtIntegrator, INTEGRATORS[self.integrator])
        disable = mujoco.mjtDisableBit
        option.disableflags |= disable.mjDSBL_CONTACT | disable.mjDSBL_REFSAFE | disable.mjDSBL_AUTORESET
        if options.get("exact", "0") != "0":
            option.enableflags |= mujoco.mjtEnableBit.mjENBL_DIAGEXACT
        self.model.body_invweight0[:] *= float(options.get("softness", "1"))
        self.data = mujoco.MjData(self.model)
        self.initial = problem.joint_angles()
        # MuJoCo numbers bodies depth first: where each rod's joint sits in qpos and qvel
        self.order = np.array([self.model.joint(f"r{rod}").qposadr[0] for rod in range(problem.rods)])

    def _start(self) -> None:
        mujoco.mj_resetData(self.model, self.data)
        self.data.qvel[self.order] = self.problem.joint_rates()

    def _state(self) -> tuple[Array, Array]:
        path = self.problem.path
        return path @ (self.data.qpos[self.order] + self.initial), path @ self.data.qvel[self.order]

    def record(self, judge: Judge, every: int) -> None:
        """See measurement.Run."""
        self._start()
        done = 0
        while done < self.steps:
            count = min(every, self.steps - done)
            mujoco.mj_step(self.model, self.data, nstep=count)
            done += count
            if not judge.accept(done * self.step, *self._state()):
                return

    def timed(self) -> tuple[float, float]:
        """See measurement.Run."""
        self._start()
        begin = thread_clock()
        mujoco.mj_step(self.model, self.data, nstep=self.steps)
        seconds = thread_clock() - begin
        if not np.isfinite(self.data.qpos).all():
            return math.inf, math.inf
        return seconds, seconds


def make(problem: Problem, step: float, steps: int, options: dict[str, str]) -> MujocoRun:
    """A run of `steps` steps; `options` are the settings this script's description lists."""
    return MujocoRun(problem, step, steps, options)


if __name__ == "__main__":
    main("mujoco", make, __doc__)
