"""Impacts while other one-sided rows touch or carry loads: all of them only push."""

import numpy as np
import pytest
from rigs.slides import wrong_ways
from rigs.struck import wrong_impacts, wrong_meetings

import bellcrank as bc
from bellcrank.formulations.preparing import MOVING

G = 9.81
EXACT = ("adams", "dopri5", "bdf")
BY_IMPULSES = ("lagrange", "recursive")
RUNS = [(f, m) for f in MOVING for m in (*EXACT, "rk4")] + [(f, "moreau") for f in BY_IMPULSES]


def settings(method):
    return {"method": method} if method in EXACT else {"method": method, "step": 1e-4}


def rope(restitution):
    """A block that is drawn by a rope over an eyelet by a weight, which falls 0.3 m onto a stop."""
    mech = bc.Mechanism("rope over an eyelet")
    block = mech.add_body("block", mass=3.0, inertia=(0.01,) * 3, position=(-2, 0, 1))
    weight = mech.add_body("weight", mass=1.0, inertia=(0.01,) * 3, position=(0, 0, 0.6))
    rail = mech.ground.marker((-2, 0, 1), axis="x")
    mech.add_joint("slide", bc.Prismatic(), rail, block.marker(axis="x"))
    stop = bc.Limit(lower=-0.3, restitution=restitution)
    mech.add_joint("hang", bc.Prismatic(), mech.ground.marker((0, 0, 0.6)), weight, limits=stop)
    eyelet = mech.ground.marker((0, 0, 1))
    mech.add_constraint("rope", bc.Cable(slack=True), block.marker(), eyelet, weight.marker())
    return mech


@pytest.mark.parametrize("restitution", [0.0, 0.4])
@pytest.mark.parametrize(("formulation", "method"), RUNS)
def test_a_rope_does_not_push(formulation, method, restitution):
    """The weight is stopped, or bounces; the block goes on at the speed that both had."""
    run = bc.simulate(rope(restitution), 0.5, output_step=0.01, formulation=formulation, **settings(method))
    speed = np.sqrt(2.0 * G / 4.0 * 0.3)
    exact = method in EXACT
    np.testing.assert_allclose(run.joint("slide").velocity[-1, 0], speed, rtol=1e-8 if exact else 1e-3)
    if exact:
        hit = next(event for event in run.events if "lower limit" in event.name)
        np.testing.assert_allclose(hit.state.velocity[1, 2], restitution * speed, atol=1e-7)


@pytest.mark.parametrize("seed", [11, 14, 21, 29, 36, 40, 46, 58])
def test_random_slides_move_as_their_parabolas(seed):
    """Rows that carry load open in an impact of each of these."""
    assert wrong_ways(seed) == ""


@pytest.mark.parametrize("seed", range(6))
def test_random_mechanisms_are_struck(seed):
    """With up to five rows closed, some of them twice with another restitution."""
    assert wrong_impacts(seed) == ""


@pytest.mark.parametrize("seed", [1, 10, 14, 22, 5225, 5288])
def test_stops_are_met_in_flight(seed):
    """While other rows carry load, where bodies turn."""
    assert wrong_meetings(seed) == ""


def jerk(slack):
    """A weight flies on until its rope is taut, close to the axis of a light arm, whose stops are far."""
    mech = bc.Mechanism("arm that is jerked", gravity=(0, 0, 0))
    weight = mech.add_body("weight", 1.0, (0.01,) * 3, position=(0.02, 0, -1), velocity=(0, 0, -1))
    arm = mech.add_body("arm", 1e-3, (1e-6,) * 3)
    mech.add_joint("slide", bc.Prismatic(), mech.ground.marker((0.02, 0, -1)), weight)
    ends = mech.ground.marker(axis="y"), arm.marker(axis="y")
    mech.add_joint("axle", bc.Revolute(), *ends, limits=bc.Limit(lower=-1.0, upper=1.0))
    over = arm.marker((0.02, 0, 0)), weight.marker()
    mech.add_constraint("rope", bc.Cable(length=1 + slack, slack=True), *over)
    return mech


THROWN = 50.0 / (1.0 + 1e-6 / 0.02**2)  # rad/s: momentum about the axis is kept


@pytest.mark.parametrize("formulation", BY_IMPULSES)
def test_stops_that_are_far_do_not_push(formulation):
    """However fast what is struck flies towards them."""
    struck = bc.prepare(jerk(0.0), formulation).strike([]).state
    assert struck.angular_velocity[1, 1] == pytest.approx(THROWN, rel=1e-12)
    run = bc.simulate(jerk(0.01), 0.01002, formulation=formulation, method="moreau", step=1e-5)
    assert run.body("arm").angular_velocity[-1, 1] == pytest.approx(THROWN, rel=1e-6)


@pytest.mark.parametrize("formulation", BY_IMPULSES)
def test_what_is_struck_lies_on_the_stops_that_runs_find_it_on(formulation):
    """Closed up to `contact_tolerance`."""
    mech = bc.Mechanism("above a stop", gravity=(0, 0, 0))
    body = mech.add_body("body", 2.0, (0.1,) * 3, position=(0, 0, 5e-9))
    mech.add_joint("slide", bc.Prismatic(), mech.ground, body, limits=bc.Limit(lower=0.0))
    blow = [bc.Blow("body", (0, 0, 0), (0, 0, -2.0))]
    for closed, after in ((1e-8, 0.0), (1e-9, -1.0)):
        state = bc.prepare(mech, formulation, contact_tolerance=closed).strike(blow).state
        assert state.velocity[0, 2] == pytest.approx(after, abs=1e-12)


def hoist():
    """A load on a rope that hangs on a driven hook."""
    mech = bc.Mechanism("hoist")
    hook = mech.add_body("hook", mass=1.0, inertia=(0.1,) * 3)
    load = mech.add_body("load", mass=5.0, inertia=(0.1,) * 3, position=(0, 0, -1))
    mech.add_joint("mast", bc.Prismatic(), mech.ground, hook)
    mech.add_joint("guide", bc.Prismatic(), mech.ground.marker((0, 0, -1)), load)
    mech.add_constraint("rope", bc.Cable(slack=True), hook.marker(), load.marker())
    mech.add_drive("winch", "mast", velocity=bc.Input("speed", 1.0, unit="m/s"))
    return mech


@pytest.mark.parametrize("method", ["adams", "dopri5", "rk4"])
@pytest.mark.parametrize("formulation", MOVING)
def test_a_drive_that_stops_at_once_does_not_push_its_load(formulation, method):
    live = bc.start(hoist(), formulation=formulation, **settings(method))
    live.advance(0.3)
    live.inputs["speed"] = 0.0
    assert live.state.velocity[1, 2] == pytest.approx(1.0, abs=1e-9)  # the load flies on
    live.advance(0.05)
    assert live.state.velocity[1, 2] == pytest.approx(1.0 - 0.05 * G, abs=1e-9)
    live.advance(0.3)
    assert live.state.velocity[1, 2] == pytest.approx(0.0, abs=1e-9)  # and hangs again
    live.inputs["speed"] = 0.5
    np.testing.assert_allclose(live.state.velocity[:, 2], 0.5, atol=1e-9)  # is torn along


def between(first, second, speed):
    """A body that touches stops on both sides, of these restitutions, and has a speed."""
    mech = bc.Mechanism("between stops", gravity=(0, 0, 0))
    body = mech.add_body("body", mass=2.0, inertia=(0.1,) * 3, velocity=(0, 0, speed))
    ends = mech.ground.marker(), body.marker()
    mech.add_joint("slide", bc.Prismatic(), *ends, limits=bc.Limit(lower=0.0, restitution=first))
    mech.add_joint("again", bc.Free(), *ends, limits={"z": bc.Limit(**second)})
    return mech


@pytest.mark.parametrize("formulation", MOVING)
def test_of_two_stops_on_one_coordinate_the_livelier_counts(formulation):
    mech = between(0.25, {"lower": 0.0, "restitution": 0.5}, -1.0)
    run = bc.simulate(mech, 0.01, formulation=formulation)
    assert run.body("body").velocity[-1, 2] == pytest.approx(0.5, abs=1e-12)


@pytest.mark.parametrize("formulation", MOVING)
def test_what_is_clamped_cannot_bounce(formulation):
    """No impulses leave one stop at half the speed and do not pass the other."""
    mech = between(0.5, {"upper": 0.0, "restitution": 0.5}, -1.0)
    run = bc.simulate(mech, 0.01, formulation=formulation)
    np.testing.assert_allclose(run.body("body").velocity[:, 2], 0.0, atol=1e-12)


@pytest.mark.parametrize("formulation", BY_IMPULSES)
def test_speeds_that_are_rounding_are_struck_as_rest(formulation):
    """Residuals of impulses are no part of speeds that mean nothing."""
    mech = rope(0.4)
    system = bc.prepare(mech, formulation)
    state = system.state()
    state.velocity[:] = np.random.default_rng(0).normal(0.0, 1e-17, state.velocity.shape)
    assert np.abs(system.strike([], state).state.velocity).max() < 1e-15
