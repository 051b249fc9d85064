"""The recorded history of a live session: frames of one layout, and the points at which bodies touched.

Both stand in stores that do not grow without end.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection
from dataclasses import replace
from typing import Final

import numpy as np

from bellcrank.trajectory.contact_marks import Touching
from bellcrank.trajectory.contacts import starts_of
from bellcrank.trajectory.joining import laid
from bellcrank.trajectory.layout import FrameLayout
from bellcrank.trajectory.store import POINT, FloatArray, MemoryStore
from bellcrank.trajectory.trajectory import Trajectory

NONE: Final = Touching((), (), np.empty(0, POINT))
_TOUCHED_BYTES: Final = 64 << 20  # at most; the oldest are given up


class Touched:
    """Points by the time of their frame."""

    def __init__(self) -> None:
        self._kept: OrderedDict[float, Touching] = OrderedDict()
        self._bytes = 0

    def note(self, run: Trajectory, first: int = 0) -> None:
        """Keep the points of the frames of a run from one on, in place of those at the same times."""
        layout = run.layout
        if not layout.contacts:
            return
        starts, times = starts_of(run.store)[first:].tolist(), run.time[first:].tolist()
        for time, begin, end in zip(times, starts[:-1], starts[1:], strict=True):
            before = self._kept.pop(time, NONE)
            rows = run.store.contacts[begin:end].copy()
            self._kept[time] = Touching(layout.contacts, layout.contact_shapes, rows)
            self._bytes += rows.nbytes - before.rows.nbytes
        while self._bytes > _TOUCHED_BYTES and len(self._kept) > 1:
            self._bytes -= self._kept.popitem(last=False)[1].rows.nbytes

    def at(self, time: float) -> Touching:
        """The points of the frame at a time, none where none are kept."""
        return self._kept.get(time, NONE)


_FRAMES: Final = 36_000  # at most: ten minutes at 60 a second
_BYTES: Final = 256 << 20  # at most


class History:
    """Frames at increasing times and, beside each, the work that hands had done up to it.

    When it is full, the oldest quarter is discarded. layout: of the frames, without the points of contacts,
    whose sums on bodies are kept. touched: those points, of the latest frames. edits: counts changes other
    than additions at the end.
    """

    def __init__(self, layout: FrameLayout) -> None:
        self.layout = layout = without_points(layout)
        self._most = _most(layout)
        self._frames: FloatArray = np.empty((256, 1 + layout.width))
        self._works: FloatArray = np.empty(256)
        self._count = self.edits = 0
        self.touched = Touched()

    def __len__(self) -> int:
        return self._count

    @property
    def frames(self) -> FloatArray:
        """(T, 1 + width); a view, valid until something is added."""
        return self._frames[: self._count]

    @property
    def time(self) -> FloatArray:
        """(T,), s."""
        return self.frames[:, 0]

    @property
    def work(self) -> FloatArray:
        """(T,), J, of all hands."""
        return self._works[: self._count]

    def add(self, frames: FloatArray, works: FloatArray, run: Trajectory | None = None) -> None:
        """Take over frames (n, 1 + width or more) after the last one, which are copied.

        run: whose last frame is the last of these, for the points that touch there.
        """
        if run is not None:
            self.touched.note(run, len(run) - 1)
        frames = frames[:, : 1 + self.layout.width]
        total = self._count + len(frames)
        if total > self._most:
            left = max(self._most * 3 // 4 - len(frames), 1)
            self._keep(slice(max(self._count - left, 0), self._count))
            total = self._count + len(frames)
        if total > len(self._frames):
            room = max(total, min(2 * len(self._frames), self._most))
            self._frames = np.concatenate(
                [self.frames, np.empty((room - self._count, self._frames.shape[1]))]
            )
            self._works = np.concatenate([self.work, np.empty(room - self._count)])
        self._frames[self._count : total], self._works[self._count : total] = frames, works
        self._count = total

    def cut(self, time: float) -> None:
        """Discard frames later than a time, s, except the first frame."""
        self.edits += 1
        self._count = max(int(np.searchsorted(self.time, time, "right")), min(self._count, 1))

    def drop(self, time: float) -> None:
        """Discard frames at a time, s, and later."""
        self.edits += 1
        self._count = int(np.searchsorted(self.time, time, "left"))

    def put_before_last(self, frames: FloatArray, work: float) -> None:
        """Put what led to the last frame before it: frames (n, 1 + width) since the one before."""
        self.edits += 1
        last, work_at_last = self.frames[-1:].copy(), self.work[-1:].copy()
        self._count -= 1
        after = -np.inf if self._count == 0 else self.time[-1]
        frames = frames[(frames[:, 0] > after) & (frames[:, 0] < last[0, 0])]
        if len(frames):
            self.add(frames, np.full(len(frames), work))
        self.add(last, work_at_last)

    def nearest(self, time: float) -> int:
        """The number of the frame nearest to a time, s."""
        return int(np.argmin(np.abs(self.time - time)))

    def inputs(self, number: int, names: Collection[str]) -> dict[str, float]:
        """Inputs of these names as they acted up to a frame."""
        found = self.frames[number][self.layout.columns["inputs"]].tolist()
        listed = zip((column.name for column in self.layout.inputs), found, strict=True)
        return {name: value for name, value in listed if name in names and np.isfinite(value)}

    def follow(self, layout: FrameLayout) -> None:
        """Take over the layout of another twin of the same mechanism; what it did not record is no number."""
        layout = without_points(layout)
        if layout == self.layout:
            return
        self.edits += 1
        self.layout, self._frames = layout, laid(self._frames, self.layout, layout)
        self._most = _most(layout)
        if self._count > self._most:
            self._keep(slice(self._count - self._most, self._count))

    def store(self, rows: slice = slice(None)) -> MemoryStore:
        """A copy of frames as a trajectory takes them."""
        return MemoryStore.from_frames(self.layout, self.frames[rows].copy())

    def window(self, seconds: float, frames: int, last: int | None = None) -> Trajectory:
        """At most so many frames of the seconds before a frame, by default the last."""
        end = self._count if last is None else last + 1
        begin = int(np.searchsorted(self.time, self.time[end - 1] - seconds))
        rows = slice(begin, end, max(1, -(-(end - begin) // frames)))
        return Trajectory(self.layout, self.store(rows), "running")

    def _keep(self, rows: slice) -> None:
        kept = self.frames[rows].copy(), self.work[rows].copy()
        self._count = len(kept[1])
        self._frames[: self._count], self._works[: self._count] = kept


def without_points(layout: FrameLayout) -> FrameLayout:
    """The layout without the number of points that touch, which is the last column."""
    return replace(layout, contacts=(), contact_shapes=())


def _most(layout: FrameLayout) -> int:
    return max(min(_FRAMES, _BYTES // (8 * (1 + layout.width))), 16)
