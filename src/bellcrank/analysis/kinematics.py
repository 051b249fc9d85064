"""Kinematics and inverse dynamics: the motion of a fully driven mechanism, by its constraints alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from time import perf_counter
from typing import Any, Final, Unpack

import numpy as np

from bellcrank.analysis.freedoms import freedoms
from bellcrank.assembly.compile import compile_mechanism
from bellcrank.assembly.dependence import dead_points
from bellcrank.assembly.initial import assembled
from bellcrank.assembly.model import Model
from bellcrank.assembly.state import Floats
from bellcrank.errors import Fault, MechanismError, SimulationError
from bellcrank.formulations.options import FormulationOptions
from bellcrank.formulations.preparing import check_request, prepare, prepare_positions
from bellcrank.integrate.advance import check_resolved, follow, output_times
from bellcrank.integrate.failure import explain
from bellcrank.integrate.methods import Method, MethodOptions
from bellcrank.integrate.progress import Progress
from bellcrank.mechanism.arguments import required_names, required_path, required_progress
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.trajectory.layout import FrameLayout
from bellcrank.trajectory.observation import observation
from bellcrank.trajectory.origin import Origin
from bellcrank.trajectory.recorder import Recorder
from bellcrank.trajectory.trajectory import Trajectory

_FOLLOWING: Final = MethodOptions(Method("kinematics", 0, True, "Along the constraints."), 0.0, 0.0, 0.0, 0.0)
_OF_MASSES: Final = ("multipliers", "reactions", "kinetic", "potential")
"""Sections of frames that masses and loads determine."""


def kinematics(
    mechanism: Mechanism | Model,
    duration: float,
    step: float | None = None,
    *,
    formulation: str = "auto",
    start: float = 0.0,
    path: str | Path | None = None,
    progress: bool | Callable[[float], None] = False,
    **options: Unpack[FormulationOptions],
) -> Trajectory:
    """Positions, velocities and accelerations of a mechanism whose drives determine its motion.

    They satisfy the constraints at every recorded time to the solver's tolerance; nothing is integrated, so
    no error accumulates. Masses and forces have no influence, and the masses of bodies need not be known
    (`Body.mass_known`): efforts of drives and energies are not numbers then.

    duration, start: s. step: between frames, s; by default a thousandth of the duration.
    formulation, path, progress, options: as for `simulate`.

    Raises Unsupported for a formulation that cannot take the mechanism; MechanismError naming the
    coordinates that no drive prescribes, if there are any; AssemblyError if the mechanism cannot be
    assembled; SimulationError, with what was computed, where the motion cannot go on.
    """
    times = _Times(duration, step, start)
    return _run(mechanism, times, formulation, path, progress, options, dynamics=False)


def inverse_dynamics(
    mechanism: Mechanism | Model,
    duration: float,
    step: float | None = None,
    *,
    along: Mapping[Any, Any] | None = None,
    keep: Iterable[str] = (),
    formulation: str = "auto",
    start: float = 0.0,
    path: str | Path | None = None,
    progress: bool | Callable[[float], None] = False,
    **options: Unpack[FormulationOptions],
) -> Trajectory:
    """Compute the drive efforts and joint reactions that the motion of a fully driven mechanism requires.

    along: markers, or their names, and the path that each follows: a `Path`, three functions of time, or a
        dict of path, orientation and reference as `Mechanism.add_drive` takes them. Drives of joints are
        released and follow the motion, and all of them supply its efforts; what lacks one, motors or else
        joints that turn or slide along axes: `run.drive(name).effort`, by the name of the drive or joint. The
        paths exert nothing. keep: names of drives that stay as they are. Refuses what nothing supplies.

    The other arguments and errors are those of `kinematics`.
    """
    times = _Times(duration, step, start)
    if along is None:
        if required_names("keep", keep):
            advice = "without paths all drives go on"
            raise MechanismError(Fault("keep", "it is for markers on paths: give along=", keep, advice))
        return _run(mechanism, times, formulation, path, progress, options, dynamics=True)
    required_progress("inverse_dynamics", progress)
    if path is not None:
        required_path("inverse_dynamics, path", path)
    from bellcrank.analysis.path_dynamics import driven_along, on_paths

    driven, bare, leads = on_paths(mechanism, along, keep, times.start)
    motion = _run(driven, times, formulation, None, False, options, dynamics=False)
    model = driven_along(bare, motion, leads)
    return _run(model, times, formulation, path, progress, options, dynamics=True)


@dataclass(frozen=True)
class _Times:
    """The times of frames, s; step: None for a thousandth of the duration."""

    duration: float
    step: float | None
    start: float

    def __post_init__(self) -> None:
        with Check("kinematics") as check:
            duration, start = (
                check.positive("duration", self.duration, "s"),
                check.number("start", self.start, "s"),
            )
            step = None if self.step is None else check.positive("step", self.step, "s")
            check_resolved(check, start, duration, step=step)
            check.store(self, duration=duration, step=step, start=start)


def _run(
    mechanism: Mechanism | Model,
    times: _Times,
    formulation: str,
    path: str | Path | None,
    progress: bool | Callable[[float], None],
    options: Mapping[str, Any],
    dynamics: bool,
) -> Trajectory:
    required_progress("kinematics", progress)
    if path is not None:
        required_path("kinematics, path", path)
    check_request(formulation, options, signature(kinematics).parameters)
    model = _driven(mechanism, times.start)
    system = (prepare if dynamics else prepare_positions)(model, formulation, **options)
    system.project()
    what = observation(model, reactions=dynamics, accelerations=True)
    recorder = Recorder(what.layout, path, description=Origin.of_model(model))
    frames = output_times(times.start, times.duration, times.step, _FOLLOWING)
    begun = perf_counter()
    with Progress(progress, times.start, times.duration) as shown, recorder:
        take = _without_loads(model, what.layout, recorder.on_block)
        outcome = follow(system.core, frames, what.core, take, shown.at)
    explained = explain(model, system.core, _FOLLOWING, outcome)
    trajectory = recorder.finish(
        {
            "status": outcome.status,
            "message": explained.message,
            "formulation": system.formulation,
            "method": "kinematics",
            "steps": outcome.steps,
            "rejected_steps": outcome.rejected,
            "wall_seconds": perf_counter() - begun,
            "redundant_rows": ", ".join(map(str, system.stats.dropped)),
        }
    )
    if outcome.status not in ("finished", "interrupted"):
        raise SimulationError(explained.message, outcome.time, explained.body, trajectory, explained.row)
    return trajectory


def _without_loads(model: Model, layout: FrameLayout, record: Callable[..., None]) -> Callable[..., None]:
    """`record`, with "not a number" for what depends on masses where these are not known."""
    if not model.unweighed:
        return record

    def cleared(frames: Floats, contacts: Floats | None = None) -> None:
        known = frames.copy()
        for section in _OF_MASSES:
            known[:, layout.columns[section]] = np.nan
        record(known, contacts)

    return cleared


def _driven(mechanism: Mechanism | Model, start: float) -> Model:
    """The assembled model. Raises MechanismError if drives do not prescribe all motion."""
    model = mechanism if isinstance(mechanism, Model) else compile_mechanism(mechanism, start)
    model, _ = assembled(
        model if model.initial.time == start else model.started(model.initial.at_time(start))
    )
    found = freedoms(model)
    if found.count > 0:
        names = ", ".join(found.independent[:8]) or "too many to name"
        dead = dead_points(model, model.initial)
        left = "1 degree of freedom" if found.count == 1 else f"{found.count} degrees of freedom"
        raise MechanismError(
            Fault(
                f"mechanism {model.name!r}",
                f"its drives leave {left} open",
                None,
                f"{f'{dead}; ' if dead else ''}drive what is free, for instance: {names}; or use bc.simulate",
            )
        )
    if found.of_positions > 0:
        rule = f"its drives prescribe velocities only: {found.of_positions} positions are open"
        advice = "positions follow from velocities by integration, which bc.simulate does"
        raise MechanismError(Fault(f"mechanism {model.name!r}", rule, None, advice))
    return model
