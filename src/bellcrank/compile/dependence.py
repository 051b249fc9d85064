"""Rows that follow from others, the degrees of freedom that are left, and rows that contradict each other."""

from __future__ import annotations

import numpy as np

from bellcrank import _core
from bellcrank.compile.model import Model
from bellcrank.compile.positions import least_errors, row_errors, without_rows
from bellcrank.compile.report import Redundancy, RowFactor
from bellcrank.compile.state import Floats, State

_PART = 0.01  # of the largest: errors of rows that take part in a contradiction
_FEWEST, _WORK = 10, 200_000  # redundant rows that are explained; such rows times rows, where that is more
_DENSE_ROWS = 600  # with more rows no dense matrix is formed
_RANK = 1e-9  # singular values below this part of the largest are zero
_LEAST = 1e-8  # m or rad/2, of errors that are none


def redundant_at(model: Model, at: State) -> tuple[int, ...]:
    """Rows that are redundant at a state.

    A closed stop removes no degree of freedom, since it may open: a drive that starts at one is needed.
    """
    of_stops = model.one_sided
    holding = without_rows(model, np.flatnonzero(of_stops)) if of_stops.any() else model
    closing = _core.Closing(holding.core)
    closing.set_state(*at.arrays)
    held = np.flatnonzero(~of_stops)
    return tuple(int(held[row]) for row in closing.redundant_rows() if holding.rigid_rows[row])


def degrees_of_freedom(model: Model, redundant: tuple[int, ...]) -> int:
    """6 per body less the rank of the rows of a model, from the rows that are redundant."""
    return 6 * len(model.bodies) - int(np.count_nonzero(model.rigid_rows)) + len(redundant)


def redundant_rows(model: Model) -> tuple[Redundancy, ...]:
    """The rows that follow from others at the initial state, from which, and what is left of them.

    From which is found for the first of them only where there are thousands.
    """
    closing = model.put(_core.Closing(model.core), model.initial)
    dropped = [row for row in closing.redundant_rows() if model.rigid_rows[row]]
    if not dropped:
        return ()
    errors = np.abs(row_errors(model, model.initial))
    sums = {
        row: tuple(RowFactor(*model.describe_row(other), factor) for other, factor in terms)
        for row, terms in closing.dependences(max(_FEWEST, _WORK // model.row_count))
    }
    return tuple(Redundancy(*model.describe_row(row), float(errors[row]), sums.get(row)) for row in dropped)


def contradictory_rows(model: Model, state: State, pinned: list[int]) -> tuple[tuple[str, ...], ...]:
    """Rows that cannot hold together near a state, in groups that have no body in common, worst first.

    What no displacement takes away of the errors C, C + J xi at its least, is in the null space of J^T: a
    combination of rows whose gradients cancel, but not their errors. Empty where all can be taken away.
    """
    return groups(model, least_errors(model, state, pinned))


def groups(model: Model, errors: Floats) -> tuple[tuple[str, ...], ...]:
    """Rows with errors that stay, by name, in groups of rows that share bodies."""
    sizes = np.abs(errors)
    largest = float(np.max(sizes, initial=0.0))
    if not _LEAST < largest < np.inf:
        return ()
    rows = np.flatnonzero(sizes > _PART * largest).tolist()
    bodies = [model.core.bodies_of(int(model.row_block[row])) for row in rows]
    _, part, _ = _core.components(model.ground + 1, bodies)
    found: dict[int, list[int]] = {}
    for row, number in zip(rows, part, strict=True):
        found.setdefault(number, []).append(row)
    ordered = sorted(found.values(), key=lambda together: -max(sizes[row] for row in together))
    return tuple(tuple(model.row_text(row) for row in together) for together in ordered)


def dead_points(model: Model, at: State) -> str:
    """The drives whose coordinates the other rows hold still at a pose, in words; empty if there are none."""
    of_drives = [block for drive in model.drives for block in drive.blocks]
    driven = np.isin(model.row_block, of_drives)
    if not driven.any() or model.row_count > _DENSE_ROWS:
        return ""
    system = _core.Bodies(model.core)
    system.set_state(*at.arrays)
    jacobian = system.rows()[3]
    others = jacobian[model.rigid_rows & ~driven]
    _, sizes, right = np.linalg.svd(np.vstack([others, np.zeros((1, others.shape[1]))]))
    free = right[np.count_nonzero(sizes > _RANK * max(sizes[0], 1e-300)) :]
    still = (np.abs(jacobian @ free.T) <= _RANK * np.linalg.norm(jacobian, axis=1)[:, None]).all(axis=1)
    names = [d.name for d in model.drives if (still & np.isin(model.row_block, d.blocks)).any()]
    if not names:
        return ""
    drives = ", ".join(f"drive {name!r}" for name in names)
    if not len(free):
        from bellcrank.compile.stray_axes import stray_axes  # which counts degrees of freedom by this module

        if stray := stray_axes(model, at):
            return f"the joints hold still what {drives} would move: {stray}"
    return (
        f"the joints hold still what {drives} would move: the pose is singular there (a dead point, or links "
        "in line), where the row of the drive depends on those of the joints; start away from it, or drive a "
        "coordinate that moves there, such as the crank's"
    )
