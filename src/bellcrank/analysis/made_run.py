"""A run that is made to be judged."""

from __future__ import annotations

from bellcrank.assembly.model import Model
from bellcrank.assembly.state import State
from bellcrank.errors import SimulationError
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


def made_run(
    model: Model,
    system: System,
    duration: float,
    method: str,
    tolerance: float | None = None,
    start: State | None = None,
) -> Trajectory:
    """A run of a system of the model, recording everything that the checks need.

    tolerance: None for the method's default. start: None for the model's initial state.

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
