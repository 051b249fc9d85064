"""Judges of constraints: recorded motion must satisfy them at position, velocity and acceleration level."""

from __future__ import annotations

import numpy as np

from bellcrank import _core
from bellcrank.analysis.evidence import Evidence, Frames
from bellcrank.analysis.snapshot import Snapshot, exponential, matrices, product
from bellcrank.analysis.verdict import CheckResult, Worst
from bellcrank.assembly.model import Model
from bellcrank.assembly.state import Floats, State
from bellcrank.mechanism.coordinate import COORDINATE_KINDS, OF_FORMULAS

_TURN = 2.0 * np.pi
_STEEP = 1e4  # gradient of a coordinate, 1/m or 1, beyond which it is near a pole, and known the less
_ROUGH = 1e-6  # change of a relative second derivative with the step, beyond which a motion is not smooth


class Rows:
    """The equality rows of a model that are sums of coordinates of markers."""

    def __init__(self, model: Model) -> None:
        arrays = model.arrays
        self.model = model
        starts = arrays["row_term_start"]
        self.rows = [
            row
            for row in np.flatnonzero(model.rigid_rows).tolist()
            if starts[row + 1] > starts[row]
            and not any(
                arrays["coordinate_kind"][c] in OF_FORMULAS
                for c in arrays["term_coordinate"][starts[row] : starts[row + 1]]
            )
        ]
        self.terms = [
            list(
                zip(
                    arrays["term_coordinate"][starts[row] : starts[row + 1]].tolist(),
                    arrays["term_coefficient"][starts[row] : starts[row + 1]].tolist(),
                    strict=True,
                )
            )
            for row in self.rows
        ]
        self.functions = [int(arrays["row_function"][row]) for row in self.rows]
        self.constants = np.asarray(arrays["row_constant"])[self.rows]

    def led(self, times: Floats) -> Floats:
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
    worst = {"position": Worst(), "velocity": Worst(), "acceleration": Worst()}
    for part in evidence.parts(evidence.every):
        led = rows.led(part.time)
        worst["position"].meet_all(_position_errors(rows, part, led[:, :, 0]), rows.text, part.time)
        worst["velocity"].meet_all(_velocity_errors(rows, part, led[:, :, 1]), rows.text, part.time)
    for frame in evidence.frames if evidence.has_accelerations else ():
        errors = _acceleration_errors(rows, evidence, frame)
        worst["acceleration"].meet(errors, rows.text, float(evidence.time[frame]))
    meanings = {
        "position": ("largest constraint error, m or rad/2", 1e-7),
        "velocity": ("rate of the constraints relative to the speeds", 1e-7),
        "acceleration": ("their second derivative, by differences, relative to the accelerations", 1e-5),
    }
    results = []
    for level, (meaning, limit) in meanings.items():
        name = f"constraints: {level}"
        if level == "acceleration" and not evidence.has_accelerations:
            results.append(CheckResult(name, meaning, None, limit, "none were recorded"))
        else:
            results.append(worst[level].result(name, meaning, limit))
    return results


def row_errors(rows: Rows, part: Frames) -> tuple[Floats, Floats]:
    """Errors of rows (n, rows) at position and velocity level."""
    led = rows.led(part.time)
    speeds = np.maximum(*(np.max(np.abs(x), axis=(1, 2)) for x in (part.at.velocity, part.at.spin)))
    rates = _velocity_errors(rows, part, led[:, :, 1]) * (1.0 + speeds[:, None])
    return _position_errors(rows, part, led[:, :, 0]), rates


def _position_errors(rows: Rows, part: Frames, led: Floats) -> Floats:
    errors = -led
    for k, terms in enumerate(rows.terms):
        for c, w in terms:
            errors[:, k] += w * part.value(c)
        if rows.angular(k) and len(terms) == 1:  # on whichever branch the angle is counted
            turn = _TURN * abs(terms[0][1])
            errors[:, k] -= turn * np.round(errors[:, k] / turn)
    return np.abs(errors)


def _velocity_errors(rows: Rows, part: Frames, led: Floats) -> Floats:
    errors = -led
    for k, terms in enumerate(rows.terms):
        for c, w in terms:
            errors[:, k] += w * part.coordinate(c).rate
    speeds = np.maximum(*(np.max(np.abs(x), axis=(1, 2)) for x in (part.at.velocity, part.at.spin)))
    return np.asarray(np.abs(errors) / (1.0 + speeds[:, None]) / _steepness(rows, part))


def _steepness(rows: Rows, part: Frames) -> Floats:
    """By how much more than usual rows magnify errors of poses and velocities (n, rows): near poles."""
    return np.maximum(1.0, _gradients(rows, part) / _STEEP)


def _gradients(rows: Rows, part: Frames) -> Floats:
    """The largest gradient of a coordinate in each row (n, rows), 1/m or 1."""

    def largest(coordinate: int) -> Floats:
        found = part.coordinate(coordinate)
        return np.asarray(np.max(np.abs([found.force, found.moment]), axis=(0, 2)))

    return np.stack([np.max([largest(c) for c, _ in terms], axis=0) for terms in rows.terms], axis=1)


def _acceleration_errors(rows: Rows, evidence: Evidence, frame: int) -> Floats:
    """Second derivatives along the recorded motion, from values at four instants nearby (Richardson)."""
    at = evidence.at(frame)
    linear = evidence.sections["acceleration"][frame]
    angular = evidence.sections["angular_acceleration"][frame]
    speed = _largest(at.velocity, at.spin)
    scale = 1.0 + _largest(linear, angular) + speed**2
    h = 2e-3 / (1.0 + np.sqrt(_largest(linear, angular)) + speed)
    near = _values(rows, at)
    here, second = _sums(rows, near), []
    for step in (h, 2.0 * h):
        ahead, behind = (
            _sums(
                rows, _values(rows, Snapshot(rows.model, moved(at.state, linear, angular, sign * step)), near)
            )
            for sign in (1.0, -1.0)
        )
        second.append((ahead - 2.0 * here + behind) / step**2)
    measured = (4.0 * second[0] - second[1]) / 3.0
    led = rows.led(evidence.time[frame : frame + 1])[0, :, 2]
    return beyond_differences(np.abs(measured - led) / scale, np.abs(second[0] - second[1]) / scale)


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
    slopes = []
    for h in np.array([1e-4, 2e-4]) / max(1.0, 0.1 * steepest):
        probe = State(state.time, state.position, state.rotation, linear, angular)
        ways = (moved(probe, 0.0 * linear, 0.0 * angular, sign * h) for sign in (1.0, -1.0))
        ahead, behind = (_sums(rows, _values(rows, Snapshot(evidence.model, way), near)) for way in ways)
        slopes.append((ahead - behind) / (2.0 * h))
    measured = (4.0 * slopes[0] - slopes[1]) / 3.0
    analytic = _analytic_rates(evidence.model, state, linear, angular)[rows.rows]
    scale = 1.0 + np.abs(measured)
    unknown = 4.0 * np.abs(slopes[0] - slopes[1]) / scale
    errors = beyond_differences(np.abs(measured - analytic) / scale, unknown)
    k = int(np.argmax(errors))
    where = evidence.model.row_text(rows.rows[k])
    meaning = "Jacobian times a random motion against differences, relative"
    return [CheckResult("jacobian", meaning, float(errors[k]), 1e-8, where)]


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


def _largest(*arrays: Floats) -> float:
    return max(float(np.max(np.abs(array), initial=0.0)) for array in arrays)
