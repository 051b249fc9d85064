"""Linearization about a state in any formulation; see docs/theory/linearization.md.

Rates of states, and outputs, have exact derivatives, or are sampled at states and inputs near those of the
linearization and differenced. What has no linear equations is refused: kinks, singular poses, and states that
are not steady.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from inspect import signature
from typing import Any, Final, Unpack

import numpy as np

from bellcrank import _core
from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.formula_joints import POLE, poles_near
from bellcrank.compile.initial import assembled, refuse_misfits
from bellcrank.compile.model import Model
from bellcrank.compile.standing import refuse_changes
from bellcrank.compile.start_values import continued
from bellcrank.compile.state import Floats, State
from bellcrank.errors import Fault, FaultList, MechanismError, Unsupported
from bellcrank.formulations.contract import FormulationOptions
from bellcrank.formulations.preparing import check_request, prepare
from bellcrank.formulations.symbolic import SymbolicSystem
from bellcrank.formulations.system import System
from bellcrank.linear.differences import Derivatives, OutOfReach, derivatives
from bellcrank.linear.exact import Exact, exact, state_matrix
from bellcrank.linear.linear_model import LinearModel
from bellcrank.linear.modes import Modes, modes_of
from bellcrank.linear.sampling import LinearInput, Points, with_inputs, without_stops
from bellcrank.linear.state_chart import StateChart
from bellcrank.linear.system_derivatives import refuse_stops
from bellcrank.linear.touching import refuse_kinks, refuse_touching
from bellcrank.mechanism.checking import Check, required_names
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.rows import LAW_PARAMETERS
from bellcrank.slips import answered

_EPSILON: Final = 4e-16
_ELSE: Final = "leave out state=, or take that of a run of this mechanism"
_SURE: Final = 5.0  # times the estimated error of differences: what derived equations may differ by
_LEAST: Final = 1e-3  # numbers whose changes are smaller, in SI units, are measured by this
_ELSEWHERE: Final = "go to another state"
_STICKS: Final = 3.0  # speed, in regularisation velocities, below which dry friction is not at its level
_STEADY: Final = 1e-6  # rates of speeds, in parts of what a unit displacement makes of them
_STILL: Final = 1e-9  # speed, 1/s, below which nothing moves
_LATER: Final = 0.3  # rad, or parts of the mechanism's size
_LASTS: Final = 1e-6  # change of the matrix, in parts of its largest entry
_SMOOTH: Final = 1e-6  # error of a derivative, in parts of the largest
_AWAY: Final = 1e-3  # displacement after which a singular pose is left


@answered
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
    formulation, options: as for `simulate`. `lagrange`, which "auto" takes where it can, and the others
        differentiate their equations and outputs exactly (docs/theory/derivatives.md), by parameters too,
        unless the mechanism has parts without derivatives. `symbolic` derives A once more by itself if its
        coordinates are the states, and compares it. Everything else comes from extrapolated differences,
        whose error is estimated; `notes` names outputs and parameters of which that is so.

    Points of compliant contact that touch stick or slip on from the state: friction is a spring along the
    surface, or a force against the slip. Take the state of a run, which contains how far it is stretched.

    Raises MechanismError for unknown names, for parameters that open a loop, for a state that is not steady,
    that lies on a stop, where dry friction sticks, at a singular pose or a pole of formulas, and where
    accelerations have a kink; Unsupported for `adaptive`, tyres, and for formulations that cannot take the
    mechanism; AssemblyError if the mechanism cannot be assembled.

    >>> model = bc.linearize(pendulum, inputs="hinge", state=bc.statics(pendulum).state)
    >>> print(model.A.round(4))    # x'' = -3 g / (2 L) x
    [[  0.      1.   ]
     [-14.715   0.   ]]
    >>> print(model.B.round(4))    # and one over m L^2 / 3 of the torque
    [[0.]
     [3.]]
    """
    if formulation == "adaptive":
        raise Unsupported(
            "linearize: 'adaptive' has no velocities and no accelerations; use another formulation"
        )
    check_request(formulation, options, signature(linearize).parameters, "linearize")
    with Check("linearize") as check:
        check.instance("mechanism", mechanism, Mechanism, "give a Mechanism")
        time, steady = check.number("time", time, "s"), check.flag("steady", steady)
        states = required_names("states", states)
        outputs = None if outputs is None else required_names("outputs", outputs)
        if state is not None:
            check.instance("state", state, State, "such as run.at(t), or system.state()")
    signals = inputs, outputs
    by_itself = formulation == "auto" and not options
    points = _points(
        mechanism, signals, state, time, states, "lagrange" if by_itself else formulation, options
    )
    try:
        known = exact(points)
        if known is None and by_itself:
            points = _points(mechanism, signals, state, time, states, formulation, options)
        base = points(points.base[None])[0]
        found = known.found if known else derivatives(points, points.base, points.steps)
    except OutOfReach as error:
        raise MechanismError(
            Fault("linearize", f"there is no way to move on: {error}", None, _ELSEWHERE)
        ) from error
    made = _made(mechanism.name, points, base, found, known)
    _check_smooth(made)
    if steady:
        check_steady(made)
        _check_lasting(made, points)
    return made


@answered
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

    >>> stable = bc.find_equilibrium(pendulum)
    >>> modes = bc.modes(pendulum)
    >>> print(f"{modes.frequencies[0]:.4f} Hz, by hand {np.sqrt(3 * 9.81 / 2) / (2 * np.pi):.4f} Hz")
    0.6105 Hz, by hand 0.6105 Hz
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
) -> Points:
    """The points at which to take differences. signals: inputs and outputs."""
    inputs, outputs = signals
    twin, named = with_inputs(mechanism, inputs)
    model, at = _start(twin, state, time)
    named = _steering(model, named, inputs is not None)
    chart = StateChart(model, at, states)
    _refuse_singular(chart)
    system = prepare(model, formulation, **options)
    with system.displaced():
        refuse_kinks(system, at, "linearize")
    return Points(twin, system, chart, named, outputs)


def _start(mechanism: Mechanism, state: State | None, time: float) -> tuple[Model, State]:
    """The assembled model, and the state, on its constraints."""
    refuse_changes(mechanism, "linearize")
    model, _ = assembled(compile_mechanism(mechanism, time if state is None else state.time))
    refuse_touching(model, "linearize")
    at = model.initial
    if state is not None:
        model = continued(model, state)
        refuse_misfits(model, state, "the mechanism cannot be linearized", _ELSE)
        at = prepare(model, "lagrange").project(state)
    _refuse_state(model, at)
    return without_stops(model), at


def _steering(model: Model, named: tuple[LinearInput, ...], asked: bool) -> tuple[LinearInput, ...]:
    """The inputs that a state-space model can have. Raises MechanismError if others are requested."""
    moving = {one.name for one, at in model.inputs.items() if at.constrains}
    rule = "it moves a drive, a joint or a constraint, so that its rates would be inputs as well"
    advice = "give what drives the coordinate as an effort instead"
    faults = [Fault(f"input {one.name!r}", rule, None, advice) for one in named if one.key in moving]
    if faults and asked:
        raise MechanismError(faults)
    return tuple(one for one in named if one.key not in moving)


def _made(
    mechanism: str, points: Points, base: Floats, found: Derivatives, known: Exact | None
) -> LinearModel:
    """The matrices from the derivatives of rates and outputs. known: those of them that are exact."""
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
        derived=known is not None or derived is not None,
        formulation=points.system.formulation,
        notes=(*(known.notes if known else ()), *_moving(points), *_touching(points)),
        chart=chart,
    )


def _relative(points: Points, matrix: Floats, error: Floats) -> float:
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
    if not isinstance(system, SymbolicSystem) or system.model.contacts:
        return None
    names = [one.name for one in chart.coordinates]
    known = [one.name for one in system.speeds]
    if any(name not in known for name in names):
        return None
    found = system.linearize(chart.at(chart.position, chart.speed))
    matrix = found.state_matrix(names[: chart.speeds], names)
    return matrix.part(names, names[: chart.speeds])


def _moving(points: Points) -> list[str]:
    """A note where drives move."""
    model = points.system.model
    moving = [
        drive.name
        for drive in model.drives
        for block in drive.blocks
        for row in model.rows_of(block)
        if (function := int(model.arrays["row_function"][row])) >= 0
        and np.any(model.core_function(function)(np.array([points.state.time]))[0, 1:])
    ]
    names = ", ".join(dict.fromkeys(moving))
    return [f"drives move here ({names}): the matrices are those of the moment"] if moving else []


def _speed(points: Points) -> float:
    """The largest, 1/s."""
    return float(np.max(np.abs(points.chart.rates(points.state)) / points.chart.scale, initial=0.0))


def _touching(points: Points) -> list[str]:
    """A note where bodies move that touch others: they do so elsewhere a little later."""
    names = ", ".join(contact.name for contact in points.system.model.contacts)
    moves = names and _speed(points) > _STILL
    return [f"bodies move that touch ({names}): the matrices are those of the moment"] if moves else []


def _refuse_state(model: Model, state: State) -> None:
    """Raise MechanismError, naming all, where accelerations have kinks or no value at a state."""
    system, faults = model.put(_core.Bodies(model.core), state), FaultList()
    values, rates = system.coordinates()
    with faults.collect():
        refuse_stops(model, state)
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
    here = chart.speeds, len(chart.position)
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
    """Raise MechanismError if derivatives do not converge, or jump."""
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


def check_steady(made: LinearModel) -> None:
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


def _check_lasting(made: LinearModel, points: Points) -> None:
    """Raise MechanismError if the linearized equations differ a little later along the motion."""
    chart, moving = made.chart, _speed(points)
    if moving <= _STILL or points.system.model.contacts:
        return
    rates = chart.rates(made.state)
    wait = _LATER / moving
    try:
        later = chart.moved_to(chart.model, made.state.time + wait)
        system = prepare(points.system.model, "lagrange")
        matrix = state_matrix(system, later, chart.position + wait * rates, chart.speed)
    except OutOfReach as reason:
        advice = "steady=False linearizes at the moment"
        raise MechanismError(
            Fault("linearize", f"the motion cannot go on: {reason}", None, advice)
        ) from reason
    size = np.max(np.abs(made.A), initial=0.0)
    change = float(np.max(np.abs(matrix - made.A) - 10.0 * made.A_error, initial=0.0))
    if change > _LASTS * size:
        rule = "speeds are constant, but the equations of small changes are others a little later, by"
        advice = (
            "eigenvalues mean nothing then: take joints of which some coordinates turn, others stay, such as "
            "a Universal and a Revolute for a Spherical one; steady=False takes the matrices of the moment"
        )
        raise MechanismError(Fault(f"mechanism {made.mechanism!r}", rule, change / size, advice))
