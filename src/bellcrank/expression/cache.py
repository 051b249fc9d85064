"""A cache of object code on disk, keyed by its source.

The files lie in the user's cache directory (`bellcrank` under $XDG_CACHE_HOME or ~/.cache, ~/Library/Caches,
%LOCALAPPDATA%). The environment variable BELLCRANK_CACHE names another directory, or is `off`. The cache is
optional: files that are missing, damaged or cannot be written only cost time.

What is loaded is executed. So neither the directory nor a file is used that belongs to another user, or that
another user may change.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from contextlib import suppress
from pathlib import Path

from bellcrank.ownership import OTHERS_WRITE, is_own
from bellcrank.whole_files import write_whole

__all__ = ["VARIABLE", "directory", "key_of", "load", "store"]

VARIABLE = "BELLCRANK_CACHE"
LIMIT = 256 << 20
"""Bytes beyond which the files used longest ago are removed."""

_MARK = b"bellcrank object 2\n"


def directory() -> Path | None:
    """The directory of the files, or None if the cache is off."""
    given = os.environ.get(VARIABLE)
    if given is not None:
        return None if given in ("", "off") else Path(given)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "bellcrank"


def key_of(*parts: str) -> str:
    """A key computed from the given texts."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{len(part)}\n".encode())
        digest.update(part.encode())
    return digest.hexdigest()


def load(key: str) -> bytes | None:
    """The data stored under a key; None if there is none, it is damaged, or others may have written it."""
    place = directory()
    if place is None:
        return None
    path = place / f"{key}.o"
    content = _own_content(place, path)
    start = len(_MARK) + 32
    payload = content[start:]
    if not content.startswith(_MARK) or hashlib.sha256(payload).digest() != content[len(_MARK) : start]:
        return None
    with suppress(OSError):
        os.utime(path)  # mark as recently used
    return payload


def _own_content(place: Path, path: Path) -> bytes:
    """The content of a file of this user's; empty where it, or its directory, is not this user's alone."""
    # What is judged is the open file itself: its name may be another file's by the time it is read. A named
    # pipe must not stop us, nor may a link refer to a file elsewhere.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
    flags |= getattr(os, "O_BINARY", 0)
    with suppress(OSError):
        if not is_own(place.stat(), OTHERS_WRITE):
            return b""
        with os.fdopen(os.open(path, flags), "rb") as file:
            about = os.fstat(file.fileno())
            if stat.S_ISREG(about.st_mode) and is_own(about, OTHERS_WRITE):
                return file.read()
    return b""


def store(key: str, payload: bytes) -> None:
    """Store the payload atomically: other processes see all of it or nothing.

    Nothing is stored in a directory that `load` would not use.
    """
    place = directory()
    if place is None:
        return
    with suppress(OSError):
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not is_own(place.stat(), OTHERS_WRITE):
            return
        write_whole(place / f"{key}.o", _MARK + hashlib.sha256(payload).digest() + payload)
        _make_room(place)


def _make_room(place: Path) -> None:
    files = []
    for path in place.glob("*.o"):
        with suppress(OSError):
            about = path.stat()
            files.append((about.st_mtime, about.st_size, path))
    excess = sum(size for _, size, _ in files) - LIMIT
    for _, size, path in sorted(files, key=lambda file: file[0]):
        if excess <= 0:
            return
        with suppress(OSError):
            path.unlink()
            excess -= size
