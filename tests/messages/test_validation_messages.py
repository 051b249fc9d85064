"""What only the whole mechanism shows: all faults in one report."""

import pytest

import bellcrank as bc


@pytest.fixture
def mech():
    mech = bc.Mechanism("test")
    for name in ("arm", "rod"):
        mech.add_joint(
            f"{name} joint", bc.Cylindrical(), mech.ground, mech.add_body(name, 1.0, (1.0, 1.0, 1.0))
        )
    return mech


def faults(mech):
    with pytest.raises(bc.MechanismError) as caught:
        bc.validate(mech)
    return caught.value.faults


def only(mech):
    (fault,) = faults(mech)
    return fault


def test_a_sound_mechanism_passes(mech):
    mech.add_joint("loop", bc.Spherical(), mech.bodies["arm"], mech.bodies["rod"])
    mech.add_force("spring", bc.SpringDamper(1.0), mech.bodies["arm"], mech.bodies["rod"])
    mech.add_constraint("gear", bc.Gear(ratio=2.0), "arm joint.theta_z", "rod joint.theta_z")
    mech.add_drive("push", "arm joint.z", position=0.0)
    mech.add_drive("turn", "arm joint.theta_z", position=0.0)
    assert bc.validate(mech) is None


def test_an_empty_mechanism():
    fault = only(bc.Mechanism("nothing"))
    assert (fault.element, fault.rule) == ("mechanism 'nothing'", "it has no bodies")
    assert "add_body" in fault.advice


def test_a_missing_body(mech):
    mech.add_joint("loop", bc.Spherical(), bc.Marker("amr"), mech.bodies["rod"])
    fault = only(mech)
    assert fault.element == "joint 'loop'"
    assert "body that is not there" in fault.rule
    assert (fault.value, fault.advice) == ("amr", "did you mean 'arm'?")


def test_a_body_known_only_by_its_placed_name(mech):
    world = bc.Mechanism()
    world.place(mech, "left")
    world.add_joint("loop", bc.Spherical(), mech.bodies["arm"], world.ground)
    assert only(world).advice == "did you mean 'left/arm'?"


def test_a_named_marker_on_a_missing_body(mech):
    mech.add_marker(bc.Marker("gone", name="tip"))
    assert only(mech).element == "marker 'gone.tip'"


def test_a_joint_of_a_body_with_itself(mech):
    arm = mech.bodies["arm"]
    mech.add_joint("loop", bc.Spherical(), arm.marker((1, 0, 0)), arm.marker((0, 1, 0)))
    fault = only(mech)
    assert (fault.element, fault.rule, fault.value) == (
        "joint 'loop'",
        "it connects a body with itself",
        "arm",
    )


def test_a_joint_of_the_ground_with_itself(mech):
    mech.add_joint("loop", bc.Spherical(), mech.ground, mech.ground.marker((1, 0, 0)))
    assert only(mech).value == "ground"


def test_an_unconnected_driven_coordinate(mech):
    mech.add_drive("motor", joint="arm jiont", position=1.0)
    fault = only(mech)
    assert (fault.element, fault.rule, fault.value) == (
        "drive 'motor'",
        "there is no joint of this name",
        "arm jiont",
    )
    assert fault.advice.startswith("did you mean 'arm joint'")


def test_a_driven_coordinate_that_a_change_locked(mech):
    mech.add_drive("push", "arm joint.z", position=1.0)
    mech.replace(mech.joints["arm joint"], kind=bc.Revolute())
    fault = only(mech)
    assert fault.element == "drive 'push'"
    assert "locked by the joint" in fault.rule
    assert "theta_z" in fault.advice


def test_contradictory_drives(mech):
    mech.add_drive("one", "arm joint.z", position=1.0)
    mech.add_drive("two", "arm joint.z", velocity=1.0)
    fault = only(mech)
    assert (fault.element, fault.value) == ("drive 'two'", "z")
    assert "drive 'one' drives the same coordinate" in fault.rule


def test_contradictory_paths(mech):
    for name in ("one", "two"):
        mech.add_drive(name, marker=mech.bodies["arm"], path=bc.Path((0, 0, bc.Ramp(0, 1))))
    assert only(mech).element == "drive 'two'"


def test_a_path_that_goes_with_its_marker(mech):
    arm = mech.bodies["arm"]
    mech.add_drive("path", marker=arm, path=bc.Path((0, 0, 0)), reference=arm.marker((1, 0, 0)))
    assert "on one body" in only(mech).rule


def test_a_force_of_a_body_on_itself(mech):
    arm = mech.bodies["arm"]
    mech.add_force("spring", bc.SpringDamper(1.0), arm.marker((1, 0, 0)), arm)
    fault = only(mech)
    assert (fault.element, fault.rule, fault.value) == (
        "force 'spring'",
        "it acts between a body and itself",
        "arm",
    )


def test_a_wrench_on_the_ground(mech):
    mech.add_force("push", bc.Wrench(force=(1, 0, 0)), mech.ground)
    assert "the ground" in only(mech).rule


def test_forces_and_constraints_on_missing_joints(mech):
    mech.add_force("motor", bc.JointMotor(1.0), "elbow")
    mech.add_constraint("gear", bc.Differential(), "arm joint.z", "elbow", "wrist")
    assert [(f.element, f.value) for f in faults(mech)] == [
        ("constraint 'gear'", "elbow"),
        ("constraint 'gear'", "wrist"),
        ("force 'motor'", "elbow"),
    ]


def test_a_constraint_that_holds_nothing(mech):
    arm = mech.bodies["arm"]
    mech.add_constraint("cable", bc.Cable(), arm.marker((1, 0, 0)), arm)
    assert "it holds nothing" in only(mech).rule


def test_a_gear_of_a_joint_with_itself(mech):
    mech.add_constraint("gear", bc.Gear(ratio=2.0), "arm joint.z", "arm joint.z")
    assert "appears twice" in only(mech).rule


def test_a_joint_coordinate_named_too_early(mech):
    mech.add_force("motor", bc.JointMotor(1.0), "late")
    mech.add_joint("late", bc.Planar(), mech.bodies["arm"], mech.bodies["rod"])
    fault = only(mech)
    assert fault.element == "force 'motor'"
    assert "not clear which coordinate" in fault.rule


def test_all_faults_in_one_report(mech):
    arm = mech.bodies["arm"]
    mech.add_joint("to nothing", bc.Fixed(), bc.Marker("gone"), arm)
    mech.add_joint("to itself", bc.Fixed(), arm, arm)
    mech.add_force("idle", bc.SpringDamper(1.0), arm, arm)
    mech.add_drive("one", "arm joint.z", position=1.0)
    mech.add_drive("two", "arm joint.z", position=2.0)
    mech.add_drive("three", "no joint", position=2.0)
    found = faults(mech)
    assert [fault.element for fault in found] == [
        "joint 'to nothing'",
        "joint 'to itself'",
        "force 'idle'",
        "drive 'two'",
        "drive 'three'",
    ]
    with pytest.raises(bc.MechanismError) as caught:
        bc.validate(mech)
    lines = str(caught.value).splitlines()
    assert lines[0] == "5 faults in the mechanism:"
    assert len(lines) == 6
    assert all(fault.element in line for fault, line in zip(found, lines[1:], strict=True))
