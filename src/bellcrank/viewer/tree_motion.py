"""Where the bodies of a tree are: what moved against what carries it, for readers that come when they like.

One thread writes and others read. Nobody is told of a body twice unless it has moved in between, and whoever
reads seldom is told of fewer positions, never of fewer bodies.
"""

from __future__ import annotations

from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from bellcrank.compile.state import Floats, Ints
from bellcrank.mechanism.rotation_arrays import product, rotate


class Moved(NamedTuple):
    """What moved since a mark.

    mark: to come back with. bodies: (m,), numbers. places: (m, 7), positions, m, and rotations in the frames
    of what carries them. free: (f,), numbers of the bodies behind free joints, or None where these are the
    same.
    """

    mark: int
    bodies: Ints
    places: Floats
    free: Ints | None


class TreeMotion:
    """Poses of the bodies of a tree. carriers: (nb,), numbers of those that carry them, -1 the ground."""

    def __init__(self, carriers: Ints) -> None:
        self.carriers = carriers
        self._lock = Lock()
        self._places: Floats = np.tile([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], (len(carriers), 1))
        self._marks = np.zeros(len(carriers), dtype=np.int64)
        self._mark = self._mark_of_free = 0
        self._free: Ints = np.empty(0, dtype=np.int32)

    def take(self, bodies: Ints, position: Floats, rotation: Floats, free: Ints) -> None:
        """Take up what moved, and the numbers of the bodies behind joints that are free now."""
        free = np.sort(free)
        with self._lock:
            self._mark += 1
            self._places[bodies, :3], self._places[bodies, 3:] = position, rotation
            self._marks[bodies] = self._mark
            if not np.array_equal(free, self._free):
                self._free, self._mark_of_free = free, self._mark

    def since(self, mark: int) -> Moved:
        """What moved since a mark; -1 for everything."""
        with self._lock:
            bodies = np.flatnonzero(self._marks > mark).astype(np.int32)
            free = self._free if self._mark_of_free > mark else None
            return Moved(self._mark, bodies, self._places[bodies], free)

    def poses(self) -> tuple[Floats, Floats]:
        """Positions (nb, 3), m, and rotations (nb, 4) of all bodies in the world."""
        with self._lock:
            position, rotation = self._places[:, :3].copy(), self._places[:, 3:].copy()
        for level in self._levels()[1:]:
            base = self.carriers[level]
            position[level] = position[base] + rotate(rotation[base], position[level])
            rotation[level] = product(rotation[base], rotation[level])
        return position, rotation

    def _levels(self) -> list[Any]:
        """Numbers of bodies by how far they are from the ground."""
        depth = np.full(len(self.carriers), -1)
        found = [np.flatnonzero(self.carriers < 0)]
        depth[found[0]] = 0
        left = np.flatnonzero(self.carriers >= 0)
        while len(left):
            reached = depth[self.carriers[left]] == len(found) - 1
            depth[left[reached]] = len(found)
            found.append(left[reached])
            left = left[~reached]
        return found
