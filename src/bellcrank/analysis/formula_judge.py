"""Independent values of elements given by formulas: forces, equations, and joints with own coordinates.

Formulas are evaluated as they are written. Their derivatives are differences, so that none of the core's
derivatives is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np

from bellcrank.analysis.snapshot import CoordinateAt, Snapshot, exponential, matrices, product
from bellcrank.assembly.model import Model
from bellcrank.assembly.records import CustomRecord, JointRecord
from bellcrank.assembly.state import Floats
from bellcrank.mechanism.coordinate import FORMULA_COORDINATE

_STEP = 2e-3  # of differences, in m, rad or a formula's own unit; their errors are of the sixth order
_WEIGHTS = ((1, 3.0 / 4.0), (2, -3.0 / 20.0), (3, 1.0 / 60.0))

Numbers = dict[Any, float]
Coordinates = Callable[[int], tuple[float, float]]


def slope(f: Callable[[float], Any], step: float = _STEP) -> Floats:
    """The derivative at zero of a function of one number with array values."""
    total = sum(w * (np.asarray(f(k * step)) - np.asarray(f(-k * step))) for k, w in _WEIGHTS)
    return np.asarray(total / step, dtype=np.float64)


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
        numbers = np.array(evaluated(entries, known))
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
        factors = evaluated([factor for row in kind.rolling for factor in row], known)
        return np.asarray(np.array(factors).reshape(-1, len(rates)) @ np.asarray(rates))


def _changed(
    formulas: Sequence[Any], known: Numbers, way: Callable[[Numbers, float], Numbers], h: float
) -> list[float]:
    return evaluated(formulas, way(known, h))


def of_velocity(record: CustomRecord) -> bool:
    """Whether a record is of a constraint whose equations are of velocities."""
    from bellcrank.expression.evaluation import symbols_of

    kind: Any = record.lowered.custom
    rates = {symbol for end in kind.ends for symbol in end.rates}
    return record.category == "constraint" and bool(rates & set(symbols_of(*kind.equations)))


def evaluated(formulas: Sequence[Any], known: Numbers) -> list[float]:
    """Values of formulas."""
    from bellcrank.expression.evaluation import evaluate

    return evaluate(formulas, known)


def time_slope(formulas: Sequence[Any], known: Numbers) -> Floats:
    """Partial derivatives of formulas by time."""
    t = _time()
    return slope(lambda h: evaluated(formulas, known | {t: known[t] + h}))


def _time() -> Any:
    from bellcrank.expression.expression import t

    return t


def _constants(kind: Any, time: float) -> Numbers:
    return {_time(): time, **{symbol: float(value) for symbol, value in kind.known.items()}}


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
