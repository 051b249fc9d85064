"""What a live session shows at a moment, for any number of front ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bellcrank.trajectory.layout import FrameLayout
from bellcrank.trajectory.store import FloatArray
from bellcrank.viewer.hand import Hold
from bellcrank.viewer.settings import Settings


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A session at a moment; nothing in it changes any more.

    number: counts snapshots. status: "paused", "playing", or "failed" with a message that tells why.
    time: s. position (nb, 3) and rotation (nb, 4) of all bodies, in the order of `bodies`.
    frame: (1 + width,), everything that was recorded then, as layout tells. past: first and last time, s.
    speed: simulated seconds in a second on the wall, as asked; factor: as achieved, nan where it stands.
    is_late: whether less is achieved than was asked for. inputs: by name, those of hands left out.
    holds: what is dragged, by name of the body. pins: names of pinned bodies. preparing: what is being
    prepared while the run goes on, "" for nothing. work: of hands since the start, J.
    """

    number: int
    status: str
    message: str
    bodies: tuple[str, ...]
    layout: FrameLayout
    frame: FloatArray
    past: tuple[float, float]
    speed: float
    factor: float
    is_late: bool
    settings: Settings
    formulation: str
    inputs: Mapping[str, float] = field(default_factory=dict)
    parameters: Mapping[str, float] = field(default_factory=dict)
    holds: Mapping[str, Hold] = field(default_factory=dict)
    pins: tuple[str, ...] = ()
    preparing: str = ""
    work: float = 0.0

    @property
    def time(self) -> float:
        """What the clock shows, s."""
        return float(self.frame[0])

    @property
    def position(self) -> FloatArray:
        """(nb, 3), m."""
        return self._section("position")

    @property
    def rotation(self) -> FloatArray:
        """(nb, 4)."""
        return self._section("rotation")

    def _section(self, name: str) -> FloatArray:
        values: FloatArray = self.frame[self.layout.columns[name]].reshape(self.layout.shapes[name])
        return values
