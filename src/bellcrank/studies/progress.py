"""Progress of a study: how many of its points are done, and how many of them failed."""

from __future__ import annotations

import sys
from collections.abc import Callable

from bellcrank.progress import ProgressBar


class CountProgress(ProgressBar):
    """Counts what is done; a context manager.

    wanted: None for a bar on a terminal, True, False, or a function of the fraction done.
    total: None where it is not known.
    """

    def __init__(self, wanted: bool | Callable[[float], None] | None, what: str, total: int | None) -> None:
        super().__init__(sys.stderr.isatty() if wanted is None else wanted, what, total, counted=True)
        self._done = self._failed = 0

    def add(self, done: int, failed: int = 0) -> None:
        """Count points that are done, and those of them that failed."""
        self._done += done
        self._failed += failed
        failures = f", {self._failed} failed" if self._failed else ""
        self.show(self._done, f"{self._what}{failures}")
