"""Whether files and folders belong to this user alone; on systems without owners of that kind all do."""

from __future__ import annotations

import os

__all__ = ["OTHERS", "OTHERS_WRITE", "is_own"]

OTHERS = 0o077
"""Rights of anybody else."""
OTHERS_WRITE = 0o022
"""Rights of anybody else to change it."""


def is_own(found: os.stat_result, refused: int) -> bool:
    """Whether something belongs to this user and gives nobody else a right of `refused`."""
    if not hasattr(os, "getuid"):
        return True
    return found.st_uid == os.getuid() and not found.st_mode & refused
