"""A private file of a run, which is locked against others while it is written, under whatever name.

A writer holds a shared lock (`flock`) on its file; replacing it requires an exclusive one. Locks belong to
the file and not to its name, and end with the process, however it ends. HDF5 takes such locks too: other
programs are kept from writing, but not from reading.
"""

from __future__ import annotations

import errno
import os
import shutil
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from bellcrank.errors import Fault, MechanismError
from bellcrank.whole_files import Draft, is_at, locked, taken

RUN_SUFFIXES: Final = (".h5", ".hdf5")
"""How files of runs end."""

_NO_RESERVATION: Final = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP)


class OwnFile(Draft):
    """A draft of a run's file, which takes its name at any time, and may be written further under it.

    replaceable: checks an existing file of that name and raises MechanismError if it must not be replaced.
    replace: whether an existing file may be replaced at all.

    Raises MechanismError if no file can be made there, OSError as the system says.
    """

    def __init__(self, path: Path, replaceable: Callable[[Path], None], replace: bool = True) -> None:
        self._fd = -1
        check_place(path)
        self._given, self.path = path, Path(os.path.realpath(path))
        self._replaceable, self._may_replace = replaceable, replace
        with self._claimed():  # so that it is refused before any work is done
            pass
        super().__init__(path)
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

    def take_name(self, replace: bool = True) -> bool:
        """Give the file its name, atomically, replacing an existing file if that is allowed.

        Raises MechanismError if another run is recorded under this name, or it must not be replaced.
        """
        done = False
        while not done:
            with self._claimed() as exists:
                done = super().take_name(replace and exists)
        return done

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
                if not locked(held, shared=False):
                    rule = "another run is being recorded into it, or another program has it open"
                    advice = "wait for its end, or choose another name"
                    raise MechanismError(Fault(f"file '{self.path}'", rule, None, advice))
                if not self._may_replace:
                    raise taken(self._given)
                if is_at(held, self.path):
                    yield True
                    return
            finally:
                os.close(held)


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


def check_recorded(path: str | Path | None) -> None:
    """Raise MechanismError for a path to which no run can be recorded while it is computed."""
    if path is None:
        return
    check_place(path)
    if not is_run(path):
        rule, advice = "runs are recorded into HDF5 files", f"end its name in {' or '.join(RUN_SUFFIXES)}; "
        advice += "run.save writes other kinds once the run has ended"
        raise MechanismError(Fault(f"file '{path}'", rule, Path(path).suffix, advice))


def is_run(path: str | Path) -> bool:
    """Whether a file is named like a run."""
    return Path(path).suffix.lower() in RUN_SUFFIXES
