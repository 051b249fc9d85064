"""Collects the frames of a running simulation into a Trajectory."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bellcrank.compile.state import Points
from bellcrank.errors import BellcrankError, SimulationError
from bellcrank.trajectory.layout import FrameLayout
from bellcrank.trajectory.origin import Origin
from bellcrank.trajectory.store import POINT, FloatArray, MemoryStore, Store, points_of
from bellcrank.trajectory.trajectory import EventRecord, Status, Trajectory, records_of

if TYPE_CHECKING:
    from bellcrank.trajectory.writer import Writer

_FLUSH_SECONDS: Final = 0.25
_FLUSH_BYTES: Final = 1 << 24


class Recorder:
    """Collects frames in memory, or in a file from which the trajectory then reads.

    path: HDF5 file, written as frames arrive: however the process ends, it contains what was recorded up to
        a quarter of a second before.
    keep: keep the frames in memory; by default only without a file.
    description: the mechanism of the run, or the text of its file, stored with the results.

    As a context manager it ends the file with the status "failed" after an exception, and with "interrupted"
    after Ctrl-C.

    Raises MechanismError if the file cannot be made, or another run is being recorded into it.
    """

    def __init__(
        self,
        layout: FrameLayout,
        path: str | Path | None = None,
        keep: bool | None = None,
        description: str | Origin = "",
    ) -> None:
        self.layout = layout
        self.description = Origin.of(description)
        self._keep = path is None if keep is None else keep
        self._frames: FloatArray = np.empty((64 if self._keep else 0, 1 + layout.width))
        self._count = 0
        self._writer: Writer | None = None
        if path is not None:
            from bellcrank.trajectory.writer import Writer

            self._writer = Writer(path, layout, self.description)
        self._contacts: list[Points] = []  # points that touch, block by block
        self._last_contacts: Points | None = None
        self._pending: list[FloatArray] = []
        self._pending_contacts: list[Points] = []
        self._pending_bytes = 0
        self._flushed = -np.inf
        self._reached = 0.0  # time of the last frame in the file, s
        self._span: dict[str, float] = {}
        self._trouble: SimulationError | None = None  # that the file gave

    def on_block(self, frames: FloatArray, contacts: np.ndarray | None = None) -> None:
        """Store frames (n, 1 + width), which are copied, and the points that touch in them.

        Raises SimulationError if the file can no longer be written (the disk is full).
        """
        contacts = None if contacts is None else points_of(contacts)
        if contacts is not None and len(frames):
            last = int(frames[-1, self.layout.columns["contact_points"]][0])
            self._last_contacts = contacts[len(contacts) - last :]
        if len(frames):
            self._span = spanned(frames[:, 0], self._span)
        if self._keep:
            self._append(frames)
            self._contacts += [] if contacts is None else [contacts]
        if self._writer is not None:
            self._pending.append(np.array(frames))
            self._pending_contacts += [] if contacts is None else [contacts]
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
        """Write everything since the last flush into the file, if there is one."""
        if self._writer is None or not self._pending:
            return
        pending, self._pending, self._pending_bytes = self._pending, [], 0
        contacts, self._pending_contacts = self._pending_contacts, []
        begin, self._reached = float(pending[0][0, 0]), float(pending[-1][-1, 0])
        try:
            self._writer.append(np.concatenate(pending), joined(contacts))
        except OSError as error:
            raise self._failed(self._writer, error, begin) from error
        self._flushed = time.monotonic()

    def _failed(self, writer: Writer, error: OSError, begin: float) -> SimulationError:
        """The error for a file that cannot take the results from a given time on."""
        held = f"; it holds the run up to t = {begin:g} s" if writer.is_there else ""
        message = f"file '{writer.path}' cannot be written any more: {error}{held}"
        self._trouble = SimulationError(message, begin)
        return self._trouble

    def __enter__(self) -> Recorder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None or self._writer is None:
            return
        state = "interrupted" if isinstance(error, KeyboardInterrupt) else "failed"
        message = str(error) if isinstance(error, BellcrankError) else f"{type(error).__name__}: {error}"
        trajectory = self.finish({"status": state, "message": message})
        if isinstance(error, SimulationError) and error.trajectory is None:
            error.trajectory = trajectory

    @property
    def span(self) -> dict[str, float]:
        """Times of the frames so far, as statistics of a run."""
        return dict(self._span)

    @property
    def last(self) -> tuple[FloatArray, Points | None]:
        """The last frame (1, 1 + width) in memory, (0, 1 + width) if there is none, and its contacts."""
        return self._frames[max(0, self._count - 1) : self._count].copy(), self._last_contacts

    def so_far(self, statistics: Mapping[str, Any]) -> Trajectory:
        """What has been recorded up to now, with the status "running"."""
        self.flush()
        store: Store = (
            self._kept(copied=True)
            if self._writer is None or self._keep
            else Trajectory.load(self._writer.path).store
        )
        return Trajectory(self.layout, store, Status("running"), statistics, self.description)

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

        Raises SimulationError if the file could not be written completely, or is gone.
        """
        events = () if frames is None else records_of(self.layout, happened, frames)
        state, message = str(status.get("status", "finished")), str(status.get("message", ""))
        statistics = {key: value for key, value in status.items() if key not in ("status", "message")}
        writer, before = self._writer, self._trouble
        if writer is None:
            store: Store = self._kept()
        else:
            try:
                self._end(writer, (state, message, statistics, events))
                in_file = writer.is_there and not self._keep
                store = Trajectory.load(writer.path).store if in_file else self._kept()
            finally:
                writer.release()
        outcome = (Status(state, message), statistics, self.description, events)
        trajectory = Trajectory(self.layout, store, *outcome)
        if self._trouble is not None and self._trouble is not before:
            self._trouble.trajectory = trajectory
            raise self._trouble
        return trajectory

    def _end(self, writer: Writer, end: tuple[str, str, dict[str, Any], Sequence[EventRecord]]) -> None:
        """Write what is left and the end, as far as there is a file to write it into; note if that fails."""
        with suppress(SimulationError):  # it is noted
            self.flush()
        if writer.is_open and (writer.is_there or self._trouble is None):
            try:
                writer.close(*end)
            except OSError as error:
                if self._trouble is None:
                    self._failed(writer, error, self._reached)

    def _kept(self, copied: bool = False) -> MemoryStore:
        """What is in memory; copied, since more may be recorded afterwards."""
        if not copied:
            self._frames.resize((self._count, self._frames.shape[1]), refcheck=False)
        frames = self._frames[: self._count].copy() if copied else self._frames
        contacts = joined(self._contacts) if self.layout.contacts else None
        return MemoryStore.from_frames(self.layout, frames, contacts)


def spanned(time: FloatArray, before: Mapping[str, float] | None = None) -> dict[str, float]:
    """The first and last time, s, of frames, and the shortest and longest interval between two of them.

    before: the same of the frames before these.
    """
    before = before or {}
    if not len(time):
        return dict(before)
    steps = np.diff(time, prepend=[before["last_frame"]]) if before else np.diff(time)
    found = {"first_frame": before.get("first_frame", float(time[0])), "last_frame": float(time[-1])}
    shortest = min(before.get("shortest_interval", np.inf), float(np.min(steps, initial=np.inf)))
    longest = max(before.get("longest_interval", 0.0), float(np.max(steps, initial=0.0)))
    return found | ({"shortest_interval": shortest, "longest_interval": longest} if shortest < np.inf else {})


def joined(contacts: Sequence[Points]) -> Points:
    """Points that touch as one array."""
    return np.concatenate(contacts) if contacts else np.empty(0, POINT)
