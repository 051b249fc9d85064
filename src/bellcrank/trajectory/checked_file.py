"""An untrusted HDF5 file: anything missing or unexpected is reported in one kind of error.

HDF5 itself tolerates damage only to a degree. What would make HDF5 fail is checked beforehand, and its
endless retries are limited.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Any, Final

import h5py
import numpy as np

from bellcrank.errors import Fault, MechanismError
from bellcrank.named_files import opened as opened_file

_SIGNATURE: Final = b"\x89HDF\r\n\x1a\n"
_WRITING: Final = 1  # bit of the superblock's flags: the file is being written, or its writer was killed
_ATTEMPTS: Final = 24  # HDF5 waits twice as long after each: 1 ns at first, 17 ms at last
_PACKED: Final = 1100  # times the bytes of a file is what its filters can unpack, if anything sensible
_CHUNK: Final = 100_000_000  # bytes of a piece, which HDF5 unpacks as a whole
_HDF5_ERRORS: Final = (
    OSError,
    RuntimeError,
    LookupError,
    ValueError,
    TypeError,
    ArithmeticError,
    MemoryError,
)
"""What h5py makes of errors of HDF5, and of content that it does not support."""


class CheckedFile:
    """An HDF5 file open for reading, finished or still being written. All methods raise MechanismError.

    written: whether the file is marked as being written. cut: whether it is so marked and lacks some of its
        end, because a disk was full, say; rows of data sets count as far as they exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.exists():
            raise self.error("there is no such file")
        if not path.is_file():
            raise self.error("this is not a file that holds anything")
        with self.reading("it cannot be read"), opened_file(path, f"file '{path}'") as file:
            head = file.read(48)
            self._size = os.fstat(file.fileno()).st_size
        if not head.startswith(_SIGNATURE):
            raise self.error("this is not an HDF5 file", advice="runs are saved by run.save(path)")
        version, sizes, flags, end = struct.unpack("<8xB2sB16xQ12x", head.ljust(48, b"\0"))
        if (version < 3 or sizes != b"\x08\x08") and len(head) == 48:
            raise self.error(NOT_OURS)
        self.written = bool(flags & _WRITING)
        self.cut = self.written and self._size < end
        if self._size < max(end, 48) and not self.cut:
            raise self.error(
                f"it is cut off: {self._size} of {max(end, 48)} bytes are there", advice=_RECOVER
            )
        with self.reading("it cannot be read"):
            self._file = h5py.File(_opened(path, self.written))

    def __enter__(self) -> CheckedFile:
        return self

    def __exit__(self, *_: object) -> None:
        with self.reading("it cannot be closed"):
            self._file.close()

    def error(self, rule: str, value: object = None, advice: str = "") -> MechanismError:
        """What is wrong with this file."""
        return MechanismError(Fault(f"file '{self.path}'", rule, value, advice))

    def has(self, path: str) -> bool:
        """Whether there is a data set or group of this path."""
        return self._item(path) is not None

    def texts(self, path: str) -> list[str]:
        """The texts of a data set (n,)."""
        data = self._data(path, "S", 1)
        with self.reading(f"{path!r} cannot be read"):
            return [str(text) for text in data.asstr()[:]]

    def text(self, path: str) -> str:
        """The text of a data set that contains one."""
        data = self._data(path, "S", 0)
        with self.reading(f"{path!r} cannot be read"):
            return str(data.asstr()[()])

    def numbers(self, path: str, kind: str, shape: tuple[int | None, ...]) -> Any:
        """The array of a data set. kind: of numpy's types; shape: None for any length."""
        rows = self.rows(path, kind, shape, 0)
        return rows[: rows.count]

    def rows(self, path: str, kind: str, shape: tuple[int | None, ...], least: int) -> Any:
        """What to index for a part of a data set, whose first `least` rows must exist."""
        data = self._data(path, kind, len(shape))
        found = (self._intact(path, data), *data.shape[1:])
        if any(n is not None and n != m for n, m in zip(shape, found, strict=True)) or found[0] < least:
            wanted = (least if shape[0] is None else shape[0], *shape[1:])
            raise self.error(f"{path!r} must have the shape {_shape(wanted)}", _shape(found), _DAMAGED)
        return _Rows(self, path, data, found[0])

    def attribute(self, name: str, kind: type, default: Any = None) -> Any:
        """An attribute of the file. kind: str, int, float or bool; default: given if it may be missing."""
        value = self._attribute(self._file, name, default)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            what = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}[kind]
            raise self.error(f"attribute {name!r} must be {what}", value, _DAMAGED)
        return value

    def check_version(self, own: int, earliest: int | None = None) -> int:
        """The version of its format, at most `own`; another one is refused. earliest: by default `own`."""
        written: int = self.attribute("version", int)
        if not (own if earliest is None else earliest) <= written <= own:
            which, advice = ("a later", "update it") if written > own else ("an earlier", "simulate again")
            rule = f"{which} version wrote this file"
            raise self.error(rule, written, f"this bellcrank reads version {own}: {advice}")
        return written

    def attributes(self, group: str) -> dict[str, Any]:
        """The attributes of a group, as Python numbers and texts where possible."""
        item = self._item(group)
        if item is None:
            raise self.error(f"{group!r} is missing", advice=_DAMAGED)
        with self.reading(f"the attributes of {group!r} cannot be read"):
            names = list(item.attrs)
        return {name: self._attribute(item, name) for name in names}

    def _attribute(self, item: Any, name: str, default: Any = None) -> Any:
        with self.reading(f"attribute {name!r} cannot be read"):
            attributes = item.attrs
            if name not in attributes:
                return default
            if attributes.get_id(name).dtype.hasobject:
                raise self.error(f"attribute {name!r} must be {_IN_PLACE}", advice=_DAMAGED)
            return _plain(attributes[name])

    def _item(self, path: str) -> Any:
        """The data set or group, if there is one; links out of the file are not followed."""
        item: Any = self._file
        with self.reading(f"{path!r} cannot be found"):
            for part in path.split("/"):
                link = item.get(part, getlink=True) if isinstance(item, h5py.Group) else None
                if link is None:
                    return None
                if not isinstance(link, h5py.HardLink):
                    raise self.error(f"{path!r} is a link to another place", advice=_DAMAGED)
                item = item[part]
        return item

    def _data(self, path: str, kind: str, dimensions: int) -> Any:
        """A data set of this kind of numpy's types ("S": texts) that is no larger than the file can be."""
        data = self._item(path)
        if data is None:
            raise self.error(f"data set {path!r} is missing", advice=_DAMAGED)
        if not isinstance(data, h5py.Dataset):
            raise self.error(f"{path!r} must be a data set", advice=_DAMAGED)
        with self.reading(f"data set {path!r} cannot be read"):
            if self.written:
                data.refresh()  # it may have grown since HDF5 first met it
            found, is_text = data.dtype, h5py.check_string_dtype(data.dtype) is not None
            shape, elsewhere = data.shape, data.is_virtual or bool(data.external)
            packed = data.id.get_create_plist().get_nfilters() > 0
            end = 0 if data.chunks else (data.id.get_offset() or 0) + data.id.get_storage_size()
        if is_text and found.hasobject:
            raise self.error(f"{path!r} must hold {_IN_PLACE}", advice=_DAMAGED)
        if is_text != (kind == "S") or (not is_text and (found.kind not in kind or found.subdtype)):
            what = "texts" if kind == "S" else "floating-point numbers" if kind == "f" else "whole numbers"
            raise self.error(f"{path!r} must hold {what}", str(found), _DAMAGED)
        if shape is None or len(shape) != dimensions:
            raise self.error(f"{path!r} must have {dimensions} dimensions", _shape(shape or ()), _DAMAGED)
        if elsewhere:
            raise self.error(f"{path!r} is kept in another place than this file", advice=_DAMAGED)
        if prod(shape) * found.itemsize > self._size * (_PACKED if packed else 1):
            raise self.error(f"{path!r} is larger than the file", _shape(shape), _DAMAGED)
        if prod(data.chunks or (0,)) * found.itemsize > _CHUNK:
            raise self.error(f"{path!r} is kept in pieces that are too large", _shape(data.chunks), _DAMAGED)
        if end > self._size:
            raise self.error(f"{path!r} is cut off", advice=_RECOVER)
        return data

    def _intact(self, path: str, data: Any) -> int:
        """The number of rows that lie within the file: HDF5 reads zeros beyond its end."""
        rows = int(data.shape[0])
        if not self.cut or data.chunks is None:
            return rows
        beyond = [rows]

        def look(chunk: Any) -> None:
            if chunk.byte_offset + chunk.size > self._size:
                beyond.append(chunk.chunk_offset[0])

        with self.reading(f"{path!r} cannot be read"):
            data.id.chunk_iter(look)
        return int(min(beyond))

    @contextmanager
    def reading(self, rule: str) -> Iterator[None]:
        """Context for calls of h5py only: any error it raises means that this file breaks the rule."""
        try:
            yield
        except MechanismError:
            raise
        except _HDF5_ERRORS as error:
            text = " ".join(str(error).split()) or type(error).__name__
            raise self.error(f"{rule}: {text}", advice=_DAMAGED) from error


class _Rows:
    """A data set to be indexed as HDF5 does. count: of its rows."""

    def __init__(self, file: CheckedFile, path: str, data: Any, count: int) -> None:
        self._file, self._path, self._data, self.count = file, path, data, count

    def __getitem__(self, item: Any) -> Any:
        with self._file.reading(f"{self._path!r} cannot be read"):
            return self._data[item]


_DAMAGED: Final = "the file is damaged, or was not written by bellcrank"
NOT_OURS: Final = "this HDF5 file does not hold a run of bellcrank"
_RECOVER: Final = "take a complete copy of it"
_IN_PLACE: Final = "numbers or texts of fixed length"
"""Others lie in heaps without checksums, and HDF5 never returns if an object there has size 0."""


def _access() -> Any:
    """How files are opened: without a lock, as our writers need no locks by readers, and with few retries.

    Without the limit HDF5 retries half-written data up to a hundred times, the last of which would take
    centuries. h5py does not offer this function, but its own library brings it. It is called only while this
    module is imported: nothing public keeps it apart from what other threads do in HDF5.
    """
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    access.set_libver_bounds(h5py.h5f.LIBVER_LATEST, h5py.h5f.LIBVER_LATEST)
    access.set_file_locking(False, True)
    function = getattr(ctypes.CDLL(h5py.h5p.__file__), "H5Pset_metadata_read_attempts", None)
    if function is not None:  # else a library that does not pass on what it is linked with
        function.argtypes, function.restype = (ctypes.c_int64, ctypes.c_uint), ctypes.c_int
        if function(access.id, _ATTEMPTS) < 0:
            raise RuntimeError("HDF5 does not take the number of its attempts")
    return access


_ACCESS: Final = _access()


def _opened(path: Path, written: bool) -> Any:
    """HDF5's handle of a file."""
    mode = h5py.h5f.ACC_RDONLY | (h5py.h5f.ACC_SWMR_READ if written else 0)
    return h5py.h5f.open(os.fsencode(path), mode, _ACCESS)


def _shape(shape: Any) -> str:
    return "x".join(map(str, shape)) or "of one number"


def _plain(value: Any) -> Any:
    """A Python number or text in place of a numpy one."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")  # as h5py does with texts that it decodes itself
    return value.item() if isinstance(value, np.generic) else value


def check_distinct(file: CheckedFile, path: str, names: list[str]) -> tuple[str, ...]:
    """The names. Raises MechanismError where one is there twice."""
    double = [name for name, other in zip(sorted(names), sorted(names)[1:], strict=False) if name == other]
    if double:
        raise file.error(f"{path!r} has a name twice", double[0])
    return tuple(names)


def check_finite(file: CheckedFile, path: str, values: Any) -> None:
    """Raise MechanismError for numbers that are not finite."""
    wrong = np.asarray(values)[~np.isfinite(values)]
    if wrong.size:
        raise file.error(f"{path!r} must be finite", float(wrong.flat[0]))


def check_within(file: CheckedFile, path: str, numbers: list[int], least: int, end: int) -> None:
    """Raise MechanismError for numbers below `least`, and from `end` on."""
    for number in numbers:
        if not least <= number < end:
            raise file.error(f"{path!r} must be from {least} to {end - 1}", number)
