"""What `Modes.sensitivity` does: how eigenvalues change with parameters, along the rest that moves with them.

With A(y, v, p) the exact derivatives of the rates by the states, and K its part v' by y, the rest moves by

    K δy + ∂v'/∂p δp = 0,

while speeds stay. A is differenced along this line, with extrapolation: second derivatives from exact first
ones, at a loss of some three digits (docs/theory/linearization.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from bellcrank.compile.state import Floats
from bellcrank.errors import Fault, MechanismError, Unsupported
from bellcrank.formulations.preparing import prepare
from bellcrank.linear.differences import SURE, Derivatives, OutOfReach, derivatives, singular_values
from bellcrank.linear.eigenvalue_slopes import EigenvalueSlopes, eigenvalue_slopes, numbers_near
from bellcrank.linear.exact import exact, state_matrix
from bellcrank.linear.linear_model import LinearModel
from bellcrank.linear.linearize import check_steady
from bellcrank.linear.modes import Modes
from bellcrank.linear.sampling import EFFORT, LinearInput, Points
from bellcrank.linear.variables import numbers_of

_ALONG: Final = 0.05  # rad, or parts of the mechanism's size, along neutral directions
_SAME: Final = 1e-6  # change of an eigenvalue, in parts of its size, that is none
_BALANCED: Final = 1e-9  # of the largest change of an acceleration: rounding


@dataclass(frozen=True, eq=False)
class ModeDerivatives:
    """Derivatives of eigenvalues by inputs.

    eigenvalues: (modes, inputs), complex, 1/s per unit; nan of neutral modes, and where there are none.
    error: (modes, inputs), estimated. inputs: parameters and inputs, with their values at. remarks: what
    makes derivatives one-sided or less exact.
    """

    eigenvalues: np.ndarray
    error: Floats
    inputs: tuple[LinearInput, ...]
    at: Floats
    remarks: tuple[str, ...]


def mode_derivatives(modes: Modes, by: Sequence[str]) -> ModeDerivatives:
    """See `Modes.sensitivity`."""
    linear = modes.linear
    check_steady(linear)
    points = _points(linear, by)
    try:
        known = exact(points)
        if known is None:
            raise Unsupported("sensitivity: the equations of this mechanism have no exact derivatives")
        lines = _lines(linear, points, known.found)
        slopes, errors = _slopes(points, lines)
    except OutOfReach as error:
        raise MechanismError(Fault("sensitivity", f"there is no way to move on: {error}")) from error
    n, found = points.states, linear.eigen()
    matrix, error_of = known.found.matrix[:, :n], known.found.error[:, :n]
    groups = eigenvalue_slopes(matrix, error_of, linear.scale, found, slopes, errors)
    return _by_mode(modes, groups, found.values, points, known.notes)


def _points(linear: LinearModel, by: Sequence[str]) -> Points:
    """What parameters and inputs change, by `lagrange`."""
    chart = linear.chart
    inputs = [
        LinearInput(one.name, one.unit, "parameter" if one.kind == "parameter" else "input", one.key)
        for one in numbers_of(chart.model, by)
        if not one.key.startswith(EFFORT)
    ]
    mechanism = chart.model.source
    assert mechanism is not None
    return Points(mechanism, prepare(chart.model, "lagrange"), chart, inputs, None)


def _lines(linear: LinearModel, points: Points, found: Derivatives) -> Floats:
    """Along which the rest moves with each input, (inputs, states and inputs).

    The least displacement, where neutral directions leave it open. Raises MechanismError where they lead away
    from rests, or to such with other eigenvalues.
    """
    n, count, inputs = points.states, linear.coordinates, len(points.inputs)
    to_states, to_rates = linear.scale[:count], linear.scale[count:, None]
    stiffness, pull = (found.matrix[count:, part] / to_rates for part in (slice(count), slice(n, None)))
    wrong, pull_wrong = (found.error[count:, part] / to_rates for part in (slice(count), slice(n, None)))
    split = singular_values(stiffness * to_states, SURE * wrong * to_states)
    names = linear.states[:count]
    left = np.abs(split.columns[:, split.zero].T @ pull)
    allowed = np.abs(split.columns[:, split.zero].T) @ (SURE * pull_wrong)
    allowed += _BALANCED * np.max(np.abs(pull), axis=0, initial=0.0)
    faults = [
        Fault(
            f"by {points.inputs[k].name!r}",
            f"it pushes the mechanism where nothing holds it, {_text(split.rows[split.zero][i], names)}",
            float(left[i, k]),
            "hold it there by a spring, a drive or a joint",
        )
        for i, k in np.argwhere(left > allowed)
    ]
    if faults:
        raise MechanismError(faults)
    lines = np.zeros((inputs, n + inputs))
    lines[:, n:] = np.eye(inputs)
    lines[:, :count] = -split.solved(pull).T * to_states
    for way in split.null:
        _refuse_other_modes(linear, points, way * to_states, _text(way, names))
    return lines


def _text(way: Floats, names: Sequence[str]) -> str:
    """The coordinates that a direction has most of."""
    order = np.argsort(-np.abs(way), kind="stable")
    return ", ".join(f"{names[k]} {way[k]:.2g}" for k in order[:3] if abs(way[k]) > 0.05)


def _refuse_other_modes(linear: LinearModel, points: Points, way: Floats, text: str) -> None:
    """Raise MechanismError if eigenvalues differ along a neutral direction."""
    here, chart = linear.eigen(), linear.chart
    there = state_matrix(points.system, chart, chart.position + _ALONG * way, chart.speed)
    beside = np.linalg.eigvals(there * linear.scale / linear.scale[:, None])
    for value, unsure in zip(here.values, here.uncertainty, strict=True):
        if np.min(np.abs(beside - value)) > _SAME * abs(value) + 10.0 * unsure:
            rule = f"it may rest anywhere along {text}, with other frequencies in other places"
            advice = "hold it there by a spring, a drive or a joint"
            raise MechanismError(Fault("sensitivity", rule, None, advice))


def _slopes(points: Points, lines: Floats) -> tuple[Floats, Floats]:
    """Derivatives of the matrix along lines, (lines, states, states), and their errors."""
    n = points.states
    reach = np.abs(lines[:, :n])
    steps = points.steps[n:] / np.max(
        np.maximum(reach * points.steps[n:, None] / points.steps[:n], 1.0), axis=1, initial=1.0
    )

    def sample(along: Floats) -> Floats:
        return np.array([_matrix(points, points.base + one @ lines).ravel() for one in along])

    try:
        found = derivatives(sample, np.zeros(len(lines)), steps)
    except MechanismError as error:
        names = ", ".join(repr(one.name) for one in points.inputs)
        rule = f"it must be possible to change {names} a little to both sides: {error}"
        raise MechanismError(Fault("sensitivity", rule)) from error
    shape = (n, n, len(lines))
    matrix, error_of = (np.moveaxis(one.reshape(shape), 2, 0) for one in (found.matrix, found.error))
    return matrix, error_of


def _matrix(points: Points, point: Floats) -> Floats:
    """Exact derivatives of rates by states at a point of states and inputs."""
    system, chart = points.world(point)
    count = len(chart.position)
    with system.displaced():
        points.steer(system, point)
        return state_matrix(system, chart, point[:count], point[count : points.states], settled=True)


def _by_mode(
    modes: Modes, groups: Sequence[EigenvalueSlopes], values: np.ndarray, points: Points, notes: Sequence[str]
) -> ModeDerivatives:
    """Derivatives by mode, where those of modes that coincide are given to them in their order."""
    moving = [mode for mode in modes if mode.kind != "neutral"]
    numbers = numbers_near(values, [mode.eigenvalue for mode in moving])
    eigenvalues = np.full((len(modes), len(points.inputs)), np.nan + 0j)
    error, remarks = np.full(eigenvalues.shape, np.nan), list(notes)
    for group in groups:
        own = [mode for mode, number in zip(moving, numbers, strict=True) if number in group.members]
        for place, mode in enumerate(own):
            eigenvalues[mode.number - 1] = group.values[:, place]
            error[mode.number - 1] = group.error
        named = " and ".join(str(mode.number) for mode in own)
        if own and np.any(np.isnan(group.values)):
            remarks.append(f"mode {named}: eigenvalues meet here and part like a root: no derivatives")
        elif len(own) > 1:
            remarks.append(
                f"modes {named} have the same eigenvalue: derivatives are those of the branches into which "
                "each parameter by itself parts them, smallest first"
            )
    at = points.base[points.states :]
    return ModeDerivatives(eigenvalues, error, points.inputs, at, tuple(remarks))
