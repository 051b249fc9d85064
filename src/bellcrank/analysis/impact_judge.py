"""Judge of the law of impact: how fast bodies separate, by how fast they met.

In runs that step by impulses a point is judged if it was hit in the step that ends at a frame, and if all
else between this frame and the one before is known: the speeds gained there are those by the recorded forces.
At stops that a run has found, speeds before are those of the frame before.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from bellcrank.analysis.contact_points import PointsAt, is_rigid, points_at
from bellcrank.analysis.event_judge import gap_at
from bellcrank.analysis.evidence import Evidence, Frames
from bellcrank.analysis.motion_judge import Motion
from bellcrank.analysis.snapshot import Snapshot
from bellcrank.analysis.touching import event_intervals, touching
from bellcrank.analysis.verdict import CheckResult, Worst
from bellcrank.assembly.state import Floats
from bellcrank.mechanism.coordinate import FORMULA_COORDINATE

_IMPACTS: Final = "speed after an impact beside the law's, relative to the speed before"
_KNOWN: Final = 0.02  # of the change of speed: what is not explained by recorded forces
_SLOW: Final = 8.0  # times the speed that forces give in two steps: slower points may as well rest
_REST: Final = 1e-2  # m/s or rad/s: the same, however short the steps
_ALLOWED: Final = 0.03  # of the speed before
_NEAR: Final = 1e-3  # m or rad: a stop that is as near may be met as well


def judge_impacts(evidence: Evidence, motion: Motion | None) -> list[CheckResult]:
    """The law of impact at contacts of runs that step by impulses, and at stops."""
    found = []
    if is_rigid(evidence) and evidence.model.contacts and motion is not None and len(evidence.time) > 2:
        found.append(_of_contacts(evidence, motion))
    return [*found, *_of_stops(evidence)]


def _of_contacts(evidence: Evidence, motion: Motion) -> CheckResult:
    steps = np.diff(evidence.time)
    longest = float(evidence.run.statistics.get("step", 0.0)) or np.inf
    step = steps / np.maximum(np.ceil(steps / longest - 1e-6), 1.0)  # equal ones divide an interval
    last = step[:, None, None]
    before = [  # at the start of the last step
        first[:-1] + (steps - step)[:, None, None] * second[:-1]
        for first, second in ((motion.velocity, motion.acceleration), (motion.spin, motion.spin_rate))
    ]
    left = [  # what recorded forces do not explain
        np.linalg.norm(first[1:] - start - last * second[1:], axis=2)
        for start, (first, second) in zip(
            before, ((motion.velocity, motion.acceleration), (motion.spin, motion.spin_rate)), strict=True
        )
    ]
    before, left = (
        [np.pad(x, ((1, 0), (0, 1), *((0, 0),) * (x.ndim - 2))) for x in y] for y in (before, left)
    )
    counts = np.pad(touching(evidence).counts, ((0, 0), (0, 1)))
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
    model, arrays, worst = evidence.model, evidence.model.arrays, Worst()
    rows = np.flatnonzero(arrays["block_unilateral"][model.row_block] != 0).tolist()
    owners: dict[str, list[int]] = {}
    for row in rows:
        if _of_markers(evidence, row):
            owners.setdefault(model.block_owner[model.row_block[row]], []).append(row)
    listed = [event for event in evidence.run.events if event.name in owners]
    known = 0
    for event in listed:
        row = min(owners[event.name], key=lambda one: abs(gap_at(evidence, one, event.state)))
        interval = event_intervals(evidence, event.time)
        others = [e for e in listed if e is not event and interval == event_intervals(evidence, e.time)]
        k = int(np.searchsorted(evidence.time, event.time)) - 1
        if others or k < 1 or interval.stop - interval.start > 1:
            continue
        rates = [_rate(evidence, row, evidence.at(frame)) for frame in (k - 1, k)]
        second = (rates[1] - rates[0]) / (evidence.time[k] - evidence.time[k - 1])
        met = rates[1] + second * (event.time - evidence.time[k])
        after = _rate(evidence, row, Snapshot(model, event.state))
        if -met <= max(_REST, 4.0 * abs(second) * (event.time - evidence.time[k])):
            continue
        known += 1
        wanted = -float(arrays["block_restitution"][model.row_block[row]]) * met
        alone = all(other == row or gap_at(evidence, other, event.state) > _NEAR for other in rows)
        apart = abs(after - wanted) if alone else max(wanted - after, 0.0)
        open_still = 0.5 * abs(second) * (event.time - evidence.time[k])
        worst.meet(max(apart - open_still, 0.0) / -met, event.name, event.time)
    return [worst.result("impacts: stops", _IMPACTS, _ALLOWED)] if known else []


def _of_markers(evidence: Evidence, row: int) -> bool:
    """Whether a row is of coordinates of markers, not of formulas."""
    arrays = evidence.model.arrays
    terms = arrays["term_coordinate"][slice(*arrays["row_term_start"][row : row + 2].tolist())].tolist()
    return all(arrays["coordinate_kind"][c] != FORMULA_COORDINATE for c in terms)


def _rate(evidence: Evidence, row: int, at: Snapshot) -> float:
    arrays = evidence.model.arrays
    terms = range(*arrays["row_term_start"][row : row + 2].tolist())
    return sum(
        float(arrays["term_coefficient"][term])
        * float(at.coordinate(int(arrays["term_coordinate"][term])).rate)
        for term in terms
    )
