"""The events of a session, for a front end that reads at its own pace."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Sequence
from threading import Lock
from typing import Any, Final, Self

from bellcrank.viewer.session import Session
from bellcrank.viewer.snapshot import Entry, Snapshot

_MOST: Final = 20_000  # entries that wait for a front end to read them


class Feed:
    """Command lines of others, each once and in order, from when it is opened until it is closed.

    name: of the front end; its own lines are left out. Nothing here waits for the reader: beyond 20,000
    entries the later ones are counted only.
    """

    def __init__(self, live: Session, name: str) -> None:
        self._live, self._name = live, name
        self._lock, self._waiting, self._lost = Lock(), deque[Entry](), 0
        if live.bench is not None:
            live.bench.followers.append(self._keep)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop collecting."""
        if self._live.bench is not None and self._keep in self._live.bench.followers:
            self._live.bench.followers.remove(self._keep)

    def _keep(self, entries: Sequence[Entry]) -> None:
        with self._lock:
            for one in entries:
                if one.by == self._name:
                    continue
                if len(self._waiting) < _MOST:
                    self._waiting.append(one)
                else:
                    self._lost += 1

    def take(self) -> tuple[list[Entry], int]:
        """What has happened since the last call, and how many later entries were not kept."""
        with self._lock:
            found, lost = list(self._waiting), self._lost
            self._waiting.clear()
            self._lost = 0
        return found, lost


def command_of(entry: Entry) -> str:
    """A command line of another front end, as a line of JSON."""
    told = {"by": entry.by, "command": entry.line, "ok": entry.ok, "text": entry.text}
    return json.dumps({"event": "command", **told})


def poses_of(now: Snapshot) -> dict[str, Any]:
    """Poses of the bodies: position x y z, m, and rotation w x y z of each, by name."""
    rows = zip(now.bodies, now.position.tolist(), now.rotation.tolist(), strict=True)
    bodies = {name: [*position, *rotation] for name, position, rotation in rows}
    return {"event": "poses", "time": now.time, "status": now.status, "bodies": bodies}
