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
from bellcrank.analysis.leads import BEGIN, Lead
from bellcrank.assembly.compile import compile_mechanism
from bellcrank.assembly.model import Model
from bellcrank.assembly.state import Floats, State
from bellcrank.mechanism.marker import Marker
from bellcrank.trajectory.rotations import rotate
from bellcrank.viewer.twin import Twin


def held(leads: Sequence[Lead], model: Model, state: State) -> dict[str, float]:
    """Inputs by which leads go on as a state moves, with constant rates."""
    if not leads:
        return {}
    values, rates = values_and_rates(leads, model, state)
    return {BEGIN: state.time} | {
        name: value
        for lead, c0, c1 in zip(leads, values, rates, strict=True)
        for name, value in zip(lead.inputs, (float(c0), float(c1), 0.0, 0.0), strict=True)
    }


def cubics(
    leads: Sequence[Lead],
    begin: float,
    duration: float,
    now: tuple[Floats, Floats],
    then: tuple[Floats, Floats],
) -> dict[str, float]:
    """Inputs by which leads go from values and rates now to others after a duration, s."""
    (q, v), (p, w), h = now, then, duration
    chord = (p - q) / h
    c2, c3 = (3.0 * chord - 2.0 * v - w) / h, (v + w - 2.0 * chord) / h**2
    found = {BEGIN: begin}
    for lead, *numbers in zip(leads, q, v, c2, c3, strict=True):
        found.update(zip(lead.inputs, map(float, numbers), strict=True))
    return found


def values_and_rates(leads: Sequence[Lead], model: Model, state: State) -> tuple[Floats, Floats]:
    """Values and rates of the driven coordinates at a state, (n,) each."""
    values, rates = model.coordinate_motion(state)
    places = [lead.coordinate(model) for lead in leads]
    return values[places], rates[places]


_TIME_CONSTANT: Final = 0.1  # s
_AHEAD: Final = 1e-3  # s, by which rates are found
_ASTRAY: Final = (
    1e-5  # of how far the marker is from where it was led, relative to 1 m: something else moved it
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
        """In a twin that has leads, from a state on."""
        model = compile_mechanism(replace(twin, hands={}).mechanism(), state.time).started(state)
        return Jog(twin, marker, InverseKinematics(model, tolerance=1e-9, steps=30, restarts=0))

    def following(self, twin: Twin, state: State) -> Jog:
        """The same in a twin that came after its own."""
        if twin is self.twin:
            return self
        return replace(Jog.of(twin, self.marker, state), wanted=self.wanted, until=self.until)

    def inputs(self, model: Model, state: State, duration: float, now: float) -> dict[str, float]:
        """Of the leads, for the next part of a run.

        model: of the run. now: on the wall, s.
        """
        leads: tuple[Lead, ...] = self.twin.leads
        begin = values_and_rates(leads, model, state)
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
        return cubics(leads, state.time, duration, begin, (self._led(there), self._rates(there, velocity)))

    def _place(self, state: State) -> Floats:
        """Where the marker was led, or where it is, if something else has moved it since."""
        place = self._where(state)
        if self.place is None or np.linalg.norm(place - self.place) > _ASTRAY:
            number = self.search.model.body_number(self.marker.body)
            arm = place - state.position[number]
            self.place = place
            self.velocity = state.velocity[number] + np.cross(state.angular_velocity[number], arm)
        return self.place

    def _rates(self, there: Reached, velocity: Floats) -> Floats:
        """Of the leads, where the marker has a velocity."""
        if not velocity.any():
            return np.zeros(len(self.twin.leads))
        place = self._where(there.state)
        ends = [self._led(self._reach(place + side * _AHEAD * velocity, there.state)) for side in (1, -1)]
        rates: Floats = (ends[0] - ends[1]) / (2.0 * _AHEAD)
        return rates

    def _reach(self, target: Floats, start: State) -> Reached:
        return self.search.nearest({self.marker: target}, start)

    def _led(self, found: Reached) -> Floats:
        return np.array([found.coordinates[lead.coordinate(found.model)] for lead in self.twin.leads])

    def _where(self, state: State) -> Floats:
        number = self.search.model.body_number(self.marker.body)
        place: Floats = state.position[number] + rotate(
            state.rotation[number], np.array(self.marker.position)
        )
        return place
