"""Linearization about a state in any formulation; see docs/theory/linearization.md.

Rates of states, and outputs, are sampled at states and inputs near those of the linearization and
differenced. What has no linear equations is refused: kinks, singular poses, and states that are not steady.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any, Final, Literal, Unpack

import numpy as np

from bellcrank import _core
from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.contacts import refuse_contacts
from bellcrank.compile.formula_joints import POLE, poles_near
from bellcrank.compile.initial import assembled, refuse_misfits
from bellcrank.compile.model import EFFORT_UNITS, Model
from bellcrank.compile.start_values import continued
from bellcrank.compile.state import Floats, State
from bellcrank.errors import Fault, FaultList, MechanismError, Unsupported
from bellcrank.formulations.contract import FormulationOptions
from bellcrank.formulations.preparing import check_request, prepare
from bellcrank.formulations.symbolic import SymbolicSystem
from bellcrank.formulations.system import System
from bellcrank.linear.differences import Derivatives, OutOfReach, derivatives
from bellcrank.linear.modes import LinearModel, Modes, modes_of
from bellcrank.linear.state_chart import StateChart
from bellcrank.mechanism.checking import Check, nearest, required_names
from bellcrank.mechanism.coordinate import JointCoordinate, unit_of
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.motors import GearedMotor, JointMotor
from bellcrank.mechanism.parameters import Input, inputs_of
from bellcrank.mechanism.rows import LAW_PARAMETERS
from bellcrank.trajectory.columns import Quantity, columns, recorded
from bellcrank.trajectory.observation import observation
from bellcrank.trajectory.store import MemoryStore
from bellcrank.trajectory.trajectory import Trajectory

_EPSILON: Final = 4e-16
_ELSE: Final = "leave out state=, or take that of a run of this mechanism"
_SURE: Final = 5.0  # times the estimated error of differences: what derived equations may differ by
_LEAST: Final = 1e-3  # numbers whose changes are smaller, in SI units, are measured by this
_STEP: Final = 0.08  # rad, or parts of the mechanism's size: the largest displacement that is tried
_INPUT_STEP: Final = 0.1
_PARAMETER_STEP: Final = 0.02
_LATER: Final = 0.3  # rad, or parts of the mechanism's size
_ELSEWHERE: Final = "go to another state"
_TOUCHED: Final = 1e-7  # gap of a stop that counts as closed, m or rad
_FAR: Final = 1e6  # where open stops are put, m or rad
_STICKS: Final = 3.0  # speed, in regularisation velocities, below which dry friction is not at its level
_STEADY: Final = 1e-6  # rates of speeds, in parts of what a unit displacement makes of them
_STILL: Final = 1e-9  # speed, 1/s, below which nothing moves
_LASTS: Final = 1e-6  # change of the matrix, in parts of its largest entry
_SMOOTH: Final = 1e-6  # error of a derivative, in parts of the largest
_AWAY: Final = 1e-3  # displacement after which a singular pose is left
_EFFORT: Final = "linearized_effort_"


def linearize(
    mechanism: Mechanism,
    *,
    inputs: Iterable[str] | str | None = None,
    outputs: Iterable[str] | str | None = None,
    state: State | None = None,
    time: float = 0.0,
    states: Iterable[str] | str = (),
    steady: bool = True,
    formulation: str = "auto",
    **options: Unpack[FormulationOptions],
) -> LinearModel:
    """Linearize a mechanism about a state:  x' = A x + B u,  y = C x + D u.

    x consists of independent coordinates of joints (of bodies, if joints do not determine the motion) and of
    their rates. Their choice does not depend on the formulation.

    inputs: names of inputs (`bc.Input`), of parameters, of motors, and of joints or their coordinates
        ("slot.z") for an effort along them. By default all inputs of the mechanism.
    outputs: names of recorded numbers as in tables of runs, such as "joint.pivot.theta_z", "body.rod.vx",
        "joint.pivot.Fx"; units may be left out. By default the states.
    state: of linearization; by default the assembled start. time: s, if no state is given.
    states: names of coordinates to prefer as states, such as "steer.theta_z".
    steady: whether it must be an equilibrium, or a motion with constant speeds that looks the same at all
        times; False accepts any state, and the matrices are those of that instant.
    formulation, options: as for `simulate`. `symbolic` derives A if its coordinates are the states, and it is
        compared with differences; everything else comes from extrapolated differences, whose error is
        estimated.

    Raises MechanismError for unknown names, for a state that is not steady, that lies on a stop, where dry
    friction sticks, at a singular pose or a pole of formulas, and where accelerations have a kink;
    Unsupported for `adaptive`, and for formulations that cannot take the mechanism; AssemblyError if the
    mechanism cannot be assembled.
    """
    if formulation == "adaptive":
        raise Unsupported(
            "linearize: 'adaptive' has no velocities and no accelerations; use another formulation"
        )
    check_request(formulation, options, signature(linearize).parameters)
    with Check("linearize") as check:
        check.instance("mechanism", mechanism, Mechanism, "give a Mechanism")
        time, steady = check.number("time", time, "s"), check.flag("steady", steady)
        states = required_names("states", states)
        outputs = None if outputs is None else required_names("outputs", outputs)
        if state is not None:
            check.instance("state", state, State, "such as run.at(t), or system.state()")
    points = _points(mechanism, (inputs, outputs), state, time, states, formulation, options)
    try:
        base, found = points(points.base[None])[0], derivatives(points, points.base, points.steps)
    except OutOfReach as error:
        raise MechanismError(
            Fault("linearize", f"there is no way to move on: {error}", None, _ELSEWHERE)
        ) from error
    made = _made(mechanism.name, points, base, found)
    _check_smooth(made)
    if steady:
        _check_steady(made)
        _check_lasting(made, points)
    return made


def modes(
    mechanism: Mechanism,
    *,
    state: State | None = None,
    time: float = 0.0,
    states: Iterable[str] | str = (),
    steady: bool = True,
    formulation: str = "auto",
    **options: Unpack[FormulationOptions],
) -> Modes:
    """Natural frequencies, damping ratios and shapes of small motions about an equilibrium or steady motion.

    The mechanism is linearized as `bc.linearize` does it, with the same arguments and errors.
    """
    made = linearize(
        mechanism,
        inputs=(),
        state=state,
        time=time,
        states=states,
        steady=steady,
        formulation=formulation,
        **options,
    )
    return modes_of(made)


def _points(
    mechanism: Mechanism,
    signals: tuple[Iterable[str] | str | None, tuple[str, ...] | None],
    state: State | None,
    time: float,
    states: tuple[str, ...],
    formulation: str,
    options: Mapping[str, Any],
) -> _Points:
    """The points at which to take differences. signals: inputs and outputs."""
    inputs, outputs = signals
    twin, named = _with_inputs(mechanism, inputs)
    model, at = _start(twin, state, time)
    named = _steering(model, named, inputs is not None)
    chart = StateChart(model, at, states)
    _refuse_singular(chart)
    return _Points(twin, prepare(model, formulation, **options), chart, named, outputs)


def _start(mechanism: Mechanism, state: State | None, time: float) -> tuple[Model, State]:
    """The assembled model, and the state, on its constraints."""
    model, _ = assembled(compile_mechanism(mechanism, time if state is None else state.time))
    refuse_contacts(model, "linearize")
    at = model.initial
    if state is not None:
        model = continued(model, state)
        refuse_misfits(model, state, "the mechanism cannot be linearized", _ELSE)
        at = prepare(model, "lagrange").project(state)
    _refuse_state(model, at)
    return _without_stops(model), at


def _steering(model: Model, named: tuple[_Input, ...], asked: bool) -> tuple[_Input, ...]:
    """The inputs that a state-space model can have. Raises MechanismError if others are requested."""
    moving = {one.name for one, at in model.inputs.items() if at.constrains}
    rule = "it moves a drive, a joint or a constraint, so that its rates would be inputs as well"
    advice = "give what drives the coordinate as an effort instead"
    faults = [Fault(f"input {one.name!r}", rule, None, advice) for one in named if one.key in moving]
    if faults and asked:
        raise MechanismError(faults)
    return tuple(one for one in named if one.key not in moving)


def _made(mechanism: str, points: _Points, base: Floats, found: Derivatives) -> LinearModel:
    """The matrices from the derivatives of rates and outputs."""
    chart, n = points.chart, points.states
    matrix, error, derived = found.matrix.copy(), found.error.copy(), derived_matrix(points.system, chart)
    count, speeds = n - chart.speeds, chart.speeds
    matrix[:speeds], error[:speeds] = np.eye(matrix.shape[1])[count : count + speeds], 0.0  # y' = v
    parts = [matrix[:n, :n], matrix[:n, n:], matrix[n:, :n], matrix[n:, n:]]
    certain = error
    if derived is not None:
        parts[0], certain = derived, error.copy()
        beyond = np.maximum(np.abs(derived - matrix[:n, :n]) - _SURE * error[:n, :n], 0.0)
        certain[:n, :n] = beyond + _EPSILON * np.abs(derived)
    names, units = points.names
    if points.outputs is None:
        parts[2:] = [np.eye(n), np.zeros((n, len(points.inputs)))]
    return LinearModel(
        mechanism,
        A=parts[0],
        B=parts[1],
        C=parts[2],
        D=parts[3],
        states=names[0],
        inputs=names[1],
        outputs=names[2],
        units=units,
        state=points.state,
        value=points.base[:n],
        rate=base[:n],
        error=_relative(points, matrix, certain),
        A_error=np.maximum(error, certain)[:n, :n],
        derived=derived is not None,
        formulation=points.system.formulation,
        notes=_notes(points),
        chart=chart,
    )


def _relative(points: _Points, matrix: Floats, error: Floats) -> float:
    """The largest error, in parts of what the largest steps make of states, or outputs in the same unit."""
    (_, _, outputs), units = points.names
    of_rows = [""] * points.states
    of_rows += [units[name] for name in outputs] if points.outputs is not None else []
    of_states = np.concatenate([points.chart.scale, points.chart.scale[: points.chart.speeds]])
    scale = np.concatenate([of_states, np.ones(len(of_rows) - points.states)])
    made, wrong = (np.max(np.abs(one) * points.steps, axis=1, initial=0.0) / scale for one in (matrix, error))
    sizes = dict.fromkeys(of_rows, _LEAST)
    for unit, size in zip(of_rows, made.tolist(), strict=True):
        sizes[unit] = max(sizes[unit], size)
    return max((one / sizes[unit] for unit, one in zip(of_rows, wrong.tolist(), strict=True)), default=0.0)


def derived_matrix(system: System, chart: StateChart) -> Floats | None:
    """A from derived equations, if the states of the chart are their coordinates."""
    if not isinstance(system, SymbolicSystem):
        return None
    names = [one.name for one in chart.coordinates]
    known = [one.name for one in system.speeds]
    if any(name not in known for name in names):
        return None
    found = system.linearize(chart.at(chart.position, chart.speed))
    matrix = found.state_matrix(names[: chart.speeds], names)
    return matrix.part(names, names[: chart.speeds])


def _notes(points: _Points) -> tuple[str, ...]:
    model = points.system.model
    moving = [
        drive.name
        for drive in model.drives
        for block in drive.blocks
        for row in model.rows_of(block)
        if (function := int(model.arrays["row_function"][row])) >= 0
        and np.any(model.core_function(function)(np.array([points.state.time]))[0, 1:])
    ]
    if not moving:
        return ()
    return (f"drives move here ({', '.join(dict.fromkeys(moving))}): the matrices are those of the moment",)


class _Points:
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
        inputs: Sequence[_Input],
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
    def names(self) -> tuple[tuple[tuple[str, ...], ...], dict[str, str]]:
        """Names of states, inputs and outputs; and the units of all."""
        found = self.chart.coordinates
        units = {one.name: one.unit for one in found}
        units |= {f"{one.name}.rate": f"{one.unit}/s" for one in found[: self.chart.speeds]}
        states = tuple(units)
        units |= {one.name: one.unit for one in self.inputs}
        outputs = states
        if self.outputs is not None:
            outputs = tuple(one.name for one in self._columns)
            units |= {one.name: one.unit for one in self._columns}
        return (states, tuple(one.name for one in self.inputs), outputs), units

    def __call__(self, points: Floats) -> Floats:
        """Rates of the states, then outputs. Raises OutOfReach if the constraints cannot be satisfied."""
        found = [self._at(point, self.state.time) for point in points]
        rates = np.array([rate for rate, _ in found])
        if self.outputs is None:
            return rates
        return np.hstack([rates, self._recorded(np.concatenate([frame for _, frame in found]))])

    def _at(self, point: Floats, time: float) -> tuple[Floats, Floats]:
        """Rates of the states, and a frame (1, 1 + width)."""
        system, chart = self._world(point)
        with system.displaced():
            return self._rates_at(point, time, system, chart)

    def _rates_at(
        self, point: Floats, time: float, system: System, chart: StateChart
    ) -> tuple[Floats, Floats]:
        count = len(chart.position)
        state = chart.at(point[:count], point[count : self.states], time)
        steered = {
            one.key: value
            for one, value in zip(self.inputs, point[self.states :].tolist(), strict=True)
            if one.kind != "parameter"
        }
        if steered:
            system.inputs.update(steered)
        system.set_state(state)
        linear, angular, _ = system.core.accelerate()
        rates = np.concatenate([chart.rates(state), chart.accelerations(state, linear, angular)])
        frame = np.zeros((1, 0)) if self.outputs is None else _core.observe(system.core, self._what.core)
        return rates, frame

    def later(self) -> tuple[Floats, Floats]:
        """A (states, states), with estimated errors, a little later along the motion, at its own time."""
        chart, count = self.chart, len(self.chart.position)
        rates = chart.rates(self.state)
        wait = _LATER / float(np.max(np.abs(rates) / chart.scale))
        point = self.base.copy()
        point[:count] += wait * rates
        time = self.state.time + wait

        def sample(points: Floats) -> Floats:
            return np.array([self._at(one, time)[0] for one in points])

        found = derivatives(sample, point, self.steps)
        return found.matrix[:, : self.states], found.error[:, : self.states]

    def _key(self, point: Floats) -> tuple[float, ...]:
        given = zip(self.inputs, point[self.states :].tolist(), strict=True)
        return tuple(value for one, value in given if one.kind == "parameter")

    def _world(self, point: Floats) -> tuple[System, StateChart]:
        key = self._key(point)
        if key not in self._worlds:
            values = {one.key: value for one, value in zip(self._parameters, key, strict=True)}
            self._worlds = {self._key(self.base): self._worlds[self._key(self.base)]}
            self._worlds[key] = self._with_parameters(values)
        return self._worlds[key]

    def _with_parameters(self, values: dict[str, float]) -> tuple[System, StateChart]:
        """What was taken from the initial configuration, such as rest lengths, stays as it is."""
        own, chart = self.system.model, self.chart
        found = compile_mechanism(self._mechanism.with_parameters(**values), own.initial.time)
        kept: dict[str, Floats] = {}
        if own.start.rows:
            kept["row_constant"] = found.arrays["row_constant"].copy()
            kept["row_constant"][list(own.start.rows)] = own.arrays["row_constant"][list(own.start.rows)]
        if own.start.laws:
            places = [place for place, _ in own.start.laws]
            kept["law_params"] = found.arrays["law_params"].copy()
            kept["law_params"][places] = own.arrays["law_params"][places]
        model = _without_stops(found.with_arrays(**kept) if kept else found)
        system = prepare(model, self.system.formulation, **self.system.options)
        return system, chart.moved_to(system.model)

    def _recorded(self, frames: Floats) -> Floats:
        table = columns(self._run(frames))
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


def _without_stops(model: Model) -> Model:
    """The model with its stops moved out of the way: open ones exert nothing, however far they are."""
    if not model.stops:
        return model
    return model.with_arrays(row_constant=model.arrays["row_constant"] - _FAR * model.one_sided)


def _refuse_state(model: Model, state: State) -> None:
    """Raise MechanismError, naming all, where accelerations have kinks or no value at a state."""
    system, faults = model.put(_core.Bodies(model.core), state), FaultList()
    values, rates = system.coordinates()
    gaps = system.rows()[0]
    for row in np.flatnonzero(model.one_sided & (gaps < _TOUCHED)).tolist():
        advice = (
            "no linear equations hold there: go to a state off the stop, or hold the coordinate by a drive"
        )
        faults.add(model.row_text(row), "a stop is touched, with a gap of", float(gaps[row]), advice)
    for force in model.forces:
        for law in force.laws:
            speed = _regularisation(model, law)
            rate = float(rates[model.arrays["law_coordinate"][law]])
            if speed is not None and abs(rate) < _STICKS * speed:
                rule = f"dry friction is at rest, slower than {_STICKS * speed:g}, at a rate of"
                advice = "it sticks: remove it, set its dry part to zero, or hold the coordinate by a drive"
                faults.add(f"force {force.name!r}", rule, rate, advice)
    if model.custom:
        for pole in poles_near(model, values, POLE):
            faults.add("linearize", pole, None, f"there its coordinates have no rates; {_ELSEWHERE}")
    faults.raise_any()


def _regularisation(model: Model, law: int) -> float | None:
    """The regularisation velocity of a law with dry friction; None for others."""
    kind = model.arrays["law_kind"][law]
    params = dict(zip(LAW_PARAMETERS[kind], model.law(law)[0], strict=True))
    dry = kind == "brake" or (kind == "friction" and max(params["coulomb"], params["stiction"]) > 0.0)
    return params["regularisation_velocity"] if dry else None


def _refuse_singular(chart: StateChart) -> None:
    """Raise MechanismError where the constraints leave more degrees of freedom than they do nearby."""
    here = chart.degrees_of_freedom(chart.state)
    signs = np.where(np.arange(len(chart.position)) % 2 == 0, 1.0, -0.7)
    for way in (_AWAY, -_AWAY):
        try:
            there = chart.degrees_of_freedom(
                chart.at(chart.position + way * signs * chart.scale, chart.speed)
            )
        except OutOfReach:
            there = (-1, -1)
        if there != here:
            nearby = "it cannot move as they say" if there[0] < 0 else f"nearby they leave {there[0]}"
            rule = (
                f"it is at a singular pose: the constraints leave {here[0]} degrees of freedom, and {nearby}"
            )
            raise MechanismError(Fault(f"mechanism {chart.model.name!r}", rule, None, _ELSEWHERE))


def _check_smooth(made: LinearModel) -> None:
    """Raise MechanismError if derivatives do not converge."""
    if not made.error < _SMOOTH:
        rule = (
            "accelerations are not smooth here: derivatives differ, between steps, in parts of the largest by"
        )
        advice = (
            "a string about to go slack, a support about to touch, or a very steep law is the usual reason"
        )
        raise MechanismError(
            Fault(f"mechanism {made.mechanism!r}", rule, made.error, f"{advice}; {_ELSEWHERE}")
        )


def _check_steady(made: LinearModel) -> None:
    """Raise MechanismError, with the accelerations that are left, where speeds are not constant."""
    count = made.coordinates
    left = made.rate[count:]
    scale = made.scale[count:]
    stiffness = np.abs(made.A[count:, :count] * made.scale[:count] / scale[:, None])
    allowed = _STEADY * max(1.0, float(np.max(stiffness, initial=0.0)))
    faults = [
        Fault(
            f"state {name!r}",
            "its speed is not constant, so this is neither an equilibrium nor a steady motion; its rate is",
            float(value),
            "bc.find_equilibrium(mech) goes to where it rests; steady=False linearizes about any state",
        )
        for name, value, size in zip(made.states[count:], left, scale, strict=True)
        if abs(value) > allowed * size
    ]
    if faults:
        raise MechanismError(faults)


def _check_lasting(made: LinearModel, points: _Points) -> None:
    """Raise MechanismError if the linearized equations differ a little later along the motion."""
    moving = np.max(np.abs(points.chart.rates(points.state)) / points.chart.scale, initial=0.0)
    if moving <= _STILL:
        return
    try:
        matrix, error = points.later()
    except OutOfReach as reason:
        advice = "steady=False linearizes at the moment"
        raise MechanismError(
            Fault("linearize", f"the motion cannot go on: {reason}", None, advice)
        ) from reason
    size = np.max(np.abs(made.A), initial=0.0)
    change = float(np.max(np.abs(matrix - made.A) - 10.0 * error, initial=0.0))
    if change > _LASTS * size:
        rule = "speeds are constant, but the equations of small changes are others a little later, by"
        advice = (
            "eigenvalues mean nothing then: take joints of which some coordinates turn, others stay, such as "
            "a Universal and a Revolute for a Spherical one; steady=False takes the matrices of the moment"
        )
        raise MechanismError(Fault(f"mechanism {made.mechanism!r}", rule, change / size, advice))


@dataclass(frozen=True)
class _Input:
    """An input of a linearization.

    name, unit: as it is listed. kind: whether it is an input of the mechanism, one of its parameters, or an
    effort that is added to what acts along a coordinate. key: its name among inputs or parameters.
    """

    name: str
    unit: str
    kind: Literal["input", "parameter", "effort"]
    key: str


def _with_inputs(mechanism: Mechanism, names: Iterable[str] | None) -> tuple[Mechanism, tuple[_Input, ...]]:
    """The mechanism, with an input added for each effort that has none yet, and what the names stand for.

    names: of inputs, parameters, motors, and joints or their coordinates ("slot.z"). None: all inputs of the
        mechanism that move no drive.

    Raises MechanismError listing all unknown names.
    """
    own = inputs_of(mechanism)
    if names is None:
        return mechanism, tuple(_Input(name, one.unit, "input", name) for name, one in own.items())
    listed = required_names("inputs", names)
    twin, found, faults = mechanism.copy(), list[_Input](), FaultList()
    for name in listed:
        with faults.collect():
            if listed.count(name) > 1:
                raise MechanismError(Fault(f"input {name!r}", "it is listed twice"))
            if name in own:
                found.append(_Input(name, own[name].unit, "input", name))
            elif name in mechanism.parameters:
                found.append(_Input(name, mechanism.parameters[name].unit, "parameter", name))
            else:
                found.append(_effort(twin, mechanism, name, len(found)))
    faults.raise_any()
    return twin, tuple(found)


def _effort(twin: Mechanism, mechanism: Mechanism, name: str, number: int) -> _Input:
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
    key = f"{_EFFORT}{number}"
    which = free[coordinate] if isinstance(coordinate, int) else coordinate or free[0]
    unit = (
        "N m" if isinstance(force and force.kind, GearedMotor) else EFFORT_UNITS[unit_of(joint.kind, which)]
    )
    twin.add_force(key, JointMotor(ratio * Input(key, 0.0, unit)), joint=joint.name, coordinate=which)
    return _Input(name, unit, "effort", key)


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
