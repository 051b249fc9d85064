"""Runs that go on from a state, with the same mechanism or another one."""

import dataclasses
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import bellcrank as bc
from bellcrank.formulations.preparing import MOVING

FORMULATIONS = ("lagrange", "recursive", "symbolic")
SPEED = "0.7 + 0.3*cos(t)"  # rad/s


def arm(angle=None, **drive):
    """A driven arm with a free link at its end. angle: of the shoulder at the start, rad."""
    mech = bc.Mechanism("arm")
    upper = mech.add_body("upper", mass=2.0, inertia=(0.1, 0.1, 0.02), position=(0, 0, -0.5))
    lower = mech.add_body("lower", mass=1.0, inertia=(0.1, 0.1, 0.02), position=(0, 0, -1.5))
    y = (0, 1, 0)
    mech.add_joint(
        "shoulder",
        bc.Revolute(),
        mech.ground.marker(axis=y),
        upper.marker((0, 0, 0.5), axis=y),
        position=angle,
    )
    mech.add_joint(
        "elbow", bc.Revolute(), upper.marker((0, 0, -0.5), axis=y), lower.marker((0, 0, 0.5), axis=y)
    )
    mech.add_drive("motor", "shoulder", **drive)
    return mech


def angles(run, joint="shoulder"):
    return run.joint(joint).position[:, 0]


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("start", [0.0, 5.0])
@pytest.mark.parametrize("drive", [{"velocity": SPEED}, {"position": "2*t + sin(t)", "relative": True}])
def test_equals_one_run(formulation, start, drive):
    mech = arm(**drive)
    options = {"formulation": formulation, "method": "dopri5", "tolerance": 1e-10}
    whole = bc.simulate(mech, times=start + np.array([0.0, 3.0, 4.0, 20.0]), start=start, **options)
    rest = bc.simulate(mech, times=start + np.array([3.0, 4.0, 20.0]), state=whole.at(start + 3.0), **options)
    for joint in ("shoulder", "elbow"):
        assert_allclose(angles(rest, joint), angles(whole, joint)[1:], rtol=0, atol=2e-7)


@pytest.mark.parametrize("start", [0.0, 5.0, 1000.0])
def test_angle_at_the_start(start):
    run = bc.simulate(arm(velocity=SPEED), 0.1, start=start)
    assert abs(angles(run)[0]) < 1e-12


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_state_of_ones_own(formulation):
    """The shoulder goes on from an angle to which its drive never led it."""
    mech = arm(velocity=SPEED)
    state = bc.simulate(arm(0.4, velocity=SPEED), 0.1).at(0.0)
    run = bc.simulate(mech, 1.0, state=state, formulation=formulation)
    assert_allclose(angles(run)[[0, -1]], [0.4, 0.4 + 0.7 + 0.3 * np.sin(1.0)], atol=1e-9)


def test_gears_keep_their_phase():
    """All else that is taken from the initial configuration stays: a coupling moves the state, if it may."""
    mech = bc.Mechanism("shafts", gravity=(0, 0, 0))
    for number in range(2):
        shaft = mech.add_body(f"shaft {number}", mass=1.0, inertia=(1, 1, 1), position=(number, 0, 0))
        mech.add_joint(f"bearing {number}", bc.Revolute(), mech.ground.marker((number, 0, 0)), shaft.marker())
    mech.add_constraint("pair", bc.Coupling((1.0, 1.0)), "bearing 0", "bearing 1")
    other = bc.simulate(mech, 0.1).at(0.0)
    rotation = other.rotation.copy()
    rotation[0] = (np.cos(0.1), 0, 0, np.sin(0.1))
    turned = dataclasses.replace(other, rotation=rotation, angles=None)
    with pytest.raises(bc.AssemblyError, match=r"constraint 'pair' by 0.2 .*assemble='projection'"):
        bc.simulate(mech, 0.1, state=turned)
    run = bc.simulate(mech, 0.1, state=turned, assemble="projection")
    assert_allclose(angles(run, "bearing 0")[0] + angles(run, "bearing 1")[0], 0.0, atol=1e-9)


def test_a_run_refuses_to_be_moved_off_its_drive():
    run = bc.start(arm(velocity=SPEED))
    first = run.state
    run.advance(1.0)
    run.set_state(run.state)
    with pytest.raises(bc.MechanismError, match=r"drive 'motor', .* off by"):
        run.set_state(first.at_time(run.time))
    assert run.time == 1.0
    run.advance(0.1)


@pytest.mark.parametrize("added", ["limit", "rope"])
def test_what_does_not_hold_at_a_state_is_refused_by_name(added):
    """Bodies were moved onto it, by half a metre, and kept their speed."""
    mech = bc.Mechanism("slide")
    body = mech.add_body("body", 1.0, (0.1, 0.1, 0.1))
    mech.add_joint("rail", bc.Prismatic(), mech.ground, body)
    state = bc.simulate(mech, 0.1).at(0.1)
    if added == "limit":
        mech.replace(mech.joints["rail"], limits=bc.Limit(0.5, 1.0))
    else:
        mech.add_constraint("rope", bc.Cable(length=0.03, slack=True), "ground", "body")
    named = {"limit": "lower limit of joint 'rail' by 0.549", "rope": "'rope' by 0.019"}
    with pytest.raises(bc.AssemblyError, match=f"at the state, .*{named[added]}"):
        bc.simulate(mech, 0.1, state=state)


STILL = (0.0, 0.0, 0.0)


def thrown(held):
    """A ball on an arm about z; without the arm it flies."""
    mech = bc.Mechanism("throw", gravity=(0.0, -9.81, 0.0))
    ball = mech.add_body("ball", 1.0, (0.01, 0.01, 0.01), position=(1.0, 0.0, 0.0))
    if held:
        mech.add_joint("arm", bc.Revolute(), mech.ground, ball.marker((-1.0, 0.0, 0.0)), velocity=5.0)
    return mech


def shafts(relation=None, **velocities):
    """Two shafts; a relation between them is engaged if there is one."""
    mech = bc.Mechanism("shafts", gravity=STILL)
    for number, (name, inertia) in enumerate({"a": 0.2, "b": 0.1}.items()):
        body = mech.add_body(name, 1.0, (0.2, 0.2, inertia), position=(0.0, 0.0, 0.2 * number))
        rate = velocities.get(name, ())
        mech.add_joint(name, bc.Revolute(), mech.ground.marker((0.0, 0.0, 0.2 * number)), body, velocity=rate)
    if relation is not None:
        mech.add_constraint("belt", relation, mech.joints["a"], mech.joints["b"])
    return mech


@pytest.mark.parametrize("formulation", MOVING)
@pytest.mark.parametrize("how", ["at", "event", "loaded"])
def test_a_part_that_is_released_flies_on(formulation, how, tmp_path):
    release = bc.Event("release", "arm - 0.8", terminal=True)
    run = bc.simulate(thrown(True), 1.0, formulation=formulation, events=release)
    if how == "loaded":
        run.save(tmp_path / "run.h5")
        run = bc.Trajectory.load(tmp_path / "run.h5")
    state = run.at(run.time[-1]) if how == "at" else run.events[-1].state
    flight = bc.simulate(thrown(False), 1.0, state=state, formulation=formulation)
    time = (flight.time - flight.time[0])[:, None]
    expected = state.position[0] + state.velocity[0] * time + 0.5 * np.array((0.0, -9.81, 0.0)) * time**2
    assert flight.body("ball").position == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("formulation", MOVING)
def test_a_belt_that_is_engaged_holds_where_the_shafts_are(formulation):
    run = bc.simulate(shafts(a=10.0), 1.0, formulation=formulation)
    on = bc.simulate(shafts(bc.Belt(ratio=1.0)), 1.0, state=run.at(1.0), formulation=formulation)
    assert on.joint("b").velocity[-1] == pytest.approx(20.0 / 3.0)
    assert on.joint("a").position[0] == pytest.approx(10.0, abs=1e-8)
    assert on.joint("b").position[0] == pytest.approx(0.0, abs=1e-8)
    assert bc.verify(on).passed


def test_what_was_engaged_stays_as_it_was_engaged(tmp_path):
    first = bc.simulate(shafts(a=10.0), 1.0)
    second = bc.simulate(shafts(bc.Belt(ratio=1.0)), 1.0, state=first.at(1.0))
    second.save(tmp_path / "run.h5")
    for run in (second, bc.Trajectory.load(tmp_path / "run.h5")):
        third = bc.simulate(shafts(bc.Belt(ratio=1.0)), 1.0, state=run.at(2.0))
        apart = third.joint("a").position - third.joint("b").position
        assert apart == pytest.approx(np.full_like(apart, 10.0), abs=1e-7)


def test_a_gear_that_is_shifted_takes_its_constant_from_the_state():
    first = bc.simulate(shafts(bc.Belt(ratio=1.0), a=9.0), 1.0)
    state = first.at(1.0)
    second = bc.simulate(shafts(bc.Belt(ratio=3.0)), 1.0, state=state)
    assert second.joint("a").position[0] == pytest.approx(first.joint("a").position[-1], abs=1e-8)
    assert second.joint("a").velocity[-1] == pytest.approx(3.0 * second.joint("b").velocity[-1])


def test_a_constant_that_is_stated_holds_and_is_refused_where_it_cannot():
    run = bc.simulate(shafts(a=10.0), 1.0)
    given = bc.simulate(shafts(bc.Coupling((1.0, -1.0), constant=10.0)), 1.0, state=run.at(1.0))
    assert given.joint("b").velocity[-1] == pytest.approx(20.0 / 3.0)
    mech = shafts(bc.Coupling((1.0, -1.0), constant=4.0))
    for name in ("a", "b"):
        mech.add_drive(f"drive {name}", name, position=float(run.joint(name).position[-1, 0]))
    with pytest.raises(bc.AssemblyError, match=r"'belt' by 6 .*where the state has the bodies"):
        bc.simulate(mech, 1.0, state=run.at(1.0))


def test_a_joint_that_is_added_must_hold_at_the_state():
    run = bc.simulate(thrown(False), 0.2)
    mech = thrown(False)
    marker = mech.bodies["ball"].marker()
    mech.add_joint("latch", bc.Fixed(), mech.ground.marker(run.body("ball").position[-1]), marker)
    caught = bc.simulate(mech, 0.1, state=run.at(0.2))
    assert caught.body("ball").velocity[-1] == pytest.approx((0.0, 0.0, 0.0), abs=1e-9)


def test_a_spring_that_is_added_is_relaxed_where_the_state_is():
    run = bc.simulate(shafts(a=10.0), 1.0)
    mech = shafts()
    mech.add_force("spring", bc.TorsionSpring(3.0, rest_angle=None), "a")
    pulled = bc.simulate(mech, 1.0, state=run.at(1.0))
    assert pulled.force("spring").effort[0] == pytest.approx(0.0, abs=1e-6)
    resumed = bc.simulate(mech, 1.0, state=pulled.at(1.5))
    assert resumed.joint("a").position[-1] != pytest.approx(pulled.joint("a").position[-1])
    index = int(np.searchsorted(pulled.time, 1.5))
    assert resumed.force("spring").effort[0] == pytest.approx(pulled.force("spring").effort[index], abs=0.05)


def test_turns_go_with_the_joints_that_count_them():
    run = bc.simulate(shafts(a=10.0, b=-25.0), 2.0)
    mech = bc.Mechanism("one", gravity=STILL)
    body = mech.add_body("b", 1.0, (0.2, 0.2, 0.1))
    mech.add_joint("b", bc.Revolute(), mech.ground.marker((0.0, 0.0, 0.2)), body)
    alone = bc.simulate(mech, 0.1, state=run.at(2.0))
    assert alone.joint("b").position[0] == pytest.approx(-50.0, abs=1e-6)


def test_a_state_without_a_body_is_refused_by_its_name():
    run = bc.simulate(thrown(False), 0.1)
    with pytest.raises(bc.MechanismError, match="does not say where body 'a', 'b' of mechanism 'shafts' is"):
        bc.simulate(shafts(), 1.0, state=run.at(0.1))


def test_a_state_made_by_hand_must_have_the_angles_of_the_mechanism():
    run = bc.simulate(shafts(a=1.0), 0.1)
    state = replace(run.at(0.1), source=None, angles=np.zeros(3))
    with pytest.raises(bc.MechanismError, match="2 angular coordinates, not 3; leave out angles"):
        bc.simulate(shafts(), 1.0, state=state)
    assert bc.simulate(shafts(), 0.1, state=replace(state, angles=None)).joint("a").position[
        0
    ] == pytest.approx(0.1)


@pytest.mark.parametrize("formulation", MOVING)
def test_bodies_that_are_pinned_together_keep_their_momentum(formulation):
    def rods(pinned):
        mech = bc.Mechanism("rods", gravity=STILL)
        one = mech.add_body(
            "one", 2.0, (0.1, 0.1, 0.2), velocity=(1.0, 0.5, 0.0), angular_velocity=(0.0, 0.0, 3.0)
        )
        two = mech.add_body("two", 1.0, (0.1, 0.1, 0.1), position=(2.0, 0.0, 0.0))
        if pinned:
            mech.add_joint("pin", bc.Revolute(), one.marker((1.0, 0.0, 0.0)), two.marker((-1.0, 0.0, 0.0)))
        return mech

    state = bc.prepare(rods(False)).state()
    run = bc.simulate(rods(True), 0.1, state=state, formulation=formulation)
    one, two = run.body("one"), run.body("two")
    momentum = 2.0 * one.velocity + two.velocity
    assert momentum == pytest.approx(np.tile((2.0, 1.0, 0.0), (len(run), 1)), abs=1e-7)
    # Newton's impulse at the pin makes its velocities equal: along x, 2 and 1 kg; across, with spins about z
    impulse = (-1.0 / 1.5, -3.5 / (1.0 / 2.0 + 1.0 / 0.2 + 1.0 + 1.0 / 0.1))
    assert one.velocity[0, :2] == pytest.approx((1.0 + impulse[0] / 2.0, 0.5 + impulse[1] / 2.0), abs=1e-9)
