"""Judge of events: each lies on the run's motion and is what its name says, and what changes has one."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import numpy as np

from bellcrank.analysis.appeal import Way, way_to
from bellcrank.analysis.calm import broken_intervals, calm_of
from bellcrank.analysis.contact_points import is_rigid
from bellcrank.analysis.evidence import Evidence
from bellcrank.analysis.motion_judge import Motion
from bellcrank.analysis.roughness import Roughness
from bellcrank.analysis.snapshot import Snapshot, Snapshots
from bellcrank.analysis.touching import event_intervals, locates_events, pairs_met
from bellcrank.analysis.verdict import CheckResult, Worst
from bellcrank.assembly.state import Floats, State
from bellcrank.mechanism.coordinate import COORDINATE_KINDS, FORMULA_COORDINATE
from bellcrank.run.happenings import changes_of
from bellcrank.run.telling import STATE_SET
from bellcrank.trajectory.events import EventRecord
from bellcrank.trajectory.rotations import conjugate, logarithm, product

_ON_MOTION: Final = 1e-6
_MET: Final = 1e-5  # m or rad: gap of what begins to touch
_RINGS: Final = 1e-3  # of speeds: by what one that rings may differ at an event from that of the model
_SPREAD: Final = 3.0  # times what accelerations and speeds at both ends allow for


def judge_events(evidence: Evidence, motion: Motion | None) -> list[CheckResult]:
    """Times and states of events against the frames around them, and contacts that change against events."""
    run, times = evidence.run, Worst()
    if not run.events and not evidence.run.contacts:
        return []
    told = np.array([event.time for event in run.events])
    first, last = float(evidence.time[0]), float(evidence.time[-1])
    slack = 1e-9 * (last - first)
    for event in run.events:
        out = max(first - event.time, event.time - last)
        # A run that ends at an event may have its last frame before it.
        late = event.time > last and event is run.events[-1]
        times.meet(0.0 if late else max(out - slack, 0.0), f"event {event.name!r}", event.time)
        times.meet(abs(event.time - event.state.time), f"event {event.name!r}", event.time)
    if len(told) > 1:
        k = int(np.argmin(np.diff(told)))
        times.meet(
            max(0.0, float(told[k] - told[k + 1])), f"event {run.events[k + 1].name!r}", float(told[k + 1])
        )
    meaning = "how far an event lies outside the run, or before the one listed before it, s"
    checks = [times.result("events: times", meaning, 1e-9 * (1.0 + abs(last)))]
    if run.events and motion is not None:
        checks += [_on_motion(evidence, motion), *_by_forces(evidence, motion)]
    return [*checks, *_touches(evidence), *_stops(evidence), *_booked(evidence)]


def _on_motion(evidence: Evidence, motion: Motion) -> CheckResult:
    """Poses at events beside those of the frame or event before, as far as speeds may take bodies."""
    worst, anchors = Worst(), _anchors(evidence)
    allowed = _ON_MOTION + Roughness.of(evidence).drift
    extent = 1.0 + float(np.max(np.ptp(evidence.sections["position"], axis=0)))
    spun, turned_up = (np.linalg.norm(x, axis=2) for x in (motion.spin, motion.spin_rate))
    arms = np.linalg.norm(evidence.model.com, axis=1)
    most = [np.linalg.norm(motion.acceleration, axis=2) + arms * (spun**2 + turned_up), turned_up + spun**2]
    for (one, _), (two, name) in pairwise(anchors):
        if name in ("", STATE_SET):
            continue
        step = max(two.time - one.time, 0.0)
        k = int(np.clip(np.searchsorted(evidence.time, two.time), 1, len(evidence.time) - 1))
        turned = logarithm(product(two.rotation, conjugate(one.rotation)))
        moved = two.position - one.position
        for gone, rate, other, size, strongest in (
            (moved, one.velocity, two.velocity, extent, most[0]),
            (turned, one.angular_velocity, two.angular_velocity, 1.0, most[1]),
        ):
            apart = np.linalg.norm(gone - 0.5 * step * (rate + other), axis=1)
            pushed = np.max(strongest[k - 1 : k + 1], axis=0)
            open_still = _SPREAD * step * (np.linalg.norm(other - rate, axis=1) + pushed * step)
            beyond = np.maximum(apart - open_still - 1e-9, 0.0) / size
            if np.max(beyond, initial=0.0) > _ON_MOTION:
                way = _way(evidence, two)
                if way is not None and way.arrives(allowed, poses_only=True):
                    continue
            worst.meet(beyond, f"event {name!r}", two.time)
    meaning = "pose at an event beside that by the speeds since the frame or event before, m or rad"
    return worst.result("events: states", meaning, _ON_MOTION)


def _by_forces(evidence: Evidence, motion: Motion) -> list[CheckResult]:
    """Speeds at events by the accelerations at the frame before, or by the motion of the model from there.

    Accelerations go on changing as they did since the frame before, or little faster, if nothing happens.
    Where something does, or touches, the model alone says what speeds there are.
    """
    run, time = evidence.run, evidence.time
    calm, states = calm_of(evidence), [event.state for event in run.events]
    names = ("position", "rotation", "velocity", "angular_velocity")
    at = Snapshots(
        evidence.model, {name: np.array([getattr(state, name) for state in states]) for name in names}
    )
    told = np.array([event.time for event in run.events])
    stops, worst, known = set(evidence.model.block_owner), Worst(), 0
    limit = max(_ON_MOTION, Roughness.of(evidence).noise)
    scales = [
        1.0 + float(np.max(np.linalg.norm(values, axis=2))) for values in (motion.velocity, motion.spin)
    ]
    for number, event in enumerate(run.events):
        j = int(np.searchsorted(time, event.time)) - 1
        if j < 1 or event.name in stops or event.name == STATE_SET or not motion.by_forces:
            continue
        alone = not np.any((told > time[j - 1]) & (told < event.time)) and np.all(calm.smooth[j - 1 : j + 1])
        if alone and not np.any(calm.touched[j - 1]):
            known += 1
            step, so_far = event.time - time[j], time[j] - time[j - 1]
            beyond = np.max(_astray(motion, at, number, step, so_far, j, scales), axis=0)
            if np.max(beyond, initial=0.0) > limit and (way := _way(evidence, event.state)) is not None:
                beyond = np.where(way.arrives(limit), 0.0, beyond)
        else:  # what touches may ring, or lift off
            way = _way(evidence, event.state)
            if way is None or not way.is_known:
                continue
            known += 1
            beyond = np.array([0.0 if way.arrives(max(limit, _RINGS)) else way.missed])
        worst.meet(beyond, f"event {event.name!r}", event.time)
    meaning = "speed at an event beside that by the forces since the frame before, relative"
    return [worst.result("events: speeds", meaning, limit)] if known else []


def _astray(
    motion: Motion, at: Snapshots, number: int, step: float, so_far: float, j: int, scales: list[float]
) -> list[Floats]:
    """How far speeds (nb,) at an event are from those by the accelerations at frame j, a step before it."""
    found = []
    for speed, before, rate, scale in (
        (at.com_velocity[number], motion.velocity, motion.acceleration, scales[0]),
        (at.spin[number, :-1], motion.spin, motion.spin_rate, scales[1]),
    ):
        apart = np.linalg.norm(speed - before[j] - step * rate[j], axis=1)
        change = np.linalg.norm(rate[j] - rate[j - 1], axis=1)
        open_still = _SPREAD * step * change * (1.0 + step / so_far)
        found.append(np.maximum(apart - open_still, 0.0) / scale)
    return found


def _way(evidence: Evidence, state: State) -> Way | None:
    """The way of the model to the state of an event from the frame before; None where the run was set."""
    frame = int(np.searchsorted(evidence.time, state.time)) - 1
    if not 0 <= frame < len(evidence.time) - 1 or broken_intervals(evidence)[frame]:
        return None
    return way_to(evidence, frame, state)


def _anchors(evidence: Evidence) -> list[tuple[State, str]]:
    """Frames beside events, and events with their names, in the order of time."""
    events = evidence.run.events
    near = {k for e in events for k in _around(evidence, e)}
    listed = [(evidence.state(k), "") for k in sorted(near)] + [(event.state, event.name) for event in events]
    return sorted(listed, key=lambda one: one[0].time)


def _around(evidence: Evidence, event: EventRecord) -> tuple[int, int]:
    k = int(np.searchsorted(evidence.time, event.time))
    return max(k - 1, 0), min(k, len(evidence.time) - 1)


def _touches(evidence: Evidence) -> list[CheckResult]:
    """Where bodies begin to touch or lift off, surfaces are at each other, or within."""
    model, worst = evidence.model, Worst()
    names = {changes_of(c.name)[k] for c in model.contacts if not c.of_tyre for k in (0, -1)}
    listed = [event for event in evidence.run.events if event.name in names]
    if not listed:
        return []
    positions = np.array([event.state.position.ravel() for event in listed])
    rotations = np.array([event.state.rotation.ravel() for event in listed])
    gaps = model.arrays["contacts"].gaps(positions, rotations, np.full(len(listed), _MET), -np.inf)
    apart = np.where(np.isfinite(np.min(gaps, axis=1)), 0.0, 1.0)
    worst.meet_all(apart, "", np.array([event.time for event in listed]))
    k = int(np.argmax(apart))
    worst.where = f"event {listed[k].name!r}" if apart[k] else ""
    return [worst.result("events: contacts", "events of a contact at which no surfaces meet", 0.0)]


def _stops(evidence: Evidence) -> list[CheckResult]:
    """Where a stop is met, its coordinate is at the stop and leaves it by the law of impact."""
    model, arrays, places = evidence.model, evidence.model.arrays, Worst()
    owners: dict[str, list[int]] = {}
    for row in np.flatnonzero(arrays["block_unilateral"][model.row_block] != 0).tolist():
        owners.setdefault(model.block_owner[model.row_block[row]], []).append(row)
    met = [event for event in evidence.run.events if event.name in owners]
    if not met:
        return []
    for event in met:
        gaps = [gap_at(evidence, row, event.state) for row in owners[event.name]]
        places.meet(min(abs(gap) for gap in gaps), event.name, event.time)
    meaning = "how far a coordinate is from a stop where it meets it, m or rad"
    return [places.result("events: stops", meaning, _MET)]


def gap_at(evidence: Evidence, row: int, state: State) -> float:
    """The gap of a one-sided row; of an angle to the nearest turn."""
    model, arrays = evidence.model, evidence.model.arrays
    at, gap, turn = Snapshot(model, state), -float(arrays["row_constant"][row]), 0.0
    for term in range(*arrays["row_term_start"][row : row + 2].tolist()):
        c, w = int(arrays["term_coordinate"][term]), float(arrays["term_coefficient"][term])
        if arrays["coordinate_kind"][c] == FORMULA_COORDINATE:
            return 0.0
        gap += w * float(at.coordinate(c).value)
        if COORDINATE_KINDS[arrays["coordinate_kind"][c]].angular:
            turn = abs(w) * 2.0 * np.pi if turn == 0.0 else np.nan
    if np.isnan(turn):
        return 0.0
    return gap - turn * round(gap / turn) if turn else gap


def _booked(evidence: Evidence) -> list[CheckResult]:
    """Where shapes begin to touch between frames, there is an event of their contact."""
    model, run, worst = evidence.model, evidence.run, Worst()
    if not model.contacts or is_rigid(evidence) or not locates_events(evidence):
        return []
    met, broken = pairs_met(evidence), broken_intervals(evidence)
    for number, contact in enumerate(model.contacts):
        if contact.of_tyre:
            continue
        alone = met[:, number] & ~broken
        alone[:1] = False  # what touches at the start has no event
        for event in run.events:
            if event.name in changes_of(contact.name):
                alone[event_intervals(evidence, event.time)] = False
        worst.meet_all(alone.astype(float), f"force {contact.name!r}", evidence.time[1:])
    return [
        worst.result("events: changes", "shapes that begin to touch between frames without an event", 0.0)
    ]
