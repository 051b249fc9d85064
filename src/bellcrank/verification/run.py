"""Verification of a recorded run, whether just made or read from a file that somebody may have changed."""

from __future__ import annotations

from dataclasses import fields
from itertools import chain
from typing import Any

import numpy as np

from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.initial import assembled
from bellcrank.compile.model import Model
from bellcrank.compile.start_values import with_values
from bellcrank.compile.state import Floats
from bellcrank.errors import AssemblyError, Fault, MechanismError, Unsupported
from bellcrank.mechanism.coordinate import COORDINATE_KINDS, FORMULA_COORDINATE, turn_of
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.rotation_arrays import conjugate, product
from bellcrank.trajectory.layout import FrameLayout
from bellcrank.trajectory.observation import observation
from bellcrank.trajectory.recorder import spanned
from bellcrank.trajectory.trajectory import Trajectory
from bellcrank.verification.balance import judge_impulses
from bellcrank.verification.certificate import of_run
from bellcrank.verification.changes import judged_parts
from bellcrank.verification.constraints import judge_violations
from bellcrank.verification.events import judge_events, judge_impacts
from bellcrank.verification.evidence import Evidence
from bellcrank.verification.faults import blamed
from bellcrank.verification.intervals import Calm
from bellcrank.verification.motion import Motion, judge_angles, judge_motion
from bellcrank.verification.reactions import judge_consequences, judge_directions, judge_flags
from bellcrank.verification.verdict import CheckResult, Finding, Verification, Worst

_OF_IMPULSES = 100.0  # times the tolerance of energy: what impulses may lack, computed from differences
_LEFT_OUT = ("reactions", "forces", "force_columns", "force_coordinates", "force_potentials")  # on request
_OF_TOLERANCE = 100.0  # times that of the run: what energy and momenta may gain
_SOUND = ("numbers", "rotations", "times")  # what all else takes for granted
_START = 1e-6
_OPEN = 1e-4  # m or rad: a stop with a wider gap bears nothing


def judged_run(
    mechanism: Mechanism | Model | None, run: Trajectory, samples: int, tolerance: float
) -> Verification:
    """See `verify`. mechanism: None for the run's own."""
    given = run.origin.mechanism if mechanism is None else mechanism
    source = given.source if isinstance(given, Model) else given
    if source is not None and source.changes and run.origin.values is not None:
        _check_changed(run)
        return judged_parts(source, run, lambda model, part: _judged(model, part, samples, tolerance))
    return _judged(*_start(mechanism, run), samples, tolerance)


def _judged(model: Model, run: Trajectory, samples: int, tolerance: float) -> Verification:
    """The verification of a run of a mechanism that does not change, or of a part of one."""
    _check(model, run)
    _refuse_steered(model, run)
    evidence = Evidence(model, run, samples)
    checks = [*judge_numbers(evidence), *judge_times(evidence)]
    if all(check.passed for check in checks if check.name in _SOUND):
        evidence.frames = sorted({*evidence.frames, *standing_out(evidence)})
        calm = evidence.once(Calm)
        motion = Motion.of(evidence) if len(evidence.every) == len(evidence.time) else None
        checks += [
            judge_start(evidence),
            *of_run(evidence, max(tolerance, _OF_TOLERANCE * float(run.statistics.get("tolerance", 0.0)))),
            *judge_consequences(evidence),
            *judge_directions(evidence),
            *judge_impulses(evidence, calm, _OF_IMPULSES * tolerance),
            *judge_coordinates(evidence),
            *judge_stops(evidence),
            *judge_motion(evidence, motion, calm, tolerance),
            *judge_events(evidence, motion),
            *judge_flags(evidence),
            *judge_violations(evidence),
            *judge_impacts(evidence, motion),
            judge_angles(evidence),
        ]
    made_by = (run.statistics.get(name, "unknown") for name in ("formulation", "method"))
    subject = f"{' with '.join(map(str, made_by))}, {len(run)} frames"
    return Verification(model.name, subject, tuple(checks), faults=tuple(_faults(evidence, checks, subject)))


def _faults(evidence: Evidence, checks: list[CheckResult], subject: str) -> list[Finding]:
    if all(check.passed for check in checks):
        return []
    times = [check.time for check in checks if check.name.startswith("balance")]
    frames = [frame for frame in range(len(evidence.time)) if evidence.time[frame] in times]
    labels = [(frame, f"t = {evidence.time[frame]:.6g} s") for frame in frames]
    return [blamed(subject, evidence, labels, checks)]


def _start(mechanism: Mechanism | Model | None, run: Trajectory) -> tuple[Model, Trajectory]:
    """The model as the run began with it, and the part of the run in which it holds.

    Values that rows and springs take from the initial configuration are taken at the time that the run
    records or, if constraint forces closed the mechanism, from the closed configuration.
    """
    given = run.origin.model if mechanism is None else mechanism
    model = given if isinstance(given, Model) else compile_mechanism(given, run.origin.start)
    closed = run.statistics.get("closed_at")
    if isinstance(closed, int | float):
        run = run.between(float(closed), max(closed, float(run.time[-1])))
        if len(run) and model.start.laws and run.time[0] > closed + 1e-9:
            rule = (
                "springs took their rest lengths where constraint forces had closed it, which no frame shows"
            )
            raise MechanismError(
                Fault(f"run of {run.name!r}", rule, None, f"record a frame at t = {closed:g} s")
            )
        return (model.starting(run.at(float(run.time[0])), model.given) if len(run) else model), run
    values = run.origin.values if len(run) else None
    try:
        model = assembled(model)[0]
    except AssemblyError:
        if values is None and (model.start.laws or model.start.rows):
            raise
    if values is not None:  # of a run that went on from a state, they may be those of another mechanism
        model = with_values(model, values, run.at(float(run.time[0])))
    return model, run


def _check_changed(run: Trajectory) -> None:
    """Raise MechanismError for a run whose frames or mechanism were changed."""
    element = f"run of {run.name!r}"
    if "resampled" in run.statistics:
        rule, advice = "its frames were interpolated, which no mechanism obeys", "judge it before resampling"
        raise MechanismError(Fault(element, rule, None, advice))
    if run.origin.changed:
        rule = f"its mechanism was changed at t = {run.origin.changed}, and a run is judged by one mechanism"
        raise MechanismError(Fault(element, rule, None, "judge the runs between changes"))


def _check(model: Model, run: Trajectory) -> None:
    """Raise MechanismError for a run that cannot be judged by this model."""
    element = f"run of {run.name!r}"
    _check_changed(run)
    recorded, kept = run.layout, {"accelerations": run.layout.accelerations, "ledger": bool(run.layout.works)}
    own = observation(model, **kept).layout
    differing = [
        field.name.replace("_", " ")
        for field in fields(FrameLayout)
        if not _fits(field.name, getattr(recorded, field.name), getattr(own, field.name))
    ]
    if differing:
        rule = f"it is of another mechanism, with other {', '.join(differing)}"
        raise MechanismError(Fault(element, rule, recorded.bodies[:5], "give the mechanism that it is of"))
    if len(run) < 3:
        raise MechanismError(Fault(element, "it takes 3 frames or more to judge", len(run)))


def _refuse_steered(model: Model, run: Trajectory) -> None:
    starts = {one.name: one.value for one in model.inputs}
    steered = [name for name in run.inputs if np.any(run.input(name).value != starts.get(name))]
    if steered:
        named = ", ".join(map(repr, steered))
        raise Unsupported(
            f"a run that was steered cannot be judged: the inputs {named} have not kept the values that they "
            "start with; verify the mechanism instead, or a run without controllers"
        )


def _fits(name: str, recorded: Any, own: Any) -> bool:
    """Whether a part of the layout is what the mechanism records; reactions and forces may be left out."""
    if name in ("mechanism", "accelerations", "sensors"):
        return True
    if name in _LEFT_OUT and not recorded:
        return True
    if name == "com":
        return np.shape(recorded) == np.shape(own) and bool(
            np.allclose(recorded, own, rtol=1e-12, atol=1e-12)
        )
    return bool(recorded == own)


def standing_out(evidence: Evidence) -> list[int]:
    """Frames at which a recorded quantity stands out most from its neighbours, and the ends.

    Deviations are relative to the usual ones of the quantity. These frames include those where a number was
    altered, and those where something happened in the run.
    """
    count = len(evidence.time)
    ends = [*range(min(2, count)), *range(max(0, count - 2), count)]
    return [*ends, *chain.from_iterable(map(_most_bent, evidence.sections.values()))]


def _most_bent(values: Floats) -> list[int]:
    """The frame of the largest fourth difference, relative to the median of its column's."""
    table = values.reshape(len(values), -1)
    if len(table) < 5 or table.shape[1] == 0:
        return []
    bent = np.abs(np.diff(table, 4, axis=0))
    usual = np.median(bent, axis=0) + 1e-13 * np.max(np.abs(table), axis=0) + 1e-300
    worst = np.max(bent / usual, axis=1)
    return [int(np.argmax(worst)) + 2] if np.max(worst) > 1.0 else []


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
    time, statistics, back, ends = evidence.time, evidence.run.statistics, Worst(), Worst()
    steps = np.diff(time)
    size = float(np.max(np.abs(steps), initial=0.0)) + 1e-300
    frame = int(np.argmin(steps))
    back.meet(
        float(steps[frame] <= 0.0) - steps[frame] / size * (steps[frame] < 0.0), "the frame", time[frame + 1]
    )
    own = spanned(time)
    for name in own.keys() & statistics.keys():
        place = time[-1] if name == "last_frame" else time[0]
        if name.endswith("interval"):
            place = time[1 + int(np.argmin(steps) if name.startswith("shortest") else np.argmax(steps))]
        ends.meet(abs(float(statistics[name]) - own[name]), f"the {name.replace('_', ' ')}", float(place))
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
    turned = product(conjugate(initial.rotation), first.rotation)
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
        recorded = [
            [part.section(section)[:, place] for section in sections] for _, *sections, place in listed
        ]
        apart = np.stack([c.value - value for c, (value, _) in zip(own, recorded, strict=True)], axis=1)
        apart = np.where(angular, apart - turns * np.round(apart / turns), apart)
        values.meet_all(np.abs(apart), name, part.time)
        speed = 1.0 + part.at.fastest
        apart = np.stack([c.rate - rate for c, (_, rate) in zip(own, recorded, strict=True)], axis=1)
        rates.meet_all(np.abs(apart) / speed[:, None], name, part.time)
    return [
        values.result("coordinates", "recorded coordinate against the poses, m or rad", 1e-7),
        rates.result("coordinates: rates", "recorded rate against the velocities, relative", 1e-7),
    ]


def judge_stops(evidence: Evidence) -> list[CheckResult]:
    """Stops push, and only where they are met; nothing goes through them."""
    model = evidence.model
    limits = [(k, m) for k, m in enumerate(model.multipliers) if m.kind == "limit"]
    if not limits:
        return []
    loads, gaps = Worst(), Worst()
    for k, multiplier in limits:
        ((coordinate, factor),) = model.terms(multiplier.row)
        value = evidence.sections["coordinates"][:, evidence.recorded_coordinates.index(coordinate)]
        gap = factor * value - model.arrays["row_constant"][multiplier.row]
        load = evidence.sections["multipliers"][:, k]
        wrong = np.where(gap > _OPEN, np.abs(load), -load) / (np.max(np.abs(load)) + 1e-300)
        for worst, found in ((loads, wrong), (gaps, -gap)):
            frame = int(np.argmax(found))
            worst.meet(found[frame], f"limit of joint {multiplier.element!r}", evidence.time[frame])
    return [
        loads.result("stops: loads", "pull of a stop, or push of an open one, relative to its largest", 1e-6),
        gaps.result("stops: positions", "how far a joint is beyond a stop, m or rad", 1e-5),
    ]
