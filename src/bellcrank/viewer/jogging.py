"""Jogging: a marker is moved by hand during a run, while inverse kinematics finds the actuator motion.

Coordinates whose rates do not move the marker stay where they are, as a wrist does for a point on its axis,
or turn so that the marker keeps its axes as well as they can. The marker's velocity follows the requested one
with a time constant, so that its acceleration is finite and efforts are those of a real drive. At the end of
each part of a run the marker has a prescribed position and velocity; the driven coordinates and rates for
these are joined to the current ones by cubics of time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from bellcrank import _core
from bellcrank.analysis.inverse_kinematics import InverseKinematics, Reached
from bellcrank.analysis.mobility import BEGIN, DrivenCoordinate, coordinate_jacobian, null_space
from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.model import Model
from bellcrank.compile.state import Floats, State
from bellcrank.mechanism.checking import Quat
from bellcrank.mechanism.joint_kinds import Free
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.rotation_arrays import product, rotate
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
_PLACE: Final = "place of what is jogged"  # a joint of no rows, whose coordinates they are
_IDLE: Final = 1e-9  # of the fastest: how fast a coordinate moves the marker that does not move it
_AT_LIMIT: Final = 1e-6  # m or rad


def _search(model: Model, idle: Sequence[DrivenCoordinate]) -> InverseKinematics:
    return InverseKinematics(model, held=[one.name for one in idle], tolerance=1e-9, steps=30, restarts=0)


def _idle(driven: Sequence[DrivenCoordinate], model: Model, state: State) -> tuple[DrivenCoordinate, ...]:
    """Coordinates that do not move the marker while the others stand."""
    drives = [block for drive in model.drives for block in drive.blocks]
    bodies = _core.Bodies(model.core)
    bodies.set_state(*state.arrays)
    free = null_space(
        bodies.rows()[3][model.rigid_rows & ~np.isin(model.row_block, drives)], 6 * len(model.bodies)
    )
    rates = coordinate_jacobian(model, [one.coordinate(model) for one in driven], state) @ free
    places = coordinate_jacobian(model, model.joint(_PLACE).coordinates[:3], state) @ free
    speeds = np.linalg.norm(places @ np.linalg.pinv(rates), axis=0)
    least = _IDLE * np.max(speeds, initial=0.0)
    return tuple(one for one, speed in zip(driven, speeds.tolist(), strict=True) if speed <= least)


@dataclass(eq=False)
class Jog:
    """A marker that is jogged.

    marker: what. level: whether its axes keep their directions, `upright`, as far as possible. idle: driven
    coordinates that do not move it. wanted: its velocity (3,), m/s, world axes,
    until a moment on the wall, s.
    stopped: whether it could not go on as it was asked to; limits: the joints that were at a limit then.
    """

    twin: Twin
    marker: Marker
    level: bool
    idle: tuple[DrivenCoordinate, ...]
    search: InverseKinematics
    upright: Quat
    wanted: Floats = field(default_factory=lambda: np.zeros(3))
    until: float = 0.0
    stopped: bool = False
    limits: tuple[str, ...] = ()
    place: Floats | None = None
    velocity: Floats = field(default_factory=lambda: np.zeros(3))

    @staticmethod
    def of(twin: Twin, marker: Marker, state: State, level: bool = False) -> Jog:
        """In a twin that drives coordinates, from a state on."""
        mechanism = replace(twin, hands={}).mechanism()
        mechanism.add_joint(_PLACE, Free(), mechanism.ground.marker(), marker)
        model = compile_mechanism(mechanism, state.time).started(state)
        idle = _idle(twin.driven, model, state)
        turn = product(state.rotation[model.body_number(marker.body)], np.array(marker.rotation))
        return Jog(twin, marker, level, idle, _search(model, idle), tuple(turn.tolist()))

    def following(self, twin: Twin, state: State) -> Jog:
        """The same in a twin that came after its own."""
        if twin is self.twin:
            return self
        anew = Jog.of(twin, self.marker, state, self.level)
        return replace(anew, upright=self.upright, wanted=self.wanted, until=self.until)

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
        self._hold(values := held(driven, self.search.model, state))
        there = self._reach(target, state)
        if not there.reached and self.idle:
            self.idle, self.search = (), _search(self.search.model, ())
            there = self._reach(target, state)
        turns = self._turns(there, values) if self.level and self.idle else None
        if turns is not None:
            there = self._levelled(there, values, turns)
        self.stopped = not there.reached
        self.limits = self._at_limits(there) if self.stopped else ()
        rates = np.zeros(len(there.coordinates))
        if velocity.any() and not self.stopped:
            rates = self._rates(there, velocity, values, turns)
        slower = self._slower(there, rates, duration)
        velocity, rates = (np.zeros(3) if self.stopped else slower * velocity), slower * rates
        self.place, self.velocity = self._where(there.state), velocity
        places = [one.coordinate(there.model) for one in driven]
        return cubics(driven, state.time, duration, begin, (there.coordinates[places], rates[places]))

    def _place(self, state: State) -> Floats:
        """Where the marker was driven, or where it is, if something else has moved it since."""
        place = self._where(state)
        if self.place is None or np.linalg.norm(place - self.place) > _ASTRAY:
            number = self.search.model.body_number(self.marker.body)
            arm = place - state.position[number]
            self.place = place
            self.velocity = state.velocity[number] + np.cross(state.angular_velocity[number], arm)
        return self.place

    def _rates(
        self, there: Reached, velocity: Floats, values: dict[str, float], turns: Floats | None
    ) -> Floats:
        """Of all coordinates, where the marker has a velocity."""
        place, ends = self._where(there.state), []
        for side in (1, -1):
            self._hold(values)
            end = self._reach(place + side * _AHEAD * velocity, there.state)
            ends.append((end if turns is None else self._levelled(end, values, turns)).coordinates)
        rates: Floats = (ends[0] - ends[1]) / (2.0 * _AHEAD)
        return rates

    def _slower(self, there: Reached, rates: Floats, duration: float) -> float:
        """The part of rates with which no joint runs into a limit within the next part of the run."""
        part = 1.0
        for _, coordinate, lower, upper in self._limited(there.model):
            rate, at = float(rates[coordinate]), float(there.coordinates[coordinate])
            left, ahead = max(0.0, upper - at if rate > 0.0 else at - lower), abs(rate) * duration
            if ahead > left:
                part = min(part, left / ahead)
        return part

    def _limited(self, model: Model) -> Iterator[tuple[str, int, float, float]]:
        """Joints with limits: name, coordinate, lower and upper end."""
        for name, joint in self.twin.numbers.joints.items():
            for which, limits in joint.limits:
                coordinate = model.joint(name).coordinates[joint.kind.free.index(which)]
                lower = -np.inf if limits.lower is None else float(limits.lower)
                yield name, coordinate, lower, np.inf if limits.upper is None else float(limits.upper)

    def _hold(self, values: dict[str, float]) -> None:
        self.search.set_inputs(values)

    def _reach(self, target: Floats, start: State) -> Reached:
        whole = self.level and not self.idle
        return self.search.nearest({self.marker: (target, self.upright) if whole else target}, start)

    def _moved(self, found: Reached, values: dict[str, float], by: Floats) -> Reached:
        """The same place, idle coordinates moved."""
        at = [found.coordinates[one.coordinate(found.model)] for one in self.idle]
        moved = {one.inputs[0]: float(q + d) for one, q, d in zip(self.idle, at, by.tolist(), strict=True)}
        self._hold(values | moved)
        return self._reach(self._where(found.state), found.state)

    def _turns(self, found: Reached, values: dict[str, float]) -> Floats:
        """How the marker turns as idle coordinates move, (3, idle), world axes."""
        columns = []
        for number in range(len(self.idle)):
            ends = [self._tilt(self._moved(found, values, side * _AHEAD * np.eye(len(self.idle))[number]))
                    for side in (1.0, -1.0)]  # fmt: skip
            columns.append((ends[1] - ends[0]) / (2.0 * _AHEAD))
        return np.stack(columns, axis=1)

    def _levelled(self, found: Reached, values: dict[str, float], turns: Floats) -> Reached:
        """With idle coordinates at which the marker is turned least."""
        return self._moved(found, values, np.linalg.pinv(turns, rcond=1e-6) @ self._tilt(found))

    def _tilt(self, found: Reached) -> Floats:
        """The rotation vector (3,) that takes the marker back to its axes, world axes."""
        turn = product(
            found.state.rotation[found.model.body_number(self.marker.body)], np.array(self.marker.rotation)
        )
        back = _core.quaternion_product(self.upright, _core.quaternion_conjugate(tuple(turn.tolist())))
        return np.array(_core.quaternion_log(back))

    def _at_limits(self, found: Reached) -> tuple[str, ...]:
        """Joints that are at a limit."""
        places = [(name, found.coordinates[at], ends) for name, at, *ends in self._limited(found.model)]
        return tuple(
            dict.fromkeys(name for name, at, ends in places if np.min(np.abs(at - ends)) < _AT_LIMIT)
        )

    def _where(self, state: State) -> Floats:
        number = self.search.model.body_number(self.marker.body)
        place: Floats = state.position[number] + rotate(
            state.rotation[number], np.array(self.marker.position)
        )
        return place
