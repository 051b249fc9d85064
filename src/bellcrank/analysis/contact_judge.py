"""Judges of contacts: the recorded points against the laws of contact and the motion of the bodies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final

import numpy as np

from bellcrank.analysis.evidence import Evidence
from bellcrank.analysis.verdict import CheckResult, Worst
from bellcrank.assembly.state import Floats
from bellcrank.integrate.methods import METHODS
from bellcrank.trajectory.contact_log import COLUMNS, MOMENT, starts_of

_EXACT: Final = 1e-9
_OF_RIM: Final = 2**30  # features of a tyre from there on are of its rim
_SLIPPING: Final = 1e-6  # m/s: slower points may as well stick
_STEEPEST: Final = 4.0  # slope of the ground against a tread
_SOLVED: Final = 1e-5  # of impulses, which are found to a residual of a step


@dataclass(frozen=True, eq=False)
class _Law:
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

    def with_rim(self, of_rim: np.ndarray) -> _Law:
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
        spring = _within(coefficient * points.depth / (self.shear_ratio * self.exponent), points.shear)
        stiffness = self.shear_stiffness(points.depth) * damped
        across = points.slip - np.sum(points.slip * points.normal, axis=1)[:, None] * points.normal
        elastic = -stiffness[:, None] * (spring + self.shear_time * across)
        return _within(coefficient * self.elastic(points.depth) * damped, elastic)


@dataclass(frozen=True, eq=False)
class PointsAt:
    """The points (n) of a contact in a frame: bodies by their numbers, the rest as `ContactPoints` has it."""

    law: _Law
    rigid: bool
    of_tyre: bool
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

    def stored(self) -> float:
        """Elastic energy, J."""
        if self.rigid:
            return 0.0
        normal = self.law.stored(self.depth)
        damped = np.maximum(0.0, 1.0 + self.law.dissipation * self.approach)
        stiffness = self.law.shear_stiffness(self.depth) * damped
        tangential = 0.5 * stiffness * np.sum(self.shear**2, axis=1)
        return float(normal.sum() + tangential.sum())


def _within(limits: Floats, vectors: Floats) -> Floats:
    """The nearest vectors (n, 3) of at most these lengths."""
    sizes = np.linalg.norm(vectors, axis=1)
    return np.asarray(np.where(sizes > limits, limits / np.maximum(sizes, 1e-300), 1.0)[:, None] * vectors)


def _along(vectors: Floats, normals: Floats) -> Floats:
    """The parts of vectors (n, 3) along normals."""
    return np.asarray(np.sum(vectors * normals, axis=1)[:, None] * normals)


def is_rigid(evidence: Evidence) -> bool:
    """Whether the run stepped by impulses: its contacts do not deform."""
    method = METHODS.get(str(evidence.run.statistics.get("method")))
    return method is not None and method.by_impulses


def points_at(evidence: Evidence, frame: int, number: int) -> PointsAt:
    """The points of a contact, by its number, in a frame."""
    starts = starts_of(evidence.run.store)
    rows = evidence.run.store.contacts[starts[frame] : starts[frame + 1]].reshape(-1, COLUMNS)
    rows = rows[rows[:, 0] == number]
    core = evidence.model.arrays["contacts"]
    bodies = np.array(core.bodies, dtype=int)
    law, of_tyre = _Law(*core.laws[number]), evidence.model.contacts[number].of_tyre
    if of_tyre:
        law = law.with_rim(np.max(rows[:, 3:5], axis=1) >= _OF_RIM)
    return PointsAt(
        law=law,
        rigid=is_rigid(evidence),
        of_tyre=of_tyre,
        first=bodies[rows[:, 1].astype(int)],
        second=bodies[rows[:, 2].astype(int)],
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


def steady(evidence: Evidence) -> np.ndarray:
    """Whether contacts stay as they are between frames (T - 1,): the same points touch, and slip or stick.

    An impact may begin and end between two frames. Methods that locate events record it; others do not, and
    then only intervals with touching points at both ends count. Rigid contacts act by impulses, which no
    quadrature of forces can capture.
    """
    count = len(evidence.time) - 1
    if not evidence.model.contacts:
        return np.ones(count, dtype=bool)
    if is_rigid(evidence):
        return np.zeros(count, dtype=bool)
    starts = starts_of(evidence.run.store)
    rows = evidence.run.store.contacts.reshape(-1, COLUMNS)
    keys = np.column_stack([rows[:, :5], rows[:, 14]])  # contact, shapes, features, slipping
    points = [keys[first:last] for first, last in pairwise(starts)]
    same = np.array([np.array_equal(one, two) for one, two in pairwise(points)], dtype=bool)
    names = tuple(f"{contact.name} " for contact in evidence.model.contacts)
    times = [event.time for event in evidence.run.events if event.name.startswith(names)]
    if not times and len(rows):
        same &= np.array([len(one) > 0 for one in points[:-1]], dtype=bool)
    slack = 1e-9 * float(np.ptp(evidence.time))
    for time in times:
        first = int(np.searchsorted(evidence.time, time - slack, side="left")) - 1
        last = int(np.searchsorted(evidence.time, time + slack, side="right"))
        same[max(first, 0) : last] = False
    return same


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
    }
    found = {name: Worst() for name in checks}
    for frame in evidence.frames:
        time = float(evidence.time[frame])
        for number, contact in enumerate(evidence.model.contacts):
            points = points_at(evidence, frame, number)
            if not len(points.depth):
                continue
            where = f"force {contact.name!r}"
            for name, value in zip(checks, _deviations(evidence, frame, points), strict=True):
                found[name].meet(value, where, time)
    solved = _SOLVED if rigid else _EXACT
    limits = {"contact force": solved, "friction": solved, "contact motion": _EXACT}
    return [found[name].result(name, meaning, limits[name]) for name, meaning in checks.items()]


def _deviations(evidence: Evidence, frame: int, points: PointsAt) -> tuple[float, float, float]:
    at = evidence.at(frame)
    normal = np.einsum("ij,ij->i", points.force, points.normal)
    turning = at.spin[points.first] - at.spin[points.second]
    loads = _rigid_loads(points, normal, turning) if points.rigid else _elastic_loads(points, normal)

    def speed(bodies: np.ndarray) -> Floats:
        arms = points.position - at.position[bodies]
        return np.asarray(at.velocity[bodies] + np.cross(at.spin[bodies], arms))

    relative = speed(points.first) - speed(points.second)
    recorded = points.slip - points.approach[:, None] * points.normal
    if points.of_tyre:  # its depth grows by what moves along the tread, too
        relative, recorded = (v - _along(v, points.normal) for v in (relative, points.slip))
    fastest = np.max(np.abs(at.velocity), initial=0.0) + np.max(np.abs(relative), initial=0.0) + 1e-9
    return *loads, float(np.max(np.abs(relative - recorded)) / fastest)


def _elastic_loads(points: PointsAt, normal: Floats) -> tuple[float, float]:
    law = points.law
    elastic = law.elastic(points.depth)
    wanted = np.maximum(0.0, elastic * (1.0 + law.dissipation * points.approach))
    scale = np.maximum(elastic, wanted) + 1e-300
    friction = points.force - normal[:, None] * points.normal
    if points.of_tyre:  # beside friction, what the slope of the ground exerts along the tread
        beyond = np.linalg.norm(friction, axis=1) - (law.static_friction + _STEEPEST) * normal
        return float(np.max(np.abs(normal - wanted) / scale)), float(np.max(np.maximum(beyond, 0.0) / scale))
    # A point at its limit may not have begun to slip: either coefficient is right there.
    apart = [
        np.linalg.norm(friction - law.friction(points, mu), axis=1)
        for mu in (law.static_friction, law.kinetic_friction)
    ]
    astray = np.where(points.slips, np.minimum(*apart), apart[0])
    return float(np.max(np.abs(normal - wanted) / scale)), float(np.max(astray / scale))


def _rigid_loads(points: PointsAt, normal: Floats, turning: Floats) -> tuple[float, float]:
    """What pulls, and what resists slip or turning (n, 3) as no law does, by the largest normal force."""
    scale = float(np.max(np.abs(normal))) + 1e-300
    law, axes = points.law, points.normal
    friction = points.force - normal[:, None] * axes
    astray = [_astray(friction, points.slip, normal, law.static_friction, law.kinetic_friction)]
    about, spin = _along(points.moment, axes), _along(turning, axes)
    for moment, rate, resistance in (
        (points.moment - about, turning - spin, law.rolling),
        (about, spin, law.spinning),
    ):
        if resistance > 0.0 or np.any(moment):
            astray.append(_astray(moment, rate, normal, resistance, resistance) / (resistance or 1.0))
    return float(np.max(np.maximum(-normal, 0.0))) / scale, float(np.max(astray)) / scale


def _astray(load: Floats, speed: Floats, normal: Floats, static: float, kinetic: float) -> Floats:
    """How far loads (n, 3) are beyond their limit, or against speeds (n, 3) not opposite and at a limit."""
    size, fast = np.linalg.norm(load, axis=1), np.linalg.norm(speed, axis=1)
    beyond = size - static * normal
    # Where it slips it loses |T| |v|, and is at one of its limits.
    aside = size + np.sum(load * speed, axis=1) / np.maximum(fast, 1e-300)
    below = np.minimum(np.abs(size - static * normal), np.abs(size - kinetic * normal))
    slips = fast > _SLIPPING * (1.0 + np.max(fast, initial=0.0))
    return np.asarray(np.maximum(np.maximum(beyond, 0.0), np.where(slips, np.maximum(aside, below), 0.0)))
