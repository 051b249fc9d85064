"""Adaptive runs of the shell: their states at each frame, which the shell goes on from and draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import ceil
from typing import Any, Final

import numpy as np

from bellcrank.compile.model import Model
from bellcrank.compile.state import State
from bellcrank.mechanism.checking import Check
from bellcrank.trajectory.layout import FrameLayout
from bellcrank.trajectory.origin import Origin
from bellcrank.trajectory.store import FloatArray, MemoryStore
from bellcrank.trajectory.trajectory import Status, Trajectory

LIMITS: Final = ("max_error", "measure", "max_loss", "max_joints")
"""Options of the formulation "adaptive" that are arguments of its runs."""
_OTHERS: Final = ("rtol", "atol", "max_step", "max_order")  # of methods with steps of their own
_STATE: Final = ("position", "rotation", "velocity", "angular_velocity")


def split(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Options that are limits of adaptive runs, and others."""
    limits = {name: value for name, value in options.items() if name in LIMITS}
    return limits, {name: value for name, value in options.items() if name not in LIMITS}


def adaptive_run(
    model: Model, state: State | None, duration: float, output_step: float | None, given: Mapping[str, Any],
    watch: Callable[[Trajectory], bool] | None,
) -> Trajectory:  # fmt: skip
    """Advance a model from a state by a duration, s, with frames of poses and velocities alone.

    given: arguments of `simulate`. watch: gets each new frame with the one before, and may end the run.
    Raises the errors of `simulate`.
    """
    from bellcrank.run.plan import DEFAULT_STEP, check_resolved
    from bellcrank.run.simulate import start_unrecorded

    with Check("run") as check:
        duration = check.positive("duration", duration, "s")
        output = min(
            duration if output_step is None else check.positive("output_step", output_step, "s"), duration
        )
        begin = model.initial.time if state is None else state.time
        check_resolved(check, begin, duration, output_step=output)
    arguments = {name: value for name, value in given.items() if name not in _OTHERS}
    wanted = arguments.pop("step", None) or min(DEFAULT_STEP, output)
    every = max(1, ceil(output / wanted * (1.0 - 1e-9)))
    frames = max(1, round(duration / output))
    run = start_unrecorded(model, state=state, step=duration / frames / every, **arguments)
    layout = FrameLayout(model.name, tuple(model.bodies))
    rows, ended = [_frame(layout, run.state)], "finished"
    for _ in range(frames):
        run.advance(steps=every)
        rows.append(_frame(layout, run.state))
        if watch is not None and watch(_trajectory(layout, rows[-2:], model, "finished", {})):
            ended = "interrupted"
            break
    return _trajectory(layout, rows, model, ended, run.stop().statistics)


def _frame(layout: FrameLayout, state: State) -> FloatArray:
    frame = np.full(1 + layout.width, np.nan)
    frame[0] = state.time
    for name in _STATE:
        frame[layout.columns[name]] = np.ravel(getattr(state, name))
    return frame


def _trajectory(
    layout: FrameLayout, rows: list[FloatArray], model: Model, ended: str, statistics: Mapping[str, Any]
) -> Trajectory:
    store = MemoryStore.from_frames(layout, np.array(rows))
    return Trajectory(layout, store, Status(ended), dict(statistics), Origin.of_model(model, ""))
