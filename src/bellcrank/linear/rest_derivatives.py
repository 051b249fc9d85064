"""What `Statics.sensitivity` does: how a rest, and what holds a mechanism there, change with numbers.

At rest the accelerations a of the independent coordinates q vanish. Along a parameter p they go on to do so,

    ∂a/∂q δq + ∂a/∂p δp = 0,    δQ = ∂Q/∂q δq + ∂Q/∂p δp,

with exact derivatives at velocities of zero (docs/theory/statics.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from bellcrank import _core
from bellcrank.analysis.statics import Statics, standing_still, with_held
from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.initial import assembled
from bellcrank.compile.model import Model
from bellcrank.compile.parametric_numbers import parametric_numbers
from bellcrank.compile.standing import refuse_changes
from bellcrank.compile.state import Floats, State
from bellcrank.errors import Fault, FaultList, MechanismError
from bellcrank.formulations.preparing import prepare
from bellcrank.formulations.state_derivatives import StateDerivatives
from bellcrank.linear.differences import OutOfReach, singular_values
from bellcrank.linear.quantities import OfCoordinate, Quantities, quantities_of
from bellcrank.linear.sampling import without_stops
from bellcrank.linear.state_chart import StateChart
from bellcrank.linear.system_derivatives import refuse_shared
from bellcrank.linear.tangents import Tangents
from bellcrank.linear.variables import Variable, numbers_of, states_of
from bellcrank.mechanism.checking import required_names

_TOUCHED: Final = 1e-7  # gap of a stop that counts as closed, m or rad
_PUSHES: Final = 1e-8  # load of a closed stop, in parts of the largest force
_STILL: Final = 1e-12  # rate of a row, m/s or rad/s, that is rounding
_AT_REST: Final = 1e-6  # accelerations, in parts of what a unit displacement makes of them
_BESIDE: Final = 1e-7  # rad, or parts of the mechanism's size: where kinks are looked for
_SMOOTH: Final = 1e-6  # jump of the stiffness, in parts of its largest entry
_ROUNDING: Final = 5e-14  # of a row's largest entry, for rows that are independent
_NUDGE: Final = 1e-3  # of a parameter of a function, to see whether it makes the function move
_ELSE: Final = "give the drive a constant position, such as position=0.3"


def rest_derivatives(rest: Statics, of: Any, by: Any, states: Any) -> StateDerivatives:
    """See `Statics.sensitivity`."""
    of, by, states = (required_names(*one) for one in (("of", of), ("by", by), ("states", states)))
    refuse_changes(rest.at, "derivatives of rests")
    if rest.friction:
        name, advice = next(iter(rest.friction)), "leave it out: bc.statics(mech, friction=False)"
        rule = "it holds the mechanism where it happens to be, and no rest moves with a parameter"
        raise MechanismError(Fault(f"friction of {name!r}", rule, None, advice))
    described, _ = assembled(compile_mechanism(with_held(rest.at, rest.pinned), rest.state.time))
    at = rest.state
    moving = _moving_rows(described)
    model = without_stops(_stops_closed(standing_still(described, moving), at, rest.equilibrium.scale))
    _refuse_rows(model, at)
    faults = FaultList()
    with faults.collect():
        listed, alone = quantities_of(model, of)
    with faults.collect():
        variables = numbers_of(model, by)
    faults.raise_any()
    system, chart = prepare(model, "lagrange"), StateChart(model, at, states)
    count = len(chart.coordinates)
    balance = [OfCoordinate(one.name, one.unit, one.number, 2) for one in chart.coordinates]
    quantities = Quantities(chart.wide, at, [*balance, *listed])
    along = [*states_of(chart)[:count], *variables]
    tangents = Tangents(system, chart, along, quantities, parametric_numbers(described))
    _refuse_moved_drives(described, moving, variables, tangents)
    try:
        tangents.go_beside(chart.position, chart.speed)
        state, observed, array = tangents.state, tangents.observed, tangents.forward()
        _refuse_kinks(chart, tangents, array[:count, :count])
    except OutOfReach as error:
        raise MechanismError(Fault("sensitivity", f"there is no way to move on: {error}")) from error
    stiffness, by_numbers = array[:count, :count], array[:count, count:]
    _check_at_rest(chart, observed.values[:count], stiffness)
    _refuse_neutral(chart, stiffness, rest.equilibrium.neutral_directions, tangents.pivot)
    moved = -np.linalg.solve(stiffness, by_numbers)
    found = array[count:, count:] + array[count:, :count] @ moved
    unique = observed.unique[count:]
    refuse_shared(listed, alone, unique)
    return StateDerivatives(
        array=np.where(unique[:, None], found, np.nan),
        value=np.where(unique, observed.values[count:], np.nan),
        outputs=tuple(one.name for one in listed),
        inputs=tuple(one.name for one in variables),
        units={one.name: one.unit for one in listed} | {one.name: one.unit for one in variables},
        unique=unique,
        mode="forward",
        state=state,
        formulation=system.formulation,
    )


def _moving_rows(model: Model) -> list[int]:
    """The rows whose functions of time move at the model's time."""
    functions = model.arrays["row_function"]
    return [row for row in np.flatnonzero(functions >= 0).tolist() if _moves(model, int(functions[row]))]


def _moves(model: Model, function: int) -> bool:
    return bool(np.any(model.core_function(function)(np.array([model.initial.time]))[0, 1:]))


def _refuse_moved_drives(
    model: Model, moving: Sequence[int], variables: Sequence[Variable], tangents: Tangents
) -> None:
    """Raise MechanismError naming variables that move drives which move by themselves, or let them do so."""
    given, arrays = tangents.given, model.arrays
    params, starts = arrays["function_params"], arrays["function_param_start"]
    of_rows = {int(f): row for row, f in enumerate(arrays["row_function"].tolist()) if f >= 0}
    places = [(k, place) for k, (array, place) in enumerate(given.places) if array == "function_params"]
    faults = FaultList()
    for one, changes in zip(variables, given.numbers[len(given.numbers) - len(variables) :], strict=True):
        nudged = params.copy()
        for k, place in places:
            nudged[place] += _NUDGE * changes[k]
        beside = model.with_arrays(function_params=nudged)
        touched = {int(np.searchsorted(starts, place, "right")) - 1 for k, place in places if changes[k]}
        for function in touched.intersection(of_rows):
            row = of_rows[function]
            if row in moving or _moves(beside, function):
                rule = f"{model.row_text(row)} moves at t = {model.initial.time:g} s, and this changes how"
                faults.add(f"by {one.name!r}", rule, None, _ELSE)
    faults.raise_any()


def _stops_closed(model: Model, at: State, scale: float) -> Model:
    """The model in which stops that push are rows. scale: the largest force, N.

    Raises MechanismError, naming all, for stops that are touched and do not push: they may open, or not.
    """
    if not model.stops:
        return model
    gaps = model.put(_core.Bodies(model.core), at).rows()[0]
    closed = np.flatnonzero(model.one_sided & (gaps < _TOUCHED)).tolist()
    system = prepare(model, "lagrange")
    system.set_state(at)
    loads = system.core.accelerate()[2]
    faults = FaultList()
    for row in closed:
        if not loads[row] > _PUSHES * scale:
            rule = "it is touched and does not push, so that to one side of this rest it opens; its load is"
            faults.add(model.row_text(row), rule, float(loads[row]), "load it, or move it away")
    faults.raise_any()
    one_sided = np.array(model.arrays["block_unilateral"])
    one_sided[model.row_block[closed]] = 0
    return model.with_arrays(block_unilateral=one_sided)


def _refuse_rows(model: Model, at: State) -> None:
    """Raise MechanismError, naming all, for rows that hold velocities, and for those that move with time."""
    _, rate, second, _ = model.put(_core.Bodies(model.core), at).rows()
    faults = FaultList()
    for row in model.core.velocity_rows:
        rule = "it holds velocities only, so that where the mechanism rests depends on the way there"
        faults.add(model.row_text(row), rule, None, "leave it out")
    for row in np.flatnonzero((np.abs(rate) > _STILL) | (np.abs(second) > _STILL)).tolist():
        rule = f"it moves with time at t = {at.time:g} s, so that the mechanism does not rest; its rate is"
        faults.add(model.row_text(row), rule, float(rate[row]), "give it formulas without the time")
    faults.raise_any()


def _check_at_rest(chart: StateChart, left: Floats, stiffness: Floats) -> None:
    """Raise MechanismError where accelerations are left."""
    made = np.abs(stiffness * chart.scale / chart.scale[:, None])
    allowed = _AT_REST * max(1.0, float(np.max(made, initial=0.0)))
    rule = "the mechanism is not at rest: an acceleration is left of"
    advice = "take what bc.statics finds with a smaller tolerance"
    faults = [
        Fault(f"coordinate {one.name!r}", rule, float(a), advice)
        for one, a, size in zip(chart.coordinates, left, chart.scale, strict=True)
        if abs(a) > allowed * size
    ]
    if faults:
        raise MechanismError(faults)


def _refuse_kinks(chart: StateChart, tangents: Tangents, stiffness: Floats) -> None:
    """Raise MechanismError where the stiffness jumps, as it does where a support is about to touch."""
    count = len(stiffness)
    signs = np.where(np.arange(count) % 2 == 0, 1.0, -0.7)
    second = -2.0 * stiffness
    for way in (_BESIDE, -_BESIDE):
        tangents.go(chart.position + way * signs * chart.scale, chart.speed)
        second = second + tangents.forward()[:count, :count]
    to_scaled = chart.scale / chart.scale[:, None]
    jump = np.max(np.abs(second * to_scaled), axis=0, initial=0.0)
    if np.max(jump, initial=0.0) > _SMOOTH * np.max(np.abs(stiffness * to_scaled), initial=0.0):
        name = chart.coordinates[int(np.argmax(jump))].name
        rule = (
            f"the stiffness jumps at this rest, along coordinate {name!r} most: a string is about to go "
            "slack, or a support is about to touch"
        )
        raise MechanismError(Fault("sensitivity", rule, None, "load it, or move it away"))


def _refuse_neutral(chart: StateChart, stiffness: Floats, neutral: int, pivot: float) -> None:
    """Raise MechanismError, with its coordinates, for each direction along which it may rest anywhere.

    neutral: how many statics has found. pivot: the smallest of the rows.
    """
    if not len(stiffness):
        return
    scaled = stiffness * chart.scale / chart.scale[:, None]
    wrong = _ROUNDING / np.sqrt(pivot) * np.max(np.abs(scaled), axis=1, keepdims=True)
    split = singular_values(scaled, np.broadcast_to(wrong, scaled.shape))
    soft = max(neutral, int(np.count_nonzero(split.zero)))
    names = np.array([one.name for one in chart.coordinates])
    rule = "nothing holds the mechanism in this direction, so that it may rest anywhere along it: coordinates"
    advice = "hold it by a spring, a drive or a joint"
    faults = []
    for way in split.rows[len(scaled) - soft :]:
        order = np.argsort(-np.abs(way), kind="stable")
        shown = [f"{names[k]} {way[k]:.2g}" for k in order[:3] if abs(way[k]) > 0.05]
        faults.append(Fault("sensitivity", f"{rule} {', '.join(shown)}", None, advice))
    if faults:
        raise MechanismError(faults)
