"""Storage of a trajectory's numbers, in memory or in a file, behind one reading interface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bellcrank import _core
from bellcrank.compile.state import Points, record_type
from bellcrank.trajectory.layout import FrameLayout

FloatArray: TypeAlias = NDArray[np.float64]
Item: TypeAlias = int | slice
Rows: TypeAlias = slice | NDArray[np.intp]

ALL_ROWS = slice(None)

POINT: Final = record_type(_core.RecordedContact.fields())
"""The type of a touching point: its contact, what it remembers (`State.contacts`), and what acts there."""


class Store(Protocol):
    """Recorded sections by name; their names and shapes are those of `FrameLayout.shapes`."""

    @property
    def frames(self) -> int:
        """Number of recorded frames."""

    def read(self, section: str, item: Item | None = None, rows: Rows = ALL_ROWS) -> FloatArray:
        """A section (frames, *shape), read-only; `item` picks a body or columns along the shape's first axis.

        rows: which frames, a slice or increasing numbers of frames.
        """

    @property
    def contacts(self) -> Points:
        """The points that touch (n,), of type `POINT`, frame by frame; none if no contact is recorded."""


class MemoryStore:
    """Sections held in memory. whole: the frames whose sections these are, with their layout, if they are."""

    whole: tuple[FrameLayout, FloatArray] | None = None

    def __init__(self, sections: Mapping[str, FloatArray], contacts: Points | None = None) -> None:
        self._sections = {name: read_only(values) for name, values in sections.items()}
        self.frames = len(self._sections["time"])
        self.contacts = points_of(np.empty(0, POINT) if contacts is None else contacts)

    @staticmethod
    def from_frames(layout: FrameLayout, frames: FloatArray, contacts: Points | None = None) -> MemoryStore:
        """The sections of frames (n, 1 + width), without copying them."""
        sections, frames = {}, read_only(frames)
        for name, shape in layout.shapes.items():
            sections[name] = frames[:, layout.columns[name]].reshape(len(frames), *shape)
        found = MemoryStore(sections, contacts)
        found.whole = (layout, frames)
        return found

    def read(self, section: str, item: Item | None = None, rows: Rows = ALL_ROWS) -> FloatArray:
        """See `Store.read`; views where the rows are a slice."""
        values = self._sections[section][rows]
        return read_only(values if item is None else values[:, item])


def read_only(values: Any) -> FloatArray:
    """The same numbers as an array that cannot be written to."""
    if type(values) is np.ndarray and values.dtype == np.float64 and not values.flags.writeable:
        return values
    view: FloatArray = np.asarray(values, dtype=np.float64).view()
    view.flags.writeable = False
    return view


def points_of(values: np.ndarray) -> Points:
    """Touching points, or rows of their numbers (n, m), as records that cannot be written to."""
    points = np.ascontiguousarray(values).view(POINT).reshape(-1)
    points.flags.writeable = False
    return points
