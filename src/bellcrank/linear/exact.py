"""Exact derivatives of rates of states and of outputs, with their errors, for linear equations."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from bellcrank.compile.state import Floats
from bellcrank.errors import Unsupported
from bellcrank.formulations.system import System
from bellcrank.linear.differences import Derivatives, derivatives
from bellcrank.linear.quantities import OfCoordinate, Quantities, Quantity, known_quantities
from bellcrank.linear.sampling import Points
from bellcrank.linear.state_chart import StateChart
from bellcrank.linear.tangents import Tangents, refuse_other_formulations
from bellcrank.linear.variables import Variable, states_of

_ROUNDING: Final = 1e-14  # of a row's largest entry, for rows that are independent
_BESIDE: Final = 1e-7  # rad, or parts of the mechanism's size: where derivatives are taken again
_PLACES: Final = (-2, -1, 0, 1, 2)  # how often as far
_NOISES: Final = 4.0  # times the largest second difference: what an entry may be off


@dataclass(frozen=True, eq=False)
class Exact:
    """Derivatives of rates and outputs. notes: what of them comes from differences, and why."""

    found: Derivatives
    notes: tuple[str, ...]


def exact(points: Points) -> Exact | None:
    """Derivatives of rates, then of outputs (..., states and inputs); None where the mechanism has none.

    The error of a derivative is measured by second differences right beside the state: rounding where it is
    smooth, and the jump on a kink. Columns of parameters that are `fixed`, and rows of outputs that have no
    exact derivatives, come from differences.

    Raises MechanismError for parameters that open a loop.
    """
    chart, left = points.chart, _fixed(points)
    known = known_quantities(points.system.model, points.recorded)
    signs = np.where(np.arange(points.states) % 2 == 0, 1.0, -0.7)
    scale = _BESIDE * signs * np.concatenate([chart.scale, chart.scale[: chart.speeds]])
    here = np.concatenate([chart.position, chart.speed])
    try:
        refuse_other_formulations(points.system)
        tangents = _tangents(points, [one for one in known if one is not None], left)
        with points.system.displaced():
            found = [_matrix(points, tangents, here + k * scale) for k in _PLACES]
    except Unsupported:
        return None
    matrices = np.array([matrix for matrix, _, _ in found])
    matrix, rounding, unique = found[len(found) // 2]
    size = np.max(np.abs(matrix), axis=1, initial=0.0, keepdims=True)
    second = np.max(np.abs(np.diff(matrices, 2, axis=0)), axis=0)
    # What cancels in one entry of a row has been as large in the others.
    followed = np.delete(np.arange(len(points.base)), [points.states + k for k in left])
    sizes = np.concatenate([np.abs(scale) / _BESIDE, points.steps[followed[points.states :]]])
    noise = np.max(second * sizes, axis=1, initial=0.0, keepdims=True) / sizes
    error = rounding * size + _NOISES * np.maximum(second, noise)
    places = [*range(points.states), *(points.states + k for k, one in enumerate(known) if one is not None)]
    kept = [place for place, is_unique in zip(places, unique, strict=True) if is_unique]
    whole = np.zeros((2, points.states + len(known), len(points.base)))
    lacking = len(kept) < whole.shape[1]
    if left or lacking:
        by = range(len(points.base)) if lacking else [points.states + k for k in left]
        beside = derivatives(points, points.base, points.steps, by)
        whole[:, :, by] = beside.matrix, beside.error
    whole[:, np.array(kept, dtype=np.int64)[:, None], followed] = matrix[unique], error[unique]
    notes = [f"by {points.inputs[k].name!r} by differences: {why}" for k, why in left.items()]
    for k, one in enumerate(known):
        why = "it has no exact derivatives" if one is None else "redundant constraints share it"
        if points.states + k not in kept:
            notes.append(f"output {points.recorded[k]!r} by differences: {why}")
    return Exact(Derivatives(*whole), tuple(notes))


def state_matrix(
    system: System, chart: StateChart, position: Floats, speed: Floats, settled: bool = False
) -> Floats:
    """Exact derivatives of rates by states (states, states), with the inputs that the system has.

    settled: whether what touches sticks or slips on from there, and not from the chart's own state.
    Raises Unsupported where a formulation has none, OutOfReach for states that are out of reach.
    """
    quantities = Quantities(chart.wide, chart.state, _rates(chart))
    tangents = Tangents(system, chart, states_of(chart), quantities, settled=settled)
    tangents.go(position, speed)
    return tangents.forward()


def _fixed(points: Points) -> dict[int, str]:
    """Numbers of inputs that are parameters without exact derivatives, and why."""
    parameters = [(k, one.key) for k, one in enumerate(points.inputs) if one.kind == "parameter"]
    followed = points.system.followed if parameters else None
    return (
        {} if followed is None else {k: followed.fixed[key] for k, key in parameters if key in followed.fixed}
    )


def _tangents(points: Points, outputs: Sequence[Quantity], left: Collection[int]) -> Tangents:
    """Of the rates of all coordinates, then of the speeds, then of outputs, by states and inputs.

    left: numbers of inputs that are left out.
    """
    chart = points.chart
    inputs = [
        Variable(one.name, one.unit, "parameter" if one.kind == "parameter" else "input", one.key)
        for k, one in enumerate(points.inputs)
        if k not in left
    ]
    quantities = Quantities(chart.wide, chart.state, [*_rates(chart), *outputs])
    return Tangents(points.system, chart, [*states_of(chart), *inputs], quantities)


def _rates(chart: StateChart) -> list[Quantity]:
    """Those of all coordinates, then of the speeds."""
    rates = [OfCoordinate(one.name, one.unit, one.number, 1) for one in chart.coordinates]
    return [*rates, *(replace(one, level=2) for one in rates[: chart.speeds])]


def _matrix(points: Points, tangents: Tangents, at: Floats) -> tuple[Floats, float, np.ndarray]:
    """The derivatives at a point of states, their rounding in parts of a row's largest, which are unique."""
    count = len(points.chart.position)
    tangents.go(at[:count], at[count:])
    return tangents.forward(), float(_ROUNDING / np.sqrt(tangents.pivot)), tangents.observed.unique
