"""Exact derivatives of quantities at a state of a system, along variables and as gradients.

A coordinate that is a state is a driven one here (`StateChart`), and to change it is to change a number of
its drive; so it is with time, inputs and parameters. The core closes each direction over all rows, and finds
what accelerations and multipliers do along it (docs/theory/derivatives.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from bellcrank import _core
from bellcrank.compile.parametric_numbers import ParametricNumbers
from bellcrank.compile.state import Floats, State
from bellcrank.errors import Unsupported
from bellcrank.formulations.system import System
from bellcrank.linear.own_directions import OwnDirections
from bellcrank.linear.quantities import Change, Motion, Observed, Quantities, records
from bellcrank.linear.state_chart import StateChart
from bellcrank.linear.touching import place_beside
from bellcrank.linear.variables import Variable, directions_along, refuse_open

_OPEN: Final = 1e-9  # change of a row per unit of a variable that is rounding
_HELD: Final = 1e-8  # of a second rate, in parts of the accelerations' change
_BESIDE: Final = 1e-3  # rad, or parts of the mechanism's size


class Tangents:
    """Derivatives of quantities by variables, at any state that a chart reaches.

    followed: what follows parameters; by default as the system says. given: the directions of the variables.
    settled: whether a step ends where it goes to (touching.place_beside).
    After go(). state: the one it went to. observed: the quantities there.
    """

    def __init__(
        self,
        system: System,
        chart: StateChart,
        variables: Sequence[Variable],
        quantities: Quantities,
        followed: ParametricNumbers | None = None,
        settled: bool = False,
    ) -> None:
        self._settled = settled
        self._system, self._chart = system, chart
        self._variables, self._quantities = tuple(variables), quantities
        if followed is None and any(one.kind == "parameter" for one in variables):
            followed = system.followed
        self._followed = followed
        self.given = directions_along(variables, chart, system.model, self._followed)
        self.state: State
        self.observed: Observed

    def go(self, position: Floats, speed: Floats) -> None:
        """Go to a state, by coordinates and speeds of the chart.

        Raises Unsupported for what has no derivatives, MechanismError for variables that open a loop,
        OutOfReach for states that are out of reach.
        """
        system, given = self._system, self.given
        self._close(position, speed)
        linear, angular, multipliers = system.core.accelerate()
        determined = system.core.determined_multipliers()
        accelerations = records(self.state, linear, angular, system.model)
        motion = Motion(self.state, accelerations, linear, angular, multipliers, determined)
        self.observed = self._quantities.at(motion, given, self._followed, self._variables)

    def _close(self, position: Floats, speed: Floats) -> None:
        system, given = self._system, self.given
        self.state = self._chart.at(position, speed)
        place_beside(system, self._chart.state, self.state, self._settled)
        self._own = OwnDirections(system.core, len(system.model.bodies), given)
        self._x, self._u = self._own.of_bodies(*self._chart.directions(given))
        left = _core.closed_directions(
            system.core, self._x, self._u, given.time, given.places, given.numbers
        )[2]
        moved = np.max(np.abs(given.numbers), axis=1, initial=0.0)
        refuse_open(self._variables, left, _OPEN * (1.0 + moved))

    def go_beside(self, position: Floats, speed: Floats) -> None:
        """The same, where loops may be redundant: by way of a state beside it.

        Loops may stay closed at one state by chance. Raises MechanismError as well for variables along which
        they do not a little further on.
        """
        self.go(position, speed)
        if self.redundant:
            signs = np.where(np.arange(len(position)) % 2 == 0, 1.0, -0.7)
            self._close(position + _BESIDE * signs * self._chart.scale, speed)
            self.go(position, speed)

    def forward(self) -> Floats:
        """The derivatives (quantities, variables), variable by variable.

        Raises MechanismError for variables along which rows that depend on others do not stay satisfied.
        """
        given = self.given
        asked = self.observed.of_multipliers
        _, udot, multipliers = _core.tangents(
            self._system.core, self._x, self._u, given.time, given.places, given.numbers, asked
        )
        if not asked:
            multipliers = np.zeros((len(udot), self._system.model.row_count))
        change = Change(*self._own.bodies_along(self._x, self._u, udot), multipliers)
        self._check_rows(change)
        return self.observed.changes(change).T

    def _check_rows(self, change: Change) -> None:
        """The rows left out as redundant are satisfied as well along what is found of the others."""
        dropped = self._system.core.dropped_rows()
        if not dropped:
            return
        off = self.observed.row_changes(change)[:, dropped]
        size = 1.0 + np.max(np.abs(change.udot), axis=1, initial=0.0) / self.pivot
        refuse_open(self._variables, np.max(np.abs(off), axis=1, initial=0.0), _HELD * size)

    def backward(self) -> Floats:
        """The same, quantity by quantity; only the state is followed along each variable.

        Where rows are redundant, forward() has to accept the variables first.
        """
        moved = self._own.bodies_along(self._x, self._u)
        found = [self._gradient(weights, moved) for weights in np.eye(len(self._quantities.listed))]
        return np.array(found).reshape(len(found), len(self._variables))

    def _gradient(self, weights: Floats, moved: tuple[Floats, Floats, Floats]) -> Floats:
        """moved: what bodies do along each variable while the formulation's accelerations stay."""
        given = self.given
        *of_bodies, of_rows, by_time, by_all = self.observed.gradient(weights)
        own_time, by_x, by_u, own_numbers = _core.gradient(
            self._system.core, self._own.weights(of_bodies[2]), of_rows, given.places
        )
        by_state = sum(one @ of for one, of in zip(moved, of_bodies, strict=True))
        by_numbers = given.numbers @ own_numbers + self.observed.numbers @ by_all
        return np.asarray(
            by_state + self._x @ by_x + self._u @ by_u + given.time * (by_time + own_time) + by_numbers
        )

    @property
    def pivot(self) -> float:
        """The smallest pivot of the rows."""
        return float(self._system.core.statistics()["smallest_pivot"])

    @property
    def redundant(self) -> bool:
        """Whether rows were left out as redundant."""
        return bool(self._system.core.dropped_rows())


def refuse_other_formulations(system: System) -> None:
    """Raise Unsupported for formulations whose equations have no derivatives."""
    nothing = np.zeros((0, 0))
    try:
        _core.closed_directions(system.core, nothing, nothing, np.zeros(1), [], nothing)
    except Unsupported as error:
        text = str(error)
        if system.formulation != "lagrange":
            text += ": prepare the mechanism with formulation='lagrange'"
        raise Unsupported(text) from None
