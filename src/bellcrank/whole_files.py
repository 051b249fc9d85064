"""The door for files that are written: they are replaced whole, or not at all.

What is written goes into a *draft*, a file in the same folder under a hidden name, which takes the name of
the file once it is complete and on the disk. If that fails, the draft is removed and the file is what it was.
Links are followed, a replaced file's permissions are kept, and devices and pipes are written to directly.

A draft is locked (`flock`) while its process lives, however it ends. So the next one to write the same file
recognises what a killed process left, and removes it.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

from bellcrank.errors import BellcrankError, Fault, MechanismError, NotWritten

if sys.platform != "win32":
    import fcntl

__all__ = ["Draft", "is_at", "locked", "taken", "whole_file", "write_together", "write_whole"]

_LEFT_SECONDS: Final = 3600.0
"""The age from which on a draft was left by a process, where there are no locks."""
_DRAFT: Final = 12 + len(".part")
"""Characters that the name of a draft has behind its stem."""
_NO_LOCKS: Final = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
_NO_LINKS: Final = (errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.EMLINK)
_NO_SYNC: Final = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP)


def write_whole(path: str | os.PathLike[str], content: str | bytes, replace: bool = True) -> None:
    """Write a file, texts in UTF-8; see `whole_file`.

    >>> write_whole("pendulum.txt", "a pendulum")
    """
    with whole_file(path, replace) as draft:
        draft.write_bytes(content if isinstance(content, bytes) else content.encode())


def write_together(contents: Mapping[Path, str | bytes]) -> None:
    """Write several files; none takes its name before all are written. Raises the errors of `whole_file`."""
    with ExitStack() as stack:
        for path, content in contents.items():
            draft = stack.enter_context(whole_file(path))
            with _named(path):
                draft.write_bytes(content if isinstance(content, bytes) else content.encode())


@contextmanager
def whole_file(path: str | os.PathLike[str], replace: bool = True) -> Iterator[Path]:
    """Context for writing a file, which gives the path to write to; at its end the file takes its name.

    replace: whether it may replace an existing file. The file given is there, empty and locked against its
    removal; programs that lock what they write (HDF5) must not lock it.

    Raises MechanismError if the file exists and must not be replaced; NotWritten, which is an OSError as
    well, if it cannot be written. An existing file is then unchanged.
    """
    where = Path(path)
    with _named(where):
        if where.exists() and not where.is_file() and not where.is_dir():
            yield where
            return
        if not replace and os.path.lexists(where):
            raise taken(where)
        draft = Draft(where)
        try:
            yield draft.now
            draft.sync()
            if not draft.take_name(replace):
                raise taken(where)
        finally:
            draft.release()


def taken(path: Path) -> MechanismError:
    """The error for a file that exists and must not be replaced."""
    advice = "choose another name, or allow it with replace=True"
    return MechanismError(Fault(f"file '{path}'", "it exists already", None, advice))


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Context whose errors of the system name the file."""
    try:
        yield
    except OSError as error:
        if isinstance(error, BellcrankError):
            raise
        raise NotWritten(str(path), error.errno, error.strerror or str(error)) from error
    except UnicodeEncodeError as error:
        reason = f"the character {error.object[error.start]!r} is not in {error.encoding}"
        raise NotWritten(str(path), errno.EILSEQ, reason) from error


class Draft:
    """A new file beside `path`, locked, under a hidden name until it takes its own.

    What processes that are gone left of others for the same path is removed. Raises OSError as the system
    says, also for a file that must not be written.
    """

    def __init__(self, path: Path) -> None:
        self._fd = -1
        self.path = Path(os.path.realpath(path))
        if self.path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if self.path.exists() and not os.access(self.path, os.W_OK):  # a renaming would not notice
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        stem = f".{self.path.name[:40]}."
        _remove_left(self.path.parent, stem)
        while self._fd < 0:
            self.now = self.path.with_name(f"{stem}{uuid.uuid4().hex[:12]}.part")
            self._fd = os.open(
                self.now, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666
            )
            # Before it was locked, another process may have taken it for what was left.
            if not self.lock() or not is_at(self._fd, self.now):
                os.close(self._fd)
                self._fd = -1

    def lock(self) -> bool:
        """Mark the file as being written, until it is released or this process ends; False if it is lost."""
        return locked(self._fd, shared=True)

    def unlock(self) -> None:
        """Undo `lock`; closing the file does not while a forked process has a copy of the descriptor."""
        if sys.platform != "win32":
            with suppress(OSError):
                fcntl.flock(self._fd, fcntl.LOCK_UN)

    def sync(self) -> None:
        """Wait until the content is on the disk, so that no failure of power leaves the name without it."""
        try:
            os.fsync(self._fd)
        except OSError as error:
            if error.errno not in _NO_SYNC:
                raise

    def take_name(self, replace: bool = True) -> bool:
        """Give the file its name, atomically; False if another has it that must not be replaced."""
        done = self._replace() if replace else self._link()
        if done:
            self.now = self.path
            _sync_folder(self.path.parent)
        return done

    def _replace(self) -> bool:
        with suppress(FileNotFoundError):
            self.now.chmod(stat.S_IMODE(self.path.stat().st_mode))
        self.now.replace(self.path)
        return True

    def _link(self) -> bool:
        """Take a free name: a link fails, other than a renaming, where there is a file."""
        try:
            os.link(self.now, self.path)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            return not self.path.exists() and self._replace()
        self.now.unlink()
        return True

    @property
    def is_there(self) -> bool:
        """Whether the file still is where it was put."""
        return is_at(self._fd, self.now)

    def release(self) -> None:
        """Release the name to others; a file that has not taken its name is removed."""
        if self._fd < 0:
            return
        if self.now != self.path:
            self.now.unlink(missing_ok=True)
        self.unlock()
        os.close(self._fd)
        self._fd = -1

    def __del__(self) -> None:
        self.release()


def locked(descriptor: int, shared: bool) -> bool:
    """Whether a lock was obtained; always true on Windows and on file systems without locks."""
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


def is_at(descriptor: int, path: Path) -> bool:
    """Whether a path leads to the file that is open."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _remove_left(folder: Path, stem: str) -> None:
    """Remove drafts of processes that are gone."""
    try:
        names = [entry.name for entry in os.scandir(folder)]
    except OSError:  # what is written there next says why
        return
    for name in names:  # no pattern: each would be compiled and kept for a file that is written once
        if not (name.startswith(stem) and name.endswith(".part") and len(name) == len(stem) + _DRAFT):
            continue
        left = folder / name
        with suppress(OSError):  # another may be faster, or own it
            held = os.open(left, os.O_RDONLY)
            try:
                if _is_left(held):
                    left.unlink()
            finally:
                os.close(held)


def _is_left(descriptor: int) -> bool:
    """Whether nobody writes a draft any more; its lock says that, or else its age."""
    if sys.platform != "win32":
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                return False
    return time.time() - os.fstat(descriptor).st_mtime > _LEFT_SECONDS


def _sync_folder(folder: Path) -> None:
    """Wait until a new name is on the disk, where folders can be opened."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
