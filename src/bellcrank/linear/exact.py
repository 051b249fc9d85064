"""Exact derivatives of rates of states: along directions of the state and of inputs, by the core.

A coordinate that is a state is a driven one here (`StateChart`), and to change it is to change a number of its
drive. The core closes that direction over all rows, and finds what accelerations do along it
(docs/theory/derivatives.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from bellcrank import _core
from bellcrank.compile.model import Model
from bellcrank.compile.state import Floats
from bellcrank.errors import Unsupported
from bellcrank.linear.differences import Derivatives
from bellcrank.linear.sampling import Points

_ROUNDING: Final = 1e-14  # of a row's largest entry, for rows that are independent
_BESIDE: Final = 1e-7  # rad, or parts of the mechanism's size: where derivatives are taken again
_EMPTY: Final = np.zeros((0, 0))
_STILL: Final = np.zeros(0)


def exact(points: Points) -> Derivatives | None:
    """Derivatives of the rates (states, states and inputs); None where something asked for has none.

    The error of a derivative is what its second difference is right beside the state: rounding where it is
    smooth, and half the jump or more on a kink.
    """
    given = any(one.kind == "parameter" for one in points.inputs)
    if points.system.formulation != "lagrange" or points.outputs is not None or given:
        return None
    chart = points.chart
    signs = np.where(np.arange(points.states) % 2 == 0, 1.0, -0.7)
    scale = _BESIDE * signs * np.concatenate([chart.scale, chart.scale[: chart.speeds]])
    here = np.concatenate([chart.position, chart.speed])
    try:
        matrix, rounding = _matrix(points, here)
        sides = [_matrix(points, here + way * scale)[0] for way in (1.0, -1.0)]
    except Unsupported:
        return None
    size = np.max(np.abs(matrix), axis=1, initial=0.0, keepdims=True)
    return Derivatives(matrix, rounding * size + np.abs(sides[0] + sides[1] - 2.0 * matrix))


def _matrix(points: Points, at: Floats) -> tuple[Floats, float]:
    """The derivatives at a point of states, and their rounding in parts of a row's largest."""
    system, chart = points.system, points.chart
    count = len(chart.position)
    state, dx, du = chart.directions(at[:count], at[count:])
    places, along = _input_changes(system.model, [one.key for one in points.inputs])
    with system.displaced():
        system.set_state(state)
        udot, by_state, _ = _core.tangents(system.core, dx, du, _STILL, [], _EMPTY)
        _, by_input, _ = _core.tangents(system.core, _EMPTY, _EMPTY, _STILL, places, along)
        pivot = system.core.statistics()["smallest_pivot"]
    still = np.zeros((len(by_input), dx.shape[1]))
    directions = np.vstack([dx, still]), np.vstack([du, still]), np.vstack([by_state, by_input])
    return np.hstack(chart.changes(state, udot, *directions)).T, float(_ROUNDING / np.sqrt(pivot))


def _input_changes(model: Model, names: Sequence[str]) -> tuple[list[tuple[str, int]], Floats]:
    """Places of the numbers that inputs stand in, and the change of each with each input (inputs, places)."""
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
    return places, along

