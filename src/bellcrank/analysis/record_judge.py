"""Checks of a record as such: numbers, coordinates and stops."""

from __future__ import annotations

import numpy as np

from bellcrank.analysis.evidence import Evidence
from bellcrank.analysis.snapshot import product
from bellcrank.analysis.verdict import CheckResult, Worst
from bellcrank.mechanism.coordinate import COORDINATE_KINDS, FORMULA_COORDINATE, turn_of
from bellcrank.trajectory.recorder import spanned

_START = 1e-6
_OPEN = 1e-4  # m or rad: a stop with a wider gap bears nothing


def judge_numbers(evidence: Evidence) -> list[CheckResult]:
    """Every recorded number must be finite."""
    worst = Worst()
    for section, values in evidence.sections.items():
        bad = np.argwhere(~np.isfinite(values))
        if len(bad):
            frame, *place = bad[0].tolist()
            element = evidence.run.layout.element(section, place[0] if place else 0)
            name = f"{section.replace('_', ' ')} of {element}"
            worst.meet(len(bad), name, float(evidence.time[frame]))
    sizes = np.abs(np.linalg.norm(evidence.sections["rotation"], axis=2) - 1.0)
    frame, body = np.unravel_index(int(np.argmax(sizes)), sizes.shape)
    longest = Worst()
    longest.meet(
        sizes[frame, body], f"body {evidence.model.bodies[int(body)]!r}", float(evidence.time[frame])
    )
    for event in evidence.run.events:
        of_event = np.abs(np.linalg.norm(event.state.rotation, axis=1) - 1.0)
        longest.meet(float(np.max(of_event, initial=0.0)), f"event {event.name!r}", event.time)
    return [
        worst.result("numbers", "recorded values that are not finite", 0.0),
        longest.result("rotations", "length of a quaternion beside one", 1e-9),
    ]


def judge_times(evidence: Evidence) -> list[CheckResult]:
    """Times increase; the first and the last are those at which the run says that it was recorded."""
    time, told, back, ends = evidence.time, evidence.run.statistics, Worst(), Worst()
    steps = np.diff(time)
    size = float(np.max(np.abs(steps), initial=0.0)) + 1e-300
    frame = int(np.argmin(steps))
    back.meet(
        float(steps[frame] <= 0.0) - steps[frame] / size * (steps[frame] < 0.0), "the frame", time[frame + 1]
    )
    own = spanned(time)
    for name in own.keys() & told.keys():
        place = time[-1] if name == "last_frame" else time[0]
        if name.endswith("interval"):
            place = time[1 + int(np.argmin(steps) if name.startswith("shortest") else np.argmax(steps))]
        ends.meet(abs(float(told[name]) - own[name]), f"the {name.replace('_', ' ')}", float(place))
    checks = [back.result("times", "a frame that is not later than the one before", 0.0)]
    meaning = "first and last time and the intervals of frames beside those that the run reports, s"
    limit = 1e-12 * (1.0 + float(np.max(np.abs(time))))
    return [*checks, ends.result("times: ends", meaning, limit)]


def judge_start(evidence: Evidence) -> CheckResult:
    """The first frame against the initial configuration of the mechanism, if the run begins there."""
    meaning = "first frame beside the mechanism's start, m, rad, m/s or rad/s, relative"
    run, initial = evidence.run, evidence.model.initial
    if "started_from" in run.statistics:
        return CheckResult(
            "start", meaning, None, _START, f"it started from {run.statistics['started_from']}"
        )
    if abs(evidence.time[0] - initial.time) > 1e-9 * (1.0 + abs(initial.time)):
        begun, starts = float(evidence.time[0]), initial.time
        reason = f"the first frame is at t = {begun:.6g} s, the mechanism starts at {starts:.6g} s"
        return CheckResult("start", meaning, None, _START, reason)
    first, worst, time = evidence.state(0), Worst(), float(evidence.time[0])
    turned = product(initial.rotation * np.array([1.0, -1.0, -1.0, -1.0]), first.rotation)
    for apart, size in (
        (first.position - initial.position, np.max(np.abs(initial.position))),
        (2.0 * turned[:, 1:], 0.0),
        (first.velocity - initial.velocity, np.max(np.abs(initial.velocity))),
        (first.angular_velocity - initial.angular_velocity, np.max(np.abs(initial.angular_velocity))),
    ):
        worst.meet(np.linalg.norm(apart, axis=1) / (1.0 + size), evidence.body_text, time)
    return worst.result("start", meaning, _START)


def judge_coordinates(evidence: Evidence) -> list[CheckResult]:
    """Recorded coordinates and their rates against the bodies' poses and velocities."""
    listed = [
        (index, value, rate, place)
        for index, (value, rate, place) in zip(
            evidence.recorded_coordinates, evidence.run.layout.every_coordinate, strict=True
        )
        if evidence.model.arrays["coordinate_kind"][index] != FORMULA_COORDINATE
    ]
    if not listed:
        return []
    kinds = [evidence.model.arrays["coordinate_kind"][index] for index, *_ in listed]
    angular = [COORDINATE_KINDS[kind].angular for kind in kinds]
    turns = np.array([turn_of(kind) for kind in kinds])
    values, rates = Worst(), Worst()

    def name(k: int) -> str:
        return evidence.run.layout.element(listed[k][1], listed[k][3])

    for part in evidence.parts(evidence.every):
        own = [part.coordinate(index) for index, *_ in listed]
        told = [[part.section(section)[:, place] for section in sections] for _, *sections, place in listed]
        apart = np.stack([c.value - value for c, (value, _) in zip(own, told, strict=True)], axis=1)
        apart = np.where(angular, apart - turns * np.round(apart / turns), apart)
        values.meet_all(np.abs(apart), name, part.time)
        speed = 1.0 + np.maximum(*(np.max(np.abs(v), axis=(1, 2)) for v in (part.at.velocity, part.at.spin)))
        apart = np.stack([c.rate - rate for c, (_, rate) in zip(own, told, strict=True)], axis=1)
        rates.meet_all(np.abs(apart) / speed[:, None], name, part.time)
    return [
        values.result("coordinates", "recorded coordinate against the poses, m or rad", 1e-7),
        rates.result("coordinates: rates", "recorded rate against the velocities, relative", 1e-7),
    ]


def judge_stops(evidence: Evidence) -> list[CheckResult]:
    """Stops push, and only where they are met; nothing goes through them."""
    model, arrays = evidence.model, evidence.model.arrays
    limits = [(k, m) for k, m in enumerate(model.multipliers) if m.kind == "limit"]
    if not limits:
        return []
    loads, gaps = Worst(), Worst()
    for k, multiplier in limits:
        (term,) = range(*arrays["row_term_start"][multiplier.row : multiplier.row + 2].tolist())
        value = evidence.sections["coordinates"][
            :, evidence.recorded_coordinates.index(multiplier.coordinate)
        ]
        gap = arrays["term_coefficient"][term] * value - arrays["row_constant"][multiplier.row]
        load = evidence.sections["multipliers"][:, k]
        wrong = np.where(gap > _OPEN, np.abs(load), -load) / (np.max(np.abs(load)) + 1e-300)
        for worst, found in ((loads, wrong), (gaps, -gap)):
            frame = int(np.argmax(found))
            worst.meet(found[frame], f"limit of joint {multiplier.element!r}", evidence.time[frame])
    return [
        loads.result("stops: loads", "pull of a stop, or push of an open one, relative to its largest", 1e-6),
        gaps.result("stops: positions", "how far a joint is beyond a stop, m or rad", 1e-5),
    ]
