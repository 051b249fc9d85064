"""Judges of events and of the law of impact.

Each event lies on the run's motion and is what its name says, and what changes has one. After an impact
bodies separate by how fast they met. In runs that step by impulses a point is judged if it was hit in the
step that ends at a frame, and if all else between this frame and the one before is known: the speeds gained
there are those by the recorded forces. At stops that a run has found, speeds before are those of the frame
before.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import numpy as np

from bellcrank.compile.state import Floats, State
from bellcrank.mechanism.coordinate import COORDINATE_KINDS, FORMULA_COORDINATE
from bellcrank.mechanism.rotation_arrays import conjugate, logarithm, product
from bellcrank.run.events import STATE_SET, changes_of, friction_events
from bellcrank.trajectory.trajectory import EventRecord
from bellcrank.verification.contacts import PointsAt, Touching, pairs_met, points_at
from bellcrank.verification.evidence import Evidence, Frames
from bellcrank.verification.intervals import Calm, Roughness, broken_intervals
from bellcrank.verification.motion import Motion
from bellcrank.verification.reintegration import Way, way_to
from bellcrank.verification.snapshot import Snapshot, Snapshots
from bellcrank.verification.verdict import CheckResult, Worst

_TURN: Final = 2.0 * np.pi
_ON_MOTION: Final = 1e-6
_MET: Final = 1e-5  # m or rad: gap of what begins to touch
_RINGS: Final = 1e-3  # of speeds: by what one that rings may differ at an event from that of the model
_SPREAD: Final = 3.0  # times what accelerations and speeds at both ends allow for
_IMPACTS: Final = "speed after an impact beside the law's, relative to the speed before"
_KNOWN: Final = 0.02  # of the change of speed: what is not explained by recorded forces
_SLOW: Final = 8.0  # times the speed that forces give in two steps: slower points may as well rest
_REST: Final = 1e-2  # m/s or rad/s: the same, however short the steps
_ALLOWED: Final = 0.03  # of the speed before
_NEAR: Final = 1e-3  # m or rad: a stop that is as near may be met as well


def judge_events(evidence: Evidence, motion: Motion | None) -> list[CheckResult]:
    """Times and states of events against the frames around them, and contacts that change against events."""
    run, times = evidence.run, Worst()
    if not run.events and not evidence.run.contacts:
        return []
    first, last = float(evidence.time[0]), float(evidence.time[-1])
    slack = 1e-9 * (last - first)
    for event in run.events:
        out = max(first - event.time, event.time - last)
        # A run that ends at an event may have its last frame before it.
        late = event.time > last and event is run.events[-1]
        times.meet(0.0 if late else max(out - slack, 0.0), f"event {event.name!r}", event.time)
        times.meet(abs(event.time - event.state.time), f"event {event.name!r}", event.time)
    for one, two in pairwise(run.events):
        times.meet(max(0.0, one.time - two.time), f"event {two.name!r}", two.time)
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
    calm, states = evidence.once(Calm), [event.state for event in run.events]
    at = Snapshots.of(evidence.model, states)
    happened = np.array([event.time for event in run.events])
    stops, worst, known = {*evidence.model.block_owner, *friction_events(evidence.model)}, Worst(), 0
    limit = max(_ON_MOTION, Roughness.of(evidence).noise)
    scales = [
        1.0 + float(np.max(np.linalg.norm(values, axis=2))) for values in (motion.velocity, motion.spin)
    ]
    for number, event in enumerate(run.events):
        j = int(np.searchsorted(time, event.time)) - 1
        if j < 1 or event.name in stops or event.name == STATE_SET or not motion.by_forces:
            continue
        alone = np.all(calm.smooth[j - 1 : j + 1])
        alone &= not np.any((happened > time[j - 1]) & (happened < event.time))
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
    for event, gap in zip(listed, np.min(gaps, axis=1).tolist(), strict=True):
        worst.meet(float(not np.isfinite(gap)), f"event {event.name!r}", event.time)
    return [worst.result("events: contacts", "events of a contact at which no surfaces meet", 0.0)]


def _stops(evidence: Evidence) -> list[CheckResult]:
    """Where a stop is met, its coordinate is at the stop and leaves it by the law of impact."""
    owners, places = evidence.model.stops, Worst()
    met = [event for event in evidence.run.events if event.name in owners]
    if not met:
        return []
    for event in met:
        gaps = [_gap_at(evidence, row, event.state) for row in owners[event.name]]
        places.meet(min(abs(gap) for gap in gaps), event.name, event.time)
    meaning = "how far a coordinate is from a stop where it meets it, m or rad"
    return [places.result("events: stops", meaning, _MET)]


def _gap_at(evidence: Evidence, row: int, state: State) -> float:
    """The gap of a one-sided row; of an angle to the nearest turn."""
    kinds = evidence.model.arrays["coordinate_kind"]
    at, turn = Snapshot(evidence.model, state), 0.0
    gap = -float(evidence.model.arrays["row_constant"][row])
    for c, w in evidence.model.terms(row):
        if kinds[c] == FORMULA_COORDINATE:
            return 0.0
        gap += w * float(at.coordinate(c).value)
        if COORDINATE_KINDS[kinds[c]].angular:
            turn = abs(w) * _TURN if turn == 0.0 else np.nan
    if np.isnan(turn):
        return 0.0
    return gap - turn * round(gap / turn) if turn else gap


def _booked(evidence: Evidence) -> list[CheckResult]:
    """Where shapes begin to touch between frames, there is an event of their contact."""
    model, run, worst = evidence.model, evidence.run, Worst()
    if not model.contacts or evidence.is_rigid or not evidence.locates_events:
        return []
    met, broken = pairs_met(evidence), broken_intervals(evidence)
    for number, contact in enumerate(model.contacts):
        if contact.of_tyre:
            continue
        alone = met[:, number] & ~broken
        alone[:1] = False  # what touches at the start has no event
        for event in run.events:
            if event.name in changes_of(contact.name):
                alone[evidence.intervals_at(event.time)] = False
        worst.meet_all(alone.astype(float), f"force {contact.name!r}", evidence.time[1:])
    meaning = "shapes that begin to touch between frames without an event"
    return [worst.result("events: changes", meaning, 0.0)]


def judge_impacts(evidence: Evidence, motion: Motion | None) -> list[CheckResult]:
    """The law of impact at contacts of runs that step by impulses, and at stops."""
    found = []
    if evidence.is_rigid and evidence.model.contacts and motion is not None and len(evidence.time) > 2:
        found.append(_of_contacts(evidence, motion))
    return [*found, *_of_stops(evidence)]


def _of_contacts(evidence: Evidence, motion: Motion) -> CheckResult:
    steps = np.diff(evidence.time)
    longest = float(evidence.run.statistics.get("step", 0.0)) or np.inf
    step = steps / np.maximum(np.ceil(steps / longest - 1e-6), 1.0)  # equal ones divide an interval
    first, last = (steps - step)[:, None, None], step[:, None, None]
    before, left = (
        [],
        [],
    )  # speeds at the start of the last step, and changes that recorded forces do not explain
    for speed, rate in ((motion.velocity, motion.acceleration), (motion.spin, motion.spin_rate)):
        start = speed[:-1] + first * rate[:-1]
        before.append(np.pad(start, ((1, 0), (0, 1), (0, 0))))
        unexplained = np.linalg.norm(speed[1:] - start - last * rate[1:], axis=2)
        left.append(np.pad(unexplained, ((1, 0), (0, 1))))
    counts = np.pad(evidence.once(Touching).counts, ((0, 0), (0, 1)))
    worst, known = Worst(), 0
    weakened = (1.0, 0.5, 0.0) if evidence.run.statistics.get("weakened_impacts") else (1.0,)
    for part in evidence.parts():
        for number, contact in enumerate(evidence.model.contacts):
            points = points_at(part, number)
            if points.law.by_impulse or not len(points.depth):
                continue
            frame = part.numbers[points.frame]
            met = _normal_speed(part, points, before)
            after = -points.approach
            fresh = (frame > 0) & (counts[frame - 1, points.first] + counts[frame - 1, points.second] == 0)
            push = np.einsum("ij,ij->i", points.force, points.normal)
            fresh &= push > 1e-3 * points.largest(np.abs(push), len(part))[points.frame]
            open_still = _unexplained(part, points, left)
            speeds = _free_speeds(part, points, motion) * step[np.maximum(frame - 1, 0)]
            slow = np.maximum(_SLOW * speeds, _REST)
            judged = fresh & (open_still < _KNOWN * np.abs(after - met)) & (-met > slow)
            wanted = [-points.law.restitution * share * met for share in weakened]
            apart = np.min([np.abs(after - speed) for speed in wanted], axis=0)
            if points.law.restitution == 0.0:
                apart = np.maximum(after, 0.0)
            found = np.maximum(apart - open_still - 3.0 * speeds, 0.0) / np.maximum(np.abs(met), 1e-300)
            known += int(np.count_nonzero(judged))
            values = np.where(judged, found, 0.0)
            worst.meet_all(values, f"force {contact.name!r}", evidence.time[frame])
    if not known:
        reason = "no impact lies between frames that determine the speeds before it"
        return CheckResult("impacts", _IMPACTS, None, _ALLOWED, reason)
    return worst.result("impacts", f"{_IMPACTS}; {known} points hit are known well enough", _ALLOWED)


def _normal_speed(part: Frames, points: PointsAt, motion: list[Floats]) -> Floats:
    """How fast points (m,) separate along their normals. motion: speeds of coms and spins (T, nb + 1, 3)."""
    frame = part.numbers[points.frame]
    centre = np.concatenate([part.at.com, np.zeros((len(part), 1, 3))], axis=1)

    def speed(bodies: np.ndarray) -> Floats:
        arms = points.position - centre[points.frame, bodies]
        return np.asarray(motion[0][frame, bodies] + np.cross(motion[1][frame, bodies], arms))

    return np.asarray(np.sum((speed(points.first) - speed(points.second)) * points.normal, axis=1))


def _unexplained(part: Frames, points: PointsAt, left: list[Floats]) -> Floats:
    frame = part.numbers[points.frame]
    centre = np.concatenate([part.at.com, np.zeros((len(part), 1, 3))], axis=1)
    total = np.zeros(len(frame))
    for bodies in (points.first, points.second):
        arms = np.linalg.norm(points.position - centre[points.frame, bodies], axis=1)
        total += left[0][frame, bodies] + arms * left[1][frame, bodies]
    return total


def _free_speeds(part: Frames, points: PointsAt, motion: Motion) -> Floats:
    """The speed (m,) that forces without impacts, and turning, give a point in a second."""
    frame, gravity = part.numbers[points.frame], float(np.linalg.norm(part.model.gravity))
    earlier = np.maximum(frame - 1, 0)
    strongest = np.max(np.linalg.norm(motion.acceleration, axis=2), axis=1)[earlier]
    spin = np.max(np.linalg.norm(motion.spin, axis=2), axis=1)[earlier]
    fast = np.max(np.linalg.norm(motion.velocity, axis=2), axis=1)[earlier]
    return np.asarray(gravity + strongest + spin * fast)


def _of_stops(evidence: Evidence) -> list[CheckResult]:
    """After a stop is met its coordinate goes back by the law, or faster where others are met with it."""
    model, kinds, worst = evidence.model, evidence.model.arrays["coordinate_kind"], Worst()
    rows = np.flatnonzero(model.one_sided).tolist()
    written = {row for row in rows if any(kinds[c] == FORMULA_COORDINATE for c, _ in model.terms(row))}
    owners = {name: set(found) - written for name, found in model.stops.items()}
    owners = {name: found for name, found in owners.items() if found}
    listed = [event for event in evidence.run.events if event.name in owners]
    known = 0
    for event in listed:
        row = min(sorted(owners[event.name]), key=lambda one: abs(_gap_at(evidence, one, event.state)))
        interval = evidence.intervals_at(event.time)
        others = [e for e in listed if e is not event and interval == evidence.intervals_at(e.time)]
        k = int(np.searchsorted(evidence.time, event.time)) - 1
        if others or k < 1 or interval.stop - interval.start > 1:
            continue
        rates = [_rate(row, evidence.at(frame)) for frame in (k - 1, k)]
        second = (rates[1] - rates[0]) / (evidence.time[k] - evidence.time[k - 1])
        met = rates[1] + second * (event.time - evidence.time[k])
        after = _rate(row, Snapshot(model, event.state))
        if -met <= max(_REST, 4.0 * abs(second) * (event.time - evidence.time[k])):
            continue
        known += 1
        wanted = -float(model.arrays["block_restitution"][model.row_block[row]]) * met
        alone = all(other == row or _gap_at(evidence, other, event.state) > _NEAR for other in rows)
        apart = abs(after - wanted) if alone else max(wanted - after, 0.0)
        open_still = 0.5 * abs(second) * (event.time - evidence.time[k])
        worst.meet(max(apart - open_still, 0.0) / -met, event.name, event.time)
    return [worst.result("impacts: stops", _IMPACTS, _ALLOWED)] if known else []


def _rate(row: int, at: Snapshot) -> float:
    return sum(w * float(at.coordinate(c).rate) for c, w in at.model.terms(row))
