"""What methods of integration leave open between frames, and how much of it the frames bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from bellcrank.analysis.evidence import Evidence
from bellcrank.assembly.state import Floats
from bellcrank.integrate.methods import METHODS

_ROUNDS: Final = 50.0  # times its tolerance: the error of a step of an adaptive method
_UNKNOWN: Final = 1e-6  # tolerance of runs that do not say it
_ROUGH: Final = 3.0  # times what a step of first order leaves by the changes of forces and speeds in it
_OF_EULER: Final = 10.0  # the same where positions follow from speeds at the ends of steps
_WITHIN: Final = 0.999  # of a step: frames that are closer are within one, and not judged
_LONG: Final = 1.5  # times the mean step
_IMPULSES: Final = 1e-5  # of speeds: what steps by impulses leave


def most(values: Floats) -> Floats:
    """The largest of all bodies (T - 1, 1): those that are joined move each other."""
    return np.asarray(np.max(values, axis=1, keepdims=True, initial=0.0))


def changes(values: Floats) -> Floats:
    """The largest change (T - 1, nb) of values (T, nb, 3) in an interval and in those beside it."""
    gone = np.linalg.norm(np.diff(values, axis=0), axis=2)
    padded = np.pad(gone, ((1, 1), (0, 0)), mode="edge")
    return np.asarray(np.max([padded[k : k + len(gone)] for k in range(3)], axis=0))


@dataclass(frozen=True)
class Roughness:
    """What a method leaves open between frames: its tolerance and steps.

    rough: s, the step of a method of first order. long: s, that of others, which choose it, where it is long:
        frames in it show a jump of forces spread over all of it. noise: error in parts of speeds. drift: that
        of poses, m or rad. euler: whether its positions follow from speeds at the ends of steps.
    """

    rough: float
    long: float
    noise: float
    drift: float
    euler: bool

    @staticmethod
    def of(evidence: Evidence) -> Roughness:
        """By the statistics of a run."""
        told = evidence.run.statistics
        method = METHODS.get(str(told.get("method")))
        step = float(told.get("step", 0.0) or 0.0)
        if method is not None and not method.adaptive:
            rough = step if method.order == 1 else 0.0
            noise = _IMPULSES if method.by_impulses else 1e-9
            return Roughness(rough, 0.0, noise, 1e-8, method.order == 1 and not method.by_impulses)
        tolerance = float(told.get("tolerance", _UNKNOWN))
        count = float(told.get("steps", 0.0))
        long = _LONG * float(np.ptp(evidence.time)) / count if count else 0.0
        error = _ROUNDS * tolerance * (1.0 + count / len(evidence.time))
        return Roughness(0.0, long, error, error + 1e-10, False)

    @property
    def share(self) -> float:
        """Times changes of forces and speeds in a step: what a method of first order leaves."""
        return _OF_EULER if self.euler else _ROUGH

    def of_speeds(self, bend: Floats, rate: Floats, spin: Floats, steps: Floats, largest: float) -> Floats:
        """How far integrals of accelerations may be wrong (T - 1, nb)."""
        turned = steps * most(spin) * most(np.linalg.norm(rate, axis=2)[1:])
        rough = self.share * np.minimum(self.rough, steps) * (changes(rate) + turned)
        if self.euler:  # a step along the tangent of a turn is too long, and closing joints takes that back
            rough = rough + np.minimum(self.rough, steps) * steps * most(spin) ** 2 * largest
        smeared = np.maximum(steps, self.long) * bend
        within = np.where(self.euler & (steps < _WITHIN * self.rough), np.inf, 0.0)
        return np.asarray(1.2 * smeared + rough + within + self.noise * (1e-3 + largest))

    def of_poses(
        self, bend: Floats, speed: Floats, rate: Floats, spin: Floats, steps: Floats, size: float
    ) -> Floats:
        """The same of velocities."""
        largest, step = np.linalg.norm(speed, axis=2)[1:], np.minimum(self.rough, steps)
        turned = steps * most(spin) * most(largest)
        # After a hit, which may be of others, a step begins without a kick, and goes along its first speeds.
        second = (steps + step) * changes(rate) + (step * most(spin)) * turned + 0.2 * changes(speed)
        rough = self.share * step * (changes(speed) + turned if self.euler else second)
        return np.asarray(0.25 * steps**2 * bend + rough + self.drift * size + self.noise * steps * largest)
