"""Judges of constraints: recorded motion must satisfy them at position, velocity and acceleration level.

Rows that are sums of coordinates of markers are judged first, then what is given by formulas: equations,
joints with coordinates of their own, and rows over these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np

from bellcrank import _core
from bellcrank.compile.model import CustomRecord, JointRecord, Model
from bellcrank.compile.state import Floats, State
from bellcrank.expression.compiled import evaluate
from bellcrank.mechanism.coordinate import COORDINATE_KINDS, FORMULA_COORDINATE, OF_FORMULAS
from bellcrank.mechanism.rotation_arrays import exponential, product
from bellcrank.verification.evidence import Evidence, Frames
from bellcrank.verification.snapshot import (
    Formulas,
    Snapshot,
    matrices,
    of_velocity,
    time_slope,
)
from bellcrank.verification.verdict import CheckResult, Worst

_TURN = 2.0 * np.pi
_STEEP = 1e4  # gradient of a coordinate, 1/m or 1, beyond which it is near a pole, and known the less
_ROUGH = 1e-6  # change of a relative second derivative with the step, beyond which a motion is not smooth
_LEVELS = (("position", 1e-7), ("velocity", 1e-7), ("acceleration", 1e-5))
_CONSTRAINTS = {
    "position": ("largest constraint error, m or rad/2", 1e-7),
    "velocity": ("rate of the constraints relative to the speeds", 1e-7),
    "acceleration": ("their second derivative, by differences, relative to the accelerations", 1e-5),
}
_ACCELERATIONS = ("acceleration", "angular_acceleration")
_ERRORS = 1e-9
_MEANING = "what formulas keep at zero: its value, its rate or second derivative relative to the motion"

Values: TypeAlias = Callable[[Snapshot, float], Floats]
Errors: TypeAlias = Iterator[tuple[str, tuple[float, ...]]]


class Rows:
    """The equality rows of a model that are sums of coordinates of markers."""

    def __init__(self, model: Model) -> None:
        arrays, kinds = model.arrays, model.arrays["coordinate_kind"]
        self.model = model
        self.rows: list[int] = []
        self.terms: list[list[tuple[int, float]]] = []
        for row in np.flatnonzero(model.rigid_rows).tolist():
            terms = model.terms(row)
            if terms and not any(kinds[c] in OF_FORMULAS for c, _ in terms):
                self.rows.append(row)
                self.terms.append(terms)
        self.functions = [int(arrays["row_function"][row]) for row in self.rows]
        self.constants = np.asarray(arrays["row_constant"])[self.rows]

    def driven(self, times: Floats) -> Floats:
        """Value, first and second derivative of the function and constant of each row (n, rows, 3)."""
        out = np.zeros((len(times), len(self.rows), 3))
        out[:, :, 0] = self.constants
        for k, function in enumerate(self.functions):
            if function >= 0:
                out[:, k] += self.model.core_function(function)(times)
        return out

    def text(self, k: int) -> str:
        """What a row is of, in words."""
        return self.model.row_text(self.rows[k])

    def angular(self, k: int) -> bool:
        """Whether a row has an angle in it."""
        kinds = self.model.arrays["coordinate_kind"]
        return any(COORDINATE_KINDS[kinds[c]].angular for c, _ in self.terms[k])


def judge_constraints(evidence: Evidence) -> list[CheckResult]:
    """Errors of positions, velocities and accelerations, each with the row where it is largest."""
    rows = Rows(evidence.model)
    if not rows.rows:
        return []
    worst = {level: Worst() for level in _CONSTRAINTS}
    for part in evidence.parts(evidence.every):
        driven = rows.driven(part.time)
        worst["position"].meet_all(_position_errors(rows, part, driven[:, :, 0]), rows.text, part.time)
        worst["velocity"].meet_all(_velocity_errors(rows, part, driven[:, :, 1]), rows.text, part.time)
    for frame in evidence.frames if evidence.has_accelerations else ():
        errors = _acceleration_errors(rows, evidence, frame)
        worst["acceleration"].meet(errors, rows.text, float(evidence.time[frame]))
    results = [worst[k].result(f"constraints: {k}", *_CONSTRAINTS[k]) for k in ("position", "velocity")]
    name, (meaning, limit) = "constraints: acceleration", _CONSTRAINTS["acceleration"]
    if evidence.has_accelerations:
        return [*results, worst["acceleration"].result(name, meaning, limit)]
    return [*results, CheckResult(name, meaning, None, limit, "none were recorded")]


def _position_errors(rows: Rows, part: Frames, driven: Floats) -> Floats:
    errors = -driven
    for k, terms in enumerate(rows.terms):
        for c, w in terms:
            errors[:, k] += w * part.value(c)
        if rows.angular(k) and len(terms) == 1:  # on whichever branch the angle is counted
            turn = _TURN * abs(terms[0][1])
            errors[:, k] -= turn * np.round(errors[:, k] / turn)
    return np.abs(errors)


def _velocity_errors(rows: Rows, part: Frames, driven: Floats) -> Floats:
    errors = -driven
    for k, terms in enumerate(rows.terms):
        for c, w in terms:
            errors[:, k] += w * part.coordinate(c).rate
    steepness = np.maximum(1.0, _gradients(rows, part) / _STEEP)  # near poles errors of poses are magnified
    return np.asarray(np.abs(errors) / (1.0 + part.at.fastest[:, None]) / steepness)


def _gradients(rows: Rows, part: Frames) -> Floats:
    """The largest gradient of a coordinate in each row (n, rows), 1/m or 1."""

    def largest(coordinate: int) -> Floats:
        found = part.coordinate(coordinate)
        return np.asarray(np.max(np.abs([found.force, found.moment]), axis=(0, 2)))

    return np.stack([np.max([largest(c) for c, _ in terms], axis=0) for terms in rows.terms], axis=1)


def _acceleration_errors(rows: Rows, evidence: Evidence, frame: int) -> Floats:
    """Second derivatives along the recorded motion, from values at four instants nearby (Richardson)."""
    at, near = evidence.at(frame), _values(rows, evidence.at(frame))
    linear, angular = (evidence.sections[name][frame] for name in _ACCELERATIONS)
    speed, size = _size(evidence, frame)

    def sums(h: float) -> Floats:
        return _sums(rows, _values(rows, Snapshot(rows.model, moved(at.state, linear, angular, h)), near))

    h = 2e-3 / (1.0 + np.sqrt(_largest(linear, angular)) + speed)
    measured, change = _second_derivative(sums, _sums(rows, near), h)
    driven = rows.driven(evidence.time[frame : frame + 1])[0, :, 2]
    return beyond_differences(np.abs(measured - driven) / size, change / size)


def _second_derivative(values: Callable[[float], Floats], here: Floats, h: float) -> tuple[Floats, Floats]:
    """The second derivative at zero (Richardson), and its change when the step is doubled."""
    one, two = ((values(k * h) - 2.0 * here + values(-k * h)) / (k * h) ** 2 for k in (1.0, 2.0))
    return (4.0 * one - two) / 3.0, np.abs(one - two)


def _derivative(values: Callable[[float], Floats], h: float) -> tuple[Floats, Floats]:
    """The same of the first derivative."""
    one, two = ((values(k * h) - values(-k * h)) / (2.0 * k * h) for k in (1.0, 2.0))
    return (4.0 * one - two) / 3.0, np.abs(one - two)


def beyond_differences(errors: Floats, changes: Floats) -> Floats:
    """Errors of second derivatives by differences, as far as these are known.

    changes: of the differences when the step is doubled. They are large where a third derivative jumps, as
    that of a spline does at its points; there the differences themselves are wrong by that amount.
    """
    return np.asarray(np.where(changes > _ROUGH, np.maximum(errors - changes, 0.0), errors))


def _values(rows: Rows, at: Snapshot, near: Floats | None = None) -> Floats:
    """Of every row's terms, one row after another; with `near`, angles by the turns nearest to those."""
    listed = [c for terms in rows.terms for c, _ in terms]
    values = np.array([at.coordinate(c).value for c in listed], dtype=float)
    if near is None:
        return values
    kinds = rows.model.arrays["coordinate_kind"]
    turns = np.where([COORDINATE_KINDS[kinds[c]].angular for c in listed], _TURN, np.inf)
    return values - np.where(np.isfinite(turns), turns, 0.0) * np.round((values - near) / turns)


def _sums(rows: Rows, values: Floats) -> Floats:
    """The rows' sums of terms of these values."""
    weights = np.array([w for terms in rows.terms for _, w in terms])
    starts = np.cumsum([0, *(len(terms) for terms in rows.terms[:-1])])
    return np.asarray(np.add.reduceat(weights * values, starts))


def moved(state: State, linear: Floats, angular: Floats, time: float) -> State:
    """The State reached in a short time with constant accelerations, to third order."""
    turn = exponential(time * state.angular_velocity + 0.5 * time**2 * angular)
    position = state.position + time * state.velocity + 0.5 * time**2 * linear
    return State(state.time, position, product(turn, state.rotation), state.velocity, state.angular_velocity)


def judge_violations(evidence: Evidence) -> list[CheckResult]:
    """The recorded errors of constraints are those that the judge finds."""
    rows = Rows(evidence.model)
    kinds = set(evidence.model.arrays["coordinate_kind"])
    if not rows.rows or kinds & set(OF_FORMULAS) or evidence.formulas.constraints or evidence.formulas.joints:
        return []
    worst = Worst()
    for part in evidence.parts(evidence.every):
        driven, speeds = rows.driven(part.time), part.at.fastest[:, None]
        size = 1.0 + sum(np.max(np.abs(x), axis=(1, 2)) for x in (part.at.velocity, part.at.spin))
        for name, errors in (
            ("position_violation", _position_errors(rows, part, driven[:, :, 0])),
            ("velocity_violation", _velocity_errors(rows, part, driven[:, :, 1]) * (1.0 + speeds)),
        ):
            apart = np.abs(part.section(name) - np.max(errors, axis=1))
            worst.meet_all(apart / size, name.replace("_", " "), part.time)
    meaning = "recorded errors of constraints beside the judge's own, m, rad, m/s or rad/s, relative"
    return [worst.result("violations", meaning, _ERRORS)]


def judge_jacobian(evidence: Evidence) -> list[CheckResult]:
    """The Jacobian of the rows against differences of the judge's own constraint values."""
    rows = Rows(evidence.model)
    if not rows.rows or 6 * len(evidence.model.bodies) * len(rows.rows) > 4_000_000:
        return []
    random = np.random.default_rng(1)
    steepness = np.max(_gradients(rows, Frames(evidence, np.asarray(evidence.frames))), axis=1)
    steepest, frame = float(np.min(steepness)), evidence.frames[int(np.argmin(steepness))]
    state = evidence.state(frame)
    size = state.position.shape
    linear, angular = random.standard_normal(size), random.standard_normal(size)
    near = _values(rows, Snapshot(evidence.model, state))
    probe = State(state.time, state.position, state.rotation, linear, angular)

    def sums(h: float) -> Floats:
        there = Snapshot(evidence.model, moved(probe, 0.0 * linear, 0.0 * angular, h))
        return _sums(rows, _values(rows, there, near))

    measured, change = _derivative(sums, 1e-4 / max(1.0, 0.1 * steepest))
    analytic = _analytic_rates(evidence.model, state, linear, angular)[rows.rows]
    scale = 1.0 + np.abs(measured)
    errors = beyond_differences(np.abs(measured - analytic) / scale, 4.0 * change / scale)
    k = int(np.argmax(errors))
    meaning = "Jacobian times a random motion against differences, relative"
    return [CheckResult("jacobian", meaning, float(errors[k]), 1e-8, rows.text(k))]


def _analytic_rates(model: Model, state: State, linear: Floats, angular: Floats) -> Floats:
    """The core's Jacobian times a motion of the frames; the core takes coms and principal axes."""
    system = _core.Bodies(model.core)
    system.set_state(*state.arrays)
    jacobian = system.rows()[3]
    at = Snapshot(model, state)
    reduced = np.empty((len(model.bodies), 6))
    reduced[:, :3] = linear + np.cross(angular, at.com - at.position[:-1])
    local = np.array(model.core.principal_rotation, dtype=np.float64).reshape(-1, 4)
    principal = at.turn[:-1] @ matrices(local)
    reduced[:, 3:] = np.einsum("bji,bj->bi", principal, angular)
    return np.asarray(jacobian @ reduced.ravel())


def judge_formulas(evidence: Evidence) -> list[CheckResult]:
    """Errors at position, velocity and acceleration level, each with the element where it is largest."""
    formulas = evidence.formulas
    if not formulas.joints and not formulas.constraints:
        return []
    worst = {level: Worst() for level, _ in _LEVELS}
    for frame in evidence.frames:
        for element, errors in _errors(evidence, formulas, frame):
            for (level, _), error in zip(_LEVELS, errors, strict=False):
                worst[level].meet(error, element, float(evidence.time[frame]))
    return [
        worst[level].result(f"formulas: {level}", _MEANING, limit)
        for level, limit in _LEVELS
        if level != "acceleration" or evidence.has_accelerations
    ]


def _errors(evidence: Evidence, formulas: Formulas, frame: int) -> Errors:
    for record in formulas.constraints:
        yield f"constraint {record.name!r}", _of_equations(evidence, record, frame)
    for joint, kind in formulas.joints:
        yield f"joint {joint.name!r}", _of_joint(evidence, joint, kind, frame)
    yield from _of_rows(evidence, frame)


def _of_equations(evidence: Evidence, record: CustomRecord, frame: int) -> tuple[float, ...]:
    kind: Any = record.lowered.custom
    formulas = evidence.formulas

    def values(at: Snapshot, h: float) -> Floats:
        known = formulas.numbers(record, at, lambda c: _coordinate_after(evidence, c, frame, at, h))
        return np.array(evaluate(kind.equations, known))

    here = values(evidence.at(frame), 0.0)
    size = _size(evidence, frame)
    if of_velocity(record):
        found = (0.0, _largest(here) / (1.0 + size[0]))
        return (*found, _rate(evidence, frame, values) / size[1]) if evidence.has_accelerations else found
    known = formulas.numbers(record, evidence.at(frame), lambda c: evidence.motion(c, frame))
    rate = time_slope(kind.equations, known)
    for end, held, gradient in formulas.effects(record, known, kind.equations):
        motion = [known[s] for s in end.rates]
        rate = rate + gradient @ np.array(motion if not isinstance(held, int) else motion[:1])
    found = (_largest(here), _largest(rate) / (1.0 + size[0]))
    if not evidence.has_accelerations:
        return found
    return (*found, _second(evidence, frame, values))


def _of_joint(evidence: Evidence, joint: JointRecord, kind: Any, frame: int) -> tuple[float, ...]:
    formulas, at = evidence.formulas, evidence.at(frame)
    values = [evidence.value(c, frame) for c in joint.coordinates]
    rates = [evidence.recorded("rates", c, frame) for c in joint.coordinates]
    gap = formulas.gap(joint, kind, at, values)
    drift = at.relative_twist(joint.pair) - formulas.twists(kind, values) @ np.array(rates)
    rolled = formulas.rolling(kind, values, rates)
    size = _size(evidence, frame)
    found = (_largest(gap), _largest(drift, rolled) / (1.0 + size[0]))
    if not evidence.has_accelerations:
        return found

    def left(there: Snapshot, h: float) -> Floats:
        after = [_own_after(evidence, c, frame, h)[0] for c in joint.coordinates]
        return formulas.gap(joint, kind, there, after)

    return (*found, _second(evidence, frame, left))


def _of_rows(evidence: Evidence, frame: int) -> Errors:
    """Drives and couplings of own coordinates."""
    model, arrays = evidence.model, evidence.model.arrays
    for row in np.flatnonzero(model.rigid_rows).tolist():
        terms = model.terms(row)
        coordinates, factors = [c for c, _ in terms], np.array([factor for _, factor in terms])
        if not terms or any(arrays["coordinate_kind"][c] != FORMULA_COORDINATE for c in coordinates):
            continue
        function, driven = int(arrays["row_function"][row]), np.zeros(3)
        if function >= 0:
            driven = model.core_function(function)(np.array([evidence.time[frame]]))[0]
        values, rates = (
            np.array(x) for x in zip(*(evidence.motion(c, frame) for c in coordinates), strict=True)
        )
        size = _size(evidence, frame)
        found = [
            abs(float(factors @ values - driven[0] - arrays["row_constant"][row])),
            abs(float(factors @ rates - driven[1])) / (1.0 + size[0]),
        ]
        if evidence.has_accelerations:
            second = [evidence.recorded("coordinate_accelerations", c, frame) for c in coordinates]
            found.append(abs(float(factors @ np.array(second) - driven[2])) / size[1])
        yield model.row_text(row), tuple(found)


def _second(evidence: Evidence, frame: int, values: Values) -> float:
    """The largest second derivative along the recorded motion, relative to accelerations (Richardson)."""
    h, at = _along(evidence, frame, values)
    found, change = _second_derivative(at, at(0.0), h)
    size = _size(evidence, frame)[1]
    return _largest(beyond_differences(np.abs(found) / size, change / size))


def _rate(evidence: Evidence, frame: int, values: Values) -> float:
    """The largest derivative along the recorded motion (Richardson)."""
    h, at = _along(evidence, frame, values)
    return _largest(_derivative(at, h)[0])


def _along(evidence: Evidence, frame: int, values: Values) -> tuple[float, Callable[[float], Floats]]:
    """A short time, and values beside a frame where motion goes on with the recorded accelerations."""
    state = evidence.state(frame)
    linear, angular = (evidence.sections[name][frame] for name in _ACCELERATIONS)
    _, size = _size(evidence, frame)
    h = 2e-3 / np.sqrt(size)
    return h, lambda way: values(_after(evidence, state, linear, angular, way), way)


def _after(evidence: Evidence, state: State, linear: Floats, angular: Floats, time: float) -> Snapshot:
    if time == 0.0:
        return Snapshot(evidence.model, state)
    there = moved(state, linear, angular, time)
    velocities = state.velocity + time * linear, state.angular_velocity + time * angular
    return Snapshot(evidence.model, State(state.time + time, there.position, there.rotation, *velocities))


def _coordinate_after(evidence: Evidence, c: int, frame: int, at: Snapshot, h: float) -> tuple[float, float]:
    """Value and rate of a coordinate where the recorded motion gets to in a short time."""
    if c in evidence.formulas.owner:
        return _own_after(evidence, c, frame, h)
    value, there = evidence.value(c, frame), at.coordinate(c)
    turns = 2.0 * np.pi * np.round((value - there.value) / (2.0 * np.pi))
    angular = abs(value - there.value) > 1.0
    return float(there.value) + (float(turns) if angular else 0.0), float(there.rate)


def _own_after(evidence: Evidence, c: int, frame: int, h: float) -> tuple[float, float]:
    value, rate = evidence.value(c, frame), evidence.recorded("rates", c, frame)
    if h == 0.0:
        return value, rate
    second = evidence.recorded("coordinate_accelerations", c, frame)
    return value + h * rate + 0.5 * h**2 * second, rate + h * second


def _size(evidence: Evidence, frame: int) -> tuple[float, float]:
    """Largest speed, and the size of accelerations with those of turning."""
    at = evidence.at(frame)
    speed = _largest(at.velocity, at.spin)
    if not evidence.has_accelerations:
        return speed, 1.0 + speed**2
    return speed, 1.0 + _largest(*(evidence.sections[name][frame] for name in _ACCELERATIONS)) + speed**2


def _largest(*arrays: Floats) -> float:
    return max(float(np.max(np.abs(array), initial=0.0)) for array in arrays)
