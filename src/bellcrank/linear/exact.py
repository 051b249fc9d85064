"""Exact derivatives of rates of states, with their errors, for linear equations."""

from __future__ import annotations

from typing import Final

import numpy as np

from bellcrank.compile.state import Floats
from bellcrank.errors import Unsupported
from bellcrank.linear.differences import Derivatives, derivatives
from bellcrank.linear.quantities import OfCoordinate, Quantities
from bellcrank.linear.sampling import Points
from bellcrank.linear.tangents import Tangents, refuse_other_formulations
from bellcrank.linear.variables import Variable, states_of

_ROUNDING: Final = 1e-14  # of a row's largest entry, for rows that are independent
_BESIDE: Final = 1e-7  # rad, or parts of the mechanism's size: where derivatives are taken again
_PLACES: Final = (-1, 0, 1)  # how often as far
_NOISES: Final = 4.0  # times the largest second difference: what an entry may be off


def exact(points: Points) -> Derivatives | None:
    """Derivatives of the rates (states, states and inputs); None where the mechanism has none.

    The error of a derivative is measured by second differences right beside the state: rounding where it is
    smooth, and the jump on a kink. Columns of parameters that are `fixed` come from differences.

    Raises MechanismError for parameters that open a loop.
    """
    if points.outputs is not None:
        return None
    chart, rough = points.chart, [points.states + k for k in fixed(points)]
    followed = np.delete(np.arange(points.states + len(points.inputs)), rough)
    signs = np.where(np.arange(points.states) % 2 == 0, 1.0, -0.7)
    scale = _BESIDE * signs * np.concatenate([chart.scale, chart.scale[: chart.speeds]])
    here = np.concatenate([chart.position, chart.speed])
    try:
        refuse_other_formulations(points.system)
        tangents = _tangents(points)
        with points.system.displaced():
            found = [_matrix(points, tangents, here + k * scale) for k in _PLACES]
    except Unsupported:
        return None
    matrices = np.array([matrix for matrix, _ in found])
    matrix, rounding = found[len(found) // 2]
    size = np.max(np.abs(matrix), axis=1, initial=0.0, keepdims=True)
    second = np.max(np.abs(np.diff(matrices, 2, axis=0)), axis=0)
    # What cancels in one entry of a row has been as large in the others.
    sizes = np.concatenate([np.abs(scale) / _BESIDE, np.ones(len(followed) - points.states)])
    noise = np.max(second * sizes, axis=1, initial=0.0, keepdims=True) / sizes
    error = rounding * size + _NOISES * np.maximum(second, noise)
    if not rough:
        return Derivatives(matrix, error)
    beside = derivatives(points, points.base, points.steps, rough)
    whole = np.zeros((2, len(matrix), len(followed) + len(rough)))
    whole[:, :, followed] = matrix, error
    whole[:, :, rough] = beside.matrix, beside.error
    return Derivatives(*whole)


def fixed(points: Points) -> dict[int, str]:
    """Numbers of inputs that are parameters without exact derivatives, and why."""
    parameters = [(k, one.key) for k, one in enumerate(points.inputs) if one.kind == "parameter"]
    followed = points.system.followed if parameters else None
    return (
        {} if followed is None else {k: followed.fixed[key] for k, key in parameters if key in followed.fixed}
    )


def _tangents(points: Points) -> Tangents:
    """Of the rates of all coordinates, then of the speeds, by states and inputs."""
    chart = points.chart
    left = fixed(points)
    inputs = [
        Variable(one.name, one.unit, "parameter" if one.kind == "parameter" else "input", one.key)
        for k, one in enumerate(points.inputs)
        if k not in left
    ]
    rates = [OfCoordinate(one.name, one.unit, one.number, 1) for one in chart.coordinates]
    rates += [OfCoordinate(one.name, one.unit, one.number, 2) for one in chart.coordinates[: chart.speeds]]
    quantities = Quantities(chart.wide, chart.state, rates)
    return Tangents(points.system, chart, [*states_of(chart), *inputs], quantities)


def _matrix(points: Points, tangents: Tangents, at: Floats) -> tuple[Floats, float]:
    """The derivatives at a point of states, and their rounding in parts of a row's largest."""
    count = len(points.chart.position)
    tangents.go(at[:count], at[count:])
    return tangents.forward(), float(_ROUNDING / np.sqrt(tangents.pivot))
