"""Judge of what lies between frames: poses are the integrals of velocities, and these of accelerations.

Accelerations are those that were recorded, or follow from the recorded forces and reactions. With them at
both ends, the integrals are known by Hermite's rule; how far the rules may be wrong is found from how much
accelerations bend nearby, which allows for one jump of theirs in an interval. Intervals in which more may
happen are left out (`calm`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from bellcrank.compile.state import Floats
from bellcrank.mechanism.coordinate import COORDINATE_KINDS, FORMULA_COORDINATE
from bellcrank.mechanism.rotation_arrays import conjugate, exponential, logarithm, product
from bellcrank.verification.evidence import Evidence, Frames
from bellcrank.verification.intervals import Calm, Roughness, changes
from bellcrank.verification.loads import acting
from bellcrank.verification.reintegration import borne_out
from bellcrank.verification.verdict import CheckResult, Worst, not_known

_CLEAR: Final = 1e-2  # m, rad, or of the largest speed: where frames determine less, they are not judged
_POSES: Final = (
    "pose beside that by the velocities since the frame before, relative to the motion's extent, or rad"
)
_SPEEDS: Final = "velocity beside that by the forces since the frame before, relative to the largest"
_AROUND: Final = 4  # frames on either side, in which what rings shows how strongly
_BACK: Final = 2.0  # times its depth: by how much a body in another is moved
_TURN: Final = 4.0  # rad: a recorded angle that goes by more than its rates has lost or gained a turn
_APPEALS: Final = 16  # intervals that are integrated anew
_FEW: Final = 0.25  # of the intervals
_SET_IN: Final = 100.0  # times the limit
_CHECKS: Final = {"poses": _POSES, "velocities": _SPEEDS}


@dataclass(frozen=True, eq=False)
class Motion:
    """The motion of all bodies at all frames (T, nb, 3), world axes: of the com, and the angular one.

    by_forces: whether accelerations are those of forces, or recorded; else they are differences of speeds.
    """

    position: Floats
    velocity: Floats
    acceleration: Floats
    spin: Floats
    spin_rate: Floats
    rotation: Floats
    by_forces: bool

    @staticmethod
    def of(evidence: Evidence) -> Motion:
        """By the recorded poses, velocities, and accelerations or forces."""
        parts = [(p.at.com, p.at.com_velocity, *accelerations(p)) for p in evidence.parts()]
        position, velocity, linear, angular = (np.concatenate(values) for values in zip(*parts, strict=True))
        spin = evidence.sections["angular_velocity"]
        known = evidence.has_accelerations or evidence.has_reactions
        if not known:
            linear, angular = (np.gradient(values, evidence.time, axis=0) for values in (velocity, spin))
        return Motion(position, velocity, linear, spin, angular, evidence.sections["rotation"], known)


def accelerations(part: Frames) -> tuple[Floats, Floats]:
    """Of coms and angular ones (n, nb, 3): as recorded, or by the equations of Newton and Euler."""
    if part.evidence.has_accelerations:
        return part.accelerations()
    model, at, loads = part.model, part.at, acting(part)
    spin = at.spin[:, :-1]
    gyroscopic = np.cross(spin, np.einsum("nbij,nbj->nbi", at.inertia, spin))
    moments = np.einsum("nbji,nbj->nbi", at.turn[:, :-1], loads.moment[:, :-1] - gyroscopic)
    local = np.einsum("bij,nbj->nbi", np.linalg.pinv(model.inertia, hermitian=True), moments)
    return loads.force[:, :-1] / model.mass[:, None], np.einsum("nbij,nbj->nbi", at.turn[:, :-1], local)


def judge_motion(evidence: Evidence, motion: Motion | None, calm: Calm, limit: float) -> list[CheckResult]:
    """Every pose and velocity of every body against those of the frame before. motion: None for too much."""
    if motion is None:
        reason = "too many frames and bodies to integrate here"
        return [CheckResult(name, text, None, limit, reason) for name, text in _CHECKS.items()]
    method = Roughness.of(evidence)
    steps = np.diff(evidence.time)[:, None]
    spin = np.linalg.norm(motion.spin, axis=2)[1:]
    way = _hermite(motion.velocity, motion.acceleration, steps)
    moved = np.linalg.norm(np.diff(motion.position, axis=0) - way, axis=2)
    extent = 1.0 + float(np.max(np.ptp(motion.position, axis=0)))
    accused: list[tuple[Worst, Floats]] = []
    poses, speeds, judged = Worst(), Worst(), np.zeros((2, len(evidence.model.bodies)), dtype=bool)
    for speed, rate, (astray, curved), size, arms in (
        (motion.velocity, motion.acceleration, (moved, 0.0), extent, 1.0),
        (motion.spin, motion.spin_rate, _turns(motion, steps), 1.0, _gyration(evidence)),
    ):
        bend = _bends(rate, evidence.time)
        largest = float(np.max(np.linalg.norm(speed, axis=2)))
        unrest = np.where(calm.touched, _unrest(rate), 0.0)
        open_still = method.of_speeds(bend, rate, spin, steps, largest) + 2.0 * steps * unrest
        gained = 0.5 * steps[..., None] * (rate[1:] + rate[:-1])
        found = np.linalg.norm(np.diff(speed, axis=0) - gained, axis=2)
        clear = calm.bodies & (open_still < _CLEAR * largest) & motion.by_forces
        judged[1] |= np.any(clear, axis=0)
        beyond = _beyond(found, open_still, clear) / (largest + 1e-12)
        accused.append((speeds, _lasting(beyond, calm.hidden, limit)))
        back = _BACK * calm.depth / arms
        open_still = method.of_poses(bend, speed, rate, spin, steps, size) + 2.0 * steps**2 * unrest + back
        if not motion.by_forces:  # accelerations are differences
            open_still = open_still + 0.25 * steps**2 * changes(rate)
            open_still = open_still + 0.5 * (steps * changes(speed) if method.rough else 0.0)
        open_still = open_still + curved
        clear = calm.bodies & (open_still < _CLEAR)
        judged[0] |= np.any(clear, axis=0)
        accused.append((poses, _beyond(astray, open_still, clear) / size))
    borne = _borne_out(evidence, [beyond for _, beyond in accused], limit, limit + method.noise)
    for worst, beyond in accused:
        _meet(worst, evidence, np.where(borne, 0.0, beyond))
    return [
        _result(worst, name, limit, known)
        for worst, name, known in zip((poses, speeds), _CHECKS, judged, strict=True)
    ]


def _result(worst: Worst, name: str, limit: float, judged: np.ndarray) -> CheckResult:
    if not judged.any():
        reason = (
            "the frames are too far apart to judge, forces were not recorded, or contacts change between them"
        )
        return CheckResult(name, _CHECKS[name], None, limit, reason)
    return worst.result(name, _CHECKS[name] + not_known(judged), limit)


def _meet(worst: Worst, evidence: Evidence, beyond: Floats) -> None:
    """Take account of deviations (T - 1, nb) in intervals: of the frame that two share, or the later one."""
    k, body = np.unravel_index(int(np.argmax(beyond)), beyond.shape)
    shared = k > 0 and beyond[k - 1, body] > max(0.5 * beyond[k, body], *beyond[k + 1 : k + 2, body], 0.0)
    worst.meet(beyond[k, body], evidence.body_text(int(body)), float(evidence.time[k if shared else k + 1]))


def _beyond(found: Floats, open_still: Floats, clear: np.ndarray) -> Floats:
    return np.asarray(np.where(clear, np.maximum(found - open_still, 0.0), 0.0))


def _lasting(beyond: Floats, hidden: np.ndarray, limit: float) -> Floats:
    """Deviations (T - 1, nb) without small ones in few intervals, where frames do not show all that acts."""
    few = np.mean(beyond > limit, axis=0) < _FEW
    return np.asarray(np.where(few & hidden & (beyond <= _SET_IN * limit), 0.0, beyond))


def _borne_out(evidence: Evidence, beyond: list[Floats], limit: float, allowed: float) -> np.ndarray:
    """Intervals (T - 1, 1) whose deviations the motion of the model itself explains."""
    intervals = np.flatnonzero(np.max([np.max(one, axis=1) for one in beyond], axis=0) > limit)
    borne = np.zeros((len(evidence.time) - 1, 1), dtype=bool)
    if len(intervals) <= _APPEALS:
        borne[[k for k in intervals.tolist() if borne_out(evidence, [k], allowed)]] = True
    return borne


def _hermite(rate: Floats, second: Floats, steps: Floats) -> Floats:
    """Integrals (T - 1, nb, 3) of rates with the derivatives at both ends."""
    h = steps[..., None]
    return np.asarray(0.5 * h * (rate[1:] + rate[:-1]) + h**2 / 12.0 * (second[:-1] - second[1:]))


def _turns(motion: Motion, steps: Floats) -> tuple[Floats, Floats]:
    """By how much bodies turn otherwise (T - 1, nb) than by their angular velocities; how wrong that may be.

    Magnus's series to fourth order: W. Magnus, Comm. Pure Appl. Math. 7 (1954).
    """
    q = motion.rotation
    across = steps[..., None] ** 2 / 12.0 * np.cross(motion.spin[1:], motion.spin[:-1])
    by_spin = _hermite(motion.spin, motion.spin_rate, steps) + across
    apart = logarithm(product(exponential(-by_spin), product(q[1:], conjugate(q[:-1]))))
    angle = steps * np.linalg.norm(motion.spin, axis=2)[1:]
    change = steps * np.linalg.norm(np.diff(motion.spin, axis=0), axis=2)
    higher = angle**2 * np.linalg.norm(across, axis=2) + 0.05 * angle * change * (angle + change)
    return np.linalg.norm(apart, axis=2), higher


def _unrest(rate: Floats) -> Floats:
    """How far accelerations are from each other in the frames about each interval (T - 1, nb).

    What touches may ring between frames, faster than these show.
    """
    reach = 2 * _AROUND + 2
    padded = np.pad(rate, ((_AROUND, _AROUND), (0, 0), (0, 0)), mode="edge")
    return np.asarray(np.linalg.norm(np.ptp(sliding_window_view(padded, reach, axis=0), axis=3), axis=2))


def _gyration(evidence: Evidence) -> Floats:
    """The least radius of gyration of each body (nb,), m; infinite for particles, which do not turn."""
    least = np.linalg.eigvalsh(evidence.model.inertia)[:, 0]
    return np.asarray(np.sqrt(np.where(least > 0.0, least, np.inf) / evidence.model.mass))


def _bends(values: Floats, time: Floats) -> Floats:
    """How much values bend in each interval (T - 1, nb), by their second differences nearby."""
    bent, steps = np.zeros(values.shape[:2]), np.diff(time)
    if len(values) > 2:
        share = (steps[:-1] / (steps[:-1] + steps[1:]))[:, None, None]
        line = values[:-2] + share * (values[2:] - values[:-2])
        bent[1:-1] = np.linalg.norm(values[1:-1] - line, axis=2) / (steps[:-1] * steps[1:])[:, None]
        bent[0], bent[-1] = bent[1], bent[-2]
    return np.asarray(steps[:, None] ** 2 * _largest_about(bent))


def _largest_about(values: Floats) -> Floats:
    """The largest of values (T, ...) at the two frames before and after each interval (T - 1, ...)."""
    padded = np.pad(values, ((1, 1), *((0, 0),) * (values.ndim - 1)), mode="edge")
    return np.asarray(np.max([padded[k : k + len(values) - 1] for k in range(4)], axis=0))


def judge_angles(evidence: Evidence) -> CheckResult:
    """Recorded coordinates keep their whole turns: they go as far as their rates take them."""
    worst, layout = Worst(), evidence.run.layout
    steps = np.diff(evidence.time)
    kinds = evidence.model.arrays["coordinate_kind"]
    listed = zip(evidence.recorded_coordinates, layout.every_coordinate, strict=True)
    # Where a joint holds nothing, its axes may pass poses at which an angle between them has no direction.
    loose = {c for joint in evidence.model.joints if not joint.blocks for c in joint.coordinates}
    for c, (value, rate, place) in listed:
        if c in loose or kinds[c] == FORMULA_COORDINATE or not COORDINATE_KINDS[kinds[c]].angular:
            continue
        phi, speed = evidence.sections[value][:, place], evidence.sections[rate][:, place]
        slow = np.maximum(np.abs(speed[1:]), np.abs(speed[:-1])) * steps < 1.0
        gone = np.abs(np.diff(phi) - 0.5 * steps * (speed[1:] + speed[:-1])) * slow
        frame = int(np.argmax(gone))
        worst.meet(gone[frame], layout.element(value, place), float(evidence.time[frame + 1]))
    meaning = "change of an angle between frames beside that by its rate, rad"
    return worst.result("coordinates: turns", meaning, _TURN)
