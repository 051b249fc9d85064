"""Whether a given state satisfies the equations of a mechanism, which may be another one than its own."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from bellcrank import _core
from bellcrank.compile.initial import violations_of
from bellcrank.compile.model import Model
from bellcrank.compile.state import Floats, State
from bellcrank.compile.state_source import adopted
from bellcrank.errors import AssemblyError
from bellcrank.expression.reading import TIME, symbols_of
from bellcrank.mechanism.coordinate import coordinate_kind

_HELD: Final = 1e-7  # m, rad or rad/2: a projection leaves no larger error
_SIX_DIGITS: Final = 1e-5  # relative to the numbers of a state: such a state may be written with six digits
_NAMED: Final = 4  # how many of the worst elements a message names
PLACE_IT: Final = (
    "it must hold where the state has the bodies: place its markers, or set its constant, for that"
)


def refuse_misfits(model: Model, state: State, who: str, advice: str, tolerance: float = 0.0) -> None:
    """Raise AssemblyError, naming the elements, where bodies at a state miss equations.

    Rows that depend on the time or on inputs are left out: their value says where the bodies are to go.
    who: what cannot be done. advice: what else can be done. tolerance: which the state was projected to.
    """
    state = adopted(model, state)
    bodies = model.put(_core.Bodies(model.core), state)
    errors = np.abs(np.array(bodies.rows()[0]))
    allowed = np.maximum(max(_HELD, 1e3 * tolerance), _SIX_DIGITS * _sizes(model, state))
    errors[~model.rigid_rows | _driven(model) | ~(errors > allowed)] = 0.0
    if errors.any():
        raise misfit(model, errors, who, f"{PLACE_IT}; or {advice}")


def misfit(model: Model, errors: Floats, who: str, advice: str) -> AssemblyError:
    """The error of elements that do not hold at a state. errors: of all rows (rows,)."""
    violations = violations_of(model, errors)
    missed = ", ".join(f"{owner} by {size:.3g}" for owner, size in violations[:_NAMED])
    more = f" and {len(violations) - _NAMED} more" if len(violations) > _NAMED else ""
    text = f"{who}: at the state, {missed}{more} (m or rad/2) does not hold; {advice}"
    return AssemblyError(text, violations)


def _driven(model: Model) -> np.ndarray:
    """Rows that depend on the time or on inputs (rows,)."""
    owners = set()
    for record in model.custom:
        kind: Any = record.lowered.custom
        if kind is not None and (kind.input_symbols or TIME in symbols_of(*kind.formulas)):
            owners.add(f"{record.category} {record.name!r}")
    blocks = np.array([owner in owners for owner in model.block_owner], dtype=bool)
    moving: np.ndarray = (np.asarray(model.arrays["row_function"]) >= 0) | blocks[model.row_block]
    return moving


def _sizes(model: Model, state: State) -> Floats:
    """How far each row (rows,) changes if the numbers of a state and of its markers do by their own size."""
    arrays = model.arrays
    pairs, bodies = arrays["coordinate_pair"], model.coordinate_bodies
    far = np.append(np.max(np.abs(state.position), axis=1, initial=0.0), 0.0)  # the ground last
    arms = np.max(np.abs(np.reshape(arrays["pair_positions"], (-1, 2, 3))), axis=2, initial=0.0)
    lengths = np.sum(far[bodies], axis=1) + np.sum(arms[pairs], axis=1)
    kinds = [coordinate_kind(name) for name in arrays["coordinate_kind"]]
    is_length = np.array([kind is not None and kind.unit == "m" for kind in kinds], dtype=bool)
    sizes = np.where(is_length, lengths, 1.0)
    total = np.zeros(model.row_count)
    rows = np.repeat(np.arange(model.row_count), np.diff(arrays["row_term_start"]))
    np.add.at(total, rows, np.abs(arrays["term_coefficient"]) * sizes[arrays["term_coordinate"]])
    total[np.diff(arrays["row_term_start"]) == 0] = 1.0  # equations, whose units are their own
    return total
