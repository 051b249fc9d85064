"""The pace of a live run: how much simulated time is due, and how much of it is achieved."""

from __future__ import annotations

from collections import deque
from typing import Final

PERIOD: Final = 1.0 / 60.0
"""s on the wall between parts of a run."""
_BUSY: Final = 0.012  # s on the wall that a part may take: as long commands wait
_LATE: Final = 3.0  # periods that may be made up for
_MEMORY: Final = 0.5  # s on the wall, over which the real-time factor is an average
_ON_TIME: Final = 0.9  # of the speed: below, the run is late


class Pace:
    """Simulated time against real time.

    A run that cannot keep up goes more slowly, with the specified steps; a delay of more than a twentieth of
    a second is not made up for.

    speed: simulated seconds per second of real time.
    """

    def __init__(self, speed: float = 1.0) -> None:
        self.speed = speed
        self._last: float | None = None  # on the wall, s, when time was last counted
        self._due = 0.0  # simulated time that is due, s
        self._cost = 0.0  # s on the wall for a simulated second
        self._marks: deque[tuple[float, float]] = deque()  # on the wall and simulated, s, since the start

    def rest(self) -> None:
        """The run stands: no time is due for as long as that lasts."""
        self._last, self._due = None, 0.0
        self._marks.clear()

    @property
    def factor(self) -> float:
        """Simulated seconds per second of real time, as an average; NaN until it can be determined."""
        if len(self._marks) < 2 or self._marks[-1][0] <= self._marks[0][0]:
            return float("nan")
        (begun, first), (now, last) = self._marks[0], self._marks[-1]
        return (last - first) / (now - begun)

    @property
    def is_late(self) -> bool:
        """Whether less than the requested speed is achieved."""
        return self.factor < _ON_TIME * self.speed

    def due(self, now: float, step: float) -> float:
        """Simulated time that the next part is to take, s: a multiple of the step, or 0 for not yet.

        now: on the wall, s. step: s; 0 where the method finds its own.
        """
        if self._last is None:
            self._last, self._marks = now, deque([(now, 0.0)])
        usual = PERIOD * self.speed
        self._due = min(self._due + (now - self._last) * self.speed, max(_LATE * usual, step))
        self._last = now
        part = self._due if self._cost == 0.0 else min(self._due, max(_BUSY / self._cost, step))
        if step > 0.0:
            return int(part / step * (1.0 + 1e-9)) * step
        return part if part >= 0.5 * usual or part < self._due else 0.0

    def took(self, began: float, now: float, done: float) -> None:
        """A part of simulated time, s, was done from one moment on the wall to another, s."""
        self._due = max(self._due - done, 0.0)
        cost = (now - began) / done
        self._cost += (0.3 if self._cost > 0.0 else 1.0) * (cost - self._cost)
        self._marks.append((now, self._marks[-1][1] + done))
        while len(self._marks) > 2 and self._marks[1][0] < now - _MEMORY:
            self._marks.popleft()

    def wait(self, now: float, step: float) -> float:
        """How long until the next part should begin, s on the wall."""
        if self._last is None or self._due >= max(step, 0.5 * PERIOD * self.speed):
            return 0.0
        return max(0.0, self._last + PERIOD - now)
