"""What teeth without backlash assume, frame by frame: that the flank that bears pushes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from bellcrank.compile.model import Model
from bellcrank.compile.state import Floats

_PULLS: Final = 1e-7  # of the largest multiplier: rounding


def watched_flanks(model: Model, multipliers: slice) -> Iterator[FlankWatch]:
    """The gears of a model that bear on one flank. multipliers: their columns in a frame."""
    if model.source is None:
        return
    for name, element in model.source.constraints.items():
        kind: Any = element.kind
        if getattr(kind, "pressure_angle", None) is None or getattr(kind, "backlash", None) is not None:
            continue
        if not hasattr(kind, "flank"):
            continue
        places = [k for k, m in enumerate(model.multipliers) if m.element == name and m.kind == "constraint"]
        for place in places:
            yield FlankWatch(name, multipliers, place)


class FlankWatch:
    """Whether the flank of one gear pushes; message: what to do where it would have to pull."""

    def __init__(self, name: str, multipliers: slice, place: int) -> None:
        self.message = (
            f"constraint {name!r}: its teeth would have to bear on the other flank; give the other `flank`, "
            "or a `backlash`, within which they change flanks"
        )
        self._columns, self._place, self._largest = multipliers, place, 0.0

    def first_bad(self, frames: Floats) -> int | None:
        """The number of the first frame in which it pulls."""
        found = frames[:, self._columns]
        sizes = np.max(np.abs(found), axis=1, initial=self._largest)
        self._largest = float(np.max(sizes, initial=self._largest))
        pulls = np.flatnonzero(found[:, self._place] < -_PULLS * np.maximum.accumulate(sizes))
        return int(pulls[0]) if pulls.size else None
