"""A run that is made to be judged."""

from __future__ import annotations

import numpy as np

from bellcrank.analysis.evidence import Evidence
from bellcrank.assembly.model import Model
from bellcrank.assembly.state import State
from bellcrank.errors import BellcrankError, SimulationError
from bellcrank.formulations.preparing import prepare
from bellcrank.formulations.system import System
from bellcrank.integrate.advance import advance, output_times
from bellcrank.integrate.events import CompiledEvents
from bellcrank.integrate.failure import explain
from bellcrank.integrate.methods import method_options
from bellcrank.run.happenings import happened
from bellcrank.trajectory.observation import observation
from bellcrank.trajectory.origin import Origin
from bellcrank.trajectory.recorder import Recorder
from bellcrank.trajectory.trajectory import Trajectory

_FRAMES = 400
_FINE = 1e-11  # tolerance of what is integrated anew


def made_run(
    model: Model,
    system: System,
    duration: float,
    method: str,
    tolerance: float | None = None,
    start: State | None = None,
) -> Trajectory:
    """A run of a system of the model, recording everything that the checks need.

    tolerance: of methods that have one; None for the default. start: None for the model's initial state.

    Raises SimulationError if it breaks down.
    """
    chosen = method_options(method, duration, tolerance=tolerance)
    begin = model.initial if start is None else start
    system.set_state(begin)
    system.project()
    what = observation(model, accelerations=True, ledger=True)
    recorder = Recorder(what.layout, description=Origin.of_model(model))
    times = output_times(begin.time, duration, duration / _FRAMES, chosen)
    outcome = advance(system.core, chosen, times, what.core, recorder.on_block, lambda _time: None)
    explained = explain(model, system.core, chosen, outcome)
    trajectory = recorder.finish(
        {
            "status": outcome.status,
            "message": explained.message,
            "formulation": system.formulation,
            "method": method,
            **system.stats.counts,
        },
        happened(model, CompiledEvents((), [], []), outcome),
        outcome.event_frames,
    )
    if outcome.status != "finished":
        raise SimulationError(explained.message, outcome.time, explained.body, trajectory, explained.row)
    return trajectory


def arrives(evidence: Evidence, frame: int, allowed: float) -> bool:
    """Whether the model, integrated anew from a frame, arrives at the next one.

    allowed: m and rad of poses, relative of speeds.
    """
    model, run, time = evidence.model, evidence.run, evidence.time
    first, second = (run.at(float(time[k])) for k in (frame, frame + 1))
    try:
        system = prepare(model, "lagrange")
        made = made_run(model, system, second.time - first.time, "dopri5", _FINE, first).at(second.time)
    except BellcrankError:
        return False
    fastest = max(float(np.max(np.abs(v))) for v in (second.velocity, second.angular_velocity))
    turned = 2.0 * np.sqrt(np.maximum(0.0, 1.0 - np.abs(np.sum(made.rotation * second.rotation, axis=1))))
    gaps = (
        made.position - second.position,
        turned,
        (made.velocity - second.velocity) / (1e-12 + fastest),
        (made.angular_velocity - second.angular_velocity) / (1e-12 + fastest),
    )
    return all(float(np.max(np.abs(gap), initial=0.0)) <= allowed for gap in gaps)
