"""A mechanism as used by a live session: its twin with a run, or its described state while it is open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.initial import assembled, violations_of
from bellcrank.compile.model import Model
from bellcrank.compile.positions import row_errors, solve_positions
from bellcrank.compile.report import AssemblyReport
from bellcrank.compile.state import State
from bellcrank.errors import AssemblyError
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.run.run import Run
from bellcrank.run.simulate import start
from bellcrank.run.start import PROJECTION
from bellcrank.trajectory.joining import frames_of
from bellcrank.trajectory.layout import FrameLayout
from bellcrank.trajectory.observation import observation
from bellcrank.trajectory.store import FloatArray
from bellcrank.trajectory.trajectory import Trajectory
from bellcrank.viewer.jogging import held
from bellcrank.viewer.settings import Settings
from bellcrank.viewer.twin import Twin

EMPTY: Final = "there is nothing here yet: add a body"
OPEN: Final = "joints do not fit yet: assemble brings the bodies together"
UNWEIGHED: Final = (
    "its masses are not known, so it stands still: give its bodies masses, or load it with a density"
)
_NAMED: Final = 4  # elements that a message lists
_FITS: Final = 1e-6  # m and rad: what assembly moves by less was no gap


@dataclass(frozen=True, eq=False)
class Built:
    """A mechanism that has been taken up.

    model: assembled, or as described where it is open; None of an empty one. run: None of what is open.
    first: where it starts. frame: (1 + width,), where it is. open: why it cannot run, "" if it can.
    now: that frame as a trajectory, of what runs. misfits: joints that miss each other there, where no
    configuration fits them all.
    """

    mechanism: Mechanism
    twin: Twin
    model: Model | None
    run: Run | None
    first: State
    layout: FrameLayout
    frame: FloatArray
    open: str = ""
    now: Trajectory | None = None
    misfits: tuple[str, ...] = ()

    @property
    def values(self) -> dict[str, float]:
        """Values of its inputs."""
        if self.run is None or self.model is None:
            return {}
        return {one.name: self.run.inputs[one.name] for one in self.model.inputs}


def running(
    mechanism: Mechanism, settings: Settings, begin: float, live: State | None = None,
    inputs: Mapping[str, float] | None = None,
) -> Built:  # fmt: skip
    """A mechanism with a run that goes on from a state, by default from its assembled start.

    It stands open where masses are not known. begin: s, of the start. inputs: values of those that there are.
    Raises as `bc.start`.
    """
    twin, model = Twin.of(mechanism, begin)
    if model.unweighed:
        return _standing(mechanism, twin, model, UNWEIGHED)
    names = {one.name for one in model.inputs}
    values = {name: value for name, value in (inputs or {}).items() if name in names}
    run = started(twin, settings, model.initial if live is None else live, values)
    now, first = run.now(), run.state if live is None else model.initial
    return Built(mechanism, twin, model, run, first, now.layout, frames_of(now)[0], now=now)


def begun(mechanism: Mechanism, settings: Settings, begin: float) -> Built:
    """A mechanism at its start, with a run if it has bodies; open, where its joints cannot all fit.

    Raises the errors of `bc.start`.
    """
    if not mechanism.bodies:
        return open_one(mechanism, begin)
    try:
        return running(mechanism, settings, begin)
    except AssemblyError:
        if (nearest := nearest_to_closed(mechanism, begin)) is None:
            raise
        return nearest


def open_one(mechanism: Mechanism, begin: float) -> Built:
    """A mechanism in its described state, whether it fits together or not; it may have no bodies.

    Raises MechanismError listing all its faults.
    """
    if not mechanism.bodies:
        layout, nothing = FrameLayout(mechanism.name, ()), np.empty((0, 3))
        first = State(begin, nothing, np.empty((0, 4)), nothing, nothing)
        return Built(mechanism, Twin(mechanism), None, None, first, layout, _frame(layout, first), EMPTY)
    return _standing(mechanism, Twin(mechanism), compile_mechanism(mechanism, begin), OPEN)


def nearest_to_closed(mechanism: Mechanism, begin: float) -> Built | None:
    """A mechanism that cannot be assembled, open, where its constraints are missed least.

    None where positions are not what it fails by. Raises MechanismError for a faulty mechanism.
    """
    model = compile_mechanism(mechanism, begin)
    nearest = solve_positions(model).state
    missed = [one for one in violations_of(model, row_errors(model, nearest)) if one[1] > _FITS]
    if not missed:
        return None
    listed = ", ".join(f"{name} by {size:.3g}" for name, size in missed[:_NAMED])
    more = f" and {len(missed) - _NAMED} more" if len(missed) > _NAMED else ""
    why = f"these cannot all hold, and are shown where they come closest: {listed}{more} (m or rad/2)"
    misfits = tuple(name for name in mechanism.joints if f"joint {name!r}" in dict(missed))
    layout, first = observation(model).layout, model.initial
    frame = _frame(layout, nearest)
    return Built(mechanism, Twin(mechanism), model, None, first, layout, frame, why, misfits=misfits)


def _standing(mechanism: Mechanism, twin: Twin, model: Model, why: str) -> Built:
    layout, first = observation(model).layout, model.initial
    return Built(mechanism, twin, model, None, first, layout, _frame(layout, first), why)


def gapes(mechanism: Mechanism, begin: float) -> bool:
    """Whether bodies must be moved to satisfy constraints. Raises MechanismError for a faulty mechanism."""
    if not mechanism.bodies:
        return True
    described = compile_mechanism(mechanism, begin)
    try:
        _, report = assembled(described)
    except AssemblyError:
        return True
    return _moved(report)


def markers_of(built: Built) -> tuple[str, ...]:
    """Names of markers on bodies, and of bodies: what can be jogged."""
    if built.model is None:
        return ()
    named = [name for name in built.mechanism.markers if not name.startswith("ground.")]
    return (*named, *built.model.bodies)


def started(twin: Twin, settings: Settings, state: State, values: Mapping[str, float] | None = None) -> Run:
    """A run of a twin from a state; undoing may move its bodies. Raises the errors of `bc.start`."""
    model = twin.model(state)
    values = {**(values or {}), **held(twin.driven, model, state)}
    given = settings.arguments()
    run: Run = start(model, start=state.time, state=state, assemble=PROJECTION, inputs=values, **given)
    return run


def _moved(report: AssemblyReport) -> bool:
    return any(max(move.distance, move.angle) > _FITS for move in report.moves)


def _frame(layout: FrameLayout, state: State) -> FloatArray:
    """A frame with the poses of bodies, and nothing else."""
    frame = np.full(1 + layout.width, np.nan)
    frame[0] = state.time
    for name in ("position", "rotation", "velocity", "angular_velocity"):
        frame[layout.columns[name]] = np.ravel(getattr(state, name))
    return frame
