"""Directions of a formulation's own coordinates, and those of the bodies that they are.

In joint coordinates a displacement is one of joints; a chart of states, and quantities, know bodies.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from bellcrank import _core
from bellcrank.compile.state import Floats
from bellcrank.linear.state_chart import Directions

_RECORD: Final = 8  # numbers of a body in a record of the core


class OwnDirections:
    """At the state of a core: directions of bodies, records (d, n), and its own, tangent vectors (d, m).

    given: how time and numbers of the model change along each; they move bodies by themselves.
    """

    def __init__(self, core: Any, bodies: int, given: Directions) -> None:
        nothing = np.zeros((0, 0))
        self._core, self._given = core, given
        self._udot = _core.tangents(core, nothing, nothing, np.zeros(0), [], nothing, False)[0]
        size = len(self._udot)
        self._columns: Floats | None = None  # how bodies move along each of its own; None: they are these
        if size != _RECORD * (bodies + 1):
            unit, none = np.eye(size), np.zeros((size, size))
            moved = _core.body_directions(core, self._udot, unit, none, none, np.zeros(0), [], nothing)
            self._columns = moved[0]

    def of_bodies(self, x: Floats, u: Floats) -> tuple[Floats, Floats]:
        """Its own directions along which bodies move by x and u."""
        if self._columns is None:
            return x, u
        still = np.zeros((len(x), len(self._udot)))
        inverse = np.linalg.pinv(self._columns)
        found = (x - self.bodies_along(still, still)[0]) @ inverse
        return found, (u - self.bodies_along(found, still)[1]) @ inverse

    def bodies_along(self, x: Floats, u: Floats, udot: Floats | None = None) -> tuple[Floats, Floats, Floats]:
        """How bodies move along its own directions, where its accelerations change by `udot`, or stay."""
        given, rates = self._given, np.zeros_like(x) if udot is None else udot
        if self._columns is None:
            return x, u, rates
        found: tuple[Floats, Floats, Floats] = _core.body_directions(
            self._core, self._udot, x, u, rates, given.time, given.places, given.numbers
        )
        return found

    def weights(self, of_bodies: Floats) -> Floats:
        """Weights of its own accelerations, from those of the bodies'."""
        return of_bodies if self._columns is None else self._columns @ of_bodies
