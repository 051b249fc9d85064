"""Judge of forces frame by frame: the accelerations that follow from them satisfy the constraints.

A reaction, or the effort of a drive, that is not the one that acted moves bodies as the joints do not let
them. Only frames by themselves are taken, so that it does not matter how far apart they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from bellcrank.compile.state import Floats
from bellcrank.mechanism.coordinate import FORMULA_COORDINATE
from bellcrank.trajectory.rubbing import AT_REST
from bellcrank.verification.balance import sizes, with_floor
from bellcrank.verification.constraints import Rows
from bellcrank.verification.evidence import Evidence, Frames
from bellcrank.verification.loads import acting
from bellcrank.verification.motion import accelerations
from bellcrank.verification.verdict import CheckResult, Worst

_ROWS: Final = 1e-6
_COORDINATES: Final = 1e-7
_ALONG: Final = 1e-7
_ALONG_RIGID: Final = 1e-5
_REGULAR: Final = 1e6  # condition of a joint's directions, beyond which it is near a singular pose
_STANDING: Final = 1e-9
"""The largest speed in a mechanism, m/s or rad/s, below which it stands still."""

_STANDING_RIGID: Final = 1e-3
"""The same in steps by impulses: these are found relative to the speeds that weights make in a step."""

_FLAGS: Final[tuple[str, ...]] = ("unique_multipliers", "unique_reactions")
_MOST_ROWS: Final = 300
_KEPT: Final = 1e-4  # of the largest singular value: smaller ones may be those of dependent rows
_LOST: Final = 1e-9  # the same: larger ones may be those of independent rows
_SHARED: Final = 1e-3  # part of a load that redundant rows share
_ALONE: Final = 1e-7
_CHANGES: Final = 6  # of flags that are looked at


class Accelerations:
    """Second derivatives of coordinates at frames, by the accelerations of bodies there."""

    def __init__(self, part: Frames) -> None:
        at, ground = part.at, np.zeros((len(part), 1, 3))
        linear, angular = accelerations(part)
        self._part = part
        self.com = np.concatenate([at.com, ground], axis=1)
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
            arm, spin = origins[:, side] - self.com[:, body], at.spin[:, body]
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
    errors = -rows.driven(part.time)[:, :, 2]
    scales = np.abs(errors) + 1e-300
    pushed, turned = _effects(part)
    for k, terms in enumerate(rows.terms):
        for c, w in terms:
            errors[:, k] += w * found.of(c)
            along = part.at.coordinate(c)
            bodies = model.coordinate_bodies[c].tolist()
            force, moment = (np.linalg.norm(x, axis=1) for x in (along.force, along.moment))
            arms = [np.linalg.norm(along.point - found.com[:, b], axis=1) for b in bodies]
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
        found, recorded = Accelerations(part), part.section("coordinate_accelerations")
        apart = np.stack([np.abs(found.of(c) - recorded[:, k]) for k, c in listed], axis=1)
        names = ("acceleration", "angular_acceleration", "angular_velocity")
        largest = [np.max(np.abs(part.section(name)), axis=(1, 2)) for name in names]
        size = 1.0 + largest[0] + largest[1] + largest[2] ** 2 + np.max(np.abs(recorded), axis=1)
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
    limit = _ALONG_RIGID if evidence.is_rigid else _ALONG
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
        joint = model.joint(name)
        every = [row for block in joint.blocks for row in model.rows_of(block)]
        rows = [model.terms(row) for row in every if not model.one_sided[row]]
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


def judge_reactions(evidence: Evidence) -> list[CheckResult]:
    """Ideal joints: reactions do no work on the relative motion that the joints allow."""
    meaning = "power of a joint's reaction, relative to force times speed"
    if not evidence.has_reactions:
        return [CheckResult("ideal joints", meaning, None, 1e-8, "reactions were not recorded")]
    limit = 1e-5 if evidence.is_rigid else 1e-8  # impulses leave speeds across joints: their residual
    worst = Worst()
    motion = (evidence.sections[name] for name in ("velocity", "angular_velocity"))
    standing = _STANDING_RIGID if evidence.is_rigid else _STANDING
    fastest = max(standing, evidence.speed, *(float(np.max(np.abs(values))) for values in motion))
    for part in evidence.parts(evidence.every):
        wrenches = part.section("reactions")
        largest = np.max(np.abs(wrenches), axis=(1, 2), initial=0.0)
        for number, (name, _, pair) in enumerate(evidence.model.reactions):
            _, drift, spin = part.at.relative_motion(pair)
            moment, force = wrenches[:, number, :3], wrenches[:, number, 3:]
            power = np.einsum("ni,ni->n", force, drift) + np.einsum("ni,ni->n", moment, spin)
            power = np.abs(power - _power_of_stops(part, name))
            size = np.linalg.norm(force, axis=1) + np.linalg.norm(moment, axis=1)
            speed = np.linalg.norm(drift, axis=1) + np.linalg.norm(spin, axis=1)
            found = power / (size * speed + 1e-3 * largest * fastest + 1e-300)
            worst.meet_all(found, f"joint {name!r}", part.time)
    return [worst.result("ideal joints", meaning, limit)] if evidence.model.reactions else []


def _power_of_stops(part: Frames, joint: str) -> Floats:
    """The power (n,) of the limits of a joint, which its reaction contains."""
    power, multipliers = np.zeros(len(part)), part.section("multipliers")
    for number, multiplier in enumerate(part.model.multipliers):
        if multiplier.kind == "limit" and multiplier.element == joint and np.any(multipliers[:, number]):
            power += multiplier.sign * multipliers[:, number] * part.coordinate(multiplier.coordinate).rate
    return power


def judge_flags(evidence: Evidence) -> list[CheckResult]:
    """Flags are 1 or 0, and 0 only where redundant rows share a load, by the judge's own Jacobian."""
    found = {name: evidence.sections[name] for name in _FLAGS if name in evidence.sections}
    tables = {name: values.reshape(len(values), -1) for name, values in found.items() if values.size}
    if not tables:
        return []
    worst = Worst()

    def meet(name: str, wrong: np.ndarray, times: Floats) -> None:
        width = tables[name].shape[1] // found[name].shape[1]
        worst.meet_all(wrong.astype(float), lambda k: evidence.run.layout.element(name, k // width), times)

    for name, values in tables.items():
        meet(name, (values != 0.0) & (values != 1.0), evidence.time)
    if (
        evidence.model.row_count <= _MOST_ROWS
        and not evidence.formulas.constraints
        and not evidence.formulas.joints
    ):
        for frame in _looked_at(evidence, list(tables.values())):
            part = evidence.at_frame(frame)
            kinds = [dict(_own_flags(part, rests)) for rests in (False, True)]
            for name in kinds[0].keys() & kinds[1].keys() & tables.keys():
                # Which friction holds what rests is not recorded: flags count where it makes no difference.
                own = np.where(kinds[0][name] == kinds[1][name], kinds[0][name], -1.0)
                if own.size:
                    wrong = (own >= 0.0) & (own != tables[name][frame])
                    meet(name, wrong[None], evidence.time[frame : frame + 1])
    return [worst.result("flags", "flags of unique efforts and reactions that are wrong", 0.0)]


def _looked_at(evidence: Evidence, tables: list[Floats]) -> list[int]:
    """Frames that are examined closely, and those next to which flags change."""
    changed = np.any(np.concatenate([np.diff(values, axis=0) != 0.0 for values in tables], axis=1), axis=1)
    places = np.flatnonzero(changed)[:_CHANGES]
    return sorted({*evidence.frames, *places.tolist(), *(places + 1).tolist()})


def _own_flags(part: Frames, rests: bool) -> Iterator[tuple[str, Floats]]:
    """Flags at one frame by the judge: 1, 0, or -1 where rounding decides; none if it decides of all.

    rests: whether friction holds all that rests, or nothing.
    """
    model = part.model
    rows, loads = _rows_at(part, rests)
    if not rows:
        yield "unique_multipliers", np.ones(len(model.multipliers))
        return
    shared = _null_space(np.stack([load.ravel() for load in loads]))
    if shared is None:
        return
    places = {row: k for k, row in enumerate(rows)}
    sizes = [
        np.max(np.abs(shared[places[m.row]]), initial=0.0) if m.row in places else 0.0
        for m in model.multipliers
    ]
    yield (
        "unique_multipliers",
        _decided(np.array(sizes), np.array([m.row in places for m in model.multipliers], dtype=bool)),
    )
    found = []
    for _, blocks, _ in model.reactions:
        mine = [places[row] for row in places if model.row_block[row] in blocks]
        effects = [sum(w * _direction(part, c)[0] for c, w in model.terms(rows[k])) for k in mine]
        for section in (slice(0, 3), slice(3, 6)):
            total = sum(
                (np.outer(e[section], shared[k]) for e, k in zip(effects, mine, strict=True)),
                np.zeros((3, shared.shape[1])),
            )
            size = max((float(np.linalg.norm(e[section])) for e in effects), default=1.0) + 1e-300
            found.append(float(np.max(np.abs(total), initial=0.0)) / size)
    yield "unique_reactions", _decided(np.array(found), np.ones(len(found), dtype=bool))


def _decided(sizes: Floats, present: np.ndarray) -> Floats:
    return np.where(~present, -1.0, np.where(sizes < _ALONE, 1.0, np.where(sizes > _SHARED, 0.0, -1.0)))


def _rows_at(part: Frames, rests: bool) -> tuple[list[int], list[Floats]]:
    """The rows that act at a frame, and what a unit of each exerts on bodies (nb, 6), by roots of masses."""
    model, multipliers = part.model, part.section("multipliers")[0]
    pushing = {m.row for k, m in enumerate(model.multipliers) if multipliers[k] != 0.0}
    acts = model.rigid_rows | (model.one_sided & np.isin(np.arange(model.row_count), list(pushing)))
    for row in model.friction_rows.values():
        speed = sum(factor * part.coordinate(c).rate[0] for c, factor in model.terms(row))
        acts[row] = rests and abs(speed) < AT_REST
    roots = np.sqrt(model.mass)
    turning = np.sqrt(np.maximum(np.linalg.eigvalsh(model.inertia)[:, 1], 1e-300))
    rows, loads = [], []
    for row in np.flatnonzero(acts).tolist():
        if not (terms := model.terms(row)):
            continue
        load = np.zeros((model.ground + 1, 6))
        for coordinate, w in terms:
            along = part.at.coordinate(coordinate)
            for body, sign in zip(along.bodies, (-w, w), strict=True):
                if body < model.ground:
                    lever = np.cross(along.point[0] - part.at.com[0, body], along.force[0])
                    load[body] += sign * np.concatenate(
                        [along.force[0] / roots[body], (along.moment[0] + lever) / turning[body]]
                    )
        rows.append(row)
        loads.append(load[:-1])
    return rows, loads


def _null_space(jacobian: Floats) -> Floats | None:
    """Loads (rows, k) of rows that cancel; None where it is not clear how many there are."""
    sizes = np.linalg.norm(jacobian, axis=1, keepdims=True)
    if np.any(sizes <= 0.0):
        return None
    left, values, _ = np.linalg.svd(jacobian / sizes, full_matrices=True)
    values = np.pad(values, (0, len(jacobian) - len(values))) / values[0]
    if np.any((values < _KEPT) & (values > _LOST)):
        return None
    return np.asarray(left[:, values <= _LOST] / sizes)
