"""EXUDYN on beams: geometrically exact elements in space, nodes with rotation vectors, its fast module.

Usage: exudyn_beams.py PROBLEM SEGMENTS [REPEATS] [STEP]. Prints CPU seconds and the tip's place as JSON.
"""

# run as scripts, so siblings import by plain name; a checker that sees a package cannot find them
# mypy: disable-error-code="import-not-found,no-any-return"

from __future__ import annotations

import contextlib
import io
import json
import statistics
import sys
from itertools import pairwise
from typing import Any

import numpy as np
from beam_problems import PRINCETON, SPAGHETTI, Beam, spaghetti_load
from measurement import pin_to_one_core, thread_clock

# must be set before the import: the build without range checks, which announces itself on standard output
sys.exudynFast = True  # type: ignore[attr-defined]
with contextlib.redirect_stdout(io.StringIO()):
    import exudyn as exu
    from exudyn import itemInterface


def _system(beam: Beam, segments: int) -> tuple[Any, list[int]]:
    """A straight beam and its nodes."""
    system = exu.SystemContainer().AddSystem()
    section = exu.BeamSection()
    section.stiffnessMatrix = np.diag([beam.EA, beam.GA, beam.GA, beam.GJ, *beam.EI]).tolist()
    section.massPerLength = beam.mass_per_length
    section.inertia = np.diag(beam.rotary).tolist()
    start, along = np.array(beam.start), (np.array(beam.end) - np.array(beam.start)) / segments
    nodes = []
    for k in range(segments + 1):
        place = start + k * along
        nodes.append(
            system.AddNode(
                itemInterface.NodeRigidBodyRotVecLG(referenceCoordinates=[*place, *beam.rotation_vector])
            )
        )
    for one, two in pairwise(nodes):
        length = float(np.linalg.norm(along))
        system.AddObject(
            itemInterface.ObjectBeamGeometricallyExact(
                nodeNumbers=[one, two], length=length, sectionData=section
            )
        )
    return system, nodes


def _settings() -> Any:
    settings = exu.SimulationSettings()
    settings.linearSolver.solverType = exu.LinearSolverType.EigenSparse
    settings.solution.file.write = False
    settings.solution.sensors.writePeriod = 1e9
    settings.show.computationTime = False
    return settings


def princeton(segments: int, _step: float) -> tuple[float, list[float]]:
    """CPU seconds, and where the tip is."""
    system, nodes = _system(PRINCETON, segments)
    for k in range(6):
        fixed = system.AddMarker(itemInterface.MarkerNodeCoordinate(nodeNumber=nodes[0], coordinate=k))
        ground = system.AddNode(itemInterface.NodePointGround())
        none = system.AddMarker(itemInterface.MarkerNodeCoordinate(nodeNumber=ground, coordinate=0))
        system.AddObject(itemInterface.ObjectConnectorCoordinate(markerNumbers=[none, fixed]))
    tip = system.AddMarker(itemInterface.MarkerNodePosition(nodeNumber=nodes[-1]))
    system.AddLoad(itemInterface.Force(markerNumber=tip, loadVector=list(PRINCETON.load)))
    system.Assemble()
    settings = _settings()
    settings.staticSolver.newton.relativeTolerance = 1e-10
    settings.staticSolver.newton.absoluteTolerance = 1e-12
    settings.staticSolver.numberOfLoadSteps = 4
    begun = thread_clock()
    system.SolveStatic(settings)
    spent = thread_clock() - begun
    return spent, _place(system, nodes[-1])


def spaghetti(segments: int, step: float) -> tuple[float, list[float]]:
    """CPU seconds, and where the free end is at the end."""
    system, nodes = _system(SPAGHETTI, segments)
    loaded = system.AddMarker(itemInterface.MarkerNodeRigid(nodeNumber=nodes[0]))

    def force(_system: Any, t: float, _load: Any) -> list[float]:
        return [0.1 * spaghetti_load(t), 0.0, 0.0]

    def moment(_system: Any, t: float, _load: Any) -> list[float]:
        return [0.0, -0.5 * spaghetti_load(t), -spaghetti_load(t)]

    system.AddLoad(
        itemInterface.Force(markerNumber=loaded, loadVector=[1, 0, 0], loadVectorUserFunction=force)
    )
    system.AddLoad(
        itemInterface.Torque(markerNumber=loaded, loadVector=[1, 0, 0], loadVectorUserFunction=moment)
    )
    system.Assemble()
    settings = _settings()
    settings.timeIntegration.numberOfSteps = round(SPAGHETTI.duration / step)
    settings.timeIntegration.endTime = SPAGHETTI.duration
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.timeIntegration.generalizedAlpha.spectralRadius = 0.95
    settings.timeIntegration.generalizedAlpha.computeInitialAccelerations = True
    begun = thread_clock()
    system.SolveDynamic(settings)
    spent = thread_clock() - begun
    return spent, _place(system, nodes[-1])


def _place(system: Any, node: int) -> list[float]:
    """Where a node is."""
    return [float(x) for x in system.GetNodeOutput(node, exu.OutputVariableType.Position)]


def main() -> None:
    """The command line."""
    problem, segments = sys.argv[1], int(sys.argv[2])
    repeats = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    step = float(sys.argv[4]) if len(sys.argv) > 4 else 0.0
    pin_to_one_core()
    solve = {"princeton": princeton, "spaghetti": spaghetti}[problem]
    with contextlib.redirect_stdout(io.StringIO()):
        found = [solve(segments, step) for _ in range(repeats)]
    seconds = [spent for spent, _ in found]
    told = {"version": exu.__version__, "seconds": seconds, "tip": found[0][1], "segments": segments}
    print(json.dumps(told | {"median": statistics.median(seconds)}))


if __name__ == "__main__":
    main()
