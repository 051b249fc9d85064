"""Springs, dampers, bushings and seats in mechanisms against closed forms."""

from itertools import pairwise

import numpy as np
import pytest
from rigs.machine import Machine, matrix
from rigs.oscillators import INERTIA, MASS, damped, free_body, slider, wheel
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk

import bellcrank as bc
from bellcrank.formulations.preparing import MOVING

# rk4 at 1 ms with frequencies of some 10 rad/s: (0.01)⁴/120 a step, 1e-8 after two seconds at the most.
ACCURACY = 1e-8


def run_of(mech, duration=2.0, **settings):
    machine = Machine(mech)
    assert machine.system.project()
    return machine.run(duration, **settings)


@pytest.mark.parametrize("damping", [0.0, 2.0, 2.0 * np.sqrt(200.0 * MASS) + 0.1, 150.0])
def test_a_mass_on_a_spring_and_damper(damping):
    """Weak, nearly critical and strong damping, with preload and weight, about the equilibrium."""
    stiffness, rest, preload, g = 200.0, 0.6, 3.0, 9.81
    mech, body = slider(0.9, 0.7, (0.0, 0.0, -g))
    spring = bc.SpringDamper(stiffness, damping, rest, preload)
    mech.add_force("spring", spring, mech.ground.marker(), body.marker())
    run = run_of(mech)
    level = rest + (preload - MASS * g) / stiffness
    x, v = damped(run.time, 0.9 - level, 0.7, stiffness, damping, MASS)
    np.testing.assert_allclose(run.q[:, 0], x + level, atol=ACCURACY)
    np.testing.assert_allclose(run.qd[:, 0], v, atol=20 * ACCURACY)
    if damping == 0.0:
        assert run.drift < 1e-7


def test_a_spring_at_rest_where_it_starts():
    mech, body = slider(0.9)
    mech.add_force("spring", bc.SpringDamper(50.0), mech.ground.marker(), body.marker())
    run = run_of(mech, 0.5)
    np.testing.assert_allclose(run.q[:, 0], 0.9, atol=1e-14)


def test_two_free_bodies_on_a_spring():
    """They swing with the reduced mass, and their common centre moves on uniformly."""
    mech = bc.Mechanism("pair", gravity=(0.0, 0.0, 0.0))
    masses, drift = (2.0, 3.0), np.array([0.1, 0.2, -0.3])
    ends = [
        mech.add_body(
            f"b{k}", mass=m, inertia=(0.1, 0.2, 0.25), position=(x, 0.0, 0.0), velocity=tuple(drift)
        )
        for k, (m, x) in enumerate(zip(masses, (0.0, 1.2), strict=True))
    ]
    mech.add_force("spring", bc.SpringDamper(80.0, 0.0, 1.0), *(body.marker() for body in ends))
    run = run_of(mech)
    stretch, _ = damped(run.time, 0.2, 0.0, 80.0, 0.0, 6.0 / 5.0)
    np.testing.assert_allclose(run.position[:, 1, 0] - run.position[:, 0, 0], 1.0 + stretch, atol=ACCURACY)
    centre = np.einsum("b,tbi->ti", masses, run.position) / 5.0
    np.testing.assert_allclose(centre, centre[0] + np.outer(run.time, drift), atol=1e-12)


def test_the_force_of_a_spring_acts_along_its_line():
    """Between points off the centres of mass of two bodies at rest."""
    mech, body = free_body(position=(0.4, 0.3, 0.2), rotation=(0.8, 0.0, 0.6, 0.0))
    at, hold = np.array([0.1, -0.2, 0.3]), np.array([0.0, 1.0, 0.0])
    spring = bc.SpringDamper(70.0, 0.0, 0.5, 4.0)
    mech.add_force("spring", spring, mech.ground.marker(tuple(hold)), body.marker(tuple(at)))
    machine = Machine(mech)
    linear, angular, _ = machine.system.accelerate()
    R = matrix(body.rotation)
    arm = R @ at
    line = np.array(body.position) + arm - hold
    length = np.linalg.norm(line)
    force = (-70.0 * (length - 0.5) + 4.0) * line / length
    np.testing.assert_allclose(linear[0], force / MASS, rtol=1e-12)
    inertia = R @ np.diag(INERTIA) @ R.T
    np.testing.assert_allclose(angular[0], np.linalg.solve(inertia, np.cross(arm, force)), rtol=1e-12)


@pytest.mark.parametrize("damping", [0.0, 0.4])
def test_a_wheel_on_a_torsion_spring(damping):
    """Also over several turns: the angle of a joint counts them."""
    stiffness, rest, preload = 20.0, 0.3, 1.0
    mech, _ = wheel(0.5, 60.0)
    mech.add_force("spring", bc.TorsionSpring(stiffness, damping, rest, preload), "joint")
    run = run_of(mech, 1.0)
    level = rest + preload / stiffness
    x, _ = damped(run.time, 0.5 - level, 60.0, stiffness, damping, INERTIA[2])
    assert np.ptp(x) > 3 * np.pi
    np.testing.assert_allclose(run.q[:, 0], x + level, atol=100 * ACCURACY)


def test_a_torsion_spring_on_a_travel():
    mech, _ = slider(0.4)
    mech.add_force("spring", bc.TorsionSpring(90.0, 1.0, rest_angle=0.1), joint="joint")
    run = run_of(mech)
    x, _ = damped(run.time, 0.3, 0.0, 90.0, 1.0, MASS)
    np.testing.assert_allclose(run.q[:, 0], 0.1 + x, atol=ACCURACY)


def test_a_cubic_spring():
    """Duffing's equation m x'' + k x + a x³ = 0 from rest: x = A cn(Ω t, κ²), Ω² = (k + a A²)/m."""
    k, a, A = 30.0, 200.0, 0.5
    mech, _ = slider(A)
    places = np.linspace(-1.0, 1.0, 41)
    effort = bc.CubicSpline(
        tuple(places), tuple(-k * places - a * places**3), "clamped", (-k - 3 * a, -k - 3 * a)
    )
    mech.add_force("spring", bc.TabulatedSpring(effort), "joint")
    run = run_of(mech)
    rate, modulus = np.sqrt((k + a * A**2) / MASS), a * A**2 / (2.0 * (k + a * A**2))
    x = A * ellipj(rate * run.time, modulus)[1]
    assert run.time[-1] > 4.0 * ellipk(modulus) / rate  # more than a period
    np.testing.assert_allclose(run.q[:, 0], x, atol=10 * ACCURACY)  # the spline is the cubic itself
    assert run.drift < 1e-7


def test_a_tabulated_spring_between_markers():
    """A gas spring pushes two points apart; against an integration of its own."""
    table = bc.Table((0.1, 0.3, 0.5, 0.9), (80.0, 30.0, 18.0, 10.0))
    mech, body = slider(0.3, gravity=(0.0, 0.0, -9.81))
    mech.add_force("gas", bc.TabulatedSpring(table, damping=6.0), mech.ground.marker(), body.marker())
    run = run_of(mech, step=5e-4)

    def rate(_, state):
        x, v = state
        return [v, (float(table(x)) - 6.0 * v) / MASS - 9.81]

    found = solve_ivp(rate, (0.0, 2.0), [0.3, 0.0], t_eval=run.time, rtol=1e-10, atol=1e-12, max_step=1e-3)
    np.testing.assert_allclose(
        run.q[:, 0], found.y[0], atol=1e-6
    )  # both lose a little at the kinks of the table


@pytest.mark.parametrize("axis", range(3))
def test_a_bushing_along_and_about_its_axes(axis):
    """Six oscillators. One axis at a time, for turns about several axes do not add."""
    k, c = np.array([300.0, 200.0, 100.0]), np.array([3.0, 2.0, 1.0])
    kr, cr = np.array([20.0, 30.0, 40.0]), np.array([0.2, 0.1, 0.3])
    start, turn = 0.1 * np.eye(3)[axis], 0.4
    rotation = (np.cos(turn / 2), *(np.sin(turn / 2) * np.eye(3)[axis]))
    mech, body = free_body(position=tuple(start), rotation=rotation)
    bushing = bc.Bushing(tuple(k), tuple(kr), tuple(c), tuple(cr))
    mech.add_force("bushing", bushing, mech.ground.marker(), body.marker())
    run = run_of(mech)
    x, _ = damped(run.time, 0.1, 0.0, k[axis], c[axis], MASS)
    np.testing.assert_allclose(run.position[:, 0], np.outer(x, np.eye(3)[axis]), atol=ACCURACY)
    angle, _ = damped(run.time, turn, 0.0, kr[axis], cr[axis], INERTIA[axis])
    np.testing.assert_allclose(2.0 * np.arcsin(run.rotation[:, 0, 1 + axis]), angle, atol=10 * ACCURACY)


def test_a_bushing_settles_where_it_balances_a_wrench():
    mech, body = free_body()
    k, kr = (300.0, 200.0, 100.0), (20.0, 30.0, 40.0)
    bushing = bc.Bushing(k, kr, (40.0, 40.0, 40.0), (4.0, 4.0, 4.0))
    mech.add_force("bushing", bushing, mech.ground.marker(), body.marker())
    mech.add_force("load", bc.Wrench(force=(6.0, -8.0, 5.0), moment=(0.0, 3.0, 0.0)), body.marker())
    run = run_of(mech, 20.0, step=4e-3)
    np.testing.assert_allclose(run.position[-1, 0], [6.0 / 300.0, -8.0 / 200.0, 5.0 / 100.0], atol=1e-9)
    np.testing.assert_allclose(2.0 * np.arcsin(run.rotation[-1, 0, 1:]), [0.0, 3.0 / 30.0, 0.0], atol=1e-9)


STIFFNESS, TURNED_INERTIA, SPEED = 2.0, 0.1, 40.0  # turns by 8.9 rad, more than once round


def shaft(axis, held):
    mech = bc.Mechanism("shaft", gravity=(0.0, 0.0, 0.0))
    spin = SPEED * np.array(axis) / np.linalg.norm(axis)
    body = mech.add_body("body", 1.0, (TURNED_INERTIA,) * 3, angular_velocity=spin)
    if held:
        mech.add_joint("pivot", bc.Revolute(), mech.ground.marker(axis=axis), body.marker(axis=axis))
    rubber = bc.Bushing(rotational_stiffness=(STIFFNESS,) * 3)
    mech.add_force("rubber", rubber, mech.ground.marker(), body.marker())
    return mech


@pytest.mark.parametrize("formulation", MOVING)
@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("axis", [(0.0, 0.0, 1.0), (1.0, 2.0, 3.0)])
def test_a_bushing_winds_up_and_swings_back(axis, held, formulation):
    run = bc.simulate(shaft(axis, held), 3.0, formulation=formulation, tolerance=1e-9)
    way, frequency = np.array(axis) / np.linalg.norm(axis), np.sqrt(STIFFNESS / TURNED_INERTIA)
    spin = run.body("body").angular_velocity @ way
    assert spin == pytest.approx(SPEED * np.cos(frequency * run.time), abs=1e-4)
    turned = SPEED / frequency * np.sin(frequency * run.time)
    torque = run.force("rubber").effort @ way
    assert torque == pytest.approx(-STIFFNESS * turned, abs=1e-4)
    assert np.abs(turned).max() > 2.0 * np.pi
    assert np.abs(run.energy.drift).max() < 1e-5


def test_a_wound_bushing_goes_on_from_a_state_and_a_file_and_passes_the_judge(tmp_path):
    mech = shaft((1.0, 2.0, 3.0), True)
    run = bc.simulate(mech, 1.0, tolerance=1e-9)
    run.save(tmp_path / "run.h5")
    assert bc.verify(bc.Trajectory.load(tmp_path / "run.h5")).passed
    rest = bc.simulate(mech, 0.6, state=run.at(0.4), tolerance=1e-9)
    assert rest.joint("pivot").velocity[-1] == pytest.approx(run.joint("pivot").velocity[-1], abs=1e-4)


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
