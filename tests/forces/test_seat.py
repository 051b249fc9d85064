"""A seat against its curve, its potential, and what it may not do."""

from itertools import pairwise

import numpy as np
import pytest

import bellcrank as bc

FORMULATIONS = ["lagrange", "recursive", "symbolic", "dca"]


def sitting(depth=0.018, aside=0.0, mass=45.0, gravity=9.81, **fields):
    """A body on a seat that is pressed in by a depth, m; it does not turn."""
    mech = bc.Mechanism("sitting", gravity=(0.0, 0.0, -gravity))
    place = (aside, 0.0, -depth)
    body = mech.add_body("rider", mass=mass, inertia=(1.0, 1.0, 1.0), position=place)
    mech.add_force("seat", bc.Seat(**fields), mech.ground.marker(), body.marker())
    return mech


def load_at(mech, formulation="lagrange"):
    """Force on who sits at the start, N."""
    now = bc.prepare(mech, formulation).accelerate()
    body = mech.bodies["rider"]
    return body.mass * (np.array(now.body("rider").linear) - mech.gravity)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("depth", [0.0, 0.005, 0.018, 0.03])
def test_the_load_is_a_cubic_of_the_depth(depth, formulation):
    load = load_at(sitting(depth), formulation)
    assert load == pytest.approx([0.0, 0.0, 1.5e4 * depth + 3e7 * depth**3], abs=1e-9)


def test_nothing_acts_above_the_seat():
    assert load_at(sitting(-0.01, aside=0.02)) == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)
    run = bc.simulate(sitting(-0.1, dissipation=0.0), 0.4, output_step=0.001)
    heights = run.body("rider").position[:, 2]
    top = heights[run.time > 0.2].max()
    assert top == pytest.approx(0.1, abs=1e-4)  # it comes back up to where it fell from


def test_who_is_aside_is_drawn_back_by_the_load_over_the_shear_length():
    along = load_at(sitting(0.018, aside=0.003))
    load = load_at(sitting(0.018))[2]
    assert along[0] == pytest.approx(-load * 0.003 / 0.015)


def test_elastic_forces_have_a_potential():
    mech = sitting(0.018, aside=0.004, dissipation=0.0, shear_damping=0.0)
    run = bc.simulate(mech, 1.0, output_step=0.001, tolerance=1e-11)
    x, z = run.body("rider").position[:, 0], run.body("rider").position[:, 2]
    depth = np.maximum(0.0, -z)
    load = 1.5e4 * depth + 3e7 * depth**3
    stored = 0.5 * 1.5e4 * depth**2 + 0.25 * 3e7 * depth**4 + 0.5 * load * x**2 / 0.015
    energy = run.energy.total + stored
    assert np.ptp(z) > 1e-4
    assert np.ptp(energy) < 1e-8


def test_its_defaults_make_five_hertz_and_a_third_of_critical_damping():
    run = bc.simulate(sitting(0.0182), 1.0, output_step=0.001, tolerance=1e-9)
    z = run.body("rider").position[:, 2]
    rest = 0.0179202835
    assert 1.5e4 * rest + 3e7 * rest**3 == pytest.approx(45.0 * 9.81, rel=1e-6)
    swing = z + rest
    zeros = run.time[1:][np.diff(np.sign(swing)) != 0]
    assert 0.5 / np.mean(np.diff(zeros[:4])) == pytest.approx(4.8, abs=0.25)
    lows = [np.abs(swing[(run.time >= a) & (run.time < b)]).max() for a, b in pairwise(zeros[:4])]
    decrement = np.log(lows[0] / lows[1])
    assert decrement / np.hypot(np.pi, decrement) == pytest.approx(0.3, abs=0.03)


@pytest.mark.parametrize(
    ("fields", "rule"), [({"stiffness": -1.0}, "stiffness"), ({"shear_length": 0.0}, "shear_length")]
)
def test_bad_seats_are_refused(fields, rule):
    with pytest.raises(bc.MechanismError, match=rule):
        bc.Seat(**fields)
