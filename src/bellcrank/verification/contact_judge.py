"""Judges of contacts: the recorded points against the laws of contact and the motion of the bodies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from bellcrank.compile.state import Floats
from bellcrank.run.happenings import changes_of
from bellcrank.verification.contact_points import PointsAt, is_rigid, points_at
from bellcrank.verification.evidence import Evidence, Frames
from bellcrank.verification.intervals import Calm
from bellcrank.verification.touching import locates_events, points_changed
from bellcrank.verification.verdict import CheckResult, Worst

_ABOUT: Final = 4  # intervals in which no more slices of a tyre may come and go: frames resolve these
_EXACT: Final = 1e-9
_SLIPPING: Final = 1e-6  # m/s: slower points may as well stick
_AT_LIMIT: Final = 1e-6  # of a limit: what is as near may be there, or not
_STILL: Final = 1e-9  # m/s: what is slower sticks for sure
_FAST: Final = 1e-3  # of the largest speed: what is faster slips for sure
_WELL: Final = 1e-2  # of the limit of friction: what is farther below is within it for sure
_ROUNDS: Final = 1e-13  # the same, where it is there but for rounding
_LOADED: Final = 1e-9  # of the largest force: points that exert less are not judged
_STEEPEST: Final = 4.0  # slope of the ground against a tread
_SOLVED: Final = 1e-5  # of impulses, which are found to a residual of a step
_TOLERATED: Final = 1e-6  # residual, the largest that is taken from a run
_HALF: Final = 2.0  # the force at the end of a step stands for half of it
_OF_MOMENTS: Final = 0.1  # of the same for resistances, whose residual is one of angular speeds


def _along(vectors: Floats, normals: Floats) -> Floats:
    """The parts of vectors (n, 3) along normals."""
    return np.asarray(np.sum(vectors * normals, axis=1)[:, None] * normals)


def steady(evidence: Evidence) -> np.ndarray:
    """Whether contacts stay as they are between frames (T - 1,): the same points touch, and slip or stick.

    Slices of tyres may come and go, if frames are close enough to show how.

    An impact may begin and end between two frames. Methods that locate events record it; others do not, and
    then bodies must be too far from what they do not touch for one. Rigid contacts act by impulses, which no
    quadrature of forces can capture.
    """
    count = len(evidence.time) - 1
    whole = evidence.once(Calm).smooth
    if not evidence.model.contacts:
        return np.asarray(whole)
    if is_rigid(evidence):
        return np.zeros(count, dtype=bool)
    lasting, slices = points_changed(evidence)
    nearby = np.convolve(slices, np.ones(_ABOUT), mode="same") if count >= _ABOUT else slices * _ABOUT
    same = (lasting == 0) & (nearby <= _ABOUT)
    names = {name for contact in evidence.model.contacts for name in changes_of(contact.name)}
    times = [event.time for event in evidence.run.events if event.name in names]
    if not locates_events(evidence):
        same &= np.all(evidence.once(Calm).bodies, axis=1)
    slack = 1e-9 * float(np.ptp(evidence.time))
    for time in times:
        first = int(np.searchsorted(evidence.time, time - slack, side="left")) - 1
        last = int(np.searchsorted(evidence.time, time + slack, side="right"))
        same[max(first, 0) : last] = False
    return np.asarray(same & whole)


def judge_contacts(evidence: Evidence) -> list[CheckResult]:
    """Normal forces and friction against their laws, and slip as the bodies move."""
    if not evidence.run.contacts:
        return []
    rigid = is_rigid(evidence)
    checks = {
        "contact force": "normal force that pulls, relative"
        if rigid
        else "normal force against the law of contact, relative",
        "friction": "friction against the law of contact, relative to the normal force",
        "contact motion": "speeds at contact points against those of the bodies, relative",
        "sticking": "flags of points that stick, or slip, against their friction",
    }
    found = {name: Worst() for name in checks}
    for part in evidence.parts():
        for number, contact in enumerate(evidence.model.contacts):
            points = points_at(part, number)
            if not len(points.depth):
                continue
            where, times = f"force {contact.name!r}", part.time[points.frame]
            for name, values in zip(checks, _deviations(part, points), strict=True):
                found[name].meet_all(values, where, times)
    solved = _SOLVED if rigid else _EXACT
    limits = {"contact force": solved, "friction": solved, "contact motion": _EXACT, "sticking": 0.0}
    return [found[name].result(name, meaning, limits[name]) for name, meaning in checks.items()]


def relative_speeds(part: Frames, points: PointsAt) -> Floats:
    """The velocity (m, 3) of the first body at each point relative to the second."""
    at = part.at

    def speed(bodies: np.ndarray) -> Floats:
        where = points.frame, bodies
        return np.asarray(at.velocity[where] + np.cross(at.spin[where], points.position - at.position[where]))

    return speed(points.first) - speed(points.second)


def _deviations(part: Frames, points: PointsAt) -> Iterator[Floats]:
    """Of each point (m,): its normal force, its friction, its motion, and whether its flag is wrong."""
    at, frames = part.at, len(part)
    normal = np.einsum("ij,ij->i", points.force, points.normal)
    turning = at.spin[points.frame, points.first] - at.spin[points.frame, points.second]
    yield from (
        _rigid_loads(part, points, normal, turning) if points.rigid else _elastic_loads(points, normal)
    )
    relative = relative_speeds(part, points)
    recorded = points.slip - points.approach[:, None] * points.normal
    if points.of_tyre:  # its depth grows by what moves along the tread, too
        relative, recorded = (v - _along(v, points.normal) for v in (relative, points.slip))
    fastest = points.largest(np.max(np.abs(relative), axis=1), frames) + 1e-9
    fastest += np.max(np.abs(at.velocity), axis=(1, 2))
    yield np.max(np.abs(relative - recorded), axis=1) / fastest[points.frame]
    yield _rigid_flags(points, normal, frames) if points.rigid else _elastic_flags(points, normal)


def _elastic_flags(points: PointsAt, normal: Floats) -> Floats:
    """1 where a point (m,) that slips is said to stick, or the other way round; else 0.

    What sticks has not reached the limit of friction, nor its spring that of its length. What slips has
    reached one of them, by the lesser coefficient.
    """
    law = points.law
    known = (normal > _LOADED * np.max(np.abs(normal), initial=0.0)) & (law.static_friction > 0.0)
    stretched = np.linalg.norm(points.shear, axis=1)
    longest = points.depth / (points.shear_ratio * law.exponent)
    beyond = stretched > (1.0 + _AT_LIMIT) * law.static_friction * longest
    if points.of_tyre:  # beside friction, the slope of the ground exerts a force along the tread
        return np.asarray((known & ~points.slips & beyond).astype(float))
    held = np.linalg.norm(points.force - normal[:, None] * points.normal, axis=1)
    beyond |= held > (1.0 + _AT_LIMIT) * law.static_friction * normal
    if law.static_friction == law.kinetic_friction:  # then what slips is at its limit to the last digits
        beyond |= stretched >= (1.0 - _ROUNDS) * law.static_friction * longest
        beyond |= held >= (1.0 - _ROUNDS) * law.static_friction * normal
    least = (1.0 - _AT_LIMIT) * law.kinetic_friction
    below = (held < least * normal) & (stretched < least * longest)
    return np.asarray((known & np.where(points.slips, below, beyond)).astype(float))


def _rigid_flags(points: PointsAt, normal: Floats, frames: int) -> Floats:
    """The same of steps by impulses, by speeds that leave no doubt."""
    slip = np.linalg.norm(points.slip, axis=1)
    held = np.linalg.norm(points.force - normal[:, None] * points.normal, axis=1)
    fastest = points.largest(slip, frames)[points.frame]
    creeps = (slip < _STILL) & (held < (1.0 - _WELL) * points.law.kinetic_friction * normal)
    runs = slip > _FAST * (1.0 + fastest)
    known = (points.approach >= 0.0) | (not points.law.by_impulse)
    return np.asarray((known & np.where(points.slips, creeps, runs)).astype(float))


def _elastic_loads(points: PointsAt, normal: Floats) -> tuple[Floats, Floats]:
    law = points.law
    elastic = points.elastic()
    wanted = np.maximum(0.0, elastic * (1.0 + law.dissipation * points.approach))
    scale = np.maximum(elastic, wanted) + 1e-300
    friction = points.force - normal[:, None] * points.normal
    if points.of_tyre:  # beside friction, what the slope of the ground exerts along the tread
        beyond = np.linalg.norm(friction, axis=1) - (law.static_friction + _STEEPEST) * normal
        return np.abs(normal - wanted) / scale, np.maximum(beyond, 0.0) / scale
    # A point at its limit may not have begun to slip: either coefficient is right there.
    apart = [
        np.linalg.norm(friction - points.friction(mu), axis=1)
        for mu in (law.static_friction, law.kinetic_friction)
    ]
    astray = np.where(points.slips, np.minimum(*apart), apart[0])
    return np.abs(normal - wanted) / scale, astray / scale


def _unsolved(part: Frames, points: PointsAt) -> Floats:
    """What the residual of steps by impulses leaves of a force (m,), N: a part of the largest speed."""
    statistics, at = part.evidence.run.statistics, part.at
    residual = min(float(statistics.get("residual", 0.0)), _TOLERATED)
    speeds = np.max(np.linalg.norm(at.velocity, axis=2), axis=1)
    speeds = np.maximum(speeds, points.largest(np.linalg.norm(points.slip, axis=1), len(part)))
    mass = np.append(part.model.mass, 0.0)  # of the ground: the other one counts
    heavier = np.maximum(mass[points.first], mass[points.second])
    return np.asarray(
        _HALF * residual * speeds[points.frame] * heavier / float(statistics.get("step", np.inf))
    )


def _rigid_loads(part: Frames, points: PointsAt, normal: Floats, turning: Floats) -> tuple[Floats, Floats]:
    """What pulls, and what resists slip or turning (n, 3) as no law does, by the largest normal force."""
    frames, unsolved = len(part), _unsolved(part, points)
    scale = (points.largest(np.abs(normal), frames) + 1e-300)[points.frame]
    law, axes = points.law, points.normal
    friction = points.force - normal[:, None] * axes
    # Where an impact has two phases, their friction adds up, and slip turns between them.
    lasting = (points.approach >= 0.0) | (not law.by_impulse)

    def astray(load: Floats, speed: Floats, limits: tuple[float, float]) -> Floats:
        fastest = points.largest(np.linalg.norm(speed, axis=1), frames)[points.frame]
        known = np.where(lasting, _SLIPPING * (1.0 + fastest), np.inf)
        return _astray(load, speed, known, normal, *limits)

    found = [astray(friction, points.slip, (law.static_friction, law.kinetic_friction))]
    about, spin = _along(points.moment, axes), _along(turning, axes)
    for moment, rate, resistance in (
        (points.moment - about, turning - spin, law.rolling),
        (about, spin, law.spinning),
    ):
        if resistance > 0.0 or np.any(moment):
            beyond = astray(moment, rate, (resistance, resistance))
            found.append(_OF_MOMENTS * beyond / (resistance or 1.0))
    found = [np.maximum(-normal, 0.0), np.max(found, axis=0)]
    pulls, resists = (np.maximum(one - unsolved, 0.0) / scale for one in found)
    return pulls, resists


def _astray(
    load: Floats, speed: Floats, known: Floats, normal: Floats, static: float, kinetic: float
) -> Floats:
    """How far loads (n, 3) are beyond their limit, or against speeds (n, 3) not opposite and at a limit.

    known: (n,), speeds that are less, or less across the load, are not known.
    """
    size, fast = np.linalg.norm(load, axis=1), np.linalg.norm(speed, axis=1)
    beyond = size - static * normal
    # Where it slips it loses |T| |v|, and is at one of its limits.
    against = -np.sum(load * speed, axis=1) / np.maximum(size, 1e-300)
    apart = np.sqrt(np.maximum(fast**2 - np.maximum(against, 0.0) ** 2, 0.0))
    aside = np.where(apart > known, size * (1.0 - against / np.maximum(fast, 1e-300)), 0.0)
    below = np.minimum(np.abs(size - static * normal), np.abs(size - kinetic * normal))
    return np.asarray(
        np.maximum(np.maximum(beyond, 0.0), np.where(fast > known, np.maximum(aside, below), 0.0))
    )
