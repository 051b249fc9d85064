"""Joints, constraints and forces given by formulas, in files."""

import json

import numpy as np
import pytest
from rigs.json_schema import SCHEMA, accepts

import bellcrank as bc
from bellcrank.io import dumps, yaml_format
from bellcrank.io.node import plain

FILE = """\
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
    mech = bc.loads(FILE)
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
    mech = bc.loads(FILE)
    again = bc.loads(dumps(mech, kind))
    assert again == mech
    assert dumps(again, kind) == dumps(mech, kind)
    assert bc.loads(FILE.replace("sin(u)", "cos(u)")) != mech


def test_lagrange_takes_them():
    system = bc.prepare(bc.loads(FILE), "lagrange")
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
def test_faults(old, new, said):
    with pytest.raises(bc.MechanismError) as caught:
        bc.loads(FILE.replace(old, new, 1))
    assert said in str(caught.value), str(caught.value)
    assert "line " in str(caught.value)


def test_the_schema_takes_them():
    assert accepts(SCHEMA, json.loads(dumps(bc.loads(FILE), "json")))


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
    text = FILE.replace(old, new, 1)
    with pytest.raises(bc.MechanismError):
        bc.loads(text)
    assert not accepts(SCHEMA, plain(yaml_format.parse(text)))


def test_the_schema_takes_parameters_as_they_may_be_written():
    long = "{R: {value: 2, unit: m, low: 1, high: 3, doc: of the wire}, k: 30 N/m}"
    text = FILE.replace("{R: 2, k: 30}", long)
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
