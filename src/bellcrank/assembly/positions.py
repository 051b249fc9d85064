"""Root finding for positions: a plain projection, damped Gauss-Newton, continuation, in this order.

Each correction is the one of least norm, weighed by mass: heavy bodies move less than light ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bellcrank import _core
from bellcrank.assembly.model import Model
from bellcrank.assembly.records import StartValues
from bellcrank.assembly.state import Floats, State

TOLERANCE = 1e-10  # largest constraint error of a configuration that is left alone [m or rad/2]
_MET = 1e-8  # largest error that a projection may leave
_DENSE_ROWS = 1500  # more rows than this are not solved with dense matrices
_EASY = 10  # corrections of a projection that is trusted to have gone to the nearest solution
_LARGEST_TURN = 0.5  # rad, of any body in one damped step


@dataclass(frozen=True, eq=False)
class Found:
    """A configuration and the largest constraint error there; method: how it was found."""

    state: State
    error: float
    method: str

    @property
    def met(self) -> bool:
        """Whether the constraints hold."""
        return self.error <= _MET


def solve_positions(model: Model) -> Found:
    """The configuration near the initial one that satisfies the constraints, or the best that was found."""
    start = model.initial
    system = _core.Lagrange(model.core)
    system.set_state(*start.arrays)
    error = _error(system)
    if error <= TOLERANCE:
        return Found(start, error, "none")
    plain = _projected(system, "projection")
    if plain.met and system.statistics()["corrections"] <= _EASY:
        return plain
    tried = [plain] if np.isfinite(plain.error) else []
    if model.row_count <= _DENSE_ROWS:
        tried.append(_damped(model, start))
        if tried[-1].met:
            return tried[-1]
    tried.append(continued(model, start))
    met = [found for found in tried if found.met]
    return met[-1] if met else min(tried, key=lambda found: found.error)


def _error(system: _core.Lagrange) -> float:
    error = system.violation()[0]
    return error if np.isfinite(error) else np.inf


def _projected(system: _core.Lagrange, method: str) -> Found:
    met = system.project()
    error = _error(system)
    state = State(*system.state())
    finite = all(np.isfinite(array).all() for array in state.arrays[1:])
    return Found(state, error if (met or error > _MET) and finite else np.inf, method)


def _damped(model: Model, start: State) -> Found:
    """Levenberg-Marquardt on the mass-weighted displacements, with dense matrices.

    The damping follows H. B. Nielsen, Damping parameter in Marquardt's method (1999).
    """
    system = _core.Lagrange(model.core)
    system.set_state(*_at_rest(start).arrays)
    scale = _inverse_root_mass(model)
    error, jacobian = _residual(model, system)
    damping, growth = 1e-3, 2.0
    for _ in range(200):
        if np.max(np.abs(error), initial=0.0) <= 1e-12:
            break
        weighted = jacobian * scale
        gram = weighted @ weighted.T
        size = float(np.max(np.diag(gram), initial=1e-300))
        shifted = gram + damping * size * np.eye(len(error))
        tau = np.linalg.lstsq(shifted, -error, rcond=1e-15)[0]
        step = (weighted.T @ tau) * scale
        turn = float(np.max(np.abs(step.reshape(-1, 6)[:, 3:]), initial=0.0))
        before = system.state()
        step *= min(1.0, _LARGEST_TURN / max(turn, 1e-300))
        system.displace(np.ascontiguousarray(step.reshape(-1, 6)))
        next_error, next_jacobian = _residual(model, system)
        old, new = float(error @ error), float(next_error @ next_error)
        if new < old:
            predicted = old - float(np.sum((error + jacobian @ step) ** 2))
            gain = (old - new) / max(predicted, 1e-300)
            damping = max(damping * max(1.0 / 3.0, 1.0 - (2.0 * gain - 1.0) ** 3), 1e-14)
            growth = 2.0
            stalled = old - new <= 1e-14 * old
            error, jacobian = next_error, next_jacobian
            if stalled:
                break
        else:
            system.set_state(*before)
            damping, growth = damping * growth, growth * 2.0
            if damping > 1e12:
                break
    state = _with_velocities(State(*system.state()), start)
    return _polished(model, Found(state, float(np.max(np.abs(error))), "damped Gauss-Newton"))


def _residual(model: Model, system: _core.Lagrange) -> tuple[Floats, Floats]:
    """Errors and Jacobian with open stops and inertances left out (zero)."""
    error, _, _, jacobian = system.rows()
    arrays = model.arrays
    stop = (arrays["block_unilateral"] != 0)[model.row_block]
    compliant = (arrays["block_compliance"] > 0.0)[model.row_block]
    idle = compliant | (stop & (error >= 0.0))
    error[idle] = 0.0
    jacobian[idle] = 0.0
    return error, jacobian


def _inverse_root_mass(model: Model) -> Floats:
    """M^(-1/2) (6 nb,) in com and principal axes."""
    moments = [_core.principal_inertia(inertia)[0] for inertia in model.inertia]
    mass = np.concatenate([np.repeat(model.mass[:, None], 3, axis=1), np.reshape(moments, (-1, 3))], axis=1)
    return np.asarray(1.0 / np.sqrt(mass.ravel()))


def _polished(model: Model, found: Found) -> Found:
    """The same after a projection, if that is better."""
    if found.error > 1e-3:
        return found
    system = _core.Lagrange(model.core)
    system.set_state(*found.state.arrays)
    projected = _projected(system, found.method)
    return projected if projected.error < found.error else found


def continued(model: Model, start: State) -> Found:
    """From `start`: constants shifted so that all errors vanish, then led back to what they are in steps."""
    system = _core.Lagrange(model.core)
    system.set_state(*start.arrays)
    shift = row_errors(model, system)
    done, step, state = 0.0, 0.25, _at_rest(start)
    best = Found(start, _error(system), "continuation")
    while step > 1e-4 and done < 1.0:
        reached = min(1.0, done + step)
        tried = _step_to(model, shift * (1.0 - reached), state)
        if tried is None:
            step *= 0.5
            continue
        done, state, step = reached, tried, 2.0 * step
    system.set_state(*_with_velocities(state, start).arrays)
    if done == 1.0:
        return _projected(system, "continuation")
    return min(best, Found(State(*system.state()), _error(system), "continuation"), key=lambda f: f.error)


def row_errors(model: Model, system: _core.Lagrange) -> Floats:
    """C of all rows (rows,) at a system's state; zero for open stops and for inertances."""
    error = system.rows()[0]
    arrays = model.arrays
    stop = (arrays["block_unilateral"] != 0)[model.row_block]
    compliant = (arrays["block_compliance"] > 0.0)[model.row_block]
    return np.asarray(np.where(compliant | (stop & (error >= 0.0)), 0.0, error))


def _step_to(model: Model, shift: Floats, state: State) -> State | None:
    """The configuration with the constants shifted, if it is close by."""
    core = _core.Model(**{**model.arrays, "row_constant": model.arrays["row_constant"] + shift})
    system = _core.Lagrange(core)
    system.set_state(*state.arrays)
    found = _projected(system, "continuation")
    cosine = np.abs(np.sum(found.state.rotation * state.rotation, axis=1))
    if not found.met or np.min(cosine, initial=1.0) < np.cos(_LARGEST_TURN / 2.0):
        return None
    return _at_rest(found.state)


def _at_rest(state: State) -> State:
    return State(state.time, state.position, state.rotation, 0.0 * state.velocity, 0.0 * state.velocity)


def _with_velocities(state: State, start: State) -> State:
    return State(state.time, state.position, state.rotation, start.velocity, start.angular_velocity)


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
            for name in ("block_unilateral", "block_compliance", "block_restitution", "block_formula")
        },
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
