"""Impacts while other one-sided rows, ropes among them, touch or carry loads: all of them only push."""

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


ALIKE = 0.02  # s; the ropes are equally long at 0.005 s
METHODS = [("adams", None), ("dopri5", None), ("rk4", 1e-4), ("rk4", 1e-5)]


def two_ropes():
    """An arm that draws a weight up by two ropes, hung at other heights of both."""
    mech = bc.Mechanism("two ropes")
    arm = mech.add_body("arm", mass=1.7, inertia=(0.02,) * 3, com=(0.34, 0, 0))
    weight = mech.add_body("weight", mass=2.6, inertia=(0.02,) * 3, position=(2, -0.04, 0), com=(0.3, 0, 0))
    mech.add_joint("axle", bc.Revolute(), mech.ground.marker(axis="y"), arm.marker(axis="y"))
    mech.add_joint("rail", bc.Prismatic(), mech.ground.marker((2, -0.04, 0)), weight)
    eyelets = mech.ground.marker((0.1, 0, 1.2)), mech.ground.marker((2.1, 0, 1.2))
    for name, on_arm, on_weight in (("first", 0.0, 0.3), ("second", 0.3, 0.0)):
        ends = arm.marker((0.1, 0, on_arm)), *eyelets, weight.marker((0.1, 0, on_weight))
        mech.add_constraint(name, bc.Cable(slack=True), *ends)
    return mech


@pytest.fixture(scope="module")
def angle():
    """Of the arm, by a method in which nothing holds to both sides."""
    run = bc.simulate(
        two_ropes(), ALIKE, output_step=1e-4, method="moreau", step=1e-5, formulation="recursive"
    )
    return run.joint("axle").position[:, 0]


@pytest.mark.parametrize(("method", "step"), METHODS)
@pytest.mark.parametrize("formulation", MOVING)
def test_one_rope_takes_over_from_another(formulation, method, step, angle):
    given = {"step": step} if step else {}
    run = bc.simulate(two_ropes(), ALIKE, output_step=1e-4, formulation=formulation, method=method, **given)
    np.testing.assert_allclose(run.joint("axle").position[:, 0], angle, atol=1e-7)


@pytest.mark.parametrize("formulation", ["lagrange", "dca"])
def test_speeds_of_frames_do_not_jump_either(formulation):
    run = bc.simulate(two_ropes(), ALIKE, output_step=1e-4, formulation=formulation, method="adams")
    gained, speed = np.diff(run.joint("axle").position[:, 0]), run.joint("axle").velocity[:, 0]
    np.testing.assert_allclose(gained, 0.5e-4 * (speed[1:] + speed[:-1]), atol=1e-8)


INERTIA = (0.01,) * 3
BOUNCED = 0.43  # s: the weight a has bounced, and its rope is slack
METHODS_OF_ROPES = [(f, m) for f in MOVING for m in ("adams", "dopri5", "bdf", "rk4", "semi_implicit_euler")]


def compound_pulley():
    """A pulley that hangs on a rope, and over it a rope between two weights, one of which bounces."""
    mech = bc.Mechanism("compound pulley")
    pulley = mech.add_body("pulley", 0.5, INERTIA)
    a = mech.add_body("a", 1.3, INERTIA, position=(-0.1, 0, -0.7))
    b = mech.add_body("b", 0.6, INERTIA, position=(0.1, 0, -0.5))
    counter = mech.add_body("counterweight", 3.1, INERTIA, position=(1, 0, -0.6))
    for body in (pulley, a, b, counter):
        stop = {"limits": bc.Limit(lower=-0.2, restitution=0.3)} if body is a else {}
        rail = mech.ground.marker(body.position)
        mech.add_joint(f"slide of {body.name}", bc.Prismatic(), rail, body, **stop)
    left, right = pulley.marker((-0.1, 0, 0)), pulley.marker((0.1, 0, 0))
    mech.add_constraint("lower rope", bc.Cable(slack=True), a, left, right, b)
    over = mech.ground.marker((0, 0, 1)), mech.ground.marker((1, 0, 1))
    mech.add_constraint("upper rope", bc.Cable(slack=True), pulley, *over, counter)
    return mech


@pytest.mark.parametrize(
    ("formulation", "method"), [*METHODS_OF_ROPES, ("lagrange", "moreau"), ("recursive", "moreau")]
)
def test_frames_do_not_change_the_motion(formulation, method):
    step = {} if method in ("adams", "dopri5", "bdf") else {"step": 1e-4}
    ends = [
        bc.simulate(
            compound_pulley(), BOUNCED, output_step=every, formulation=formulation, method=method, **step
        ).at(BOUNCED)
        for every in (BOUNCED, BOUNCED / 43)
    ]
    np.testing.assert_allclose(ends[1].position, ends[0].position, atol=1e-12)
    np.testing.assert_allclose(ends[1].velocity, ends[0].velocity, atol=1e-11)
