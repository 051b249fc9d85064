"""Where nothing that a run records may make speeds or forces of a body jump between two frames.

Recorded quantities are integrated between frames where that is so. Elsewhere, as where bodies begin to touch, frames
do not determine what happens between them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from bellcrank import _core
from bellcrank.analysis.contact_points import is_rigid, points_at
from bellcrank.analysis.evidence import Evidence
from bellcrank.analysis.loads import law_effort
from bellcrank.assembly.model import Model
from bellcrank.assembly.state import Floats
from bellcrank.expression.expression import t
from bellcrank.expression.reading import symbols_of
from bellcrank.integrate.methods import METHODS
from bellcrank.run.telling import STATE_SET
from bellcrank.trajectory.contact_log import COLUMNS, starts_of

_TURN: Final = 2.0  # rad: bodies that turn by more between frames may turn by anything
_SUBSTEPS: Final = 16  # at which functions of time are looked at between frames
_RESOLVED: Final = 0.02  # of a function's range: by what its mean between frames may differ from that at frames
_BENT: Final = 0.5  # of the change of a force between frames: by what it may deviate from a line
_CLOSED: Final = 1e-6  # m: wider gaps are open
_SIMILAR: Final = 0.3  # part by which pushes of rigid contacts may differ while nothing is hit
_REACH: Final = 1.5  # times the way that bodies go between frames: as near as that they may have touched


class Calm:
    """The intervals between frames in which a run is calm.

    bodies: (T - 1, nb), whether nothing acts on a body, or on what it is joined to, that jumps.
    groups: (nb,), numbers of the groups of bodies that rows join.
    touched: (T - 1, nb), whether a body, or one of its group, touches something at an end of an interval.
    smooth: (T - 1,), whether frames resolve forces by laws and functions of time, and nothing else was set.
    depth: (T - 1, nb), m, how deep rigid bodies are in each other there, which a step takes back.
    """

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        model = evidence.model
        self.groups = groups_of(model, rows_only=True)
        steps = np.diff(evidence.time)
        everywhere = _resolved(evidence) & ~broken_intervals(evidence)
        spins = np.linalg.norm(evidence.sections["angular_velocity"], axis=2)
        slow = np.maximum(spins[1:], spins[:-1]) * steps[:, None] < _TURN
        smooth = np.repeat(everywhere[:, None], len(model.bodies), axis=1)
        if np.all(steps > 0.0):
            smooth &= _laws_resolved(evidence)
        smooth[:, _written_by_time(evidence)] = False
        self.smooth = np.all(smooth, axis=1)
        alone = smooth & slow & _stops_at_rest(evidence)
        self.touched, self.depth = np.zeros(alone.shape, dtype=bool), np.zeros(alone.shape)
        if model.contacts:
            counts, marks, depths = touching(evidence)
            alone &= _contacts_stay(evidence, counts, marks)
            deepest = np.maximum(depths[1:], depths[:-1]) * is_rigid(evidence)
            self.touched = self._joined((counts[1:] > 0) | (counts[:-1] > 0)) > 0.0
            self.depth = self._joined(deepest)
        self.bodies = self._joined(~alone) == 0.0

    def _joined(self, values: np.ndarray) -> Floats:
        """Of each body the largest of its group's values (T - 1, nb)."""
        largest = np.zeros((int(self.groups.max(initial=-1)) + 1, len(values)))
        np.maximum.at(largest, self.groups, values.T.astype(float))
        return np.asarray(largest[self.groups].T)


def calm_of(evidence: Evidence) -> Calm:
    """Where a run is calm; found once."""
    found = evidence.held.get("calm")
    if not isinstance(found, Calm):
        found = evidence.held["calm"] = Calm(evidence)
    return found


def groups_of(model: Model, rows_only: bool = False) -> np.ndarray:
    """A number for each body (nb,), the same for those that rows, or also laws, connect other than by the ground."""
    arrays, ground = model.arrays, model.ground
    bodies, starts = model.coordinate_bodies, arrays["row_term_start"]
    links = [] if rows_only else [tuple(pair) for pair in bodies[np.unique(arrays["law_coordinate"])].tolist()]
    for first, last in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        row = [body for body in np.ravel(bodies[arrays["term_coordinate"][first:last]]).tolist() if body != ground]
        links += [(row[0], other) for other in row[1:]]
    for record in model.custom:
        if record.category == "constraint" or (record.category == "force" and not rows_only):
            ends = [
                body
                for end in record.ends
                for body in (
                    model.coordinate_bodies[end].tolist() if isinstance(end, int) else [model.body_index[end.body]]
                )
            ]
            ends = [body for body in ends if body != ground]
            links += [(ends[0], other) for other in ends[1:]]
    return _connected([link for link in links if ground not in link], ground)


def _connected(links: list[tuple[int, int]], count: int) -> np.ndarray:
    pairs = np.array(links, dtype=int).reshape(-1, 2)
    leader, before = np.arange(count), np.empty(0)
    while not np.array_equal(leader, before):  # every link takes the lesser of its ends' numbers
        before = leader.copy()
        lower = np.min(leader[pairs], axis=1, initial=count)
        for end in range(2):
            np.minimum.at(leader, pairs[:, end], lower)
        leader = leader[leader]
    return np.unique(leader, return_inverse=True)[1]


def locates_events(evidence: Evidence) -> bool:
    """Whether the method of the run looks for events within its steps, and records them."""
    method = METHODS.get(str(evidence.run.statistics.get("method")))
    return method is None or method.adaptive


def event_intervals(evidence: Evidence, time: float) -> slice:
    """The intervals between frames that an event at a time may lie in."""
    slack = 1e-9 * float(np.ptp(evidence.time))
    first = int(np.searchsorted(evidence.time, time - slack, side="left")) - 1
    return slice(max(first, 0), int(np.searchsorted(evidence.time, time + slack, side="right")))


def joined_intervals(evidence: Evidence) -> np.ndarray:
    """Intervals (T - 1,) at which another run goes on."""
    found = np.zeros(len(evidence.time) - 1, dtype=bool)
    told = str(evidence.run.statistics.get("joined_at", ""))
    for text in told.split(",") if told else ():
        found[event_intervals(evidence, float(text))] = True
    return found


def broken_intervals(evidence: Evidence) -> np.ndarray:
    """Intervals (T - 1,) in which the run was set to another state, or goes on from another run."""
    found = joined_intervals(evidence)
    for event in evidence.run.events:
        if event.name == STATE_SET:
            found[event_intervals(evidence, event.time)] = True
    return found


def _resolved(evidence: Evidence) -> np.ndarray:
    """Whether frames resolve (T - 1,) the functions of time that act in a run, such as those of drives and loads."""
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

    Along the cubics through values and rates of their coordinates: a one-sided spring may be met between frames.
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
        motion = _cubic(value, rate, steps, shares)
        kind = model.arrays["law_kind"][law]
        found = _core.law_efforts(kind, *(x.ravel() for x in (*motion, within)), params, function)
        fine = found.reshape(-1, _SUBSTEPS)
        beside = np.max(np.abs(fine - (at[:-1, None] + np.diff(at)[:, None] * shares)), axis=1)
        size = max(float(np.max(np.abs(fine), initial=0.0)), float(np.max(np.abs(at), initial=0.0)))
        stays = beside <= _BENT * np.abs(np.diff(at)) + _RESOLVED * size + 1e-300
        bodies = [b for b in model.coordinate_bodies[c].tolist() if b < len(model.bodies)]
        good[:, bodies] &= stays[:, None]
    return good


def _cubic(value: Floats, rate: Floats, steps: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """Values and rates (T - 1, shares) between frames by Hermite's cubic."""
    h, s = steps[:, None], shares
    gained = np.diff(value)[:, None]
    first, last = rate[:-1, None], rate[1:, None]
    values = value[:-1, None] + s * s * (3 - 2 * s) * gained + h * s * (1 - s) * ((1 - s) * first - s * last)
    rates = 6 * s * (1 - s) * gained / h + (1 - s) * (1 - 3 * s) * first - s * (2 - 3 * s) * last
    return values, rates


def _written_by_time(evidence: Evidence) -> list[int]:
    """The bodies on which forces given by formulas of the time act."""
    found: list[int] = []
    for record in evidence.formulas.forces:
        kind: Any = record.lowered.custom
        formulas = [getattr(kind, name, None) for name in ("potential", "efforts", "force", "moment")]
        listed = [f for one in formulas if one is not None for f in (one if isinstance(one, tuple | list) else [one])]
        if listed and t in symbols_of(*listed):
            found += [
                body
                for end in record.ends
                for body in (
                    evidence.model.coordinate_bodies[end].tolist()
                    if isinstance(end, int)
                    else [evidence.model.body_index[end.body]]
                )
            ]
    return [body for body in found if body < len(evidence.model.bodies)]


def _stops_at_rest(evidence: Evidence) -> np.ndarray:
    """Whether the one-sided rows on each body (T - 1, nb) stay open or stay loaded."""
    model, arrays = evidence.model, evidence.model.arrays
    steps = np.diff(evidence.time)
    calm = np.ones((len(steps), len(model.bodies)), dtype=bool)
    loads = {m.row: k for k, m in enumerate(model.multipliers)}
    located, owners = locates_events(evidence), set(model.block_owner)
    for event in evidence.run.events:
        if event.name in owners:
            calm[event_intervals(evidence, event.time)] = False
    for row in np.flatnonzero(arrays["block_unilateral"][model.row_block] != 0).tolist():
        terms = range(*arrays["row_term_start"][row : row + 2].tolist())
        coordinates = arrays["term_coordinate"][terms.start : terms.stop].tolist()
        gap, rate = np.full(len(evidence.time), -float(arrays["row_constant"][row])), np.zeros(len(evidence.time))
        for part in evidence.parts():
            for term, c in zip(terms, coordinates, strict=True):
                gap[part.numbers] += arrays["term_coefficient"][term] * part.value(c)
                rate[part.numbers] += arrays["term_coefficient"][term] * part.coordinate(c).rate
        way = steps * (np.abs(rate[1:]) + np.abs(rate[:-1])) + 1e-9
        stays = np.minimum(gap[1:], gap[:-1]) > _REACH * way
        if located:
            stays |= (gap[1:] > 0.0) & (gap[:-1] > 0.0)
        if row in loads:
            loaded = np.abs(evidence.sections["multipliers"][:, loads[row]]) > 0.0
            stays |= loaded[1:] & loaded[:-1] & (way < 1e-6 * (1.0 + np.abs(gap[1:])))
        bodies = [b for b in np.ravel(model.coordinate_bodies[coordinates]).tolist() if b < len(model.bodies)]
        calm[:, bodies] &= stays[:, None]
    return calm


def touching(evidence: Evidence) -> tuple[np.ndarray, np.ndarray, Floats]:
    """Of each body (T, nb): the number of points at which it touches, a mark of which, and the largest depth, m.

    Marks are equal where the same points touch and slip or stick. Slices of tyres come and go: they are one point.
    """
    model, store = evidence.model, evidence.run.store
    counts = np.zeros((len(evidence.time), len(model.bodies) + 1), dtype=int)
    marks, depths = np.zeros(counts.shape, dtype=np.int64), np.zeros(counts.shape)
    rows = store.contacts.reshape(-1, COLUMNS)
    if not len(rows):
        return counts[:, :-1], marks[:, :-1], depths[:, :-1]
    frame = np.repeat(np.arange(len(evidence.time)), np.diff(starts_of(store)))
    of_tyre = np.array([contact.of_tyre for contact in model.contacts])[rows[:, 0].astype(int)]
    keys = np.column_stack([rows[:, :5], rows[:, 14]])
    keys[of_tyre, 3:] = 0.0
    unique, number = np.unique(keys, axis=0, return_inverse=True)
    mark = np.random.default_rng(1).integers(1, 2**40, len(unique))[number.ravel()]
    bodies = np.array(model.arrays["contacts"].bodies, dtype=int)
    for shape in (1, 2):
        where = frame, bodies[rows[:, shape].astype(int)]
        np.add.at(counts, where, 1)
        np.add.at(marks, where, np.where(of_tyre, 0, mark))
        np.maximum.at(depths, where, -rows[:, 15])
    return counts[:, :-1], marks[:, :-1], depths[:, :-1]


def pairs_met(evidence: Evidence) -> np.ndarray:
    """Whether shapes of a contact touch (T - 1, contacts) that did not touch in the frame before."""
    count = len(evidence.time)
    met = np.zeros((count, len(evidence.model.contacts)), dtype=bool)
    rows = evidence.run.store.contacts.reshape(-1, COLUMNS)
    if len(rows):
        frame = np.repeat(np.arange(count), np.diff(starts_of(evidence.run.store)))
        unique, pair = np.unique(rows[:, :3], axis=0, return_inverse=True)
        place = np.unique(frame * len(unique) + pair.ravel())
        new = place[~np.isin(place - len(unique), place)]
        met[new // len(unique), unique[new % len(unique), 0].astype(int)] = True
    return met[1:]


def _contacts_stay(evidence: Evidence, counts: np.ndarray, marks: np.ndarray) -> np.ndarray:
    """Whether the same points of a body touch at both ends of an interval (T - 1, nb), and nothing happened there.

    Where events are not recorded, bodies are far enough from all that they do not touch to stay so.
    """
    model, events = evidence.model, evidence.run.events
    stay = (marks[1:] == marks[:-1]) & ((counts[1:] > 0) == (counts[:-1] > 0))
    far = _far_apart(evidence)
    if is_rigid(evidence) or not locates_events(evidence):
        return stay & far & (_loads_stay(evidence) if is_rigid(evidence) else True)
    happened = np.zeros_like(stay)
    for contact in model.contacts:
        bodies = [body for body in contact.bodies if body < len(model.bodies)]
        for event in events:
            if event.name.startswith(f"{contact.name} "):
                happened[event_intervals(evidence, event.time), np.array(bodies)[:, None]] = True
    free = (counts[1:] == 0) & (counts[:-1] == 0)
    return stay & (~happened | free & far)


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
