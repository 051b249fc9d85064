"""Saved and loaded mechanisms are equal, and what was loaded is saved alike."""

import dataclasses
import json
import math
import re
from functools import partial

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

import bellcrank as bc
from bellcrank import gallery, io
from bellcrank.expression import rotation_z, symbol, translation
from bellcrank.gallery.prosthetic_tasks import demonstration
from bellcrank.mechanism import CONSTRAINT_KINDS, FORCE_KINDS, FUNCTIONS, JOINT_KINDS, SHAPES

FORMATS = ["yaml", "json"]
FINITE = st.floats(min_value=-1e9, max_value=1e9)  # of any unit (mechanism/checking.py)
_LARGE = [HealthCheck.too_slow, HealthCheck.large_base_example]  # a terrain alone is a large example
quick = settings(max_examples=10, deadline=None, suppress_health_check=_LARGE)


def returns(mech):
    """Whether the mechanism comes back from both formats, and their texts from themselves."""
    for name in FORMATS:
        text = io.dumps(mech, name)
        again = io.loads(text)
        assert again == mech, text
        assert io.dumps(again, name) == text
    return True


def ends(kind):
    """Ends that fit a pattern such as MM|JJ: markers written out, named ones, a body's frame, and joints."""
    markers = [bc.Marker("a", (0.1, 0.2, 0.3), (0.6, 0.0, 0.0, 0.8)), "b.heel", bc.Marker("ground")]
    joints = ["hinge 0", "hinge 1", "hinge 2"]
    for pattern in kind.pattern.split("|"):
        letters = re.sub(r"(.)\+", r"\1\1", pattern.removesuffix("J*"))
        pools = {"M": iter(markers), "J": iter(joints)}
        yield [next(pools[letter]) for letter in letters]


@pytest.mark.parametrize("name", JOINT_KINDS)
def test_joint_kinds(name, example):
    @quick
    @given(example(JOINT_KINDS[name]))
    def check(kind):
        mech = bc.Mechanism("m")
        body = mech.add_body("a", mass=1.0, inertia=(1, 1, 1))
        mech.add_joint("j", kind, mech.ground.marker((1, 2, 3), axis=(0, 1, 0)), body.marker(name="x"))
        assert returns(mech)

    check()


@pytest.mark.parametrize("name", [*CONSTRAINT_KINDS, *FORCE_KINDS])
def test_constraint_and_force_kinds(name, example, two_bodies):
    cls = {**CONSTRAINT_KINDS, **FORCE_KINDS}[name]
    add = two_bodies.add_constraint if name in CONSTRAINT_KINDS else two_bodies.add_force
    if name in ("Contact", "Tyre"):  # it takes bodies with shapes
        for body in (*two_bodies.bodies.values(), two_bodies.ground):
            two_bodies.replace(body, shapes=[bc.Sphere(radius=0.1)])

    if hasattr(cls, "retracted") or name == "CamFollower":  # it acts along lengths only
        two_bodies.add_joint("rail", bc.Prismatic(), two_bodies.ground.marker((0, 5, 0)), "b.heel")

    @quick
    @given(example(cls))
    def check(kind):
        for taken in ends(cls):
            if hasattr(cls, "retracted") and taken == ["hinge 0"]:
                taken = ["rail"]
            if name == "CamFollower" and taken[-1] == "hinge 1":
                taken = ["hinge 0", "rail" if kind.distance is None else "hinge 1"]
            if name == "Coupling":  # takes as many ends as it has numbers
                kind = bc.Coupling(kind.coefficients[:2], kind.constant)
            teeth = getattr(kind, "pressure_angle", None) or getattr(kind, "coefficient", None)
            if teeth and "MM" in cls.pattern and taken[0] == "hinge 0":  # between markers only
                continue
            if name == "Contact":  # joints join all of these bodies
                kind = dataclasses.replace(kind, joined=True)
            element = add("it", kind, *taken)
            assert returns(two_bodies)
            two_bodies.remove(element)

    check()


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("where", ["force", "drive"])
def test_functions(name, where, example, two_bodies):
    @quick
    @given(example(FUNCTIONS[name]))
    def check(function):
        if where == "force":
            element = two_bodies.add_force("it", bc.JointMotor(function), joint="hinge 0")
        else:
            path, refused = bc.Path((function, 0.0, bc.Harmonic(1.0, 2.0))), ""
            try:
                element = two_bodies.add_drive("it", marker="a.tip", path=path)
            except bc.MechanismError as error:
                refused = str(error)
            if refused:
                assert "continuous first derivative" in refused
                return
        assert returns(two_bodies)
        two_bodies.remove(element)

    check()


@pytest.mark.parametrize("name", SHAPES)
def test_shapes(name, example):
    @quick
    @given(example(SHAPES[name]), example(SHAPES[name]))
    def check(one, two):
        mech = bc.Mechanism("m")
        mech.add_body("a", mass=1.0, inertia=(1, 1, 1), shapes=[one, two])
        mech.replace(mech.ground, shapes=(two,))
        assert returns(mech)

    check()


def test_drives(two_bodies):
    mech = two_bodies
    mech.add_drive("angle", "hinge 0", position=bc.Harmonic(1.0, 2.0), relative=True)
    mech.add_drive("rate", "hinge 1", velocity=2.0)
    mech.add_drive("ball", "ball", "rot_x", position=0.25)
    curve = bc.Curve(((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, 1.0, 0.5)))
    nurbs = bc.NurbsCurve(((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, 1.0, 0.5)), degree=2)
    mech.add_drive("path", marker="a.tip", path=bc.Path(curve, bc.Ramp(0.0, 1.0)), reference="b.heel")
    mech.add_drive(
        "nurbs", marker="b.heel", path=bc.Path(nurbs, bc.Ramp(0.0, 1.0)), orientation=(0.6, 0.0, 0.0, 0.8)
    )
    turning = (bc.Constant(0.1), bc.Harmonic(0.1, 1.0), bc.Constant(0.0))
    mech.add_drive(
        "turning",
        marker=mech.bodies["a"].marker((0, 1, 0)),
        path=bc.Path((0.1, 0.2, 0.3)),
        orientation=turning,
    )
    assert returns(mech)


@pytest.mark.parametrize(
    "limits",
    [
        {"rot_x": bc.Limit(-1.0, 1.0)},
        {"rot_z": bc.Limit(upper=0.3, restitution=0.5), "rot_x": bc.Limit(lower=-1.0)},
    ],
)
def test_limits(limits, two_bodies):
    two_bodies.add_joint("stopped", bc.Spherical(), "a.tip", "b.heel", limits)
    two_bodies.add_joint("single", bc.Revolute(), "a.tip", "b.heel", bc.Limit(-0.1, 0.2))
    assert returns(two_bodies)


@pytest.mark.parametrize("names", [("rot_z",), ("rot_z", "trans_z"), ("lower", "upper"), ("restitution",)])
def test_limits_of_all_coordinates(names, two_bodies):
    q, s = (symbol(name) for name in (*names, "s")[:2])
    units = ["rad", "m"][: len(names)]
    kind = bc.CustomJoint(
        [q, s][: len(names)], rotation_z(q) @ translation(s if names[1:] else 0, 0, 0), units=units
    )
    limits = {name: bc.Limit(-0.1, k + 0.2) for k, name in enumerate(names)}
    two_bodies.add_joint("stopped", kind, "a.tip", "b.heel", limits)
    assert returns(two_bodies)


@quick
@given(*[FINITE] * 6)
@example(0.0, 0.0, 0.0, 0.0, 0.0, -0.0)
def test_any_number_comes_back_to_the_last_bit(x, y, z, u, v, w):
    mech = bc.Mechanism("m", gravity=(x, y, z))
    mech.add_body("a", mass=1.0, inertia=(1, 1, 1), position=(u, v, w), velocity=(w, u, v))
    assert returns(mech)
    for name in FORMATS:
        again = io.loads(io.dumps(mech, name))
        pairs = zip(again.bodies["a"].position, (u, v, w), strict=True)
        assert all(a == b and math.copysign(1, a) == math.copysign(1, b) for a, b in pairs)


NAMES = st.text(min_size=1, max_size=12).filter(
    lambda s: (
        s == s.strip() and s.isprintable() and not s.startswith("/") and not s.endswith("/") and "//" not in s
    )
)
PLAIN = "null ~ yes no on true 1 1.0 1e3 0x10 010 1:30 << - ? 'a' [a {a *a &a !a | > %a @a `a a.b é 😀 = .inf"
WORDS = st.sampled_from([*PLAIN.split(), "a: b", "a #b", '"a"', "a, b"])


@quick
@given(NAMES | WORDS, NAMES | WORDS, (NAMES | WORDS).filter(lambda s: not set(s) & set("./")))
def test_any_name_comes_back(mechanism, body, marker):
    assume(body not in ("ground", marker))
    mech = bc.Mechanism(mechanism)
    a = mech.add_body(body, mass=1.0, inertia=(1, 1, 1))
    mech.add_joint(body, bc.Spherical(), mech.ground.marker(name=marker), a.marker(name=marker))
    mech.add_joint(marker, bc.Revolute(), mech.ground.marker(), a.marker())
    mech.add_drive(body, body, "rot_x", position=0.1)
    mech.add_force(marker, bc.JointFriction(viscous=1.0), joint=marker)
    mech.add_force("cable", bc.SpringDamper(1.0), mech.ground.marker(), a.marker())
    mech.add_constraint("winch", bc.Winch(0.1), marker, mech.ground.marker(), a.marker())
    assert returns(mech)


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, -1), (0.6, 0.8, 0), (0, 0.28, -0.96)])
def test_axes_are_saved_as_axes(axis):
    mech = bc.Mechanism("m")
    mech.add_body("a", mass=1.0, inertia=(1, 1, 1)).marker()
    mech.add_marker(mech.ground.marker(axis=axis, name="A"))
    assert "axis" in io.dumps(mech)
    assert "rotation" not in io.dumps(mech)
    assert returns(mech)


def test_ambiguous_names_are_written_out():
    mech = bc.Mechanism("m")
    a = mech.add_body("a", mass=1.0, inertia=(1, 1, 1))
    mech.add_joint("a", bc.Revolute(), mech.ground.marker(), a.marker(name="theta_z"))
    rail = mech.add_joint("ground", bc.Prismatic(), mech.ground.marker((1, 0, 0)), "a.theta_z")
    mech.add_joint("a.theta_z", bc.Revolute(), mech.ground.marker((2, 0, 0)), a.marker())
    mech.add_constraint("g", bc.RackPinion(0.1), mech.ground.marker(), a.marker())
    mech.add_constraint("j", bc.RackPinion(0.1), rail, bc.mechanism.JointCoordinate("a", "theta_z"))
    mech.add_constraint("k", bc.RackPinion(0.1), rail, bc.mechanism.JointCoordinate("a.theta_z"))
    mech.add_force("t", bc.TorsionSpring(1.0), bc.mechanism.JointCoordinate("a", "theta_z"))
    tip = mech.markers["a.theta_z"]
    mech.add_force("l", bc.TabulatedSpring(bc.Polynomial((0.0, 1.0))), tip, mech.ground.marker())
    assert returns(mech)


@pytest.mark.parametrize(
    "make",
    [
        gallery.andrews_squeezer,
        gallery.bricard_linkage,
        gallery.flyball_governor,
        partial(gallery.ring, 6),
        demonstration,
    ],
)
def test_benchmark_mechanisms(make):
    assert returns(make())


def test_motor_kinds_come_back_as_joint_and_drives():
    text = """
bellcrank: 1
bodies: {a: {mass: 1, inertia: [1, 1, 1]}}
joints:
  j:
    {type: CylindricalMotor, first: ground, second: a,
     position: [{type: Ramp, from_value: 0, to_value: 1}, 30 deg]}
"""
    mech = io.loads(text)
    assert list(mech.drives) == ["j.z", "j.theta_z"]
    assert mech.drives["j.theta_z"].position == bc.Constant(math.pi / 6)
    assert mech.joints["j"].kind == bc.Cylindrical()
    assert returns(mech)


def test_a_file_on_disk(tmp_path, two_bodies):
    for name in ("m.yaml", "m.yml", "m.JSON"):
        path = tmp_path / name
        bc.save(two_bodies, path)
        assert bc.load(path) == two_bodies
        assert bc.load(str(path)) == two_bodies
    assert json.loads((tmp_path / "m.JSON").read_text("utf-8"))["name"] == "two bodies"


def test_simulation_defaults_are_kept(tmp_path, two_bodies):
    options = {"damping": [1, {"a": None}]}
    simulation = io.Simulation(duration=2.0, method="rk4", reactions=False, options=options)
    path = tmp_path / "m.yaml"
    io.save(two_bodies, path, simulation)
    assert io.read(path) == io.MechanismFile(two_bodies, simulation)
    arguments = {"duration": 2.0, "method": "rk4", "reactions": False, **options}
    assert io.read(path).simulation.arguments() == arguments


def test_mesh_paths_follow_the_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models").mkdir()
    mech = bc.Mechanism("m")
    shapes = [bc.Mesh(file="models/parts/a.stl"), bc.Mesh(file="/elsewhere/b.stl"), bc.Mesh(file="c.stl")]
    mech.add_body("a", mass=1.0, inertia=(1, 1, 1), shapes=shapes)
    bc.save(mech, "models/m.yaml")
    text = (tmp_path / "models/m.yaml").read_text("utf-8")
    assert "file: parts/a.stl" in text
    assert 'file: "/elsewhere/b.stl"' in text
    monkeypatch.chdir("/")
    loaded = bc.load(tmp_path / "models/m.yaml")
    files = [shape.file for shape in loaded.bodies["a"].shapes]
    assert files == [str(tmp_path / "models/parts/a.stl"), "/elsewhere/b.stl", str(tmp_path / "c.stl")]
    bc.save(loaded, tmp_path / "models/n.yaml")
    assert (tmp_path / "models/n.yaml").read_text("utf-8") == text
    assert bc.load(tmp_path / "models/n.yaml") == loaded
