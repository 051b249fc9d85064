"""Runs of mechanisms that change: each part by the mechanism of its time, and what happens between the parts.

Where elements take hold, momenta change by what the rows of the mechanism from then on can exert, and by no
more: with these rows satisfied that is the plastic impulse. Where they let go, velocities stay.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import groupby, pairwise
from typing import Final

import numpy as np

from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.initial import assembled
from bellcrank.compile.model import Model
from bellcrank.compile.start_values import with_values
from bellcrank.compile.state import Floats, State
from bellcrank.compile.variants import Part
from bellcrank.errors import AssemblyError, Fault, MechanismError
from bellcrank.mechanism.coordinate import FORMULA_COORDINATE
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.run.changing import ABSENT
from bellcrank.trajectory.joining import frames_of, laid, relaid_points
from bellcrank.trajectory.observation import observation
from bellcrank.trajectory.origin import Origin
from bellcrank.trajectory.recorder import spanned
from bellcrank.trajectory.store import MemoryStore
from bellcrank.trajectory.trajectory import Trajectory
from bellcrank.verification.energy import in_play
from bellcrank.verification.evidence import OF_WHOLE
from bellcrank.verification.snapshot import Snapshots
from bellcrank.verification.verdict import CheckResult, Verification, Worst

_LEAST: Final = 3  # frames of a part
_MOVED: Final = 1e-6  # m or rad
_IMPULSE: Final = 1e-7  # of the largest momenta
_SPANS: Final = ("first_frame", "last_frame", "shortest_interval", "longest_interval")

JudgeOfPart = Callable[[Model, Trajectory], Verification]


def judged_parts(mechanism: Mechanism, run: Trajectory, judge: JudgeOfPart) -> Verification:
    """The verification of a run that changes. judge: verifies a part, which does not change.

    Raises MechanismError where no part has frames enough.
    """
    if run.origin.values is None:
        rule = "it does not say what was in force at its start"
        raise MechanismError(Fault(f"run of {run.name!r}", rule, None, "judge a run as it was recorded"))
    parts, found, models = run.parts, list[Verification](), list[Model]()
    ends = [part.begin for part in parts[1:]] + [np.inf]
    for part, end in zip(parts, ends, strict=True):
        models.append(compile_mechanism(mechanism, run.origin.start, part.standing))
        first, last = np.searchsorted(run.time, [part.begin, end])
        if last - first >= _LEAST:
            model, own = _of_part(models[-1], run, part, slice(int(first), int(last)))
            found.append(judge(model, own))
    if not found:
        rule = f"it takes {_LEAST} frames or more between two changes to judge"
        raise MechanismError(Fault(f"run of {run.name!r}", rule, len(run), "record more frames"))
    named: dict[str, list[CheckResult]] = {}
    for check in (check for one in found for check in one.checks):
        named.setdefault(check.name, []).append(check)
    worst = [max(checks, key=_share) for checks in named.values()]
    checks = (*worst, *_of_changes(run, parts, models), _exerts_nothing(run, parts, models))
    subject = f"{found[0].subject.split(',')[0]}, {len(run)} frames, {len(found)} of {len(parts)} parts"
    return Verification(run.name, subject, checks, faults=tuple(f for one in found for f in one.faults))


def _share(check: CheckResult) -> float:
    return -1.0 if check.value is None else check.value / max(check.limit, 1e-300)


def _of_part(model: Model, run: Trajectory, part: Part, frames: slice) -> tuple[Model, Trajectory]:
    """A part as a run of its own, and its model with the values that its elements had."""
    recorded = run.layout
    own = observation(model, bool(recorded.reactions), recorded.accelerations, bool(recorded.works)).layout
    inside = run[frames]
    points = relaid_points(inside.store.contacts, recorded, own) if own.contacts else None
    rows = laid(frames_of(inside), recorded, own)
    works = own.columns["works"]
    rows[:, works] -= 0.0 if part is run.parts[0] else rows[:1, works]
    store = MemoryStore.from_frames(own, rows, points)
    started = {} if part is run.parts[0] else {"started_from": "a change"}
    kept = {name: value for name, value in run.statistics.items() if name not in (*_SPANS, "part")}
    whole = dict(zip(OF_WHOLE, _of_whole(run), strict=True))
    statistics = {**kept, **started, **whole, **spanned(inside.time)}
    changes = {event.time for event in run.events if event.name in run.changes}
    events = [event for event in inside.events if event.time not in changes]
    state = run.at(float(inside.time[0]))
    if started:
        model = replace(model, initial=state)
    else:
        with suppress(AssemblyError):  # of a run that went on from a state
            model = assembled(model)[0]
    model = with_values(model, part.values, state)
    return model, Trajectory(own, store, run.status, statistics, Origin.of_part(model, part.values), events)


def _of_whole(run: Trajectory) -> tuple[float, float]:
    """The largest speed, m/s or rad/s, and the energy in play, J, of a run."""
    read = run.store.read
    fastest = max(float(np.max(np.abs(read(name)), initial=0.0)) for name in ("velocity", "angular_velocity"))
    return fastest, in_play(read("kinetic"), read("potential"))


def _of_changes(run: Trajectory, parts: Sequence[Part], models: Sequence[Model]) -> list[CheckResult]:
    """Poses, and momenta by what the rows exert, from just before each change to just after."""
    moved, pushed = Worst(), Worst()
    changes = [event for event in run.events if event.name in run.changes]
    momenta = [float(np.max(np.abs(_momenta(models[0], one.state)))) for one in changes]
    largest = max(momenta, default=0.0) + 1e-300
    for begin, group in groupby(zip(parts[1:], models[1:], strict=True), lambda one: one[0].begin):
        frame = int(np.searchsorted(run.time, begin))
        before = next((event for event in changes if event.time == begin), None)
        if before is None or frame >= len(run) or run.time[frame] != begin:
            continue
        after, name = run.at(begin), f"change {before.name!r}"
        sizes = np.linalg.norm(after.position - before.state.position, axis=1)
        turned = np.abs(np.sum(after.rotation * before.state.rotation, axis=1))
        moved.meet(sizes, name, begin)
        moved.meet(np.sqrt(np.maximum(0.0, 1.0 - turned**2)), name, begin)
        own = [model for _, model in group]  # of changes at one time
        if not any(FORMULA_COORDINATE in model.arrays["coordinate_kind"] for model in own):
            pushed.meet(_unexplained(own, before.state, after) / largest, name, begin)
    return [
        moved.result(
            "changes: poses", "by how much bodies jump where the mechanism changes, m or rad", _MOVED
        ),
        pushed.result("changes: impulses", "change of momenta that no row exerts, of the largest", _IMPULSE),
    ]


def _momenta(model: Model, *states: State) -> Floats:
    """Momenta (n, nb, 6) of the bodies at states, linear ones first."""
    at = Snapshots.of(model, list(states))
    linear = model.mass[:, None] * at.com_velocity
    angular = np.einsum("nbij,nbj->nbi", at.inertia, at.spin[:, :-1])
    return np.concatenate([linear, angular], axis=2)


def _unexplained(models: Sequence[Model], before: State, after: State) -> float:
    """What of the change of momenta the rows cannot have exerted, the largest component."""
    momenta, columns = _momenta(models[0], before, after), []
    for model in models:
        at = Snapshots.of(model, [before, after])
        for row in range(model.row_count):
            exerted = np.zeros((len(model.bodies) + 1, 6))
            for index, factor in model.terms(row):
                one = at.coordinate(index).at(1)
                for body, sign in zip(one.bodies, (-1.0, 1.0), strict=True):
                    arm = one.point - (at.com[1, body] if body < len(model.bodies) else np.zeros(3))
                    exerted[body, :3] += sign * factor * one.force
                    exerted[body, 3:] += sign * factor * (one.moment + np.cross(arm, one.force))
            columns.append(exerted[:-1].ravel())
    change = (momenta[1] - momenta[0]).ravel()
    if columns:
        rows = np.array(columns).T
        change = change - rows @ np.linalg.lstsq(rows, change, rcond=None)[0]
    return float(np.max(np.abs(change)))


def _exerts_nothing(run: Trajectory, parts: Sequence[Part], models: Sequence[Model]) -> CheckResult:
    """What is not in force has no effort, reaction, energy or work."""
    worst, layout = Worst(), run.layout
    begins = [part.begin for part in parts] + [np.inf]
    for model, (begin, end) in zip(models, pairwise(begins), strict=True):
        first, last = np.searchsorted(run.time, [begin, end])
        if first == last:
            continue
        frames: Floats = frames_of(run[int(first) : int(last)])
        own = observation(model, bool(layout.reactions), layout.accelerations, bool(layout.works)).layout
        wanted = laid(laid(frames, layout, own), own, layout, ABSENT)
        for section in [name for name in ABSENT if name in layout.columns and name != "works"]:
            columns = layout.columns[section]
            apart = np.abs(frames[:, columns] - wanted[:, columns])
            worst.meet_all(apart, section.replace("_", " "), frames[:, 0])
    return worst.result("changes: released", "what is recorded of elements that are not in force", 0.0)
