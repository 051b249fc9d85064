"""Formulations in double precision beside `lagrange` in 32 digits, where bodies are very uneven."""

from __future__ import annotations

from typing import Any

import numpy as np

from bellcrank import _core
from bellcrank.assembly.model import Model
from bellcrank.assembly.state import Floats
from bellcrank.errors import Unsupported
from bellcrank.formulations.system import Accuracy, System

_UNEVEN = 1e6  # spread of mobilities above which digits may be insufficient
_HIDDEN = 1e-4  # part of a joint's inertia relative to its load below which digits may be insufficient
_USELESS = 1e-3  # part of the largest acceleration
_STILL = 1e-3  # where accelerations are less, by 1 m/s^2, 1 rad/s^2 or what could be, nothing accelerates


class ComparedSystem(System):
    """A model prepared for a formulation that loses digits of light bodies beside heavy ones.

    If bodies are very uneven, or far from the joints that carry them, sums over the mechanism hide the light
    ones. The results are then compared with those of `lagrange` in 32 digits: at the start and,
    whenever `accuracy` is asked for, at the current state and at the earlier state in which cancellation
    left least of some inertia.

    Raises Unsupported if accelerations at the start differ by more than 1e-3 of the largest.
    """

    def __init__(self, model: Model, formulation: str, core: Any, options: Any, reason: str = "") -> None:
        super().__init__(model, formulation, core, options, reason)
        self._is_uneven = self._is_comparable() and _core.spread_of_mobility(model.core) > _UNEVEN
        self._missed = self._errors() if self._is_uneven else (0.0, 0.0)  # the largest so far
        off = self._missed[0]
        if not off <= _USELESS:
            raise Unsupported(
                f"formulation {formulation!r} cannot take mechanism {model.name!r}: masses and inertias of "
                f"its bodies are so uneven that accelerations are off by {off:.1e} of the largest. "
                "Use formulation='lagrange', which computes such mechanisms in 32 digits."
            )

    def accuracy(self) -> Accuracy:
        """What double precision leaves open at the states so far; see `System.accuracy`."""
        known = super().accuracy()
        was_doubtful = self._judge_doubtful_moment()
        if not was_doubtful and not self._is_uneven and self.core.statistics()["smallest_inertia"] > _HIDDEN:
            return known
        self._note_errors()
        accelerations, efforts = self._missed
        return Accuracy(max(accelerations, known.accelerations), efforts)

    def _judge_doubtful_moment(self) -> bool:
        """Whether the motion since the last call had a moment with few digits; results are compared there."""
        if not self._is_comparable() or not self.core.go_to_doubtful_moment():
            return False
        try:
            self._note_errors()
        finally:
            self.core.go_back()
        return True

    def _note_errors(self) -> None:
        accelerations, efforts = (max(pair) for pair in zip(self._missed, self._errors(), strict=True))
        self._missed = (accelerations, efforts)

    def _is_comparable(self) -> bool:
        """Whether the accelerations agree with those of `lagrange` to within rounding."""
        return True

    def _errors(self) -> tuple[float, float]:
        """Errors of accelerations and of the efforts of rows at this state, each relative to the largest.

        If nothing accelerates, gravity and rotations of the bodies determine what could be large.
        """
        exact, state, arrays = _core.Lagrange(self.model.core), self.state(), self.model.arrays
        self.model.put(exact, state, False)
        linear, angular, efforts = zip(exact.accelerate(), self.core.accelerate(), strict=True)
        spin, speed = _largest(state.angular_velocity), _largest(state.velocity)
        could_be = max(_largest(arrays["gravity"]), spin * max(spin, speed), 1.0)
        moved = max(_largest(linear[0], angular[0]), _STILL * could_be)
        acted = moved * float(np.min(arrays["body_mass"]))
        off = _largest(linear[1] - linear[0], angular[1] - angular[0])
        which = [(blocks, pair) for _, blocks, pair in self.model.reactions]
        carried = [core.reactions(which)[0] for core in (exact, self.core)]
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
