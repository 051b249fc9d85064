"""Runs that go on from a state: drives counted from the start lead on from where their coordinate is."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose

import bellcrank as bc

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
