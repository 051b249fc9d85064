"""What is shown beside the run: bodies that come together, and what a command line runs."""

from __future__ import annotations

from typing import Final

import numpy as np

from bellcrank.compile.state import Floats
from bellcrank.trajectory.trajectory import Trajectory

_LONGEST: Final = 1.2  # s on the wall
_THERE: Final = 0.005  # of the way: what is left of it then is not looked at


class Motion:
    """Frames of bodies, shown in their own time from when they are first looked at; at most for a second.

    bodies: names of those in the frames. still: the last of the frames alone is shown, at its time.
    """

    def __init__(self, run: Trajectory, still: bool = False) -> None:
        self.bodies, self.still = run.bodies, still
        self.time = float(run.time[-1]) if still else None
        self._position: Floats = np.array(run.store.read("position"))
        self._rotation: Floats = np.array(run.store.read("rotation"))
        self._time: Floats = np.array(run.time) - run.time[0]
        left = np.abs(self._position - self._position[-1]).reshape(len(self._time), -1).max(axis=1)
        left += np.abs(self._rotation - self._rotation[-1]).reshape(len(self._time), -1).max(axis=1)
        far = np.flatnonzero(left > _THERE * max(float(left[0]), 1e-12))
        self._last = int(far[-1]) + 1 if len(far) and far[-1] + 1 < len(left) else len(left) - 1
        self._begin: float | None = None
        self._number = len(left) - 1 if still else 0

    @property
    def pose(self) -> tuple[Floats, Floats]:
        """Positions (nb, 3) and rotations (nb, 4) that are shown now."""
        return self._position[self._number], self._rotation[self._number]

    def go_on(self, now: float) -> bool:
        """Show what is due at a moment on the wall, s; False once it is over."""
        if self.still:
            return True
        if self._begin is None:
            self._begin = now
        lasts = max(float(self._time[self._last]), 1e-9)
        at = (now - self._begin) * max(1.0, lasts / _LONGEST)
        self._number = min(int(np.searchsorted(self._time, at, "right")) - 1, self._last)
        return at < lasts
