"""Takes the frames of a running simulation and makes a Trajectory of them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bellcrank.errors import SimulationError
from bellcrank.trajectory.events import records_of
from bellcrank.trajectory.layout import FrameLayout
from bellcrank.trajectory.store import FloatArray, MemoryStore
from bellcrank.trajectory.trajectory import Status, Trajectory

if TYPE_CHECKING:
    from bellcrank.trajectory.storage import Writer

_FLUSH_SECONDS: Final = 0.25
_FLUSH_BYTES: Final = 1 << 24


class Recorder:
    """Collects frames in memory, or in a file from which the trajectory then reads.

    path: HDF5 file, written while frames come in: whatever ends the process, what was recorded up to a
        quarter of a second before is in it.
    keep: hold the frames in memory; by default only without a file.
    description: text of the mechanism's file, kept with the results.

    Raises MechanismError if the file cannot be made.
    """

    def __init__(
        self,
        layout: FrameLayout,
        path: str | Path | None = None,
        keep: bool | None = None,
        description: str = "",
    ) -> None:
        self.layout = layout
        self.description = description
        self._keep = path is None if keep is None else keep
        self._frames: FloatArray = np.empty((64 if self._keep else 0, 1 + layout.width))
        self._count = 0
        self._writer: Writer | None = None
        if path is not None:
            from bellcrank.trajectory.storage import Writer

            self._writer = Writer(path, layout, description)
        self._pending: list[FloatArray] = []
        self._pending_bytes = 0
        self._flushed = -np.inf
        self._broken = False

    def on_block(self, frames: FloatArray) -> None:
        """Take over frames (n, 1 + width); they are copied.

        Raises SimulationError if the file cannot be written any more (the disk is full).
        """
        if self._keep:
            self._append(frames)
        if self._writer is not None:
            self._pending.append(np.array(frames))
            self._pending_bytes += frames.nbytes
            if time.monotonic() - self._flushed > _FLUSH_SECONDS or self._pending_bytes > _FLUSH_BYTES:
                self.flush()

    def _append(self, frames: FloatArray) -> None:
        total = self._count + len(frames)
        if total > len(self._frames):
            # In place: no other reference to this array leaves before finish().
            self._frames.resize(
                (max(total, len(self._frames) * 3 // 2), self._frames.shape[1]), refcheck=False
            )
        self._frames[self._count : total] = frames
        self._count = total

    def flush(self) -> None:
        """Write what has come in since the last flush into the file, if there is one."""
        if self._writer is None or not self._pending:
            return
        pending, self._pending, self._pending_bytes = self._pending, [], 0
        try:
            self._writer.append(np.concatenate(pending))
        except (OSError, RuntimeError) as error:
            self._broken = isinstance(error, RuntimeError)
            begin = float(pending[0][0, 0])
            message = f"file '{self._writer.path}' cannot be written any more: {error}"
            raise SimulationError(f"{message}; it holds the run up to t = {begin:g} s", begin) from error
        self._flushed = time.monotonic()

    def finish(
        self,
        status: Mapping[str, Any],
        happened: Sequence[str] = (),
        frames: FloatArray | None = None,
    ) -> Trajectory:
        """End the recording.

        status: "status" ("finished", "interrupted", ...), "message" (a sentence for the user, or nothing),
        and statistics under any other names, numbers or texts.
        happened, frames: names and frames (n, 1 + width) of events.
        """
        events = () if frames is None else records_of(self.layout, happened, frames)
        state, message = str(status.get("status", "finished")), str(status.get("message", ""))
        statistics = {key: value for key, value in status.items() if key not in ("status", "message")}
        if self._writer is not None and not self._broken:
            self.flush()
            self._writer.close(state, message, statistics, events)
        if self._writer is not None and not self._keep and not self._broken:
            return Trajectory.load(self._writer.path)
        self._frames.resize((self._count, self._frames.shape[1]), refcheck=False)
        store = MemoryStore.from_frames(self.layout, self._frames)
        return Trajectory(self.layout, store, Status(state, message), statistics, self.description, events)
