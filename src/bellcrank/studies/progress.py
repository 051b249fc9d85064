"""Progress of a study: a bar on the terminal, or a function of the caller."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Bar


class CountProgress:
    """Counts what is done; a context manager.

    wanted: None for a bar on a terminal, True, False, or a function of the fraction done.
    total: None where it is not known.
    """

    def __init__(self, wanted: bool | Callable[[float], None] | None, what: str, total: int | None) -> None:
        self._wanted = sys.stderr.isatty() if wanted is None else wanted
        self._what = what
        self._total = total
        self._done = self._failed = 0
        self._bar: Bar | None = None

    def __enter__(self) -> CountProgress:
        if self._wanted is True:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeRemainingColumn(),
            )
            self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
            self._bar.add_task(self._what, total=self._total)
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def add(self, done: int, failed: int = 0) -> None:
        """Count points that are done, and those of them that failed."""
        self._done += done
        self._failed += failed
        if self._bar is not None:
            failures = f", {self._failed} failed" if self._failed else ""
            self._bar.update(
                self._bar.task_ids[0], completed=self._done, description=f"{self._what}{failures}"
            )
        elif callable(self._wanted) and self._total:
            self._wanted(min(1.0, self._done / self._total))
