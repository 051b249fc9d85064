"""Values in mechanism files: parameters, expressions, initial values of joints, formulas."""

import json
import math
from math import pi

import numpy as np
import pytest
from rigs.json_schema import SCHEMA, accepts

import bellcrank as bc
from bellcrank.io import dumps, read, schema, yaml_format
from bellcrank.io.node import plain
from bellcrank.mechanism.contents import with_numbers

PENDULUM = """\
bellcrank: 1
name: pendulum
parameters:
  length: {value: 500 mm, unit: m, low: 0.1, high: 2, doc: of the rod}
  stiffness: 100 N/m
  amplitude: 0.2
gravity: [0, 0, -9.81*stiffness/100]
bodies:
  rod: {mass: 2*length, inertia: [0.01, "length^2/6", "length^2/6"], position: [length/2, 0, 0]}
  bob: {shapes: [{type: Sphere, radius: length/10, density: 7.85 g/cm^3}], position: [length, 0, 0]}
markers:
  rod.tilted: {position: [0, 0, length], rotation: {axis: [0, 1, 0], angle: length/2}}
joints:
  pivot:
    type: Revolute
    first: {body: ground, axis: [0, 1, 0]}
    second: {body: rod, position: [-length/2, 0, 0], axis: [0, 1, 0]}
    limits: {lower: -pi/2}
    position: length/10
  weld: {type: Fixed, first: {body: rod, position: [length/2, 0, 0]}, second: bob}
forces:
  motor: {type: JointMotor, effort: "amplitude*sin(2*pi*t)", joint: pivot}
  wind: {type: Wrench, force: ["if(t < 1, 0, 0.1)", stiffness/1000, 0], ends: bob}
simulation: {duration: 2*0.5}
"""


def test_numbers():
    mech = bc.loads(PENDULUM)
    length = mech.parameters["length"]
    assert (length.value, length.unit, length.low, length.high, length.doc) == (
        0.5,
        "m",
        0.1,
        2.0,
        "of the rod",
    )
    assert mech.bodies["rod"].mass == 2 * length.symbol
    numeric = with_numbers(mech.with_parameters(length=0.8))
    assert numeric.bodies["rod"].mass == 1.6
    assert numeric.bodies["bob"].mass == pytest.approx(7850 * 4 / 3 * pi * 0.08**3)
    assert numeric.joints["pivot"].limits[0][1].lower == -pi / 2
    assert numeric.gravity == (0, 0, -9.81)
    np.testing.assert_allclose(numeric.markers["rod.tilted"].rotation, (np.cos(0.2), 0, np.sin(0.2), 0))
    force = numeric.forces["motor"].kind.effort
    np.testing.assert_allclose(force(np.array([0.1, 0.25])), 0.2 * np.sin(2 * pi * np.array([0.1, 0.25])))


@pytest.mark.parametrize("kind", ["yaml", "json"])
def test_round_trip_keeps_the_expressions(kind):
    mech = bc.loads(PENDULUM)
    again = bc.loads(dumps(mech, kind))
    assert again == mech
    assert again.with_parameters(length=0.7) != mech
    assert again.with_parameters(length=0.7) == mech.with_parameters(length=0.7)
    assert dumps(again, kind) == dumps(mech, kind)


def test_texts_as_they_are_written():
    text = dumps(bc.loads(PENDULUM))
    for line in ('mass: "2*length"', "stiffness: 100.0", 'effort: "amplitude*sin(6.283185307179586*t)"'):
        assert line in text


def test_arithmetic_without_parameters_gives_numbers(tmp_path):
    (tmp_path / "p.yaml").write_text(PENDULUM)
    assert read(tmp_path / "p.yaml").simulation.duration == 1.0


def test_placed_with_other_values(tmp_path):
    (tmp_path / "arm.yaml").write_text(
        "bellcrank: 1\nparameters: {length: 1, width: 0.2}\n"
        "bodies: {link: {mass: 2*length, inertia: [width, width, width]}}\n"
    )
    (tmp_path / "robot.yaml").write_text(
        "bellcrank: 1\nparameters: {reach: 3}\nmechanisms:\n"
        "  left: {file: arm.yaml}\n"
        "  right: {file: arm.yaml, position: [reach, 0, 0], parameters: {length: reach/2, width: 40 mm}}\n"
    )
    robot = bc.load(tmp_path / "robot.yaml")
    assert {n: p.value for n, p in robot.parameters.items()} == {
        "reach": 3.0, "left_length": 1.0, "left_width": 0.2, "right_width": 0.04,
    }  # fmt: skip
    bodies = with_numbers(robot.with_parameters(reach=5.0, left_length=7.0)).bodies
    assert (bodies["left/link"].mass, bodies["right/link"].mass) == (14.0, 5.0)
    bc.save(robot, tmp_path / "whole.json")
    assert bc.load(tmp_path / "whole.json") == robot


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "2*length",
            "2*lenght",
            "body 'rod': the name 'lenght' is not known; did you mean 'length'? [line 9, ",
        ),
        ("2*length", "-length", "body 'rod': mass must be greater than zero, got -0.5"),
        ("2*length", "2*length*t", "body 'rod': the name 't' is not known"),
        ("2*length", "(length", "this parenthesis is not closed"),
        ("2*length", "2 length", "this unit is not known"),
        ("value: 500 mm", "value: 5", "parameter 'length': value must not be greater than high = 2"),
        ("value: 500 mm", "valu: 5", "the key 'value' is missing"),
        (
            "stiffness: 100 N/m",
            "stiffness: amplitude",
            "parameter 'stiffness': the name 'amplitude' is not known",
        ),
        ("amplitude: 0.2", "pi: 3", "parameter 'pi': this name has a meaning in expressions"),
        ("0.2\n", "[1]\n", "parameter 'amplitude': "),
        ("sin(2*pi*t)", "sin(2*pi*tt)", "force 'motor': the name 'tt' is not known"),
    ],
)
def test_faults(old, new, said):
    with pytest.raises(bc.MechanismError) as caught:
        bc.loads(PENDULUM.replace(old, new, 1))
    assert said in str(caught.value), str(caught.value)
    assert "line " in str(caught.value)


def test_the_text_is_shown_with_a_caret():
    with pytest.raises(bc.MechanismError) as caught:
        bc.loads(PENDULUM.replace("2*length", "2*lenght", 1))
    assert "bodies.rod.mass]\n    2*lenght\n      ^" in str(caught.value)


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


FORMULAS = """\
bellcrank: 1
parameters: {R: 2, k: 30}
bodies:
  bead: {mass: 1, inertia: [1, 1, 1]}
  car: {mass: 1, inertia: [1, 1, 1]}
  ball: {mass: 1, inertia: [1, 1, 1]}
  egg: {mass: 1, inertia: [1, 1, 1]}
  coin: {mass: 1, inertia: [1, 1, 1]}
joints:
  wire:
    type: CustomJoint
    first: ground
    second: bead
    coordinates: [s]
    units: rad
    pose: [{shift: [R*cos(s), R*sin(s), 0.1*s]}, {turn: z, angle: s}]
    position: 0.3
    limits: {lower: 0, upper: 2*R}
  track: {type: PathJoint, first: ground, second: car, parameter: u, curve: [u, sin(u), 0], up: [0, 0, 1], unit: m}
  floor:
    type: Rolling
    first: ground
    second: ball
    parameters_1: [x, y]
    surface_1: [x, y, 0]
    parameters_2: [a, b]
    surface_2: [R*cos(a)*cos(b), R*sin(a)*cos(b), R*sin(b)]
    spin: psi
  slide: {type: SurfaceJoint, first: ball, second: egg, parameters: [v, w], surface: [v, w, v*w/R]}
  edge:
    type: RollingCurve
    first: ground
    second: coin
    parameters: [c, d]
    surface: [c, d, 0]
    parameter: e1
    curve: [R*cos(e1), R*sin(e1), 0]
    heading: h
    lean: l
    up: [0, 0, 1]
    position: {l: 0.2}
constraints:
  blade: {type: VelocityConstraint, ends: [coin, wire], names: [p, a], equations: [p.vx*p.y_axis.x - a.rate*R, p.wz - sin(t)]}
  rod: {type: CustomConstraint, ends: [bead, car], names: [p, q], equations: ["(p.x - q.x)^2 + (p.y - q.y)^2 - R^2 - sin(t)"]}
  mix: {type: CustomConstraint, ends: [wire, ball], equations: [a - b.z + b.z_axis.x]}
forces:
  spring: {type: CustomForce, ends: [bead, car], potential: "k/2*((a.x - b.x)^2 + (a.z - b.z)^2)"}
  drag: {type: CustomForce, ends: egg, names: egg, force: [-k*egg.vx, -k*egg.vy, 0], moment: [0, 0, -egg.wz]}
  motor: {type: CustomForce, joint: wire, names: s, efforts: -k*s - s.rate}
drives:
  lead: {joint: track, position: 0.1*t^2}
"""  # noqa: E501


def test_what_is_read():
    mech = bc.loads(FORMULAS)
    assert [joint.kind.free for joint in mech.joints.values()] == [
        ("s",), ("u",), ("x", "y", "a", "b", "psi"), ("v", "w"), ("c", "d", "e1", "h", "l"),
    ]  # fmt: skip
    wire = mech.joints["wire"].kind
    radius = mech.parameters["R"].symbol
    assert wire.open_parameters == (radius,)
    (s,) = wire.coordinates
    assert wire.transform.position[0] == radius * bc.expression.cos(s)
    assert mech.joints["wire"].limits[0][0] == "s"
    assert mech.constraints["mix"].kind.pattern == "JM"
    assert mech.forces["motor"].kind.efforts[0].op == "add"
    assert mech.joints["track"].kind.up == (0.0, 0.0, 1.0)


@pytest.mark.parametrize("kind", ["yaml", "json"])
def test_round_trip(kind):
    mech = bc.loads(FORMULAS)
    again = bc.loads(dumps(mech, kind))
    assert again == mech
    assert dumps(again, kind) == dumps(mech, kind)
    assert bc.loads(FORMULAS.replace("sin(u)", "cos(u)")) != mech


def test_lagrange_takes_them():
    system = bc.prepare(bc.loads(FORMULAS), "lagrange")
    assert np.all(np.isfinite(system.accelerate().linear))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("R*cos(s)", "R*cos(q)", "joint 'wire': the name 'q' is not known"),
        ("R*cos(s)", "R*cos(t)", "joint 'wire': the name 't' is not known"),
        ("coordinates: [s]", "coordinates: [R]", "joint 'wire': this name is taken, got 'R'"),
        ("coordinates: [s]", "coordinates: [3]", "the name of a symbol is needed here"),
        ("coordinates: [s]", "coordinates: [s, r]", "the pose does not depend on its coordinate 'r'"),
        ("turn: z", "turn: w", "this is no factor of a pose"),
        ("curve: [u, sin(u), 0]", "curve: [u, 0]", "curve must hold 3 expressions"),
        ("type: PathJoint", "type: PathJoin", "did you mean 'PathJoint'"),
        ("up: [0, 0, 1]", "ups: [0, 0, 1]", "this key is not known, got 'ups'; did you mean 'up'"),
        ("names: [p, q]", "names: [p]", "a name for each end is needed"),
        ("p.x - q.x", "p.x - q.xx", "the name 'q.xx' is not known"),
        ("p.x - q.x", "p.x - q.vx", "must not depend on velocities, such as q.vx"),
        ("a.rate*R", "a.rate^2", "its factor of a.rate depends on some"),
        ("p.wz - sin(t)", "p.z - sin(t)", "equation 2 holds no velocity"),
        ("heading: h", "heading: [h, m]", "heading must be 1 symbol"),
        ("    lean: l\n", "", "'lean'"),
        ("(p.y - q.y)^2", "(p.y - q.y", "this parenthesis is not closed"),
        ("potential:", "potentials:", "did you mean 'potential'"),
        ("efforts: -k*s - s.rate", "efforts: [1, 2]", "efforts must hold 1 expressions"),
    ],
)
def test_faults_in_formulas(old, new, said):
    with pytest.raises(bc.MechanismError) as caught:
        bc.loads(FORMULAS.replace(old, new, 1))
    assert said in str(caught.value), str(caught.value)
    assert "line " in str(caught.value)


def test_the_schema_takes_them():
    assert accepts(SCHEMA, json.loads(dumps(bc.loads(FORMULAS), "json")))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("coordinates: [s]", "coordinates: [3]"),
        ("turn: z", "turn: w"),
        ("{turn: z, angle: s}", "{turn: z}"),
        ("curve: [u, sin(u), 0]", "curve: [u, 0]"),
        ("up: [0, 0, 1]", "ups: [0, 0, 1]"),
        ("unit: m", "unit: mm"),
        ("spin: psi", "spin: [psi, chi]"),
        ("surface_1: [x, y, 0]", "surface_3: [x, y, 0]"),
        ("potential:", "potentials:"),
        ("force: [-k*egg.vx, -k*egg.vy, 0]", "force: -k*egg.vx"),
        ("lean: l\n", "lean: [l, m]\n"),
        ("    heading: h\n", ""),
        ("efforts: -k*s - s.rate", "efforts: true"),
        ("names: s", "names: 3"),
        ("{R: 2, k: 30}", "{R: {valeu: 2}, k: 30}"),
        ("{R: 2, k: 30}", "{R: {unit: m}, k: 30}"),
    ],
)
def test_the_schema_refuses_what_does_not_load(old, new):
    text = FORMULAS.replace(old, new, 1)
    with pytest.raises(bc.MechanismError):
        bc.loads(text)
    assert not accepts(SCHEMA, plain(yaml_format.parse(text)))


def test_the_schema_takes_parameters_as_they_may_be_written():
    long = "{R: {value: 2, unit: m, low: 1, high: 3, doc: of the wire}, k: 30 N/m}"
    text = FORMULAS.replace("{R: 2, k: 30}", long)
    bc.loads(text)
    assert accepts(SCHEMA, plain(yaml_format.parse(text)))


def test_a_name_is_one_symbol_in_files_too(tmp_path):
    u = bc.symbol("u")
    mech = bc.Mechanism("wire")
    bead = mech.add_body("bead", 1.0, (1, 1, 1))
    mech.add_joint("wire", bc.PathJoint(bc.symbol("u"), (u, u**2, 0)), mech.ground, bead)
    bc.save(mech, tmp_path / "wire.yaml")
    kind = bc.load(tmp_path / "wire.yaml").joints["wire"].kind
    assert kind.parameter == u
    assert kind.curve == (u, u**2, 0.0)


def test_a_symbol_called_as_a_parameter_is_not_written(tmp_path):
    mech = bc.Mechanism("wire")
    given, u = mech.add_parameter("u", 2.0), bc.symbol("u")
    bead = mech.add_body("bead", 1.0, (1, 1, 1))
    mech.add_joint("wire", bc.PathJoint(u, (given * u, u**2, 0)), mech.ground, bead)
    with pytest.raises(
        bc.MechanismError, match="called as a parameter is, which a file cannot hold, got 'u'"
    ):
        bc.save(mech, tmp_path / "wire.yaml")
    with pytest.raises(bc.MechanismError, match=r"it depends on 'u', .* mech\.parameters\['u'\]\.symbol"):
        bc.info(_with_mass(mech, u))


def _with_mass(mech, mass):
    copy = mech.copy()
    copy.add_body("other", mass, (1, 1, 1))
    return copy
