"""A run that is made to be judged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from bellcrank.analysis.contact_points import is_rigid
from bellcrank.analysis.evidence import Evidence
from bellcrank.analysis.touching import touching
from bellcrank.assembly.model import Model
from bellcrank.assembly.state import Floats, State
from bellcrank.errors import BellcrankError, SimulationError
from bellcrank.formulations.preparing import prepare
from bellcrank.formulations.system import System
from bellcrank.integrate.advance import advance, output_times
from bellcrank.integrate.events import CompiledEvents
from bellcrank.integrate.failure import explain
from bellcrank.integrate.methods import METHODS, method_options
from bellcrank.run.happenings import happened
from bellcrank.trajectory.observation import observation
from bellcrank.trajectory.origin import Origin
from bellcrank.trajectory.recorder import Recorder
from bellcrank.trajectory.rotations import conjugate, logarithm, product
from bellcrank.trajectory.trajectory import Trajectory

_FRAMES = 400
_FINE = 1e-11  # tolerance of what is integrated anew
_APPEALS = 64  # intervals that are


def made_run(
    model: Model,
    system: System,
    duration: float,
    method: str,
    tolerance: float | None = None,
    start: State | None = None,
    step: float | None = None,
) -> Trajectory:
    """A run of a system of the model, recording everything that the checks need.

    tolerance, step: of methods that have one; None for the default. start: None for the model's initial
    state.

    Raises SimulationError if it breaks down.
    """
    chosen = method_options(method, duration, step, tolerance=tolerance)
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


@dataclass(frozen=True)
class Way:
    """The way from a frame to the next one, as the model goes it.

    missed: how far it arrives from the next frame: m or rad, or relative to speeds. works: J, by account.
    """

    missed: float
    works: Mapping[str, float] = field(default_factory=dict)


def borne_out(
    evidence: Evidence,
    intervals: Iterable[int],
    allowed: float,
    gained: tuple[str, Floats, float] | None = None,
) -> bool:
    """Whether the model, integrated anew from the first frame of each interval, arrives at the second one.

    Near a dead point forces may rise and fall between frames that show nothing of it; where numbers were
    altered, it does not arrive.

    allowed: m and rad of poses, relative of speeds. gained: an account, its works (T,) and by how much these
    may differ from those on the way, J.
    """
    ways: dict[int, Way] = evidence.held.setdefault("ways", {})  # type: ignore[assignment]
    for k in intervals:
        if k not in ways:
            known = len(ways) < _APPEALS and _is_known(evidence, k)
            ways[k] = _way(evidence, k) if known else Way(np.inf)
        if not ways[k].missed <= allowed:
            return False
        if gained is not None:
            account, works, most = gained
            if not abs(works[k + 1] - works[k] - ways[k].works.get(account, np.inf)) <= most:
                return False
    return True


def _is_known(evidence: Evidence, frame: int) -> bool:
    """Whether a frame determines how the run goes on: what touches has a memory that frames lack."""
    if not evidence.model.contacts:
        return True
    return not is_rigid(evidence) and not touching(evidence).counts[frame].any()


def _way(evidence: Evidence, frame: int) -> Way:
    """By the run's own steps where their length is fixed, else exactly."""
    model, run, time = evidence.model, evidence.run, evidence.time
    first, second = (run.at(float(time[k])) for k in (frame, frame + 1))
    told = run.statistics
    method = METHODS.get(str(told.get("method")))
    duration = second.time - first.time
    try:
        if method is not None and not method.adaptive and not method.by_impulses:
            system = prepare(model, str(told["formulation"]))
            made = made_run(model, system, duration, method.name, start=first, step=float(told["step"]))
        else:
            made = made_run(model, prepare(model, "lagrange"), duration, "dopri5", _FINE, first)
    except BellcrankError:
        return Way(np.inf)
    end = made.at(second.time)
    fastest = max(float(np.max(np.abs(v))) for v in (second.velocity, second.angular_velocity))
    gaps = (
        end.position - second.position,
        logarithm(product(end.rotation, conjugate(second.rotation))),
        (end.velocity - second.velocity) / (1e-12 + fastest),
        (end.angular_velocity - second.angular_velocity) / (1e-12 + fastest),
    )
    works = made.store.read("works")
    return Way(
        max(float(np.max(np.abs(gap), initial=0.0)) for gap in gaps),
        dict(zip(made.layout.works, (works[-1] - works[0]).tolist(), strict=True)),
    )
