"""Integrals of recorded powers between frames, and how well the frames determine them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from bellcrank.assembly.state import Floats


def windows(values: Any, width: int) -> np.ndarray:
    """Each `width` successive values (n - width + 1, width)."""
    return sliding_window_view(values, width)


def even(time: Floats) -> int:
    """How many frames from the first on are evenly spaced: a run that ends at an event may have one more."""
    steps = np.diff(time)
    apart = (
        np.flatnonzero(np.abs(steps - steps[0]) > 1e-6 * steps[0]) if len(steps) else np.zeros(0, dtype=int)
    )
    count = len(time) if not len(apart) else int(apart[0]) + 1
    return count if count >= len(time) - 1 else 0


def worked(values: Floats, step: float) -> tuple[Floats, Floats]:
    """Integrals (T - 4,) of power (T,) over the four steps from each frame, by Simpson's rule; their errors.

    An error is half the difference from the integral by doubled steps, not a fifteenth: power may have
    kinks, where a drive's acceleration jumps.
    """
    found = windows(values, 5)
    fine, double = np.array([1.0, 4.0, 2.0, 4.0, 1.0]) / 3.0, np.array([2.0, 0.0, 8.0, 0.0, 2.0]) / 3.0
    return step * (found @ fine), 0.5 * step * (found @ (fine - double))


def largest_nearby(values: Floats) -> Floats:
    """The largest of each value and of two on either side (n,)."""
    return np.asarray(np.max(windows(np.pad(values, 2), 5), axis=1))
