"""What beams assume, frame by frame: segments turn little, and metals are strained little."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np

from bellcrank.compile.model import Model
from bellcrank.compile.state import Floats, State
from bellcrank.mechanism.beams import Beam
from bellcrank.mechanism.contents import with_numbers
from bellcrank.mechanism.rotation_arrays import relative_logarithm

_LARGEST: Final = 1.0  # rad, where the error of a segment is about one in a hundred
_YIELDED: Final = 0.05  # strain beyond which no metal is elastic
_METAL: Final = 4e10  # Pa: the modulus of elasticity from which on a section is taken for metal


def watched_beams(model: Model, poses: tuple[slice, slice]) -> Iterator[BeamWatch]:
    """The beams of a model. poses: columns of the positions and of the rotations of bodies in a frame."""
    if model.source is not None and model.source.beams:
        for beam in with_numbers(model.source).beams.values():
            if model.body_index.keys() >= set(beam.nodes):
                yield BeamWatch(model, beam, poses)


def lost_beam(model: Model, states: Sequence[State]) -> str:
    """Why the segments of a beam do not describe it at one of these states; "" if all do."""
    watches, frames = _at(model, states)
    return next((watch.message for watch in watches if watch.first_bad(frames) is not None), "")


def strained_beams(model: Model, states: Sequence[State]) -> tuple[str, ...]:
    """Notes on beams of metal that are strained at one of these states as none can be."""
    watches, frames = _at(model, states)
    for watch in watches:
        watch.first_bad(frames)
    return tuple(watch.strained for watch in watches if watch.strained)


def _at(model: Model, states: Sequence[State]) -> tuple[list[BeamWatch], Floats]:
    """The beams of a model, and states as frames of positions and rotations."""
    count = len(model.bodies)
    frames = np.array([[*np.ravel(state.position), *np.ravel(state.rotation)] for state in states])
    return list(watched_beams(model, (slice(0, 3 * count), slice(3 * count, 7 * count)))), frames


class BeamWatch:
    """Whether the segments of one beam turn little; message: where they do not, and what to do.

    strained: a note on metal that is strained beyond what it bears, in the frames seen so far; "" if none is.
    """

    def __init__(self, model: Model, beam: Beam, poses: tuple[slice, slice]) -> None:
        self.message = self.strained = ""
        self._beam, self._poses = beam, poses
        self._nodes = np.array([model.body_index[name] for name in beam.nodes])
        self._stations = np.array(beam.grid.stations, dtype=float)
        self._metal = float(getattr(beam.section.at(0.0), "E", 0.0)) >= _METAL
        self._most = _YIELDED

    def first_bad(self, frames: Floats) -> int | None:
        """The number of the first frame in which a segment turns too far."""
        places, turns = (
            frames[:, part].reshape(len(frames), (part.stop - part.start) // size, size)[:, self._nodes]
            for part, size in zip(self._poses, (3, 4), strict=True)
        )
        cosines = np.abs(np.sum(turns[:, :-1] * turns[:, 1:], axis=2))  # of half the angles
        if self._metal and len(frames):
            self._note_strain(places, turns)
        bad = np.flatnonzero(np.any(cosines < np.cos(0.5 * _LARGEST), axis=1))
        if not bad.size:
            return None
        place = int(np.argmin(cosines[bad[0]]))
        angle = 2.0 * float(np.arccos(min(cosines[bad[0], place], 1.0)))
        self.message = (
            f"beam {self._beam.name!r}: it turns by {angle:.2f} rad within the segment at "
            f"{self._middle(place):.4g} m, where "
            f"{_LARGEST:g} rad is the most that a segment describes; give it more segments than "
            f"{len(self._nodes) - 1}"
        )
        return int(bad[0])

    def _middle(self, place: int) -> float:
        return float(0.5 * (self._stations[place] + self._stations[place + 1]))

    @cached_property
    def _unloaded(self) -> Floats:
        """Strains of the segments without loads, (N - 1, 6)."""
        kinds: list[Any] = [force.kind for force in self._beam.forces()]
        return np.array([kind.unloaded for kind in kinds], dtype=float)

    def _strained(self, segment: int, strain: Floats) -> Floats:
        """The largest normal strain in the middle of a segment, (T,), by that of the segment, (T, 6)."""
        section: Any = self._beam.section.at(self._middle(segment))
        bending = (stiffness * strain[:, 4 + k] for k, stiffness in enumerate(section.EI))
        return np.asarray(section.largest_stress(section.EA * strain[:, 0], *bending) / section.E)

    def _note_strain(self, places: Floats, turns: Floats) -> None:
        """Of the outermost fibres, by the mean stretch and curvatures of segments."""
        strain = relative_logarithm(places, turns) / np.diff(self._stations)[:, None] - self._unloaded
        found = np.stack([self._strained(k, strain[:, k]) for k in range(strain.shape[1])], axis=1)
        worst = float(np.max(found))
        if worst > self._most:
            self._most = worst
            at = self._middle(int(np.unravel_index(np.argmax(found), found.shape)[1]))
            self.strained = (
                f"beam {self._beam.name!r}: its material is strained by {100.0 * worst:.3g} % at {at:.4g} m, "
                "where metals have yielded, and is taken for elastic; look at its stress"
            )
