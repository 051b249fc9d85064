"""The mechanism: adding, naming, comparing, changing, taking out, placing copies in another one."""

import pickle

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.mechanism.rotation import matrix


def four_bar():
    mech = bc.Mechanism("four-bar", gravity=(0, 0, -9.81))
    crank = mech.add_body("crank", mass=1.0, inertia=(0.001, 0.083, 0.083), position=(0.5, 0, 0))
    rod = mech.add_body("rod", mass=2.0, inertia=(0.002, 0.66, 0.66), position=(1.0, 0, 1.0))
    axis = (0, 1, 0)
    mech.add_joint(
        "pivot", bc.Revolute(), mech.ground.marker(axis=axis), crank.marker((-0.5, 0, 0), axis=axis)
    )
    mech.add_joint(
        "pin", bc.Revolute(), crank.marker((0.5, 0, 0), axis=axis, name="tip"), rod.marker((0, 0, -1), axis)
    )
    mech.add_constraint("gear", bc.Coupling((1.0, 2.0)), "pivot", "pin")
    mech.add_force(
        "spring", bc.SpringDamper(stiffness=100.0, damping=1.0, rest_length=0.5), "crank.tip", mech.ground
    )
    mech.add_force("friction", bc.JointFriction(viscous=0.1), joint="pin")
    mech.add_drive("motor", joint="pivot", position=bc.Harmonic(0.5, 6.283))
    return mech


def test_the_published_names():
    mech = four_bar()
    assert repr(mech) == "<Mechanism 'four-bar': 2 bodies, 2 joints, 1 constraint, 2 forces, 1 drive>"
    assert repr(bc.Mechanism("nothing")) == "<Mechanism 'nothing': empty>"
    assert list(mech.bodies) == ["crank", "rod"]
    assert mech.bodies["crank"].mass == 1.0
    assert mech.joints["pin"].marker_1 == mech.marker("crank.tip") == mech.markers["crank.tip"]
    assert mech.forces["spring"].ends[0] == mech.markers["crank.tip"]
    assert mech.gravity == (0.0, 0.0, -9.81)
    bc.validate(mech)


def test_tables_are_read_only():
    with pytest.raises(TypeError):
        four_bar().bodies["crank"] = None


def test_equality():
    assert four_bar() == four_bar()
    assert four_bar() != "four-bar"
    for change in (
        lambda m: m.add_body("more", 1.0, (1, 1, 1)),
        lambda m: setattr(m, "gravity", (0, 0, 0)),
        lambda m: m.replace(m.bodies["rod"], mass=2.5),
        lambda m: m.replace(m.forces["spring"], kind=bc.SpringDamper(stiffness=101.0)),
        lambda m: m.add_marker(m.bodies["rod"].marker(name="middle")),
        lambda m: m.replace(m.ground, shapes=(bc.Sphere(radius=1.0),)),
    ):
        other = four_bar()
        change(other)
        assert other != four_bar()
    with pytest.raises(TypeError):
        hash(four_bar())


def test_order_counts():
    one, two = bc.Mechanism(), bc.Mechanism()
    for mech, names in ((one, "ab"), (two, "ba")):
        for name in names:
            mech.add_body(name, 1.0, (1, 1, 1))
    assert one != two


def test_pickling():
    assert pickle.loads(pickle.dumps(four_bar())) == four_bar()


def test_values_are_stored_as_floats_and_tuples():
    body = bc.Mechanism().add_body("b", 1, [1, 1, 1], position=[1, 2, 3])
    assert (body.mass, body.position, body.inertia) == (
        1.0,
        (1.0, 2.0, 3.0),
        ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    )
    assert isinstance(body.mass, float)
    assert hash(body) == hash(bc.Mechanism().add_body("b", 1, [1, 1, 1], position=[1, 2, 3]))


def test_a_full_inertia_is_kept():
    full = [[2, 0.1, 0], [0.1, 2, 0.2], [0, 0.2, 2]]
    assert bc.Mechanism().add_body("b", 1, full).inertia == tuple(tuple(row) for row in full)


class TestReplace:
    def test_in_place(self):
        mech = four_bar()
        changed = mech.replace(mech.bodies["crank"], mass=3.0)
        assert mech.bodies["crank"] is changed
        assert list(mech.bodies) == ["crank", "rod"]
        joint = mech.replace(mech.joints["pivot"], kind=bc.Cylindrical())
        assert mech.joints["pivot"].kind == bc.Cylindrical() == joint.kind

    def test_an_old_handle_means_the_element_of_its_name(self):
        mech = four_bar()
        old = mech.bodies["crank"]
        mech.replace(old, mass=3.0)
        assert mech.replace(old, com=(0.1, 0, 0)).mass == 3.0

    def test_a_new_body_name_is_followed(self):
        mech = four_bar()
        mech.replace(mech.bodies["crank"], name="arm")
        assert list(mech.bodies) == ["arm", "rod"]
        assert mech.joints["pivot"].marker_2.body == "arm"
        assert list(mech.markers) == ["arm.tip"]
        assert mech.forces["spring"].ends[0] == mech.markers["arm.tip"]
        bc.validate(mech)

    def test_a_new_joint_name_is_followed(self):
        mech = four_bar()
        mech.replace(mech.joints["pin"], name="elbow")
        assert mech.constraints["gear"].ends[1].joint == "elbow"
        assert mech.forces["friction"].ends[0].joint == "elbow"
        bc.validate(mech)

    def test_ground_shapes(self):
        mech = four_bar()
        mech.replace(mech.ground, shapes=bc.Box(size=(1, 1, 0.1)))
        assert mech.ground.shapes == (bc.Box(size=(1, 1, 0.1)),)


class TestRemove:
    def test_a_force(self):
        mech = four_bar()
        mech.remove(mech.forces["spring"])
        assert list(mech.forces) == ["friction"]

    def test_what_others_need_stays(self):
        mech = four_bar()
        with pytest.raises(bc.MechanismError, match=r"'gear'.*'friction'"):
            mech.remove(mech.joints["pin"])
        assert mech == four_bar()

    def test_cascade(self):
        mech = four_bar()
        mech.remove(mech.bodies["crank"], cascade=True)
        assert list(mech.bodies) == ["rod"]
        assert [
            len(table) for table in (mech.joints, mech.constraints, mech.drives, mech.markers, mech.forces)
        ] == [0] * 5

    def test_a_marker(self):
        mech = four_bar()
        spare = mech.add_marker(mech.bodies["rod"].marker(name="spare"))
        mech.remove(spare)
        assert list(mech.markers) == ["crank.tip"]
        with pytest.raises(bc.MechanismError, match="joint 'pin', force 'spring'"):
            mech.remove(mech.markers["crank.tip"])


def test_names_may_have_dots_and_slashes():
    mech = bc.Mechanism()
    body = mech.add_body("left/arm.2", 1.0, (1, 1, 1))
    mech.add_joint("left/j.1", bc.Revolute(), mech.ground, body.marker(name="m"))
    assert mech.add_drive("d", "left/j.1", position=1.0).coordinate.joint == "left/j.1"
    assert mech.add_drive("e", "left/j.1.theta_z", position=1.0).coordinate.coordinate == "theta_z"
    assert mech.marker("left/arm.2.m").body == "left/arm.2"


def test_forces_and_constraints_take_joints_in_every_form():
    mech = four_bar()
    joint = mech.joints["pin"]
    for number, end in enumerate((joint, "pin", joint.coordinate(), "pin.theta_z")):
        force = mech.add_force(f"f{number}", bc.JointMotor(1.0), end)
        assert force.ends == (joint.coordinate("theta_z"),)
    assert mech.add_force("g", bc.TabulatedSpring(bc.Table((0, 1), (0, 1))), "pin").ends == force.ends
    assert mech.add_force("h", bc.TabulatedSpring(bc.Table((0, 1), (0, 1))), "crank.tip", mech.ground).markers


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


def test_a_name_of_a_body_and_a_joint_says_which_where_both_would_do():
    mech = bc.Mechanism("twice")
    arm = mech.add_body("arm", 1.0, (0.1, 0.1, 0.1))
    mech.add_body("other", 1.0, (0.1, 0.1, 0.1))
    joint = mech.add_joint("arm", bc.Revolute(), mech.ground, arm)
    advice = r"give mech.joints\['arm'\] for the joint, mech.bodies\['arm'\] for the body"
    with pytest.raises(
        bc.MechanismError, match=rf"force 'spring': a body and a joint have this name.*{advice}"
    ):
        mech.add_force("spring", bc.Clutch(2.0), "arm", "other")
    mech.add_force("by joint", bc.Clutch(2.0), joint)
    mech.add_force("by body", bc.Clutch(2.0), arm, "other")
    mech.add_force("only a joint", bc.JointFriction(1.0), "arm")
    mech.add_force("only a body", bc.SpringDamper(1.0), "arm", "other")
    mech.add_marker(arm.marker(name="tip"))
    mech.add_marker(arm.marker(name="theta_z"))
    mech.add_force("by marker", bc.Clutch(2.0), "arm.tip", "other")
    with pytest.raises(
        bc.MechanismError, match=r"a marker and a joint have this name.*coordinate\('theta_z'\)"
    ):
        mech.add_force("spring", bc.Clutch(2.0), "arm.theta_z", "other")
