"""Pictures of modes: shapes drawn over the mechanism, and motions on the constraints to be animated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, pi
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bellcrank import _core
from bellcrank.analysis.differences import OutOfReach
from bellcrank.assembly.model import Model
from bellcrank.assembly.state import Floats, State
from bellcrank.errors import Fault, MechanismError
from bellcrank.formulations.preparing import prepare
from bellcrank.mechanism.checking import Check
from bellcrank.scene.figure import check_matplotlib, check_picture, new_figure, write_figure
from bellcrank.scene.making import of
from bellcrank.scene.painter import Instant
from bellcrank.scene.still import picture
from bellcrank.trajectory.observation import observation
from bellcrank.trajectory.origin import Origin
from bellcrank.trajectory.recorder import Recorder
from bellcrank.trajectory.trajectory import Trajectory

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bellcrank.analysis.mode import Mode
    from bellcrank.analysis.modes import Modes

_REACH: Final = 0.22  # largest displacement of a point that is drawn, in parts of the mechanism's size
_TURN: Final = 0.6  # rad, the largest that a body is turned by
_HALVINGS: Final = 6  # of an amplitude that the constraints do not allow
_MOST: Final = 9  # modes that are drawn
_WIDTH, _HEIGHT = 2.9, 2.75  # inches, of the picture of a mode
_FAINT: Final = 0.28


def amplitude_of(mode: Mode) -> float:
    """A factor for the shape so that it is visible and the mechanism can follow it."""
    chart = mode.modes.linear.chart
    shapes = np.array(list(mode.shape.values())).reshape(-1, 6)
    arms = _reaches(chart.model)
    turns = np.linalg.norm(np.abs(shapes[:, 3:]), axis=1)
    moves = np.linalg.norm(np.abs(shapes[:, :3]), axis=1) + arms * turns
    limits = [_REACH * chart.length / m for m in moves if m > 0.0] + [_TURN / t for t in turns if t > 0.0]
    return min(limits, default=1.0)


def _reaches(model: Model) -> Floats:
    """How far each body reaches from its frame: to its centre of mass, or to a marker (nb,)."""
    ends = model.arrays["pair_bodies"].ravel()
    far = np.linalg.norm(model.arrays["pair_positions"].reshape(-1, 3), axis=1)
    reaches = np.append(np.linalg.norm(model.com.reshape(-1, 3), axis=1), 0.0)
    np.maximum.at(reaches, ends, far)
    return np.asarray(reaches[:-1])


def _states(mode: Mode, phases: Floats, amplitude: float) -> list[State]:
    """States on the constraints at phases of an undamped period, rad. Raises OutOfReach."""
    chart, found = mode.modes.linear.chart, []
    circular = max(abs(mode.eigenvalue.imag), 0.0)
    for phase in phases.tolist():
        turned = mode.state * np.exp(1j * phase)
        moved = amplitude * turned[: len(chart.coordinates)].real
        speed = amplitude * (1j * circular * turned[: chart.speeds]).real
        found.append(chart.at(chart.position + moved, chart.speed + speed))
    return found


def _fitting(mode: Mode, phases: Floats, amplitude: float | None) -> list[State]:
    """The same with an amplitude that the mechanism can follow."""
    size = amplitude_of(mode) if amplitude is None else amplitude
    for _ in range(_HALVINGS):
        try:
            return _states(mode, phases, size)
        except OutOfReach as error:
            if amplitude is not None:
                rule = f"mode {mode.number} cannot be drawn so large: {error}"
                raise MechanismError(Fault("amplitude", rule, amplitude, "choose a smaller one")) from error
            size *= 0.5
    raise MechanismError(Fault(f"mode {mode.number}", "the constraints let nothing follow its shape"))


def motion_of(mode: Mode, frames: int, amplitude: float | None, periods: int = 1) -> Trajectory:
    """See `Mode.motion`."""
    with Check("motion") as check:
        frames = check.integer("frames", frames, 2)
        periods = check.integer("periods", periods, 1)
        if amplitude is not None:
            amplitude = check.positive("amplitude", amplitude)
    phases = np.linspace(0.0, 2.0 * pi * periods, (frames - 1) * periods + 1)
    states = _fitting(mode, phases, amplitude)
    model = mode.modes.linear.chart.model
    what = observation(model, reactions=False)
    system = prepare(model, "lagrange")
    start = mode.modes.linear.state.time
    with Recorder(what.layout, description=Origin.of_model(model)) as recorder:
        for state, phase in zip(states, phases.tolist(), strict=True):
            system.set_state(state)
            frame = _core.observe(system.core, what.core)
            frame[0, 0] = start + phase / (2.0 * pi) * _period(mode)
            recorder.on_block(frame)
    return recorder.finish({"status": "finished", "formulation": "mode", "mode": mode.number})


def _period(mode: Mode) -> float:
    return 1.0 / mode.damped_frequency if mode.damped_frequency > 0.0 else 1.0


def film_of(mode: Mode, path: str | Path, periods: int, seconds: float, options: Mapping[str, Any]) -> None:
    """See `Mode.animate`."""
    with Check("film") as check:
        seconds = check.positive("seconds", seconds, "s")
    frames = max(9, round(30.0 * seconds) + 1)
    motion_of(mode, frames, None, periods).animate(path, speed=_period(mode) / seconds, **options)


def draw_modes(
    modes: Modes, path: str | Path | None, numbers: Sequence[int], columns: int, options: Mapping[str, Any]
) -> Figure:
    """See `Modes.draw`."""
    if path is not None:
        check_picture(path)
    check_matplotlib()
    with Check("draw") as check:
        columns = check.integer("columns", columns, 1)
    moving = [mode for mode in modes if mode.kind != "neutral"] or list(modes)
    chosen = [modes.mode(number) for number in numbers] if len(numbers) else moving[:_MOST]
    if not chosen:
        raise MechanismError(Fault("draw", "there are no modes: nothing can move"))
    linear = modes.linear
    if linear.chart.model.source is None:
        raise MechanismError(Fault("draw", "the mechanism of these modes is not known any more"))
    scene = of(linear.chart.model.source, linear.state)
    wide = min(columns, len(chosen))
    high = ceil(len(chosen) / wide)
    figure: Figure = new_figure(
        (_WIDTH * wide, _HEIGHT * high), path is None, layout="none", facecolor="white"
    )
    for place, mode in enumerate(chosen):
        row, column = divmod(place, wide)
        box = (column / wide, 1.0 - (row + 1) / high, 1.0 / wide, 1.0 / high * 0.86)
        axes = figure.add_axes((box[0] + 0.01, box[1] + 0.01, box[2] - 0.02, box[3] - 0.02))
        instants = [_instant(linear.state, _FAINT), *(_instant(s, 1.0) for s in _ends(mode))]
        style = {"scale": place == 0, "joints": True, **options}
        picture(scene, instants, axes=axes, options=style)
        figure.text(
            (column + 0.5) / wide,
            1.0 - (row + 0.04) / high,
            caption(mode),
            ha="center",
            va="top",
            fontsize=8.5,
        )
    if path is not None:
        write_figure(figure, path)
    return figure


def _ends(mode: Mode) -> list[State]:
    """Where it is at the end of its swing."""
    return _fitting(mode, np.array([0.0]), None)


def _instant(state: State, strength: float) -> Instant:
    return Instant(state.position, state.rotation, strength)


def caption(mode: Mode) -> str:
    """The caption over the picture of a mode."""
    if mode.kind == "neutral":
        return f"mode {mode.number}: neutral"
    if mode.kind == "oscillating":
        return f"mode {mode.number}: {mode.frequency:.4g} Hz, ζ = {100.0 * mode.damping:.3g} %"
    word = "grows" if mode.eigenvalue.real > 0.0 else "decays"
    return f"mode {mode.number}: {word}, T = {1.0 / abs(mode.eigenvalue.real):.3g} s"
