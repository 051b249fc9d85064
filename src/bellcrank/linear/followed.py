"""A run along directions of its parameters and of its start, and backwards from what it recorded.

The core follows the run again, with the stages of Dormand and Prince and the equations of motion along
directions (docs/theory/run-derivatives.md). What the start depends on, initial positions and
assembly among it, is found by assembling the mechanism beside the values given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, TypeAlias

import numpy as np

from bellcrank import _core
from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.contacts import refuse_contacts, refuse_holding
from bellcrank.compile.model import Model
from bellcrank.compile.parametric_numbers import ParametricNumbers, parametric_numbers
from bellcrank.compile.state import Floats
from bellcrank.errors import BellcrankError, Fault, FaultList, MechanismError, Unsupported
from bellcrank.formulations.preparing import prepare
from bellcrank.linear.own_directions import OwnDirections
from bellcrank.linear.quantities import OfCoordinate, OfMultiplier, OfPoint, Quantity, quantities_of
from bellcrank.linear.sampling import without_stops
from bellcrank.linear.state_chart import Directions, StateChart
from bellcrank.linear.variables import (
    Variable,
    directions_along,
    places_of_input,
    refuse_open,
    states_of,
    variables_of,
)
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.parameters import Parameter
from bellcrank.run.controllers import HeldInputs, checked_controllers
from bellcrank.run.simulate import start_with_tape
from bellcrank.run.start import assembled_for
from bellcrank.trajectory.columns import quantity
from bellcrank.trajectory.trajectory import Trajectory

_OPEN: Final = 1e-9  # change of a row per unit of a parameter that is rounding
_NOISE: Final = 1e-11  # of a start's coordinates, found by assembling
_STEP: Final = 1e-3  # of a parameter, to assemble beside
_LEAST_ORDER: Final = 4  # of a method
_FORMULATIONS: Final = ("lagrange", "recursive", "dca")
_MULTIPLIER, _FRAME, _TIME = 3, 4, 5
_FRAME_NUMBERS: Final = 15
# Of a body's frame: where position, velocity and acceleration stand, and angular velocity and acceleration.
_LINEAR, _ANGULAR = (0, 3, 6), (None, 9, 12)
_POSSIBLE: Final = (
    "coordinates of joints, their .rate and .acceleration, efforts of drives and constraints, and positions, "
    "velocities and accelerations of bodies, such as body.crank.x"
)
_REMARKS: Final[Mapping[str, str]] = {
    "grazing": "{stop} is met at only {size:.2g} m/s or rad/s at t = {t:.6g} s: derivatives grow as this "
    "falls, and change where it is missed",
    "together": "{stop} is met together with another stop at t = {t:.6g} s: derivatives are those of one "
    "order of the two",
    "touching": "the run starts on {stop} and leaves it: derivatives are those to one side",
    "idle": "{stop} is closed at t = {t:.6g} s, and next to nothing pushes on it: derivatives are those to "
    "the side on which it stays closed",
    "jump": "accelerations jump by {size:.2g} at t = {t:.6g} s, where a force begins or ends: what a change "
    "of this moment does is missing",
    "open": "constraints could not be kept along some direction at t = {t:.6g} s, by {size:.1e} per unit: "
    "the pose is singular or close to it, and derivatives behind it mean nothing",
}


Part: TypeAlias = tuple[tuple[int, int], float]
"""What the core watches, and a number of it, with a factor."""


@dataclass(frozen=True)
class Followed:
    """A quantity as a sum of what the core watches."""

    name: str
    unit: str
    parts: tuple[Part, ...]


class FollowedRun:
    """A run that has been simulated, to be differentiated.

    run: what was recorded. of: the quantities that are watched. by: names of what they are differentiated
    by, with units; values: what these are.

    of: quantities as in tables of runs. by: parameters, inputs, and coordinates and speeds of the start, as
    `System.derivatives` names them.
    arguments: those of `simulate`; formulations are `lagrange`, `recursive` and `dca`. tolerance: of
    derivatives, relative; that of the run, unless it is larger.
    held: values of coordinates and speeds of the start, by name, in place of those that it is assembled with;
    they do not move with parameters. chart: of which they are, for a mechanism with other numbers.

    Raises MechanismError for unknown names, for parameters that open a loop and for those that move the time
    at which a function of time jumps; Unsupported for quantities, parameters, and parts of mechanisms
    without derivatives; what `simulate` raises.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        duration: float | None,
        of: Iterable[str] | Callable[[Trajectory], Iterable[str]],
        by: Sequence[str],
        arguments: Mapping[str, Any],
        tolerance: float = 0.0,
        held: Mapping[str, float] | None = None,
        chart: StateChart | None = None,
    ) -> None:
        given = {"formulation": "auto", **arguments}
        _refuse_other(given["formulation"])
        if given.get("assemble", True) == "constraint_forces":
            raise Unsupported("derivatives of a run that closes its mechanism on the way are not implemented")
        self._held_inputs = _held_inputs(given.get("controllers", ()))
        if duration is None and given.get("times") is None:
            rule, advice = "derivatives are those of a run, which needs a duration, or times", "duration=1.0"
            raise MechanismError(Fault("run", rule, None, f"such as {advice}"))
        run = start_with_tape(mechanism, duration, **given)
        given["formulation"] = run.formulation
        _refuse_other(run.formulation)
        refuse_contacts(run.model, "derivatives of runs")
        refuse_holding(run.model, "derivatives of runs")
        self.mechanism, self._arguments = mechanism, given
        self.method = run.plan.method
        if self.method.method.order < _LEAST_ORDER:
            raise Unsupported(
                f"derivatives of runs by method {self.method.method.name!r} are not implemented; "
                "take 'rk4', 'dopri5', 'adams', 'bdf' or 'auto'"
            )
        free = without_stops(run.model)
        self.chart = StateChart(free, run.state) if chart is None else chart.moved_to(free)
        self._at = np.concatenate(self.chart.coordinates_of(free, run.state))
        listed = [one.name for one in states_of(self.chart)]
        self._held = np.array([name in (held or {}) for name in listed], dtype=bool)
        if held:
            self._at[self._held] = [held[name] for name in listed if name in held]
            state = self.chart.at(*self._split(self._at))
            run = start_with_tape(mechanism, duration, **(given | {"state": state}))
        self._start, self._model = run.state, run.model
        counts = {name: len(one.values[name]) for name, one in self._held_inputs.items()}
        if moving := sorted(_moving(run.model) & counts.keys()):
            raise Unsupported(
                "derivatives of runs in which inputs that move drives are held, as "
                f"{moving[0]!r} is, are not implemented"
            )
        self.variables = variables_of(run.model, self.chart, by, counts)
        if any(one.kind == "time" for one in self.variables):
            raise Unsupported("derivatives of runs by the time at which they start are not implemented")
        self.by = tuple(one.name for one in self.variables)
        self.units = tuple(one.unit for one in self.variables)
        self.values = np.array([self._value(one) for one in self.variables])
        self.run: Trajectory = run.complete()
        if self.run.status != "finished":
            raise Unsupported(f"a run that ended as {self.run.status!r} has no derivatives")
        self.of = self._watched(list(of(self.run) if callable(of) else of))
        places = dict.fromkeys(place for one in self.of for place, _ in one.parts)
        self._place = {place: number for number, place in enumerate(places)}
        self._core, self._system = run.followed(list(places), tolerance), run.system
        self._end = run.state

    @cached_property
    def impacts(self) -> tuple[Floats, Floats, Floats]:
        """Times of impacts (impacts,), and what is watched before and behind each, (impacts, of)."""
        times, *sides = self._core.beside_impacts()
        before, behind = (self._of_parts(side) for side in sides)
        return times, before, behind

    def along(self) -> tuple[Floats, Floats]:
        """Changes of what is watched (frames, of, by), and of the times of impacts (impacts, by)."""
        found, _, late = self._core.follow(*self._directions)
        return self._of_parts(found).transpose(0, 2, 1), late

    def _of_parts(self, parts: Floats) -> Floats:
        """What is watched (..., of), from what the core watches."""
        factors = np.zeros((len(self._place), len(self.of)))
        for number, one in enumerate(self.of):
            for place, factor in one.parts:
                factors[self._place[place], number] += factor
        found: Floats = parts @ factors
        return found

    def back(self, weights: Floats, of_impacts: Floats, errors: bool = False) -> tuple[Floats, float]:
        """The gradient (by,) of a sum of what is watched with weights (frames, of), and its error.

        of_impacts: weights (impacts,) of their times, which are added.
        The error is what the sum would be without those of the method, less what it is; nan unless it is
        asked for.
        """
        seeds = np.zeros((len(weights), len(self._place)))
        for number, one in enumerate(self.of):
            for place, factor in one.parts:
                seeds[:, self._place[place]] += factor * weights[:, number]
        dx, du, places, along, intervals = self._directions
        of_x, of_u, of_numbers, error = self._core.follow_back(seeds, of_impacts, places, errors, intervals)
        return dx @ of_x + du @ of_u + along @ of_numbers, error

    def warnings(self) -> tuple[str, ...]:
        """What the last pass found that makes derivatives large, one-sided or meaningless."""
        found = []
        for kind, t, row, size in self._core.remarks():
            stop = self._model.row_text(row) if row >= 0 else ""
            found.append(_REMARKS[kind].format(stop=stop, t=t, size=size))
        return tuple(dict.fromkeys(found))

    def _value(self, one: Variable) -> float:
        if one.kind == "parameter":
            return float(self.mechanism.parameters[one.key].value)
        if one.kind == "held":
            return float(self._held_inputs[one.key].values[one.key][one.number])
        if one.kind == "input":
            set_to = self._arguments.get("inputs") or {}
            own = next(symbol.value for symbol in self._model.inputs if symbol.name == one.key)
            return float(set_to.get(one.key, own))
        return float(self._split(self._at)[one.kind == "speed"][one.number])

    def _split(self, states: Floats) -> tuple[Floats, Floats]:
        """Coordinates, and speeds."""
        count = len(self.chart.coordinates)
        return states[:count], states[count:]

    def _watched(self, names: Sequence[str]) -> tuple[Followed, ...]:
        found, faults = list[Followed](), FaultList()
        for name in names:
            with faults.collect():
                one = self._known(name)
                self._refuse_shared(one.name, one.parts)
                found.append(one)
        faults.raise_any()
        return tuple(found)

    def _known(self, name: str) -> Followed:
        """What is followed under a name."""
        if name.partition(" [")[0].strip() == "time":
            return Followed("time", "s", (((_TIME, 0), 1.0),))
        try:
            (one,), _ = quantities_of(self._model, [name])
            parts = self._parts(one)
        except MechanismError:
            parts = ()
        if not parts:
            recorded = quantity(self.run, name).name  # which says what there is if this is not
            raise Unsupported(
                f"derivatives of {recorded!r} are not implemented; there are those of {_POSSIBLE}"
            )
        return Followed(one.name, one.unit, parts)

    def _parts(self, one: Quantity) -> tuple[Part, ...]:
        if isinstance(one, OfCoordinate):
            return (((one.level, one.coordinate), 1.0),)
        if isinstance(one, OfMultiplier):
            return (((_MULTIPLIER, one.row), one.sign),)
        kind, _, body = one.point.partition(".") if isinstance(one, OfPoint) else ("", "", "")
        if not isinstance(one, OfPoint) or kind != "body":
            return ()
        turns = one.part >= 3
        first = (_ANGULAR if turns else _LINEAR)[one.level]
        number = _FRAME_NUMBERS * self._model.body_index[body] + (first or 0) + one.part % 3
        return (((_FRAME, number), 1.0),)

    def _refuse_shared(self, name: str, parts: Sequence[Part]) -> None:
        """Raise Unsupported for an effort that the equations of motion leave open."""
        rows = [row for (what, row), _ in parts if what == _MULTIPLIER]
        for number, one in enumerate(self._model.multipliers if rows else ()):
            if one.row not in rows:
                continue
            unique = self.run.store.read("unique_multipliers", number)
            if not unique.all():
                raise Unsupported(
                    f"{name} is not determined by the equations of motion at "
                    f"{np.count_nonzero(unique == 0.0)} frames: redundant constraints share it, and "
                    "derivatives of such shares are not implemented"
                )

    @cached_property
    def _directions(self) -> tuple[Floats, Floats, list[tuple[str, int]], Floats, list[int]]:
        """Changes of the start (by, n), (by, n) and of numbers of the model, by place, (by, places).

        And the interval of the run in which each place changes, -1 where in all of them.
        """
        names = [one.key for one in self.variables if one.kind == "parameter"]
        followed = parametric_numbers(self._model) if names else None
        if names and (given_ones := sorted(_moving(self._model) & set(self._arguments.get("inputs") or ()))):
            raise Unsupported(
                f"derivatives of runs by parameters are not implemented where inputs= moves drives, as "
                f"{', '.join(given_ones)} does: make the inputs with these values"
            )
        given = directions_along(self.variables, self.chart, self._model, followed)
        if followed is not None and self._move_start(names, followed):
            given = self._with_start(given, followed)
        self._refuse_moved_breaks(given)
        self.chart.at(*self._split(self._at))
        moved = self.chart.directions(given)
        self._refuse_open(*moved, given.places, given.numbers)
        self._core.begin()
        own = OwnDirections(self._system.core, len(self._model.bodies), given)
        places, intervals, changes = self._held_places()
        return (
            *own.of_bodies(*moved),
            [*given.places, *places],
            np.hstack([given.numbers, changes]),
            [-1] * len(given.places) + intervals,
        )

    def _held_places(self) -> tuple[list[tuple[str, int]], list[int], Floats]:
        """Places of inputs, the intervals in which values are held there, and changes (by, places)."""
        begins = np.array(self._core.intervals) - self._start.time
        inputs = {symbol.name: places_of_input(at) for symbol, at in self._model.inputs.items()}
        numbers = {
            name: [one.number_at(name, elapsed) for elapsed in begins]
            for name, one in self._held_inputs.items()
        }
        found = [
            (row, place, interval)
            for row, one in enumerate(self.variables)
            if one.kind == "held"
            for interval, number in enumerate(numbers[one.key])
            if number == one.number
            for place in inputs[one.key]
        ]
        changes = np.zeros((len(self.variables), len(found)))
        changes[[row for row, _, _ in found], np.arange(len(found))] = 1.0
        return [place for _, place, _ in found], [interval for _, _, interval in found], changes

    def _refuse_open(self, dx: Floats, du: Floats, places: list[tuple[str, int]], along: Floats) -> None:
        """Raise MechanismError for variables along which rows that depend on others are not met.

        At the start and at the end: at one pose a loop may stay closed by chance.
        """
        allowed = _OPEN * (1.0 + np.max(np.abs(along), axis=1, initial=0.0))
        still = np.zeros((len(along), dx.shape[1]))
        system = prepare(self._model, "lagrange")
        for state, x, u in ((self._start, dx, du), (self._end, still, still)):
            system.set_state(state)
            system.core.accelerate()
            left = _core.closed_directions(system.core, x, u, np.zeros(0), places, along)[2]
            refuse_open(self.variables, left, allowed)

    def _with_start(self, given: Directions, followed: ParametricNumbers) -> Directions:
        """The same directions with what the start does along parameters, and what is taken from it."""
        values, rates = given.values.copy(), given.rates.copy()
        taken = np.zeros((len(self.variables), len(followed.start)))
        for number, one in enumerate(self.variables):
            if one.kind == "parameter":
                change = self._assembled_beside(one.key, followed)
                split = np.cumsum([values.shape[1], rates.shape[1]])
                values[number], rates[number], taken[number] = np.split(change, split)
        kept = [k for k, place in enumerate(given.places) if tuple(place) not in followed.start]
        places = [*(given.places[k] for k in kept), *followed.start]
        numbers = np.hstack([given.numbers[:, kept], taken])
        return replace(given, values=values, rates=rates, places=places, numbers=numbers)

    def _assembled_beside(self, name: str, followed: ParametricNumbers) -> Floats:
        """How coordinates of the start, speeds, and numbers taken from it change with a parameter."""
        parameter, step = self.mechanism.parameters[name], self._step(name)
        low, high = bounds_of(parameter)

        def at(k: int) -> Floats:
            return self._started_with({name: parameter.value + k * step}, followed)

        if low <= parameter.value - 2 * step and parameter.value + 2 * step <= high:
            near, far = at(1) - at(-1), at(2) - at(-2)
            change = (8.0 * near - far) / (12.0 * step)
        else:
            side = 1 if parameter.value + 4 * step <= high else -1
            weights = (-25.0 / 12.0, 4.0, -3.0, 4.0 / 3.0, -0.25)
            change = np.array(weights) @ np.array([at(side * k) for k in range(5)]) / (side * step)
        change[np.abs(change) * step < _NOISE] = 0.0
        return change

    def _step(self, name: str) -> float:
        return _STEP * (abs(self.mechanism.parameters[name].value) or 1.0)

    def _move_start(self, names: Sequence[str], followed: ParametricNumbers) -> bool:
        """Whether parameters move the start: most do not, and one assembly for all of them shows it."""
        values = {}
        for number, name in enumerate(names):
            parameter, step = self.mechanism.parameters[name], (1.0 + 0.1 * number) * self._step(name)
            inside = parameter.value + step <= bounds_of(parameter)[1]
            values[name] = parameter.value + (step if inside else -step)
        numbers = [float(np.ravel(self._model.arrays[array])[index]) for array, index in followed.start]
        here = np.concatenate([self._at, numbers])
        try:
            moved = self._started_with(values, followed) - here
        except BellcrankError:  # together they may be too much
            return True
        return bool(np.max(np.abs(moved), initial=0.0) > _NOISE)

    def _started_with(self, values: Mapping[str, float], followed: ParametricNumbers) -> Floats:
        begin = self._start.time
        model = compile_mechanism(self.mechanism.with_parameters(**values), begin)
        state = self._arguments.get("state")
        if state is None and self._arguments.get("assemble", True):
            model, _ = assembled_for(model, None)
        system = prepare(model, "lagrange")
        system.set_state(model.initial if state is None else state)
        system.project()
        states = np.concatenate(self.chart.coordinates_of(without_stops(model), system.state()))
        states[self._held] = self._at[self._held]
        numbers = [float(np.ravel(model.arrays[array])[index]) for array, index in followed.start]
        return np.concatenate([states, numbers])

    def _refuse_moved_breaks(self, given: Directions) -> None:
        """Raise Unsupported for parameters that move times at which functions of time jump."""
        model, times = self._model, (float(self.run.time[0]), float(self.run.time[-1]))
        of_functions = [k for k, (array, _) in enumerate(given.places) if array == "function_params"]
        if not of_functions:
            return
        here = _breaks(model, times)
        if not here:
            return
        for number, name in enumerate(self.by):
            values = np.array(model.arrays["function_params"], dtype=float)
            for k in of_functions:
                values[given.places[k][1]] += 1e-6 * given.numbers[number, k]
            if _breaks(model.with_arrays(function_params=values), times) != here:
                raise Unsupported(
                    f"derivatives by {name!r} are not implemented: it moves a time at which a function of "
                    "time jumps"
                )


def _moving(model: Model) -> set[str]:
    """Names of inputs that move drives, joints or constraints."""
    return {symbol.name for symbol, at in model.inputs.items() if at.constrains}


def _held_inputs(controllers: Any) -> dict[str, HeldInputs]:
    """What holds each input, by name. Raises Unsupported for what sets inputs as a function."""
    found = dict[str, HeldInputs]()
    for one in checked_controllers(controllers):
        if not isinstance(one, HeldInputs):
            raise Unsupported(
                f"derivatives of runs with controllers are not implemented, as nothing is known of what "
                f"{one.name!r} does where the motion changes; take bc.HeldInputs for values that it sets "
                "anyway, or describe what it does as a force of coordinates and rates"
            )
        found |= dict.fromkeys(one.values, one)
    return found


def _refuse_other(formulation: str) -> None:
    if formulation not in ("auto", *_FORMULATIONS):
        listed = ", ".join(map(repr, _FORMULATIONS))
        raise Unsupported(
            f"derivatives of runs are implemented for formulations {listed}, not {formulation!r}"
        )


def bounds_of(parameter: Parameter) -> tuple[float, float]:
    """The bounds of a parameter, infinite where it has none."""
    low = -np.inf if parameter.low is None else parameter.low
    return low, np.inf if parameter.high is None else parameter.high


def _breaks(model: Model, times: tuple[float, float]) -> list[float]:
    return list(_core.break_times(_core.Bodies(model.core), *times))
