"""What a session has recorded of signals, as messages to browsers that have had a part of it before."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from bellcrank.trajectory.columns import recorded
from bellcrank.trajectory.trajectory import Trajectory
from bellcrank.viewer.adaptive_engine import AdaptiveEngine
from bellcrank.viewer.engine import LiveEngine
from bellcrank.viewer.history import without_points

SIGNALS: Final = 3
_ROWS: Final = 4000  # of a signal that is sent anew, at most


class Sent(NamedTuple):
    """What a browser has been sent: of what record, which signals, and up to when, s."""

    record: Any
    names: tuple[str, ...]
    time: float


def signals_of(
    engine: Any, names: Sequence[str], seconds: float, before: Sent | None
) -> tuple[Sent, bytes] | None:
    """The message with what a browser lacks, in the thread of the engine; None where it lacks nothing.

    seconds: of the past that signals cover, inf for all.
    """
    if isinstance(engine, AdaptiveEngine):
        from bellcrank.viewer.page.tree_frames import series_of

        return series_of(engine, tuple(names), before)
    run, record, fresh = _lacking(engine, tuple(names), seconds, before)
    if run is None:
        return None
    time = np.asarray(run.time, dtype=float)
    columns = [_values(run, name) for name in names]
    message = message_of(engine_edition(engine), fresh, time, columns)
    last = float(time[-1]) if len(time) else -np.inf
    return Sent(record, tuple(names), last), message


def message_of(edition: int, fresh: bool, time: Any, columns: Sequence[Any]) -> bytes:
    """The message of signals (T,) at times (T,)."""
    head = struct.pack("<BBHIII", SIGNALS, fresh, edition & 0xFFFF, len(time), len(columns), 0)
    body = b"".join(np.asarray(column).astype("<f4").tobytes() for column in columns)
    return head + np.asarray(time).astype("<f8").tobytes() + body


def engine_edition(engine: Any) -> int:
    """The number of the mechanism of an engine; 0 of one that plays a recorded run."""
    return int(getattr(engine, "edition", 0))


def _lacking(
    engine: Any, names: tuple[str, ...], seconds: float, before: Sent | None
) -> tuple[Trajectory | None, Any, bool]:
    """Frames that a browser lacks, what record they are of, and whether they are all of it."""
    if not isinstance(engine, LiveEngine):
        record: Any = id(engine)
        if before is not None and before[:2] == (record, names):
            return None, record, False
        run = engine.window(np.inf, _ROWS)
        return Trajectory(run.layout, run.store, run.status), record, True
    history = engine.history
    record = (id(history), history.edits, engine.edition)
    if before is not None and before[:2] == (record, names):
        begin = int(np.searchsorted(history.time, before.time, "right"))
        if begin == len(history):
            return None, record, False
        store = history.store(slice(begin, None))
        return Trajectory(history.layout, store, "running"), record, False
    return history.window(min(seconds, 1e12), _ROWS), record, True


def _values(run: Trajectory, name: str) -> Any:
    """A recorded quantity; no numbers where it is not recorded."""
    if name == "energy.total":
        return run.energy.total
    found = next((one.values for one in recorded(run, name) if one.name == name and not one.flags), None)
    return np.full(len(run.time), np.nan) if found is None else found


def one_frame(layout: Any, frame: Any) -> Trajectory:
    """A frame as a run, without its points of contact."""
    from bellcrank.trajectory.store import MemoryStore

    layout = without_points(layout)
    return Trajectory(layout, MemoryStore.from_frames(layout, frame[None, : 1 + layout.width]), "running")
