"""Markers in results: where they are in a run, and how they move. T frames; arrays are read-only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.body import Body, Ground
from bellcrank.mechanism.checking import nearest
from bellcrank.mechanism.contents import numbers_in
from bellcrank.mechanism.marker import GROUND, Marker
from bellcrank.mechanism.rotation_arrays import product
from bellcrank.slips import answering
from bellcrank.trajectory.histories import BodyHistory
from bellcrank.trajectory.store import FloatArray, Store, read_only

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bellcrank.trajectory.origin import Origin


@answering
@dataclass(frozen=True, repr=False)
class MarkerHistory:
    """Motion of a marker: of its origin and of its axes, in world axes.

    marker: with numbers, as it lies on its body. body: its body, None for the ground.

    >>> hand = bc.simulate(arm, 0.1).marker("forearm.hand")
    >>> print(hand.position[-1].round(6), hand.velocity[-1].round(6))
    [2. 0. 0.] [0. 0. 0.]
    """

    name: str
    marker: Marker
    body: BodyHistory | None
    store: Store

    def __repr__(self) -> str:
        return f"<marker {self.name!r}, {self.store.frames} frames>"

    @property
    def position(self) -> FloatArray:
        """(T, 3), m."""
        if self.body is None:
            return self._still(self.marker.position)
        return self.body.point(self.marker.position)

    @property
    def rotation(self) -> FloatArray:
        """(T, 4), unit quaternions (w, x, y, z) from marker axes to world axes."""
        if self.body is None:
            return self._still(self.marker.rotation)
        return read_only(product(self.body.rotation, np.asarray(self.marker.rotation)))

    @property
    def velocity(self) -> FloatArray:
        """(T, 3), m/s."""
        if self.body is None:
            return self._still((0.0, 0.0, 0.0))
        return self.body.point_velocity(self.marker.position)

    @property
    def angular_velocity(self) -> FloatArray:
        """(T, 3), rad/s: that of its body."""
        return self._still((0.0, 0.0, 0.0)) if self.body is None else self.body.angular_velocity

    @property
    def acceleration(self) -> FloatArray:
        """(T, 3), m/s^2; recorded only if asked for."""
        if self.body is None:
            return self._still((0.0, 0.0, 0.0))
        return self.body.point_acceleration(self.marker.position)

    @property
    def angular_acceleration(self) -> FloatArray:
        """(T, 3), rad/s^2: that of its body; recorded only if asked for."""
        return self._still((0.0, 0.0, 0.0)) if self.body is None else self.body.angular_acceleration

    def _still(self, values: tuple[float, ...]) -> FloatArray:
        return read_only(np.tile(np.asarray(values, dtype=float), (self.store.frames, 1)))


def marker_in(origin: Origin, bodies: Sequence[str], element: str, given: Any) -> tuple[str, Marker]:
    """A marker of a run by name, and with numbers.

    given: the name "body.name" of a marker, a marker, or a body or its name, "ground" too, for its frame.
    Raises MechanismError for anything else.
    """
    named = origin.mechanism.markers if origin.known else {}
    if isinstance(given, (Body, Ground)):
        given = given.name
    if isinstance(given, str) and given in named:
        given = named[given]
    elif isinstance(given, str):
        given = Marker(given) if given in bodies or given == GROUND else given
    if not isinstance(given, Marker):
        rule, advice = "there is no body and no marker of this name", nearest(given, [*bodies, *named])
        raise MechanismError(Fault(element, rule, given, advice))
    if given.body != GROUND and given.body not in bodies:
        raise MechanismError(
            Fault(element, "the run has no body of this name", given.body, nearest(given.body, bodies))
        )
    return given.key or given.body, numbers_in(origin.mechanism, given) if origin.known else given
