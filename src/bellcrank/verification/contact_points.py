"""The recorded points of contact at several frames, and the numbers of their laws."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from bellcrank.compile.state import Floats
from bellcrank.integrate.methods import METHODS
from bellcrank.trajectory.contact_log import COLUMNS, MOMENT, starts_of
from bellcrank.verification.evidence import Evidence, Frames

_OF_RIM: Final = 2**30  # features of a tyre from there on are of its rim


@dataclass(frozen=True, eq=False)
class Law:
    """The numbers of a law of contact (cpp/contacts/contact_law.hpp), or of points (n,) that differ."""

    stiffness: Any
    exponent: float
    dissipation: float
    static_friction: float
    kinetic_friction: float
    shear_ratio: Any
    shear_time: float  # s, tangential damping by tangential stiffness
    restitution: float  # of rigid contacts
    rim_stiffness: float  # of the points of a tyre's rim
    rolling: float  # resistance to rolling and spinning, of rigid contacts [m]
    spinning: float
    by_impulse: float  # whether restitution is Poisson's

    def with_rim(self, of_rim: np.ndarray) -> Law:
        """The law of points (n,) of which some are of a tyre's rim: what is sheared is as stiff there."""
        stiffness = np.where(of_rim, self.rim_stiffness, self.stiffness)
        ratio = self.shear_ratio * self.stiffness / np.maximum(stiffness, 1e-300)
        return replace(self, stiffness=stiffness, shear_ratio=np.where(of_rim, ratio, self.shear_ratio))

    def elastic(self, depth: Floats) -> Floats:
        """Normal force without damping (n,), N."""
        return np.asarray(self.stiffness * depth**self.exponent)

    def shear_stiffness(self, depth: Floats) -> Floats:
        """Tangential stiffness (n,), N/m."""
        return np.asarray(self.shear_ratio * self.exponent * self.stiffness * depth ** (self.exponent - 1.0))

    def stored(self, depth: Floats) -> Floats:
        """Energy (n,) of the normal force, J."""
        return np.asarray(self.stiffness * depth ** (self.exponent + 1.0) / (self.exponent + 1.0))

    def friction(self, points: PointsAt, coefficient: float) -> Floats:
        """Friction (n, 3) by a coefficient, N: the spring within its limit, all within the cone."""
        damped = np.maximum(0.0, 1.0 + self.dissipation * points.approach)
        spring = within(coefficient * points.depth / (self.shear_ratio * self.exponent), points.shear)
        stiffness = self.shear_stiffness(points.depth) * damped
        across = points.slip - np.sum(points.slip * points.normal, axis=1)[:, None] * points.normal
        elastic = -stiffness[:, None] * (spring + self.shear_time * across)
        return within(coefficient * self.elastic(points.depth) * damped, elastic)


@dataclass(frozen=True, eq=False)
class PointsAt:
    """The points (m) of a contact at n frames: bodies by their numbers, the rest as `ContactPoints` has it.

    frame: (m,), which of the frames each point is of.
    """

    law: Law
    rigid: bool
    of_tyre: bool
    frame: np.ndarray
    first: np.ndarray
    second: np.ndarray
    keys: Floats
    shear: Floats
    position: Floats
    normal: Floats
    slips: np.ndarray
    depth: Floats
    force: Floats
    slip: Floats
    approach: Floats
    moment: Floats

    def stored(self, frames: int) -> Floats:
        """Elastic energy (n,) at each of the frames, J."""
        if self.rigid:
            return np.zeros(frames)
        normal = self.law.stored(self.depth)
        damped = np.maximum(0.0, 1.0 + self.law.dissipation * self.approach)
        stiffness = self.law.shear_stiffness(self.depth) * damped
        energies = normal + 0.5 * stiffness * np.sum(self.shear**2, axis=1)
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


def is_rigid(evidence: Evidence) -> bool:
    """Whether the run stepped by impulses: its contacts do not deform."""
    method = METHODS.get(str(evidence.run.statistics.get("method")))
    return method is not None and method.by_impulses


def points_at(part: Frames, number: int) -> PointsAt:
    """The points of a contact, by its number, at frames."""
    store, model = part.evidence.run.store, part.model
    starts = starts_of(store)
    counts = starts[part.numbers + 1] - starts[part.numbers]
    frame = np.repeat(np.arange(len(part)), counts)
    within_frame = np.arange(len(frame)) - np.repeat(np.cumsum(counts) - counts, counts)
    rows = store.contacts.reshape(-1, COLUMNS)[np.repeat(starts[part.numbers], counts) + within_frame]
    mine = rows[:, 0] == number
    rows, frame = rows[mine], frame[mine]
    core = model.arrays["contacts"]
    bodies = np.array(core.bodies, dtype=int)
    law, of_tyre = Law(*core.laws[number]), model.contacts[number].of_tyre
    if of_tyre:
        law = law.with_rim(np.max(rows[:, 3:5], axis=1) >= _OF_RIM)
    return PointsAt(
        law=law,
        rigid=is_rigid(part.evidence),
        of_tyre=of_tyre,
        frame=frame,
        first=bodies[rows[:, 1].astype(int)],
        second=bodies[rows[:, 2].astype(int)],
        keys=rows[:, 1:5],
        shear=rows[:, 5:8],
        position=rows[:, 8:11],
        normal=rows[:, 11:14],
        slips=rows[:, 14] != 0.0,
        depth=-rows[:, 15],
        force=rows[:, 16:19],
        slip=rows[:, 19:22],
        approach=rows[:, 22],
        moment=rows[:, MOMENT],
    )
