"""Progress: a bar on the terminal, or a function of the caller."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from typing import Self

    from rich.progress import Progress as Bar


class _Line:
    """A bar for notebooks without widgets: per cent in a line that is written over and cleared at the end."""

    def __init__(self) -> None:
        self._shown = -1

    def show(self, done: float) -> None:
        """Report the fraction done."""
        per_cent = int(100 * done)
        if per_cent != self._shown:
            self._shown = per_cent
            sys.stderr.write(f"\r{per_cent:3d} %")
            sys.stderr.flush()

    def stop(self) -> None:
        """Clear the line."""
        sys.stderr.write("\r     \r")


class ProgressBar:
    """Shows how much is done; a context manager.

    wanted: False for nothing, True for a bar on standard error, or a function that takes the fraction done.
    total: None where it is not known. counted: whether the bar shows how many of how many.
    """

    def __init__(
        self, wanted: bool | Callable[[float], None], what: str, total: float | None, counted: bool
    ) -> None:
        self._wanted, self._what, self._total, self._counted = wanted, what, total, counted
        self._bar: Bar | None = None
        self._line: _Line | None = None

    def __enter__(self) -> Self:
        if self._wanted is True:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            console = Console(stderr=True)
            if console.is_jupyter and find_spec("ipywidgets") is None:  # for which rich asks in each cell
                self._line = _Line()
                self._wanted = self._line.show
                return self
            counts = (MofNCompleteColumn(),) if self._counted else ()
            columns = (TextColumn("{task.description}"), BarColumn(), *counts, TimeRemainingColumn())
            self._bar = Bar(*columns, console=console, transient=True)
            self._bar.add_task(self._what, total=self._total)
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for shown in (self._bar, self._line):
            if shown is not None:
                shown.stop()

    def show(self, done: float, text: str) -> None:
        """Report how much of the total is done, in a bar with this text."""
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=done, description=text)
        elif callable(self._wanted) and self._total:
            self._wanted(min(1.0, done / self._total))


class Progress(ProgressBar):
    """The progress of a run from a start, for a duration, s."""

    def __init__(self, wanted: bool | Callable[[float], None], start: float, duration: float) -> None:
        super().__init__(wanted, "simulating", 1.0, counted=False)
        self._start, self._duration = start, duration

    def at(self, time: float) -> None:
        """Report that the run has reached this time."""
        if self._wanted is not False:
            self.show((time - self._start) / self._duration, f"t = {time:.4g} s")
