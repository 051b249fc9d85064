"""The plan of a run: what it computes, and when it records a frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from bellcrank.compile.state import Floats
from bellcrank.errors import Fault, MechanismError
from bellcrank.integrate.advance import check_frames
from bellcrank.integrate.methods import MethodOptions

_NEAR: Final = 1e-11  # of a time: that near, two are one


@dataclass(frozen=True, eq=False)
class Plan:
    """The checked arguments of a run.

    begin: s. times: to record, s, the last of which ends the run; None if its end is open.
    method: with its options. formulation: a name; options: those of the formulation.
    reactions, accelerations: whether they are recorded.
    output_step: s between frames where the end is open; None for one at the end of each advance.
    ledger: whether the work of forces and drives is summed and recorded.
    """

    begin: float
    times: Floats | None
    method: MethodOptions
    formulation: str
    options: dict[str, Any]
    reactions: bool = True
    accelerations: bool = False
    output_step: float | None = None
    ledger: bool = False

    @property
    def end(self) -> float | None:
        """The time at which the run ends, s, if that is known."""
        return None if self.times is None else float(self.times[-1])

    @property
    def duration(self) -> float:
        """The duration of the whole run, s; 0 if its end is open."""
        return 0.0 if self.end is None else self.end - self.begin

    @property
    def max_step(self) -> float:
        """The longest step of an adaptive method, s; 0 for no limit."""
        return self.method.max_step or self.duration

    def outputs(self, time: float, end: float, first: bool, whole: bool = True) -> list[float]:
        """The times to record after a time, up to an end; the time itself too if it is the first.

        whole: the end is that of an advance, which is recorded unless something else was specified. Times
        within rounding of the end count as the end: sums of durations differ in their last digits.
        """
        found: list[float]
        near = min(_NEAR * max(1.0, abs(end)), 1e-3 * (end - time))
        low, high = (time if first else time + near), end + near
        if self.times is not None:
            begin = np.searchsorted(self.times, low, "left" if first else "right")
            found = self.times[begin : np.searchsorted(self.times, high, "right")].tolist()
        elif self.output_step is not None:
            check_frames((end - time) / self.output_step, end - time)
            numbers = np.floor((np.array([low, high]) - self.begin) / self.output_step)
            grid = self.begin + self.output_step * np.arange(numbers[0], numbers[1] + 1.0)
            found = [*([time] if first else []), *grid[(grid > time + near) & (grid <= high)].tolist()]
        else:
            found = [*([time] if first else []), *([end] if whole else [])]
        if found and found[-1] > end - near:
            found[-1] = end
        return found

    def end_of(self, time: float, duration: Any) -> float:
        """The time at which an advance by a duration, s, ends; None: the end of the run.

        Raises MechanismError for an invalid duration, and for one beyond the end of the run.
        """
        last = self.end
        if duration is None:
            if last is None:
                raise MechanismError(Fault("advance", "it needs a duration", None, "such as advance(0.01)"))
            return last
        if not isinstance(duration, (int, float, np.integer, np.floating)) or not 0.0 < duration < np.inf:
            raise MechanismError(Fault("advance", "the duration must be greater than zero", duration))
        end = time + float(duration)
        if last is not None and end > last - 1e-9 * duration:
            if end > last + 1e-9 * duration:
                rule = f"the run ends at t = {last:g} s, and is at t = {time:g} s"
                raise MechanismError(Fault("advance", rule, duration, "start a run without a duration"))
            return last
        return end
