"""Judges of contacts: the recorded points against the laws of contact and the motion of the bodies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from bellcrank.analysis.calm import calm_of
from bellcrank.analysis.contact_points import PointsAt, is_rigid, points_at
from bellcrank.analysis.evidence import Evidence, Frames
from bellcrank.analysis.touching import points_changed
from bellcrank.analysis.verdict import CheckResult, Worst
from bellcrank.assembly.state import Floats
from bellcrank.trajectory.contact_log import COLUMNS, starts_of

_ABOUT: Final = 4  # intervals in which no more slices of a tyre may come and go: frames resolve these
_EXACT: Final = 1e-9
_SLIPPING: Final = 1e-6  # m/s: slower points may as well stick
_AT_LIMIT: Final = 1e-6  # of a limit: what is as near may be there, or not
_OF_STEPS: Final = 1e-2  # the same of steps by impulses, which are found to a residual of all points together
_ROUNDS: Final = 1e-13  # the same, where it is there but for rounding
_LOADED: Final = 1e-9  # of the largest force: points that exert less are not judged
_STEEPEST: Final = 4.0  # slope of the ground against a tread
_SOLVED: Final = 1e-4  # of impulses, which are found to a residual of a step
_OF_MOMENTS: Final = 0.1  # of the same for resistances, whose residual is one of angular speeds


def _along(vectors: Floats, normals: Floats) -> Floats:
    """The parts of vectors (n, 3) along normals."""
    return np.asarray(np.sum(vectors * normals, axis=1)[:, None] * normals)


def steady(evidence: Evidence) -> np.ndarray:
    """Whether contacts stay as they are between frames (T - 1,): the same points touch, and slip or stick.

    Slices of tyres may come and go, if frames are close enough to show how.

    An impact may begin and end between two frames. Methods that locate events record it; others do not, and
    then only intervals with touching points at both ends count. Rigid contacts act by impulses, which no
    quadrature of forces can capture.
    """
    count = len(evidence.time) - 1
    whole = calm_of(evidence).smooth
    if not evidence.model.contacts:
        return np.asarray(whole)
    if is_rigid(evidence):
        return np.zeros(count, dtype=bool)
    rows = evidence.run.store.contacts.reshape(-1, COLUMNS)
    lasting, slices = points_changed(evidence)
    nearby = np.convolve(slices, np.ones(_ABOUT), mode="same") if count >= _ABOUT else slices * _ABOUT
    same = (lasting == 0) & (nearby <= _ABOUT)
    names = tuple(f"{contact.name} " for contact in evidence.model.contacts)
    times = [event.time for event in evidence.run.events if event.name.startswith(names)]
    if not times and len(rows):
        same &= np.diff(starts_of(evidence.run.store))[:-1] > 0
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
        _rigid_loads(points, normal, turning, frames) if points.rigid else _elastic_loads(points, normal)
    )
    relative = relative_speeds(part, points)
    recorded = points.slip - points.approach[:, None] * points.normal
    if points.of_tyre:  # its depth grows by what moves along the tread, too
        relative, recorded = (v - _along(v, points.normal) for v in (relative, points.slip))
    fastest = points.largest(np.max(np.abs(relative), axis=1), frames) + 1e-9
    fastest += np.max(np.abs(at.velocity), axis=(1, 2))
    yield np.max(np.abs(relative - recorded), axis=1) / fastest[points.frame]
    yield _flags(points, normal)


def _flags(points: PointsAt, normal: Floats) -> Floats:
    """1 where a point (m,) that slips is said to stick, or the other way round; else 0.

    What sticks has not reached the limit of friction, nor its spring that of its length. What slips has: with
    compliance one of them, by the lesser coefficient.
    """
    law = points.law
    if points.rigid:  # steps by impulses are found to a residual of all points together
        return np.zeros(len(normal))
    held = np.linalg.norm(points.force - normal[:, None] * points.normal, axis=1)
    loaded = _OF_STEPS if points.rigid else _LOADED
    known = (normal > loaded * np.max(np.abs(normal), initial=0.0)) & (law.static_friction > 0.0)
    most, least = law.static_friction * normal, law.kinetic_friction * normal
    near = _OF_STEPS if points.rigid else _AT_LIMIT
    at_most, below = held > (1.0 + near) * most, held < (1.0 - near) * least
    stretched = np.linalg.norm(points.shear, axis=1)
    longest = points.depth / (law.shear_ratio * law.exponent)
    if points.of_tyre:  # beside friction, the slope of the ground exerts a force along the tread
        beyond = stretched > (1.0 + _AT_LIMIT) * law.static_friction * longest
        return np.asarray((known & ~points.slips & beyond).astype(float))
    if not points.rigid:
        at_most |= stretched > (1.0 + _AT_LIMIT) * law.static_friction * longest
        below &= stretched < (1.0 - _AT_LIMIT) * law.kinetic_friction * longest
        if law.static_friction == law.kinetic_friction:  # then what slips is there exactly
            reached = stretched >= (1.0 - _ROUNDS) * law.static_friction * longest
            at_most |= reached | (held >= (1.0 - _ROUNDS) * most)
    elif law.by_impulse:
        below &= points.approach >= 0.0
    return np.asarray((known & np.where(points.slips, below, at_most)).astype(float))


def _elastic_loads(points: PointsAt, normal: Floats) -> tuple[Floats, Floats]:
    law = points.law
    elastic = law.elastic(points.depth)
    wanted = np.maximum(0.0, elastic * (1.0 + law.dissipation * points.approach))
    scale = np.maximum(elastic, wanted) + 1e-300
    friction = points.force - normal[:, None] * points.normal
    if points.of_tyre:  # beside friction, what the slope of the ground exerts along the tread
        beyond = np.linalg.norm(friction, axis=1) - (law.static_friction + _STEEPEST) * normal
        return np.abs(normal - wanted) / scale, np.maximum(beyond, 0.0) / scale
    # A point at its limit may not have begun to slip: either coefficient is right there.
    apart = [
        np.linalg.norm(friction - law.friction(points, mu), axis=1)
        for mu in (law.static_friction, law.kinetic_friction)
    ]
    astray = np.where(points.slips, np.minimum(*apart), apart[0])
    return np.abs(normal - wanted) / scale, astray / scale


def _rigid_loads(points: PointsAt, normal: Floats, turning: Floats, frames: int) -> tuple[Floats, Floats]:
    """What pulls, and what resists slip or turning (n, 3) as no law does, by the largest normal force."""
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
    return np.maximum(-normal, 0.0) / scale, np.max(found, axis=0) / scale


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
