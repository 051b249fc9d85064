"""Assembly: the initial positions and velocities are corrected until they satisfy the constraints.

States that are given, which may be of another mechanism, are refused where they miss equations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from bellcrank import _core
from bellcrank.compile.dependence import contradictory_rows, dead_points, groups
from bellcrank.compile.model import GivenValue, Model
from bellcrank.compile.posing import driven_rows, placed_rows, turned
from bellcrank.compile.positions import (
    TOLERANCE,
    Found,
    continued,
    least_rates,
    row_errors,
    solve_positions,
    without_rows,
)
from bellcrank.compile.report import AssemblyReport, listed, moves_between, untouched_kept
from bellcrank.compile.rope_ends import check_ropes
from bellcrank.compile.state import Floats, State, adopted
from bellcrank.compile.undefined import pole_text
from bellcrank.errors import AssemblyError
from bellcrank.expression.reading import TIME, symbols_of
from bellcrank.mechanism.coordinate import coordinate_kind

_VELOCITY_TOLERANCE = 1e-10  # relative, of velocities that are left alone
_VELOCITY_MET = 1e-6  # relative, of velocities after the correction
_AT_STOP = 1e-6  # m or rad; a stop that near is closed
_NAMED = 5  # how many of the worst elements a message names
_GROUPS = 3  # and how many groups of rows that contradict each other
_HELD: Final = 1e-7  # m, rad or rad/2: a projection leaves no larger error
_SIX_DIGITS: Final = 1e-5  # relative to the numbers of a state: such a state may be written with six digits
PLACE_IT: Final = (
    "it must hold where the state has the bodies: place its markers, or set its constant, for that"
)


def assembled(model: Model, pinned: Sequence[str] = ()) -> tuple[Model, AssemblyReport]:
    """The model with a corrected initial state, and what was done.

    pinned: names of bodies that keep their placement. Raises AssemblyError if the constraints cannot be
    satisfied, MechanismError for unknown names and for ropes that no wheel would guide.
    """
    model, fixed = with_pinned(model, pinned)
    placed, report = settled(model, _positions(model, fixed), pinned)
    check_ropes(placed)
    return placed, report


def settled(model: Model, found: Found, pinned: Sequence[str] = ()) -> tuple[Model, AssemblyReport]:
    """The model at a configuration that was found for it, with corrected velocities, and what was done.

    Raises AssemblyError if the configuration or the velocities do not satisfy the constraints.
    """
    start, given = model.initial, model.given
    if not found.met:
        raise _failure(model, found, pinned)
    at = found.state if found.state is start else turned(model, found.state, given)
    placed = model if at is start else model.starting(at, given)
    driven = driven_rows(placed, given.velocities)
    bodies = driven.put(_core.Bodies(driven.core), at)
    undefined = _core.undefined_row(bodies)
    if undefined >= 0:
        raise AssemblyError(
            f"mechanism {model.name!r} cannot be assembled like this: {pole_text(model, undefined)}"
        )
    error, drift_before = bodies.violation()
    drift, state = drift_before, at
    if drift_before > _VELOCITY_TOLERANCE * _speed(start):
        state, drift = _velocities(driven, at, placed)
    before = start if given.described is None else given.described
    if state is before:
        report = AssemblyReport(
            model.name, False, "none", error, error, drift, drift, (), pinned=tuple(pinned)
        )
        return model, report
    state = untouched_kept(before, state)
    moves = moves_between(model.bodies, before, state)
    posed = found.method == "none" and bool(given.positions or given.guesses)
    report = AssemblyReport(
        mechanism=model.name,
        changed=bool(moves),
        method="joint positions" if posed else found.method,
        error_before=_initial_error(model),
        error=error,
        drift_before=drift_before,
        drift=drift,
        moves=moves,
        pinned=tuple(pinned),
        steps=found.steps,
        restarts=found.restarts,
        notes=_overridden(model, before, state),
    )
    return model.started(state), report


def with_pinned(model: Model, pinned: Sequence[str]) -> tuple[Model, list[int]]:
    """The model where pinned bodies start as described, not where a joint would carry them; their indices.

    Raises MechanismError for unknown names.
    """
    fixed = [model.body_number(name) for name in pinned]
    described, carried = model.given.described, model.initial
    if described is None or not fixed:
        return model, fixed
    position, rotation = carried.position.copy(), carried.rotation.copy()
    position[fixed], rotation[fixed] = described.position[fixed], described.rotation[fixed]
    return model.starting(replace(carried, position=position, rotation=rotation), model.given), fixed


def asked(model: Model) -> Model:
    """The model with the rows that positions must satisfy.

    Rows whose constants come from the result are excluded, given positions of joints are included.
    """
    held = without_rows(model, model.start.rows) if model.start.rows else model
    return placed_rows(held, model.given.positions)


def pulled_to(whole: Model, state: State, fixed: Sequence[int]) -> Found:
    """The configuration nearest to a state for such a model, with the velocities of that state."""
    return _named(whole, solve_positions(replace(whole, initial=state), fixed), fixed)


def _positions(model: Model, fixed: Sequence[int]) -> Found:
    """The corrected positions, with guesses as they are, or nearest to where all come closest to them.

    If nothing is found from there: as if there were no guesses.
    """
    whole, given = asked(model), model.given
    held = without_rows(model, model.start.rows) if model.start.rows else model
    if given.guesses:
        guessed = placed_rows(whole, given.guesses)
        closest = _placed(held, guessed, (*given.positions, *given.guesses), fixed)
        if not closest.met:
            from_there = replace(whole, initial=closest.state)
            closest = replace(solve_positions(from_there, fixed), steps=closest.steps)
        if closest.met:
            return replace(closest, errors=None)
    if not given.positions:
        return _named(whole, solve_positions(whole, fixed), fixed)
    return _named(whole, _placed(held, whole, given.positions, fixed), fixed)


def _named(model: Model, found: Found, fixed: Sequence[int]) -> Found:
    """With errors and contradictions under the names of the model that was solved, if they are not met."""
    if found.met:
        return found
    errors = row_errors(model, found.state) if found.errors is None else found.errors
    against = contradictory_rows(model, found.state, list(fixed))
    return replace(found, violations=tuple(violations_of(model, errors)), contradictions=against)


def _placed(held: Model, whole: Model, given: Sequence[GivenValue], fixed: Sequence[int]) -> Found:
    """With the joints as they are given. Those in loops are moved there once the loops are closed."""
    errors = row_errors(whole, whole.initial)[held.row_count :]
    closed = placed_rows(held, [g for g, error in zip(given, errors, strict=True) if abs(error) <= TOLERANCE])
    if closed.row_count == whole.row_count:
        return solve_positions(whole, fixed)
    found = solve_positions(closed, fixed)
    if found.met:
        reached = continued(whole, found.state, fixed)
        if reached.met:
            return reached
    return solve_positions(whole, fixed)


def _velocities(driven: Model, at: State, plain: Model) -> tuple[State, float]:
    """The state with velocities that meet constraints and given rates; their error. plain: without these."""
    state, drift = _projected_rates(driven, at)
    if drift <= _VELOCITY_MET * _speed(state):
        return state, drift
    stops = np.flatnonzero(driven.one_sided)
    if len(stops):
        free, error = _projected_rates(without_rows(driven, stops), at)
        if error <= _VELOCITY_MET * _speed(free):
            raise _stopped(driven, free, state)
    rates = least_rates(driven, replace(driven.initial, velocity=state.velocity))
    violations, against = violations_of(driven, rates), groups(driven, rates)
    text = _failure_text(driven, violations, "m/s or rad/s", "velocities") + _against(against)
    if dead := dead_points(plain, at):
        text += f"; {dead}"
    raise AssemblyError(text, violations, against)


def _projected_rates(model: Model, at: State) -> tuple[State, float]:
    closing = model.put(_core.Closing(model.core), at)
    closing.project()
    found = State(*closing.state())
    kept = replace(model.initial, velocity=found.velocity, angular_velocity=found.angular_velocity)
    return kept, closing.violation()[1]


def _stopped(driven: Model, free: State, stopped: State) -> AssemblyError:
    """The error of prescribed rates that run into stops.

    free: with these rates. stopped: with those that the stops leave of them.
    """
    (values, rates), (_, left) = map(driven.coordinate_motion, (free, stopped))
    found: list[tuple[str, float]] = []
    into: list[str] = []
    for row in range(driven.row_count):
        value, rate, remaining = (
            float(sum(w * numbers[c] for c, w in driven.terms(row))) for numbers in (values, rates, left)
        )
        owner = driven.block_owner[driven.row_block[row]]
        if driven.one_sided[row]:
            closed = value - driven.arrays["row_constant"][row] < _AT_STOP
            into += [owner] if closed and rate < 0.0 else []
        elif driven.rigid_rows[row] and abs(missed := rate - remaining) > _VELOCITY_MET:
            found.append((owner, abs(missed)))
    found.sort(key=lambda violation: -violation[1])
    text = _failure_text(driven, found, "m/s or rad/s", "velocities")
    stops = f"; they run into the {listed(into)}, which is closed there" if into else ""
    return AssemblyError(text + stops, found, [tuple(dict.fromkeys([n for n, _ in found] + into))])


def _initial_error(model: Model) -> float:
    system = _core.Bodies(model.core)
    system.set_state(*model.initial.arrays)
    return system.violation()[0]


def _speed(state: State) -> float:
    largest = max(np.max(np.abs(v), initial=0.0) for v in (state.velocity, state.angular_velocity))
    return 1.0 + float(largest)


def violations_of(model: Model, errors: Floats) -> list[tuple[str, float]]:
    """The largest error of each element, worst first; those below a hundredth of the worst are left out."""
    worst = np.zeros(len(model.block_owner))
    np.maximum.at(worst, model.row_block, np.abs(errors))
    owners: dict[str, float] = {}
    for block in np.flatnonzero(worst > 0.01 * np.max(worst, initial=0.0)).tolist():
        owner = model.block_owner[block]
        owners[owner] = max(owners.get(owner, 0.0), float(worst[block]))
    return sorted(owners.items(), key=lambda violation: -violation[1])


def _overridden(model: Model, before: State, after: State) -> tuple[str, ...]:
    """Velocities of bodies that were described and gave way to those given at their joints."""
    notes = {}
    for given in model.given.velocities:
        for body in model.joints[given.joint].bodies:
            if body == model.ground:
                continue
            for what, unit in (("velocity", "m/s"), ("angular_velocity", "rad/s")):
                old, new = getattr(before, what)[body], getattr(after, what)[body]
                if old.any() and np.max(np.abs(new - old)) > 1e-9 * (1.0 + np.max(np.abs(old))):
                    was, now = (tuple(float(f"{v:.4g}") for v in value) for value in (old, new))
                    notes[body, what] = (
                        f"body {model.bodies[body]!r}: its {what} {was} {unit} gave way to the {given.name}, "
                        f"which makes it {now} {unit}"
                    )
    return tuple(notes.values())


def _failure(model: Model, found: Found, pinned: Sequence[str]) -> AssemblyError:
    violations = list(found.violations) or [("the mechanism", found.error)]
    text = _failure_text(model, violations, "m or rad/2")
    if pinned:
        text += f"; pinned: {', '.join(map(repr, pinned))}"
    return AssemblyError(text + _against(found.contradictions), violations, found.contradictions)


def _against(contradictions: Sequence[Sequence[str]]) -> str:
    texts = [
        f"; {'these cannot hold together' if len(rows) > 1 else 'this cannot hold'}: {listed(rows)}"
        for rows in contradictions[:_GROUPS]
    ]
    more = len(contradictions) - len(texts)
    return "".join(texts) + (f"; and {more} more such groups" if more > 0 else "")


def _gaps(violations: Sequence[tuple[str, float]]) -> str:
    """The worst elements with their errors, and how many more there are."""
    gaps = ", ".join(f"{owner} by {size:.3g}" for owner, size in violations[:_NAMED])
    return gaps + (f" and {len(violations) - _NAMED} more" if len(violations) > _NAMED else "")


def _failure_text(
    model: Model, violations: Sequence[tuple[str, float]], unit: str, what: str = "positions"
) -> str:
    asked = {g.name for g in (*model.given.positions, *model.given.velocities)}
    violations = sorted(violations, key=lambda violation: violation[0] not in asked)
    advice = (
        "check the markers and lengths there, or give initial positions closer to where the bodies belong"
        if what == "positions"
        else "check the initial velocities and drives there: they ask for different motions"
    )
    if what == "positions" and model.given.positions:
        advice = f"the initial positions of joints contradict each other or cannot be reached; else {advice}"
    return (
        f"mechanism {model.name!r} cannot be assembled: its {what} cannot satisfy all constraints; "
        f"what comes closest misses {_gaps(violations)} ({unit}); {advice}"
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
    text = f"{who}: at the state, {_gaps(violations)} (m or rad/2) does not hold; {advice}"
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
