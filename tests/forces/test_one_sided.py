"""Rubber strings, soft stops, points above the ground and damping of bodies against closed forms."""

import numpy as np
import pytest
from rigs.machine import matrix
from rigs.oscillators import INERTIA, MASS, damped, free_body, slider, wheel
from scipy.integrate import solve_ivp

import bellcrank as bc

FORMULATIONS = ("lagrange", "symbolic")
TIGHT = {"method": "dopri5", "tolerance": 1e-11}


def rubber_pair(string, gap=1.5, speed=0.0):
    """Two equal masses with a string between them, at rest as a whole."""
    mech = bc.Mechanism("pair", gravity=(0.0, 0.0, 0.0))
    bodies = [
        mech.add_body(f"b{k}", mass=2.0, inertia=(0.1, 0.1, 0.1), position=(side * gap / 2, 0.0, 0.0),
                      velocity=(side * speed / 2, 0.0, 0.0))
        for k, side in enumerate((-1.0, 1.0))
    ]  # fmt: skip
    mech.add_force("string", string, *bodies)
    return mech


def gap_of(run):
    return run.body("b1").position[:, 0] - run.body("b0").position[:, 0]


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_string_with_full_restitution_is_a_spring_until_it_is_slack(formulation):
    """A quarter of a swing with the reduced mass 1, then free flight at its speed."""
    stiffness, rest, stretch = 40.0, 1.0, 0.5
    mech = rubber_pair(bc.RubberString(stiffness, rest), rest + stretch)
    run = bc.simulate(mech, duration=0.6, formulation=formulation, **TIGHT)
    rate = np.sqrt(stiffness)
    slack = np.pi / 2 / rate
    exact = np.where(
        run.time < slack, rest + stretch * np.cos(rate * run.time), rest - stretch * rate * (run.time - slack)
    )
    np.testing.assert_allclose(gap_of(run), exact, atol=1e-8)
    assert np.abs(run.energy.drift).max() < 1e-7


@pytest.mark.parametrize("restitution", [0.1, 0.5, 0.8])
def test_a_string_gives_back_its_restitution(restitution):
    """Stretched by a parting speed, it gives back that part of the energy: the limit of small v₀."""
    stiffness, rest, speed, width = 40.0, 1.0, 3.0, 1e-3
    turn = 0.5 * np.pi / np.sqrt(stiffness)  # stretching takes this long, and coming back so much longer:
    duration = turn * (1.0 + 1.0 / np.sqrt(restitution)) + 0.2
    mech = rubber_pair(bc.RubberString(stiffness, rest, restitution, width), rest, speed)
    run = bc.simulate(mech, duration=duration, **TIGHT)
    back = run.body("b1").velocity[-1, 0] - run.body("b0").velocity[-1, 0]
    assert gap_of(run)[-1] < rest
    assert back == pytest.approx(-np.sqrt(restitution) * speed, rel=2e-3)
    assert gap_of(run).max() == pytest.approx(rest + speed / np.sqrt(stiffness), rel=1e-4)
    assert np.all(np.diff(run.energy.total) < 1e-6)


def test_a_weight_on_a_rubber_string_comes_to_rest_at_full_tension():
    """It creeps up the last part, where the string shortens slowly under the weight."""
    mech, body = slider(0.9, 0.0, (0.0, 0.0, -9.81))
    stiffness, rest = 100.0, 0.5
    string = bc.RubberString(stiffness, rest, restitution=0.1, closing_speed=1.0)
    mech.add_force("string", string, mech.ground.marker((0.0, 0.0, 2.0)), body)
    mech.add_force("air", bc.JointFriction(viscous=1.0), joint="joint")
    run = bc.simulate(mech, duration=30.0, method="dopri5", tolerance=1e-9)
    hang = 2.0 - rest - MASS * 9.81 / stiffness
    assert run.joint("joint").position[-1, 0] == pytest.approx(hang, abs=1e-4)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_body_bounces_on_a_point_that_stays_above_the_ground(formulation):
    """Without damping it leaves as fast as it came: half a swing about the equilibrium."""
    stiffness, drop, g = 4000.0, 0.5, 9.81
    mech, body = slider(drop, 0.0, (0.0, 0.0, -g))
    mech.add_force("foot", bc.SupportPoint(stiffness), body.marker())
    arrive, speed = np.sqrt(2 * drop / g), np.sqrt(2 * g * drop)
    run = bc.simulate(mech, duration=1.0, formulation=formulation, **TIGHT)
    sink = -MASS * g / stiffness  # the equilibrium
    rate = np.sqrt(stiffness / MASS)
    stay = 2.0 * (np.pi - np.arctan2(speed, -rate * sink)) / rate
    since = run.time - arrive
    contact = sink - sink * np.cos(rate * since) - speed / rate * np.sin(rate * since)
    flight = speed * (since - stay) - g * (since - stay) ** 2 / 2
    exact = np.where(since < 0, drop - g * run.time**2 / 2, np.where(since < stay, contact, flight))
    np.testing.assert_allclose(run.joint("joint").position[:, 0], exact, atol=2e-8)
    assert np.abs(run.energy.drift).max() < 1e-6


def test_a_damped_support_rests_at_its_equilibrium_and_pushes_only():
    mech, body = slider(0.3, 0.0, (0.0, 0.0, -9.81))
    mech.add_force("foot", bc.SupportPoint(4000.0, damping=150.0, height=0.1), body.marker())
    run = bc.simulate(mech, duration=4.0, method="dopri5", tolerance=1e-10, accelerations=True)
    assert run.joint("joint").position[-1, 0] == pytest.approx(0.1 - MASS * 9.81 / 4000.0, abs=1e-9)
    assert run.body("body").acceleration[:, 2].min() >= -9.81 - 1e-9
    assert np.all(np.diff(run.energy.total) < 1e-9)


@pytest.mark.parametrize("side", ["below", "above"])
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_soft_stop_on_a_joint_against_an_integration_of_its_own(side, formulation):
    k, c, contact, depth = 60.0, 0.8, 0.4, 0.05
    sign = 1.0 if side == "below" else -1.0
    speed = -2.0 * sign
    mech, _ = wheel(contact + 0.5 * sign, speed)
    mech.add_force("stop", bc.OneSidedSpring(k, contact, side, c, depth), joint="joint")
    run = bc.simulate(mech, duration=1.0, formulation=formulation, **TIGHT)

    def rate(_, state):
        d = sign * (contact - state[0])
        u = np.clip(d / depth, 0.0, 1.0)
        effort = max(k * max(d, 0.0) - c * sign * state[1] * (3 - 2 * u) * u * u, 0.0)
        return [state[1], sign * effort / INERTIA[2]]

    found = solve_ivp(
        rate, (0, 1), [contact + 0.5 * sign, speed], "DOP853", run.time, rtol=1e-11, atol=1e-12, max_step=1e-3
    )
    np.testing.assert_allclose(run.joint("joint").position[:, 0], found.y[0], atol=1e-8)
    assert np.ptp(run.joint("joint").velocity[:, 0]) > 2.0  # it was turned back


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_damping_along_its_axes_decays_exponentially(formulation):
    """At the centre of mass, without turning, each component in the marker's axes has its own rate."""
    c = np.array([0.5, 2.0, 5.0])
    turn = np.array((0.8, 0.0, 0.6, 0.0))
    axes = matrix(turn)
    speed = np.array([1.0, -2.0, 0.5])
    mech, body = free_body(velocity=tuple(axes @ speed))
    mech.add_force("air", bc.BodyDamping(tuple(c)), body.marker(rotation=tuple(turn)))
    run = bc.simulate(mech, duration=1.0, formulation=formulation, **TIGHT)
    expected = speed * np.exp(-np.outer(run.time, c) / MASS)
    np.testing.assert_allclose(run.body("body").velocity @ axes, expected, atol=1e-9)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_damping_about_a_principal_axis_decays_exponentially(formulation):
    mech, body = free_body(angular_velocity=(0.0, 0.0, 4.0))
    mech.add_force("air", bc.BodyDamping(rotational_damping=(0.1, 0.2, 0.3)), body.marker())
    run = bc.simulate(mech, duration=1.0, formulation=formulation, **TIGHT)
    expected = 4.0 * np.exp(-0.3 / INERTIA[2] * run.time)
    np.testing.assert_allclose(run.body("body").angular_velocity[:, 2], expected, atol=1e-9)


def test_a_brake_at_a_point_turns_the_body():
    """Force -c v at an arm r: the moment about the centre of mass is r × (-c v)."""
    arm, c = np.array([0.3, 0.2, -0.1]), 7.0
    velocity, spin = np.array([1.0, 2.0, 3.0]), np.array([0.3, -0.2, 0.5])
    mech, body = free_body(velocity=tuple(velocity), angular_velocity=tuple(spin))
    mech.add_force("brake", bc.BodyDamping(c), body.marker(tuple(arm)))
    found = bc.prepare(mech).accelerate().body("body")
    force = -c * (velocity + np.cross(spin, arm))
    moment = np.cross(arm, force) - np.cross(spin, np.array(INERTIA) * spin)
    np.testing.assert_allclose(found.linear, force / MASS, rtol=1e-12)
    np.testing.assert_allclose(found.angular, moment / np.array(INERTIA), rtol=1e-12)


def test_a_tabulated_spring_can_be_one_sided():
    """A table that is level at zero beyond its last point is a spring that only pulls."""
    table = bc.Table((0.0, 1.0, 2.0), (0.0, 0.0, -80.0), interpolation="linear")
    mech = rubber_pair(bc.TabulatedSpring(table), 1.5)
    twin = rubber_pair(bc.RubberString(80.0, 1.0), 1.5)
    runs = [bc.simulate(m, duration=0.5, **TIGHT) for m in (mech, twin)]
    np.testing.assert_allclose(gap_of(runs[0]), gap_of(runs[1]), atol=1e-8)


def test_a_damped_stop_is_an_oscillator_once_it_is_deep():
    """Pressed beyond the depth by a steady force, it swings about its equilibrium as any damped spring."""
    k, c, load = 400.0, 6.0, 200.0
    mech, body = slider(-0.45)
    mech.add_force("stop", bc.OneSidedSpring(k, 0.0, "below", c), joint="joint")
    mech.add_force("load", bc.Wrench(force=(0.0, 0.0, -load)), body.marker())
    run = bc.simulate(mech, duration=1.0, **TIGHT)
    x, _ = damped(run.time, 0.05, 0.0, k, c, MASS)
    np.testing.assert_allclose(run.joint("joint").position[:, 0], -load / k + x, atol=1e-9)
