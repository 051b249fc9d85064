"""Unix sockets that belong to this user alone, and the folder for them."""

from __future__ import annotations

import os
import secrets
import socket
import stat
import tempfile
from pathlib import Path
from typing import Final

from bellcrank.errors import Fault, MechanismError
from bellcrank.ownership import OTHERS, is_own

_LONGEST: Final = 100  # bytes that the path of a Unix socket may have on all systems


def runtime_folder() -> Path:
    """The folder of the user's sockets, which nobody else may enter; it is created if necessary.

    Raises MechanismError if it cannot be created, or belongs to somebody else.
    """
    if not hasattr(socket, "AF_UNIX"):
        raise MechanismError(
            Fault(
                "listen",
                "this system has no Unix sockets",
                None,
                "listen at HOST:PORT, such as localhost:7070",
            )
        )
    given = os.environ.get("XDG_RUNTIME_DIR", "")
    base = Path(given) if given and Path(given).is_dir() else Path(tempfile.gettempdir())
    folder = base / ("bellcrank" if given and base == Path(given) else f"bellcrank-{os.getuid()}")
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        raise MechanismError(Fault(f"folder '{folder}'", f"it cannot be made: {error}")) from error
    if not stat.S_ISDIR(found.st_mode) or not is_own(found, OTHERS):
        rule = "others may enter it, or it is no folder of yours"
        raise MechanismError(
            Fault(f"folder '{folder}'", rule, None, "remove it, or give the path of a socket")
        )
    return folder


def free_path(kind: str) -> Path:
    """A path in `runtime_folder` that is free.

    Sockets of this kind that processes left there when they were killed are removed. Raises MechanismError as
    `runtime_folder` does.
    """
    folder = runtime_folder()
    for left in folder.glob(f"{kind}-*"):
        process = left.name.split("-")[1]
        if process.isdecimal() and not _runs(int(process)) and not _answers(left):
            left.unlink(missing_ok=True)
    return folder / f"{kind}-{os.getpid()}-{secrets.token_hex(4)}"


def unix_socket(path: Path) -> socket.socket:
    """A Unix socket that listens at a path, for its owner alone. Raises OSError, MechanismError."""
    if not hasattr(socket, "AF_UNIX"):
        raise OSError("this system has no Unix sockets")
    if len(os.fsencode(path)) > _LONGEST:
        advice = "give a shorter one; XDG_RUNTIME_DIR names the folder of those that are not given"
        raise MechanismError(Fault("listen", f"the path has more than {_LONGEST} bytes", str(path), advice))
    if path.exists() and stat.S_ISSOCK(path.lstat().st_mode) and not _answers(path):
        path.unlink()  # of a process that is gone
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)  # so that it never exists with other rights than these
    try:
        listening.bind(str(path))
    except OSError:
        listening.close()
        raise
    finally:
        os.umask(before)
    listening.listen()
    return listening


def _answers(path: Path) -> bool:
    """Whether somebody listens at a path."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as trial:
        trial.settimeout(1.0)
        try:
            trial.connect(str(path))
        except OSError:
            return False
    return True


def _runs(process: int) -> bool:
    """Whether there is a process of this number; those of containers that share the folder have others."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
