"""Root finding for positions: a plain projection first, then the core's root finder.

Each correction is the one of least norm, weighed by mass: heavy bodies move less than light ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bellcrank import _core
from bellcrank.compile.model import Model, StartValues
from bellcrank.compile.state import Floats, State

TOLERANCE = 1e-10  # largest constraint error of a configuration that is left alone [m or rad/2]
_MET = 1e-8  # largest error that is accepted, as by the core's root finder
_SMALL_TURN = 0.05  # rad; least-norm corrections that turn bodies by less go to the nearest solution
_EASY = 10  # corrections of a projection that is trusted to have gone to the nearest solution


@dataclass(frozen=True, eq=False)
class Found:
    """A configuration and the largest constraint error there.

    method: how it was found. errors: of all rows (rows,), zero for open stops and for inertances; None where
    nobody asked. steps, restarts: of the root finder. violations: by element, where they are not met.
    contradictions: rows that cannot hold together, then.
    """

    state: State
    error: float
    method: str
    errors: Floats | None = None
    steps: int = 0
    restarts: int = 0
    violations: tuple[tuple[str, float], ...] = ()
    contradictions: tuple[tuple[str, ...], ...] = ()

    @property
    def met(self) -> bool:
        """Whether the constraints hold."""
        return self.error <= _MET


def solve_positions(model: Model, pinned: Sequence[int] = ()) -> Found:
    """The configuration near the initial one that satisfies the constraints, or the best that was found.

    pinned: indices of bodies that keep their poses.
    """
    start = model.initial
    closing = _core.Closing(model.core)
    closing.set_state(*start.arrays)
    error = _error(closing)
    if error <= TOLERANCE:
        return Found(start, error, "none")
    if not pinned:
        plain = _projected(closing)
        if error <= min(_MET, plain.error):  # rows contradict each other by rounding, or it is a dead point
            return Found(start, error, "none")
        if plain.met and closing.statistics()["corrections"] <= _EASY:
            return _nearest(model, start, plain)
    finder = _finder(model, start, pinned)
    finder.find()
    return _found(finder, start, "damped Gauss-Newton")


def _nearest(model: Model, start: State, found: Found) -> Found:
    """What a projection found, moved to the nearest solution where it was more than a small step."""
    turn = np.abs(np.sum(found.state.rotation * start.rotation, axis=1))
    if np.min(turn, initial=1.0) > np.cos(_SMALL_TURN / 2.0):
        return found
    finder = _finder(model, found.state, ())
    finder.approach(start.position, start.rotation)
    nearest = _found(finder, start, found.method)
    return nearest if nearest.met else found


def continued(model: Model, start: State, pinned: Sequence[int] = ()) -> Found:
    """From `start`: constants shifted so that all errors vanish, then moved back in steps."""
    finder = _finder(model, start, pinned)
    finder.lead()
    return _found(finder, start, "continuation")


def least_rates(model: Model, state: State) -> Floats:
    """Rates of the constraints (rows,) for the velocities that come closest; contradicting rows share it."""
    return np.asarray(_finder(model, state, ()).least_rates())


def least_errors(model: Model, state: State, pinned: Sequence[int]) -> Floats:
    """What the displacement that comes closest leaves of the errors (rows,), to first order."""
    return np.asarray(_finder(model, state, pinned).least_errors())


def row_errors(model: Model, state: State) -> Floats:
    """C of all rows (rows,) at a state; zero for open stops and for inertances."""
    return np.asarray(_finder(model, state, ()).errors())


def _finder(model: Model, start: State, pinned: Sequence[int]) -> _core.RootFinder:
    finder = _core.RootFinder(model.core, list(pinned))
    finder.place(*start.arrays)
    return finder


def _found(finder: _core.RootFinder, start: State, method: str) -> Found:
    state = replace(State(*finder.state()), velocity=start.velocity, angular_velocity=start.angular_velocity)
    counts = finder.counts()
    errors = np.asarray(finder.errors())
    return Found(state, finder.largest_error(), method, errors, counts["steps"], counts["restarts"])


def _error(closing: _core.Closing) -> float:
    error = closing.violation()[0]
    return error if np.isfinite(error) else np.inf


def _projected(closing: _core.Closing) -> Found:
    met = closing.project()
    error = _error(closing)
    state = State(*closing.state())
    finite = all(np.isfinite(array).all() for array in state.arrays[1:])
    return Found(state, error if (met or error > _MET) and finite else np.inf, "projection")


def without_rows(model: Model, rows: Any) -> Model:
    """The model without some rows (and without names); blocks that hold nothing any more go with them."""
    arrays = model.arrays
    keep = np.ones(model.row_count, dtype=bool)
    keep[list(rows)] = False
    counts = np.bincount(model.row_block[keep], minlength=len(model.block_owner))
    left = counts > 0
    terms = np.diff(arrays["row_term_start"])
    term_keep = np.repeat(keep, terms)
    changed = {
        "block_row_start": _starts(counts[left]),
        "row_term_start": _starts(terms[keep]),
        **{
            name: arrays[name][left]
            for name in (
                "block_unilateral",
                "block_compliance",
                "block_restitution",
                "block_formula",
                "block_friction",
            )
            if name in arrays
        },
        **({"friction_loads": []} if "friction_loads" in arrays else {}),
        **{name: arrays[name][keep] for name in ("row_function", "row_constant")},
        **{name: arrays[name][term_keep] for name in ("term_coordinate", "term_coefficient")},
    }
    owners = tuple(owner for owner, kept in zip(model.block_owner, left, strict=True) if kept)
    return replace(nameless(model), block_owner=owners).with_arrays(**changed)


def nameless(model: Model) -> Model:
    """The model without its elements and without what they take from the start."""
    return replace(
        model, joints=(), constraints=(), forces=(), drives=(), multipliers=(), start=StartValues()
    )


def _starts(counts: Any) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
