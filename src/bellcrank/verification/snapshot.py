"""An independent view of instants: markers, coordinates and their gradients, elements given by formulas.

It uses the definitions of coordinates, but none of the solver's rows, Jacobians or frames. Formulas are
evaluated as they are written; their derivatives are differences, so that none of the core's derivatives is
used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any, Final, TypeAlias

import numpy as np

from bellcrank import _core
from bellcrank.compile.model import CustomRecord, JointRecord, Model
from bellcrank.compile.state import Floats, State
from bellcrank.expression.compiled import evaluate
from bellcrank.expression.derivatives import substitute
from bellcrank.expression.expression import t
from bellcrank.expression.reading import symbols_of
from bellcrank.mechanism.coordinate import FORMULA_COORDINATE
from bellcrank.mechanism.rotation_arrays import conjugate, exponential, product

MOTION: Final = ("position", "rotation", "velocity", "angular_velocity")
"""The arrays of a State, which are sections of runs too."""

_STEP: Final = 2e-3  # of differences, in m, rad or a formula's own unit; their errors are of the sixth order
_WEIGHTS: Final = ((1, 3.0 / 4.0), (2, -3.0 / 20.0), (3, 1.0 / 60.0))

Numbers: TypeAlias = dict[Any, float]
Coordinates: TypeAlias = Callable[[int], tuple[float, float]]


@dataclass(frozen=True, eq=False)
class CoordinateAt:
    """A coordinate at instants: value, rate, and what a unit effort along it exerts on the second body.

    value, rate: (n,). force (n, 3), moment (n, 3) about `point` (n, 3), the origin of its marker 2; world
    axes. The first body gets the opposite. curvature: (n,), what its second derivative has beyond force and
    moment times the accelerations of marker 2 seen from marker 1.
    """

    value: Any
    rate: Any
    force: Floats
    moment: Floats
    point: Floats
    bodies: tuple[int, int]
    curvature: Any

    def at(self, number: int) -> CoordinateAt:
        """The same at one of the instants, without their axis."""
        value, rate, force = self.value[number], self.rate[number], self.force[number]
        moment, point = self.moment[number], self.point[number]
        return CoordinateAt(value, rate, force, moment, point, self.bodies, self.curvature[number])


class Snapshots:
    """All bodies, the ground last, and all marker pairs at several States: first index the state.

    poses: position (n, nb, 3), rotation (n, nb, 4), velocity and angular_velocity (n, nb, 3), by name.
    """

    def __init__(self, model: Model, poses: Mapping[str, Floats]) -> None:
        self.model = model
        self._coordinates: dict[int, CoordinateAt] = {}
        still = np.zeros((len(poses["position"]), 1, 3))
        self.position = np.concatenate([poses["position"], still], axis=1)
        self.velocity = np.concatenate([poses["velocity"], still], axis=1)
        self.spin = np.concatenate([poses["angular_velocity"], still], axis=1)
        upright = np.broadcast_to([1.0, 0.0, 0.0, 0.0], (len(still), 1, 4))
        self.rotation = np.concatenate([poses["rotation"], upright], axis=1)
        self.turn = matrices(self.rotation)
        arms = np.einsum("nbij,bj->nbi", self.turn[:, :-1], model.com)
        self.com = self.position[:, :-1] + arms
        self.com_velocity = self.velocity[:, :-1] + np.cross(self.spin[:, :-1], arms)

    @staticmethod
    def of(model: Model, states: Sequence[State]) -> Snapshots:
        """At some states."""
        return Snapshots(model, {name: np.array([getattr(s, name) for s in states]) for name in MOTION})

    @cached_property
    def fastest(self) -> Floats:
        """The largest component (n,) of a velocity or angular velocity, m/s or rad/s."""
        linear, angular = (np.max(np.abs(x), axis=(1, 2)) for x in (self.velocity, self.spin))
        found: Floats = np.maximum(linear, angular)
        return found

    @cached_property
    def inertia(self) -> Floats:
        """Inertias (n, nb, 3, 3) of the bodies about their coms, world axes."""
        turn = self.turn[:, :-1]
        return turn @ self.model.inertia @ np.swapaxes(turn, 2, 3)

    @cached_property
    def pairs(self) -> tuple[Floats, ...]:
        """Per pair: origins, matrix of marker 1, then r, q, their rate and spin in marker-1 axes."""
        arrays = self.model.arrays
        bodies = arrays["pair_bodies"]
        turn, position, spin = self.turn[:, bodies], self.position[:, bodies], self.spin[:, bodies]
        arms = np.einsum("npmij,pmj->npmi", turn, arrays["pair_positions"])
        origins = position + arms
        speeds = self.velocity[:, bodies] + np.cross(spin, arms)
        quaternions = product(self.rotation[:, bodies], arrays["pair_rotations"])
        first = matrices(quaternions[:, :, 0])
        offset = origins[:, :, 1] - origins[:, :, 0]
        drift = speeds[:, :, 1] - speeds[:, :, 0] - np.cross(spin[:, :, 0], offset)
        r, rdot, omega = (
            np.einsum("npji,npj->npi", first, one) for one in (offset, drift, spin[:, :, 1] - spin[:, :, 0])
        )
        q = product(conjugate(quaternions[:, :, 0]), quaternions[:, :, 1])
        return origins, first, r, q, rdot, omega

    def coordinate(self, index: int, near: Floats | None = None) -> CoordinateAt:
        """A coordinate of the model at all instants; angles between -pi and pi.

        near: of a component of a rotation vector that is followed, where the three of them are (n, 3).
        """
        if near is not None:
            return self._evaluated(index, near)
        found = self._coordinates.get(index)
        if found is None:
            found = self._coordinates[index] = self._evaluated(index)
        return found

    def _evaluated(self, index: int, near: Floats | None = None) -> CoordinateAt:
        arrays = self.model.arrays
        pair = int(arrays["coordinate_pair"][index])
        begin, end = arrays["coordinate_param_start"][index : index + 2]
        origins, first, r, q, rdot, omega = (table[:, pair] for table in self.pairs)
        value, by_r, by_turn, curvature = _core.evaluate_coordinates(
            arrays["coordinate_kind"][index],
            r,
            q / np.linalg.norm(q, axis=1, keepdims=True),
            rdot,
            omega,
            np.asarray(arrays["coordinate_params"][begin:end])[None] if near is None else near,
        )
        rate = np.einsum("ni,ni->n", by_r, rdot) + np.einsum("ni,ni->n", by_turn, omega)
        one, two = arrays["pair_bodies"][pair].tolist()
        force, moment = (np.einsum("nij,nj->ni", first, along) for along in (by_r, by_turn))
        return CoordinateAt(value, rate, force, moment, origins[:, 1], (one, two), curvature)

    def relative_motion(self, pair: int) -> tuple[Floats, Floats, Floats]:
        """Origin 2 of a pair (n, 3), and velocity and spin of body 2 there relative to body 1, world axes."""
        origins, first, _, _, rdot, omega = self.pairs
        drift, spin = (np.einsum("nij,nj->ni", first[:, pair], x[:, pair]) for x in (rdot, omega))
        return origins[:, pair, 1], drift, spin

    def speed(self, body: int, point: Floats) -> Floats:
        """The velocity (n, 3) of a body at points (n, 3)."""
        return self.velocity[:, body] + np.cross(self.spin[:, body], point - self.position[:, body])


class Snapshot:
    """All bodies, the ground last, and all marker pairs at one State; the one of that number among others."""

    def __init__(self, model: Model, state: State, among: Snapshots | None = None, number: int = 0) -> None:
        self.model, self.state = model, state
        self._among = among or Snapshots.of(model, [state])
        self._number = number
        self.position, self.velocity = self._among.position[number], self._among.velocity[number]
        self.rotation, self.turn = self._among.rotation[number], self._among.turn[number]
        self.spin, self.com = self._among.spin[number], self._among.com[number]
        self.com_velocity = self._among.com_velocity[number]

    @cached_property
    def _pairs(self) -> tuple[Floats, ...]:
        return tuple(table[self._number] for table in self._among.pairs)

    def coordinate(self, index: int) -> CoordinateAt:
        """A coordinate of the model; angles between -pi and pi."""
        return self._among.coordinate(index).at(self._number)

    def relative_pose(self, pair: int) -> tuple[Floats, Floats]:
        """Marker 2 of a pair seen from marker 1: position (3,) and quaternion (4,)."""
        _, _, r, q, _, _ = (table[pair] for table in self._pairs)
        return r, q / np.linalg.norm(q)

    def relative_twist(self, pair: int) -> Floats:
        """Velocity over spin (6,) of marker 2 seen from marker 1, in its axes."""
        _, _, _, _, rdot, omega = (table[pair] for table in self._pairs)
        return np.concatenate([rdot, omega])

    def marker_axes(self, pair: int) -> tuple[Floats, Floats]:
        """Origin of marker 2 of a pair in the world (3,), and the axes of marker 1 as columns (3, 3)."""
        origins, first, _, _, _, _ = (table[pair] for table in self._pairs)
        return origins[1], first


def matrices(quaternions: Floats) -> Floats:
    """Rotation matrices (..., 3, 3) of quaternions (..., 4)."""
    q = quaternions / np.linalg.norm(quaternions, axis=-1, keepdims=True)
    w, x, y, z = np.moveaxis(q, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def slope(f: Callable[[float], Any], step: float = _STEP) -> Floats:
    """The derivative at zero of a function of one number with array values."""
    total = sum(w * (np.asarray(f(k * step)) - np.asarray(f(-k * step))) for k, w in _WEIGHTS)
    return np.asarray(total / step, dtype=np.float64)


def _changed(formulas: Sequence[Any], known: Numbers, way: Callable[[Numbers, float], Any], h: float) -> Any:
    return evaluate(formulas, way(known, h))


class Formulas:
    """The elements of a model that are given by formulas."""

    def __init__(self, model: Model) -> None:
        self.model = model
        held = [record for record in model.custom if record.lowered.custom is not None]
        self.forces = [record for record in held if record.category == "force"]
        self.constraints = [record for record in held if record.category == "constraint"]

    @cached_property
    def joints(self) -> list[tuple[JointRecord, Any]]:
        """The joints given by formulas, with their kinds."""
        kinds = {r.name: r.lowered.custom for r in self.model.custom if r.category == "joint"}
        return [(j, kinds[j.name]) for j in self.model.joints if kinds.get(j.name) is not None]

    @cached_property
    def owner(self) -> Mapping[int, tuple[JointRecord, Any]]:
        """The joint that each own coordinate belongs to."""
        kinds = self.model.arrays["coordinate_kind"]
        return {
            c: (joint, kind)
            for joint, kind in self.joints
            for c in joint.coordinates
            if kinds[c] == FORMULA_COORDINATE
        }

    def numbers(self, record: CustomRecord, at: Snapshot, coordinates: Coordinates) -> Numbers:
        """The values of all symbols of a force or constraint.

        coordinates: value and rate of a coordinate by its number.
        """
        kind: Any = record.lowered.custom
        known = _constants(kind, at.state.time)
        for end, held in zip(kind.ends, record.ends, strict=True):
            values = coordinates(held) if isinstance(held, int) else _marker(self.model, at, held)
            known |= dict(zip(end.symbols, values, strict=True))
        return known

    def effects(
        self, record: CustomRecord, known: Numbers, formulas: Sequence[Any]
    ) -> list[tuple[Any, Any, Floats]]:
        """Per end: itself, what it holds, and derivatives (formulas, 6 or 1) of formulas by its motion.

        By displacement and turn of a marker in world axes, or by the coordinate; where equations are of
        velocities, by their rates.
        """
        kind: Any = record.lowered.custom
        if bends := getattr(kind, "bends", ()):
            before = tuple(wrap < 0.0 for wrap in evaluate([bend[0] for bend in bends], known))
            formulas = _on_one_side(tuple(formulas), bends, before)
        found = []
        for end, held in zip(kind.ends, record.ends, strict=True):
            ways = _ways(end, isinstance(held, int), of_velocity(record))
            columns = [slope(partial(_changed, formulas, known, way)) for way in ways]
            found.append((end, held, np.column_stack(columns)))
        return found

    def pose(self, kind: Any, values: Sequence[float]) -> tuple[Floats, Floats]:
        """Position (3,) and rotation matrix (3, 3) of marker 2 seen from marker 1 by a joint's formulas."""
        transform = kind.transform
        entries = [*transform.position, *(entry for row in transform.rotation for entry in row)]
        known = _constants(kind, 0.0) | dict(zip(kind.own_symbols, values, strict=True))
        numbers = np.array(evaluate(entries, known))
        return numbers[:3], numbers[3:].reshape(3, 3)

    def twists(self, kind: Any, values: Sequence[float]) -> Floats:
        """What a rate of each own coordinate moves: velocity over spin (6, coordinates), axes of marker 1."""
        columns = []
        turn = self.pose(kind, values)[1]
        for k in range(len(values)):

            def along(h: float, k: int = k) -> Floats:
                position, rotation = self.pose(kind, [v + h * (i == k) for i, v in enumerate(values)])
                return np.concatenate([position, _axial(rotation @ turn.T)])

            columns.append(slope(along))
        return np.column_stack(columns)

    def own(self, coordinate: int, at: Snapshot, values: Sequence[float], rate: float) -> CoordinateAt:
        """An own coordinate of a joint whose coordinates have these values."""
        joint, kind = self.owner[coordinate]
        place = joint.coordinates.index(coordinate)
        gradient = np.linalg.pinv(self.twists(kind, values))[place]
        point, axes = at.marker_axes(joint.pair)
        bodies = (joint.bodies[0], joint.bodies[1])
        force, moment = axes @ gradient[:3], axes @ gradient[3:]
        return CoordinateAt(values[place], rate, force, moment, point, bodies, np.nan)

    def gap(self, joint: JointRecord, kind: Any, at: Snapshot, values: Sequence[float]) -> Floats:
        """Where marker 2 is beside what the formulas say: displacement and turn (6,), axes of marker 1."""
        position, rotation = self.pose(kind, values)
        r, q = at.relative_pose(joint.pair)
        return np.concatenate([r - position, _axial(matrices(q) @ rotation.T)])

    def rolling(self, kind: Any, values: Sequence[float], rates: Sequence[float]) -> Floats:
        """The conditions on the rates of a joint's coordinates (conditions,)."""
        if not kind.rolling:
            return np.zeros(0)
        known = _constants(kind, 0.0) | dict(zip(kind.own_symbols, values, strict=True))
        factors = evaluate([factor for row in kind.rolling for factor in row], known)
        return np.asarray(np.array(factors).reshape(-1, len(rates)) @ np.asarray(rates))


def of_velocity(record: CustomRecord) -> bool:
    """Whether a record is of a constraint whose equations are of velocities."""
    kind: Any = record.lowered.custom
    rates = {symbol for end in kind.ends for symbol in end.rates}
    return record.category == "constraint" and bool(rates & set(symbols_of(*kind.equations)))


def time_slope(formulas: Sequence[Any], known: Numbers) -> Floats:
    """Partial derivatives of formulas by time."""
    return slope(lambda h: evaluate(formulas, known | {t: known[t] + h}))


@lru_cache(maxsize=64)
def _on_one_side(formulas: tuple[Any, ...], bends: tuple[Any, ...], before: tuple[bool, ...]) -> list[Any]:
    """Formulas as they are on one side of what bends them, so that differences do not reach to the other."""
    images = {
        bent: detour if negative else 0.0 for (_, bent, detour), negative in zip(bends, before, strict=True)
    }
    return [substitute(formula, images) for formula in formulas]


def _constants(kind: Any, time: float) -> Numbers:
    return {t: time, **{symbol: float(value) for symbol, value in kind.known.items()}}


def _marker(model: Model, at: Snapshot, marker: Any) -> list[float]:
    """Position, quaternion, velocity and spin of a marker in the world."""
    body = model.body_index[marker.body]
    arm = at.turn[body] @ np.asarray(marker.position, dtype=float)
    quaternion = product(at.rotation[body], np.asarray(marker.rotation, dtype=float))
    velocity = at.velocity[body] + np.cross(at.spin[body], arm)
    parts = (at.position[body] + arm, quaternion / np.linalg.norm(quaternion), velocity, at.spin[body])
    return [float(x) for part in parts for x in part]


def _ways(end: Any, coordinate: bool, by_rates: bool) -> list[Callable[[Numbers, float], Numbers]]:
    """The changes of known numbers by a small motion of an end, in each of its directions."""
    if by_rates:
        return [partial(_shifted, symbol) for symbol in end.rates]
    if coordinate:
        return [partial(_shifted, end.symbols[0])]
    turns = [partial(_turned, end.symbols[3:7], k) for k in range(3)]
    return [*(partial(_shifted, symbol) for symbol in end.symbols[:3]), *turns]


def _shifted(symbol: Any, known: Numbers, h: float) -> Numbers:
    return known | {symbol: known[symbol] + h}


def _turned(symbols: Sequence[Any], axis: int, known: Numbers, h: float) -> Numbers:
    turned = product(exponential(h * np.eye(3)[axis]), np.array([known[s] for s in symbols]))
    return known | dict(zip(symbols, turned.tolist(), strict=True))


def _axial(rotation: Floats) -> Floats:
    """The turn that a rotation matrix near the identity makes, to second order."""
    return 0.5 * np.array(
        [
            rotation[2, 1] - rotation[1, 2],
            rotation[0, 2] - rotation[2, 0],
            rotation[1, 0] - rotation[0, 1],
        ]
    )
