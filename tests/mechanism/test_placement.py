"""Copies of a mechanism in another one: names, poses, velocities, and what they are hung on."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.mechanism.rotation import matrix

HALF = 0.5**0.5
TURN = (HALF, 0.0, 0.0, HALF)  # a quarter turn about z


@pytest.fixture
def arm():
    mech = bc.Mechanism("arm", gravity=(0, 0, -1))
    upper = mech.add_body(
        "upper", 1.0, (1, 1, 1), position=(1, 0, 0), velocity=(0, 0, 1), angular_velocity=(1, 0, 0)
    )
    base = mech.ground.marker((0.2, 0, 0), axis=(0, 1, 0), name="foot")
    mech.add_joint("shoulder", bc.Revolute(), base, upper.marker((-0.8, 0, 0), axis=(0, 1, 0)))
    mech.add_marker(upper.marker((0.5, 0, 0), name="tip"))
    mech.add_drive("motor", "shoulder", position=bc.Ramp(0, 1))
    mech.add_drive("path", marker=upper, path=bc.Path((0, 0, bc.Ramp(0, 1))))
    mech.add_force("spring", bc.SpringDamper(stiffness=1.0), mech.ground.marker((0, 0, 1)), "upper.tip")
    mech.add_constraint("hold", bc.Coupling((1.0,)), "shoulder")
    mech.replace(mech.ground, shapes=(bc.Box(size=(1, 1, 1), position=(0, 0, -0.5)),))
    return mech


def test_names_and_references(arm):
    world = bc.Mechanism()
    left = world.place(arm, "left", position=(0, 1, 0))
    world.place(arm, "right", position=(0, -1, 0))
    assert list(world.bodies) == ["left/upper", "right/upper"]
    assert list(world.drives) == ["left/motor", "left/path", "right/motor", "right/path"]
    assert left.body("upper") is world.bodies["left/upper"]
    assert left.drive("motor").coordinate.joint == "left/shoulder"
    assert left.constraint("hold").ends[0].joint == "left/shoulder"
    assert left.force("spring").ends[1] == left.marker("upper.tip") == world.markers["left/upper.tip"]
    assert left.joint("shoulder").marker_2.body == "left/upper"
    assert world.gravity == (0, 0, -9.81)
    bc.validate(world)


def test_the_pose_is_applied_to_bodies_and_ground_markers(arm):
    world = bc.Mechanism()
    placed = world.place(arm, "a", position=(0, 1, 5), rotation=TURN)
    body = placed.body("upper")
    assert body.position == pytest.approx((0, 2, 5))
    np.testing.assert_allclose(matrix(body.rotation), matrix(TURN), atol=1e-15)
    assert body.velocity == pytest.approx((0, 0, 1))
    assert body.angular_velocity == pytest.approx((0, 1, 0))
    base = placed.joint("shoulder").marker_1
    assert base.body == "ground"
    assert base.position == pytest.approx((0, 1.2, 5))
    assert base.z_axis == pytest.approx((-1, 0, 0))
    assert placed.drive("path").reference.position == pytest.approx((0, 1, 5))
    assert world.ground.shapes[0].position == pytest.approx((0, 1, 4.5))


def test_relative_poses_do_not_change(arm, configuration):
    world = bc.Mechanism()
    cart = world.add_body("cart", 1.0, (1, 1, 1), position=(3, 2, 1), rotation=(0.6, 0.8, 0, 0))
    placed = world.place(arm, "a", position=(0.1, 0.2, 0.3), rotation=TURN, attach_to=cart)

    def poses(mech):
        return configuration({name: (body.position, body.rotation) for name, body in mech.bodies.items()})

    for kind in ("x", "y", "z", "e1", "e2", "e3"):
        before = arm.joints["shoulder"].kind.coordinate(kind, *ends(arm.joints["shoulder"]))
        after = placed.joint("shoulder").kind.coordinate(kind, *ends(placed.joint("shoulder")))
        assert poses(world).coordinate(after) == pytest.approx(poses(arm).coordinate(before), abs=1e-14)


def ends(joint):
    return joint.marker_1, joint.marker_2


def test_attached_to_a_moving_body_it_moves_along(arm):
    world = bc.Mechanism()
    cart = world.add_body(
        "cart",
        1.0,
        (1, 1, 1),
        position=(3, 0, 0),
        rotation=TURN,
        velocity=(2, 0, 0),
        angular_velocity=(0, 0, 1),
    )
    placed = world.place(arm, "a", position=(0, 0, 1), attach_to="cart")
    body = placed.body("upper")
    assert body.position == pytest.approx((3, 1, 1))
    assert body.velocity == pytest.approx((2 - 1, 0, 0 + 1))  # the cart's, its turn, and the arm's own
    assert body.angular_velocity == pytest.approx((0, 1, 1))
    base = placed.joint("shoulder").marker_1
    assert (base.body, base.position) == ("cart", pytest.approx((0.2, 0, 1)))
    assert world.bodies["cart"].shapes[0].position == pytest.approx((0, 0, 0.5))
    assert world.bodies["cart"].mass == cart.mass
    bc.validate(world)


def test_copies_of_copies_and_of_itself(arm):
    pair = bc.Mechanism("pair")
    pair.place(arm, "a")
    pair.place(arm, "b", attach_to="a/upper")
    world = bc.Mechanism()
    world.place(pair, "one")
    assert list(world.bodies) == ["one/a/upper", "one/b/upper"]
    assert world.joints["one/b/shoulder"].marker_1.body == "one/a/upper"
    arm.place(arm, "again", position=(0, 0, 2))
    assert list(arm.bodies) == ["upper", "again/upper"]
    assert arm.joints["again/shoulder"].marker_2.body == "again/upper"


def test_the_original_is_left_alone(arm):
    before = bc.Mechanism("arm", gravity=(0, 0, -1))
    world = bc.Mechanism()
    world.place(arm, "a", rotation=TURN)
    assert arm.bodies["upper"].position == (1, 0, 0)
    assert before.gravity == arm.gravity


def test_a_name_that_is_taken_adds_nothing(arm):
    world = bc.Mechanism()
    world.place(arm, "a")
    with pytest.raises(bc.MechanismError, match="a/upper") as caught:
        world.place(arm, "a")
    assert len(caught.value.faults) == 6
    assert list(world.bodies) == ["a/upper"]
    with pytest.raises(bc.MechanismError, match=r"no such body.*did you mean 'a/upper'"):
        world.place(arm, "b", attach_to="upper")
