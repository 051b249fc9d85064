"""Verification of a recorded run, whether just made or read from a file that somebody may have changed."""

from __future__ import annotations

from dataclasses import fields
from itertools import chain
from typing import Any

import numpy as np

from bellcrank.analysis.attribution import blamed
from bellcrank.analysis.calm import calm_of
from bellcrank.analysis.certificate import of_run
from bellcrank.analysis.event_judge import judge_events
from bellcrank.analysis.evidence import Evidence
from bellcrank.analysis.flag_judge import judge_flags, judge_violations
from bellcrank.analysis.impact_judge import judge_impacts
from bellcrank.analysis.impulse_judge import judge_impulses
from bellcrank.analysis.motion_judge import Motion, judge_angles, judge_motion
from bellcrank.analysis.reaction_judge import judge_consequences, judge_directions
from bellcrank.analysis.record_judge import (
    judge_coordinates,
    judge_numbers,
    judge_start,
    judge_stops,
    judge_times,
)
from bellcrank.analysis.verdict import CheckResult, Finding, Verification
from bellcrank.assembly.compile import compile_mechanism
from bellcrank.assembly.initial import assembled
from bellcrank.assembly.model import Model
from bellcrank.assembly.start_values import with_values
from bellcrank.assembly.state import Floats
from bellcrank.errors import AssemblyError, Fault, MechanismError, Unsupported
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.trajectory.layout import FrameLayout
from bellcrank.trajectory.observation import observation
from bellcrank.trajectory.trajectory import Trajectory

_OF_IMPULSES = 100.0  # times the tolerance of energy: what impulses may lack, computed from differences
_LEFT_OUT = ("reactions", "forces", "force_columns", "force_coordinates", "force_potentials")  # on request
_OF_TOLERANCE = 100.0  # times that of the run: what energy and momenta may gain
_SOUND = ("numbers", "rotations", "times")  # what all else takes for granted


def judged_run(
    mechanism: Mechanism | Model | None, run: Trajectory, samples: int, tolerance: float
) -> Verification:
    """See `verify`. mechanism: None for the run's own."""
    model, run = _start(mechanism, run)
    _check(model, run)
    _refuse_steered(model, run)
    evidence = Evidence(model, run, samples)
    checks = [*judge_numbers(evidence), *judge_times(evidence)]
    if all(check.passed for check in checks if check.name in _SOUND):
        evidence.frames = sorted({*evidence.frames, *standing_out(evidence)})
        calm = calm_of(evidence)
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
    told = run.statistics
    subject = f"{told.get('formulation', 'unknown')} with {told.get('method', 'unknown')}, {len(run)} frames"
    return Verification(model.name, subject, tuple(checks), faults=tuple(_faults(evidence, checks, subject)))


def _faults(evidence: Evidence, checks: list[CheckResult], subject: str) -> list[Finding]:
    if all(check.passed for check in checks):
        return []
    times = [check.time for check in checks if check.name.startswith("balance")]
    frames = [frame for frame in evidence.frames if evidence.time[frame] in times]
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


def _check(model: Model, run: Trajectory) -> None:
    """Raise MechanismError for a run that cannot be judged by this model."""
    element = f"run of {run.name!r}"
    if "resampled" in run.statistics:
        rule, advice = "its frames were interpolated, which no mechanism obeys", "judge it before resampling"
        raise MechanismError(Fault(element, rule, None, advice))
    if run.origin.changed:
        rule = f"its mechanism was changed at t = {run.origin.changed}, and a run is judged by one mechanism"
        raise MechanismError(Fault(element, rule, None, "judge the runs between changes"))
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
    if name in ("mechanism", "accelerations"):
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
