"""A run along directions of its parameters and of its start, and backwards from what it recorded.

The core follows the run again, with the stages of Dormand and Prince and the equations of motion along
directions (docs/theory/run-derivatives.md). What the start depends on, initial positions and
assembly among it, is found by assembling the mechanism beside the values given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np

from bellcrank import _core
from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.model import Model
from bellcrank.compile.parametric_numbers import ParametricNumbers, parametric_numbers
from bellcrank.compile.state import Floats
from bellcrank.errors import BellcrankError, Fault, FaultList, MechanismError, Unsupported
from bellcrank.formulations.preparing import prepare
from bellcrank.linear.sampling import without_stops
from bellcrank.linear.state_chart import StateChart
from bellcrank.mechanism.checking import nearest
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.parameters import Parameter, inputs_of
from bellcrank.run.run import Run
from bellcrank.run.simulate import start_with_tape
from bellcrank.run.start import assembled_for
from bellcrank.trajectory.columns import Quantity, UnknownQuantity, quantity
from bellcrank.trajectory.observation import Observation
from bellcrank.trajectory.trajectory import Trajectory

_OPEN: Final = 1e-9  # change of a row per unit of a parameter that is rounding
_NOISE: Final = 1e-11  # of a start's coordinates, found by assembling
_STEP: Final = 1e-3  # of a parameter, to assemble beside
_LEAST_ORDER: Final = 4  # of a method
_VALUE, _RATE, _SECOND, _MULTIPLIER, _FRAME, _TIME = range(6)
_FRAME_NUMBERS: Final = {
    "position": ("x", "y", "z"),
    "velocity": ("vx", "vy", "vz"),
    "acceleration": ("ax", "ay", "az"),
    "angular_velocity": ("wx", "wy", "wz"),
    "angular_acceleration": ("alphax", "alphay", "alphaz"),
}
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


class _Changes:
    """Changes of numbers of a model, by place, along directions."""

    def __init__(self, directions: int) -> None:
        self.found: dict[tuple[str, int], Floats] = {}
        self._directions = directions

    def note(self, place: tuple[str, int], direction: int, change: float) -> None:
        """A number changes along a direction."""
        if change:
            self.found.setdefault(place, np.zeros(self._directions))[direction] = change


class FollowedRun:
    """A run that has been simulated, to be differentiated.

    run: what was recorded. of: the quantities that are watched. by: names of what they are differentiated
    by, with units; values: what these are.

    of: quantities as in tables of runs. by: parameters, inputs, and coordinates and speeds of the start.
    arguments: those of `simulate`; the formulation is `lagrange`. tolerance: of derivatives, relative; that
    of the run, unless it is larger.

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
    ) -> None:
        given = {"formulation": "lagrange", **arguments}
        if given["formulation"] not in ("lagrange", "auto"):
            raise Unsupported(
                "derivatives of runs are implemented for formulation 'lagrange', not "
                f"{given['formulation']!r}"
            )
        given["formulation"] = "lagrange"
        if given.get("assemble", True) == "constraint_forces":
            raise Unsupported("derivatives of a run that closes its mechanism on the way are not implemented")
        self.mechanism, self._arguments = mechanism, given
        run = start_with_tape(mechanism, duration, **given)
        self.method = run.plan.method
        if self.method.method.order < _LEAST_ORDER:
            raise Unsupported(
                f"derivatives of runs by method {self.method.method.name!r} are not implemented; "
                "take 'rk4', 'dopri5', 'adams', 'bdf' or 'auto'"
            )
        self._start, self._model = run.state, run.model
        self._chart = StateChart(without_stops(run.model), self._start)
        self.by, self.units, self.values = self._chosen(by)
        self.run: Trajectory = run.complete()
        if self.run.status != "finished":
            raise Unsupported(f"a run that ended as {self.run.status!r} has no derivatives")
        listed = list(of(self.run) if callable(of) else of)
        self.of = self._watched(run, listed)
        places = dict.fromkeys(place for one in self.of for place, _ in one.parts)
        self._place = {place: number for number, place in enumerate(places)}
        self._core = run.followed(list(places), tolerance)
        self._directions = self._start_directions()

    def along(self) -> Floats:
        """Changes (frames, of, by) of what is watched."""
        dx, du, places, along = self._directions
        found, left = self._core.follow(dx, du, places, along)
        self._refuse_open(left)
        changes = np.zeros((found.shape[0], len(self.of), len(self.by)))
        for number, one in enumerate(self.of):
            for place, factor in one.parts:
                changes[:, number] += factor * found[:, :, self._place[place]]
        return changes

    def back(self, weights: Floats, errors: bool = False) -> tuple[Floats, float]:
        """The gradient (by,) of a sum of what is watched with weights (frames, of), and its error.

        The error is what the sum would be without those of the method, less what it is; nan unless it is
        asked for.
        """
        seeds = np.zeros((len(weights), len(self._place)))
        for number, one in enumerate(self.of):
            for place, factor in one.parts:
                seeds[:, self._place[place]] += factor * weights[:, number]
        dx, du, places, along = self._directions
        of_x, of_u, of_numbers, error = self._core.follow_back(seeds, places, errors)
        return dx @ of_x + du @ of_u + along @ of_numbers, error

    def warnings(self) -> tuple[str, ...]:
        """What the last pass found that makes derivatives large, one-sided or meaningless."""
        found = []
        for kind, t, row, size in self._core.remarks():
            stop = self._model.row_text(row) if row >= 0 else ""
            found.append(_REMARKS[kind].format(stop=stop, t=t, size=size))
        return tuple(dict.fromkeys(found))

    def _chosen(self, by: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...], Floats]:
        chart, inputs = self._chart, inputs_of(self.mechanism)
        known: dict[str, tuple[str, float]] = {
            name: (one.unit, one.value) for name, one in self.mechanism.parameters.items()
        }
        known |= {symbol.name: (inputs[symbol.name].unit, symbol.value) for symbol in self._model.inputs}
        for one, value in zip(chart.coordinates, chart.position, strict=True):
            known[f"start.{one.name}"] = one.unit, float(value)
        for one, value in zip(chart.coordinates, chart.speed, strict=False):
            known[f"start.{one.name}.rate"] = f"{one.unit}/s", float(value)
        faults = FaultList()
        for name in by:
            if name not in known:
                rule = "there is no parameter, input or free coordinate of the start of this name"
                faults.add(f"by {name!r}", rule, None, nearest(str(name), known))
            elif list(by).count(name) > 1:
                faults.add(f"by {name!r}", "it is listed twice")
        if not by:
            faults.add("by", "at least one name is needed", None, f"such as {', '.join(list(known)[:4])}")
        faults.raise_any()
        return tuple(by), tuple(known[n][0] for n in by), np.array([known[n][1] for n in by])

    def _watched(self, run: Run, names: Sequence[str]) -> tuple[Followed, ...]:
        table = _watchable(run.observed, run.model)
        found, faults = list[Followed](), FaultList()
        for name in names:
            with faults.collect():
                one = _known(self.run, name, table)
                self._refuse_shared(one.name, table[one.name])
                found.append(Followed(one.name, one.unit, tuple(table[one.name])))
        faults.raise_any()
        return tuple(found)

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

    def _start_directions(self) -> tuple[Floats, Floats, list[tuple[str, int]], Floats]:
        """Changes of the start (by, n), (by, n) and of numbers of the model, by place, (by, places)."""
        numbers = self._numbers()
        places = list(numbers)
        along = np.array([numbers[place] for place in places]).reshape(len(places), len(self.by)).T
        self._refuse_moved_breaks(places, along)
        chart, count = self._chart, len(self._chart.position)
        names = [f"start.{one.name}" for one in chart.coordinates]
        names += [f"start.{one.name}.rate" for one in chart.coordinates[: chart.speeds]]
        own = np.array([[float(name == one) for one in names] for name in self.by])
        own += self._beside
        extended = np.vstack([np.zeros((len(names), len(places))), along])
        _, dx, du = chart.directions(chart.position, chart.speed, places, extended)
        split = count + chart.speeds
        return dx[split:] + own @ dx[:split], du[split:] + own @ du[:split], places, along

    def _numbers(self) -> dict[tuple[str, int], Floats]:
        """Changes of numbers of the model, by place, with each of `by` (by,)."""
        changes = _Changes(len(self.by))
        inputs = {symbol.name: at for symbol, at in self._model.inputs.items()}
        for number, name in enumerate(self.by):
            if name in inputs:
                for place in inputs[name].params:
                    changes.note(("function_params", place), number, 1.0)
                if inputs[name].formula >= 0:
                    changes.note(("formula_values", inputs[name].formula), number, 1.0)
        self._beside = np.zeros((len(self.by), len(self._chart.position) + self._chart.speeds))
        if parameters := [name for name in self.by if name in self.mechanism.parameters]:
            self._note_parameters(parameters, changes)
        return changes.found

    def _note_parameters(self, names: Sequence[str], changes: _Changes) -> None:
        followed = parametric_numbers(self._model)
        of_names = None if followed is None else followed.changes(names)
        if followed is None or of_names is None:
            fixed = sorted(set(names) & set(() if followed is None else followed.fixed))
            raise Unsupported(
                f"derivatives by {', '.join(map(repr, fixed or names))} are not implemented: numbers "
                "depend on it that are followed by compiling anew only, such as points of splines"
            )
        places, slopes = of_names
        moves = self._move_start(names, followed)
        for name, row in zip(names, slopes.tolist(), strict=True):
            number = self.by.index(name)
            for place, change in zip(places, row, strict=True):
                if place not in followed.start:
                    changes.note(place, number, change)
            if not moves:
                continue
            self._beside[number], of_start = self._assembled_beside(name, followed)
            for place, change in zip(followed.start, of_start.tolist(), strict=True):
                changes.note(place, number, change)

    def _assembled_beside(self, name: str, followed: ParametricNumbers) -> tuple[Floats, Floats]:
        """How coordinates and speeds of the start change with a parameter, and numbers taken from it."""
        parameter, step = self.mechanism.parameters[name], self._step(name)
        low, high = _bounds(parameter)

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
        split = self._beside.shape[1]
        return change[:split], change[split:]

    def _step(self, name: str) -> float:
        return _STEP * (abs(self.mechanism.parameters[name].value) or 1.0)

    def _move_start(self, names: Sequence[str], followed: ParametricNumbers) -> bool:
        """Whether parameters move the start: most do not, and one assembly for all of them shows it."""
        values = {}
        for number, name in enumerate(names):
            parameter, step = self.mechanism.parameters[name], (1.0 + 0.1 * number) * self._step(name)
            inside = parameter.value + step <= _bounds(parameter)[1]
            values[name] = parameter.value + (step if inside else -step)
        numbers = [float(np.ravel(self._model.arrays[array])[index]) for array, index in followed.start]
        here = np.concatenate([self._chart.position, self._chart.speed, numbers])
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
        position, speed = self._chart.coordinates_of(without_stops(model), system.state())
        numbers = [float(np.ravel(model.arrays[array])[index]) for array, index in followed.start]
        return np.concatenate([position, speed, numbers])

    def _refuse_open(self, left: Floats) -> None:
        """Raise MechanismError for parameters along which rows that depend on others are not met."""
        along = self._directions[3]
        allowed = _OPEN * (1.0 + np.max(np.abs(along), axis=1, initial=0.0))
        faults = [
            Fault(
                f"parameter {name!r}",
                "loops do not stay closed when it alone changes: the mechanism moves at this value only, and "
                "redundant constraints then contradict each other, per unit by",
                by,
                "let the lengths that belong together follow one parameter, or leave out what is redundant",
            )
            for name, by, most in zip(self.by, left.tolist(), allowed.tolist(), strict=True)
            if by > most
        ]
        if faults:
            raise MechanismError(faults)

    def _refuse_moved_breaks(self, places: Sequence[tuple[str, int]], along: Floats) -> None:
        """Raise Unsupported for parameters that move times at which functions of time jump."""
        model, times = self._model, (float(self.run.time[0]), float(self.run.time[-1]))
        of_functions = [k for k, (array, _) in enumerate(places) if array == "function_params"]
        if not of_functions:
            return
        here = _breaks(model, times)
        if not here:
            return
        for number, name in enumerate(self.by):
            values = np.array(model.arrays["function_params"], dtype=float)
            for k in of_functions:
                values[places[k][1]] += 1e-6 * along[number, k]
            if _breaks(model.with_arrays(function_params=values), times) != here:
                raise Unsupported(
                    f"derivatives by {name!r} are not implemented: it moves a time at which a function of "
                    "time jumps"
                )


def _watchable(what: Observation, model: Model) -> dict[str, list[Part]]:
    """What may be watched, by name."""
    layout, table = what.layout, dict[str, list[Part]]()
    table["time"] = [((_TIME, 0), 1.0)]
    for place, column in enumerate(layout.coordinates):
        for kind, ending in ((_VALUE, ""), (_RATE, ".rate"), (_SECOND, ".acceleration")):
            table[f"joint.{column}{ending}"] = [((kind, what.coordinates[place]), 1.0)]
    efforts: dict[str, dict[str, list[Part]]] = {}
    for effort, record in zip(layout.multipliers, model.multipliers, strict=True):
        if effort.kind in ("drive", "constraint"):
            of_element = efforts.setdefault(f"{effort.kind}.{effort.element}.effort", {})
            of_element.setdefault(effort.name, []).append(((_MULTIPLIER, record.row), record.sign))
    for name, columns in efforts.items():
        for along, parts in columns.items():
            table[name if len(columns) == 1 else f"{name}.{along}"] = parts
    listed = [part for parts in _FRAME_NUMBERS.values() for part in parts]
    for body, name in enumerate(layout.bodies):
        for k, part in enumerate(listed):
            table[f"body.{name}.{part}"] = [((_FRAME, len(listed) * body + k), 1.0)]
    return table


def _bounds(parameter: Parameter) -> tuple[float, float]:
    low = -np.inf if parameter.low is None else parameter.low
    return low, np.inf if parameter.high is None else parameter.high


def _breaks(model: Model, times: tuple[float, float]) -> list[float]:
    return list(_core.break_times(_core.Bodies(model.core), *times))


def _known(run: Trajectory, name: str, table: Mapping[str, Any]) -> Quantity:
    """The quantity of this name, if it is one that can be followed."""
    asked = name.partition(" [")[0].strip()
    if asked not in table:
        found = quantity(run, name)
        if found.name not in table:
            raise Unsupported(
                f"derivatives of {found.name!r} are not implemented; there are those of {_POSSIBLE}"
            )
        return found
    try:
        return quantity(run, asked)
    except UnknownQuantity:
        raise MechanismError(
            Fault(f"quantity {name!r}", "the run does not record it", None, "give accelerations=True")
        ) from None
