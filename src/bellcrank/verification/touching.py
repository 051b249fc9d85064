"""Where shapes touch in a run, and where what touches stays as it is between frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from bellcrank.compile.model import Model
from bellcrank.compile.state import Floats, Points
from bellcrank.integrate.methods import METHODS
from bellcrank.run.happenings import changes_of
from bellcrank.trajectory.contact_log import starts_of
from bellcrank.verification.contact_points import is_rigid, points_at
from bellcrank.verification.evidence import Evidence

_CLOSED: Final = 1e-6  # m: wider gaps are open
_SIMILAR: Final = 0.3  # part by which pushes of rigid contacts may differ while nothing is hit
_REACH: Final = 1.5  # times the way that bodies go between frames: as near as that they may have touched


def locates_events(evidence: Evidence) -> bool:
    """Whether the method of the run looks for events within its steps, and records them."""
    method = METHODS.get(str(evidence.run.statistics.get("method")))
    return method is None or method.adaptive


def event_intervals(evidence: Evidence, time: float) -> slice:
    """The intervals between frames that an event at a time may lie in."""
    slack = 1e-9 * float(np.ptp(evidence.time))
    first = int(np.searchsorted(evidence.time, time - slack, side="left")) - 1
    return slice(max(first, 0), int(np.searchsorted(evidence.time, time + slack, side="right")))


@dataclass(frozen=True, eq=False)
class Touching:
    """What each body touches in each frame (T, nb).

    counts: the number of points. marks: equal where the same points touch and slip or stick; slices of tyres,
        which come and go, are one point. slices: equal where the same slices of tyres touch. depths: m, how
        deep it is in what it touches; rigid bodies by what they may go in a step, too.
    """

    counts: np.ndarray
    marks: np.ndarray
    slices: np.ndarray
    depths: Floats


def touching(evidence: Evidence) -> Touching:
    """What each body touches, by the recorded points."""
    model, store = evidence.model, evidence.run.store
    shape = len(evidence.time), len(model.bodies) + 1
    counts, depths = np.zeros(shape, dtype=int), np.zeros(shape)
    marks, slices = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    rows = store.contacts
    if len(rows):
        frame = np.repeat(np.arange(len(evidence.time)), np.diff(starts_of(store)))
        of_tyre = np.array([contact.of_tyre for contact in model.contacts])[rows["contact"].astype(int)]
        unique, number = np.unique(_keys(rows, rows["slips"]), axis=0, return_inverse=True)
        mark = np.random.default_rng(1).integers(1, 2**40, len(unique))[number.ravel()]
        bodies = np.array(model.arrays["contacts"].bodies, dtype=int)
        step = float(evidence.run.statistics.get("step", 0.0)) if is_rigid(evidence) else 0.0
        deep = np.maximum(-rows["gap"], 0.0) + step * np.abs(rows["approach"])
        for shapes in rows["shapes"].T:
            where = frame, bodies[shapes.astype(int)]
            np.add.at(counts, where, 1)
            np.add.at(marks, where, np.where(of_tyre, 0, mark))
            np.add.at(slices, where, np.where(of_tyre, mark, 0))
            np.maximum.at(depths, where, deep)
    return Touching(counts[:, :-1], marks[:, :-1], slices[:, :-1], depths[:, :-1])


def _keys(rows: Points, slips: np.ndarray) -> np.ndarray:
    """Columns by which points (n,) are distinguished, and whether they slip."""
    return np.column_stack([rows["contact"], rows["shapes"], rows["features"], slips])


def pairs_met(evidence: Evidence) -> np.ndarray:
    """Whether shapes of a contact touch (T - 1, contacts) that did not touch in the frame before."""
    count = len(evidence.time)
    met = np.zeros((count, len(evidence.model.contacts)), dtype=bool)
    rows = evidence.run.store.contacts
    if len(rows):
        frame = np.repeat(np.arange(count), np.diff(starts_of(evidence.run.store)))
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
    of_tyre = np.array([contact.of_tyre for contact in evidence.model.contacts])[rows["contact"].astype(int)]
    keys = _keys(rows, np.where(of_tyre, 0.0, rows["slips"]))
    unique, number = np.unique(keys, axis=0, return_inverse=True)
    frame = np.repeat(np.arange(count), np.diff(starts_of(evidence.run.store)))
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
    if is_rigid(evidence) or not locates_events(evidence):
        return np.asarray(stay & far & (_loads_stay(evidence) if is_rigid(evidence) else True))
    happened = np.zeros_like(stay)
    for contact in model.contacts:
        bodies = [body for body in contact.bodies if body < len(model.bodies)]
        for event in events:
            if event.name in changes_of(contact.name):
                happened[event_intervals(evidence, event.time), np.array(bodies)[:, None]] = True
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
