"""What is absurd, endless, too much or no number is refused at the door, with its element, rule and range."""

import math
import os
import random
import re
from dataclasses import fields, replace

import numpy as np
import pytest
from click.testing import CliRunner

import bellcrank as bc
from bellcrank.cli.main import bellcrank
from bellcrank.expression import cos, translation
from bellcrank.mechanism import (
    CHANGE_KINDS,
    CONSTRAINT_KINDS,
    FORCE_KINDS,
    FUNCTIONS,
    JOINT_KINDS,
    SENSOR_KINDS,
    SHAPES,
)
from bellcrank.mechanism.checking import OTHERS, RANGES, range_of

HEAD = "bellcrank: 1\nbodies: {b: {mass: 1, inertia: [1, 1, 1]}}\n"


def hinged():
    mech = bc.Mechanism("m")
    body = mech.add_body("b", 1.0, (1.0, 1.0, 1.0))
    mech.add_joint("pivot", bc.Revolute(), mech.ground, body.marker((0.3, 0, 0)))
    return mech


def refusal(call):
    with pytest.raises(bc.MechanismError) as caught:
        call()
    return str(caught.value)


ABSURD = {
    "mass must lie between 1e-30 and 1e+28 kg, got 1e+30": lambda: bc.Body("b", 1e30, (1, 1, 1)),
    "mass must lie between 1e-30 and 1e+28 kg, got 1e-300": lambda: bc.Body("b", 1e-300, (1, 1, 1)),
    "mass must lie between 1e-30 and 1e+28 kg, got 'a whole number of 1329 bits'": (
        lambda: bc.Body("b", 10**400, (1, 1, 1))
    ),
    "inertia must lie between -1e+45 and 1e+45 kg m^2": lambda: bc.Body("b", 1, (1e308,) * 3),
    "radii must lie between 1e-15 and 1e+15 m, got 1e-300": lambda: bc.Gear(radii=(1e-300, 0.2)),
    "size must lie between 1e-15 and 1e+15 m, got 1e-300": lambda: bc.Box((1.0, 1e-300, 2.0)),
    "the principal moments must be at least 1e-50 kg m^2": lambda: bc.Body("b", 1, (1e-300,) * 3),
    "position must lie between -1e+15 and 1e+15 m": lambda: bc.Marker("b", (1e30, 0, 0)),
    "velocity must lie between -1e+09 and 1e+09 m/s": (
        lambda: bc.Body("b", 1, (1, 1, 1), velocity=(0, 1e308, 0))
    ),
    "gravity must lie between -1e+15 and 1e+15 m/s^2": lambda: bc.Mechanism("m", (0, 0, -1e30)),
    "stiffness must lie between 0 and 1e+25 N/m, got 1e+308": lambda: bc.SpringDamper(1e308),
    "radius must lie between 1e-15 and 1e+15 m, got 1e-200": lambda: bc.Sphere(1e-200),
    "points must be finite": lambda: bc.Curve([[0, 0, 0], [1, float("inf"), 0], [2, 0, 0]]),
    "duration must lie between 1e-15 and 1e+15 s": lambda: bc.simulate(hinged(), 1e308),
    "tolerance must lie between 1e-25 and 1e+25, got 1e-300": (
        lambda: bc.simulate(hinged(), 0.1, method="dopri5", tolerance=1e-300)
    ),
    "max_corrections must be a whole number, from 1 to 2147483647": (
        lambda: bc.prepare(hinged(), "lagrange", max_corrections=2**40)
    ),
    "at most 10000000 frames can be recorded, these are 1e+12": (
        lambda: bc.simulate(hinged(), 1.0, output_step=1e-12)
    ),
    "a run holds at most 10000000 frames": lambda: bc.simulate(hinged(), 0.01).resample(step=1e-14),
    "the name of a file must not contain the character NUL": lambda: bc.load("a\0b.yaml"),
    "the system cannot write the name of this file": (lambda: bc.simulate(hinged(), 0.01, path="\ud800.h5")),
    "run has no drive of this name": lambda: bc.simulate(hinged(), 0.01).drive(np.zeros(3)),
    "times must hold n numbers": lambda: bc.simulate(hinged(), 0.01).resample([[1, 2], [3]]),
    "unit must be a text": lambda: bc.Mechanism("m").add_parameter("p", 1.0, unit=["m"], high="ground"),
    "they must be bc.Event": lambda: bc.simulate(hinged(), 0.01, events=np.array("x")),
    "each must be a body or its name": lambda: bc.assemble(hinged(), pinned=np.array(3.0)),
    "time must lie between -1e+15 and 1e+15 s": lambda: bc.assemble(hinged(), time=10**39),
    "extrapolation must be one of": lambda: bc.Table((0, 1), (0, 1), extrapolation=np.zeros(3)),
    "coordinates must be symbols": (
        lambda: bc.CustomJoint(np.array("s"), translation(bc.symbol("s"), 0, 0), units="m")
    ),
    "effort must be a function, got [1, 2]": lambda: bc.TabulatedSpring([1, 2]),
    "effort must be a function; use": lambda: bc.TabulatedSpring(None),
    "units must be one of 'm', 'rad', '1', got 2": (
        lambda: bc.CustomJoint(bc.symbol("s"), translation(bc.symbol("s"), 0, 0), units=2)
    ),
}


@pytest.mark.parametrize("message", ABSURD)
def test_absurd_numbers_and_wrong_types_are_refused(message):
    assert message in refusal(ABSURD[message])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("type: CustomJoint, coordinates: [s], pose: [{shift: [0, 0]}]", "this is no factor of a pose"),
        ("type: CustomJoint, coordinates: [s], pose: [{shift: [s, 0, 0]}], units: 2", "units must be one of"),
        ("type: PointOnCurve, points: [[0, 0, 0], [1, .inf, 0], [2, 0, 0]]", "points must be finite"),
    ],
)
def test_wrong_fields_of_files_are_refused_at_their_line(text, message):
    found = refusal(lambda: bc.loads(f"{HEAD}joints: {{j: {{first: ground, second: b, {text}}}}}", "yaml"))
    assert message in found
    assert re.search(r"\[line 3, column \d+, joints\.j\.", found)


def test_every_range_takes_nanometres_and_planets():
    atom = bc.Body("atom", 2e-26, (1e-46,) * 3, position=(1e-10, 0, 0), velocity=(1e3, 0, 0))
    planet = bc.Body("planet", 1.9e27, (2.6e42,) * 3, position=(7.8e11, 0, 0), velocity=(0, 1.3e4, 0))
    assert atom.mass < planet.mass
    assert all(0.0 <= bounds.least < 1.0 < bounds.most for bounds in RANGES.values())
    assert range_of("a unit of its own") is OTHERS


@pytest.mark.parametrize("unit", ["kg", "m", "s"])
def test_the_ends_of_a_range_belong_to_it(unit):
    from bellcrank.mechanism.checking import Check

    bounds = range_of(unit)
    with Check("thing") as check:
        assert check.positive("size", bounds.least, unit) == bounds.least
        assert check.positive("size", bounds.most, unit) == bounds.most
    for value in (np.nextafter(bounds.least, 0.0), np.nextafter(bounds.most, np.inf)):
        with pytest.raises(bc.MechanismError, match="must lie between"), Check("thing") as check:
            check.positive("size", float(value), unit)


def test_a_joint_that_hardly_moves_with_its_coordinate_is_told_and_counted():
    mech, s = bc.Mechanism("m"), bc.symbol("s")
    body = mech.add_body("b", 1.0, (1.0, 1.0, 1.0))
    mech.add_joint("j", bc.CustomJoint(s, translation(0.01 * cos(3 * s), 0, 0)), mech.ground, body)
    info = bc.info(mech)
    assert info.freedom == 1
    assert info.independent == ("body 'b'",)


def chain(folder, levels, copies):
    (folder / "f0.yaml").write_text(HEAD)
    for level in range(1, levels):
        placed = ", ".join(f"p{k}: {{file: f{level - 1}.yaml}}" for k in range(copies))
        (folder / f"f{level}.yaml").write_text(f"bellcrank: 1\nmechanisms: {{{placed}}}\n")
    return folder / f"f{levels - 1}.yaml"


def test_files_that_place_each_other_are_bounded_in_depth_and_number(tmp_path, monkeypatch):
    assert "files place each other more than 40 deep" in refusal(lambda: bc.load(chain(tmp_path, 302, 1)))
    assert len(bc.load(chain(tmp_path, 40, 1)).bodies) == 1
    assert len(bc.load(chain(tmp_path, 8, 2)).bodies) == 2**7
    monkeypatch.setattr("bellcrank.io.files.COPIES", 100)
    assert "placements make more than 100 copies" in refusal(lambda: bc.load(chain(tmp_path, 8, 2)))


@pytest.mark.parametrize("kind", ["pipe", "device"])
@pytest.mark.parametrize("placed", [False, True])
def test_devices_and_pipes_are_no_files(kind, placed, tmp_path):
    path = tmp_path / "p.yaml"
    os.mkfifo(path) if kind == "pipe" else path.symlink_to("/dev/zero")
    if placed:
        (tmp_path / "outer.yaml").write_text("bellcrank: 1\nmechanisms: {a: {file: p.yaml}}\n")
        path = tmp_path / "outer.yaml"
    assert "this is no file but a device, a pipe or a socket" in refusal(lambda: bc.load(path))
    mesh = tmp_path / "p.stl"
    os.mkfifo(mesh) if kind == "pipe" else mesh.symlink_to("/dev/zero")
    solid = bc.Mesh(str(mesh), density=1.0)
    assert "this is no file" in refusal(solid.mass_properties)


def test_a_file_beyond_all_size_is_not_read(tmp_path):
    with open(tmp_path / "big.yaml", "wb") as big:  # noqa: PTH123
        big.truncate(10**12)
    assert "more than 100000000" in refusal(lambda: bc.load(tmp_path / "big.yaml"))


def test_a_text_that_can_be_loaded_can_be_run(tmp_path):
    rng = random.Random(0)
    text = " + ".join(f"{rng.random():.6f}e-4*sin({rng.random():.6f}*t)" for _ in range(1000))
    assert 25_000 < len(text) < 50_000
    path = tmp_path / "long.yaml"
    path.write_text(
        f"{HEAD}joints: {{j: {{type: Revolute, first: ground, second: b}}}}\n"
        f"drives: {{d: {{joint: j, position: '{text}'}}}}\nsimulation: {{duration: 1e-3}}\n"
    )
    arguments = ["run", str(path), "--out", str(tmp_path / "run.h5")]
    assert CliRunner().invoke(bellcrank, arguments, catch_exceptions=False).exit_code == 0
    grown = "0"
    for _ in range(14):
        grown = f"if(({grown}) == 1, t, 1)"
    message = refusal(
        lambda: bc.loads(path.read_text().replace(text, grown.replace("0", "0.5*t", 1)), "yaml")
    )
    assert "the expression takes more than 50000 characters" in message


@pytest.mark.parametrize("kind", [bc.JointMotor, bc.Wrench])
def test_what_the_core_refuses_has_its_element(kind):
    mech, bad = hinged(), bc.Rational((0.0, 1.0), ((1.0, 2.0),), ((1.0, -5.0),))
    if kind is bc.Wrench:
        mech.add_force("sound", bc.Wrench((1, 0, 0)), mech.bodies["b"])
        mech.add_force("f", bc.Wrench((0, bad, 0)), mech.bodies["b"])
    else:
        mech.add_force("f", kind(bad), "pivot")
    assert refusal(lambda: bc.info(mech)).startswith("force 'f': rational function: the denominator is not")


def test_messages_tell_the_truth_in_the_words_of_the_user():
    spread = refusal(lambda: bc.Body("b", 1, (1, 1e16, 1)))
    assert "must lie within a factor of 1e15 of each other" in spread
    assert "positive definite" not in spread
    assert "must be positive definite" in refusal(lambda: bc.Body("b", 1, (1, 1, -1)))
    kink = refusal(lambda: hinged().add_drive("d", "pivot", position="abs(t)"))
    assert "got 'abs(t)'" in kink
    assert "FunctionOfTime" not in kink


def test_a_refused_state_leaves_the_system_as_it_was():
    system = bc.prepare(hinged(), "lagrange")
    state = system.state()
    lost = bc.State(0.0, state.position * np.nan, state.rotation, state.velocity, state.angular_velocity)
    two = [np.vstack([array, array]) for array in state.arrays[1:]]
    for wrong in (lost, bc.State(0.0, *two), "state", None):
        with pytest.raises(bc.MechanismError):
            system.set_state(wrong)
    assert np.array_equal(system.state().position, state.position)


WRONG_THINGS = {
    "info": lambda: bc.info("m"),
    "simulate": lambda: bc.simulate(None, 0.1),
    "state": lambda: bc.simulate(hinged(), 0.1, state="start"),
    "advance": lambda: bc.start(hinged()).advance("a bit"),
    "path": lambda: bc.simulate(hinged(), 0.1, path=3),
    "method": lambda: bc.assemble(hinged(), method=np.zeros(3)),
    "pinned": lambda: bc.assemble(hinged(), pinned=0.5),
    "times": lambda: bc.simulate(hinged(), 0.01).resample(["x"]),
    "load": lambda: bc.load(3),
    "save": lambda: bc.save("m", "m.yaml"),
    "place": lambda: hinged().place("other", "p"),
    "remove": lambda: hinged().remove(hinged().joints["pivot"], cascade="yes"),
    "event": lambda: bc.Event("e", "t", names=[None]),
    "symbol": lambda: bc.symbol(3),
    "shape of a state": lambda: bc.State(0.0, [[0, 0]], [[1, 0, 0, 0]], [[0, 0, 0]], [[0, 0, 0]]),
    "body of a run": lambda: bc.simulate(hinged(), 0.01).body([1]),
}


@pytest.mark.parametrize("name", WRONG_THINGS)
def test_wrong_things_are_refused_at_every_door(name):
    assert refusal(WRONG_THINGS[name])


TABLE = bc.Table((0.0, 1.0), (2.0, 3.0))
SAMPLES = [
    bc.Contact(1e5),
    bc.Seat(),
    bc.Tyre(0.3, 0.03, 4e5),
    bc.WrenchSensor("j"),
    bc.ForceSensor("f"),
    bc.IMU(),
    bc.Encoder(),
    bc.DistanceSensor(),
    bc.Release(of="j", when="t > 1"),
    bc.Engagement(of="j", when="t > 1"),
    bc.Plane(),
    bc.Terrain(heights=((0.0, 1.0), (2.0, 3.0)), spacing=1.0),
    bc.Body("b", 1.0, (1.0, 1.0, 1.0)),
    bc.Marker("b"),
    bc.Limit(-1.0, 1.0, 0.5),
    # joints with numbers of their own
    bc.Screw(0.1),
    bc.Distance(1.0),
    bc.RevoluteSpherical(1.0),
    bc.ParallelLink(1.0),
    bc.PlungingParallelLink(1.0),
    bc.AxisAngle(1.0),
    bc.PointOnCylinder(1.0),
    bc.PointOnCone(0.5),
    bc.PointOnHelix(1.0, 0.1),
    bc.SphereOnPlane(0.1),
    bc.CylinderOnPlane(0.1),
    bc.PointOnCurve(((0.0, 0.0, 0.0), (1.0, 0.0, 0.0))),
    bc.ScrewMotor(position=0.0, pitch=0.1),
    # constraints
    bc.Gear(ratio=2.0),
    bc.Gear(radii=(1.0, 2.0)),
    bc.Gear(radii=(1.0, 2.0), pressure_angle=0.3, helix_angle=0.2, flank=-1),
    bc.InternalGear(radii=(1.0, 2.0)),
    bc.InternalGear(radii=(1.0, 2.0), pressure_angle=0.3, helix_angle=0.2),
    bc.RackPinion(0.1, pressure_angle=0.3, helix_angle=0.2),
    bc.ElasticGear((0.1, 0.2), 1e6, 1.0, 1e-5, 0.3, 0.2, 1e-4, 1e-5),
    bc.BevelGear(ratio=2.0),
    bc.Belt(radii=(1.0, 2.0)),
    bc.Belt(radii=(1.0, 2.0), coefficient=0.3, pretension=100.0),
    bc.RackPinion(0.1),
    bc.Coupling((1.0, 2.0), 0.5),
    bc.FlexibleInterface([[0.5, 1.0]] * 6),
    bc.ScrewCoupling(0.1),
    bc.Cable(1.0),
    bc.Winch(0.1),
    bc.Rope((0.1, 0.2, 0.0), (2,), slack=True),
    bc.Rope((0.1, 0.2, 0.0), rough=2, coefficient=0.3, static_coefficient=0.4, turns=1),
    bc.BeltLoop((0.1, 0.2), (2,)),
    # forces
    bc.SpringDamper(1.0, 1.0, 1.0, 1.0),
    bc.TorsionSpring(1.0, 1.0, 1.0, 1.0),
    bc.TabulatedSpring(TABLE, 0.1),
    bc.Bushing((1.0,) * 3, (1.0,) * 3, (1.0,) * 3, (1.0,) * 3),
    bc.BeamSegment(0.5, (1.0,) * 6, 0.1),
    bc.Section.tube(0.1, 0.01, E=1e9, nu=0.3, density=1000.0),
    bc.Section.rectangle(0.1, 0.2, E=1e9, G=4e8, density=1000.0),
    bc.Section.i_beam(0.1, 0.2, 0.01, 0.01, E=1e9, nu=0.3, density=1000.0),
    bc.Section.general(EA=1.0, GA=1.0, GJ=1.0, EI=1.0, mass_per_length=1.0),
    bc.LeafSpring(bc.Section.rectangle(0.1, 0.01, E=1e9, nu=0.3, density=1000.0), 1.0),
    bc.CrossSpring(bc.Section.rectangle(0.1, 0.01, E=1e9, nu=0.3, density=1000.0), 1.0, 0.5, 0.2, 0.1),
    bc.ParallelGuide(bc.Section.rectangle(0.1, 0.01, E=1e9, nu=0.3, density=1000.0), 1.0, 0.5),
    bc.JointMotor(1.0, 0.1),
    bc.GearedMotor(2.0, 0.1, 1.0, 0.1),
    bc.GasSpring(force=300.0, length=0.9, stroke=0.4, cushion=0.05),
    bc.HydraulicCylinder(bore=0.05, rod=0.03, length=0.9, stroke=0.4),
    bc.PneumaticCylinder(bore=0.05, rod=0.03, length=0.9, stroke=0.4, sealed="both", sealed_at=0.7),
    bc.DCMotor(12.0, 1.0, 0.1, current_limit=3.0, thermal_resistance=2.0, thermal_time=30.0),
    bc.Servo(0.1, 2.0, 1.0, 0.1, 5.0, 2.0, 0.3, 4.0, 0.5, 0.1),
    bc.StepperMotor(0.1, 0.5, current=2.0, resistance=1.0, inductance=1e-3),
    bc.MotorCurve((0.0, 100.0), (1.0, 0.5), (3.0, 2.0)),
    bc.Wrench((1.0, 2.0, 3.0), (1.0, 2.0, 3.0)),
    bc.JointFriction(1.0, 1.0, 1.0, 1.0, 1.0),
    bc.Brake(1.0, 0.1),
    bc.Clutch(1.0),
    bc.TorqueLimiter(2.0, 1.0),
    bc.Freewheel(),
    bc.Differential(0.1, 0.2),
    bc.WormGear((2, 40), 0.3, 0.1, 0.2, 0.3),
    bc.RubberString(1.0, 1.0, 0.5, 0.1),
    bc.OneSidedSpring(1.0, 1.0, "below", 0.1, 0.1),
    bc.ElasticRope((0.1, 0.2, 0.0), 1.0, 1.0, (), 0.1, 0.1, (2,)),
    bc.ElasticRope((0.1, 0.2, 0.0), 1.0, 1.0, (), 0.1, 0.1, (), 2, 0.2, 1, 0.3),
    bc.ElasticBelt((0.1, 0.2), 1.0, 1.0, (), 0.1, 0.1, (2,)),
    bc.FlatBelt((0.1, 0.2), 1.0, 1.0, (), 0.1, 0.1, (0.3, 0.2), 0.1),
    bc.TimingBelt((20, 0, -30), 0.005, 1.0, 1.0, 1.0, None, (), (0.1,), 0.1, 0.1, 0.1, 1.0),
    bc.TimingBelt((20, 30), 0.005, 1.0, 1.0, None, 200),
    bc.OneSidedSpring(1.0, 1.0, "below", 0.1, 0.1, loss_factor=0.1, loss_speed=0.2),
    bc.BearingClearance(1e-3, 1e6, 1.5, loss_factor=0.1),
    bc.CamMotion((0.0, 2.0, 2 * math.pi), (0.0, 1.0, 0.0)),
    bc.CamFollower(
        bc.Harmonic(0.01, 1.0, offset=0.01), 0.1, roller_radius=0.02, offset=0.01, width=0.01, restitution=0.5
    ),
    bc.CamFollower(bc.Harmonic(0.01, 1.0), 0.1, roller_radius=0.02, distance=0.3, arm=0.25),
    bc.SupportPoint(1.0, 0.1, 1.0, 0.1),
    bc.BodyDamping((1.0, 1.0, 1.0), (1.0, 1.0, 1.0)),
    # functions
    bc.Constant(1.0),
    bc.Harmonic(1.0, 1.0, 1.0, 1.0, 1.0),
    bc.Polynomial((1.0, 2.0), 1.0),
    bc.Ramp(0.0, 1.0, 1.0, 1.0),
    TABLE,
    bc.CubicSpline((0.0, 1.0), (2.0, 3.0), "clamped", (1.0, 1.0)),
    bc.Piecewise((0.0, 1.0), ((1.0, 2.0),)),
    bc.Rational((0.0, 1.0), ((1.0, 2.0),), ((1.0, 2.0),)),
    bc.Nurbs((0.0, 1.0, 2.0, 3.0), weights=(1.0, 2.0, 1.0, 1.0)),
    bc.NurbsCurve(((0.0, 0.0, 0.0),) * 4, weights=(1.0, 2.0, 1.0, 1.0)),
    bc.Curve(((0.0, 0.0, 0.0), (1.0, 0.0, 0.0))),
    # shapes
    bc.Box(size=(1.0, 1.0, 1.0), density=1.0, color=(1.0, 1.0, 1.0)),
    bc.Sphere(radius=1.0, density=1.0),
    bc.Ellipsoid(radii=(1.0, 1.0, 1.0)),
    bc.Cylinder(radius=1.0, length=1.0),
    bc.Capsule(radius=1.0, length=1.0),
    bc.Cone(radius=1.0, height=1.0),
    bc.Prism(outline=((0.0, 0.0), (1.0, 0.0), (0.0, 1.0)), length=1.0),
    bc.Mesh(file="part.stl", scale=(1.0, 1.0, 1.0)),
]


def spoiled(value, bad):
    """The value with each of its numbers replaced in turn."""
    if isinstance(value, (float, bc.Constant)):
        yield bad
    elif isinstance(value, tuple):
        for place, part in enumerate(value):
            for other in spoiled(part, bad):
                yield (*value[:place], other, *value[place + 1 :])


CASES = [
    (sample, field.name)
    for sample in SAMPLES
    for field in fields(sample)
    if any(True for _ in spoiled(getattr(sample, field.name), 0.0))
]


@pytest.mark.parametrize(
    ("sample", "field"), CASES, ids=lambda c: c if isinstance(c, str) else type(c).__name__
)
def test_refused(sample, field):
    for bad in (math.nan, math.inf, -math.inf):
        for value in spoiled(getattr(sample, field), bad):
            with pytest.raises(bc.MechanismError, match="must be finite"):
                replace(sample, **{field: value})


def test_every_class_with_numbers_is_a_sample():
    known = {type(sample) for sample in SAMPLES}
    for kinds in (CHANGE_KINDS, CONSTRAINT_KINDS, FORCE_KINDS, FUNCTIONS, SENSOR_KINDS, SHAPES):
        assert {kind for kind in kinds.values() if fields(kind)} <= known | {bc.PlanetaryGear}
    own = {kind for kind in JOINT_KINDS.values() if {f.name for f in fields(kind)} - {"position", "velocity"}}
    assert own <= known
