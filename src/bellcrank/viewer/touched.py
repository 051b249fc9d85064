"""Points at which bodies touched in the past of a live session, as long as there is room for them."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

import numpy as np

from bellcrank.trajectory.contact_log import COLUMNS, starts_of
from bellcrank.trajectory.contact_marks import Touching
from bellcrank.trajectory.trajectory import Trajectory

NONE: Final = Touching((), (), np.empty((0, COLUMNS)))
_BYTES: Final = 64 << 20  # at most; the oldest are given up


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
        while self._bytes > _BYTES and len(self._kept) > 1:
            self._bytes -= self._kept.popitem(last=False)[1].rows.nbytes

    def at(self, time: float) -> Touching:
        """The points of the frame at a time, none where none are kept."""
        return self._kept.get(time, NONE)
