"""Degrees of freedom at a configuration: how many, and which coordinates could be driven to remove them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from bellcrank import _core
from bellcrank.assembly.dependence import freedom_left, redundant_at
from bellcrank.assembly.model import Model
from bellcrank.assembly.positions import without_rows
from bellcrank.assembly.state import Floats, State
from bellcrank.errors import AssemblyError

_DENSE = 3000  # columns of the Jacobian up to which degrees of freedom are found by name
_RANK = 1e-9  # singular values below this part of the largest are zero


@dataclass(frozen=True)
class Freedoms:
    """Degrees of freedom at a configuration.

    count: 6 per body less the rank of the active rows.
    of_positions: the same without velocity constraints: a rolling wheel may go anywhere.
    redundant: rows that follow from others there.
    independent: coordinates whose rates determine all motion, such as "joint 'crank'"; bodies where
        no joint coordinate shows the motion. Empty if the mechanism is too large for dense matrices.
    """

    count: int
    of_positions: int
    redundant: tuple[int, ...]
    independent: tuple[str, ...]


def freedoms(model: Model, state: State | None = None) -> Freedoms:
    """The degrees of freedom at a state, by default the initial one.

    Raises AssemblyError where rows have no finite gradients there.
    """
    at = model.initial if state is None else state
    redundant = redundant_at(model, at)
    count = freedom_left(model, redundant)
    of_velocity = model.core.velocity_rows
    of_positions = count
    if of_velocity:
        holding = without_rows(model, of_velocity)
        of_positions = freedom_left(holding, redundant_at(holding, at))
    columns = 6 * len(model.bodies)
    jacobian = np.zeros((0, columns))
    if columns <= _DENSE:
        bodies = _core.Bodies(model.core)
        bodies.set_state(*at.arrays)
        jacobian = bodies.rows()[3][model.rigid_rows]
    if not np.isfinite(jacobian).all():
        number = np.flatnonzero(model.rigid_rows)[np.flatnonzero(~np.isfinite(jacobian).all(axis=1))[0]]
        row = model.row_text(int(number))
        message = (
            f"degrees of freedom cannot be counted where {row} has no finite gradient; "
            "start elsewhere by position="
        )
        raise AssemblyError(message, [(row, float("nan"))])
    independent: tuple[str, ...] = ()
    if count > 0 and columns <= _DENSE:
        independent = _independent(model, at, jacobian)
    return Freedoms(count, of_positions, redundant, independent)


def leading_coordinates(model: Model, state: State, *parts: Sequence[int]) -> tuple[int, ...] | None:
    """Coordinates whose rates determine all motion if no coordinate is driven.

    parts: coordinates of the model to choose from, those of a part before those of the next. Returns None if
    they do not determine the motion.
    """
    system = _core.Bodies(model.core)
    system.set_state(*state.arrays)
    drives = [block for drive in model.drives for block in drive.blocks]
    holding = model.rigid_rows & ~np.isin(model.row_block, drives)
    null = null_space(system.rows()[3][holding], 6 * len(model.bodies))
    if null.shape[1] == 0:
        return ()
    listed, counts = list[int](), list[int]()
    for part in parts:
        new = [one for one in dict.fromkeys(part) if one not in listed]
        listed += new
        counts.append(len(new))
    if not listed:
        return None
    chosen = pivots(coordinate_jacobian(model, listed, state) @ null, *counts)
    return tuple(listed[k] for k in chosen) if len(chosen) == null.shape[1] else None


def _independent(model: Model, state: State, jacobian: Floats) -> tuple[str, ...]:
    """Names of coordinates that parametrise the null space of the Jacobian, proximal joints first."""
    null = null_space(jacobian, 6 * len(model.bodies))
    names, rates = [], []
    if any(joint.coordinates for joint in model.joints):
        labels, rows = _joint_rates(model, state)
        sound = np.isfinite(rows.sum(axis=1))  # at a pole of its formulas a coordinate has no rate
        names, rates = labels, list(np.where(sound[:, None], rows, 0.0) @ null)
    for i, body in enumerate(model.bodies):
        names += [f"body {body!r}"] * 6
        rates += list(null[6 * i : 6 * i + 6])
    return tuple(dict.fromkeys(names[k] for k in pivots(np.array(rates), len(names) - 6 * len(model.bodies))))


def null_space(jacobian: Floats, columns: int) -> Floats:
    """An orthonormal basis (columns, degrees of freedom) of the null space of a Jacobian."""
    if len(jacobian) == 0:
        return np.eye(columns)
    _, values, right = np.linalg.svd(jacobian)
    rank = int(np.count_nonzero(values > _RANK * values[0]))
    return np.asarray(right[rank:].T)


def _joint_rates(model: Model, state: State) -> tuple[list[str], Floats]:
    """The joints' free coordinates by name and the Jacobian of their values."""
    listed = [(joint, k) for joint in model.joints for k in range(len(joint.coordinates))]
    names = [joint.coordinate_text(k) for joint, k in listed]
    return names, coordinate_jacobian(model, [joint.coordinates[k] for joint, k in listed], state)


def coordinate_jacobian(model: Model, coordinates: Sequence[int], state: State) -> Floats:
    """Gradients (coordinates, 6 nb) in com and principal axes: the Jacobian of a model with these as rows."""
    count = len(coordinates)
    starts = np.arange(count + 1, dtype=np.int32)
    only = {
        "block_row_start": starts,
        "block_unilateral": np.zeros(count, dtype=np.uint8),
        "block_compliance": np.zeros(count),
        "block_restitution": np.zeros(count),
        "block_formula": np.full(count, -1, dtype=np.int32),
        "row_term_start": starts,
        "term_coordinate": np.array(coordinates, dtype=np.int32),
        "term_coefficient": np.ones(count),
        "row_function": np.full(count, -1, dtype=np.int32),
        "row_constant": np.zeros(count),
    }
    system = _core.Bodies(_core.Model(**{**model.arrays, **only}))
    system.set_state(*state.arrays)
    return system.rows()[3]


def pivots(rates: Floats, *preferred: int) -> list[int]:
    """Rows of full rank, found by elimination with pivoting, those of a part before those of the next.

    preferred: how many rows each part has; what is left is the last one. Among rows that are nearly as good
    as the best, the first is taken.
    """
    left, chosen = rates.copy(), list[int]()
    smallest = 1e-7 * float(np.max(np.linalg.norm(rates, axis=1), initial=0.0))
    ends = [0, *np.cumsum(preferred).tolist(), len(rates)]
    for begin, end in pairwise(ends):
        part = slice(begin, end)
        while True:
            sizes = np.linalg.norm(left[part], axis=1)
            if np.max(sizes, initial=0.0) <= smallest:
                break
            k = int(np.argmax(sizes > 0.1 * np.max(sizes)))
            direction = left[part][k] / sizes[k]
            chosen.append(k + begin)
            left = left - np.outer(left @ direction, direction)
    return chosen
