"""Judge of forces frame by frame: the accelerations that follow from them satisfy the constraints.

A reaction, or the effort of a drive, that is not the one that acted moves bodies as the joints do not let
them. Only frames by themselves are taken, so that it does not matter how far apart they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from bellcrank.analysis.balance_judge import sizes, with_floor
from bellcrank.analysis.constraint_judge import Rows
from bellcrank.analysis.contact_points import is_rigid
from bellcrank.analysis.evidence import Evidence, Frames
from bellcrank.analysis.loads import acting
from bellcrank.analysis.motion_judge import accelerations
from bellcrank.analysis.verdict import CheckResult, Worst
from bellcrank.assembly.state import Floats
from bellcrank.mechanism.coordinate import FORMULA_COORDINATE

_ROWS: Final = 1e-6
_COORDINATES: Final = 1e-7
_ALONG: Final = 1e-7
_ALONG_RIGID: Final = 1e-5
_REGULAR: Final = 1e6  # condition of a joint's directions, beyond which it is near a singular pose


class Accelerations:
    """Second derivatives of coordinates at frames, by the accelerations of bodies there."""

    def __init__(self, part: Frames) -> None:
        at, ground = part.at, np.zeros((len(part), 1, 3))
        linear, angular = accelerations(part)
        self._part = part
        self._com = np.concatenate([at.com, ground], axis=1)
        self._linear, self._angular = (np.concatenate([x, ground], axis=1) for x in (linear, angular))
        self._pairs: dict[int, tuple[Floats, Floats]] = {}

    def of(self, coordinate: int) -> Floats:
        """Of a coordinate of markers (n,)."""
        found = self._part.at.coordinate(coordinate)
        pair = int(self._part.model.arrays["coordinate_pair"][coordinate])
        if pair not in self._pairs:
            self._pairs[pair] = self._relative(pair)
        linear, angular = self._pairs[pair]
        along = np.einsum("ni,ni->n", found.force, linear) + np.einsum("ni,ni->n", found.moment, angular)
        return np.asarray(along + found.curvature)

    def _relative(self, pair: int) -> tuple[Floats, Floats]:
        """Derivatives of the velocity and spin of marker 2 seen from marker 1, by components in the world."""
        at, bodies = self._part.at, self._part.model.arrays["pair_bodies"][pair].tolist()
        origins = at.pairs[0][:, pair]
        of_points, speeds = [], []
        for side, body in enumerate(bodies):
            arm, spin = origins[:, side] - self._com[:, body], at.spin[:, body]
            of_points.append(
                self._linear[:, body]
                + np.cross(self._angular[:, body], arm)
                + np.cross(spin, np.cross(spin, arm))
            )
            speeds.append(at.speed(body, origins[:, side]))
        offset, spin, rate = origins[:, 1] - origins[:, 0], at.spin[:, bodies[0]], self._angular[:, bodies[0]]
        between = speeds[1] - speeds[0]
        drift = between - np.cross(spin, offset)
        linear = of_points[1] - of_points[0] - np.cross(rate, offset) - np.cross(spin, between + drift)
        turning = at.spin[:, bodies[1]] - spin
        return linear, self._angular[:, bodies[1]] - rate - np.cross(spin, turning)


def judge_consequences(evidence: Evidence) -> list[CheckResult]:
    """What follows from all recorded forces, or recorded accelerations, at every frame."""
    meaning = (
        "second derivative of constraints by the forces that act, relative to what these do to each body"
    )
    rows, checks = Rows(evidence.model), []
    if rows.rows and not evidence.has_reactions:
        checks.append(CheckResult("constraints: forces", meaning, None, _ROWS, "reactions were not recorded"))
    elif rows.rows:
        worst = Worst()
        for part in evidence.parts(evidence.every):
            worst.meet_all(_row_errors(rows, part), rows.text, part.time)
        checks.append(worst.result("constraints: forces", meaning, _ROWS))
    if evidence.has_accelerations:
        checks += _judge_coordinates(evidence)
    return checks


def _row_errors(rows: Rows, part: Frames) -> Floats:
    model, found = part.model, Accelerations(part)
    errors = -rows.led(part.time)[:, :, 2]
    scales = np.abs(errors) + 1e-300
    pushed, turned = _effects(part)
    for k, terms in enumerate(rows.terms):
        for c, w in terms:
            errors[:, k] += w * found.of(c)
            along = part.at.coordinate(c)
            bodies = model.coordinate_bodies[c].tolist()
            force, moment = (np.linalg.norm(x, axis=1) for x in (along.force, along.moment))
            arms = [np.linalg.norm(along.point - part.at.position[:, b], axis=1) for b in bodies]
            effects = [pushed[:, b] + turned[:, b] * arm for b, arm in zip(bodies, arms, strict=True)]
            scales[:, k] += abs(w) * (
                force * sum(effects) + moment * (turned[:, bodies[0]] + turned[:, bodies[1]])
            )
    return np.abs(errors) / scales


def _effects(part: Frames) -> tuple[Floats, Floats]:
    """How much forces and moments accelerate bodies (n, nb + 1), were there no others, m/s^2 and rad/s^2."""
    model = part.model
    force, moment = (with_floor(size) for size in sizes(part, acting(part)))
    least = np.linalg.eigvalsh(model.inertia)[:, 0]
    turned = np.divide(moment, least, out=np.zeros_like(moment), where=least > 0.0)
    ground = ((0, 0), (0, 1))
    return np.pad(force / model.mass + 1e-9, ground), np.pad(turned + 1e-9, ground)


def _judge_coordinates(evidence: Evidence) -> list[CheckResult]:
    """Recorded accelerations of coordinates against those of the bodies."""
    kinds, layout = evidence.model.arrays["coordinate_kind"], evidence.run.layout
    count = len(layout.coordinates)
    listed = [
        (k, c) for k, c in enumerate(evidence.recorded_coordinates[:count]) if kinds[c] != FORMULA_COORDINATE
    ]
    if not listed:
        return []
    worst = Worst()
    for part in evidence.parts(evidence.every):
        found, told = Accelerations(part), part.section("coordinate_accelerations")
        apart = np.stack([np.abs(found.of(c) - told[:, k]) for k, c in listed], axis=1)
        names = ("acceleration", "angular_acceleration", "angular_velocity")
        largest = [np.max(np.abs(part.section(name)), axis=(1, 2)) for name in names]
        size = 1.0 + largest[0] + largest[1] + largest[2] ** 2 + np.max(np.abs(told), axis=1)
        worst.meet_all(
            apart / size[:, None], lambda k: layout.element("coordinates", listed[k][0]), part.time
        )
    meaning = "recorded acceleration of a coordinate against those of the bodies, relative"
    return [worst.result("coordinates: accelerations", meaning, _COORDINATES)]


def judge_directions(evidence: Evidence) -> list[CheckResult]:
    """A joint exerts nothing along the coordinates that it leaves free, beside what its stops exert."""
    meaning = "what a joint exerts along its free coordinates beside its stops, relative to its reaction"
    if not evidence.has_reactions or not evidence.model.reactions:
        return []
    frames = [
        (number, name, _Frame.of(evidence, name))
        for number, (name, _, _) in enumerate(evidence.model.reactions)
    ]
    worst = Worst()
    for part in evidence.parts(evidence.every):
        wrenches, multipliers = part.section("reactions"), part.section("multipliers")
        largest = np.max(np.abs(wrenches), axis=(1, 2), initial=0.0)
        for number, name, frame in frames:
            if frame is not None:
                found = frame.beside(part, wrenches[:, number], multipliers)
                size = np.linalg.norm(wrenches[:, number], axis=1) + 1e-3 * largest + 1e-300
                worst.meet_all(found / size[:, None], f"joint {name!r}", part.time)
    limit = _ALONG_RIGID if is_rigid(evidence) else _ALONG
    return [worst.result("reactions", meaning, limit)]


@dataclass(frozen=True, eq=False)
class _Frame:
    """Six directions of a joint: of its rows, each with coordinates and factors, and of its free coordinates.

    stops: for each free coordinate the multipliers of its limits, by number and sign.
    """

    rows: list[list[tuple[int, float]]]
    free: tuple[int, ...]
    stops: list[list[tuple[int, float]]]

    @staticmethod
    def of(evidence: Evidence, name: str) -> _Frame | None:
        """Of a joint; None where it is given by formulas, or where they are not six."""
        model, arrays = evidence.model, evidence.model.arrays
        joint, starts = model.joint(name), arrays["row_term_start"]
        rows = []
        for block in joint.blocks:
            if arrays["block_unilateral"][block]:
                continue
            for row in range(*arrays["block_row_start"][block : block + 2].tolist()):
                terms = range(*starts[row : row + 2].tolist())
                listed = [
                    (int(arrays["term_coordinate"][t]), float(arrays["term_coefficient"][t])) for t in terms
                ]
                rows.append(listed)
        kinds = [
            arrays["coordinate_kind"][c] for c in (*joint.coordinates, *(c for row in rows for c, _ in row))
        ]
        pairs = {int(arrays["coordinate_pair"][c]) for c in joint.coordinates} | {joint.pair}
        if FORMULA_COORDINATE in kinds or len(rows) + len(joint.coordinates) != 6 or len(pairs) > 1:
            return None
        stops = [
            [(k, m.sign) for k, m in enumerate(model.multipliers) if m.kind == "limit" and m.coordinate == c]
            for c in joint.coordinates
        ]
        return _Frame(rows, tuple(joint.coordinates), stops)

    def beside(self, part: Frames, wrench: Floats, multipliers: Floats) -> Floats:
        """What wrenches (n, 6) have along each free coordinate (n, free) beside the efforts of stops."""
        columns = [sum(w * _direction(part, c) for c, w in row) for row in self.rows]
        columns += [_direction(part, c) for c in self.free]
        matrix = np.stack(columns, axis=2)
        clear = np.linalg.cond(matrix) < _REGULAR
        parts = np.zeros((len(part), 6))
        parts[clear] = np.linalg.solve(matrix[clear], wrench[clear, :, None])[..., 0]
        along = parts[:, len(self.rows) :]
        for k, stops in enumerate(self.stops):
            for number, sign in stops:
                along[:, k] -= sign * multipliers[:, number]
        size = np.linalg.norm(matrix[:, :, len(self.rows) :], axis=1)
        return np.asarray(np.where(clear[:, None], np.abs(along) * size, 0.0))


def _direction(part: Frames, coordinate: int) -> Floats:
    """What a unit effort exerts (n, 6): moment about the origin of marker 2, then force."""
    found = part.at.coordinate(coordinate)
    return np.concatenate([found.moment, found.force], axis=1)
