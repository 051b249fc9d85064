"""Progress of a run: a bar on the terminal, or a function given by the caller."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID


class Progress:
    """A context manager that shows the progress of a run.

    wanted: False for nothing, True for a bar on standard error, or a function that takes the fraction done.
    """

    def __init__(self, wanted: bool | Callable[[float], None], start: float, duration: float) -> None:
        self._wanted = wanted
        self._start = start
        self._duration = duration
        self._bar: Bar | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Progress:
        if self._wanted is True:
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
            self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task("simulating", total=1.0)
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def at(self, time: float) -> None:
        """Report that the run has reached this time."""
        if self._wanted is False:
            return
        fraction = (time - self._start) / self._duration
        if self._bar is not None and self._task is not None:
            description = f"t = {time:.4g} s"
            self._bar.update(self._task, completed=fraction, description=description)
        elif callable(self._wanted):
            self._wanted(fraction)
