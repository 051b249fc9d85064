"""Assembly by constraint forces that make the constraint errors decay, critically damped.

Source: P. Schröder, The Virtual Erector Set (1990), chapter 5.2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from bellcrank import _core
from bellcrank.compile.initial import asked, pulled_to
from bellcrank.compile.model import Model
from bellcrank.compile.positions import Found
from bellcrank.compile.state import Floats, State
from bellcrank.integrate.advance import Outcome, advance
from bellcrank.integrate.methods import MethodOptions, method_options

TIME_CONSTANT: Final = 0.1
"""Of the errors, s, unless it is given."""

_CLOSED: Final = 1e-9  # largest error after the motion, m or rad/2
_HEAVY: Final = 1e6  # masses of bodies that are to stay, times their own


@dataclass(frozen=True, eq=False)
class Closing:
    """A motion that closes a mechanism.

    asked: the model with all rows to be satisfied, including given positions of joints.
    pinned: indices of bodies that stay.
    begin, end: s; at the end only rounding errors are left, if the rows can be satisfied.
    time_constant: s. released: whether velocities and applied forces are those of the model.
    core: the system, for `advance`.
    """

    asked: Model
    pinned: Sequence[int]
    begin: float
    end: float
    time_constant: float
    released: bool
    core: _core.ConstraintForces

    def advance(
        self,
        times: Floats,
        observed: _core.Observation,
        on_block: Callable[[Floats], None],
        on_progress: Callable[[float], None],
    ) -> Outcome:
        """Advance through the times, the first of which is the beginning."""
        return advance(self.core, _method(self.end - self.begin), times, observed, on_block, on_progress)

    def found(self) -> Found:
        """The final configuration, with the remaining errors removed."""
        reached, start, fixed = State(*self.core.state()), self.asked.initial, list(self.pinned)
        position, rotation = reached.position.copy(), reached.rotation.copy()
        position[fixed], rotation[fixed] = start.position[fixed], start.rotation[fixed]
        reached = replace(reached, position=position, rotation=rotation)
        if not self.released:
            reached = replace(
                reached, time=start.time, velocity=start.velocity, angular_velocity=start.angular_velocity
            )
        found = pulled_to(self.asked, reached, fixed)
        return replace(found, method="constraint forces", steps=self.core.counts()[0], restarts=0)


def closing(
    model: Model, time_constant: float = TIME_CONSTANT, pinned: Sequence[int] = (), released: bool = False
) -> Closing:
    """The motion that closes a model from its initial state.

    time_constant: τ of  C'' + 2/τ C' + C/τ² = 0, s. pinned: indices of bodies that stay.
    released: velocities and applied forces are those of the model, and time advances; else the bodies start
        at rest, only the constraints and a drag act on them, and drives are held.
    """
    whole = asked(model)
    start = whole.initial
    if not released:
        still = np.zeros_like(start.velocity)
        start = replace(start, velocity=still, angular_velocity=still)
    core = _core.ConstraintForces(_held(whole, pinned).core, time_constant, released, start.time)
    core.set_state(*start.arrays)
    error, rate = core.violation()
    lasts = time_constant * _constants(error, rate * time_constant)
    return Closing(whole, pinned, start.time, start.time + lasts, time_constant, released, core)


def _constants(error: float, rate: float) -> float:
    """The number s of time constants after which  (C + (C' τ + C) s) exp(-s)  counts as closed."""
    s = 1.0
    for _ in range(60):  # converges like exp(-s): a few iterations are enough
        s = max(1.0, float(np.log(max(error + (rate + error) * s, 1e-300) / _CLOSED)))
    return s


def _held(model: Model, pinned: Sequence[int]) -> Model:
    """The model with the masses of some bodies increased so that constraints hardly move them."""
    if not pinned:
        return model
    mass, inertia = model.mass.copy(), model.inertia.copy()
    mass[list(pinned)] *= _HEAVY
    inertia[list(pinned)] *= _HEAVY
    return model.with_arrays(body_mass=mass, body_inertia=inertia)


def _method(duration: float) -> MethodOptions:
    return method_options("dopri5", duration, None, None, None, 1e-7, 1e-9)
