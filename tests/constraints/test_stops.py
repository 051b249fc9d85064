"""Stops: where and how bodies bounce, that they come to rest, and that a stop only pushes."""

from itertools import pairwise
from math import acos, asin, cos, pi, sqrt

import numpy as np
import pytest
from rigs import stops
from rigs.machine import Machine

import bellcrank as bc
from bellcrank import expression as ex

G = stops.GRAVITY
METHODS = {
    "dopri5": {"method": "dopri5"},
    "adams": {"method": "adams"},
    "rk4": {"method": "rk4", "step": 1e-3},
    "semi_implicit_euler": {"method": "semi_implicit_euler", "step": 1e-3},
}
# A gap up to this counts as closed.
CONTACT = 1e-8
ROUNDING = 1e-13


@pytest.fixture(params=METHODS)
def method(request):
    return METHODS[request.param]


@pytest.fixture(params=["dopri5", "adams", "rk4"])
def accurate(request):
    """Methods that keep the energy between impacts."""
    return METHODS[request.param]


def followed(mechanism, duration, method, frames=1001, rows=None):
    machine = Machine(mechanism)
    assert machine.system.project()
    run = machine.run(duration, frames=frames, rows=rows, **method)
    assert run.outcome["status"] == "finished"
    assert np.all(run.multipliers >= -ROUNDING * run.multipliers.max() - 1e-14)
    assert run.C.max() < CONTACT
    return run


def never_grows(energy, tolerance):
    return np.diff(energy).max() < tolerance


def bouncing(method, e=0.8, frames=501):
    """Impacts of a ball dropped from 1 m, from its flights: (time found, time expected, launch speeds)."""
    run = followed(stops.ball(e), 3.0, method, frames)
    times, launch = stops.impact_times(run.time, run.q[:, 0], run.qd[:, 0])
    fall = sqrt(2.0 / G)
    starts = [fall * (1.0 + 2.0 * sum(e**j for j in range(1, k))) for k in range(1, 9)]
    found = []
    for start, end in pairwise(starts):
        flight = np.flatnonzero((run.time > start + 0.01) & (run.time < end - 0.01))
        if len(flight):
            found.append((times[flight[0]], start, launch[flight]))
    return found


def test_a_ball_bounces_at_the_times_of_the_closed_form():
    """Each impact is met up to 1e-5 s late, which adds up."""
    late = np.array([found - expected for found, expected, _ in bouncing(METHODS["dopri5"])])
    assert len(late) >= 5
    assert np.all(late > -1e-7)
    assert np.all(late < 1.1e-5 * np.arange(1, len(late) + 1))


def test_fixed_steps_meet_impacts_to_first_order():
    """At the end of the step they happen in: late by up to one step each, by half of it on the average."""
    errors = {}
    for step in (1e-3, 1e-4):
        impacts = bouncing({"method": "rk4", "step": step}, frames=301)
        late = np.array([found - expected for found, expected, _ in impacts])
        assert np.all(late > -1e-9)
        assert np.all(late < step * np.arange(1, len(late) + 1))
        errors[step] = late[-1]
    assert errors[1e-4] < 0.2 * errors[1e-3]


@pytest.mark.parametrize("e", [0.3, 0.8, 1.0])
def test_a_ball_bounces_to_the_height_of_the_closed_form(accurate, e):
    """The speed that counts is the one at which the stop was hit, not the one at the end of the step."""
    flights = bouncing(accurate, e)
    assert len(flights) >= 3
    for k, (_, _, launch) in enumerate(flights, start=1):
        np.testing.assert_allclose(launch, e**k * sqrt(2 * G), rtol=1e-8)


@pytest.mark.parametrize("e", [0.0, 0.5, 0.9])
def test_a_bouncing_ball_comes_to_rest(method, e):
    """After the sum of a geometric series it lies still, and its stop bears its weight."""
    end = sqrt(2.0 / G) * (1.0 + e) / (1.0 - e)
    run = followed(stops.ball(e), end + 1.0, method)
    assert never_grows(
        run.energy, 2.0 * G * 2.0 * CONTACT if method["method"] != "semi_implicit_euler" else 1e-6
    )
    last = run.time > end + 0.5
    assert np.all(run.q[last, 0] <= CONTACT)
    np.testing.assert_allclose(run.qd[last, 0], 0.0, atol=1e-12)
    np.testing.assert_allclose(run.multipliers[last, 0], 2.0 * G, rtol=1e-12)


def test_nothing_creeps_at_rest(method):
    run = followed(stops.stack(5), 10.0, method)
    weights = np.cumsum(np.arange(5.0, 0.0, -1.0))[::-1] * G
    np.testing.assert_allclose(run.multipliers, np.tile(weights, (len(run.time), 1)), rtol=1e-12)
    np.testing.assert_allclose(run.position, np.tile(run.position[0], (len(run.time), 1, 1)), atol=5e-13)


def test_it_lifts_off_when_the_force_reverses():
    """A pull that swings: the stop bears the rest of the weight until the pull exceeds it, then nothing."""
    mass, pull, omega = 2.0, 30.0, 2.0
    mech = stops.ball(0.0, height=0.0)
    force = (0.0, 0.0, bc.Harmonic(pull, omega))
    mech.add_force("pull", bc.Wrench(force=force), mech.bodies["ball"].marker())
    run = followed(mech, 1.2, METHODS["dopri5"])
    start = asin(mass * G / pull) / omega
    held = run.time < start - 1e-6
    rest = mass * G - pull * np.sin(omega * run.time)
    np.testing.assert_allclose(run.multipliers[held, 0], rest[held], atol=1e-10)
    np.testing.assert_allclose(run.q[held, 0], 0.0, atol=CONTACT)
    # z'' = (pull sin ωt − m g)/m from rest at `start`
    s = run.time - start
    wave = np.sin(omega * start) - np.sin(omega * run.time) + omega * s * cos(omega * start)
    flight = pull / mass / omega**2 * wave - 0.5 * G * s**2
    flying = (s > 1e-3) & (flight > 1e-3)
    assert np.count_nonzero(flying) > 300
    np.testing.assert_allclose(run.q[flying, 0], flight[flying], atol=1e-6)
    assert np.all(run.multipliers[flying] == 0.0)


def test_between_two_stops_without_loss(accurate):
    """Thrown up and down between floor and ceiling: energy stays, and so does the period."""
    run = followed(stops.ball(1.0, 0.4, 5.0, upper=1.0), 3.0, accurate, 3001)
    np.testing.assert_allclose(run.energy, run.energy[0], rtol=1e-5)
    assert run.q.min() >= 0.0
    assert run.q.max() <= 1.0
    floor, ceiling = run.multipliers.T
    assert not np.any((floor > 0.0) & (ceiling > 0.0))


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_a_pendulum_against_a_stop_at_its_lowest_point(accurate, e):
    """After k impacts it rises to the height e²ᵏ of the first."""
    run = followed(stops.pendulum(e), 8.0, accurate, 8001)
    angle, speed = run.q[:, 0], run.qd[:, 0]
    turns = np.flatnonzero((speed[:-1] > 0.0) & (speed[1:] <= 0.0) & (angle[1:] > 0.05))
    heights = 1.0 - np.cos(angle[turns])
    expected = (1.0 - cos(1.0)) * e ** (2.0 * np.arange(1, len(turns) + 1))
    # rk4 misses the speed at the stop by the change of the acceleration within a step.
    np.testing.assert_allclose(heights, expected, rtol=1e-5)
    assert len(turns) == {0.0: 0, 0.5: 4, 1.0: 6}[e]


def test_a_pendulum_leans_on_its_stop(method):
    """At rest at an angle the stop bears the moment of the weight."""
    run = followed(stops.pendulum(0.4, 1.0, stop=0.2), 8.0, method)
    np.testing.assert_allclose(run.multipliers[-100:, 0], 1.5 * G * np.sin(0.2), rtol=1e-6)
    np.testing.assert_allclose(run.q[-100:, 0], 0.2, atol=2 * CONTACT)


@pytest.mark.parametrize("e", [0.0, 0.4, 1.0])
def test_two_wagons_collide(method, e):
    masses = (1.3, 0.4)
    run = followed(stops.train(masses, e, gap=0.2, speed=2.0), 0.5, method)
    common = masses[0] * 2.0 / sum(masses)
    expected = common + e * 2.0 * np.array([-masses[1], masses[0]]) / sum(masses)
    np.testing.assert_allclose(run.velocity[-1, :, 0], expected, rtol=1e-12)


def test_a_blow_runs_through_a_row_of_wagons(method):
    """With gaps between them the impacts follow each other, and the last wagon takes all the speed."""
    run = followed(stops.train(np.ones(5), 1.0, gap=0.01), 0.5, method)
    np.testing.assert_allclose(run.velocity[-1, :, 0], [0.0, 0.0, 0.0, 0.0, 1.0], atol=1e-9)


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_simultaneous_impacts(method, e, seed):
    """Wagons that touch: momentum stays, no energy is made, the speeds fit Newton's law of impact.

    Where an impulse acts, the wagons separate with e times the speed of their approach; elsewhere they
    separate at least as fast as that.
    """
    masses = np.random.default_rng(seed).uniform(0.2, 2.0, 5)
    run = followed(stops.train(masses, e), 0.1, method)
    before, after = np.eye(5)[0], run.velocity[-1, :, 0]
    assert masses @ after == pytest.approx(masses @ before, rel=1e-12)
    approach, leaving = -np.diff(before), np.diff(after)
    assert np.all(leaving >= e * approach - 1e-12)
    impulse = np.cumsum(masses * (before - after))[:-1]
    assert np.all(impulse >= -1e-12)
    np.testing.assert_allclose(impulse * (leaving - e * approach), 0.0, atol=1e-12)
    loss = (
        0.5 * masses @ (before**2 - after**2)
    )  # half the impulse times the sum of the speeds before and after
    assert loss == pytest.approx(0.5 * (1.0 - e) * impulse[0], abs=1e-12)


@pytest.mark.parametrize("e", [0.0, 0.5])
def test_a_stack_falls_and_comes_to_rest(method, e):
    """Five bodies, several stops at once, and stops that push a body into another stop."""
    run = followed(stops.stack(5, e, gap=0.1), 4.0, method)
    weights = np.cumsum(np.arange(5.0, 0.0, -1.0))[::-1] * G
    np.testing.assert_allclose(run.multipliers[-10:], np.tile(weights, (10, 1)), rtol=1e-9)
    np.testing.assert_allclose(run.position[-1, :, 2], 0.5 * np.arange(5), atol=5 * CONTACT)
    if method["method"] != "semi_implicit_euler":
        assert never_grows(run.energy, 1e-6)


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_a_stop_within_a_loop(accurate, e):
    """A slider-crank: it falls against a stop of its slider, and rests there if it loses energy.

    Statics: with V = g sin θ (two bars of 1 kg, their middles at half height) and x = 2 cos θ, |dV/dx| =
    g |cot θ|/2.
    """
    run = followed(stops.limited_crank(e), 6.0, accurate)
    if e == 1.0:
        np.testing.assert_allclose(run.energy, run.energy[0], rtol=1e-4)
        return
    assert never_grows(run.energy, 1e-6)
    assert run.multipliers[-1].max() == pytest.approx(G * 0.6 / 0.8 / 2.0, rel=1e-6)
    np.testing.assert_allclose(np.abs(run.position[-1, 2, 0]), 1.2, atol=2 * CONTACT)


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_a_stop_that_says_what_another_says(accurate, e):
    """Stops on both cranks of a parallelogram: the same motion, and together they bear the same."""
    one = followed(stops.limited_parallelogram(e), 5.0, accurate)
    two = followed(stops.limited_parallelogram(e, ("pin1", "pin4")), 5.0, accurate)
    if e == 1.0:  # the times of impacts differ within their resolution, and with them all that follows
        np.testing.assert_allclose(two.energy, two.energy[0], rtol=1e-4)
        return
    np.testing.assert_allclose(two.q[-1, 0], one.q[-1, 0], atol=2 * CONTACT)
    assert two.multipliers[-1].sum() == pytest.approx(one.multipliers[-1].sum(), abs=20 * CONTACT)
    assert one.multipliers[-1].sum() > 5.0


def test_a_cable_goes_slack_and_taut_again():
    """A bob on a cable, launched with v² = 3.5 g L, leaves the circle 1.5 L above the lowest point.

    There gravity along the cable, g cos, is what turns it, v²/L; it goes on in free flight until the cable
    is taut.
    """
    speed = sqrt(3.5 * G)
    mech = stops.tethered(1.0, speed)
    row = 0
    run = followed(mech, 2.0, METHODS["dopri5"], 4001, rows=[row])
    height, tension = 1.0 + run.position[:, 0, 2], run.multipliers[:, 0]
    slack = int(np.argmax(tension == 0.0))
    assert height[slack] == pytest.approx(1.5, abs=2e-3)
    circle = slice(0, slack - 1)
    expected = 0.7 * (speed**2 - 3.0 * G * height[circle] + G)  # m v²/L + m g (1 − h)
    np.testing.assert_allclose(tension[circle], expected, atol=1e-5)
    assert np.all(np.linalg.norm(run.position[:, 0], axis=1) < 1.0 + CONTACT)
    assert np.any(tension[slack + 10 :] > 0.0)
    assert never_grows(run.energy, 1e-6)
    assert run.energy[-1] < run.energy[0] - 0.01  # the jerk when it is taut again


def test_limits_of_an_angle_of_many_turns():
    """A stop two turns away is met after two turns."""
    mech = bc.Mechanism("winder", gravity=(0.0, 0.0, 0.0))
    wheel = mech.add_body("wheel", mass=1.0, inertia=(1.0, 1.0, 1.5), angular_velocity=(0.0, 0.0, 5.0))
    limit = bc.Limit(upper=4.0 * pi)
    mech.add_joint("axle", bc.Revolute(), mech.ground.marker(), wheel.marker(), limits=limit)
    run = followed(mech, 4.0, METHODS["rk4"])
    free = run.time < 4.0 * pi / 5.0 - 1e-3
    np.testing.assert_allclose(run.q[free, 0], 5.0 * run.time[free], rtol=1e-9)
    np.testing.assert_allclose(run.q[run.time > 2.6, 0], 4.0 * pi, atol=CONTACT)
    assert run.qd[-1, 0] == pytest.approx(0.0, abs=1e-9)
    assert acos(np.cos(run.q[-1, 0])) == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("method", ["rk4", "semi_implicit_euler"])
@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_stop_that_is_nearly_dependent_is_not_run_through(method, restitution):
    """A light bead on a wire, drawn onto the stop at 15 rad/s by a weight on a rod.

    The bead hardly resists turning, so that the stop's row depends on those of the wire up to a small angle;
    a step takes the bead farther beyond the stop than that angle tells.
    """
    mech, u = bc.Mechanism("bead and weight"), bc.symbol("u")
    bead = mech.add_body("bead", mass=0.1, inertia=(1e-5, 1e-5, 1e-5))
    weight = mech.add_body("weight", mass=1.0, inertia=(0.01, 0.01, 0.01), position=(1.0, 0.0, 0.0))
    wire = bc.PathJoint(u, (0.4 * ex.cos(u), 0.4 * ex.sin(u), 0.05 * u), unit="rad")
    limits = bc.Limit(0.0, 20.0, restitution=restitution)
    mech.add_joint("wire", wire, mech.ground, bead, limits=limits, position=0.85)
    mech.add_joint("rod", bc.Distance(0.8), bead, weight)
    run = bc.simulate(mech, 1.0, method=method, step=1e-3)
    assert run.statistics["impacts"] > 0
    assert run.joint("wire").position.min() > -CONTACT
    assert run.violation.position.max() < CONTACT
