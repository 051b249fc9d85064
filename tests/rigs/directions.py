"""Directions of state, time and numbers: what the core finds along them, and differences as oracle."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bellcrank import _core as core
from bellcrank.errors import Unsupported
from bellcrank.expression.expression import fresh_symbol
from bellcrank.linear.differences import derivatives
from bellcrank.mechanism.rotation_arrays import conjugate, exponential, product, rotate
from bellcrank.mechanism.rows import LAW_PARAMETERS

RECORD = 8  # numbers of a body: com, world axes, 0, rotation or angular velocity, principal axes, 0
CORES = {
    "lagrange": (core.Lagrange, core.RefinedClosingOptions(position_tolerance=1e-15)),
    "dca": (core.Dca, core.DcaOptions(position_tolerance=1e-15)),
    "recursive": (core.Recursive, core.JointSystemOptions(position_tolerance=1e-15)),
    "symbolic": (core.Symbolic, core.JointSystemOptions(position_tolerance=1e-15)),
}


def lagrange_at(model, state):
    """The core of `lagrange` at a state, on the rows."""
    return core_at(model, state, "lagrange")


def core_at(model, state, formulation, opened=False):
    """The core of a formulation at a state, on the rows.

    opened: numbers of the model that may follow parameters in programs of `symbolic` follow one of their own;
    then no equation between coordinates, as of gears, is solved by itself. Raises Unsupported where the
    formulation cannot take the model.
    """
    kind, options = CORES[formulation]
    if formulation == "symbolic" and (reasons := core.Symbolic.refusals(model.core, [])):
        raise Unsupported("; ".join(reasons))
    numbers = (open_numbers(model),) if opened and kind is core.Symbolic else ()
    system = kind(model.core, options, *numbers)
    model.put(system, state)
    for _ in range(3):
        system.project()
    return system


def core_size(system):
    """Numbers of a tangent vector of a core."""
    return core.tangents(system, NONE, NONE, np.zeros(0), [], NONE)[0].size


def open_places(model):
    """Places of numbers that may follow parameters in programs of `symbolic`."""
    starts, kinds = model.arrays["function_param_start"], model.arrays["function_kind"]
    numbers = {name: range(np.size(model.arrays.get(name, ()))) for name in (*EASY, *GEOMETRY, *ROWS)}
    numbers["function_params"] = [
        place
        for function, kind in enumerate(kinds)
        if kind in ("harmonic", "program")
        for place in range(starts[function], starts[function + 1])
    ]
    fixed = {name: set(of(model)) for name, of in FIXED.items()}
    fixed["row_constant"] = set(held_orientations(model, {"formula_row"}))
    return [(name, k) for name, places in numbers.items() for k in places if k not in fixed.get(name, ())]


def open_numbers(model):
    """Each of them a parameter of its own."""
    places = open_places(model)
    symbols = [fresh_symbol(f"{array} {index}") for array, index in places]
    values = [float(np.ravel(model.arrays[array])[index]) for array, index in places]
    entries = [(*place, symbol) for place, symbol in zip(places, symbols, strict=True)]
    return core.ParametricNumbers(symbols, values, entries, [])


class Path:
    """States of a model along a direction, each put onto the rows.

    dx, du: changes of state as the core has them. dt: of time. changes: array of the model, index of a number
    in it, its change.
    """

    def __init__(self, model, state, dx, du, dt=0.0, changes=()):
        self.model, self.state, self.dt, self.changes = model, state, dt, changes
        self.dx, self.du = (one.reshape(-1, RECORD)[: len(model.bodies)] for one in (dx, du))
        self.com = np.asarray(model.arrays["body_com"], dtype=float).reshape(-1, 3)
        self.principal = np.asarray(model.core.principal_rotation)

    def model_at(self, s):
        """The model with numbers changed."""
        arrays = {}
        for array, index, change in self.changes:
            whole = arrays.setdefault(array, np.array(self.model.arrays[array], dtype=float))
            whole.reshape(-1)[index] += s * change
        for name in {"pair_rotations", "wrench_rotation"} & set(arrays):
            arrays[name] /= np.linalg.norm(arrays[name], axis=-1, keepdims=True)
        return self.model.with_arrays(**arrays) if arrays else self.model

    def state_at(self, s):
        """The state of the frames, where points that were centres of mass have moved by s dx and s du."""
        start = self.state
        axes, arm = product(start.rotation, self.principal), rotate(start.rotation, self.com)
        com = start.position + arm + s * self.dx[:, :3]
        velocity = start.velocity + np.cross(start.angular_velocity, arm) + s * self.du[:, :3]
        spin = rotate(conjugate(axes), start.angular_velocity) + s * self.du[:, 4:7]
        axes = product(axes, exponential(s * self.dx[:, 4:7]))
        rotation, omega = product(axes, conjugate(self.principal)), rotate(axes, spin)
        arm = rotate(rotation, self.com)
        return replace(
            start.at_time(start.time + s * self.dt),
            position=com - arm,
            rotation=rotation,
            velocity=velocity - np.cross(omega, arm),
            angular_velocity=omega,
        )

    def at(self, s):
        """Accelerations of these points, as records, and multipliers."""
        system = lagrange_at(self.model_at(s), self.state_at(s))
        linear, angular, multipliers = system.accelerate()
        _, _, rotation, _, omega = system.state()
        arm = rotate(rotation, self.com)
        out = np.zeros((len(self.com) + 1, RECORD))
        out[:-1, :3] = linear + np.cross(angular, arm) + np.cross(omega, np.cross(omega, arm))
        out[:-1, 4:7] = rotate(conjugate(product(rotation, self.principal)), angular)
        return np.concatenate([out.ravel(), multipliers])

    def derivative(self, step=1e-2):
        """Of the accelerations, of the multipliers, and the estimated error of all of them."""

        def sample(points):
            return np.array([self.at(float(s)) for s in points[:, 0]])

        found = derivatives(sample, np.zeros(1), np.array([step]))
        size = self.dx.size + RECORD
        return found.matrix[:size, 0], found.matrix[size:, 0], found.error[:, 0]


NONE = np.zeros((0, 0))
OFF_BREAKS = 0.0137  # s, where no function of time jumps
# Arrays of numbers that keep every loop closed, and of those that need a mechanism without redundancy.
EASY = (
    "gravity",
    "body_mass",
    "body_com",
    "body_inertia",
    "law_params",
    "wrench_constant",
    "wrench_position",
)
GEOMETRY = ("pair_positions", "pair_rotations")
ROWS = ("row_constant", "term_coefficient", "block_compliance")
FUNCTIONS = ("function_params",)
ORIENTATIONS = {"e1", "e2", "e3", "dot_xy"}  # that joints hold at zero


def moving(model, state):
    """The state a little later, with a random velocity that the rows allow.

    Raises Unsupported where the model has parts without derivatives.
    """
    at_rest = lagrange_at(model, state.at_time(state.time + OFF_BREAKS))
    still = np.zeros((1, RECORD * (len(model.bodies) + 1)))
    push = np.random.default_rng(2).normal(size=still.shape)
    _, du, _ = core.closed_directions(at_rest, still, push, np.zeros(0), [], NONE)
    moved = Path(model, model.state_of(at_rest), still[0], du[0]).state_at(1.0)
    return model.state_of(lagrange_at(model, moved))


def random_changes(model, rng, arrays):
    """Changes of all numbers of these arrays; inertias stay symmetric, quaternions of unit length."""
    for name in arrays:
        values = np.array(model.arrays.get(name, ()), dtype=float)
        if not values.size:
            continue
        own = max(np.abs(values).max(), 1e-3)
        if name in ("body_mass", "law_params", "block_compliance"):
            own = np.abs(values)
        if name == "function_params":  # those of one function know nothing of another's unit
            own = np.maximum(np.abs(values), 0.1)
        change = 0.05 * rng.normal(size=values.shape) * own
        if name == "body_inertia":
            least = np.linalg.eigvalsh(values)[:, :1, None]
            change = 0.1 * least * rng.normal(size=values.shape)
            change = 0.5 * (change + np.swapaxes(change, -1, -2))
        if name.endswith("rotations"):
            change = 0.05 * rng.normal(size=values.shape)
            change -= np.sum(change * values, axis=-1, keepdims=True) * values
        fixed = FIXED.get(name, lambda _: ())(model)
        moved = ((name, index, value) for index, value in enumerate(change.ravel()) if index not in fixed)
        yield from (one for one in moved if one[2] != 0.0)


def held_orientations(model, kinds_held=frozenset()):
    """Constants of rows that hold orientations of joints, or coordinates of these kinds."""
    starts, of_term = model.arrays["row_term_start"], model.arrays["term_coordinate"]
    kinds = [model.arrays["coordinate_kind"][coordinate] for coordinate in of_term]
    return [
        row
        for row in range(len(starts) - 1)
        if (ORIENTATIONS | kinds_held) & set(kinds[starts[row] : starts[row + 1]])
    ]


def counts(model):
    """Numbers of functions of which some count others."""
    starts = model.arrays["function_param_start"]
    kinds = model.arrays["function_kind"]
    return [i for f, kind in enumerate(kinds) if kind == "piecewise" for i in range(starts[f], starts[f + 1])]


def sides(model):
    """Places of the numbers of laws that are directions, 1 or -1."""
    starts = model.arrays["law_param_start"]
    return [
        int(starts[law]) + LAW_PARAMETERS[kind].index("direction")
        for law, kind in enumerate(model.arrays["law_kind"])
        if "direction" in LAW_PARAMETERS[kind]
    ]


FIXED = {"law_params": sides, "row_constant": held_orientations, "function_params": counts}


class Direction:
    """A random direction of everything that is named, closed over the rows; `left` is what they are off.

    In the coordinates of the formulation.
    """

    def __init__(self, system, model, rng, dt=0.0, arrays=()):
        self.system, self.model, self.dt = system, model, dt
        self.changes = list(random_changes(model, rng, arrays))
        if isinstance(system, core.Symbolic):
            known = set(open_places(model))
            self.changes = [one for one in self.changes if one[:2] in known]
        self.udot = core.tangents(system, NONE, NONE, np.zeros(0), [], NONE)[0]
        self.start = [0.3 * rng.normal(size=self.udot.size) for _ in range(2)]
        if isinstance(system, core.Lagrange | core.Dca):
            for one in self.start:
                one.reshape(-1, RECORD)[:, [3, 7]] = 0.0
                one.reshape(-1, RECORD)[-1] = 0.0
        dx, du, left = core.closed_directions(system, *(one[None] for one in self.start), *self.rest)
        self.dx, self.du, self.left = dx[0], du[0], left[0]

    @property
    def places(self):
        return [(array, index) for array, index, _ in self.changes]

    @property
    def along(self):
        return np.array([change for _, _, change in self.changes])

    @property
    def rows(self):
        return self.dx[None], self.du[None]

    @property
    def rest(self):
        return np.array([self.dt]), self.places, self.along[None] if self.changes else NONE

    def tangents(self):
        """Changes of accelerations and multipliers."""
        _, rates, multipliers = core.tangents(self.system, *self.rows, *self.rest)
        return rates[0], multipliers[0]

    def of_bodies(self):
        """Records of all bodies: displacements, changes of velocities and accelerations; of multipliers."""
        rates, multipliers = self.tangents()
        found = core.body_directions(
            self.system, self.udot, self.dx[None], self.du[None], rates[None], *self.rest
        )
        return *(one[0] for one in found), multipliers

    def beside_differences(self, state, rtol, steps=(1e-1, 1e-2, 1e-4)):
        """How far off they are, in parts of what is allowed; None where differences know less than 1e-7."""
        dx, du, rates, multipliers = self.of_bodies()
        path = Path(self.model, state, dx, du, self.dt, self.changes)
        found = (path.derivative(step) for step in steps)
        wanted, of_rows, error = min(found, key=lambda one: one[2].max())
        size = max(np.abs(wanted).max(), 1.0)
        if not 10 * error.max() < 1e-7 * size:
            return None
        off = np.abs(rates - wanted).max() / (rtol * size + 10 * error.max())
        if not self.system.dropped_rows():
            size = max(np.abs(of_rows).max(initial=1.0), 1.0)
            beside = np.abs(multipliers - of_rows).max(initial=0.0)
            off = max(off, beside / (rtol * size + 10 * error.max()))
        return float(off)

    def beside_lagrange(self, state):
        """How far off `lagrange` is along this direction, in parts of the largest change."""
        dx, du, rates, multipliers = self.of_bodies()
        lagrange = lagrange_at(self.model, state)
        moves = core.closed_directions(lagrange, dx[None], du[None], *self.rest)[:2]
        _, wanted, of_rows = core.tangents(lagrange, dx[None], du[None], *self.rest)
        pairs = [*((a[0], b) for a, b in zip(moves, (dx, du), strict=True)), (wanted[0], rates)]
        off = [np.abs(a - b).max() / max(np.abs(b).max(), 1.0) for a, b in pairs]
        if not self.system.dropped_rows() and not lagrange.dropped_rows():
            size = max(np.abs(of_rows).max(initial=1.0), 1.0)
            off.append(np.abs(of_rows[0] - multipliers).max(initial=0.0) / size)
        return float(max(off))

    def alone_off(self):
        """How far changes without those of multipliers are off, in parts of the largest.

        They may be found in another way.
        """
        rates, _ = self.tangents()
        _, alone, none = core.tangents(self.system, *self.rows, *self.rest, multipliers=False)
        assert none.shape == (1, 0)
        return float(np.abs(alone[0] - rates).max(initial=0.0) / max(np.abs(rates).max(initial=1.0), 1.0))

    def transposed_off(self, rng):
        """How far gradients of random sums are off the changes of these, in parts of all that is added."""
        return max(self._gradient_off(rng, 1.0), self._gradient_off(rng, 0.0), self._closed_gradient_off(rng))

    def _gradient_off(self, rng, of_all):
        rates, multipliers = self.tangents()
        of_rates, of_rows = rng.normal(size=rates.size), of_all * rng.normal(size=multipliers.size)
        if (
            isinstance(self.system, core.Dca | core.Symbolic) and self.system.dropped_rows()
        ):  # all rows share them
            self.system.accelerate()
            of_rows *= self.system.determined_multipliers()
        found = core.gradient(self.system, of_rates, of_rows, self.places)
        parts = [*(of_rates * rates), *(of_rows * multipliers)]
        return self._off(parts, found, self.dx, self.du)

    def _closed_gradient_off(self, rng):
        of_x, of_u = rng.normal(size=self.dx.size), rng.normal(size=self.dx.size)
        found = core.closed_gradient(self.system, of_x, of_u, self.places)
        return self._off([*(of_x * self.dx), *(of_u * self.du)], found, *self.start)

    def _off(self, forward, found, dx, du):
        by_time, by_x, by_u, by_numbers = found
        backward = [by_time * self.dt, *(by_x * dx), *(by_u * du)]
        backward += [*(by_numbers * self.along)] if self.changes else []
        size = np.abs(forward).sum() + np.abs(backward).sum()
        return abs(sum(backward) - sum(forward)) / max(size, 1e-2)
