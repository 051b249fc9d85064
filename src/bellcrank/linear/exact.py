"""Exact derivatives of rates of states: along directions of the state and of inputs, by the core.

A coordinate that is a state is a driven one here (`StateChart`), and to change it is to change a number of
its drive. The core closes that direction over all rows, and finds what accelerations do along it
(docs/theory/derivatives.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from bellcrank import _core
from bellcrank.compile.model import Model
from bellcrank.compile.parametric_numbers import parametric_numbers
from bellcrank.compile.state import Floats
from bellcrank.errors import Fault, MechanismError, Unsupported
from bellcrank.linear.differences import Derivatives
from bellcrank.linear.sampling import Points

_ROUNDING: Final = 1e-14  # of a row's largest entry, for rows that are independent
_BESIDE: Final = 1e-7  # rad, or parts of the mechanism's size: where derivatives are taken again
_PLACES: Final = (-2, -1, 0, 1, 2)  # how often as far
_NOISES: Final = 4.0  # times the largest second difference: what an entry may be off
_OPEN: Final = 1e-9  # change of a row per unit of a parameter that is rounding
_STILL: Final = np.zeros(0)


def exact(points: Points) -> Derivatives | None:
    """Derivatives of the rates (states, states and inputs); None where something asked for has none.

    The error of a derivative is measured by second differences right beside the state: rounding where it is
    smooth, and the jump on a kink.

    Raises MechanismError for parameters that open a loop.
    """
    if points.system.formulation != "lagrange" or points.outputs is not None:
        return None
    chart = points.chart
    signs = np.where(np.arange(points.states) % 2 == 0, 1.0, -0.7)
    scale = _BESIDE * signs * np.concatenate([chart.scale, chart.scale[: chart.speeds]])
    here = np.concatenate([chart.position, chart.speed])
    try:
        numbers = _changes(points)
        if numbers is None:
            return None
        found = [_matrix(points, numbers, here + k * scale) for k in _PLACES]
    except Unsupported:
        return None
    matrices = np.array([matrix for matrix, _ in found])
    matrix, rounding = found[len(found) // 2]
    size = np.max(np.abs(matrix), axis=1, initial=0.0, keepdims=True)
    second = np.max(np.abs(np.diff(matrices, 2, axis=0)), axis=0)
    # What cancels in one entry of a row has been as large in the others.
    sizes = np.concatenate([np.abs(scale) / _BESIDE, np.ones(len(points.inputs))])
    noise = np.max(second * sizes, axis=1, initial=0.0, keepdims=True) / sizes
    return Derivatives(matrix, rounding * size + _NOISES * np.maximum(second, noise))


@dataclass(frozen=True)
class _Changes:
    """Numbers of the model by place, and their changes with each input (inputs, places)."""

    places: list[tuple[str, int]]
    along: Floats


def _matrix(points: Points, numbers: _Changes, at: Floats) -> tuple[Floats, float]:
    """The derivatives at a point of states, and their rounding in parts of a row's largest."""
    system, chart = points.system, points.chart
    count = len(chart.position)
    along = np.vstack([np.zeros((points.states, len(numbers.places))), numbers.along])
    state, dx, du = chart.directions(at[:count], at[count:], numbers.places, along)
    with system.displaced():
        system.set_state(state)
        _refuse_open(points, dx, du, numbers.places, along)
        udot, accelerations, _ = _core.tangents(system.core, dx, du, _STILL, numbers.places, along, False)
        pivot = system.core.statistics()["smallest_pivot"]
    found = chart.changes(state, udot, (dx, du, accelerations), numbers.places, along)
    return np.hstack(found).T, float(_ROUNDING / np.sqrt(pivot))


def _refuse_open(
    points: Points, dx: Floats, du: Floats, places: list[tuple[str, int]], along: Floats
) -> None:
    """Raise MechanismError for parameters along which rows that depend on others are not met."""
    left = _core.closed_directions(points.system.core, dx, du, _STILL, places, along)[2][points.states :]
    size = 1.0 + np.max(np.abs(along[points.states :]), axis=1, initial=0.0)
    faults = [
        Fault(
            f"parameter {one.name!r}",
            "loops do not stay closed when it alone changes: the mechanism moves at this value only, and "
            "redundant constraints then contradict each other, per unit by",
            float(by),
            "let the lengths that belong together follow one parameter, or leave out what is redundant",
        )
        for one, by, allowed in zip(points.inputs, left.tolist(), (_OPEN * size).tolist(), strict=True)
        if by > allowed
    ]
    if faults:
        raise MechanismError(faults)


def _changes(points: Points) -> _Changes | None:
    model = points.system.model
    by_inputs = _input_changes(model, [one.key for one in points.inputs if one.kind != "parameter"])
    parameters = [one.key for one in points.inputs if one.kind == "parameter"]
    if not parameters:
        return by_inputs
    followed = None if model.custom else parametric_numbers(model)
    found = None if followed is None else followed.changes(parameters)
    if found is None:
        return None
    places, split = [*by_inputs.places, *found[0]], len(by_inputs.places)
    along = np.zeros((len(points.inputs), len(places)))
    of_parameters = np.array([one.kind == "parameter" for one in points.inputs])
    along[np.ix_(of_parameters, np.arange(len(places)) >= split)] = found[1]
    along[np.ix_(~of_parameters, np.arange(len(places)) < split)] = by_inputs.along
    return _Changes(places, along)


def _input_changes(model: Model, names: Sequence[str]) -> _Changes:
    known = {symbol.name: at for symbol, at in model.inputs.items()}
    places: list[tuple[str, int]] = []
    columns: list[int] = []
    for number, name in enumerate(names):
        at = known[name]
        here = [("function_params", place) for place in at.params]
        here += [("formula_values", at.formula)] if at.formula >= 0 else []
        places += here
        columns += [number] * len(here)
    along = np.zeros((len(names), len(places)))
    along[columns, range(len(places))] = 1.0
    return _Changes(places, along)
