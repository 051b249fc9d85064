"""EXUDYN on linkages of beams: geometrically exact elements, joints, generalized alpha.

Usage: exudyn_linkages.py PROBLEM REFINEMENT STEP SAMPLES DURATION TOLERANCE. Prints places of what is tracked
at evenly spaced times, and CPU seconds, as JSON. The tolerance is that of residuals in Newton's iteration. It
must lie above their rounding, else steps are shortened until it gives up.
"""

# run as scripts, so siblings import by plain name; a checker that sees a package cannot find them
# mypy: disable-error-code="import-not-found,no-any-return"

from __future__ import annotations

import contextlib
import io
import json
import sys
from itertools import pairwise
from typing import Any

import numpy as np
from beam_linkages import LINKAGES, Bar, Linkage, Meeting, segments
from measurement import pin_to_one_core, thread_clock

# must be set before the import: the build without range checks, which announces itself on standard output
sys.exudynFast = True  # type: ignore[attr-defined]
with contextlib.redirect_stdout(io.StringIO()):
    import exudyn as exu
    from exudyn import itemInterface, rigidBodyUtilities


def _axes(x: Any, z: Any) -> Any:
    """The axes of a bar as columns: x along it, z near the one given."""
    x = np.array(x) / np.linalg.norm(x)
    y = np.cross(z, x)
    y /= np.linalg.norm(y)
    return np.column_stack([x, y, np.cross(x, y)])


def _bar(system: Any, bar: Bar, count: int) -> tuple[list[int], Any]:
    """Its nodes and axes."""
    start, end = np.array(bar.start), np.array(bar.end)
    turn = _axes(end - start, bar.z)
    vector = rigidBodyUtilities.RotationMatrix2RotationVector(turn)
    section = exu.BeamSection()
    section.stiffnessMatrix = np.diag(bar.stiffness).tolist()
    section.massPerLength = bar.mass_per_length
    section.inertia = np.diag(bar.rotary).tolist()
    places = [start + (end - start) * k / count for k in range(count + 1)]
    nodes = [
        system.AddNode(itemInterface.NodeRigidBodyRotVecLG(referenceCoordinates=[*place, *vector]))
        for place in places
    ]
    for one, two in pairwise(nodes):
        length = float(np.linalg.norm(end - start)) / count
        system.AddObject(
            itemInterface.ObjectBeamGeometricallyExact(
                nodeNumbers=[one, two], length=length, sectionData=section
            )
        )
    return nodes, turn


_LOCKED = {
    "clamp": [1, 1, 1, 1, 1, 1],
    "revolute": [1, 1, 1, 1, 1, 0],
    "spherical": [1, 1, 1, 0, 0, 0],
    "slide": [0, 1, 1, 0, 0, 0],
}


def _joint(system: Any, bars: dict[str, tuple[list[int], Any]], linkage: Linkage, meeting: Meeting) -> None:
    """A joint whose axes are those of the world turned to its axis."""
    own = np.eye(3)
    if meeting.kind == "revolute":
        z = np.array(meeting.axis)
        x = np.cross((0.0, 1.0, 0.0) if abs(z[1]) < 0.9 else (1.0, 0.0, 0.0), z)
        x /= np.linalg.norm(x)
        own = np.column_stack([x, np.cross(z, x), z])
    markers = []
    places = {(bar.name, "start"): bar.start for bar in linkage.bars}
    places |= {(bar.name, "end"): bar.end for bar in linkage.bars}
    for end in meeting.ends:
        if end == "ground":
            ground = system.AddObject(itemInterface.ObjectGround(referencePosition=list(meeting.at)))
            frame = exu.HT(rotation=own, translation=np.zeros(3))
            markers.append(system.AddMarker(itemInterface.MarkerBodyRigid(bodyNumber=ground, localHT=frame)))
            continue
        nodes, turn = bars[end[0]]
        node = nodes[0 if end[1] == "start" else -1]
        arm = turn.T @ np.subtract(meeting.at, places[end])
        frame = exu.HT(rotation=turn.T @ own, translation=arm)
        if np.linalg.norm(arm) == 0.0:
            markers.append(system.AddMarker(itemInterface.MarkerNodeRigid(nodeNumber=node, localHT=frame)))
            continue
        mass: dict[str, Any] = {"mass": 1e-9, "inertia": [1e-12] * 3 + [0.0] * 3}  # carries the place aside
        body = system.AddObject(itemInterface.ObjectRigidBody(nodeNumber=node, **mass))
        markers.append(system.AddMarker(itemInterface.MarkerBodyRigid(bodyNumber=body, localHT=frame)))
    locked = _LOCKED[meeting.kind]
    system.AddObject(itemInterface.ObjectJointGeneric(markerNumbers=markers, constrainedAxes=locked))
    if meeting is linkage.joints[0]:

        def torque(
            _system: Any, t: float, _item: int, turned: float, _rate: float, stiffness: float, *_: float
        ) -> float:
            return stiffness * (turned - linkage.angle(t))

        system.AddObject(
            itemInterface.ObjectConnectorTorsionalSpringDamper(
                markerNumbers=markers, stiffness=linkage.servo, springTorqueUserFunction=torque
            )
        )


def solve(
    linkage: Linkage, refinement: int, step: float, samples: int, duration: float, tolerance: float
) -> dict[str, Any]:
    """Times, places and CPU seconds."""
    system = exu.SystemContainer().AddSystem()
    counts = segments(linkage, refinement)
    bars = {bar.name: _bar(system, bar, counts[bar.name]) for bar in linkage.bars}
    for meeting in linkage.joints:
        _joint(system, bars, linkage, meeting)
    if linkage.mass is not None:
        (name, end), mass = linkage.mass
        node = bars[name][0][0 if end == "start" else -1]
        inertia = [1e-12] * 3 + [0.0] * 3
        system.AddObject(itemInterface.ObjectRigidBody(mass=mass, inertia=inertia, nodeNumber=node))
    name, end = linkage.tracked
    tracked = bars[name][0][0 if end == "start" else -1]
    sensor = system.AddSensor(
        itemInterface.SensorNode(
            nodeNumber=tracked, storeInternal=True, outputVariableType=exu.OutputVariableType.Position
        )
    )
    system.Assemble()
    settings = exu.SimulationSettings()
    settings.linearSolver.solverType = exu.LinearSolverType.EigenSparse
    settings.solution.file.write = False
    settings.solution.sensors.writePeriod = step
    settings.timeIntegration.numberOfSteps = round(duration / step)
    settings.timeIntegration.endTime = duration
    settings.timeIntegration.newton.relativeTolerance = 1e-6
    settings.timeIntegration.newton.absoluteTolerance = tolerance
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.timeIntegration.generalizedAlpha.spectralRadius = 0.7
    settings.timeIntegration.generalizedAlpha.computeInitialAccelerations = True
    begun = thread_clock()
    system.SolveDynamic(settings)
    spent = thread_clock() - begun
    found = np.array(system.GetSensorStoredData(sensor))
    wanted = np.linspace(0.0, duration, samples + 1)
    place = [_at(found, t) for t in wanted]
    return {"version": exu.__version__, "seconds": spent, "time": wanted.tolist(), "place": place}


def _at(found: Any, t: float) -> list[float]:
    """The place at a time, by the cubic through four samples: steps are shortened where Newton fails."""
    first = int(np.clip(np.searchsorted(found[:, 0], t) - 2, 0, len(found) - 4))
    times, rows = found[first : first + 4, 0], found[first : first + 4, 1:4]
    weights = [np.prod([(t - other) / (one - other) for other in times if other != one]) for one in times]
    return [float(x) for x in np.array(weights) @ rows]


def main() -> None:
    """The command line."""
    linkage = LINKAGES[sys.argv[1]]
    refinement, step, samples = int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
    duration, tolerance = float(sys.argv[5]), float(sys.argv[6])
    pin_to_one_core()
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            found = solve(linkage, refinement, step, samples, duration, tolerance)
    except Exception:
        print(said.getvalue(), file=sys.stderr)
        raise
    print(json.dumps(found))


if __name__ == "__main__":
    main()
