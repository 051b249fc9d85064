"""The intervals between frames: where nothing may jump in them, and what the method of a run leaves open.

Recorded quantities are integrated between frames where nothing that a run records may make speeds or forces
of a body jump. Elsewhere, as where bodies begin to touch, frames do not determine what happens between them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

import numpy as np

from bellcrank import _core
from bellcrank.compile.model import CustomRecord, Model
from bellcrank.compile.state import Floats
from bellcrank.expression.expression import t
from bellcrank.expression.reading import symbols_of
from bellcrank.run.events import STATE_SET, changes_of, friction_events
from bellcrank.verification.contacts import Touching, contacts_stay, points_changed
from bellcrank.verification.evidence import Evidence
from bellcrank.verification.loads import law_effort

_ROUNDS: Final = 50.0  # times its tolerance: the error of a step of an adaptive method
_UNKNOWN: Final = 1e-6  # tolerance of runs that do not say it
_ROUGH: Final = 3.0  # times what a step of first order leaves by the changes of forces and speeds in it
_OF_EULER: Final = 10.0  # the same where positions follow from speeds at the ends of steps
_WITHIN: Final = 0.999  # of a step: frames that are closer are within one, and not judged
_LONG: Final = 1.5  # times the mean step
_IMPULSES: Final = 1e-5  # of speeds: what steps by impulses leave
_TURN: Final = 2.0  # rad: bodies that turn by more between frames may turn by anything
_SUBSTEPS: Final = 16  # at which functions of time are looked at between frames
_RESOLVED: Final = 0.02  # of a function's range: its mean between frames differs by less from frames'
_BENT: Final = 0.5  # of the change of a force between frames: by what it may deviate from a line
_ABOUT: Final = 4  # intervals in which no more slices of a tyre may come and go: frames resolve these
_REACH: Final = 1.5  # times the way that bodies go between frames: as near as that they may have touched


def most(values: Floats) -> Floats:
    """The largest of all bodies (T - 1, 1): those that are joined move each other."""
    return np.asarray(np.max(values, axis=1, keepdims=True, initial=0.0))


def changes(values: Floats) -> Floats:
    """The largest change (T - 1, nb) of values (T, nb, 3) in an interval and in those beside it."""
    gone = np.linalg.norm(np.diff(values, axis=0), axis=2)
    padded = np.pad(gone, ((1, 1), (0, 0)), mode="edge")
    return np.asarray(np.max([padded[k : k + len(gone)] for k in range(3)], axis=0))


@dataclass(frozen=True)
class Roughness:
    """What a method leaves open between frames: its tolerance and steps.

    rough: s, the step of a method of first order. long: s, that of others, which choose it, where it is long:
        frames in it show a jump of forces spread over all of it. noise: error in parts of speeds. drift: that
        of poses, m or rad. euler: whether its positions follow from speeds at the ends of steps.
    """

    rough: float
    long: float
    noise: float
    drift: float
    euler: bool

    @staticmethod
    def of(evidence: Evidence) -> Roughness:
        """By the statistics of a run."""
        statistics = evidence.run.statistics
        method = evidence.method
        step = float(statistics.get("step", 0.0) or 0.0)
        if method is not None and not method.adaptive:
            rough = step if method.order == 1 else 0.0
            noise = _IMPULSES if method.by_impulses else 1e-9
            return Roughness(rough, 0.0, noise, 1e-8, method.order == 1 and not method.by_impulses)
        tolerance = float(statistics.get("tolerance", _UNKNOWN))
        count = float(statistics.get("steps", 0.0))
        long = _LONG * float(np.ptp(evidence.time)) / count if count else 0.0
        error = _ROUNDS * tolerance * (1.0 + count / len(evidence.time))
        return Roughness(0.0, long, error, error + 1e-10, False)

    @property
    def share(self) -> float:
        """Times changes of forces and speeds in a step: what a method of first order leaves."""
        return _OF_EULER if self.euler else _ROUGH

    def of_speeds(self, bend: Floats, rate: Floats, spin: Floats, steps: Floats, largest: float) -> Floats:
        """How far integrals of accelerations may be wrong (T - 1, nb)."""
        turned = steps * most(spin) * most(np.linalg.norm(rate, axis=2)[1:])
        rough = self.share * np.minimum(self.rough, steps) * (changes(rate) + turned)
        if self.euler:  # a step along the tangent of a turn is too long, and closing joints takes that back
            rough = rough + np.minimum(self.rough, steps) * steps * most(spin) ** 2 * largest
        smeared = np.maximum(steps, self.long) * bend
        within = np.where(self.euler & (steps < _WITHIN * self.rough), np.inf, 0.0)
        return np.asarray(1.2 * smeared + rough + within + self.noise * (1e-3 + largest))

    def of_poses(
        self, bend: Floats, speed: Floats, rate: Floats, spin: Floats, steps: Floats, size: float
    ) -> Floats:
        """The same of velocities."""
        largest, step = np.linalg.norm(speed, axis=2)[1:], np.minimum(self.rough, steps)
        turned = steps * most(spin) * most(largest)
        # After a hit, which may be of others, a step begins without a kick, and goes along its first speeds.
        second = (steps + step) * changes(rate) + (step * most(spin)) * turned + 0.2 * changes(speed)
        rough = self.share * step * (changes(speed) + turned if self.euler else second)
        return np.asarray(0.25 * steps**2 * bend + rough + self.drift * size + self.noise * steps * largest)


class Calm:
    """The intervals between frames in which a run is calm.

    bodies: (T - 1, nb), whether nothing acts on a body, or on what it is joined to, that jumps.
    groups: (nb,), numbers of the groups of bodies that rows join.
    touched: (T - 1, nb), whether a body, or one of its group, touches something at an end of an interval.
    hidden: (T - 1, nb), whether what touches may change between frames and back: friction in steps by
        impulses, and slices of tyres that come and go.
    smooth: (T - 1,), whether frames resolve forces by laws and functions of time, and nothing else was set.
    depth: (T - 1, nb), m, how deep rigid bodies are in each other there, which a step takes back.
    """

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        model = evidence.model
        self.groups = groups_of(model, rows_only=True)
        steps = np.diff(evidence.time)
        everywhere = _resolved(evidence) & ~broken_intervals(evidence) & ~_friction_changes(evidence)
        spins = np.linalg.norm(evidence.sections["angular_velocity"], axis=2)
        slow = np.maximum(spins[1:], spins[:-1]) * steps[:, None] < _TURN
        smooth = np.repeat(everywhere[:, None], len(model.bodies), axis=1)
        if np.all(steps > 0.0):
            smooth &= _laws_resolved(evidence)
        smooth[:, _written_by_time(evidence)] = False
        self.smooth = np.all(smooth, axis=1)
        alone = smooth & slow & _stops_at_rest(evidence)
        self.touched, self.depth = np.zeros(alone.shape, dtype=bool), np.zeros(alone.shape)
        self.hidden = self.touched
        if model.contacts:
            found, rigid = evidence.once(Touching), evidence.is_rigid
            alone &= contacts_stay(evidence, found)
            deepest = np.maximum(found.depths[1:], found.depths[:-1]) * rigid
            self.touched = self._joined((found.counts[1:] > 0) | (found.counts[:-1] > 0)) > 0.0
            pass_by = self._joined(found.slices[1:] != found.slices[:-1]) > 0.0
            self.hidden = self.touched if rigid else pass_by
            self.depth = self._joined(deepest)
        self.bodies = self._joined(~alone) == 0.0

    def _joined(self, values: np.ndarray) -> Floats:
        """Of each body the largest of its group's values (T - 1, nb)."""
        largest = np.zeros((int(self.groups.max(initial=-1)) + 1, len(values)))
        np.maximum.at(largest, self.groups, values.T.astype(float))
        return np.asarray(largest[self.groups].T)


def groups_of(model: Model, rows_only: bool = False) -> np.ndarray:
    """A number for each body (nb,), the same for those that rows, or also laws, connect."""
    bodies = model.coordinate_bodies
    joined = [np.ravel(bodies[[c for c, _ in model.terms(row)]]).tolist() for row in range(model.row_count)]
    joined += [] if rows_only else bodies[np.unique(model.arrays["law_coordinate"])].tolist()
    for record in model.custom:
        if record.category == "constraint" or (record.category == "force" and not rows_only):
            joined.append(bodies_at(model, record))
    return np.array(_core.components(model.ground + 1, joined)[0][:-1], dtype=int)


def bodies_at(model: Model, record: CustomRecord) -> list[int]:
    """The bodies at the ends of a constraint or force given by formulas."""
    found: list[int] = []
    for end in record.ends:
        found += (
            model.coordinate_bodies[end].tolist() if isinstance(end, int) else [model.body_index[end.body]]
        )
    return list(map(int, found))


def broken_intervals(evidence: Evidence) -> np.ndarray:
    """Intervals (T - 1,) in which the run was set to another state, or goes on from another run."""
    found = np.zeros(len(evidence.time) - 1, dtype=bool)
    joined = str(evidence.run.statistics.get("joined_at", ""))
    times = [float(text) for text in joined.split(",") if text]
    for time in (*times, *(event.time for event in evidence.run.events if event.name == STATE_SET)):
        found[evidence.intervals_at(time)] = True
    return found


def _friction_changes(evidence: Evidence) -> np.ndarray:
    """Intervals (T - 1,) in which friction begins to hold or to slip: its effort jumps."""
    found, names = np.zeros(len(evidence.time) - 1, dtype=bool), friction_events(evidence.model)
    for event in evidence.run.events if names else ():
        if event.name in names:
            found[evidence.intervals_at(event.time)] = True
    return found


def _resolved(evidence: Evidence) -> np.ndarray:
    """Whether frames resolve (T - 1,) the functions of time that act in a run, those of drives and loads."""
    model, time = evidence.model, evidence.time
    good = np.diff(time) > 0.0
    shares = (np.arange(_SUBSTEPS) + 0.5) / _SUBSTEPS
    within = (time[:-1, None] + np.diff(time)[:, None] * shares).ravel()
    for function, derivative in _functions(model):
        at = model.core_function(function)(time)[:, derivative]
        fine = model.core_function(function)(within)[:, derivative].reshape(-1, _SUBSTEPS)
        apart = np.abs(fine.mean(axis=1) - 0.5 * (at[1:] + at[:-1]))
        size = max(float(np.max(np.abs(fine), initial=0.0)), float(np.max(np.abs(at), initial=0.0)))
        good &= apart <= _RESOLVED * size + 1e-300
        ripples = np.max(np.abs(fine - 0.5 * (at[1:] + at[:-1])[:, None]), axis=1) - np.abs(np.diff(at))
        good &= ripples <= 0.2 * size
    return good


def _functions(model: Model) -> Iterator[tuple[int, int]]:
    """Functions of time, and which derivative of theirs acts on bodies."""
    arrays = model.arrays
    for function in {int(f) for f in np.ravel(arrays["wrench_function"]) if f >= 0}:
        yield function, 0
    for function in {int(f) for f in arrays["row_function"] if f >= 0}:
        yield function, 2


def _laws_resolved(evidence: Evidence) -> np.ndarray:
    """Whether the force laws on each body (T - 1, nb) act between frames as they do at them.

    A one-sided spring, for instance, may be met between two frames at which it is not.
    """
    model, time = evidence.model, evidence.time
    steps, shares = np.diff(time), (np.arange(_SUBSTEPS) + 0.5) / _SUBSTEPS
    good = np.ones((len(steps), len(model.bodies)), dtype=bool)
    within = time[:-1, None] + steps[:, None] * shares
    every = list(evidence.parts())
    for law, c in enumerate(model.arrays["law_coordinate"].tolist()):
        value = np.concatenate([part.value(c) for part in every])
        rate = np.concatenate([part.coordinate(c).rate for part in every])
        at = np.concatenate([law_effort(part, law) for part in every])
        params, function = evidence.law(law)
        kind = model.arrays["law_kind"][law]
        rates = (rate[:-1, None] + np.diff(rate)[:, None] * shares).ravel()
        line = at[:-1, None] + np.diff(at)[:, None] * shares
        beside, size = np.zeros(len(steps)), float(np.max(np.abs(at), initial=0.0))
        for path in _paths(value, rate, steps, shares):
            found = _core.law_efforts(kind, path.ravel(), rates, within.ravel(), params, function)
            beside = np.maximum(beside, np.max(np.abs(found.reshape(line.shape) - line), axis=1))
            size = max(size, float(np.max(np.abs(found), initial=0.0)))
        stays = beside <= _BENT * np.abs(np.diff(at)) + _RESOLVED * size + 1e-300
        bodies = [b for b in model.coordinate_bodies[c].tolist() if b < len(model.bodies)]
        good[:, bodies] &= stays[:, None]
    return good


def _paths(value: Floats, rate: Floats, steps: Floats, shares: Floats) -> Iterator[Floats]:
    """Values (T - 1, shares) that a coordinate may have between frames.

    By Hermite's cubic, and on along the speeds before and back along those after: so it goes where it is
    thrown back in between.
    """
    h, s = steps[:, None], shares
    gained, first, last = np.diff(value)[:, None], rate[:-1, None], rate[1:, None]
    yield value[:-1, None] + s * s * (3 - 2 * s) * gained + h * s * (1 - s) * ((1 - s) * first - s * last)
    yield value[:-1, None] + h * s * first
    yield value[1:, None] - h * (1 - s) * last


def _written_by_time(evidence: Evidence) -> list[int]:
    """The bodies on which forces given by formulas of the time act."""
    found: list[int] = []
    for record in evidence.formulas.forces:
        kind: Any = record.lowered.custom
        formulas = [getattr(kind, name, None) for name in ("potential", "efforts", "force", "moment")]
        parts = [one if isinstance(one, tuple | list) else [one] for one in formulas if one is not None]
        if t in symbols_of(*chain.from_iterable(parts)):
            found += bodies_at(evidence.model, record)
    return [body for body in found if body < len(evidence.model.bodies)]


def _stops_at_rest(evidence: Evidence) -> np.ndarray:
    """Whether the one-sided rows on each body (T - 1, nb) stay open or stay loaded."""
    model, steps = evidence.model, np.diff(evidence.time)
    calm = np.ones((len(steps), len(model.bodies)), dtype=bool)
    loads = {m.row: k for k, m in enumerate(model.multipliers)}
    located, owners = evidence.locates_events, set(model.block_owner)
    for event in evidence.run.events:
        if event.name in owners:
            calm[evidence.intervals_at(event.time)] = False
    for row in np.flatnonzero(model.one_sided).tolist():
        terms = model.terms(row)
        gap = np.full(len(evidence.time), -float(model.arrays["row_constant"][row]))
        rate = np.zeros(len(evidence.time))
        for part in evidence.parts():
            for c, factor in terms:
                gap[part.numbers] += factor * part.value(c)
                rate[part.numbers] += factor * part.coordinate(c).rate
        way = steps * (np.abs(rate[1:]) + np.abs(rate[:-1])) + 1e-9
        stays = np.minimum(gap[1:], gap[:-1]) > _REACH * way
        if located:
            stays |= (gap[1:] > 0.0) & (gap[:-1] > 0.0)
        if row in loads:
            loaded = np.abs(evidence.sections["multipliers"][:, loads[row]]) > 0.0
            stays |= loaded[1:] & loaded[:-1] & (way < 1e-6 * (1.0 + np.abs(gap[1:])))
        bodies = np.ravel(model.coordinate_bodies[[c for c, _ in terms]])
        bodies = bodies[bodies < model.ground]
        calm[:, bodies] &= stays[:, None]
    return calm


def steady(evidence: Evidence) -> np.ndarray:
    """Whether contacts stay as they are between frames (T - 1,): the same points touch, and slip or stick.

    Slices of tyres may come and go, if frames are close enough to show how.

    An impact may begin and end between two frames. Methods that locate events record it; others do not, and
    then bodies must be too far from what they do not touch for one. Rigid contacts act by impulses, which no
    quadrature of forces can capture.
    """
    count, calm = len(evidence.time) - 1, evidence.once(Calm)
    if not evidence.model.contacts:
        return np.asarray(calm.smooth)
    if evidence.is_rigid:
        return np.zeros(count, dtype=bool)
    lasting, slices = points_changed(evidence)
    nearby = np.convolve(slices, np.ones(_ABOUT), mode="same") if count >= _ABOUT else slices * _ABOUT
    same = calm.smooth & (lasting == 0) & (nearby <= _ABOUT)
    if not evidence.locates_events:
        same &= np.all(calm.bodies, axis=1)
    names = {name for contact in evidence.model.contacts for name in changes_of(contact.name)}
    for event in evidence.run.events:
        if event.name in names:
            same[evidence.intervals_at(event.time)] = False
    return np.asarray(same)
