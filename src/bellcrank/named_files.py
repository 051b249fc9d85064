"""The door for files that are named by others: in files that are read, and in commands from afar.

All readers of such files pass it. `content_of` reads one, up to a number of bytes; `opened` opens one;
`admit` decides on a name that is read later or by another library. Who reads bounds what the bytes expand to,
before they are decoded. Where reading is confined to a folder, as in live sessions, nothing outside is read.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from bellcrank.errors import Fault, MechanismError, NotFound
from bellcrank.slips import alike

__all__ = ["admit", "confined", "confining_folder", "content_of", "is_admitted", "opened", "refuse_pointer"]

_POINTER = b"version https://git-lfs.github.com/spec/"
"""What a file begins with that Git LFS keeps elsewhere, where that file was not downloaded."""


@dataclass(frozen=True)
class _Confinement:
    """The folder, and single files beside it, as real paths."""

    folder: str
    known: frozenset[str]


_confinement: ContextVar[_Confinement | None] = ContextVar("bellcrank_confinement", default=None)


@contextmanager
def confined(folder: str | os.PathLike[str], known: Iterable[str | os.PathLike[str]] = ()) -> Iterator[None]:
    """Admit only files in a folder, subfolders included, in this thread while the context lasts.

    known: files elsewhere that are admitted nevertheless, since who confines has named them himself.
    """
    files = frozenset(os.path.realpath(path) for path in known)
    before = _confinement.set(_Confinement(os.path.realpath(folder), files))
    try:
        yield
    finally:
        _confinement.reset(before)


def confining_folder() -> str | None:
    """The folder to which reading is confined at present."""
    found = _confinement.get()
    return None if found is None else found.folder


def is_admitted(path: str | os.PathLike[str]) -> bool:
    """Whether a file may be read, once links are followed; whether it exists does not matter."""
    found = _confinement.get()
    if found is None:
        return True
    real = os.path.realpath(path)
    return real in found.known or Path(real).is_relative_to(found.folder)


def admit(path: str | os.PathLike[str]) -> None:
    """Raise MechanismError for a file that must not be read."""
    if not is_admitted(path):
        rule = f"it lies outside the folder {confining_folder()!r}, which is the only one to read from"
        raise MechanismError(Fault(f"file '{os.fspath(path)}'", rule, None, "copy it there"))


@contextmanager
def opened(path: str | os.PathLike[str], element: str) -> Iterator[BinaryIO]:
    """A file open for reading.

    Raises MechanismError about the element for a file that is not admitted, or is a device, a pipe or a
    socket; OSError for one that is missing or cannot be read.
    """
    admit(path)
    # A pipe without a writer must not stop us. The open file is judged: its name may be another's later.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        number = os.open(path, flags)
    except FileNotFoundError:
        raise NotFound(os.fspath(path), _beside(path)) from None
    except OSError as error:
        if error.errno != errno.ENXIO:  # what opening a socket gives
            raise
        raise _no_file(element) from None
    try:
        mode = os.fstat(number).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
        if not stat.S_ISREG(mode):
            raise _no_file(element)
        with os.fdopen(number, "rb", closefd=False) as file:
            if file.read(len(_POINTER)) == _POINTER:
                raise _pointer(element)
            file.seek(0)
            yield file
    finally:
        os.close(number)


def _beside(path: str | os.PathLike[str]) -> str:
    """Advice on a file that is not there: what lies beside it and has a name like it."""
    given = Path(path)
    if _confinement.get() is None:
        with suppress(OSError):
            beside = [one.name for one in given.parent.iterdir()]
            if close := alike(given.name, beside):
                return f"did you mean {' or '.join(repr(str(given.with_name(one))) for one in close)}?"
    return "check its path" if given.is_absolute() else f"its path begins at {str(Path.cwd())!r}"


def content_of(path: str | os.PathLike[str], element: str, most: int) -> bytes:
    """The bytes of a file, which may have `most`. Raises the errors of `opened`, and for a larger file."""
    with opened(path, element) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise MechanismError(Fault(element, f"the file has {size} bytes, more than {most}"))
        content = file.read(most + 1)
    if len(content) > most:  # it grew meanwhile
        raise MechanismError(Fault(element, f"the file has more than {most} bytes"))
    return content


def refuse_pointer(path: str | os.PathLike[str], element: str) -> None:
    """Raise MechanismError about the element for a Git LFS pointer, where another library reads the file."""
    try:
        with opened(path, element):
            return
    except OSError:
        return  # whoever reads the file says so


def _pointer(element: str) -> MechanismError:
    rule = "this is no file but a pointer of Git LFS to one, which was not downloaded"
    return MechanismError(Fault(element, rule, None, "run `git lfs pull` in its repository"))


def _no_file(element: str) -> MechanismError:
    return MechanismError(Fault(element, "this is no file but a device, a pipe or a socket"))
