"""What segments of beams assume, frame by frame: that they turn little from one node to the next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from bellcrank.compile.model import Model
from bellcrank.compile.state import Floats, State
from bellcrank.mechanism.beams import Beam
from bellcrank.mechanism.contents import with_numbers

_LARGEST: Final = 1.0  # rad, where the error of a segment is about one in a hundred


def watched_beams(model: Model, rotations: slice) -> Iterator[BeamWatch]:
    """The beams of a model. rotations: columns of the rotations of bodies in a frame."""
    if model.source is not None and model.source.beams:
        for beam in with_numbers(model.source).beams.values():
            if model.body_index.keys() >= set(beam.nodes):
                yield BeamWatch(model, beam, rotations)


def lost_beam(model: Model, states: Sequence[State]) -> str:
    """Why the segments of a beam do not describe it at one of these states; "" if all do."""
    frames = np.array([np.ravel(state.rotation) for state in states])
    watches = watched_beams(model, slice(0, 4 * len(model.bodies)))
    return next((watch.message for watch in watches if watch.first_bad(frames) is not None), "")


class BeamWatch:
    """Whether the segments of one beam turn little; message: where they do not, and what to do."""

    def __init__(self, model: Model, beam: Beam, rotations: slice) -> None:
        self.message = ""
        self._beam, self._columns = beam, rotations
        self._nodes = np.array([model.body_index[name] for name in beam.nodes])
        self._stations = np.array(beam.grid.stations, dtype=float)

    def first_bad(self, frames: Floats) -> int | None:
        """The number of the first frame in which a segment turns too far."""
        rotations = frames[:, self._columns]  # of no frames, perhaps
        turns = rotations.reshape(len(frames), rotations.shape[1] // 4, 4)[:, self._nodes]
        cosines = np.abs(np.sum(turns[:, :-1] * turns[:, 1:], axis=2))  # of half the angles
        bad = np.flatnonzero(np.any(cosines < np.cos(0.5 * _LARGEST), axis=1))
        if not bad.size:
            return None
        place = int(np.argmin(cosines[bad[0]]))
        at = 0.5 * (self._stations[place] + self._stations[place + 1])
        angle = 2.0 * float(np.arccos(min(cosines[bad[0], place], 1.0)))
        self.message = (
            f"beam {self._beam.name!r}: it turns by {angle:.2f} rad within the segment at {at:.4g} m, where "
            f"{_LARGEST:g} rad is the most that a segment describes; give it more segments than "
            f"{len(self._nodes) - 1}"
        )
        return int(bad[0])
