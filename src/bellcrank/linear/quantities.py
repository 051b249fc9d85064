"""Quantities at a state that have derivatives: coordinates, bodies, points, efforts, reactions.

Each is a sum of coordinates, of their rates and second rates, and of multipliers, with weights that are known
at the state; so is its change along a direction, and its gradient goes back through the same weights. Bodies
and points have coordinates of their own in a model that is only looked at. A component of a reaction is the
power of its rows at a virtual velocity, of one body of the joint with the other at rest:

    W·e = Σ λ_r J_r V_e,   δ(W·e) = Σ δλ_r J_r V_e + λ_r δ(J_r V_e),

and J_r V_e is a sum of rates of coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import numpy as np

from bellcrank import _core
from bellcrank.compile.model import JointRecord, Model
from bellcrank.compile.parametric_numbers import ParametricNumbers
from bellcrank.compile.state import Floats, State
from bellcrank.errors import FaultList
from bellcrank.linear.state_chart import Directions, with_point_coordinates
from bellcrank.linear.variables import Variable
from bellcrank.mechanism.checking import nearest
from bellcrank.mechanism.marker import GROUND
from bellcrank.mechanism.parameters import evaluated, values_of
from bellcrank.mechanism.rotation_arrays import conjugate, product, rotate

_RECORD: Final = 8  # numbers of a body: com, world axes, 0, rotation or angular velocity, principal axes, 0
_PLACE: Final = (("x", "y", "z"), ("vx", "vy", "vz"), ("ax", "ay", "az"))
_TURN: Final = ((), ("wx", "wy", "wz"), ("alphax", "alphay", "alphaz"))
_LEVELS: Final = ("", "/s", "/s^2")
_REACTION: Final = (("Mx", "N m"), ("My", "N m"), ("Mz", "N m"), ("Fx", "N"), ("Fy", "N"), ("Fz", "N"))
_ENDINGS: Final = ("", ".rate", ".acceleration")
_SHARED: Final = 1e-9  # of a reaction's component per unit of a multiplier, m or 1: rounding


@dataclass(frozen=True)
class Quantity:
    """A number at a state: its name, as in tables of runs, and its unit."""

    name: str
    unit: str


@dataclass(frozen=True)
class OfCoordinate(Quantity):
    """A coordinate of the model looked at, its rate (level 1) or its second rate (2)."""

    coordinate: int
    level: int


@dataclass(frozen=True)
class OfPoint(Quantity):
    """A coordinate of a point of a body in the world, or a component of the body's angular motion.

    point: name of a body or marker. part: 0 to 2 of the point, 3 to 5 of angular velocity or acceleration.
    """

    point: str
    part: int
    level: int


@dataclass(frozen=True)
class OfMultiplier(Quantity):
    """An effort: sign times the multiplier of a row."""

    row: int
    sign: float


@dataclass(frozen=True)
class OfReaction(Quantity):
    """A component of a joint's reaction: moment, then force."""

    joint: JointRecord
    component: int


def _of_joints(model: Model) -> Iterable[Quantity]:
    for joint in model.joints:
        for number, kind, unit in zip(joint.coordinates, joint.coordinate_names, joint.units, strict=True):
            plain = "" if unit == "1" else unit
            for level, ending in enumerate(_ENDINGS):
                text = plain if level == 0 else f"{unit}{_LEVELS[level]}"
                yield OfCoordinate(f"joint.{joint.name}.{kind}{ending}", text, number, level)
        if joint.blocks:
            for k, (part, unit) in enumerate(_REACTION):
                yield OfReaction(f"joint.{joint.name}.{part}", unit, joint, k)


def _of_points(owner: str, turns: bool) -> Iterable[OfPoint]:
    for level in range(3):
        for k, part in enumerate(_PLACE[level]):
            yield OfPoint(f"{owner}.{part}", f"m{_LEVELS[level]}", owner, k, level)
        for k, part in enumerate(_TURN[level] if turns else ()):
            yield OfPoint(f"{owner}.{part}", f"rad{_LEVELS[level]}", owner, 3 + k, level)


def _of_bodies(model: Model) -> Iterable[OfPoint]:
    for name in model.bodies:
        yield from _of_points(f"body.{name}", True)


def _of_markers(model: Model) -> Iterable[OfPoint]:
    for name in _markers(model):
        yield from _of_points(f"marker.{name}", False)


def _markers(model: Model) -> Mapping[str, Any]:
    """Named markers of bodies."""
    if model.source is None:
        return {}
    return {name: one for name, one in model.source.markers.items() if one.body != GROUND}


def _efforts(noun: str, model: Model) -> Iterable[OfMultiplier]:
    """Efforts of drives or constraints."""
    held: dict[str, list[Any]] = {}
    for one in model.multipliers:
        if one.kind == noun:
            held.setdefault(one.element, []).append(one)
    for element, rows in held.items():
        for one in rows:
            ending = "" if len(rows) == 1 else f".{one.coordinate_name}"
            yield OfMultiplier(f"{noun}.{element}.effort{ending}", one.unit, one.row, one.sign)


_KINDS: Final[Mapping[str, Callable[[Model], Iterable[Quantity]]]] = {
    "joint": _of_joints,
    "body": _of_bodies,
    "marker": _of_markers,
    "drive": partial(_efforts, "drive"),
    "constraint": partial(_efforts, "constraint"),
}
"""All quantities of a model, by what their names begin with."""


GROUPS: Final[Mapping[str, tuple[tuple[str, ...], Callable[[Any], bool]]]] = {
    "position": (("joint",), lambda one: isinstance(one, OfCoordinate) and one.level == 0),
    "velocity": (("joint",), lambda one: isinstance(one, OfCoordinate) and one.level == 1),
    "acceleration": (("joint",), lambda one: isinstance(one, OfCoordinate) and one.level == 2),
    "reaction": (("joint",), lambda one: isinstance(one, OfReaction)),
    "effort": (("drive", "constraint"), lambda _: True),
}
"""Names that stand for several quantities: what the names of these begin with, and which they are."""


class _Known:
    """The quantities of a model by name, listed as far as they are asked for."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._listed: dict[str, dict[str, Quantity]] = {}

    def of(self, kind: str) -> dict[str, Quantity]:
        """Those whose names begin so."""
        if kind not in self._listed:
            self._listed[kind] = {one.name: one for one in _KINDS[kind](self._model)}
        return self._listed[kind]

    def find(self, name: str) -> Quantity | None:
        """A quantity by name; "joint." and ".effort" may be left out."""
        kind = name.partition(".")[0]
        own = self.of(kind) if kind in _KINDS else {}
        return own.get(name, own.get(f"{name}.effort")) or self.of("joint").get(f"joint.{name}")


def known_quantities(model: Model, names: Iterable[str]) -> list[Quantity | None]:
    """The quantities of these names, as in tables of runs; None for numbers that are none of them."""
    known = _Known(model)
    return [known.find(name) for name in names]


def quantities_of(model: Model, names: Iterable[str]) -> tuple[list[Quantity], set[str]]:
    """What names stand for, and those that were asked for by themselves.

    Names are those in tables of runs, with or without units. Raises MechanismError listing all unknown names.
    """
    known, faults = _Known(model), FaultList()
    found: dict[str, Quantity] = {}
    alone: set[str] = set()
    for given in names:
        name = given.partition(" [")[0]
        if one := known.find(name):
            found[one.name] = one
            alone.add(one.name)
        elif name in GROUPS:
            kinds, wanted = GROUPS[name]
            several = {n: one for kind in kinds for n, one in known.of(kind).items() if wanted(one)}
            found |= several
            if not several:
                faults.add(f"of {name!r}", "the mechanism has none")
        else:
            rule = "there is no quantity of this name that has derivatives"
            every = [*GROUPS, *(one for kind in _KINDS for one in known.of(kind))]
            faults.add(f"of {name!r}", rule, None, nearest(name, every))
    faults.raise_any()
    return list(found.values()), alone


@dataclass(frozen=True, eq=False)
class Motion:
    """What a formulation found at a state, in records of the core.

    state: of the bodies. udot: accelerations (n,). linear, angular: those of the frames (nb, 3), world axes.
    multipliers: (rows,). determined: (rows,), whether the equations of motion determine them.
    """

    state: State
    udot: Floats
    linear: Floats
    angular: Floats
    multipliers: Floats
    determined: np.ndarray


@dataclass(frozen=True, eq=False)
class Change:
    """What changes along directions (d, ...): configuration, velocity, accelerations, multipliers."""

    x: Floats
    u: Floats
    udot: Floats
    multipliers: Floats


def records(state: State, linear: Floats, angular: Floats, model: Model) -> Floats:
    """Accelerations as the core has them, of all bodies and the ground, from those of the frames (nb, 3)."""
    arm, omega = rotate(state.rotation, model.com), state.angular_velocity
    turn = product(state.rotation, np.asarray(model.core.principal_rotation))
    out = np.zeros((len(linear) + 1, _RECORD))
    out[:-1, :3] = linear + np.cross(angular, arm) + np.cross(omega, np.cross(omega, arm))
    out[:-1, 4:7] = rotate(conjugate(turn), angular)
    return out.ravel()


class Quantities:
    """Quantities of a model; those of points at one state, others at any.

    model: in which coordinates are numbered, and which is given those of points. state: that of points.
    bodies: the core's, to look at the model. first: number of the first coordinate of each point.
    """

    def __init__(self, model: Model, state: State, listed: Sequence[Quantity]) -> None:
        self.listed = tuple(listed)
        names = dict.fromkeys(one.point for one in listed if isinstance(one, OfPoint))
        self._points = [_point(model, name) for name in names]
        self.first = {name: len(model.arrays["coordinate_kind"]) + 6 * k for k, name in enumerate(names)}
        self._pair = len(model.arrays["pair_bodies"])  # the first of those of points
        known = {} if model.source is None else {p.symbol: p.value for p in model.source.parameters.values()}
        numeric = [
            (body, evaluated(position, lambda e: float(values_of([e], known)[e])))
            for body, position in self._points
        ]
        self.model = with_point_coordinates(model, state, numeric) if names else model
        self.bodies = _core.Bodies(self.model.core)

    @property
    def names(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(one.name for one in self.listed)

    def at(
        self,
        motion: Motion,
        given: Directions,
        followed: ParametricNumbers | None,
        variables: Sequence[Variable],
    ) -> Observed:
        """The quantities at a state, to be followed along directions of variables."""
        return Observed(self, motion, self._with_points(given, followed, variables))

    def _with_points(
        self, given: Directions, followed: ParametricNumbers | None, variables: Sequence[Variable]
    ) -> Directions:
        """With changes of where points are on their bodies, which follow parameters as well."""
        rows = [k for k, one in enumerate(variables) if one.kind == "parameter"]
        if followed is None or not rows or not self._points:
            return given
        positions = [x for _, position in self._points for x in position]
        slopes = followed.slopes([variables[k].key for k in rows], positions)
        numbers = np.zeros((len(variables), 2 * len(positions)))
        places: list[tuple[str, int]] = []
        for k in range(len(positions)):
            point, axis = divmod(k, 3)
            for pair in (0, 1):
                numbers[rows, len(places)] = slopes[:, k]
                places.append(("pair_positions", 6 * (self._pair + 2 * point + pair) + 3 + axis))
        return replace(given, places=[*given.places, *places], numbers=np.hstack([given.numbers, numbers]))


def _point(model: Model, name: str) -> tuple[int, Sequence[Any]]:
    kind, _, owner = name.partition(".")
    if kind == "body":
        return model.body_number(owner), (0.0, 0.0, 0.0)
    marker = _markers(model)[owner]
    return model.body_number(marker.body), marker.position


class Observed:
    """Quantities at one state: their values (quantities,), changes along directions, gradients.

    unique: (quantities,), whether the equations of motion determine each. udot: the accelerations (n,).
    numbers: changes of the model's numbers with each variable, those of points last.
    """

    def __init__(self, quantities: Quantities, motion: Motion, given: Directions) -> None:
        self._model, self._bodies = quantities.model, quantities.bodies
        self._motion, self._given = motion, given
        self.udot, self.numbers = motion.udot, given.numbers
        listed, size = quantities.listed, len(self._model.arrays["coordinate_kind"])
        self._weights = np.zeros((3, len(listed), size))
        self._of_rows = np.zeros((len(listed), len(motion.multipliers)))
        self._reactions: list[tuple[int, _Reaction]] = []
        self.unique = np.ones(len(listed), dtype=bool)
        for k, one in enumerate(listed):
            if isinstance(one, OfCoordinate):
                self._weights[one.level, k, one.coordinate] = 1.0
            elif isinstance(one, OfPoint):
                self._weights[one.level, k, quantities.first[one.point] + one.part] = 1.0
            elif isinstance(one, OfMultiplier):
                self._of_rows[k, one.row] = one.sign
                self.unique[k] = motion.determined[one.row]
            elif isinstance(one, OfReaction):
                reaction = _Reaction(self._model, self._bodies, motion, one)
                self._reactions.append((k, reaction))
                self._of_rows[k] = reaction.of_rows
        self._turns = [
            (k, one, quantities.first[one.point] + 3)
            for k, one in enumerate(listed)
            if isinstance(one, OfPoint) and one.part >= 3
        ]
        self.values = self._values()

    @property
    def of_multipliers(self) -> bool:
        """Whether multipliers take part in any of them."""
        return bool(np.any(self._of_rows))

    def _look(self) -> None:
        self._model.put(self._bodies, self._motion.state)

    def _values(self) -> Floats:
        motion = self._motion
        self._look()
        values, rates = self._bodies.coordinates()
        second = self._bodies.coordinate_accelerations(motion.linear, motion.angular)
        for k, one, first in self._turns:
            self._weigh_turn(k, one, rates, second, first)
        found = sum(w @ v for w, v in zip(self._weights, (values, rates, second), strict=True))
        return np.asarray(found + self._of_rows @ np.where(motion.determined, motion.multipliers, 0.0))

    def _weigh_turn(self, k: int, one: OfPoint, rates: Floats, second: Floats, first: int) -> None:
        """Of the rotation vector r, zero here: δω = δṙ + ½ δr×ṙ, δα = δr̈ + ½ δr×r̈ + ⅙ ṙ×(δr×ṙ)."""
        part = slice(first, first + 3)
        axis = np.eye(3)[one.part - 3]
        moved = second[part] if one.level == 2 else rates[part]
        self._weights[0, k, part] = 0.5 * np.cross(moved, axis)
        if one.level == 2:
            self._weights[0, k, part] += np.cross(rates[part], np.cross(axis, rates[part])) / 6.0

    def changes(self, change: Change) -> Floats:
        """Changes along directions, (d, quantities)."""
        given = self._given
        self._look()
        found = _core.coordinate_tangents(
            self._bodies,
            self._motion.udot,
            change.x,
            change.u,
            change.udot,
            given.time,
            given.places,
            given.numbers,
        )
        out = sum(one @ w.T for one, w in zip(found, self._weights, strict=True))
        out = out + change.multipliers @ self._of_rows.T
        for k, reaction in self._reactions:
            out[:, k] += reaction.changes(change, given)
        self._note_unique(given, change)
        return np.asarray(out)

    def row_changes(self, change: Change) -> Floats:
        """Changes of the second rates of all rows, (d, rows): zero where they hold."""
        given = self._given
        self._look()
        found: Floats = _core.row_tangents(
            self._bodies,
            self._motion.udot,
            change.x,
            change.u,
            change.udot,
            given.time,
            given.places,
            given.numbers,
        )
        return found

    def gradient(self, weights: Floats) -> tuple[Floats, Floats, Floats, Floats, float, Floats]:
        """Of a sum with weights (quantities,): by what a Change has, by time, and by numbers of the model."""
        given = self._given
        self._look()
        values, rates, second = (weights @ w for w in self._weights)
        by_time, x, u, udot, numbers = _core.coordinate_gradient(
            self._bodies, self._motion.udot, values, rates, second, given.places
        )
        for k, reaction in self._reactions:
            if weights[k] != 0.0:
                by_x, by_numbers = reaction.gradient(given)
                x = x + weights[k] * by_x
                numbers = numbers + weights[k] * by_numbers
        return x, u, udot, weights @ self._of_rows, by_time, numbers

    def _note_unique(self, given: Directions, change: Change) -> None:
        for k, reaction in self._reactions:
            self.unique[k] &= reaction.is_unique(change, given)


class _Reaction:
    """A component of a reaction at a state, by a virtual velocity of the body that is moved.

    That is the second body, about the origin of marker 2; or the first, the opposite way, if the second is
    the ground. of_rows: (rows,), what it is by each multiplier.
    """

    def __init__(self, model: Model, bodies: _core.Bodies, motion: Motion, one: OfReaction) -> None:
        self._model, self._bodies, self._determined = model, bodies, motion.determined
        first, second = one.joint.bodies
        self._fixed = second == model.ground
        self._body, sign = (first, -1.0) if self._fixed else (second, 1.0)
        self._pair = one.joint.pair
        self._axis = sign * np.eye(3)[one.component % 3]
        self._turns = one.component < 3
        state = motion.state
        self._turn = product(state.rotation, np.asarray(model.core.principal_rotation))  # principal to world
        place = np.asarray(model.arrays["pair_positions"]).reshape(-1, 2, 3)[self._pair, 1]
        point = place if self._fixed else state.position[second] + rotate(state.rotation[second], place)
        com = state.position + rotate(state.rotation, model.com)
        self._arm = np.zeros(3) if self._fixed else point - com[second]
        self._rotation = None if self._fixed else state.rotation[second]
        velocity, spin = np.zeros_like(state.velocity), np.zeros_like(state.velocity)
        velocity[self._body] = self._axis
        if self._turns:
            velocity[self._body] = np.cross(self._axis, state.position[self._body] - point)
            spin[self._body] = self._axis
        self._state = replace(state, velocity=velocity, angular_velocity=spin)
        self._spin = rotate(conjugate(self._turn[self._body]), spin[self._body])  # principal axes
        self._place_rows(motion, one.joint)

    def _place_rows(self, motion: Motion, joint: JointRecord) -> None:
        """The weights of coordinates' rates, of determined rows and of others; and of rows."""
        model = self._model
        self._look()
        rates = self._bodies.coordinates()[1]
        self.of_rows = np.zeros(len(motion.multipliers))
        self._weights = np.zeros(len(rates))
        self._shared: list[list[tuple[int, float]]] = []  # terms of rows that are not determined
        self._terms: dict[int, float] = {}  # by place in term_coefficient
        for row in (row for block in joint.blocks for row in model.rows_of(block)):
            terms = model.terms(row)
            power = sum(factor * rates[coordinate] for coordinate, factor in terms)
            self.of_rows[row] = power
            if not self._determined[row]:
                self._shared.append(terms)
                continue
            start = int(model.arrays["row_term_start"][row])
            for k, (coordinate, factor) in enumerate(terms):
                self._weights[coordinate] += motion.multipliers[row] * factor
                self._terms[start + k] = motion.multipliers[row] * rates[coordinate]
        self._is_unique = not np.any(np.abs(self.of_rows[~self._determined]) > _SHARED)
        self.of_rows[~self._determined] = 0.0

    def _look(self) -> None:
        self._model.put(self._bodies, self._state)

    def _rates(self, change: Change, given: Directions) -> Floats:
        """Changes of the coordinates' rates at the virtual velocity, (d, coordinates)."""
        self._look()
        still = np.zeros_like(change.x)
        found: Floats = _core.coordinate_tangents(
            self._bodies,
            still[0] if len(still) else np.zeros(still.shape[1]),
            change.x,
            self._virtual(change.x, given),
            still,
            given.time,
            given.places,
            given.numbers,
        )[1]
        return found

    def changes(self, change: Change, given: Directions) -> Floats:
        """Changes (d,) at given multipliers."""
        along = np.array(
            [self._terms.get(k, 0.0) if a == "term_coefficient" else 0.0 for a, k in given.places]
        )
        return np.asarray(self._rates(change, given) @ self._weights + given.numbers @ along)

    def is_unique(self, change: Change, given: Directions) -> bool:
        """Whether rows that are not determined take no part, here and along directions."""
        if not self._is_unique or not self._shared:
            return self._is_unique
        rates = self._rates(change, given)
        shares = np.array([rates[:, [c for c, _ in terms]] @ [f for _, f in terms] for terms in self._shared])
        size = 1.0 + np.max(np.abs(rates), axis=1, initial=0.0)
        return not np.any(np.abs(shares) > _SHARED * size)

    def _virtual(self, x: Floats, given: Directions) -> Floats:
        """Changes of the virtual velocity, as records: of the point, of the arm, and of principal axes."""
        out = np.zeros_like(x)
        if self._turns:
            at = _RECORD * self._body
            here, spin = slice(at, at + 3), slice(at + 4, at + 7)
            out[:, spin] = np.cross(self._spin, x[:, spin])
            moved = given.numbers @ self._slopes(given)
            if not self._fixed:
                turn = rotate(self._turn[self._body], x[:, spin])
                moved = moved + x[:, here] + np.cross(turn, self._arm)
            out[:, here] = np.cross(self._axis, x[:, here] - moved)
        return out

    def _slopes(self, given: Directions) -> Floats:
        """What the origin of marker 2 moves by with each number, (places, 3), world axes."""
        out = np.zeros((len(given.places), 3))
        first = 6 * self._pair + 3
        for row, (array, index) in enumerate(given.places):
            if array == "pair_positions" and first <= index < first + 3:
                unit = np.eye(3)[index - first]
                out[row] = unit if self._rotation is None else rotate(self._rotation, unit)
        return out

    def gradient(self, given: Directions) -> tuple[Floats, Floats]:
        """By configuration (n,), and by numbers of the model, at given multipliers."""
        self._look()
        nothing = np.zeros_like(self._weights)
        n = _RECORD * (len(self._model.bodies) + 1)
        _, x, u, _, numbers = _core.coordinate_gradient(
            self._bodies, np.zeros(n), nothing, self._weights, nothing, given.places
        )
        numbers = numbers.copy()
        for k, (array, index) in enumerate(given.places):
            if array == "term_coefficient":
                numbers[k] += self._terms.get(index, 0.0)
        if not self._turns:
            return x, numbers
        x, at = x.copy(), _RECORD * self._body
        here, spin = slice(at, at + 3), slice(at + 4, at + 7)
        x[spin] += np.cross(u[spin], self._spin)
        force = np.cross(u[here], self._axis)
        x[here] += force
        numbers -= self._slopes(given) @ force
        if not self._fixed:
            x[here] -= force
            x[spin] -= rotate(conjugate(self._turn[self._body]), np.cross(self._arm, force))
        return x, numbers
