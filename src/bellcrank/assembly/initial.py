"""Assembly: the initial positions and velocities are mended until they satisfy the constraints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bellcrank import _core
from bellcrank.assembly.compile import compile_mechanism
from bellcrank.assembly.model import Model
from bellcrank.assembly.posing import led_rows, placed_rows, turned
from bellcrank.assembly.positions import (
    TOLERANCE,
    Found,
    continued,
    row_errors,
    solve_positions,
    without_rows,
)
from bellcrank.assembly.records import GivenValue
from bellcrank.assembly.state import Floats, State
from bellcrank.errors import AssemblyError
from bellcrank.mechanism.checking import Quat, Vec3
from bellcrank.mechanism.mechanism import Mechanism

_VELOCITY_TOLERANCE = 1e-10  # relative, of velocities that are left alone
_VELOCITY_MET = 1e-6  # relative, of velocities after mending
_ROUNDING = 1e-13  # smaller changes are none
_DENSE_ROWS = 1500  # more rows than this are not judged one by one
_NAMED = 5  # how many of the worst elements a message names


@dataclass(frozen=True)
class BodyMove:
    """How far assembly moved a body.

    distance: of the frame's origin, m. angle: rad. velocity, angular_velocity: sizes of their changes.
    """

    body: str
    distance: float
    angle: float
    velocity: float
    angular_velocity: float

    def __str__(self) -> str:
        return (
            f"{self.body}: moved {self.distance:.3g} m and turned {self.angle:.3g} rad, "
            f"velocity changed by {self.velocity:.3g} m/s and {self.angular_velocity:.3g} rad/s"
        )


@dataclass(frozen=True)
class AssemblyReport:
    """What assembly did.

    changed: whether anything was moved; a mechanism that fits together is left exactly as it is.
    method: how positions were found: "none", "joint positions", "projection", "damped Gauss-Newton" or
        "continuation".
    error_before, error: largest constraint error, m or rad/2. drift_before, drift: the same of its rate.
    moves: the bodies that were moved, those that went farthest first.
    """

    mechanism: str
    changed: bool
    method: str
    error_before: float
    error: float
    drift_before: float
    drift: float
    moves: tuple[BodyMove, ...]

    def __str__(self) -> str:
        if not self.changed:
            return f"{self.mechanism!r} fits together as described (largest error {self.error:.2g})"
        positions = f"largest error {self.error_before:.3g} -> {self.error:.3g}"
        velocities = f"of velocities {self.drift_before:.3g} -> {self.drift:.3g}"
        how = "positions fit, velocities mended" if self.method == "none" else f"assembled by {self.method}"
        lines = [f"{self.mechanism!r} {how}: {positions}, {velocities}"]
        lines += [f"  {move}" for move in self.moves[:10]]
        if len(self.moves) > 10:
            lines.append(f"  and {len(self.moves) - 10} more bodies")
        return "\n".join(lines)


def assemble(mechanism: Mechanism, time: float = 0.0) -> AssemblyReport:
    """Mend the initial positions and velocities of a mechanism's bodies so that all constraints hold.

    Bodies move by as little as possible, weighed by mass; those that need not move keep their numbers
    exactly. Values that are "as in the initial configuration" (rest lengths, gear phases, ...) do not hold
    bodies back: they are taken from what comes out.

    Initial positions and velocities that joints are given hold exactly. Bodies that hang on such a joint move
    along with it; in a loop, the joint is led there from where the bodies were placed, and the others follow.

    time: at which drives are read, s.

    Raises MechanismError for faults of the description, AssemblyError where the constraints cannot be met,
    naming the worst.
    """
    model, report = assembled(compile_mechanism(mechanism, time))
    if report.changed:
        table: dict[str, Any] = mechanism._bodies  # noqa: SLF001  (one at a time, replace() would take long)
        state = model.initial
        for move in report.moves:
            i = model.body_index[move.body]
            table[move.body] = replace(
                table[move.body],
                position=_vector(state.position[i]),
                rotation=_quaternion(state.rotation[i]),
                velocity=_vector(state.velocity[i]),
                angular_velocity=_vector(state.angular_velocity[i]),
            )
    return report


def assembled(model: Model) -> tuple[Model, AssemblyReport]:
    """The model with a mended initial state, and what was done. Raises AssemblyError as `assemble` does."""
    start, given = model.initial, model.given
    found = _positions(model)
    at = found.state if found.state is start else turned(model, found.state, given.positions)
    placed = model if at is start else model.starting(at, given)
    led = led_rows(placed, given.velocities)
    system = _core.Lagrange(led.core)
    led.put(system, at)
    error, drift_before = system.violation()
    drift, state = drift_before, at
    if drift_before > _VELOCITY_TOLERANCE * _speed(start):
        state, drift = _velocities(led, system)
    before = start if given.described is None else given.described
    if state is before:
        return model, AssemblyReport(model.name, False, "none", error, error, drift, drift, ())
    state = _untouched_kept(before, state)
    moves = _moves(model.bodies, before, state)
    posed = found.method == "none" and bool(given.positions)
    method = "joint positions" if posed else found.method
    report = AssemblyReport(
        model.name, bool(moves), method, _initial_error(model), error, drift_before, drift, moves
    )
    return model.started(state), report


def _positions(model: Model) -> Found:
    """The mended positions. Rows that are to hold as they come out take no part."""
    held = without_rows(model, model.start.rows) if model.start.rows else model
    whole = placed_rows(held, model.given.positions)
    found = _placed(held, whole, model.given.positions) if model.given.positions else solve_positions(held)
    if not found.met:
        system = _core.Lagrange(whole.core)
        system.set_state(*found.state.arrays)
        violations = _violations(whole, row_errors(whole, system), found.error)
        raise AssemblyError(_failure_text(model, violations, "m or rad/2"), violations)
    return found


def _placed(held: Model, whole: Model, given: Sequence[GivenValue]) -> Found:
    """With the joints as they are given. Those in loops are led there once the loops are closed."""
    system = _core.Lagrange(whole.core)
    system.set_state(*whole.initial.arrays)
    errors = row_errors(whole, system)[held.row_count :]
    closed = placed_rows(held, [g for g, error in zip(given, errors, strict=True) if abs(error) <= TOLERANCE])
    if closed.row_count == whole.row_count:
        return solve_positions(whole)
    found = solve_positions(closed)
    if found.met:
        reached = continued(whole, found.state)
        if reached.met:
            return reached
    return solve_positions(whole)


def _velocities(model: Model, system: _core.Lagrange) -> tuple[State, float]:
    """The state with velocities that satisfy the constraints, and their error."""
    placed = model.initial
    system.project()
    state = State(*system.state())
    drift = system.violation()[1]
    if not drift <= _VELOCITY_MET * _speed(state):
        violations = _violations(model, _least_rates(model, system), drift)
        raise AssemblyError(_failure_text(model, violations, "m/s or rad/s", "velocities"), violations)
    kept = replace(placed, velocity=state.velocity, angular_velocity=state.angular_velocity)
    return kept, drift


def _least_rates(model: Model, system: _core.Lagrange) -> Floats | None:
    """The rates of the constraints for the velocities that come closest: rows that contradict share it."""
    if model.row_count > _DENSE_ROWS:
        return None
    _, drifts, _, jacobian = system.rows()
    rigid = model.rigid_rows
    velocity = np.linalg.lstsq(jacobian[rigid], -drifts[rigid], rcond=None)[0]
    return np.where(rigid, jacobian @ velocity + drifts, 0.0)


def _initial_error(model: Model) -> float:
    system = _core.Lagrange(model.core)
    system.set_state(*model.initial.arrays)
    return system.violation()[0]


def _speed(state: State) -> float:
    largest = max(np.max(np.abs(v), initial=0.0) for v in (state.velocity, state.angular_velocity))
    return 1.0 + float(largest)


def _violations(model: Model, errors: Floats | None, largest: float) -> list[tuple[str, float]]:
    """The largest error of each element, worst first."""
    if errors is None:
        return [("the mechanism", largest)]
    stop = (model.arrays["block_unilateral"] != 0)[model.row_block]
    compliant = (model.arrays["block_compliance"] > 0.0)[model.row_block]
    sizes = np.where(compliant, 0.0, np.where(stop, np.maximum(-errors, 0.0), np.abs(errors)))
    worst: dict[str, float] = {}
    for row, size in enumerate(sizes.tolist()):
        owner = model.block_owner[model.row_block[row]]
        worst[owner] = max(worst.get(owner, 0.0), size)
    return sorted(((o, s) for o, s in worst.items() if s > 0.01 * max(worst.values())), key=lambda v: -v[1])


def _failure_text(
    model: Model, violations: Sequence[tuple[str, float]], unit: str, what: str = "positions"
) -> str:
    asked = {g.name for g in (*model.given.positions, *model.given.velocities)}
    violations = sorted(violations, key=lambda violation: violation[0] not in asked)
    gaps = ", ".join(f"{owner} by {size:.3g}" for owner, size in violations[:_NAMED])
    more = f" and {len(violations) - _NAMED} more" if len(violations) > _NAMED else ""
    advice = (
        "check the markers and lengths there, or give initial positions closer to where the bodies belong"
        if what == "positions"
        else "check the initial velocities and drives there: they ask for different motions"
    )
    if what == "positions" and model.given.positions:
        advice = f"the initial positions of joints contradict each other or cannot be reached; else {advice}"
    return (
        f"mechanism {model.name!r} cannot be assembled: its {what} cannot satisfy all constraints; "
        f"what comes closest misses {gaps}{more} ({unit}); {advice}"
    )


def _untouched_kept(before: State, after: State) -> State:
    """The state with the exact numbers of before wherever they differ by rounding only."""
    pairs = (
        (before.position, after.position),
        (before.rotation, after.rotation * _signs(before, after)),
        (before.velocity, after.velocity),
        (before.angular_velocity, after.angular_velocity),
    )
    position, rotation, velocity, spin = (
        np.where(np.max(np.abs(b - a), axis=1, keepdims=True, initial=0.0) > _ROUNDING, a, b)
        for b, a in pairs
    )
    return State(after.time, position, rotation, velocity, spin, after.angles)


def _signs(before: State, after: State) -> Floats:
    """Per body +1 or -1, so that the quaternions lie on the same side."""
    product = np.sum(after.rotation * before.rotation, axis=1)
    return np.where(product < 0.0, -1.0, 1.0)[:, None]


def _moves(names: Sequence[str], before: State, after: State) -> tuple[BodyMove, ...]:
    distance = np.linalg.norm(after.position - before.position, axis=1)
    chord = np.linalg.norm(after.rotation - before.rotation * _signs(before, after), axis=1)
    angle = 4.0 * np.arcsin(np.minimum(1.0, 0.5 * chord))
    velocity = np.linalg.norm(after.velocity - before.velocity, axis=1)
    spin = np.linalg.norm(after.angular_velocity - before.angular_velocity, axis=1)
    size = np.maximum(distance, angle)
    order = np.lexsort((-np.maximum(velocity, spin), -size))
    return tuple(
        BodyMove(names[i], float(distance[i]), float(angle[i]), float(velocity[i]), float(spin[i]))
        for i in order
        if size[i] > 0.0 or velocity[i] > 0.0 or spin[i] > 0.0
    )


def _vector(values: Floats) -> Vec3:
    x, y, z = values.tolist()
    return (x, y, z)


def _quaternion(values: Floats) -> Quat:
    w, x, y, z = values.tolist()
    return (w, x, y, z)
