"""Front ends of a live session that use the command language: a terminal, or a program at the end of a pipe.

Each executes lines in the one shell of the session, and sees what the others do.
"""

from __future__ import annotations

import json
import sys
import time
from threading import Event, Thread
from typing import Any, BinaryIO, Final, Self

from bellcrank.errors import BellcrankError, Fault, MechanismError
from bellcrank.shell import drivers
from bellcrank.shell.reply import Reply, failure
from bellcrank.viewer.feed import Feed, command_of, poses_of
from bellcrank.viewer.session import Session

_RATE: Final = 30.0  # poses a second, at most


class Attached:
    """Executes command lines in a live session as a shell does. name: shown to others as the author.

    Raises MechanismError for a session that plays a recorded run.
    """

    def __init__(self, live: Session, name: str) -> None:
        if live.bench is None:
            raise MechanismError(Fault("session", "it plays a recorded run, in which nothing can be changed"))
        self.live, self.name, self._bench = live, name, live.bench

    def complete(self, begun: str) -> list[str]:
        """The words that may complete the last word of a line."""
        return self._bench.shell.complete(begun)

    def execute(self, line: str) -> Reply:
        """Execute a command line. Ctrl-C ends what it runs."""
        answer = self.live.send("execute", line=line, by=self.name)
        try:
            return self._reply(answer)
        except KeyboardInterrupt:
            self.live.send("pause")
            return self._reply(answer)

    @staticmethod
    def _reply(answer: Any) -> Reply:
        try:
            reply: Reply = answer.result()
        except BellcrankError as error:
            return failure(error)
        return reply


class Telling:
    """Writes what others do in a session to standard output, until it is closed; as lines of JSON or as text.

    poses: whether to write the poses of the bodies, at most thirty times a second, while they move.
    """

    def __init__(self, attached: Attached, as_json: bool, poses: bool = False) -> None:
        self._attached, self._as_json, self._poses = attached, as_json, poses
        self._number = attached.live.snapshot.number
        self._feed = Feed(attached.live, attached.name)
        self._ends = Event()
        self._thread = Thread(target=self._work, name="bellcrank tells", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        self._thread.join(2.0)
        self._feed.close()

    def _work(self) -> None:
        while not self._ends.is_set():
            begun = time.perf_counter()
            now = self._attached.live.newer(self._number, 0.1)
            if now.number == self._number:
                continue
            self._number = now.number
            for line in self._entries():
                sys.stdout.write(f"{line}\n")
            if self._poses:
                sys.stdout.write(f"{json.dumps(poses_of(now))}\n")
            sys.stdout.flush()
            self._ends.wait(max(0.0, 1.0 / _RATE - (time.perf_counter() - begun)))

    def _entries(self) -> list[str]:
        """What others did since the last call."""
        others, lost = self._feed.take()
        if self._as_json:
            more = [json.dumps({"event": "lost", "count": lost})] if lost else []
            return [*(command_of(one) for one in others), *more]
        more = [f"; and {lost} more lines of others"] if lost else []
        return [
            *(f"; {one.by or 'another'}: {one.line}{'' if one.ok else '   ; refused'}" for one in others),
            *more,
        ]


def terminal(live: Session) -> int:
    """Execute command lines typed at a terminal; return the exit status."""
    attached = Attached(live, "terminal")
    with Telling(attached, as_json=False):
        return drivers.interactive(attached)


def pipe(live: Session, stream: BinaryIO, as_json: bool, poses: bool = False) -> int:
    """Execute what another program writes, until it closes the stream; return the exit status."""
    attached = Attached(live, "pipe")
    with Telling(attached, as_json, poses):
        return drivers.answer(attached, drivers.received(stream), "<stdin>", as_json, keep_going=True)
