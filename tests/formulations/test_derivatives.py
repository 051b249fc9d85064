"""Accelerations, multipliers and their gradients along directions of state, time and numbers of a model."""

import numpy as np
import pytest
from rigs.directions import RECORD, Path, lagrange_at

from bellcrank import _core as core
from bellcrank import gallery
from bellcrank.errors import Unsupported
from bellcrank.formulations.preparing import prepare
from bellcrank.linear.sampling import without_stops

NONE = np.zeros((0, 0))
OFF_BREAKS = 0.0137  # s, where no function of time jumps
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


def moving(name):
    """Model and state of a mechanism of the gallery, with its stops out of the way, which moves at random."""
    system = prepare(gallery.catalogue()[name](), "lagrange")
    model, state = without_stops(system.model), system.state().at_time(OFF_BREAKS)
    at_rest = lagrange_at(model, state)
    still = np.zeros((1, RECORD * (len(model.bodies) + 1)))
    try:
        push = np.random.default_rng(2).normal(size=still.shape)
        _, du, _ = core.closed_directions(at_rest, still, push, np.zeros(0), [], NONE)
    except Unsupported as refused:
        pytest.skip(str(refused))
    start = model.state_of(at_rest)
    return model, Path(model, start, still[0], du[0]).state_at(1.0)


class Direction:
    """A random direction of everything that is named; what it does by the core."""

    def __init__(self, system, model, rng, dt=0.0, arrays=()):
        n = RECORD * (len(model.bodies) + 1)
        self.system, self.dt = system, dt
        self.changes = list(random_changes(model, rng, arrays))
        self.start = [0.3 * rng.normal(size=n) for _ in range(2)]
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
    def rest(self):
        return np.array([self.dt]), self.places, self.along[None] if self.changes else NONE

    def tangents(self):
        _, rates, multipliers = core.tangents(self.system, self.dx[None], self.du[None], *self.rest)
        return rates[0], multipliers[0]


def random_changes(model, rng, arrays):
    """Changes of all numbers of these arrays; inertias stay symmetric, quaternions of unit length."""
    for name in arrays:
        values = np.array(model.arrays.get(name, ()), dtype=float)
        if not values.size:
            continue
        own = np.abs(values) if name in ("body_mass", "law_params") else max(np.abs(values).max(), 1e-3)
        change = 0.05 * rng.normal(size=values.shape) * own
        if name == "body_inertia":
            least = np.linalg.eigvalsh(values)[:, :1, None]
            change = 0.1 * least * rng.normal(size=values.shape)
            change = 0.5 * (change + np.swapaxes(change, -1, -2))
        if name.endswith("rotations"):
            change = 0.05 * rng.normal(size=values.shape)
            change -= np.sum(change * values, axis=-1, keepdims=True) * values
        yield from ((name, index, value) for index, value in enumerate(change.ravel()))


def check_along(model, state, direction, rtol=1e-7):
    """The derivatives along a direction against differences."""
    rates, multipliers = direction.tangents()
    path = Path(model, state, direction.dx, direction.du, direction.dt, direction.changes)
    wanted, of_rows, error = min(
        (path.derivative(step) for step in (1e-2, 1e-4)), key=lambda one: one[2].max()
    )
    size = max(np.abs(wanted).max(), 1.0)
    assert 10 * error.max() < 1e-4 * size
    np.testing.assert_allclose(rates, wanted, atol=rtol * size + 10 * error.max())
    if not direction.system.dropped_rows():
        size = max(np.abs(of_rows).max(initial=1.0), 1.0)
        np.testing.assert_allclose(multipliers, of_rows, atol=rtol * size + 10 * error.max())


def check_transposed(direction, rng):
    """Gradients of random sums of what is found, along the same direction."""
    rates, multipliers = direction.tangents()
    of_rates, of_rows = rng.normal(size=rates.size), rng.normal(size=multipliers.size)
    by_time, by_x, by_u, by_numbers = core.gradient(direction.system, of_rates, of_rows, direction.places)
    terms = [by_time * direction.dt, by_x @ direction.dx, by_u @ direction.du]
    terms.append(by_numbers @ direction.along if direction.changes else 0.0)
    forward = of_rates @ rates + of_rows @ multipliers
    size = np.abs(of_rates * rates).sum() + np.abs(of_rows * multipliers).sum() + np.abs(terms).sum()
    assert sum(terms) == pytest.approx(forward, abs=1e-11 * size + 1e-13)
    of_x, of_u = rng.normal(size=rates.size), rng.normal(size=rates.size)
    by_time, by_x, by_u, by_numbers = core.closed_gradient(direction.system, of_x, of_u, direction.places)
    terms = [by_time * direction.dt, by_x @ direction.start[0], by_u @ direction.start[1]]
    terms.append(by_numbers @ direction.along if direction.changes else 0.0)
    forward = of_x @ direction.dx + of_u @ direction.du
    size = np.abs(of_x * direction.dx).sum() + np.abs(of_u * direction.du).sum() + np.abs(terms).sum()
    assert sum(terms) == pytest.approx(forward, abs=1e-11 * size + 1e-13)


@pytest.mark.parametrize("name", sorted(gallery.catalogue()))
def test_along_states_and_time(name):
    model, state = moving(name)
    rng = np.random.default_rng(3)
    direction = Direction(lagrange_at(model, state), model, rng, 0.7)
    assert direction.left < 1e-9
    check_along(model, state, direction)
    check_transposed(direction, rng)


@pytest.mark.parametrize("name", sorted(gallery.catalogue()))
def test_along_numbers(name):
    model, state = moving(name)
    rng = np.random.default_rng(4)
    system = lagrange_at(model, state)
    system.accelerate()
    arrays = EASY if system.dropped_rows() else (*EASY, *GEOMETRY)
    direction = Direction(system, model, rng, 0.0, arrays)
    assert direction.left < 1e-9
    check_along(model, state, direction)
    check_transposed(direction, rng)
