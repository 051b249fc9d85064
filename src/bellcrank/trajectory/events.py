"""What happened in a run: requested events, and stops that were reached."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bellcrank.compile.state import State
from bellcrank.trajectory.interpolate import STATE_SECTIONS
from bellcrank.trajectory.layout import FrameLayout
from bellcrank.trajectory.store import FloatArray


@dataclass(frozen=True, eq=False)
class EventRecord:
    """An event of a run.

    time: s. name: of the event, or "lower limit of joint 'pivot'" and the like if a stop was reached.
    state: of the bodies then; at a stop, after the impact. `simulate(..., state=record.state)` continues from
        it.
    """

    time: float
    name: str
    state: State

    def __repr__(self) -> str:
        return f"<{self.name} at t = {self.time:.9g} s>"


def records_of(layout: FrameLayout, names: Sequence[str], frames: FloatArray) -> tuple[EventRecord, ...]:
    """Events from their frames (n, 1 + width), with the names of all."""
    return tuple(
        EventRecord(float(frame[0]), name, state_of(layout, frame))
        for name, frame in zip(names, frames, strict=True)
    )


def state_of(layout: FrameLayout, frame: FloatArray) -> State:
    """The state of a frame (1 + width,)."""

    def section(name: str) -> FloatArray:
        values: FloatArray = frame[layout.columns[name]].reshape(layout.shapes[name])
        return values

    turning = list(layout.turning)
    counted = [name for name in ("coordinates", "angles") if turning and name in layout.shapes]
    angles = np.concatenate([section(name) for name in counted])[turning] if counted else None
    position, rotation, velocity, spin = (section(name) for name in STATE_SECTIONS)
    return State(float(frame[0]), position, rotation, velocity, spin, angles)
