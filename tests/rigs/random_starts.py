"""Mechanisms that start with whole turns: known angles, and relations that they satisfy."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from math import pi

import numpy as np

import bellcrank as bc
from bellcrank.io.files import dumps, loads

TURN = 2.0 * pi
_RATIOS = (2.0, 3.0, 5.0, 12.0, 20.0, 0.5, 2.5, 1.5, 1.0 / 3.0, -1.0, -4.0, 7.0 / 3.0, 40.0 / 17.0)
_SLACK = 0.36  # rad by which a stop is beyond an angle: nearer ones count as placed beyond the stop


@dataclass
class Start:
    """A mechanism and what is known of its start.

    angles: by joint, with the turns that it was made with. stated: joints whose turns are prescribed.
    relations: sums (coefficients by joint, constant) that are to vanish. bounds: by joint.
    placed: whether all bodies are where the angles have them; else some are left at zero.
    """

    mech: bc.Mechanism
    angles: dict[str, float] = field(default_factory=dict)
    stated: set[str] = field(default_factory=set)
    relations: list[tuple[dict[str, float], float]] = field(default_factory=list)
    bounds: dict[str, tuple[float, float]] = field(default_factory=dict)
    placed: bool = True

    def fewest(self) -> dict[str, float]:
        """The angles with the fewest turns: of all that have at most as many as they were made with."""
        free = [name for name in self.angles if name not in self.stated]
        principal = np.array(
            [self.angles[n] - TURN * np.ceil((self.angles[n] - pi) / TURN - 1e-6) for n in free]
        )
        made = np.rint((np.array([self.angles[n] for n in free]) - principal) / TURN)
        most = int(np.abs(made).sum())
        tried = np.array(
            [k for k in product(range(-most, most + 1), repeat=len(free)) if sum(map(abs, k)) <= most]
        )
        tried = tried.reshape(-1, len(free)) if free else np.zeros((1, 0))
        values = principal + TURN * tried
        good = np.ones(len(tried), dtype=bool)
        for terms, constant in self.relations:
            total = -constant + sum(c * self.angles[n] for n, c in terms.items() if n in self.stated)
            total = total + values @ np.array([terms.get(n, 0.0) for n in free])
            good &= np.abs(total) < 1e-7 * (1.0 + sum(map(abs, terms.values())))
        for name, (low, high) in self.bounds.items():
            if name in free:
                column = values[:, free.index(name)]
                good &= (column > low - 1e-6) & (column < high + 1e-6)
        order = sorted(np.flatnonzero(good), key=lambda i: (np.abs(tried[i]).sum(), (values[i] ** 2).sum()))
        return self.angles | dict(zip(free, values[order[0]].tolist(), strict=True))


def _turned(rng: np.random.Generator, most: int) -> float:
    return float(rng.uniform(-3.1, 3.1) + TURN * rng.integers(-most, most + 1))


def _shafts(start: Start, rng: np.random.Generator, most: int) -> None:
    """Shafts and screws on the ground and on each other, with angles."""
    carriers = [start.mech.ground]
    for number in range(int(rng.integers(2, 5))):
        name = f"j{number}"
        body = start.mech.add_body(f"b{number}", 1.0, (0.1, 0.12, 0.13))
        carrier = carriers[int(rng.integers(len(carriers)))] if rng.random() < 0.3 else start.mech.ground
        axis = rng.normal(size=3)
        marker = carrier.marker(tuple(rng.uniform(-0.5, 0.5, 3)), axis=tuple(axis / np.linalg.norm(axis)))
        screw = rng.random() < 0.25
        kind = bc.Screw(pitch=float(rng.choice([0.002, 0.01, -0.05]))) if screw else bc.Revolute()
        start.mech.add_joint(name, kind, marker, body.marker())
        start.angles[name] = _turned(rng, most)
        if screw:  # its travel tells its turns
            start.stated.add(name)
        carriers.append(body)


def _relate(start: Start, rng: np.random.Generator) -> None:
    """Couplings with constants, chains of them, differentials; and some that take theirs from the start."""
    names = list(start.angles)
    for number in range(int(rng.integers(1, len(names)))):
        some = [names[number], names[number + 1]] if rng.random() < 0.7 else list(rng.permutation(names)[:3])
        ratio = float(rng.choice(_RATIOS))
        weights = (1.0, -ratio) if len(some) == 2 else (1.0, abs(ratio), -1.0 - abs(ratio))
        constant = float(sum(w * start.angles[n] for w, n in zip(weights, some, strict=True)))
        start.relations.append((dict(zip(some, weights, strict=True)), constant))
        if rng.random() < 0.15 and len(some) == 2:
            ends = tuple(bc.EndCoordinate(f"q{k}") for k in range(2))
            equation = weights[0] * ends[0].value + weights[1] * ends[1].value - constant
            start.mech.add_constraint(f"relation {number}", bc.CustomConstraint(ends, equation), *some)
        else:
            start.mech.add_constraint(f"relation {number}", bc.Coupling(weights, constant=constant), *some)
    if rng.random() < 0.3:
        start.mech.add_constraint("belt", bc.Belt(ratio=1.7), *names[:2])
    if rng.random() < 0.2:
        rack = start.mech.add_body("rack", 1.0, (0.1, 0.1, 0.1))
        start.mech.add_joint("slide", bc.PrismaticX(), start.mech.ground, rack)
        start.mech.add_constraint("teeth", bc.RackPinion(radius=0.05), "slide", names[0])


def _state(start: Start, rng: np.random.Generator) -> None:
    """Positions, drives and limits of some joints."""
    for name, angle in start.angles.items():
        kind = rng.random()
        if kind < 0.25:
            start.mech.replace(start.mech.joints[name], position=angle)
            start.stated.add(name)
        elif kind < 0.35:
            start.mech.add_drive(f"drive {name}", name, position=angle)
            start.stated.add(name)
        elif kind < 0.5:
            low, high = angle - rng.uniform(_SLACK, 3.0), angle + rng.uniform(_SLACK, 3.0)
            start.bounds[name] = (low, high)
            start.mech.replace(start.mech.joints[name], limits=bc.Limit(lower=low, upper=high))


def _determined(start: Start) -> set[str]:
    """The joints whose angles follow from the stated ones, one after the other."""
    known = {n for n in start.stated if start.mech.joints[n].position or f"drive {n}" in start.mech.drives}
    while True:
        found = [open_ for terms, _ in start.relations if len(open_ := set(terms) - known) == 1]
        if not found:
            return known
        known |= found[0]


def _place(start: Start, left: set[str]) -> None:
    """Put the bodies where the angles have them; those of the joints that are left, where it is 0."""
    poses = {"ground": (np.zeros(3), (1.0, 0.0, 0.0, 0.0))}
    for name, joint in list(start.mech.joints.items()):
        if name not in start.angles:
            continue
        angle = 0.0 if name in left else start.angles[name]
        position, rotation = poses[joint.marker_1.body]
        at = position + _rotated(rotation, np.array(joint.marker_1.position))
        turn = _product(rotation, joint.marker_1.rotation)
        travel = getattr(joint.kind, "pitch", 0.0) / TURN * angle
        at = at + _rotated(turn, np.array([0.0, 0.0, travel]))
        turn = _product(turn, (np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)))
        poses[joint.marker_2.body] = (at, turn)
        body = start.mech.bodies[joint.marker_2.body]
        start.mech.replace(body, position=tuple(map(float, at)), rotation=tuple(map(float, turn)))


def _product(p, q):
    (a, *b), (c, *d) = p, q
    b, d = np.array(b), np.array(d)
    return (a * c - b @ d, *(a * d + c * b + np.cross(b, d)))


def _rotated(q, v):
    w, axis = q[0], np.array(q[1:])
    return v + 2.0 * np.cross(axis, np.cross(axis, v) + w * v)


def random_start(seed: int) -> Start:
    """A mechanism with whole turns in its start."""
    rng = np.random.default_rng(seed)
    start = Start(bc.Mechanism(f"start {seed}", gravity=(0.0, 0.0, 0.0)))
    _shafts(start, rng, int(rng.integers(0, 4)))
    _relate(start, rng)
    _state(start, rng)
    left: set[str] = set()
    # Not in chains, where what a body carries and what carries it may give way.
    apart = all(joint.marker_1.body == "ground" for joint in start.mech.joints.values())
    if rng.random() < 0.4 and apart:
        left = {name for name in sorted(_determined(start)) if rng.random() < 0.5}
    start.placed = not left
    _place(start, left)
    return start


def faults(seed: int, formulations=("lagrange", "recursive", "symbolic", "dca")) -> str:
    """What is wrong with the start of a random mechanism; nothing if nothing is."""
    start = random_start(seed)
    expected = start.fewest()
    wrong = []

    def judge(what, mech, formulation="lagrange", **more):
        try:
            run = bc.simulate(
                mech, times=[0.0, 1e-6], method="rk4", step=1e-6, formulation=formulation, **more
            )
        except bc.Unsupported:
            return None
        for name, angle in expected.items():
            found = run.joint(name).position[0, 0]
            if not abs(found - angle) < 1e-7 * (1.0 + abs(angle)):
                wrong.append(f"{what}: {name} starts at {found:.6f}, not at {angle:.6f}")
        return run

    for formulation in formulations:
        run = judge(formulation, start.mech, formulation)
        if run is not None:
            judge(f"{formulation}, from its state", start.mech, formulation, state=run.at(0.0))
    judge("from a file", loads(dumps(start.mech)))
    copy = start.mech.copy()
    report = bc.assemble(copy)
    if start.placed and report.changed:
        wrong.append(f"bc.assemble moves {report}")
    judge("assembled", copy)
    judge("assembled, from a file", loads(dumps(copy)))
    return "; ".join(wrong)
