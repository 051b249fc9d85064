"""Initial values of joints in files: numbers with units, lists, mappings; written and read back."""

import math

import pytest

import bellcrank as bc
from bellcrank.io import dumps, schema

FILE = """
bellcrank: 1
bodies:
  a: {mass: 1, inertia: [1, 1, 1]}
  b: {mass: 1, inertia: [1, 1, 1]}
  c: {mass: 1, inertia: [1, 1, 1]}
  d: {mass: 1, inertia: [1, 1, 1]}
joints:
  hinge: {type: Revolute, first: ground, second: a, position: 30 deg, velocity: 60 rpm}
  bolt: {type: Cylindrical, first: ground, second: b, position: [10 mm, 0], velocity: {theta_z: 3}}
  slide: {type: Prismatic, first: ground, second: c, velocity: 2}
  motor: {type: RevoluteMotor, first: ground, second: d, velocity: 5}
"""


def test_joints_start_as_the_file_says():
    mech = bc.loads(FILE, "yaml")
    joints = mech.joints
    assert dict(joints["hinge"].position) == {"theta_z": pytest.approx(math.pi / 6)}
    assert dict(joints["hinge"].velocity) == {"theta_z": pytest.approx(2 * math.pi)}
    assert dict(joints["bolt"].position) == {"z": 0.01, "theta_z": 0.0}
    assert joints["bolt"].velocity == (("theta_z", 3.0),)
    assert joints["slide"].velocity == (("z", 2.0),)
    assert joints["motor"].velocity == ()
    assert mech.drives["motor"].velocity is not None


@pytest.mark.parametrize("name", ["yaml", "json"])
def test_they_are_written_and_read_back(name):
    mech = bc.loads(FILE, "yaml")
    assert bc.loads(dumps(mech, name), name) == mech


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("30 deg", "30 kg", r"this unit does not fit here, got '30 kg'; give it in rad or m.*line 9"),
        ("[10 mm, 0]", "[10 mm]", "a number for each free coordinate.*line 10"),
        ("{theta_z: 3}", "{theta_y: 3}", "does not let this coordinate move, got 'theta_y'.*line 10"),
        ("{theta_z: 3}", "{theta_z: fast}", "the name 'fast' is not known.*line 10"),
        ("velocity: 2}", "velocty: 2}", "not known, got 'velocty'; did you mean 'velocity'.*line 11"),
    ],
)
def test_faults_name_the_line(old, new, says):
    with pytest.raises(bc.MechanismError, match=says):
        bc.loads(FILE.replace(old, new), "yaml")


def test_the_schema_knows_them():
    kinds = schema()["$defs"]
    assert "position" in kinds["joint Revolute"]["properties"]
    assert "initial" not in kinds["joint RevoluteMotor"]["properties"]["velocity"].get("description", "")
