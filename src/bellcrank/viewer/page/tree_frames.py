"""A snapshot of adaptive dynamics as a message to one browser: what moved since the message before.

See web/src/protocol.ts.
"""

from __future__ import annotations

import struct
from typing import Final

import numpy as np

from bellcrank.compile.state import Floats
from bellcrank.viewer.adaptive_engine import SERIES, AdaptiveEngine
from bellcrank.viewer.page.frames import HEAD, LATE, STATUSES
from bellcrank.viewer.page.signals import Sent, message_of
from bellcrank.viewer.snapshot import Snapshot

TREE_FRAME: Final = 4
_SAME: Final = 0xFFFFFFFF  # as many free joints as before, and the same
_NUMBERS: Final = struct.Struct("<10d")
_BOUNDED, _ABSOLUTE = 1, 2


def tree_frame_of(now: Snapshot, origin: Floats, mark: int) -> tuple[bytearray, int]:
    """The message of a snapshot after a mark, -1 for everything; and the next mark.

    origin: (3,), m, near the mechanism, from which the page places it. The number of the last move is left 0.
    """
    of = now.adaptivity
    assert of is not None
    moved = of.tree.since(mark)
    hands = of.hands - np.array([0.0, *origin, *origin])
    free = _SAME if moved.free is None else len(moved.free)
    head = HEAD.pack(
        TREE_FRAME, STATUSES.index(now.status), now.edition & 0xFFFF, now.number & 0xFFFFFFFF, now.time,
        *now.past, now.speed, now.factor, 0, len(of.tree.carriers), *origin, 0, len(hands), len(moved.bodies),
        free, LATE * now.is_late, 0,
    )  # fmt: skip
    most = -1.0 if of.max_joints is None else float(of.max_joints)
    loss = -1.0 if of.max_loss is None else of.max_loss
    flags = _BOUNDED * of.is_bounded + _ABSOLUTE * (of.measure == "rms")
    numbers = _NUMBERS.pack(
        of.error, of.max_error, of.lost, of.kinetic, of.free, of.joints, most, loss, flags, 0.0
    )
    parts = [head, numbers, moved.places.astype("<f8").tobytes(), hands.astype("<f4").tobytes()]
    parts += [moved.bodies.astype("<u4").tobytes()]
    if moved.free is not None:
        parts.append(moved.free.astype("<u4").tobytes())
    return bytearray(b"".join(parts)), moved.mark


def series_of(
    engine: AdaptiveEngine, names: tuple[str, ...], before: Sent | None
) -> tuple[Sent, bytes] | None:
    """The message with the numbers of a run that a browser lacks; None where it lacks none."""
    record = (id(engine), engine.first_mark)
    fresh = before is None or before[:2] != (record, names)
    mark, rows = engine.series(-1 if fresh or before is None else int(before.time))
    if not fresh and not len(rows):
        return None
    labels = [f"run.{label}" for label, _ in SERIES]
    nothing = np.full(len(rows), np.nan)
    columns = [rows[:, 1 + labels.index(name)] if name in labels else nothing for name in names]
    return Sent(record, names, float(mark)), message_of(engine.edition, fresh, rows[:, 0], columns)
