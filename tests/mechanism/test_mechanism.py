"""The mechanism: adding, naming, comparing, changing, taking out."""

import pickle

import pytest

import bellcrank as bc


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
