"""A recorded run, played in real time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, Final

import numpy as np

from bellcrank.compile.model import Model
from bellcrank.compile.state import Points
from bellcrank.errors import BellcrankError, Fault, MechanismError
from bellcrank.trajectory.contact_marks import Touching
from bellcrank.trajectory.contacts import starts_of
from bellcrank.trajectory.store import FloatArray
from bellcrank.trajectory.trajectory import Trajectory
from bellcrank.viewer.history import NONE
from bellcrank.viewer.inspecting import inspected_in, loads_in, traced_in
from bellcrank.viewer.pace import PERIOD, Pace
from bellcrank.viewer.settings import Settings
from bellcrank.viewer.snapshot import Snapshot

_STEPS: Final = 10_000  # frames that one command may skip


class Player:
    """Shows the frames of a run, one after another. Raises MechanismError for a run without frames."""

    live: ClassVar[bool] = False
    markers: ClassVar[tuple[str, ...]] = ()

    def __init__(self, run: Trajectory) -> None:
        run.span()
        self.run, self.name = run, run.name
        self.ranges: Mapping[str, tuple[float, float]] = MappingProxyType({})
        self.pace = Pace()
        self.status = "paused"
        self.shown = 0
        self._time = run.time
        self._at = float(run.time[0])
        self._number = 0

    @property
    def model(self) -> Model | None:
        """The model of its mechanism, where the run tells it."""
        try:
            return self.run.origin.model
        except BellcrankError:
            return None

    @property
    def runs(self) -> bool:
        """Whether time goes on by itself."""
        return self.status == "playing"

    def tick(self, now: float) -> None:
        """Advance to the frame that is due."""
        if self.status != "playing":
            self.pace.rest()
            return
        due = self.pace.due(now, 0.0)
        if due > 0.0:
            self._at = min(self._at + due, float(self._time[-1]))
            self.shown = max(int(np.searchsorted(self._time, self._at, "right")) - 1, 0)
            self.pace.took(now, now + 1e-9, due)
            if self._at >= self._time[-1]:
                self.status = "paused"

    def wait(self, now: float) -> float:
        """How long, s on the wall, until `tick` has something to do."""
        return self.pace.wait(now, 0.0) if self.status == "playing" else 15.0 * PERIOD

    def interrupt(self) -> None:
        """Nothing is run."""

    def fail(self, message: str) -> None:  # noqa: ARG002  (nothing is computed)
        """Stand still."""
        self.status = "paused"

    def show(self, number: int) -> None:
        """Show a frame."""
        self.shown = min(max(number, 0), len(self._time) - 1)
        self._at = float(self._time[self.shown])

    def has_news(self, shown: Snapshot) -> bool:
        """Whether a snapshot is of another frame."""
        return (self.status, float(self._time[self.shown])) != (shown.status, shown.time)

    def snapshot(self) -> Snapshot:
        """The current snapshot."""
        self._number += 1
        layout, statistics = self.run.layout, self.run.statistics
        return Snapshot(
            self._number,
            self.status,
            self.run.status.message,
            layout.bodies,
            layout,
            self._frame(),
            (float(self._time[0]), float(self._time[-1])),
            self.pace.speed,
            self.pace.factor,
            False,
            Settings(),
            str(statistics.get("formulation", "")),
            touching=self._touching(),
        )

    def trajectory(self) -> Trajectory:
        """The run."""
        return self.run

    def window(self, seconds: float, frames: int) -> Trajectory:
        """At most so many frames of the last seconds up to what is shown; with infinitely many, of all."""
        end = len(self._time) if np.isinf(seconds) else self.shown + 1
        begin = int(np.searchsorted(self._time, self._time[end - 1] - seconds))
        return self.run[slice(begin, end, max(1, -(-(end - begin) // frames)))]

    def inspected(self, name: Any) -> dict[str, Any]:
        """What a body or a joint does in the frame that is shown, line by line."""
        mechanism = None if self.model is None else self.model.source
        return inspected_in(self.run[slice(self.shown, self.shown + 1)], self.model, name, mechanism)

    def _touching(self) -> Touching:
        layout = self.run.layout
        if not layout.contacts:
            return NONE
        starts, rows = self._touched
        return Touching(
            layout.contacts, layout.contact_shapes, rows[starts[self.shown] : starts[self.shown + 1]]
        )

    @cached_property
    def _touched(self) -> tuple[Any, Points]:
        """Where the points of each frame begin, and all points; read once, for files are slow."""
        return starts_of(self.run.store), self.run.store.contacts

    def _frame(self) -> FloatArray:
        rows = slice(self.shown, self.shown + 1)
        return np.concatenate([np.ravel(self.run.store.read(n, rows=rows)) for n in self.run.layout.shapes])


def _play(player: Player) -> None:
    """Go on; from the first frame, where the last one is shown."""
    if player.shown == len(player.run) - 1:
        player.show(0)
    player.status = "playing"


def _pause(player: Player) -> None:
    player.status = "paused"


def _step(player: Player, count: Any = 1) -> None:
    """Show the next frame, or one farther on or back."""
    if isinstance(count, bool) or not isinstance(count, int) or abs(count) > _STEPS:
        raise MechanismError(Fault("step", "it takes a whole number of frames", count))
    player.status = "paused"
    player.show(player.shown + count)


def _reset(player: Player) -> None:
    player.status = "paused"
    player.show(0)


def _rewind(player: Player, time: Any) -> None:
    """Show the frame nearest to a time, s."""
    time = _number("rewind", time)
    player.status = "paused"
    player.show(int(np.argmin(np.abs(player.run.time - time))))


def _speed(player: Player, value: Any) -> None:
    value = _number("speed", value)
    if not 1e-4 <= value <= 100.0:
        raise MechanismError(Fault("speed", "it must lie between 1e-4 and 100", value))
    player.pace.speed = value


def _inspect(player: Player, name: Any) -> dict[str, Any]:
    return player.inspected(name)


def _loads(player: Player, name: Any) -> dict[str, Any]:
    """Section loads of a body in the frame that is shown."""
    return loads_in(player.run[slice(player.shown, player.shown + 1)], name)


def _trace(
    player: Player, body: Any, point: Any = (0.0, 0.0, 0.0), seconds: Any = 1e9, frames: Any = 400
) -> dict[str, Any]:
    """Where a point (3,) of a body, m, in its frame, was in the last seconds."""
    return traced_in(
        player.window(_number("trace", seconds), max(int(_number("trace", frames)), 1)), body, point
    )


def _number(element: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not np.isfinite(value):
        raise MechanismError(Fault(element, "it takes a number", value))
    return float(value)


COMMANDS: Final[dict[str, Callable[..., Any]]] = {
    f.__name__.lstrip("_"): f
    for f in (_play, _pause, _step, _reset, _rewind, _speed, _inspect, _loads, _trace)
}
"""All commands by name."""
