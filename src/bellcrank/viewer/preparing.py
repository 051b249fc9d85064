"""Slow preparations, made in a background thread while the run goes on."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import Final

from bellcrank.errors import BellcrankError
from bellcrank.run.run import Run

_PATIENCE: Final = 0.01  # s; what is ready by then is taken over at once


class Preparing:
    """One preparation at a time; a later one replaces it.

    background: in a thread; else everything is done at once.
    what: is being prepared, in words; "" for nothing. last: what was, when something was taken up last.
    """

    def __init__(self, background: bool = True) -> None:
        self._background = background
        self._ready: Future[Run] | None = None
        self._take_over: Callable[[Run], None] = lambda _run: None
        self.what = self.last = ""

    def begin(self, what: str, prepare: Callable[[], Run], take_over: Callable[[Run], None]) -> None:
        """Prepare a run, then call take_over in the thread that calls `take_up`; now, if it is quick."""
        if not self._background:
            take_over(prepare())
            return
        self.what, self._take_over, self._ready = what, take_over, Future()
        Thread(target=_fill, args=(self._ready, prepare), name="bellcrank prepares", daemon=True).start()
        try:
            self._ready.exception(timeout=_PATIENCE)
        except TimeoutError:
            return
        self.take_up()

    def take_up(self) -> None:
        """Go on with what is ready. Raises what was raised where it was prepared, or taken over."""
        if self._ready is None or not self._ready.done():
            return
        ready, take_over, self.last = self._ready, self._take_over, self.what
        self.forget()
        take_over(ready.result())

    def finish(self) -> None:
        """Wait for what is being prepared, and go on with it. Raises as `take_up`."""
        if self._ready is not None:
            self._ready.exception()
            self.take_up()

    def forget(self) -> None:
        """Take nothing of what is being prepared."""
        self._ready, self.what = None, ""


def _fill(ready: Future[Run], prepare: Callable[[], Run]) -> None:
    try:
        ready.set_result(prepare())
    except BellcrankError as error:
        ready.set_exception(error)
    except Exception as error:  # noqa: BLE001  (a thread of its own has nobody to raise it to)
        ready.set_exception(BellcrankError(f"{type(error).__name__}: {error}"))
