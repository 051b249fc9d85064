"""What double precision leaves open: the answers of a formulation beside those in 32 digits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bellcrank import _core
from bellcrank.compile.model import Model
from bellcrank.compile.report import limit_of_digits
from bellcrank.compile.state import Floats
from bellcrank.errors import Unsupported

_UNEVEN = 1e6  # spread of mobilities above which digits may be insufficient
_HIDDEN = 1e-4  # part of a joint's inertia relative to its load below which digits may be insufficient
_USELESS = 1e-3  # part of the largest acceleration
_STILL = 1e-3  # where accelerations are less, by 1 m/s^2, 1 rad/s^2 or what could be, nothing accelerates


@dataclass(frozen=True)
class Accuracy:
    """What double precision leaves open, the most so far; 0 if digits were never short.

    accelerations: relative to the largest one. It affects the spins of bodies that are very light for their
        loads.
    efforts: of reactions and efforts, relative to the largest; these lose digits at light bodies in joint
        coordinates.
    cut_short: accelerations whose iterations ended before they had settled, at `max_iterations`.

    >>> accuracy = bc.prepare(four_bar).accuracy()
    >>> accuracy.accelerations < 1e-9, accuracy.cut_short
    (True, 0)
    """

    accelerations: float = 0.0
    efforts: float = 0.0
    cut_short: int = 0
    max_iterations: int = 0

    def limit(self) -> str:
        """What leaves accelerations uncertain, in words; empty if they are certain enough.

        >>> bc.Accuracy(accelerations=1e-12).limit()
        ''
        >>> bc.Accuracy(accelerations=0.01).limit().partition(":")[0]
        'double precision leaves 1.0e-02 of the largest acceleration open'
        """
        text = limit_of_digits(self.accelerations)
        if not text or self.cut_short == 0:
            return text
        return (
            f"accelerations changed by {self.accelerations:.1e} of the largest where their iterations ended, "
            f"{self.cut_short} of them at max_iterations={self.max_iterations}: allow more"
        )


class AccuracyJudge:
    """Compares systems of the core with an exact one, where bodies are very uneven.

    If they are, or far from the joints that carry them, sums over the mechanism hide the light ones. Results
    are then compared: at the state of the system when it is given to the judge, and, whenever `accuracy` is
    called, at its current state and at the earlier one in which cancellation left least of some inertia.
    """

    def __init__(self, model: Model, exact: Callable[[], _core.SystemAt]) -> None:
        """exact: makes a system of the same model that computes in 32 digits where that is needed."""
        self._model, self._exact = model, exact
        self._is_uneven = _core.spread_of_mobility(model.core) > _UNEVEN
        self._missed = (0.0, 0.0)  # the largest errors so far

    def begin(self, core: _core.SystemAt, formulation: str) -> None:
        """Judge the start. Raises Unsupported if accelerations differ by more than 1e-3 of the largest."""
        if self._is_uneven:
            self._missed = self._errors(core)
        off = self._missed[0]
        if not off <= _USELESS:
            raise Unsupported(
                f"formulation {formulation!r} cannot take mechanism {self._model.name!r}: masses and "
                "inertias of its bodies are so uneven that accelerations are off by "
                f"{off:.1e} of the largest. "
                "Use formulation='lagrange', which computes such mechanisms in 32 digits."
            )

    def accuracy(self, core: _core.SystemAt, known: Accuracy) -> Accuracy:
        """What is left open at the states so far. known: according to the system itself."""
        was_doubtful = self._judge_doubtful_moment(core)
        if not was_doubtful and not self._is_uneven and core.statistics()["smallest_inertia"] > _HIDDEN:
            return known
        self._note_errors(core)
        accelerations, efforts = self._missed
        return Accuracy(max(accelerations, known.accelerations), efforts)

    def _judge_doubtful_moment(self, core: _core.SystemAt) -> bool:
        """Whether the motion since the last call had a moment with few digits; results are compared there."""
        if not core.go_to_doubtful_moment():
            return False
        try:
            self._note_errors(core)
        finally:
            core.go_back()
        return True

    def _note_errors(self, core: _core.SystemAt) -> None:
        accelerations, efforts = (max(pair) for pair in zip(self._missed, self._errors(core), strict=True))
        self._missed = (accelerations, efforts)

    def _errors(self, core: _core.SystemAt) -> tuple[float, float]:
        """Errors of accelerations and of the efforts of rows at this state, each relative to the largest.

        If nothing accelerates, gravity and rotations of the bodies determine what could be large.
        """
        state, arrays = self._model.state_of(core), self._model.arrays
        exact = self._model.put(self._exact(), state)
        linear, angular, efforts = zip(exact.accelerate(), core.accelerate(), strict=True)
        spin, speed = _largest(state.angular_velocity), _largest(state.velocity)
        could_be = max(_largest(arrays["gravity"]), spin * max(spin, speed), 1.0)
        moved = max(_largest(linear[0], angular[0]), _STILL * could_be)
        acted = moved * float(np.min(arrays["body_mass"]))
        off = _largest(linear[1] - linear[0], angular[1] - angular[0])
        which = [(blocks, pair) for _, blocks, pair in self._model.reactions]
        carried = [one.reactions(which)[0] for one in (exact, core)]
        missed = max(
            _ratio(_largest(found - known), max(acted, _largest(known)))
            for known, found in (efforts, carried)
        )
        return _ratio(off, moved), missed


def _largest(*arrays: Floats) -> float:
    return float(np.max([np.abs(array).max(initial=0.0) for array in arrays]))  # nan if one of them is


def _ratio(off: float, scale: float) -> float:
    """A relative error; numbers that are not finite have an infinite error."""
    if off == 0.0:
        return 0.0
    return off / scale if np.isfinite(off) and scale > 0.0 else np.inf
