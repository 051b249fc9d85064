"""Where nothing that a run records may make speeds or forces of a body jump between two frames.

Recorded quantities are integrated between frames where that is so. Elsewhere, as where bodies begin to touch,
frames do not determine what happens between them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from bellcrank import _core
from bellcrank.analysis.contact_points import is_rigid
from bellcrank.analysis.evidence import Evidence
from bellcrank.analysis.loads import law_effort
from bellcrank.analysis.touching import contacts_stay, event_intervals, locates_events, touching
from bellcrank.assembly.model import Model
from bellcrank.assembly.state import Floats
from bellcrank.expression.expression import t
from bellcrank.expression.reading import symbols_of
from bellcrank.run.telling import STATE_SET

_TURN: Final = 2.0  # rad: bodies that turn by more between frames may turn by anything
_SUBSTEPS: Final = 16  # at which functions of time are looked at between frames
_RESOLVED: Final = (
    0.02  # of a function's range: by what its mean between frames may differ from that at frames
)
_BENT: Final = 0.5  # of the change of a force between frames: by what it may deviate from a line
_REACH: Final = 1.5  # times the way that bodies go between frames: as near as that they may have touched


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
        self.hidden = self.touched
        if model.contacts:
            found, rigid = touching(evidence), is_rigid(evidence)
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


def calm_of(evidence: Evidence) -> Calm:
    """Where a run is calm; found once."""
    found = evidence.held.get("calm")
    if not isinstance(found, Calm):
        found = evidence.held["calm"] = Calm(evidence)
    return found


def groups_of(model: Model, rows_only: bool = False) -> np.ndarray:
    """A number for each body (nb,), the same for those that rows, or also laws, connect."""
    arrays, ground = model.arrays, model.ground
    bodies, starts = model.coordinate_bodies, arrays["row_term_start"]
    links = (
        [] if rows_only else [tuple(pair) for pair in bodies[np.unique(arrays["law_coordinate"])].tolist()]
    )
    for first, last in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        row = [
            body
            for body in np.ravel(bodies[arrays["term_coordinate"][first:last]]).tolist()
            if body != ground
        ]
        links += [(row[0], other) for other in row[1:]]
    for record in model.custom:
        if record.category == "constraint" or (record.category == "force" and not rows_only):
            ends = [
                body
                for end in record.ends
                for body in (
                    model.coordinate_bodies[end].tolist()
                    if isinstance(end, int)
                    else [model.body_index[end.body]]
                )
            ]
            ends = [body for body in ends if body != ground]
            links += [(ends[0], other) for other in ends[1:]]
    return _connected([link for link in links if ground not in link], ground)


def _connected(links: list[tuple[int, int]], count: int) -> np.ndarray:
    pairs = np.array(links, dtype=int).reshape(-1, 2)
    leader, before = np.arange(count), np.arange(0)
    while not np.array_equal(leader, before):  # every link takes the lesser of its ends' numbers
        before = leader.copy()
        lower = np.min(leader[pairs], axis=1, initial=count)
        for end in range(2):
            np.minimum.at(leader, pairs[:, end], lower)
        leader = leader[leader]
    return np.unique(leader, return_inverse=True)[1]


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
        kind, rates = (
            model.arrays["law_kind"][law],
            (rate[:-1, None] + np.diff(rate)[:, None] * shares).ravel(),
        )
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
        listed = [
            f
            for one in formulas
            if one is not None
            for f in (one if isinstance(one, tuple | list) else [one])
        ]
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
        gap, rate = (
            np.full(len(evidence.time), -float(arrays["row_constant"][row])),
            np.zeros(len(evidence.time)),
        )
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
