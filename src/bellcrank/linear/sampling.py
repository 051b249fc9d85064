"""Samples of rates and outputs near a state, from which linear equations are differenced; their inputs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from bellcrank import _core
from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.model import EFFORT_UNITS, Model
from bellcrank.compile.start_values import with_formula_values
from bellcrank.compile.state import Floats
from bellcrank.errors import Fault, FaultList, MechanismError
from bellcrank.formulations.preparing import prepare
from bellcrank.formulations.system import System
from bellcrank.linear.state_chart import StateChart
from bellcrank.linear.touching import place_beside
from bellcrank.mechanism.checking import nearest, required_names
from bellcrank.mechanism.coordinate import JointCoordinate, unit_of
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.motors import GearedMotor, JointMotor
from bellcrank.mechanism.parameters import Input, inputs_of
from bellcrank.trajectory.columns import Quantity, columns, recorded
from bellcrank.trajectory.observation import observation
from bellcrank.trajectory.store import MemoryStore
from bellcrank.trajectory.trajectory import Trajectory

_STEP: Final = 0.08  # rad, or parts of the mechanism's size: the largest displacement that is tried
_INPUT_STEP: Final = 0.1
_PARAMETER_STEP: Final = 0.02
_FAR: Final = 1e6  # where open stops are put, m or rad
EFFORT: Final = "linearized_effort_"


class Points:
    """Rates (points, states) and then outputs, at points (points, states and inputs).

    base: the point of linearization. steps: the largest sensible displacements of each number.
    outputs: names of recorded numbers as they were given; None for none.

    Raises MechanismError for unknown outputs.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        system: System,
        chart: StateChart,
        inputs: Sequence[LinearInput],
        outputs: tuple[str, ...] | None,
    ) -> None:
        self.system, self.chart, self.inputs, self.outputs = system, chart, tuple(inputs), outputs
        self._mechanism = mechanism
        self._parameters = [one for one in self.inputs if one.kind == "parameter"]
        values = {name: p.value for name, p in mechanism.parameters.items()}
        values |= dict(system.inputs)
        given = np.array([values[one.key] for one in self.inputs])
        self.states = len(chart.position) + chart.speeds
        self.base = np.concatenate([chart.position, chart.speed, given])
        fastest = np.max(np.abs(chart.speed) / chart.scale[: chart.speeds], initial=1.0)
        sizes = np.maximum(np.abs(given), 1.0)
        for k, one in enumerate(self.inputs):
            if one.kind == "parameter":
                sizes[k] = _PARAMETER_STEP / _INPUT_STEP * (abs(given[k]) or 1.0)
        largest = _STEP * chart.scale
        self.steps = np.concatenate([largest, largest[: chart.speeds] * fastest, _INPUT_STEP * sizes])
        self._worlds = {self._key(self.base): (system, chart)}
        self._what = observation(system.model, accelerations=True)
        self.state = chart.at(chart.position, chart.speed)
        self._columns = self._chosen() if outputs is not None else []

    @property
    def recorded(self) -> tuple[str, ...]:
        """Names of the outputs, without units."""
        return tuple(one.name for one in self._columns)

    @property
    def names(self) -> tuple[tuple[tuple[str, ...], ...], dict[str, str]]:
        """Names of states, inputs and outputs; and the units of all."""
        found = self.chart.coordinates
        units = {one.name: one.unit for one in found}
        units |= {f"{one.name}.rate": f"{one.unit}/s" for one in found[: self.chart.speeds]}
        states = tuple(units)
        units |= {one.name: one.unit for one in self.inputs}
        outputs = states
        if self.outputs is not None:
            outputs = self.recorded
            units |= {one.name: one.unit for one in self._columns}
        return (states, tuple(one.name for one in self.inputs), outputs), units

    def __call__(self, points: Floats) -> Floats:
        """Rates of the states, then outputs. Raises OutOfReach if the constraints cannot be satisfied."""
        found = [self._at(point) for point in points]
        rates = np.array([rate for rate, _ in found])
        if self.outputs is None:
            return rates
        return np.hstack([rates, self._recorded(np.concatenate([frame for _, frame in found]))])

    def _at(self, point: Floats) -> tuple[Floats, Floats]:
        """Rates of the states, and a frame (1, 1 + width)."""
        system, chart = self.world(point)
        with system.displaced():
            return self._rates_at(point, system, chart)

    def _rates_at(self, point: Floats, system: System, chart: StateChart) -> tuple[Floats, Floats]:
        count = len(chart.position)
        state = chart.at(point[:count], point[count : self.states])
        self.steer(system, point)
        place_beside(system, chart.state, state)
        linear, angular, _ = system.core.accelerate()
        rates = np.concatenate([chart.rates(state), chart.accelerations(state, linear, angular)])
        frame = np.zeros((1, 0)) if self.outputs is None else _core.observe(system.core, self._what.core)
        return rates, frame

    def steer(self, system: System, point: Floats) -> None:
        """Give a system the values of its inputs at a point."""
        given = zip(self.inputs, point[self.states :].tolist(), strict=True)
        if steered := {one.key: value for one, value in given if one.kind != "parameter"}:
            system.inputs.update(steered)

    def _key(self, point: Floats) -> tuple[float, ...]:
        given = zip(self.inputs, point[self.states :].tolist(), strict=True)
        return tuple(value for one, value in given if one.kind == "parameter")

    def world(self, point: Floats) -> tuple[System, StateChart]:
        """The system with the parameters of a point, and its chart."""
        key = self._key(point)
        if key not in self._worlds:
            values = {one.key: value for one, value in zip(self._parameters, key, strict=True)}
            self._worlds = {self._key(self.base): self._worlds[self._key(self.base)]}
            self._worlds[key] = self._with_parameters(values)
        return self._worlds[key]

    def _with_parameters(self, values: dict[str, float]) -> tuple[System, StateChart]:
        model = without_stops(with_parameters(self.system.model, self._mechanism, values))
        system = prepare(model, self.system.formulation, **self.system.options)
        return system, self.chart.moved_to(system.model)

    def _recorded(self, frames: Floats) -> Floats:
        table = columns(self._run(frames))
        if not self._columns:
            return np.zeros((len(frames), 0))
        return np.stack([table[one.title] for one in self._columns], axis=1)

    def _run(self, frames: Floats) -> Trajectory:
        return Trajectory(self._what.layout, MemoryStore.from_frames(self._what.layout, frames))

    def _chosen(self) -> list[Quantity]:
        """The quantities that outputs stand for."""
        with self.system.displaced():
            self.system.set_state(self.state)
            table = recorded(self._run(_core.observe(self.system.core, self._what.core)))
            plain = {one.name: one for one in table if not one.flags and one.name != "time"}
        chosen, faults = [], FaultList()
        for name in self.outputs or ():
            asked = str(name).partition(" [")[0]
            found = plain.get(asked, plain.get(f"joint.{asked}"))
            if found is None:
                rule = "there is no recorded number of this name"
                faults.add(f"output {name!r}", rule, None, nearest(asked, list(plain)))
            else:
                chosen.append(found)
        faults.raise_any()
        return chosen


def with_parameters(model: Model, mechanism: Mechanism, values: Mapping[str, float]) -> Model:
    """The model of a mechanism with other values of parameters.

    What was taken from the initial configuration, such as rest lengths, stays as it is.
    """
    found = compile_mechanism(mechanism.with_parameters(**values), model.initial.time)
    kept: dict[str, Floats] = {}
    if model.start.rows:
        rows = list(model.start.rows)
        kept["row_constant"] = found.arrays["row_constant"].copy()
        kept["row_constant"][rows] = model.arrays["row_constant"][rows]
    if model.start.laws:
        places = [place for place, _ in model.start.laws]
        kept["law_params"] = found.arrays["law_params"].copy()
        kept["law_params"][places] = model.arrays["law_params"][places]
    found = found.with_arrays(**kept) if kept else found
    return with_formula_values(found, model) if model.start.formulas else found


def without_stops(model: Model) -> Model:
    """The model with its stops moved out of the way: open ones exert nothing, however far they are."""
    if not model.stops:
        return model
    return model.with_arrays(row_constant=model.arrays["row_constant"] - _FAR * model.one_sided)


@dataclass(frozen=True)
class LinearInput:
    """An input of a linearization.

    name, unit: as it is listed. kind: whether it is an input of the mechanism, one of its parameters, or an
    effort that is added to what acts along a coordinate. key: its name among inputs or parameters.
    """

    name: str
    unit: str
    kind: Literal["input", "parameter", "effort"]
    key: str


def with_inputs(
    mechanism: Mechanism, names: Iterable[str] | None
) -> tuple[Mechanism, tuple[LinearInput, ...]]:
    """The mechanism, with an input added for each effort that has none yet, and what the names stand for.

    names: of inputs, parameters, motors, and joints or their coordinates ("slot.z"). None: all inputs of the
        mechanism that move no drive.

    Raises MechanismError listing all unknown names.
    """
    own = inputs_of(mechanism)
    if names is None:
        return mechanism, tuple(LinearInput(name, one.unit, "input", name) for name, one in own.items())
    listed = required_names("inputs", names)
    twin, found, faults = mechanism.copy(), list[LinearInput](), FaultList()
    for name in listed:
        with faults.collect():
            if listed.count(name) > 1:
                raise MechanismError(Fault(f"input {name!r}", "it is listed twice"))
            if name in own:
                found.append(LinearInput(name, own[name].unit, "input", name))
            elif name in mechanism.parameters:
                found.append(LinearInput(name, mechanism.parameters[name].unit, "parameter", name))
            else:
                found.append(_effort(twin, mechanism, name, len(found)))
    faults.raise_any()
    return twin, tuple(found)


def _effort(twin: Mechanism, mechanism: Mechanism, name: str, number: int) -> LinearInput:
    """An effort of a motor, or along a coordinate of a joint, which the twin is given."""
    force = mechanism.forces.get(name)
    ratio: Any = 1.0
    if force is not None and isinstance(force.kind, (JointMotor, GearedMotor)):
        (end,) = force.ends
        if not isinstance(end, JointCoordinate):
            raise MechanismError(Fault(f"input {name!r}", "this motor acts on no joint", None))
        joint, coordinate = mechanism.joints[end.joint], end.coordinate
        ratio = force.kind.ratio if isinstance(force.kind, GearedMotor) else 1.0
    else:
        joint, coordinate = _joint(mechanism, name)
    free = joint.kind.free
    if coordinate is None and len(free) != 1:
        rule = f"joint {joint.name!r} has {len(free)} free coordinates"
        which = ", ".join(f"{joint.name}.{one}" for one in free) or "a joint that moves"
        raise MechanismError(Fault(f"input {name!r}", rule, None, f"name one: {which}"))
    key = f"{EFFORT}{number}"
    which = free[coordinate] if isinstance(coordinate, int) else coordinate or free[0]
    unit = (
        "N m" if isinstance(force and force.kind, GearedMotor) else EFFORT_UNITS[unit_of(joint.kind, which)]
    )
    twin.add_force(key, JointMotor(ratio * Input(key, 0.0, unit)), joint=joint.name, coordinate=which)
    return LinearInput(name, unit, "effort", key)


def _joint(mechanism: Mechanism, name: str) -> tuple[Any, str | None]:
    """The joint of this name, or of the coordinate of this name, and the coordinate."""
    if name in mechanism.joints:
        return mechanism.joints[name], None
    owner, _, coordinate = str(name).rpartition(".")
    if owner in mechanism.joints and coordinate in mechanism.joints[owner].kind.free:
        return mechanism.joints[owner], coordinate
    if name in mechanism.drives:
        advice = "release the drive, and give its joint as the input: the effort along it"
        raise MechanismError(
            Fault(f"input {name!r}", "a drive prescribes a motion and takes no effort", None, advice)
        )
    known = [*inputs_of(mechanism), *mechanism.parameters, *mechanism.forces, *mechanism.joints]
    known += [f"{joint.name}.{one}" for joint in mechanism.joints.values() for one in joint.kind.free]
    rule = "there is no input, parameter, motor or coordinate of this name"
    raise MechanismError(Fault(f"input {name!r}", rule, None, nearest(str(name), known)))
