"""Checks of a record as such: numbers, coordinates, stops, and poses against neighbouring frames."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from bellcrank.analysis.contact_judge import steady
from bellcrank.analysis.evidence import Evidence
from bellcrank.analysis.impulse_judge import AROUND, not_known, unclear
from bellcrank.analysis.verdict import CheckResult, Worst
from bellcrank.assembly.state import Floats
from bellcrank.mechanism.coordinate import COORDINATE_KINDS, FORMULA_COORDINATE, turn_of
from bellcrank.trajectory.interpolate import interpolated
from bellcrank.trajectory.rotations import conjugate, product

_OPEN = 1e-4  # m or rad: a stop with a wider gap bears nothing
_CLEAR = 1e-2  # m or rad: where neighbours determine a pose no better than that, it is not judged
_POSES = "pose beside that by the poses and velocities of the frames around it, m or rad"


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
    return [
        worst.result("numbers", "recorded values that are not finite", 0.0),
        longest.result("rotations", "length of a quaternion beside one", 1e-9),
    ]


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

    for frame in evidence.frames:
        at, time = evidence.at(frame), float(evidence.time[frame])
        own = [at.coordinate(index) for index, *_ in listed]
        told = [
            [evidence.sections[section][frame, place] for section in sections]
            for _, *sections, place in listed
        ]
        apart = np.array([c.value - value for c, (value, _) in zip(own, told, strict=True)])
        apart = np.where(angular, apart - turns * np.round(apart / turns), apart)
        values.meet(np.abs(apart), name, time)
        speed = 1.0 + max(float(np.abs(v).max(initial=0.0)) for v in (at.velocity, at.spin))
        rates.meet([abs(c.rate - rate) / speed for c, (_, rate) in zip(own, told, strict=True)], name, time)
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


def judge_poses(evidence: Evidence, limit: float) -> list[CheckResult]:
    """Positions and rotations of all frames against those predicted from the frames around them.

    Each frame is predicted from its neighbours, by cubics through poses and velocities, and from the frames
    next to these; the difference of the two is how well they predict, see `unclear`. It bounds the error of
    the first also where speeds or accelerations jump once in between. Bodies that touch are judged where
    contacts stay as they are.
    """
    count = len(evidence.time)
    if count < 5 or not np.all(np.diff(evidence.time) > 0.0):
        return [CheckResult("poses", _POSES, None, limit, "it takes 5 frames or more at increasing times")]
    predicted = [_predicted(evidence, reach) for reach in (1, 2)]
    frames, jumps = slice(2, count - 2), _jumps(evidence)
    worst, judged = Worst(), np.zeros(len(evidence.model.bodies), dtype=bool)
    extent = 1.0 + float(np.max(np.ptp(evidence.sections["position"], axis=0)))
    for section, scale, apart in (("position", extent, _distance), ("rotation", 1.0, _angle)):
        own, near, far = (table[section][frames] for table in (evidence.sections, *predicted))
        places = np.clip(np.arange(count - 4)[:, None] + np.array(AROUND), 0, count - 5)
        open_still = np.where(jumps, np.inf, unclear(apart(near, far)[places]))
        judged |= np.any(open_still < _CLEAR, axis=0)
        beyond = np.where(open_still < _CLEAR, np.maximum(apart(own, near) - open_still, 0.0), 0.0) / scale
        frame, body = np.unravel_index(int(np.argmax(beyond)), beyond.shape)
        name = f"body {evidence.model.bodies[int(body)]!r}"
        worst.meet(beyond[frame, body], name, float(evidence.time[2 + frame]))
    if not judged.any():
        return [CheckResult("poses", _POSES, None, limit, "the frames are too far apart to judge")]
    return [worst.result("poses", _POSES + not_known(judged), limit)]


def _jumps(evidence: Evidence) -> np.ndarray:
    """Whether contacts may make speeds of a body jump within two frames of each inner frame (T - 4, B)."""
    touching = np.zeros(len(evidence.model.bodies), dtype=bool)
    for contact in evidence.model.contacts:
        touching[[body for body in contact.bodies if body < len(touching)]] = True
    return np.asarray(~np.all(sliding_window_view(steady(evidence), 4), axis=1)[:, None] & touching)


def _predicted(evidence: Evidence, reach: int) -> dict[str, Floats]:
    """Poses of all frames by those `reach` before and after; the first and last ones as they are."""
    found = {name: np.array(evidence.sections[name]) for name in ("position", "rotation")}
    for first in range(2 * reach):
        part = evidence.run[first :: 2 * reach]
        frames = np.arange(first + reach, first + 2 * reach * (len(part) - 1), 2 * reach)
        if len(frames):
            values = interpolated(part.store, ("position", "rotation"), evidence.time[frames])
            for name, table in found.items():
                table[frames] = values[name]
    return found


def _distance(one: Floats, two: Floats) -> Floats:
    return np.asarray(np.linalg.norm(one - two, axis=-1))


def _angle(one: Floats, two: Floats) -> Floats:
    return np.asarray(2.0 * np.linalg.norm(product(conjugate(one), two)[..., 1:], axis=-1))
