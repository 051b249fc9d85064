"""Accelerations, multipliers and their gradients along directions of state, time and numbers of a model."""

import re

import numpy as np
import pytest
from rigs.differentiated import wrong
from rigs.directions import EASY, GEOMETRY, Direction, lagrange_at, moving
from rigs.random_mechanisms import random_mechanism
from rigs.seeds import over

from bellcrank import gallery
from bellcrank.errors import Unsupported
from bellcrank.formulations.preparing import prepare
from bellcrank.linear.sampling import without_stops

SEEDS = (1, 10, 15, 34, 55, 61, 82, 100, 181)
LACKING = re.compile("derivatives are not implemented for (contacts|coordinates 'formula_coordinate')")


def moves(name):
    """Model and state of a mechanism, with its stops out of the way; None if it has no derivatives."""
    system = prepare(gallery.catalogue()[name](), "lagrange")
    model = without_stops(system.model)
    try:
        return model, moving(model, system.state())
    except Unsupported as refused:
        if LACKING.match(str(refused)):
            return None
        raise


def check(model, state, rng, dt, arrays):
    direction = Direction(lagrange_at(model, state), model, rng, dt, arrays)
    assert direction.left < 1e-9
    off = direction.beside_differences(state, 1e-10)
    assert off is not None
    assert off < 1.0
    assert direction.transposed_off(rng) < 1e-11


@pytest.mark.parametrize("name", sorted(gallery.catalogue()))
def test_along_states_and_time(name):
    if found := moves(name):
        check(*found, np.random.default_rng(3), 0.7, ())


@pytest.mark.parametrize("name", sorted(gallery.catalogue()))
def test_along_numbers(name):
    if found := moves(name):
        system = lagrange_at(*found)
        system.accelerate()
        arrays = EASY if system.dropped_rows() else (*EASY, *GEOMETRY)
        check(*found, np.random.default_rng(4), 0.0, arrays)


def test_most_of_the_gallery_has_derivatives():
    assert sum(moves(name) is not None for name in gallery.catalogue()) >= 22


@over(SEEDS)
def test_random_mechanisms(seed):
    assert wrong(seed) == ""


def test_random_mechanisms_have_what_the_gallery_lacks():
    mechanisms = [random_mechanism(seed) for seed in SEEDS]
    kinds = {
        type(one.kind).__name__
        for mechanism in mechanisms
        for one in (*mechanism.forces.values(), *mechanism.constraints.values(), *mechanism.joints.values())
    }
    assert kinds >= {"Wrench", "CustomForce", "CustomConstraint", "Bushing", "BodyDamping", "PointOnCurve"}
