"""The states of a mechanism as numbers: coordinates that determine the poses of its bodies, and free rates.

The choice of coordinates follows from the constraints at a state alone, so that all formulations use the same
numbers. Velocity constraints (rolling, blades) remove rates but not coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from bellcrank import _core
from bellcrank.analysis.differences import OutOfReach
from bellcrank.analysis.state_coordinates import (
    StateCoordinate,
    charted,
    directions,
    size_of,
    with_body_coordinates,
)
from bellcrank.assembly.dependence import redundant_at
from bellcrank.assembly.model import Model
from bellcrank.assembly.posing import extended
from bellcrank.assembly.positions import without_rows
from bellcrank.assembly.records import GivenValue
from bellcrank.assembly.state import Floats, State
from bellcrank.errors import Unsupported

_LARGEST: Final = 500  # bodies; null spaces are dense
_ROUNDING: Final = 1e-15  # error with which one correction is enough
_MET: Final = 1e-11  # error of a constraint that a point may have
_DOUBT: Final = 1e-3  # that rows are independent where they are so at the state


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
        self.length = size_of(model, state)
        self.scale = np.array([self.length if one.unit == "m" else 1.0 for one in self.coordinates])

    def __reduce__(self) -> tuple[Any, ...]:
        return StateChart, (self.model, self.state, (), self._names)

    def moved_to(self, model: Model) -> StateChart:
        """The same chart for a model that differs only in numbers."""
        return StateChart(model, self.state, like=self._names)

    def _values(self, state: State) -> tuple[Floats, Floats]:
        self._wide.put(self._bodies, state)
        values, rates = self._bodies.coordinates()
        return values, rates

    def at(self, position: Floats, speed: Floats, time: float | None = None) -> State:
        """The state of the bodies. Raises OutOfReach if the constraints cannot be satisfied."""
        start = self.state if time is None else self.state.at_time(time)
        rates = np.zeros(len(position))
        rates[: self.speeds] = speed
        placed = self._placing.go(start, position, rates)
        if self._moving is self._placing:
            return placed
        return self._moving.go(placed, position[: self.speeds], speed)

    def rates(self, state: State) -> Floats:
        """Rates of all coordinates at a state."""
        return self._values(state)[1][[one.number for one in self.coordinates]]

    def accelerations(self, state: State, linear: Floats, angular: Floats) -> Floats:
        """Rates of the speeds, for accelerations (nb, 3) of the frames, world axes."""
        self._wide.put(self._bodies, state)
        found = self._bodies.coordinate_accelerations(linear, angular)
        return np.asarray(found[[one.number for one in self.coordinates[: self.speeds]]])

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
        moving, freely = directions(self.model, state)
        return moving.shape[1], freely.shape[1]


class _Driven:
    """A model with coordinates that are driven to values and rates, which are inputs.

    without: rows to leave out, such as those redundant at a state: off the constraints they would take the
    place of others.
    """

    def __init__(
        self, model: Model, state: State, without: Sequence[int], coordinates: Sequence[int]
    ) -> None:
        model = without_rows(model, without) if without else model
        if redundant := redundant_at(model, state):
            model = without_rows(model, redundant)
        given = [GivenValue(-1, number, 0.0, "a state") for number in coordinates]
        count, first = len(given), len(model.arrays["function_params"])
        wide = extended(model, given, [0.0] * count, [0.0] * count)
        self._model = wide.with_arrays(
            inputs=[
                *wide.arrays.get("inputs", ()),
                *(([first + 5 * k + part], -1) for part in (0, 1) for k in range(count)),
            ]
        )
        self._others = [float(one.value) for one in model.inputs]
        self._core = _core.Closing(self._model.core, position_tolerance=1e-15, doubt=_DOUBT)

    def go(self, start: State, values: Floats, rates: Floats) -> State:
        self._core.set_state(*start.arrays, False)
        offsets = values - rates * start.time
        self._core.set_inputs(self._model.core, [*self._others, *offsets.tolist(), *rates.tolist()])
        self._model.put(self._core, start)
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
        return self._model.state_of(self._core)
