"""Writing runs into HDF5 files while they are computed, and reading them; for the layout see `run_file`."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import h5py
import numpy as np

from bellcrank.errors import Fault, MechanismError
from bellcrank.trajectory.events import EventRecord, read_events, write_events
from bellcrank.trajectory.layout import FrameLayout
from bellcrank.trajectory.run_file import SETS, opened, read_names, write_names
from bellcrank.trajectory.store import ALL_ROWS, FloatArray, Item, MemoryStore, Rows, Store, read_only

Scalar: TypeAlias = str | int | float
_CHUNK_BYTES: Final = 1 << 16
_CHUNK_FRAMES: Final = 1024
_CACHE_BYTES: Final = 1 << 28
_SAVE_BYTES: Final = 1 << 25
_ROOM_BYTES: Final = 1 << 24


class Writer:
    """Writes frames into a new file as they come.

    Raises MechanismError where the file cannot be made or the path holds something that is not a run.
    """

    def __init__(self, path: str | Path, layout: FrameLayout, description: str = "") -> None:
        self.path = Path(path)
        self._layout = layout
        self._frames = 0
        check_place(self.path)
        _clear(self.path)
        try:
            self._file = h5py.File(self.path, "w", libver="latest")
        except OSError as error:
            advice = "check the folder and its permissions"
            raise MechanismError(
                Fault(f"file '{path}'", f"it cannot be written: {error}", None, advice)
            ) from error
        write_names(self._file, layout, description)
        self._sets = {name: self._make(name) for name in SETS if prod(layout.shapes.get(name, (0,)))}
        self._file.swmr_mode = True

    def _make(self, section: str) -> Any:
        shape = self._layout.shapes[section]
        about = SETS[section]
        data = self._file.create_dataset(
            about.path,
            (0, *shape),
            maxshape=(None, *shape),
            chunks=_chunk(shape),
            dtype=about.stored,
            fillvalue=np.nan if about.stored == "f8" else 0,
        )
        data.attrs.update(unit=about.unit, meaning=about.meaning)
        return data

    def append(self, frames: FloatArray) -> None:
        """Write frames (n, 1 + width) and flush: they survive whatever happens to this process afterwards.

        Raises OSError if there is no room, RuntimeError if HDF5 fails, which leaves it broken.
        """
        # Asked for beforehand, for HDF5 does not recover from a write that fails.
        if shutil.disk_usage(self.path.parent).free < _ROOM_BYTES + 2 * frames.nbytes:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        total = self._frames + len(frames)
        for name, data in self._sets.items():
            if name == "time":
                self._file.flush()
            data.resize(total, axis=0)
            values = frames[:, self._layout.columns[name]]
            data[self._frames :] = values.reshape(len(frames), *self._layout.shapes[name])
        self._sets["time"].flush()
        self._frames = total

    def close(
        self, status: str, message: str, statistics: Mapping[str, Scalar], events: Sequence[EventRecord] = ()
    ) -> None:
        """End the file: it is then a plain HDF5 file with its status and statistics."""
        self._file.close()
        with h5py.File(self.path, "r+", libver="latest") as file:
            file.attrs.update(status=str(status), message=str(message))
            file["statistics"].attrs.update(statistics)
            write_events(file, events)


class FileStore:
    """Sections read from a file when asked for. The file is open only while it is read.

    frames: number of frames, fixed when the store is made, even if the file still grows.
    """

    def __init__(self, path: Path, layout: FrameLayout, run: str, frames: int) -> None:
        self.path = path.resolve()
        self.frames = frames
        self._layout = layout
        self._run = run
        self._recent: dict[tuple[str, str], FloatArray] = {}

    def read(self, section: str, item: Item | None = None, rows: Rows = ALL_ROWS) -> FloatArray:
        """See `Store.read`. What was read lately is kept, up to 256 MB.

        Raises MechanismError if the file has gone or holds another run by now.
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

    def _from_file(self, section: str, item: Item | None, rows: slice) -> FloatArray:
        chosen = slice(*rows.indices(self.frames))
        with opened(self.path) as file:
            if file.attrs["run"] != self._run:
                rule = "it holds another run than the one that was loaded"
                raise MechanismError(Fault(f"file '{self.path}'", rule, advice="load it again"))
            return _section(file, self._layout, section, item, chosen)


class Contents(NamedTuple):
    """What a file holds, the numbers behind `store`."""

    layout: FrameLayout
    store: Store
    status: str
    message: str
    statistics: dict[str, Scalar]
    description: str
    events: tuple[EventRecord, ...] = ()


def load(path: str | Path, lazy: bool | None = None) -> Contents:
    """Read a run. `lazy` leaves the numbers in the file until they are asked for (None: if over 256 MB).

    Raises MechanismError for a file that is missing, not HDF5, not a run, or of a later version.
    """
    with opened(Path(path)) as file:
        layout = read_names(file)
        time = file["time"][:]
        frames = int(np.argmax(np.isnan(time))) if np.isnan(time).any() else len(time)
        if lazy is None:
            lazy = frames * (layout.width + 1) * 8 > _CACHE_BYTES
        store: Store
        if lazy:
            store = FileStore(Path(path), layout, file.attrs["run"], frames)
        else:
            rows = slice(0, frames)
            store = MemoryStore({name: _section(file, layout, name, None, rows) for name in layout.shapes})
        return Contents(
            layout,
            store,
            str(file.attrs["status"]),
            str(file.attrs["message"]),
            {name: _plain(value) for name, value in file["statistics"].attrs.items()},
            file["description"].asstr()[()] if "description" in file else "",
            read_events(file),
        )


def save(
    layout: FrameLayout,
    store: Store,
    path: str | Path,
    description: str,
    status: str,
    message: str,
    statistics: Mapping[str, Scalar],
    events: Sequence[EventRecord] = (),
) -> None:
    """Write a whole run into a file. A run that was being written when it was read is saved as it is."""
    path = Path(path)
    if isinstance(store, FileStore) and path.resolve() == store.path:
        rule = "the run is read from this very file"
        raise MechanismError(Fault(f"file '{path}'", rule, None, "save it under another name"))
    writer = Writer(path, layout, description)
    frames = max(1, _SAVE_BYTES // (8 * (layout.width + 1)))
    for start in range(0, store.frames, frames):
        rows = slice(start, min(start + frames, store.frames))
        parts = [store.read(name, rows=rows).reshape(rows.stop - start, -1) for name in layout.shapes]
        writer.append(np.concatenate(parts, axis=1))
    writer.close(status, message, statistics, events)


def check_place(path: str | Path) -> None:
    """Raise MechanismError if no file can be made at `path` for want of a folder."""
    if Path(path).is_dir():
        raise MechanismError(
            Fault(f"file '{path}'", "this is a folder", None, "give the name of a file in it")
        )
    if not Path(path).absolute().parent.is_dir():
        rule = f"the folder '{Path(path).parent}' does not exist"
        raise MechanismError(Fault(f"file '{path}'", rule, None, "make it, or choose another"))


def _clear(path: Path) -> None:
    """Remove the run that `path` holds; refuse to remove anything else."""
    if path.is_file() and path.stat().st_size > 0:
        advice = "choose another name, or remove the file yourself"
        try:
            with opened(path):
                pass
        except MechanismError as error:
            rule = "it exists and is not a recorded run, so it is not overwritten"
            raise MechanismError(Fault(f"file '{path}'", rule, None, advice)) from error
    if path.is_file():
        path.unlink()


def _chunk(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Chunks of about 64 kB, with many frames of some bodies: mostly, few bodies are read over all time."""
    if not shape:
        return (_CHUNK_FRAMES,)
    columns = min(shape[0], 64)
    row_bytes = 8 * columns * prod(shape[1:])
    return (max(1, min(_CHUNK_FRAMES, _CHUNK_BYTES // row_bytes)), columns, *shape[1:])


def _section(file: Any, layout: FrameLayout, section: str, item: Item | None, rows: slice) -> FloatArray:
    about = SETS[section]
    if about.path not in file:  # it has no columns
        empty = np.empty((len(range(rows.start, rows.stop, rows.step or 1)), *layout.shapes[section]))
        return empty if item is None else empty[:, item]
    data = file[about.path]
    values: FloatArray = data[rows] if item is None else data[rows, item]
    return values


def _plain(value: Any) -> Scalar:
    """A Python number or text in place of a numpy one."""
    plain: Scalar = value.item() if isinstance(value, np.generic) else value
    return plain
