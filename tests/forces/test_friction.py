"""Friction and brakes in mechanisms. The regularised law is integrable:

v' = −a tanh(v/w) gives  sinh(v/w) = sinh(v₀/w) exp(−a t/w),  a = F/m.
"""

import numpy as np
import pytest
from rigs.machine import Machine
from rigs.oscillators import INERTIA, MASS, slider, wheel
from scipy.integrate import cumulative_simpson

import bellcrank as bc

TIGHT = {"method": "dopri5", "rtol": 1e-10, "atol": 1e-10}


def run_of(mech, duration, **settings):
    machine = Machine(mech)
    assert machine.system.project()
    return machine.run(duration, **(settings or TIGHT))


def slowed(time, speed, deceleration, width):
    """The speed by the closed form, without overflow."""
    exponent = (
        speed / width - deceleration * time / width
    )  # of sinh(v/w) = ½ exp(exponent) (1 − exp(−2 v₀/w))
    small = np.arcsinh(0.5 * np.exp(np.minimum(exponent, 30.0)) * -np.expm1(-2.0 * speed / width))
    return width * np.where(exponent > 30.0, exponent, small)


@pytest.mark.parametrize("width", [1e-1, 1e-3])
def test_a_sliding_body_stops(width):
    """Speeds by the closed form; it stops after m v₀/F and m v₀²/2F, but for the width."""
    level, speed = 4.0, 1.5
    mech, _ = slider(0.0, speed)
    friction = bc.JointFriction(coulomb=level, regularisation_velocity=width)
    mech.add_force("friction", friction, "joint")
    run = run_of(mech, 2.0, **TIGHT, frames=2001)
    expected = slowed(run.time, speed, level / MASS, width)
    np.testing.assert_allclose(run.qd[:, 0], expected, atol=1e-7)
    np.testing.assert_allclose(run.q[:, 0], cumulative_simpson(expected, x=run.time, initial=0), atol=2e-6)
    stop = MASS * speed / level
    assert run.qd[np.searchsorted(run.time, stop + 5.0 * width * MASS / level), 0] < 0.01 * width
    # ∫ v dt = m/F ∫ v/tanh(v/w) dv = m/F (v₀²/2 + π² w²/12 + ...)
    distance = MASS / level * (0.5 * speed**2 + np.pi**2 / 12.0 * width**2)
    assert run.q[-1, 0] == pytest.approx(distance, abs=1e-7)


def test_viscous_friction_decays_exponentially():
    mech, _ = wheel(0.0, 3.0)
    mech.add_force("friction", bc.JointFriction(viscous=0.7), "joint")
    run = run_of(mech, 2.0)
    np.testing.assert_allclose(run.qd[:, 0], 3.0 * np.exp(-0.7 / INERTIA[2] * run.time), atol=1e-8)


def test_dry_and_viscous_friction_together():
    """Above the width v' = −(F + b v)/m: v = (v₀ + F/b) exp(−b t/m) − F/b until it stops."""
    b, level, speed = 2.0, 3.0, 2.0
    mech, _ = slider(0.0, speed)
    friction = bc.JointFriction(viscous=b, coulomb=level, regularisation_velocity=1e-4)
    mech.add_force("friction", friction, "joint")
    stop = MASS / b * np.log1p(b * speed / level)
    run = run_of(mech, stop - 2e-3)
    expected = (speed + level / b) * np.exp(-b / MASS * run.time) - level / b
    np.testing.assert_allclose(run.qd[:, 0], expected, atol=1e-7)


def test_a_body_on_a_slope_below_stiction_creeps():
    """Held by less than the greatest force it slides at w atanh(load/F), no faster than about the width."""
    load, level, width = 6.0, 8.0, 1e-3
    mech, _ = slider(gravity=(0.0, 0.0, -load / MASS))
    friction = bc.JointFriction(coulomb=level, regularisation_velocity=width)
    mech.add_force("friction", friction, "joint")
    run = run_of(mech, 1.0)
    assert run.qd[-1, 0] == pytest.approx(-width * np.arctanh(load / level), rel=1e-6)


def test_a_body_on_a_slope_above_stiction_slides():
    load, level = 10.0, 8.0
    mech, _ = slider(gravity=(0.0, 0.0, -load / MASS))
    friction = bc.JointFriction(coulomb=level, regularisation_velocity=1e-4)
    mech.add_force("friction", friction, "joint")
    run = run_of(mech, 1.0)
    # It gathers speed as by load − F from the first moments on, which last some m w/F.
    np.testing.assert_allclose(run.qd[10:, 0], -(load - level) / MASS * run.time[10:], atol=2e-3)


def test_stiction_holds_more_than_coulomb_friction():
    """Stribeck: a load between both is held, until a push makes it slide for good."""
    load, coulomb, stiction = 6.0, 4.0, 8.0
    ends = []
    for push in (0.0, 0.5):
        mech, _ = slider(0.0, -push, (0.0, 0.0, -load / MASS))
        friction = bc.JointFriction(coulomb=coulomb, stiction=stiction, stribeck_velocity=0.05)
        mech.add_force("friction", friction, "joint")
        ends.append(run_of(mech, 1.0).qd[-1, 0])
    assert abs(ends[0]) < 2e-3
    assert ends[1] == pytest.approx(-0.5 - (load - coulomb) / MASS, abs=1e-3)


def test_a_brake_follows_its_level():
    """Level 2 t: v = v₀ − t²/J until the wheel stands, and it stays so."""
    mech, _ = wheel(0.0, 4.0)
    level = bc.Harmonic(0.0, 0.0, slope=2.0)
    mech.add_force("brake", bc.Brake(level, regularisation_velocity=1e-4), "joint")
    stop = np.sqrt(4.0 * INERTIA[2])
    run = run_of(mech, 2.0, **TIGHT, frames=2001)
    turning = run.time < stop - 1e-3
    np.testing.assert_allclose(run.qd[turning, 0], 4.0 - run.time[turning] ** 2 / INERTIA[2], atol=1e-7)
    np.testing.assert_allclose(run.qd[run.time > stop + 0.01, 0], 0.0, atol=1e-6)


def test_a_released_brake_does_nothing():
    mech, _ = wheel(0.0, 4.0)
    mech.add_force("brake", bc.Brake(bc.Harmonic(0.0, 0.0, offset=-1.0)), "joint")
    run = run_of(mech, 1.0)
    np.testing.assert_allclose(run.qd[:, 0], 4.0, atol=1e-12)


def test_friction_takes_out_energy_and_never_gives_any():
    """A pendulum with friction in its hinge."""
    mech = bc.Mechanism("pendulum")
    body = mech.add_body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), com=(1.0, 0.0, 0.0))
    axis = (0.0, 1.0, 0.0)
    mech.add_joint("hinge", bc.Revolute(), mech.ground.marker(axis=axis), body.marker(axis=axis))
    friction = bc.JointFriction(0.05, 1.0, 1.5, regularisation_velocity=1e-2)
    mech.add_force("friction", friction, "hinge")
    run = run_of(mech, 10.0)
    assert np.all(np.diff(run.energy) < 1e-9)
    assert abs(run.qd[-1, 0]) < 1e-2
    # At rest off the lowest point: friction bears up to 1.5 N m of the weight's moment.
    assert abs(run.q[-1, 0] - np.pi / 2) < np.arcsin(1.5 / 9.81) + 0.01
