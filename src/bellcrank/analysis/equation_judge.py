"""Judges of constraints given by formulas: equations, joints with own coordinates, and rows over these."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from bellcrank.analysis.constraint_judge import beyond_differences, moved
from bellcrank.analysis.evidence import Evidence
from bellcrank.analysis.formula_judge import Formulas, evaluated, of_velocity, time_slope
from bellcrank.analysis.snapshot import Snapshot
from bellcrank.analysis.verdict import CheckResult, Worst
from bellcrank.assembly.records import CustomRecord, JointRecord
from bellcrank.assembly.state import Floats, State
from bellcrank.mechanism.coordinate import FORMULA_COORDINATE

_LEVELS = (("position", 1e-7), ("velocity", 1e-7), ("acceleration", 1e-5))
_MEANING = "what formulas keep at zero: its value, its rate or second derivative relative to the motion"

Values = Callable[[Snapshot, float], Floats]
Errors = Iterator[tuple[str, tuple[float, ...]]]


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
        return np.array(evaluated(kind.equations, known))

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
        terms = slice(*arrays["row_term_start"][row : row + 2].tolist())
        coordinates = arrays["term_coordinate"][terms].tolist()
        own = [arrays["coordinate_kind"][c] == FORMULA_COORDINATE for c in coordinates]
        if not coordinates or not all(own):
            continue
        function = int(arrays["row_function"][row])
        led = np.zeros(3)
        if function >= 0:
            led = model.core_function(function)(np.array([evidence.time[frame]]))[0]
        factors = arrays["term_coefficient"][terms]
        values, rates = (
            np.array(x) for x in zip(*(evidence.motion(c, frame) for c in coordinates), strict=True)
        )
        size = _size(evidence, frame)
        found = [
            abs(float(factors @ values - led[0] - arrays["row_constant"][row])),
            abs(float(factors @ rates - led[1])) / (1.0 + size[0]),
        ]
        if evidence.has_accelerations:
            second = [evidence.recorded("coordinate_accelerations", c, frame) for c in coordinates]
            found.append(abs(float(factors @ np.array(second) - led[2])) / size[1])
        yield model.row_text(row), tuple(found)


def _second(evidence: Evidence, frame: int, values: Values) -> float:
    """The largest second derivative along the recorded motion, relative to accelerations (Richardson)."""
    h, at = _along(evidence, frame, values)
    here = at(0.0)
    one, two = ((at(k * h) - 2.0 * here + at(-k * h)) / (k * h) ** 2 for k in (1.0, 2.0))
    size = _size(evidence, frame)[1]
    return _largest(beyond_differences(np.abs((4.0 * one - two) / 3.0) / size, np.abs(one - two) / size))


def _rate(evidence: Evidence, frame: int, values: Values) -> float:
    """The largest derivative along the recorded motion (Richardson)."""
    h, at = _along(evidence, frame, values)
    one, two = ((at(k * h) - at(-k * h)) / (2.0 * k * h) for k in (1.0, 2.0))
    return _largest((4.0 * one - two) / 3.0)


def _along(evidence: Evidence, frame: int, values: Values) -> tuple[float, Callable[[float], Floats]]:
    """A short time, and values beside a frame where motion goes on with the recorded accelerations."""
    state = evidence.state(frame)
    linear, angular = (evidence.sections[n][frame] for n in ("acceleration", "angular_acceleration"))
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
    names = ("acceleration", "angular_acceleration")
    return speed, 1.0 + _largest(*(evidence.sections[n][frame] for n in names)) + speed**2


def _largest(*arrays: Floats) -> float:
    return max(float(np.max(np.abs(array), initial=0.0)) for array in arrays)
