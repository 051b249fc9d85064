"""The recorded points of contact at several frames, with their laws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from bellcrank import _core
from bellcrank.compile.state import Floats
from bellcrank.integrate.methods import METHODS
from bellcrank.trajectory.contact_log import starts_of
from bellcrank.verification.evidence import Evidence, Frames

_OF_RIM: Final = 2**30  # features of a tyre from there on are of its rim


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
        rigid=is_rigid(part.evidence),
        of_tyre=of_tyre,
        frame=frame,
        first=bodies[rows["shapes"][:, 0].astype(int)],
        second=bodies[rows["shapes"][:, 1].astype(int)],
        slips=rows["slips"] != 0.0,
        depth=-rows["gap"],
        **{name: rows[name] for name in same},
    )
