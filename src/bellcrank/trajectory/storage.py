"""Runs in HDF5 files: reading them, whole or in parts on demand, and saving complete ones."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from bellcrank.compile.state import Points
from bellcrank.errors import Fault, MechanismError
from bellcrank.trajectory.checked_file import CheckedFile
from bellcrank.trajectory.contact_log import rows_of
from bellcrank.trajectory.events import EventRecord
from bellcrank.trajectory.layout import FrameLayout
from bellcrank.trajectory.origin import Origin
from bellcrank.trajectory.reading import (
    End,
    Scalar,
    count_frames,
    opened,
    read_end,
    read_layout,
    section_rows,
)
from bellcrank.trajectory.reading_contacts import read_contacts
from bellcrank.trajectory.run_file import frame_sets
from bellcrank.trajectory.store import ALL_ROWS, POINT, FloatArray, Item, MemoryStore, Rows, Store, read_only
from bellcrank.trajectory.writer import Writer

_CACHE_BYTES: Final = 1 << 28
_SAVE_BYTES: Final = 1 << 25


class FileStore:
    """Sections read from a file on demand. The file is open only while it is read.

    frames: number of frames, fixed when the store is made, even if the file still grows.
    """

    def __init__(self, path: Path, layout: FrameLayout, run: str, frames: int) -> None:
        self.path = path.resolve()
        self.frames = frames
        self._layout = layout
        self._run = run
        self._recent: dict[tuple[str, str], FloatArray] = {}

    def read(self, section: str, item: Item | None = None, rows: Rows = ALL_ROWS) -> FloatArray:
        """See `Store.read`. Recently read data are kept, up to 256 MB.

        Raises MechanismError if the file is gone, is damaged or now contains another run.
        """
        if not isinstance(rows, slice):
            first = int(rows.min(initial=self.frames))
            near = slice(first, int(rows.max(initial=first - 1)) + 1)
            return read_only(self._from_file(section, item, near)[rows - first])
        if rows != ALL_ROWS:
            return read_only(self._from_file(section, item, rows))
        key = (section, str(item))
        values = self._recent.pop(key, None)
        if values is None:
            values = read_only(self._from_file(section, item, rows))
        if values.nbytes <= _CACHE_BYTES:
            self._recent[key] = values
            while sum(kept.nbytes for kept in self._recent.values()) > _CACHE_BYTES:
                del self._recent[next(iter(self._recent))]
        return values

    @property
    def contacts(self) -> Points:
        """See `Store.contacts`."""
        if not self._layout.contacts:
            return np.empty(0, POINT)
        counts = self.read("contact_points")
        with self._opened() as file:
            points: Points = read_contacts(file, self._layout, counts)
            return points

    @contextmanager
    def _opened(self) -> Iterator[CheckedFile]:
        with opened(self.path) as file:
            if file.attribute("run", str) != self._run:
                raise file.error("it holds another run than the one that was loaded", advice="load it again")
            yield file

    def _from_file(self, section: str, item: Item | None, rows: slice) -> FloatArray:
        chosen = slice(*rows.indices(self.frames))
        with self._opened() as file:
            return _section(file, self._layout, section, self.frames, item, chosen)


class Contents(NamedTuple):
    """The content of a file; its numbers are read through `store`."""

    layout: FrameLayout
    store: Store
    end: End
    origin: Origin


def load(path: str | Path, lazy: bool | None = None) -> Contents:
    """Read a run. `lazy` leaves the numbers in the file until they are needed (None: if over 256 MB).

    Raises MechanismError for a file that is missing, damaged, not HDF5, not a run, or of another version.
    """
    with opened(Path(path)) as file:
        layout = read_layout(file)
        end = read_end(file, layout)
        frames = count_frames(file, layout)
        run = file.attribute("run", str)
        if lazy is None:
            lazy = frames * (layout.width + 1) * 8 > _CACHE_BYTES
        store: Store
        if lazy:
            store = FileStore(Path(path), layout, run, frames)
        else:
            rows = slice(0, frames)
            sections = {name: _section(file, layout, name, frames, None, rows) for name in layout.shapes}
            store = MemoryStore(sections, read_contacts(file, layout, sections.get("contact_points")))
        text = file.text("description") if file.has("description") else ""
        start = file.attribute("start", float)
        if not isfinite(start):
            raise file.error("attribute 'start' must be finite", start)
        return Contents(layout, store, end, Origin(text, start=start, values=_start_values(file)))


def _start_values(file: CheckedFile) -> Mapping[str, float] | None:
    """What elements took from the start, by `state_source.start_values`; None if it is not there."""
    if not file.has("start_values"):
        return None
    try:
        values = json.loads(file.text("start_values"))
    except ValueError:
        values = None
    if not isinstance(values, dict) or not all(
        isinstance(value, int | float) and isfinite(value) for value in values.values()
    ):
        raise file.error("'start_values' must be numbers by name, in JSON", None)
    return values


def save(
    layout: FrameLayout,
    store: Store,
    path: str | Path,
    origin: Origin,
    status: str,
    message: str,
    statistics: Mapping[str, Scalar],
    events: Sequence[EventRecord] = (),
    replace: bool = False,
) -> None:
    """Write a whole run into a file, which has its name only once it is complete.

    A run that was being written when it was read is saved as it is. replace: whether an existing run may be
    replaced. Raises MechanismError if that fails.
    """
    path = Path(path)
    if isinstance(store, FileStore) and path.resolve() == store.path:
        rule = "the run is read from this very file"
        raise MechanismError(Fault(f"file '{path}'", rule, None, "save it under another name"))
    writer = Writer(path, layout, origin, growing=False, replace=replace)
    frames = max(1, _SAVE_BYTES // (8 * (layout.width + 1)))
    try:
        for start in range(0, store.frames, frames):
            rows = slice(start, min(start + frames, store.frames))
            parts = [store.read(name, rows=rows).reshape(rows.stop - start, -1) for name in layout.shapes]
            writer.append(np.concatenate(parts, axis=1), rows_of(store, rows) if layout.contacts else None)
        writer.close(status, message, statistics, events)
    except OSError as error:
        raise MechanismError(Fault(f"file '{path}'", f"it cannot be written: {error}")) from error
    finally:
        writer.release()


def _section(
    file: CheckedFile, layout: FrameLayout, section: str, frames: int, item: Item | None, rows: slice
) -> FloatArray:
    if section not in frame_sets(layout):  # it has no columns
        empty = np.empty((len(range(rows.start, rows.stop, rows.step or 1)), *layout.shapes[section]))
        return empty if item is None else empty[:, item]
    data = section_rows(file, layout, section, frames)
    values: FloatArray = data[rows] if item is None else data[rows, item]
    return values
