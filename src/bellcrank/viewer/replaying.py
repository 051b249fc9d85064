"""A recorded quasi-static or adaptive run, played in real time: poses, and which joints moved."""

from __future__ import annotations

from typing import Any

import numpy as np

from bellcrank.compile.model import Model
from bellcrank.errors import Unsupported
from bellcrank.trajectory.layout import FrameLayout
from bellcrank.trajectory.moves import MoveTrajectory
from bellcrank.trajectory.store import FloatArray, MemoryStore
from bellcrank.trajectory.trajectory import Trajectory
from bellcrank.viewer.names import known
from bellcrank.viewer.playing import Player
from bellcrank.viewer.settings import Settings
from bellcrank.viewer.snapshot import Snapshot


class Replayer(Player):
    """Shows the frames of a quasi-static or adaptive run, which have poses alone; the rest is nan."""

    run: Any

    def __init__(self, run: MoveTrajectory) -> None:
        super().__init__(run)  # type: ignore[arg-type]
        self._layout = FrameLayout(run.name, run.bodies)

    @property
    def model(self) -> Model | None:
        """The model of its mechanism."""
        return None

    def snapshot(self) -> Snapshot:
        """The current snapshot."""
        self._number += 1
        past = (float(self._time[0]), float(self._time[-1]))
        run, pace, at = self.run, self.pace, float(self._time[self.shown])
        return Snapshot(
            self._number, self.status, run.status.message, run.bodies, self._layout, self._frame(), past,
            pace.speed, pace.factor, False, Settings(), "adaptive", active=run.active(at),
        )  # fmt: skip

    def trajectory(self) -> Trajectory:
        """Refused: it has no velocities, forces and energies."""
        raise Unsupported("such a run is saved by MoveTrajectory.save; this page only shows it")

    def window(self, seconds: float, frames: int) -> Trajectory:  # noqa: ARG002
        """The frame that is shown."""
        store = MemoryStore.from_frames(self._layout, self._frame()[None])
        return Trajectory(self._layout, store, self.run.status, {}, self.run.origin)

    def inspected(self, name: Any) -> dict[str, Any]:
        """Where a body is, or the coordinates of a joint and whether it moved in the last step."""
        known("body or joint", name, (*self.run.bodies, *filter(None, self.run.joints)))
        at = float(self._time[self.shown])
        if name in self.run.bodies:
            position, rotation = self.run.pose(name, self.shown)
            found = {"position [m]": position.tolist(), "rotation (w, x, y, z)": rotation.tolist()}
            return {"name": name, "time [s]": at, "kind": "body", **found}
        moved = "yes" if name in self.run.active(at) else "no"
        values = self.run.joint(name)[self.shown].tolist()
        return {"name": name, "time [s]": at, "kind": "joint", "coordinates [m, rad]": values, "moved": moved}

    def _frame(self) -> FloatArray:
        frame = np.full(1 + self._layout.width, np.nan)
        state = self.run.at(float(self._time[self.shown]))
        frame[0] = self._time[self.shown]
        for name in ("position", "rotation"):
            frame[self._layout.columns[name]] = getattr(state, name).ravel()
        return frame
