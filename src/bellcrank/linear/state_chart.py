"""The states of a mechanism as numbers: coordinates that determine the poses of its bodies, and free rates.

The choice of coordinates follows from the constraints at a state alone, so that all formulations use the same
numbers. Velocity constraints (rolling, blades) remove rates but not coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from bellcrank import _core
from bellcrank.analysis.mobility import coordinate_jacobian, null_dimension, null_space, pivots
from bellcrank.compile.dependence import redundant_at
from bellcrank.compile.model import GivenValue, Model
from bellcrank.compile.posing import extended
from bellcrank.compile.positions import without_rows
from bellcrank.compile.state import Floats, State, adopted
from bellcrank.errors import Fault, MechanismError, Unsupported
from bellcrank.linear.differences import OutOfReach
from bellcrank.mechanism.checking import nearest
from bellcrank.mechanism.rotation import IDENTITY, multiply
from bellcrank.mechanism.rotation_arrays import conjugate

_POLE: Final = 1e3  # gradient of an angle, in parts of those of usual ones, near a pole of it
_JUMPS: Final = 0.1  # rad short of half a turn, where rotation vectors jump
_OF_BODY: Final = (("x", "m"), ("y", "m"), ("z", "m"), ("rot_x", "rad"), ("rot_y", "rad"), ("rot_z", "rad"))
_LARGEST: Final = 500  # bodies; null spaces are dense
_ROUNDING: Final = 1e-15  # error with which one correction is enough
_MET: Final = 1e-11  # error of a constraint that a point may have
_STRIDE: Final = 0.5  # rad, or parts of the mechanism's size
_DOUBT: Final = 1e-3  # that rows are independent where they are so at the state


@dataclass(frozen=True)
class StateCoordinate:
    """A coordinate that is a state: its joint or body, its name there, its unit, and its number in the model.

    For a body: the position of its frame in the world, and its rotation vector from the initial pose, world
    axes.
    """

    owner: str
    kind: str
    unit: str
    number: int

    @property
    def name(self) -> str:
        """Owner and kind, such as "pivot.theta_z"."""
        return f"{self.owner}.{self.kind}"


def charted(
    model: Model, state: State, first: Sequence[str]
) -> tuple[Model, tuple[StateCoordinate, ...], int, bool]:
    """The model that has the coordinates, these, how many have free rates, and whether some are of bodies."""
    listed, wide = _of_joints(model), model
    known = [one.name for one in listed]
    found = None if any(name not in known for name in first) else _chosen(model, state, listed, first)
    if found is None:
        wide, own = with_body_coordinates(model, state)
        found = _chosen(wide, state, [*listed, *own], first, len(listed))
    if found is None:
        rule = "the coordinates of its joints and bodies have no finite rates here"
        raise MechanismError(Fault(f"mechanism {model.name!r}", rule, None, "go to another state"))
    return wide, *found, wide is not model


def _of_joints(model: Model) -> list[StateCoordinate]:
    return [
        StateCoordinate(joint.name, name, unit, number)
        for joint in model.joints
        for number, name, unit in zip(joint.coordinates, joint.coordinate_names, joint.units, strict=True)
    ]


def with_body_coordinates(model: Model, state: State) -> tuple[Model, list[StateCoordinate]]:
    """The model with coordinates of all bodies: of position, and of rotation from where they are."""
    first = len(model.arrays["coordinate_kind"])
    wide = with_point_coordinates(
        model, state, [(body, (0.0, 0.0, 0.0)) for body in range(len(model.bodies))]
    )
    own = [
        StateCoordinate(name, kind, unit, first + 6 * body + k)
        for body, name in enumerate(model.bodies)
        for k, (kind, unit) in enumerate(_OF_BODY)
    ]
    return wide, own


def with_point_coordinates(
    model: Model, state: State, points: Sequence[tuple[int, Sequence[float]]]
) -> Model:
    """The model with x, y, z, rot_x, rot_y, rot_z in the world as coordinates of each point of a body.

    points: body and position in its frame, m. The rotation is that of the body from where it is at the state.
    """
    arrays, count = model.arrays, len(points)
    bodies = np.array([body for body, _ in points], dtype=np.int32)
    pairs = len(arrays["pair_bodies"])
    still = np.array([1.0, 0.0, 0.0, 0.0])
    turns = np.tile(still, (2 * count, 2, 1))
    turns[1::2, 1] = conjugate(state.rotation[bodies])
    places = np.zeros((2 * count, 2, 3))
    places[:, 1] = np.repeat(np.reshape([place for _, place in points], (-1, 3)), 2, axis=0)
    ends = np.stack([np.full(2 * count, model.ground, dtype=np.int32), np.repeat(bodies, 2)], axis=1)
    starts = arrays["coordinate_param_start"]
    return model.with_arrays(
        pair_bodies=np.concatenate([arrays["pair_bodies"].reshape(-1, 2), ends]),
        pair_positions=np.concatenate([arrays["pair_positions"].reshape(-1, 2, 3), places]),
        pair_rotations=np.concatenate([arrays["pair_rotations"].reshape(-1, 2, 4), turns]),
        coordinate_kind=[*arrays["coordinate_kind"], *[kind for kind, _ in _OF_BODY] * count],
        coordinate_pair=np.concatenate(
            [arrays["coordinate_pair"], np.repeat(pairs + np.arange(2 * count, dtype=np.int32), 3)]
        ),
        coordinate_param_start=np.concatenate([starts, np.full(6 * count, starts[-1], dtype=np.int32)]),
    )


def _chosen(
    model: Model,
    state: State,
    listed: Sequence[StateCoordinate],
    first: Sequence[str],
    joints: int | None = None,
) -> tuple[tuple[StateCoordinate, ...], int] | None:
    """Independent coordinates, those with free rates first, and how many these are; None if too few.

    joints: how many of those listed are joints', which go before those of bodies.
    """
    names = [one.name for one in listed]
    wanted = [_place(names, name) for name in first]
    order = [*wanted, *(k for k in range(len(listed)) if k not in wanted)]
    joints = len(listed) if joints is None else joints
    moving, freely = directions(model, state)
    rates = coordinate_jacobian(model, [listed[k].number for k in order], state)
    steepest = _POLE * (1.0 + 1.0 / model.size(state))
    rates = np.where(np.linalg.norm(rates, axis=1)[:, None] < steepest, rates, 0.0)  # not at poles
    jumps = [_about_to_jump(model, state, listed[k]) for k in order]
    if faulty := [names[k] for k, jump in zip(wanted, jumps, strict=False) if jump]:
        rule = "its rotation vector changes sign here, at half a turn"
        raise MechanismError([Fault(f"state {name!r}", rule, None, "leave it out") for name in faulty])
    rates[jumps] = 0.0
    tiers = (len(wanted), sum(k < joints for k in order[len(wanted) :]))
    speeds = pivots(rates @ moving, *tiers)
    again = [*speeds, *(k for k in range(len(order)) if k not in speeds)]
    tiers = (len(speeds), sum(order[k] < joints for k in again[len(speeds) :]))
    both = [again[k] for k in pivots((rates @ freely)[again], *tiers)]
    if len(speeds) < moving.shape[1] or len(both) < freely.shape[1]:
        return None
    if missing := [names[order[k]] for k in range(len(wanted)) if k not in both]:
        rule = "the constraints and the other states determine it, so that it is none itself"
        raise MechanismError([Fault(f"state {name!r}", rule, None, "leave it out") for name in missing])
    kept = sorted((order[k] for k in speeds), key=order.index)
    rest = sorted((order[k] for k in both if k not in speeds), key=order.index)
    return tuple(listed[k] for k in (*kept, *rest)), len(kept)


def _about_to_jump(model: Model, state: State, one: StateCoordinate) -> bool:
    """Whether a coordinate is of a rotation vector close to half a turn, where it changes its sign."""
    if not one.kind.startswith("rot_"):
        return False
    arrays = model.arrays
    pair = arrays["coordinate_pair"][one.number]
    rotations = np.vstack([state.rotation, IDENTITY])  # of the ground last
    first, second = (
        multiply(rotations[body], turn)
        for body, turn in zip(
            arrays["pair_bodies"].reshape(-1, 2)[pair], arrays["pair_rotations"][pair], strict=True
        )
    )
    return bool(abs(np.dot(first, second)) < np.sin(0.5 * _JUMPS))


def directions(model: Model, state: State) -> tuple[Floats, Floats]:
    """Null spaces of the constraints for velocities and for displacements (6 nb, directions)."""
    columns = 6 * len(model.bodies)
    moving, freely = _jacobians(model, state)
    space = null_space(moving, columns)
    return space, space if freely is moving else null_space(freely, columns)


def _jacobians(model: Model, state: State) -> tuple[Floats, Floats]:
    """Jacobians of the rows that hold velocities, and of those that hold positions."""
    system = model.put(_core.Bodies(model.core), state)
    jacobian, velocity_rows = system.rows()[3], list(model.core.velocity_rows)
    moving = jacobian[model.rigid_rows]
    if not velocity_rows:
        return moving, moving
    positions = model.rigid_rows.copy()
    positions[velocity_rows] = False
    return moving, jacobian[positions]


def _place(names: Sequence[str], name: str) -> int:
    if name in names:
        return list(names).index(name)
    rule = "there is no coordinate of this name"
    raise MechanismError(Fault(f"state {name!r}", rule, None, nearest(str(name), names)))


@dataclass(frozen=True)
class _Names:
    """What a chart has chosen."""

    coordinates: tuple[StateCoordinate, ...]
    speeds: int
    of_bodies: bool


class StateChart:
    """Position coordinates y and speeds v of a mechanism near a state; v are the rates of the first of y.

    coordinates: those of positions; the first `speeds` of them have rates that are free as well; with
        velocity constraints there are more coordinates than speeds. position, speed: their values at the
        state. of_bodies: whether some coordinates are those of bodies. scale: typical sizes of the
        coordinates, 1 rad or the size of the mechanism in m.

    Raises MechanismError for names in `first` that are unknown, or that cannot be states together.
    """

    def __init__(
        self, model: Model, state: State, first: Sequence[str] = (), like: _Names | None = None
    ) -> None:
        if len(model.bodies) > _LARGEST:
            raise Unsupported(
                f"linearize: mechanism {model.name!r} has {len(model.bodies)} bodies; it takes up to "
                f"{_LARGEST}, as its matrices are dense"
            )
        state = adopted(model, state)
        self.model, self.state = model, state
        if like is None:
            wide, coordinates, speeds, of_bodies = charted(model, state, first)
            like = _Names(coordinates, speeds, of_bodies)
        else:
            wide = with_body_coordinates(model, state)[0] if like.of_bodies else model
        self._wide, self._names = wide, like
        self.coordinates, self.speeds, self.of_bodies = like.coordinates, like.speeds, like.of_bodies
        self._bodies = _core.Bodies(self._wide.core)
        velocity_rows = list(model.core.velocity_rows)
        numbers = [one.number for one in self.coordinates]
        self._placing = _Driven(self._wide, state, velocity_rows, numbers)
        self._moving = self._placing
        if velocity_rows:
            self._moving = _Driven(self._wide, state, (), numbers[: self.speeds])
        values, rates = self._values(state)
        self.position, self.speed = values[numbers], rates[numbers[: self.speeds]]
        self.length = model.size(state)
        self.scale = np.array([self.length if one.unit == "m" else 1.0 for one in self.coordinates])

    @property
    def wide(self) -> Model:
        """The model that has the coordinates."""
        return self._wide

    def __reduce__(self) -> tuple[Any, ...]:
        return StateChart, (self.model, self.state, (), self._names)

    def moved_to(self, model: Model, time: float | None = None) -> StateChart:
        """The same chart for a model that differs only in numbers, and at another time, s."""
        state = self.state if time is None else self.state.at_time(time)
        return StateChart(model, state, like=self._names)

    def _values(self, state: State) -> tuple[Floats, Floats]:
        self._wide.put(self._bodies, state)
        values, rates = self._bodies.coordinates()
        return values, rates

    def at(self, position: Floats, speed: Floats) -> State:
        """The state of the bodies. Raises OutOfReach if the constraints cannot be satisfied.

        It goes there from the chart's own in strides, which turn angles as far as they are to go.
        """
        placed = self.state
        rates = np.zeros(len(position))
        rates[: self.speeds] = speed
        way = position - self.position
        strides = max(1, int(np.ceil(np.max(np.abs(way) / self.scale, initial=0.0) / _STRIDE)))
        for k in range(1, strides + 1):
            placed = self._placing.go(
                placed, position if k == strides else self.position + k / strides * way, rates
            )
        if self._moving is self._placing:
            return placed
        return self._moving.go(placed, position[: self.speeds], speed)

    def coordinates_of(self, model: Model, state: State) -> tuple[Floats, Floats]:
        """Positions and speeds of the chart at a state of a model that differs only in numbers."""
        wide = with_body_coordinates(model, self.state)[0] if self.of_bodies else model
        values, rates = wide.put(_core.Bodies(wide.core), state).coordinates()
        numbers = [one.number for one in self.coordinates]
        return values[numbers], rates[numbers[: self.speeds]]

    def rates(self, state: State) -> Floats:
        """Rates of all coordinates at a state."""
        return self._values(state)[1][[one.number for one in self.coordinates]]

    def accelerations(self, state: State, linear: Floats, angular: Floats) -> Floats:
        """Rates of the speeds, for accelerations (nb, 3) of the frames, world axes."""
        self._wide.put(self._bodies, state)
        found = self._bodies.coordinate_accelerations(linear, angular)
        return np.asarray(found[[one.number for one in self.coordinates[: self.speeds]]])

    def directions(self, given: Directions) -> tuple[Floats, Floats]:
        """Where the state goes along changes of coordinates, speeds, time and numbers of the model.

        After at(), from the state that it found. Changes of configuration and velocity, (d, n) each, as the
        core has them.

        Raises Unsupported where something has no derivatives, and OutOfReach where rows do not follow.
        """
        speeds = np.zeros_like(given.values)
        speeds[:, : self.speeds] = given.rates
        dx, du = self._placing.directions(None, replace(given, rates=speeds))
        if self._moving is not self._placing:
            dx, du = self._moving.directions(dx, replace(given, values=given.values[:, : self.speeds]))
        return dx, du

    def shapes(self) -> Floats:
        """Displacement of the frames (nb, 3) and rotation vectors (nb, 3), world axes, for each coordinate.

        (nb, 6, coordinates). Displacements concern positions, so velocity constraints do not restrict them.
        """
        numbers = [one.number for one in self.coordinates]
        values = self.position
        still = self._placing.go(self.state, values, np.zeros(len(numbers)))
        columns = []
        for unit in np.eye(len(numbers)):
            moving = self._placing.go(self.state, values, unit)
            columns.append(
                np.hstack(
                    [moving.velocity - still.velocity, moving.angular_velocity - still.angular_velocity]
                )
            )
        empty = np.zeros((len(self.model.bodies), 6, 0))
        return np.stack(columns, axis=2) if columns else empty

    def degrees_of_freedom(self, state: State) -> tuple[int, int]:
        """Degrees of freedom at a state, of velocities and of displacements."""
        columns = 6 * len(self.model.bodies)
        moving, freely = _jacobians(self.model, state)
        left = null_dimension(moving, columns)
        return left, left if freely is moving else null_dimension(freely, columns)


@dataclass(frozen=True)
class Directions:
    """Directions of what determines a state: changes (d, ...) of each, side by side.

    values, rates: of the coordinates and of the speeds. time: (d,), s. numbers: of the model's numbers at
    `places`, by array and index.
    """

    values: Floats
    rates: Floats
    time: Floats
    places: list[tuple[str, int]]
    numbers: Floats


class _Driven:
    """A model with coordinates that are driven to values and rates, which are inputs.

    without: rows to leave out, such as those redundant at a state: off the constraints they would take the
    place of others.
    """

    def __init__(
        self, model: Model, state: State, without: Sequence[int], coordinates: Sequence[int]
    ) -> None:
        self._kept, source = _Kept(model), model.state_source
        for gone in (without, None):
            rows = redundant_at(model, state) if gone is None else gone
            if rows:
                model = without_rows(model, rows)
                self._kept.drop(rows)
        given = [GivenValue(-1, number, 0.0, "a state") for number in coordinates]
        count, first = len(given), len(model.arrays["function_params"])
        wide = extended(model, given, [0.0] * count, [0.0] * count)
        self._model = wide.with_arrays(
            inputs=[
                *wide.arrays.get("inputs", ()),
                *(([first + 5 * k + part], -1) for part in (0, 1) for k in range(count)),
            ]
        )
        self._first, self._count, self._source = first, count, source
        self._driven = list(coordinates)
        self._others = [float(one.value) for one in model.inputs]
        self._core = _core.Closing(
            self._model.core, _core.RefinedClosingOptions(position_tolerance=1e-15, doubt=_DOUBT)
        )

    def go(self, start: State, values: Floats, rates: Floats) -> State:
        self._core.set_state(*start.arrays, False)
        offsets = values - rates * start.time
        self._core.set_inputs(self._model.core, [*self._others, *offsets.tolist(), *rates.tolist()])
        self._model.put(self._core, replace(start, source=None))  # drives have names of their own
        for _ in range(2):  # the second correction takes away the rounding of a large one
            self._core.project()
            error, drift = self._core.violation()
            if max(error, drift) <= _ROUNDING:
                break
        size = 1.0 + float(np.max(np.abs(rates), initial=0.0))
        if not (error <= _MET * size and drift <= 1e2 * _MET * size):
            row = self._core.worst_row()
            name = "the constraints" if row < 0 else self._model.row_text(row)
            raise OutOfReach(f"{name} cannot be met: off by {max(error, drift):.2g}")
        return replace(self._model.state_of(self._core), source=self._source)

    def directions(self, dx: Floats | None, given: Directions) -> tuple[Floats, Floats]:
        """Where the state goes; values and rates are those of the driven coordinates, (d, coordinates) each.

        dx: changes of the configuration that are known already. Raises OutOfReach if rows do not allow it.
        """
        own = [("function_params", self._first + 5 * k + part) for part in (0, 1) for k in range(self._count)]
        here = [self._kept.place(*one) for one in given.places]
        left = [k for k, one in enumerate(here) if one is not None]
        # The coordinate is offset + rate * time.
        time = self._core.state()[0]
        offsets = given.values - time * given.rates - np.outer(given.time, self._rates())
        changes = np.hstack([offsets, given.rates, given.numbers[:, left]])
        found = _core.closed_directions(
            self._core,
            np.zeros((0, 0)) if dx is None else dx,
            np.zeros((0, 0)),
            given.time,
            [*own, *(one for one in here if one is not None)],
            changes,
        )
        if np.max(found[2], initial=0.0) > _MET * (1.0 + np.max(np.abs(changes), initial=0.0)):
            raise OutOfReach(
                f"rows do not follow a change of the states: they are off by {np.max(found[2]):.2g}"
            )
        return found[0], found[1]

    def _rates(self) -> Floats:
        """Those that the coordinates have."""
        return np.asarray(self._core.coordinates()[1][self._driven])


class _Kept:
    """Which rows, terms and blocks are left of those that a model had."""

    def __init__(self, model: Model) -> None:
        self._terms = np.diff(model.arrays["row_term_start"])
        self._block = model.row_block
        self._rows = np.arange(model.row_count)

    def drop(self, rows: Sequence[int]) -> None:
        """Take out rows by their numbers among those that are left."""
        self._rows = np.delete(self._rows, list(rows))

    def place(self, array: str, index: int) -> tuple[str, int] | None:
        """Where a number of an array stands now; None if it is gone."""
        if array == "row_constant":
            listed = self._rows
        elif array == "term_coefficient":
            starts = np.concatenate([[0], np.cumsum(self._terms)])
            listed = np.concatenate([np.arange(starts[r], starts[r + 1]) for r in self._rows])
        elif array in ("block_compliance", "block_restitution"):
            listed = np.unique(self._block[self._rows])
        else:
            return array, index
        found = np.flatnonzero(listed == index)
        return (array, int(found[0])) if len(found) else None
