"""Writes runs into HDF5 files, while they are computed and as a whole; for the layout see `run_file`."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import ceil, prod
from pathlib import Path
from typing import Any, Final

import h5py
import numpy as np

from bellcrank.compile.state import Points
from bellcrank.errors import Fault, MechanismError
from bellcrank.trajectory.contacts import rows_of
from bellcrank.trajectory.layout import FrameLayout
from bellcrank.trajectory.origin import Origin
from bellcrank.trajectory.own_file import OwnFile, check_recorded
from bellcrank.trajectory.reading import FileStore, Scalar, opened
from bellcrank.trajectory.run_file import CONTACTS, begun, event_sets, frame_sets
from bellcrank.trajectory.store import FloatArray
from bellcrank.trajectory.trajectory import EventRecord, Trajectory

_SAVE_BYTES: Final = 1 << 25  # of frames that are written at once
_END_BYTES: Final = 1 << 16  # always kept free for the end
_SET_BYTES: Final = 1 << 12  # what HDF5 needs to find the chunks of a set, beside 16 bytes for each


class Writer:
    """Writes frames into a new file as they come.

    growing: others see the file from the first frame on, in place of an existing one; otherwise it takes its
        name when it is closed, and an existing file remains until then.
    replace: whether an existing run may be replaced.

    Raises MechanismError if the file cannot be made, or if the path holds a file that is not a run or is
    being recorded.
    """

    def __init__(
        self,
        path: str | Path,
        layout: FrameLayout,
        origin: str | Origin = "",
        growing: bool = True,
        replace: bool = True,
    ) -> None:
        self.path = Path(path)
        self._layout = layout
        self._frames = self._points = 0
        check_recorded(path)
        with self._making():
            self._own = OwnFile(self.path, _judge_old, replace)
        try:
            with self._making():
                content = begun(layout, Origin.of(origin))
                self._own.reserve(len(content) + _END_BYTES)
                self._own.begin(content)
                self._own.unlock()  # or HDF5 would fail, where the environment has it lock
                try:
                    self._file = h5py.File(self._own.now, "r+", libver="latest", locking=False)
                    self._file.swmr_mode = True
                finally:
                    self._own.lock()
                if growing:
                    self._own.take_name()
        except MechanismError:
            self._own.release()
            raise
        self._handle = self._file.id.get_vfd_handle()
        self._sets = {name: self._file[about.path] for name, (about, _) in frame_sets(layout).items()}

    @property
    def is_open(self) -> bool:
        """Whether the file can still be written."""
        return bool(self._file)

    @property
    def is_there(self) -> bool:
        """Whether the file still is where it was put."""
        return self._own.is_there

    def append(self, frames: FloatArray, contacts: Points | None = None) -> None:
        """Write frames (n, 1 + width), with the points that touch in them, and flush.

        They survive whatever happens to this process afterwards.

        Raises OSError if there is no room, the file is gone or HDF5 fails. What was flushed before stays
        readable; where `is_open` is False afterwards, nothing can be written any more.
        """
        total = self._frames + len(frames)
        self._reserve(dict.fromkeys(self._sets.values(), total))
        if self._layout.contacts and contacts is not None:
            self._append_points(contacts)
        with self._failing():
            for name, data in self._sets.items():
                if name == "time":
                    self._file.flush()
                data.resize(total, axis=0)
                values = frames[:, self._layout.columns[name]]
                data[self._frames :] = values.reshape(len(frames), *self._layout.shapes[name])
            self._file.flush()
        self._frames = total

    def _append_points(self, contacts: Points) -> None:
        """Write points before the frames that they belong to."""
        data, total = self._file[CONTACTS.path], self._points + len(contacts)
        self._reserve({data: total})
        with self._failing():
            data.resize(total, axis=0)
            data[self._points :] = contacts.view(np.float64).reshape(-1, data.shape[1])
        self._points = total

    def close(
        self, status: str, message: str, statistics: Mapping[str, Scalar], events: Sequence[EventRecord] = ()
    ) -> None:
        """End the file. Its name stays reserved until `release`. Raises the errors of `append`."""
        text = _end(status, message, statistics, events)
        sets = {name: self._file[about.path] for name, (about, _) in event_sets(self._layout).items()}
        end = self._file["end"]
        self._reserve({**dict.fromkeys(sets.values(), len(events)), end: len(text)}, 0)
        with self._failing():
            for name, data in sets.items() if events else ():
                data.resize(len(events), axis=0)
                data[:] = [_part(event, name) for event in events]
            self._file.flush()
            end.resize(len(text), axis=0)
            end[:] = np.frombuffer(text, np.uint8)
            self._file.flush()
            self._file.close()
        self._own.trim()
        if self._own.now != self._own.path:
            self._own.sync()
            self._own.take_name()

    def release(self) -> None:
        """Release the file and its name. A file not ended stays as last flushed, if it has its name."""
        if self.is_open:
            self._sever()
        self._own.release()

    def _reserve(self, rows: Mapping[Any, int], kept: int = _END_BYTES) -> None:
        """Reserve space for a number of rows of data sets: HDF5 does not recover from a write that fails.

        Raises OSError if there is none, or the file is gone.
        """
        if not self.is_there:
            raise FileNotFoundError(errno.ENOENT, "it was removed or replaced meanwhile")
        needed = sum(_growth(data, count) for data, count in rows.items())
        self._own.reserve(self._file.id.get_filesize() + needed + kept)

    @contextmanager
    def _making(self) -> Iterator[None]:
        """Context for creating the file: raises MechanismError if that fails."""
        try:
            yield
        except (OSError, RuntimeError) as error:
            rule, advice = f"it cannot be written: {error}", "check the folder, its permissions and its room"
            raise MechanismError(Fault(f"file '{self.path}'", rule, None, advice)) from error

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """Context for writes by HDF5: if one fails, HDF5 must not try again, since it would crash."""
        try:
            yield
        except (OSError, RuntimeError) as error:
            self._sever()
            raise OSError(errno.EIO, f"HDF5 failed: {' '.join(str(error).split())}") from error

    def _sever(self) -> None:
        """Close the file without writing another byte: HDF5 discards what is left."""
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, self._handle, inheritable=False)
        os.close(nothing)
        self._file.close()


def _judge_old(path: Path) -> None:
    """Raise MechanismError for a file that is not a run, and must not be overwritten."""
    if path.stat().st_size == 0:
        return
    try:
        with opened(path):
            pass
    except MechanismError as error:
        rule = "it exists and is not a recorded run, so it is not overwritten"
        advice = "choose another name, or remove the file yourself"
        raise MechanismError(Fault(f"file '{path}'", rule, None, advice)) from error


def _growth(data: Any, rows: int) -> int:
    """The number of bytes by which the file may grow when a data set does."""
    high, *wide = data.chunks
    across = prod(ceil(size / chunk) for size, chunk in zip(data.shape[1:], wide, strict=True))
    before, after = (across * ceil(count / high) for count in (data.shape[0], rows))
    chunk_bytes = prod(data.chunks) * int(data.dtype.itemsize)
    return int((after - before) * chunk_bytes + 16 * after + _SET_BYTES)


def _end(status: str, message: str, statistics: Mapping[str, Scalar], events: Sequence[EventRecord]) -> bytes:
    """What the file holds at its end."""
    end = {
        "status": str(status),
        "message": str(message),
        "statistics": {
            str(name): value.item() if isinstance(value, np.generic) else value
            for name, value in statistics.items()
        },
        "events": [event.name for event in events],
    }
    return json.dumps(end, ensure_ascii=False).encode("utf-8", "backslashreplace")  # an escape of JSON


def _part(event: EventRecord, name: str) -> Any:
    return event.time if name == "time" else getattr(event.state, name)


def save(run: Trajectory, path: str | Path, replace: bool = False) -> None:
    """Write a whole run into a file, which has its name only once it is complete.

    A run that was being written when it was read is saved as it is. replace: whether an existing run may be
    replaced. Raises MechanismError if that fails.
    """
    path, layout, store = Path(path), run.layout, run.store
    if isinstance(store, FileStore) and path.resolve() == store.path:
        rule = "the run is read from this very file"
        raise MechanismError(Fault(f"file '{path}'", rule, None, "save it under another name"))
    writer = Writer(path, layout, run.origin, growing=False, replace=replace)
    frames = max(1, _SAVE_BYTES // (8 * (layout.width + 1)))
    try:
        for start in range(0, store.frames, frames):
            rows = slice(start, min(start + frames, store.frames))
            parts = [store.read(name, rows=rows).reshape(rows.stop - start, -1) for name in layout.shapes]
            writer.append(np.concatenate(parts, axis=1), rows_of(store, rows) if layout.contacts else None)
        writer.close(run.status, run.status.message, run.statistics, run.events)
    except OSError as error:
        raise MechanismError(Fault(f"file '{path}'", f"it cannot be written: {error}")) from error
    finally:
        writer.release()
