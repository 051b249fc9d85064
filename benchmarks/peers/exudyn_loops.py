"""EXUDYN on closed loops: 2-D rigid bodies in redundant coordinates, revolute joints, its fast C++ module.

Settings (--set NAME=VALUE):
  integrator  generalized_alpha (default), newmark_index2, trapezoidal_index2: implicit, on the constraints;
              verlet, rk44: explicit, the joints being stiff springs (penalty)
  rho         spectral radius of generalised alpha; default 0.9
  newton      full (default), modified
  tolerance   relative Newton tolerance; default 1e-5
  linear      EXUdense (default up to 6 rods), EigenDense, EigenSparse (default above)
  penalty     spring stiffness in N/m for the explicit methods; default 1e9
  damping     spring damping in N s/m; default 0
"""

# run as scripts, so siblings import by plain name; a checker that sees a package cannot find them
# mypy: disable-error-code="import-not-found,no-any-return"

from __future__ import annotations

import contextlib
import io
import math
import sys
from typing import Any

import numpy as np
from loop_problems import GRAVITY, INERTIA, LENGTH, MASS, Judge, Problem
from measurement import main, thread_clock

# must be set before the import: the build without range checks, which announces itself on standard output
sys.exudynFast = True  # type: ignore[attr-defined]
with contextlib.redirect_stdout(io.StringIO()):
    import exudyn as exu
    from exudyn import itemInterface

IMPLICIT = ("generalized_alpha", "newmark_index2", "trapezoidal_index2")
EXPLICIT = {"verlet": "VelocityVerlet", "rk44": "RK44"}


class ExudynRun:
    """A system assembled once; every run solves it from its initial values."""

    version = exu.__version__

    def __init__(self, problem: Problem, step: float, steps: int, options: dict[str, str]) -> None:
        self.problem, self.step, self.steps, self.options = problem, step, steps, options
        self.integrator = options.get("integrator", "generalized_alpha")
        if self.integrator not in IMPLICIT and self.integrator not in EXPLICIT:
            raise SystemExit(
                f"integrator {self.integrator}: choose one of {', '.join((*IMPLICIT, *EXPLICIT))}"
            )
        self.container = exu.SystemContainer()
        self.system = self.container.AddSystem()
        self._build()
        self.settings = self._settings()

    def _build(self) -> None:
        problem, system = self.problem, self.system
        ground = system.AddObject(itemInterface.ObjectGround())
        starts = problem.starts(problem.angle)
        velocities = problem.start_velocities(problem.angle, problem.rate)
        bodies = []
        for rod in range(problem.rods):
            angle, rate, half = problem.angle[rod], problem.rate[rod], 0.5 * LENGTH
            across = np.array([-math.sin(angle), math.cos(angle)])
            centre = starts[rod] + half * np.array([math.cos(angle), math.sin(angle)])
            velocity = velocities[rod] + half * rate * across
            node = system.AddNode(
                itemInterface.NodeRigidBody2D(
                    referenceCoordinates=[centre[0], centre[1], angle],
                    initialVelocities=[velocity[0], velocity[1], rate],
                )
            )
            bodies.append(
                system.AddObject(itemInterface.ObjectRigidBody2D(mass=MASS, inertia=INERTIA, nodeNumber=node))
            )
            marker = system.AddMarker(itemInterface.MarkerNodePosition(nodeNumber=node))
            system.AddLoad(itemInterface.Force(markerNumber=marker, loadVector=[0.0, -MASS * GRAVITY, 0.0]))

        def point(body: int, x: float, y: float) -> Any:
            return system.AddMarker(
                itemInterface.MarkerBodyPosition(bodyNumber=body, localPosition=[x, y, 0.0])
            )

        for rod, parent in enumerate(problem.parent):
            first = (
                point(ground, *problem.anchor[rod]) if parent < 0 else point(bodies[parent], LENGTH / 2, 0.0)
            )
            self._join(first, point(bodies[rod], -LENGTH / 2, 0.0))
        for a, b in problem.loops:
            self._join(point(bodies[a], LENGTH / 2, 0.0), point(bodies[b], LENGTH / 2, 0.0))
        system.Assemble()

    def _join(self, first: Any, second: Any) -> None:
        if self.integrator in EXPLICIT:
            stiffness = float(self.options.get("penalty", "1e9"))
            damping = float(self.options.get("damping", "0"))
            self.system.AddObject(
                itemInterface.CartesianSpringDamper(
                    markerNumbers=[first, second],
                    stiffness=[stiffness, stiffness, 0],
                    damping=[damping, damping, 0],
                )
            )
        else:
            self.system.AddObject(itemInterface.RevoluteJoint2D(markerNumbers=[first, second]))

    def _settings(self) -> Any:
        options = self.options
        settings = exu.SimulationSettings()
        default = "EXUdense" if self.problem.rods <= 6 else "EigenSparse"
        settings.solution.file.write = False
        settings.solution.sensors.active = False
        settings.linearSolver.solverType = getattr(exu.LinearSolverType, options.get("linear", default))
        settings.linearSolver.reuseAnalyzedPattern = True
        time = settings.timeIntegration
        time.verboseMode = 0
        time.newton.useModifiedNewton = options.get("newton", "full") == "modified"
        time.newton.relativeTolerance = float(options.get("tolerance", "1e-5"))
        time.adaptiveStep = False
        if self.integrator in IMPLICIT:
            alpha = time.generalizedAlpha
            alpha.useNewmark = self.integrator == "newmark_index2"
            alpha.useIndex2Constraints = self.integrator.endswith("index2")
            alpha.spectralRadius = float(options.get("rho", "0.9"))
        else:
            time.automaticStepSize = False
            time.explicit.computeEndOfStepAccelerations = False
            time.explicit.useLieGroupIntegration = False
        return settings

    def _solve(self, steps: int) -> bool:
        time = self.settings.timeIntegration
        time.numberOfSteps = steps
        time.endTime = steps * self.step
        types = exu.DynamicSolverType
        if self.integrator in EXPLICIT:
            kind = getattr(types, EXPLICIT[self.integrator])
        else:
            kind = (
                types.TrapezoidalIndex2 if self.integrator == "trapezoidal_index2" else types.GeneralizedAlpha
            )
        try:
            return bool(self.system.SolveDynamic(self.settings, solverType=kind, showHints=False))
        except (RuntimeError, ValueError, SystemError):
            return False

    def record(self, judge: Judge, every: int) -> None:
        """See measurement.Run."""
        problem, half = self.problem, 0.5 * LENGTH
        reference = np.array(self.system.systemData.GetODE2Coordinates(exu.ConfigurationType.Reference))
        calls = 0

        def observe(instant: float) -> bool:
            data = self.system.systemData
            pose = (reference + data.GetODE2Coordinates()).reshape(problem.rods, 3)
            twist = np.array(data.GetODE2Coordinates_t()).reshape(problem.rods, 3)
            angle, rate = pose[:, 2], twist[:, 2]
            along = half * np.stack((np.cos(angle), np.sin(angle)), axis=1)
            across = half * np.stack((-np.sin(angle), np.cos(angle)), axis=1)
            start, velocity = pose[:, :2] - along, twist[:, :2] - across * rate[:, None]
            return judge.accept(instant, angle, rate, start, velocity)

        def before_step(_system: Any, _time: float) -> bool:
            nonlocal calls
            calls += 1
            return observe((calls - 1) * self.step) if calls % every == 1 or every == 1 else True

        self.system.SetPreStepUserFunction(before_step)
        done = self._solve(self.steps)
        self.system.SetPreStepUserFunction(0)
        stopped = judge.energy_error > judge.bounds[0] or judge.gap > judge.bounds[1]
        if not done and not stopped:
            # the solver gave up before the end: no solution
            judge.energy_error = judge.gap = math.inf
        elif not stopped:
            observe(self.steps * self.step)

    def timed(self) -> tuple[float, float]:
        """See measurement.Run."""
        begin = thread_clock()
        done = self._solve(self.steps)
        raw = thread_clock() - begin
        if not done:
            return math.inf, math.inf
        begin = thread_clock()
        self._solve(1)
        return raw - (thread_clock() - begin), raw


def make(problem: Problem, step: float, steps: int, options: dict[str, str]) -> ExudynRun:
    """A run of `steps` steps; `options` are the settings this script's description lists."""
    return ExudynRun(problem, step, steps, options)


if __name__ == "__main__":
    main("exudyn", make, __doc__)
