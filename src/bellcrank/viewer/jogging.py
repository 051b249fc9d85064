"""Jogging: a marker is moved by hand during a run, while inverse kinematics finds the actuator motion.

The marker's velocity follows the requested one with a time constant, so that its acceleration is finite and
efforts are those of a real drive. At the end of each part of a run the marker has a prescribed position and
velocity; the driven coordinates and rates for these are joined to the current ones by cubics of time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from bellcrank.analysis.inverse_kinematics import InverseKinematics, Reached
from bellcrank.analysis.mobility import BEGIN, DrivenCoordinate
from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.model import Model
from bellcrank.compile.state import Floats, State
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.rotation_arrays import rotate
from bellcrank.viewer.twin import Twin


def held(driven: Sequence[DrivenCoordinate], model: Model, state: State) -> dict[str, float]:
    """Inputs by which driven coordinates go on as a state moves, with constant rates."""
    if not driven:
        return {}
    values, rates = values_and_rates(driven, model, state)
    return {BEGIN: state.time} | {
        name: value
        for one, c0, c1 in zip(driven, values, rates, strict=True)
        for name, value in zip(one.inputs, (float(c0), float(c1), 0.0, 0.0), strict=True)
    }


def cubics(
    driven: Sequence[DrivenCoordinate],
    begin: float,
    duration: float,
    now: tuple[Floats, Floats],
    then: tuple[Floats, Floats],
) -> dict[str, float]:
    """Inputs by which driven coordinates go from values and rates now to others after a duration, s."""
    (q, v), (p, w), h = now, then, duration
    chord = (p - q) / h
    c2, c3 = (3.0 * chord - 2.0 * v - w) / h, (v + w - 2.0 * chord) / h**2
    found = {BEGIN: begin}
    for one, *numbers in zip(driven, q, v, c2, c3, strict=True):
        found.update(zip(one.inputs, map(float, numbers), strict=True))
    return found


def values_and_rates(driven: Sequence[DrivenCoordinate], model: Model, state: State) -> tuple[Floats, Floats]:
    """Values and rates of the driven coordinates at a state, (n,) each."""
    values, rates = model.coordinate_motion(state)
    places = [one.coordinate(model) for one in driven]
    return values[places], rates[places]


_TIME_CONSTANT: Final = 0.1  # s
_AHEAD: Final = 1e-3  # s, by which rates are found
_ASTRAY: Final = (
    1e-5  # of how far the marker is from where it was driven, relative to 1 m: something else moved it
)
_STILL: Final = 1e-6  # m/s


@dataclass(eq=False)
class Jog:
    """A marker that is jogged.

    marker: what. wanted: its velocity (3,), m/s, world axes, until a moment on the wall, s.
    stopped: whether it could not go on as it was asked to.
    """

    twin: Twin
    marker: Marker
    search: InverseKinematics
    wanted: Floats = field(default_factory=lambda: np.zeros(3))
    until: float = 0.0
    stopped: bool = False
    place: Floats | None = None
    velocity: Floats = field(default_factory=lambda: np.zeros(3))

    @staticmethod
    def of(twin: Twin, marker: Marker, state: State) -> Jog:
        """In a twin that drives coordinates, from a state on."""
        model = compile_mechanism(replace(twin, hands={}).mechanism(), state.time).started(state)
        return Jog(twin, marker, InverseKinematics(model, tolerance=1e-9, steps=30, restarts=0))

    def following(self, twin: Twin, state: State) -> Jog:
        """The same in a twin that came after its own."""
        if twin is self.twin:
            return self
        return replace(Jog.of(twin, self.marker, state), wanted=self.wanted, until=self.until)

    def inputs(self, model: Model, state: State, duration: float, now: float) -> dict[str, float]:
        """Of the driven coordinates, for the next part of a run.

        model: of the run. now: on the wall, s.
        """
        driven: tuple[DrivenCoordinate, ...] = self.twin.driven
        begin = values_and_rates(driven, model, state)
        place = self._place(state)
        wanted = self.wanted if now < self.until else np.zeros(3)
        left = np.exp(-duration / _TIME_CONSTANT)
        slip = self.velocity - wanted
        target = place + wanted * duration + slip * (_TIME_CONSTANT * (1.0 - left))
        velocity = wanted + slip * left
        if np.linalg.norm(velocity) < _STILL and not wanted.any():
            velocity = np.zeros(3)
        if state.angles is not None and len(state.angles) != len(self.search.model.angular):
            state = replace(state, angles=None)
        there = self._reach(target, state)
        self.stopped = not there.reached
        if self.stopped:
            velocity = np.zeros(3)
        self.place, self.velocity = self._where(there.state), velocity
        return cubics(
            driven, state.time, duration, begin, (self._driven(there), self._rates(there, velocity))
        )

    def _place(self, state: State) -> Floats:
        """Where the marker was driven, or where it is, if something else has moved it since."""
        place = self._where(state)
        if self.place is None or np.linalg.norm(place - self.place) > _ASTRAY:
            number = self.search.model.body_number(self.marker.body)
            arm = place - state.position[number]
            self.place = place
            self.velocity = state.velocity[number] + np.cross(state.angular_velocity[number], arm)
        return self.place

    def _rates(self, there: Reached, velocity: Floats) -> Floats:
        """Of the driven coordinates, where the marker has a velocity."""
        if not velocity.any():
            return np.zeros(len(self.twin.driven))
        place = self._where(there.state)
        ends = [self._driven(self._reach(place + side * _AHEAD * velocity, there.state)) for side in (1, -1)]
        rates: Floats = (ends[0] - ends[1]) / (2.0 * _AHEAD)
        return rates

    def _reach(self, target: Floats, start: State) -> Reached:
        return self.search.nearest({self.marker: target}, start)

    def _driven(self, found: Reached) -> Floats:
        return np.array([found.coordinates[one.coordinate(found.model)] for one in self.twin.driven])

    def _where(self, state: State) -> Floats:
        number = self.search.model.body_number(self.marker.body)
        place: Floats = state.position[number] + rotate(
            state.rotation[number], np.array(self.marker.position)
        )
        return place
