"""Initial positions and velocities of joints: exact, along trees and in loops, refused where they clash."""

import math

import numpy as np
import pytest
from rigs.placed_joints import INERTIA, Y, arm, four_bar, starts

import bellcrank as bc


@pytest.mark.parametrize("angle", [0.3, -2.0, math.pi, 4.0, 25.0])
@pytest.mark.parametrize("elbow", [0.0, 1.2])
def test_what_hangs_on_a_joint_moves_along(angle, elbow):
    """Turned about y: the elbow lies at (cos, 0, -sin); the other link keeps its angle against the first."""
    mech = arm({"position": angle, "velocity": 3.0}, {"position": elbow, "velocity": -5.0})
    bc.assemble(mech)
    c, s = math.cos(angle), math.sin(angle)
    b = mech.bodies["b"]
    assert b.position == pytest.approx((c, 0, -s), abs=1e-12)
    assert b.velocity == pytest.approx((-3 * s, 0, -3 * c), abs=1e-12)
    assert b.angular_velocity == pytest.approx((0, -2, 0), abs=1e-12)
    assert mech.bodies["a"].angular_velocity == pytest.approx((0, 3, 0), abs=1e-12)
    (first, second) = starts(mech, "h1", "h2")
    assert np.ravel(first) == pytest.approx([angle, 3.0], abs=1e-12)
    assert np.ravel(second) == pytest.approx([elbow, -5.0], abs=1e-12)


def test_a_joint_that_is_not_given_keeps_its_angle_and_its_rate():
    """The second link is placed at 0.5 rad and 2 rad/s; the first is turned, and both stay."""
    q = (math.cos(0.25), 0, math.sin(0.25), 0)
    mech = arm({"position": 1.0}, None, rotation=q, angular_velocity=(0, 2, 0))
    (first, second) = starts(mech, "h1", "h2")
    assert np.ravel(first) == pytest.approx([1.0, 0.0], abs=1e-12)
    assert np.ravel(second) == pytest.approx([0.5, 2.0], abs=1e-12)


def test_a_joint_given_from_the_moving_body_to_the_ground():
    """The bodies' order turns the sign, not who is carried."""
    mech = bc.Mechanism("reversed")
    a = mech.add_body("a", 1.0, INERTIA, com=(0.5, 0, 0))
    mech.add_joint("h", bc.Revolute(), a.marker(**Y), mech.ground.marker(**Y), position=0.4, velocity=1.5)
    bc.assemble(mech)
    assert mech.bodies["a"].rotation == pytest.approx((math.cos(0.2), 0, -math.sin(0.2), 0), abs=1e-12)
    assert mech.bodies["a"].angular_velocity == pytest.approx((0, -1.5, 0), abs=1e-12)


def test_assembling_twice_changes_nothing():
    mech = arm({"position": 4.0, "velocity": 2.0}, {"position": -0.3})
    assert bc.assemble(mech).changed
    assert not bc.assemble(mech).changed


@pytest.mark.parametrize("angle", [0.6, 1.9, -2.5, 7.0])
def test_a_loop_is_led_there(angle):
    """Crank and rocker as in a kinematic run that turns the crank from where it was placed."""
    mech = four_bar({"position": angle, "velocity": 3.0})
    crank, rocker = starts(mech, "pivot 1", "pivot 2")
    assert np.ravel(crank) == pytest.approx([angle, 3.0], abs=1e-11)
    led = four_bar()
    led.add_drive("turn", "pivot 1", position=bc.Polynomial((0.0, math.copysign(3.0, angle))))
    told = bc.kinematics(led, abs(angle) / 3.0)
    sign = math.copysign(1.0, angle)
    expected = [told.joint("pivot 2").position[-1, 0], sign * told.joint("pivot 2").velocity[-1, 0]]
    assert np.ravel(rocker) == pytest.approx(expected, abs=1e-9)


def test_a_loop_that_hangs_on_a_posed_joint_is_carried_as_it_is():
    """A four-bar on a turntable: turned as a whole, without any correction."""
    mech = bc.Mechanism("turntable", gravity=(0, 0, 0))
    table = mech.add_body("table", 1.0, (0.1, 0.1, 0.1))
    mech.add_joint("table", bc.Revolute(), mech.ground, table, position=2.0, velocity=1.0)
    inner = four_bar()
    bc.assemble(inner)
    mech.place(inner, "bars", attach_to=table)
    bc.assemble(mech)
    turn = bc.rotation("z", 2.0)
    from bellcrank.mechanism.rotation import rotate

    for name, body in inner.bodies.items():
        placed = mech.bodies[f"bars/{name}"]
        where = np.array(rotate(turn, body.position))
        assert placed.position == pytest.approx(where, abs=1e-11)
        assert placed.velocity == pytest.approx(np.cross((0, 0, 1.0), where), abs=1e-11)


@pytest.mark.parametrize(
    ("kind", "given", "position", "velocity"),
    [
        (bc.Cylindrical(), {"position": {"z": 0.2}, "velocity": {"theta_z": 3.0}}, [0.2, 0], [0, 3.0]),
        (bc.Cylindrical(), {"position": (0.1, 9.0), "velocity": (1.0, 2.0)}, [0.1, 9.0], [1.0, 2.0]),
        (bc.Spherical(), {"position": (0.1, -0.2, 0.3)}, [0.1, -0.2, 0.3], [0, 0, 0]),
        (bc.Universal(), {"position": (0.4, 0.2), "velocity": np.array([1.0, -1.0])}, [0.4, 0.2], [1, -1]),
        (bc.Screw(pitch=0.01), {"position": 20.0, "velocity": 5.0}, [20.0], [5.0]),
        (bc.Free(), {"position": {"x": 1.0}, "velocity": {"z": 2.0}}, [1, 0, 0, 0, 0, 0], [0, 0, 2, 0, 0, 0]),
        (bc.Prismatic(), {"position": 0.3, "velocity": -2.0}, [0.3], [-2.0]),
    ],
)
def test_kinds_with_several_coordinates(kind, given, position, velocity):
    mech = bc.Mechanism("one", gravity=(0, 0, 0))
    body = mech.add_body("body", 1.0, (0.1, 0.2, 0.3))
    mech.add_joint("joint", kind, mech.ground, body, **given)
    ((p, v),) = starts(mech, "joint")
    assert p == pytest.approx(position, abs=1e-12)
    assert v == pytest.approx(velocity, abs=1e-12)


def test_a_gear_train_runs_as_one_of_its_wheels_is_told():
    mech = bc.Mechanism("gears", gravity=(0, 0, 0))
    one = mech.add_body("one", 1.0, (0.01, 0.01, 0.02))
    two = mech.add_body("two", 1.0, (0.01, 0.01, 0.02), position=(0.3, 0, 0))
    mech.add_joint("j1", bc.Revolute(), mech.ground, one, velocity=20.0, position=0.7)
    mech.add_joint("j2", bc.Revolute(), mech.ground.marker((0.3, 0, 0)), two)
    mech.add_constraint("mesh", bc.Gear(radii=(0.1, 0.2)), one, two)
    first, second = starts(mech, "j1", "j2")
    assert np.ravel(first) == pytest.approx([0.7, 20.0], abs=1e-12)
    assert np.ravel(second) == pytest.approx([0.0, -10.0], abs=1e-12)


@pytest.mark.parametrize(
    ("mech", "says"),
    [
        (lambda: four_bar({"position": 1.0}, {"position": -1.0}), "position of joint 'pivot 1'"),
        (lambda: four_bar({"velocity": 1.0}, {"velocity": -8.0}), "velocity of joint 'pivot 1'"),
    ],
)
def test_contradictions_are_named(mech, says):
    with pytest.raises(bc.AssemblyError, match=r"contradict|different motions") as caught:
        bc.assemble(mech())
    assert says in str(caught.value)
    assert "pivot 2" in str(caught.value)


def test_a_drive_that_starts_elsewhere_contradicts():
    mech = arm({"position": 1.0})
    mech.add_drive("motor", "h1", position=0.5)
    with pytest.raises(bc.AssemblyError, match="position of joint 'h1'"):
        bc.assemble(mech)


def test_a_velocity_drive_goes_on_from_the_given_position():
    mech = arm({"position": 4.0})
    mech.add_drive("motor", "h1", velocity=2.0)
    run = bc.simulate(mech, 0.5)
    assert run.joint("h1").position[[0, -1], 0] == pytest.approx([4.0, 5.0], abs=1e-10)


def test_a_limit_beyond_half_a_turn_counts_from_the_given_position():
    """At 6 rad, with a stop at 6.1: the arm comes to rest there, not a turn later."""
    mech = arm({"position": 6.0, "velocity": 1.0, "limits": bc.Limit(upper=6.1)}, {})
    mech.gravity = (0, 0, 0)
    run = bc.simulate(mech, 0.5)
    assert run.joint("h1").position.max() == pytest.approx(6.1, abs=1e-9)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"position": (1.0, 2.0)}, "a number for each free coordinate"),
        ({"position": np.array("x")}, "must be a number"),
        ({"position": {"theta_x": 1.0}}, "does not let this coordinate move"),
        ({"position": math.nan}, "must be finite"),
        ({"velocity": "fast"}, "must be a number"),
        ({"velocity": {"theta": 1.0}}, "this is not a coordinate"),
    ],
)
def test_faults(given, says):
    with pytest.raises(bc.MechanismError, match=says) as caught:
        arm(given)
    assert "joint 'h1'" in str(caught.value)
