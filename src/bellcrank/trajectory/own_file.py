"""A private file, which takes its name when it is complete and is locked against others while it is written.

A writer holds a shared lock (`flock`) on its file; replacing it requires an exclusive one. Locks belong to
the file and not to its name, and end with the process, however it ends. HDF5 takes such locks too: other
programs are kept from writing, but not from reading.
"""

from __future__ import annotations

import errno
import os
import shutil
import struct
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import Final, TextIO

from bellcrank.errors import Fault, MechanismError

if sys.platform != "win32":
    import fcntl

RUN_SUFFIXES: Final = (".h5", ".hdf5")
"""How files of runs end."""

_LEFT_SECONDS: Final = 60.0  # a file without a lock that is older than this was left by a killed process
_NO_LOCKS: Final = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
_NO_LINKS: Final = (errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.EMLINK)
_NO_RESERVATION: Final = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP)


class OwnFile:
    """A new file in the folder of `path`, under a unique temporary name until it takes its own name.

    replaceable: checks an existing file of that name and raises MechanismError if it must not be replaced.

    Raises MechanismError if no file can be made there, OSError as the system says.
    """

    def __init__(self, path: Path, replaceable: Callable[[Path], None]) -> None:
        self._fd = -1
        check_place(path)
        self.path = Path(os.path.realpath(path))
        self._replaceable = replaceable
        with self._claimed():  # so that it is refused before any work is done
            pass
        stem = f".{self.path.name[:40]}."
        self._remove_left(stem)
        self.now = self.path.with_name(f"{stem}{uuid.uuid4().hex[:12]}.part")
        self._fd = os.open(self.now, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        self._reserved = 0

    def begin(self, content: bytes) -> None:
        """Write the beginning of the file. Raises OSError if there is no room."""
        if os.pwrite(self._fd, content, 0) != len(content):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def reserve(self, size: int) -> None:
        """Ensure that the file can grow to this number of bytes. Raises OSError if it cannot."""
        if size <= self._reserved:
            return
        try:
            os.posix_fallocate(self._fd, 0, size)
        except (AttributeError, OSError) as error:  # some systems and file systems cannot
            if isinstance(error, OSError) and error.errno not in _NO_RESERVATION:
                raise
            if shutil.disk_usage(self.path.parent).free < size - self._reserved:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from None
            os.ftruncate(self._fd, max(size, os.fstat(self._fd).st_size))  # fails where the size is limited
        self._reserved = size

    def trim(self) -> None:
        """Release the space reserved beyond the end that the closed file's superblock states."""
        with suppress(OSError):  # a longer file is as good
            os.ftruncate(self._fd, struct.unpack("<Q", os.pread(self._fd, 8, 28))[0])

    def lock(self) -> None:
        """Mark the file as being written, until it is released or this process ends."""
        _lock(self._fd, shared=True)

    def take_name(self) -> None:
        """Give the file its name, atomically, replacing an existing file if that is allowed.

        Raises MechanismError if another run is recorded under this name.
        """
        taken = False
        while not taken:
            with self._claimed() as exists:
                if exists:
                    self.now.replace(self.path)
                    taken = True
                else:
                    taken = self._take_free_name()
        self.now = self.path

    def _take_free_name(self) -> bool:
        """Whether the name was still free; a link fails, other than a renaming, where there is a file."""
        try:
            os.link(self.now, self.path)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            self.now.replace(self.path)
            return True
        self.now.unlink()
        return True

    @property
    def is_there(self) -> bool:
        """Whether the file still is where it was put."""
        return _is_at(self._fd, self.now)

    def release(self) -> None:
        """Release the name to others; a file that has not taken its name is removed."""
        if self._fd < 0:
            return
        if self.now != self.path:
            self.now.unlink(missing_ok=True)
        if sys.platform != "win32":
            with suppress(OSError):  # by name, for a forked process may have a copy of the descriptor
                fcntl.flock(self._fd, fcntl.LOCK_UN)
        os.close(self._fd)
        self._fd = -1

    def __del__(self) -> None:
        self.release()

    @contextmanager
    def _claimed(self) -> Iterator[bool]:
        """Lock the file that has the name, if there is one, against writing and replacement by others.

        Raises MechanismError if it is being written or must not be replaced.
        """
        while True:
            try:
                held = os.open(self.path, os.O_RDONLY)
            except FileNotFoundError:
                yield False
                return
            try:
                self._replaceable(self.path)  # before the lock, which HDF5 might want to share
                if not _lock(held, shared=False):
                    rule = "another run is being recorded into it, or another program has it open"
                    advice = "wait for its end, or choose another name"
                    raise MechanismError(Fault(f"file '{self.path}'", rule, None, advice))
                if _is_at(held, self.path):
                    yield True
                    return
            finally:
                os.close(held)

    def _remove_left(self, stem: str) -> None:
        """Remove temporary files for this name left by killed processes."""
        for left in self.path.parent.glob(f"{escape(stem)}????????????.part"):
            with suppress(OSError):  # another may be faster, or own it
                held = os.open(left, os.O_RDONLY)
                try:
                    if time.time() - os.fstat(held).st_mtime > _LEFT_SECONDS and _lock(held, shared=False):
                        left.unlink()
                finally:
                    os.close(held)


@contextmanager
def replacing(path: Path) -> Iterator[TextIO]:
    """A text file to write, which replaces `path` when it is complete. Devices are written to directly.

    Raises OSError as the system says.
    """
    if path.exists() and not path.is_file():
        with path.open("w", encoding="utf-8") as file:
            yield file
        return
    real = Path(os.path.realpath(path))
    own = real.with_name(f".{real.name[:40]}.{uuid.uuid4().hex[:12]}.part")
    try:
        with own.open("x", encoding="utf-8") as file:
            yield file
        own.replace(real)
    finally:
        own.unlink(missing_ok=True)


def check_place(path: str | Path) -> None:
    """Raise MechanismError if no file can be made at `path` because its folder is missing."""
    where = Path(path)
    if where.is_dir():
        raise MechanismError(
            Fault(f"file '{path}'", "this is a folder", None, "give the name of a file in it")
        )
    if not where.absolute().parent.is_dir():
        rule = f"the folder '{where.parent}' does not exist"
        raise MechanismError(Fault(f"file '{path}'", rule, None, "make it, or choose another"))
    if where.exists() and not where.is_file():
        raise MechanismError(Fault(f"file '{path}'", "this is a device, not a file", None, "choose another"))


def _lock(descriptor: int, shared: bool) -> bool:
    """Whether the lock was obtained; always true on Windows and on file systems without locks."""
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
    return True


def _is_at(descriptor: int, path: Path) -> bool:
    """Whether a path leads to the file that is open."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def is_run(path: str | Path) -> bool:
    """Whether a file is named like a run."""
    return Path(path).suffix.lower() in RUN_SUFFIXES
