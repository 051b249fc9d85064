"""What drives become: rows led by functions of time."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.mechanism.rotation import from_rotation_vector


@pytest.fixture
def hinge():
    mech = bc.Mechanism()
    body = mech.add_body("b", 1.0, (1, 1, 1))
    mech.add_joint("j", bc.Revolute(), mech.ground, body)
    mech.add_joint("c", bc.Cylindrical(), mech.ground, body)
    return mech


def only_row(mech, name):
    drive = mech.drives[name]
    (element,) = [e for e in bc.mechanism.lower(mech) if (e.category, e.name) == ("drive", name)]
    (block,) = element.lowered.blocks
    assert block.role == "drive"
    return drive, block.rows[0]


def test_position(hinge):
    motion = bc.Harmonic(0.5, 2.0)
    hinge.add_drive("d", "j", position=motion)
    _, row = only_row(hinge, "d")
    assert (row.constant, row.function) == (0.0, motion)
    assert row.terms[0].coordinate == hinge.joints["j"].resolved()


def test_relative_position(hinge):
    hinge.add_drive("d", "j", position=bc.Ramp(0, 1), relative=True)
    assert only_row(hinge, "d")[1].constant is None


def test_velocity_is_integrated_from_the_start(hinge):
    speed = bc.Ramp(0.0, 3.0, duration=2.0)
    hinge.add_drive("d", "j", velocity=speed)
    _, row = only_row(hinge, "d")
    assert row.constant is None
    t = np.linspace(-1, 4, 11)
    np.testing.assert_allclose(row.function.derivative(t), speed(t), atol=1e-13)


@pytest.mark.parametrize("how", ["text", "handle", "reference", "number", "name", "dotted"])
def test_ways_to_say_which_coordinate(hinge, how):
    joint = hinge.joints["c"]
    joint, coordinate = {
        "text": ("c", "theta_z"),
        "handle": (joint, "theta_z"),
        "reference": (joint.coordinate("theta_z"), None),
        "number": ("c", 1),
        "name": (joint.name, "theta_z"),
        "dotted": ("c.theta_z", None),
    }[how]
    drive = hinge.add_drive("d", joint, coordinate, position=1.0)
    assert drive.coordinate == joint_coordinate("c", "theta_z")


def joint_coordinate(joint, coordinate):
    from bellcrank.mechanism import JointCoordinate

    return JointCoordinate(joint, coordinate)


def test_the_length_between_the_markers_can_be_led(hinge):
    mech = hinge
    mech.add_joint("leg", bc.Free(), mech.ground, mech.bodies["b"])
    mech.add_drive("d", "leg", "distance", position=1.0)
    assert only_row(mech, "d")[1].terms[0].coordinate.kind == "distance"


class TestPath:
    path = bc.Path(bc.Curve([(0, 0, 0), (1, 0.5, 0), (2, 0, 1)]), bc.Ramp(0.0, 2.0, duration=3.0))

    def test_position(self, hinge, configuration):
        mech = hinge
        tip, base = mech.bodies["b"].marker((0.1, 0, 0)), mech.ground.marker((1, 2, 3), axis=(0, 1, 0))
        drive = mech.add_drive("d", marker=tip, path=self.path, reference=base)
        (block,) = drive.lowered().blocks
        t = 1.3
        local = np.array([f(t) for f in self.path.functions])
        # The reference's axes in the world: z along y, x unchanged, so y points down.
        target = np.array([1, 2, 3]) + local[0] * np.array([1, 0, 0]) + local[1] * np.array([0, 0, -1])
        target = target + local[2] * np.array([0, 1, 0]) - [0.1, 0, 0]
        pose = configuration({"b": (target, (1, 0, 0, 0))})
        assert [pose.row(row, t) for row in block.rows] == pytest.approx([0, 0, 0], abs=1e-14)

    def test_held_orientation(self, hinge, configuration):
        half = 0.5**0.5
        drive = hinge.add_drive("d", marker=hinge.bodies["b"], path=self.path, orientation=(half, 0, 0, half))
        (block,) = drive.lowered().blocks
        assert len(block.rows) == 6
        target = [f(2.0) for f in self.path.functions]
        held = configuration({"b": (target, (half, 0, 0, half))})
        assert [held.row(row, 2.0) for row in block.rows] == pytest.approx([0] * 6, abs=1e-14)
        turned = configuration({"b": (target, (1, 0, 0, 0))})
        assert abs(turned.row(block.rows[5], 2.0)) > 0.5

    def test_led_orientation(self, hinge, configuration):
        turns = (bc.Harmonic(0.3, 1.0), 0.2, bc.Ramp(0.0, 1.0))
        drive = hinge.add_drive("d", marker=hinge.bodies["b"], path=self.path, orientation=turns)
        (block,) = drive.lowered().blocks
        vector = (0.3 * np.sin(0.7), 0.2, float(bc.Ramp(0.0, 1.0)(0.7)))
        pose = ([f(0.7) for f in self.path.functions], from_rotation_vector(vector))
        got = [configuration({"b": pose}).row(row, 0.7) for row in block.rows]
        assert got == pytest.approx([0] * 6, abs=1e-14)
