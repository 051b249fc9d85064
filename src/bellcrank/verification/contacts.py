"""Contacts of a run: the recorded points, what each body touches, and judges of their laws and motion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from bellcrank import _core
from bellcrank.compile.model import Model
from bellcrank.compile.state import Floats, Points
from bellcrank.run.events import changes_of
from bellcrank.trajectory.contacts import starts_of
from bellcrank.verification.evidence import Evidence, Frames
from bellcrank.verification.verdict import CheckResult, Worst

_OF_RIM: Final = 2**30  # features of a tyre from there on are of its rim
_CLOSED: Final = 1e-6  # m: wider gaps are open
_SIMILAR: Final = 0.3  # part by which pushes of rigid contacts may differ while nothing is hit
_REACH: Final = 1.5  # times the way that bodies go between frames: as near as that they may have touched
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


@dataclass(frozen=True, eq=False)
class PointsAt:
    """The points (m) of a contact at n frames: bodies by their numbers, the rest as `ContactPoints` has it.

    stiffness, shear_ratio: of the law, of a tyre those (m,) of its points, of which some are of its rim.
    frame: (m,), which of the frames each point is of.
    """

    law: _core.ContactLaw
    stiffness: Any
    shear_ratio: Any
    rigid: bool
    of_tyre: bool
    frame: np.ndarray
    first: np.ndarray
    second: np.ndarray
    shear: Floats
    position: Floats
    normal: Floats
    slips: np.ndarray
    depth: Floats
    force: Floats
    slip: Floats
    approach: Floats
    moment: Floats

    def elastic(self) -> Floats:
        """Normal force without damping (m,), N."""
        return np.asarray(self.stiffness * self.depth**self.law.exponent)

    def shear_stiffness(self) -> Floats:
        """Tangential stiffness (m,), N/m, as far as the normal force is not negative."""
        n = self.law.exponent
        damped = np.maximum(0.0, 1.0 + self.law.dissipation * self.approach)
        return np.asarray(self.shear_ratio * n * self.stiffness * self.depth ** (n - 1.0) * damped)

    def friction(self, coefficient: float) -> Floats:
        """Friction (m, 3) by a coefficient, N: the spring within its limit, all within the cone."""
        damped = np.maximum(0.0, 1.0 + self.law.dissipation * self.approach)
        spring = within(coefficient * self.depth / (self.shear_ratio * self.law.exponent), self.shear)
        across = self.slip - np.sum(self.slip * self.normal, axis=1)[:, None] * self.normal
        elastic = -self.shear_stiffness()[:, None] * (spring + self.law.shear_time * across)
        return within(coefficient * self.elastic() * damped, elastic)

    def stored(self, frames: int) -> Floats:
        """Elastic energy (n,) at each of the frames, J."""
        if self.rigid:
            return np.zeros(frames)
        above = self.law.exponent + 1.0
        normal = self.stiffness * self.depth**above / above
        energies = normal + 0.5 * self.shear_stiffness() * np.sum(self.shear**2, axis=1)
        return np.asarray(np.bincount(self.frame, energies, minlength=frames), dtype=float)

    def largest(self, values: Floats, frames: int) -> Floats:
        """The largest of values (m,) in each of the frames (n,), 0 where there is none."""
        found = np.zeros(frames)
        np.maximum.at(found, self.frame, values)
        return found


def within(limits: Floats, vectors: Floats) -> Floats:
    """The nearest vectors (n, 3) of at most these lengths."""
    sizes = np.linalg.norm(vectors, axis=1)
    return np.asarray(np.where(sizes > limits, limits / np.maximum(sizes, 1e-300), 1.0)[:, None] * vectors)


def points_at(part: Frames, number: int) -> PointsAt:
    """The points of a contact, by its number, at frames."""
    store, model = part.evidence.run.store, part.model
    starts = starts_of(store)
    counts = starts[part.numbers + 1] - starts[part.numbers]
    frame = np.repeat(np.arange(len(part)), counts)
    within_frame = np.arange(len(frame)) - np.repeat(np.cumsum(counts) - counts, counts)
    rows = store.contacts[np.repeat(starts[part.numbers], counts) + within_frame]
    mine = rows["contact"] == number
    rows, frame = rows[mine], frame[mine]
    core = model.arrays["contacts"]
    bodies = np.array(core.bodies, dtype=int)
    law, of_tyre = core.laws[number], model.contacts[number].of_tyre
    stiffness, shear_ratio = law.stiffness, law.shear_ratio
    if of_tyre:  # what is sheared is as stiff at the rim
        of_rim = np.max(rows["features"], axis=1) >= _OF_RIM
        stiffness = np.where(of_rim, law.rim_stiffness, stiffness)
        ratio = shear_ratio * law.stiffness / np.maximum(stiffness, 1e-300)
        shear_ratio = np.where(of_rim, ratio, shear_ratio)
    same = ("shear", "position", "normal", "force", "slip", "approach", "moment")
    return PointsAt(
        law=law,
        stiffness=stiffness,
        shear_ratio=shear_ratio,
        rigid=part.evidence.is_rigid,
        of_tyre=of_tyre,
        frame=frame,
        first=bodies[rows["shapes"][:, 0].astype(int)],
        second=bodies[rows["shapes"][:, 1].astype(int)],
        slips=rows["slips"] != 0.0,
        depth=-rows["gap"],
        **{name: rows[name] for name in same},
    )


class Touching:
    """What each body touches in each frame (T, nb), by the recorded points.

    counts: the number of points. marks: equal where the same points touch and slip or stick; slices of tyres,
        which come and go, are one point. slices: equal where the same slices of tyres touch. depths: m, how
        deep it is in what it touches; rigid bodies by what they may go in a step, too.
    """

    def __init__(self, evidence: Evidence) -> None:
        model, rows = evidence.model, evidence.run.store.contacts
        shape = len(evidence.time), len(model.bodies) + 1
        counts, depths = np.zeros(shape, dtype=int), np.zeros(shape)
        marks, slices = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        if len(rows):
            frame, of_tyre = _frames_of(evidence), _of_tyre(evidence)
            unique, number = np.unique(_keys(rows, rows["slips"]), axis=0, return_inverse=True)
            mark = np.random.default_rng(1).integers(1, 2**40, len(unique))[number.ravel()]
            bodies = np.array(model.arrays["contacts"].bodies, dtype=int)
            step = float(evidence.run.statistics.get("step", 0.0)) if evidence.is_rigid else 0.0
            deep = np.maximum(-rows["gap"], 0.0) + step * np.abs(rows["approach"])
            for shapes in rows["shapes"].T:
                where = frame, bodies[shapes.astype(int)]
                np.add.at(counts, where, 1)
                np.add.at(marks, where, np.where(of_tyre, 0, mark))
                np.add.at(slices, where, np.where(of_tyre, mark, 0))
                np.maximum.at(depths, where, deep)
        self.counts, self.marks = counts[:, :-1], marks[:, :-1]
        self.slices, self.depths = slices[:, :-1], depths[:, :-1]


def _frames_of(evidence: Evidence) -> np.ndarray:
    """The frame of each recorded point."""
    return np.repeat(np.arange(len(evidence.time)), np.diff(starts_of(evidence.run.store)))


def _of_tyre(evidence: Evidence) -> np.ndarray:
    """Whether each recorded point is of a tyre."""
    of_tyre = np.array([contact.of_tyre for contact in evidence.model.contacts])
    return np.asarray(of_tyre[evidence.run.store.contacts["contact"].astype(int)])


def _keys(rows: Points, slips: np.ndarray) -> np.ndarray:
    """Columns by which points (n,) are distinguished, and whether they slip."""
    return np.column_stack([rows["contact"], rows["shapes"], rows["features"], slips])


def pairs_met(evidence: Evidence) -> np.ndarray:
    """Whether shapes of a contact touch (T - 1, contacts) that did not touch in the frame before."""
    count = len(evidence.time)
    met = np.zeros((count, len(evidence.model.contacts)), dtype=bool)
    rows = evidence.run.store.contacts
    if len(rows):
        frame = _frames_of(evidence)
        unique, pair = np.unique(
            np.column_stack([rows["contact"], rows["shapes"]]), axis=0, return_inverse=True
        )
        place = np.unique(frame * len(unique) + pair.ravel())
        new = place[~np.isin(place - len(unique), place)]
        met[new // len(unique), unique[new % len(unique), 0].astype(int)] = True
    return met[1:]


def points_changed(evidence: Evidence) -> tuple[np.ndarray, np.ndarray]:
    """How many points came, went, stuck or slipped between frames (T - 1,); and how many slices of tyres."""
    count = len(evidence.time)
    rows = evidence.run.store.contacts
    if not len(rows):
        return np.zeros(count - 1, dtype=int), np.zeros(count - 1, dtype=int)
    frame, of_tyre = _frames_of(evidence), _of_tyre(evidence)
    keys = _keys(rows, np.where(of_tyre, 0.0, rows["slips"]))
    unique, number = np.unique(keys, axis=0, return_inverse=True)
    place = frame * len(unique) + number.ravel()
    came = (frame > 0) & ~np.isin(place - len(unique), place)
    gone = (frame < count - 1) & ~np.isin(place + len(unique), place)
    both = np.concatenate([frame[came] - 1, frame[gone]])
    tyres = np.concatenate([of_tyre[came], of_tyre[gone]])
    return np.bincount(both[~tyres], minlength=count - 1), np.bincount(both[tyres], minlength=count - 1)


def contacts_stay(evidence: Evidence, found: Touching) -> np.ndarray:
    """Whether the same points of a body touch at both ends of an interval (T - 1, nb), and nothing happened.

    Where events are not recorded, bodies are far enough from all that they do not touch to stay so.
    """
    model, events = evidence.model, evidence.run.events
    counts, marks = found.counts, found.marks
    stay = (marks[1:] == marks[:-1]) & ((counts[1:] > 0) == (counts[:-1] > 0))
    far = _far_apart(evidence)
    if evidence.is_rigid or not evidence.locates_events:
        return np.asarray(stay & far & (_loads_stay(evidence) if evidence.is_rigid else True))
    happened = np.zeros_like(stay)
    for contact in model.contacts:
        bodies = [body for body in contact.bodies if body < len(model.bodies)]
        for event in events:
            if event.name in changes_of(contact.name):
                happened[evidence.intervals_at(event.time), np.array(bodies)[:, None]] = True
    free = (counts[1:] == 0) & (counts[:-1] == 0)
    return np.asarray(stay & (~happened | free & far))


def _far_apart(evidence: Evidence) -> np.ndarray:
    """Whether each body (T - 1, nb) stays away from all that it does not touch, by gaps and by speeds."""
    model, sections = evidence.model, evidence.sections
    steps = np.diff(evidence.time)
    extents = extents_of(model)
    speeds = np.linalg.norm(sections["velocity"], axis=2)
    speeds = speeds + extents * np.linalg.norm(sections["angular_velocity"], axis=2)
    ways = _REACH * np.maximum(speeds[1:], speeds[:-1]) * steps[:, None]
    ways += 0.5 * float(np.linalg.norm(model.gravity)) * steps[:, None] ** 2
    both = ways + np.max(ways, axis=1, keepdims=True) * (len(model.bodies) > 1)
    reach = np.zeros(len(evidence.time))
    np.maximum.at(reach, np.arange(len(steps)), np.max(both, axis=1))
    np.maximum.at(reach, np.arange(1, len(steps) + 1), np.max(both, axis=1))
    count = len(evidence.time)
    gaps = model.arrays["contacts"].gaps(
        sections["position"].reshape(count, -1), sections["rotation"].reshape(count, -1), reach, _CLOSED
    )[:, :-1]
    return np.asarray(np.minimum(gaps[1:], gaps[:-1]) > both)


def extents_of(model: Model) -> Floats:
    """How far from the origin of its frame shapes of a body (nb,) reach that touch, at most about, m."""
    core, extents = model.arrays["contacts"], np.zeros(len(model.bodies))
    for body, size in zip(core.bodies, core.sizes, strict=True):
        if body < len(extents) and np.isfinite(size):
            extents[body] = max(extents[body], 2.0 * size)
    return extents


def _loads_stay(evidence: Evidence) -> np.ndarray:
    """Whether rigid contacts push on a body about as much at both ends of an interval (T - 1, nb)."""
    pushes = np.zeros((len(evidence.time), len(evidence.model.bodies) + 1))
    for part in evidence.parts():
        for number in range(len(evidence.model.contacts)):
            points = points_at(part, number)
            for bodies in (points.first, points.second):
                where = part.numbers[points.frame], bodies
                np.add.at(pushes, where, np.linalg.norm(points.force, axis=1))
    first, last = pushes[:-1, :-1], pushes[1:, :-1]
    return np.asarray(np.abs(last - first) <= _SIMILAR * np.maximum(first, last))


def _along(vectors: Floats, normals: Floats) -> Floats:
    """The parts of vectors (n, 3) along normals."""
    return np.asarray(np.sum(vectors * normals, axis=1)[:, None] * normals)


def judge_contacts(evidence: Evidence) -> list[CheckResult]:
    """Normal forces and friction against their laws, and slip as the bodies move."""
    if not evidence.run.contacts:
        return []
    rigid = evidence.is_rigid
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
