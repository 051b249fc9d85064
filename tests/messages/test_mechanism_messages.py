"""Each message of the description: it names the element, the rule, the offending value, and what to do."""

import math
import re
import sys

import numpy as np
import pytest

import bellcrank as bc

NAN = math.nan


def mechanism():
    """A body on a hinge and one on a cylindrical joint, both to the ground."""
    mech = bc.Mechanism("test")
    for name, kind in (("arm", bc.Revolute()), ("piston", bc.Cylindrical())):
        mech.add_joint(f"{name} joint", kind, mech.ground, mech.add_body(name, 1.0, (1.0, 1.0, 1.0)))
    return mech


def body(**changes):
    return lambda: bc.Mechanism().add_body("crank", **{"mass": 1.0, "inertia": (1.0, 1.0, 1.0), **changes})


def marker(**values):
    return lambda: bc.Body("crank", 1.0, (1, 1, 1)).marker(**values)


def drive(joint="arm joint", **values):
    return lambda: mechanism().add_drive("motor", joint, **values)


def force(kind, *ends, **values):
    return lambda: mechanism().add_force("pull", kind, *ends, **values)


def joined(kind=None, *ends, **values):
    mech = mechanism()
    given = ends or (mech.ground, mech.bodies["arm"])
    return lambda: mech.add_joint("hinge", kind or bc.Revolute(), *given, **values)


def two_markers():
    mech = mechanism()
    for position in ((0, 0, 0), (1, 0, 0)):
        mech.add_marker(mech.bodies["arm"].marker(position, name="tip"))


def motor_on_a_taken_name():
    mech = mechanism()
    mech.add_drive("crank", "arm joint", position=0.0)
    mech.add_joint("crank", bc.RevoluteMotor(position=0.0), mech.ground, mech.bodies["arm"])


# What is done, and texts that the message must hold, in this order.
MESSAGES = {
    # numbers
    "wrong type": (body(mass="1 kg"), "body 'crank'", "mass must be a number", "'1 kg'", "give it in kg"),
    "a truth value": (body(mass=True), "mass must be a number", "True"),
    "negative mass": (body(mass=-2.0), "body 'crank'", "mass must be greater than zero", "-2.0", "kg"),
    "zero mass": (body(mass=0), "mass must be greater than zero", "0.0"),
    "NaN mass": (body(mass=NAN), "mass must be finite", "nan"),
    "infinite mass": (body(mass=math.inf), "mass must be finite", "inf"),
    "NaN position": (body(position=(0, NAN, 0)), "position must be finite", "nan", "computed"),
    "NaN velocity": (body(velocity=(NAN, 0, 0)), "velocity must be finite"),
    "NaN angular velocity": (body(angular_velocity=(NAN, 0, 0)), "angular_velocity must be finite"),
    "NaN com": (body(com=(NAN, 0, 0)), "com must be finite"),
    "NaN rotation": (body(rotation=(1, 0, NAN, 0)), "rotation must be finite"),
    "NaN gravity": (lambda: bc.Mechanism(gravity=(0, 0, NAN)), "mechanism", "gravity must be finite"),
    "wrong shape": (body(position=(1, 2)), "position must hold 3 numbers", "(1, 2)"),
    "ragged": (body(position=[[1], [2, 3]]), "position must hold 3 numbers"),
    "text for numbers": (body(position="origin"), "position must hold 3 numbers", "'origin'"),
    "gravity as one number": (lambda: bc.Mechanism(gravity=-9.81), "gravity must hold 3 numbers", "-9.81"),
    # inertia
    "triangle": (body(inertia=(1, 1, 3)), "triangle inequality", "1, 1, 3", "1 + 1 < 3", "centre of mass"),
    "triangle of a full matrix": (
        body(inertia=[[2, 0, 0], [0, 2, 1.8], [0, 1.8, 2]]),
        "triangle inequality",
        "0.2, 2, 3.8",
    ),
    "negative inertia": (body(inertia=(1, -1, 1)), "inertia must be positive definite", "-1"),
    "no inertia": (
        body(inertia=(0, 0, 0)),
        "inertia must be positive definite",
        "small moment about every axis",
    ),
    "NaN inertia": (body(inertia=(1, NAN, 1)), "inertia must be finite"),
    "unsymmetric": (
        body(inertia=[[1, 0.1, 0], [0.2, 1, 0], [0, 0, 1]]),
        "inertia must be symmetric",
        "Ixy = 0.1 differs from Iyx = 0.2",
    ),
    "inertia of six": (body(inertia=(1, 1, 1, 0, 0, 0)), "inertia must hold 3 numbers"),
    "inertia missing": (body(inertia=None), "inertia is missing", "density"),
    "all missing": (body(mass=None, inertia=None), "mass and inertia are missing", "shapes with a density"),
    "inertia alone": (body(mass=None), "an inertia needs a mass"),
    "com without inertia": (
        body(inertia=None, com=(0, 0, 1), shapes=[bc.Sphere(radius=1, density=1)]),
        "a com needs an inertia",
        "comes from the shapes",
    ),
    # axes and quaternions
    "non-unit axis": (
        marker(axis=(0, 3, 4)),
        "marker on 'crank'",
        "axis must be a unit direction",
        "[0.0, 3.0, 4.0]",
        "norm is 5",
        "(0, 0.6, 0.8)",
    ),
    "zero axis": (marker(axis=(0, 0, 0)), "axis must be a unit direction", "zero vector"),
    "NaN axis": (marker(axis=(0, 0, NAN)), "axis must be finite"),
    "non-unit quaternion": (
        body(rotation=(2, 0, 0, 0)),
        "rotation must be a unit quaternion (w, x, y, z)",
        "norm is 2",
        "(1, 0, 0, 0)",
    ),
    "three numbers for a quaternion": (marker(rotation=(0, 0, 1)), "rotation must hold 4 numbers"),
    "axes not perpendicular": (
        marker(axis=(0, 0, 1), x_axis=(0.6, 0, 0.8)),
        "x_axis and z_axis must be perpendicular",
        "a perpendicular z_axis is (-0.8, 0, 0.6)",
    ),
    "parallel axes": (marker(x_axis=(0, 0, 1), z_axis=(0, 0, 1)), "must be perpendicular"),
    "three axes": (
        marker(x_axis=(1, 0, 0), y_axis=(0, 1, 0), z_axis=(0, 0, 1)),
        "two axes determine a frame",
    ),
    "axis twice": (marker(axis=(0, 0, 1), z_axis=(0, 0, 1)), "axis and z_axis mean the same"),
    "orientation twice": (
        marker(axis=(0, 0, 1), rotation=(1, 0, 0, 0)),
        "given twice",
        "either rotation or axes",
    ),
    # names
    "empty name": (lambda: bc.Mechanism().add_body("", 1, (1, 1, 1)), "non-empty text", "''"),
    "name of a number": (lambda: bc.Mechanism().add_body(3, 1, (1, 1, 1)), "the name must be a text", "3"),
    "line break": (lambda: bc.Mechanism().add_body("a\nb", 1, (1, 1, 1)), "line breaks"),
    "slash at the end": (
        lambda: bc.Mechanism().add_body("a/", 1, (1, 1, 1)),
        "must not start or end with '/'",
    ),
    "dot in a marker": (marker(name="a.b"), "must not contain '.'"),
    "ground is taken": (lambda: bc.Mechanism().add_body("ground", 1, (1, 1, 1)), "taken by the ground"),
    "duplicate body": (
        lambda: mechanism().add_body("arm", 1, (1, 1, 1)),
        "body 'arm'",
        "name is taken",
        "another",
    ),
    "duplicate joint": (
        lambda: (m := mechanism()).add_joint("arm joint", bc.Free(), m.ground, m.bodies["arm"]),
        "joint 'arm joint'",
        "name is taken",
    ),
    "duplicate marker": (two_markers, "marker 'arm.tip'", "taken by another marker"),
    "duplicate of a motor's drive": (motor_on_a_taken_name, "drive 'crank'", "name is taken"),
    # joints
    "marker on nothing": (
        joined(None, None, None),
        "joint 'hinge'",
        "a marker is needed here",
        "body.marker(...)",
    ),
    "marker without a body": (lambda: bc.Marker(""), "a marker sits on a body", "''"),
    "marker by a wrong name": (
        joined(None, "arm.top", "arm.top"),
        "there is no marker of this name",
        "'arm.top'",
    ),
    "a joint without a kind": (joined(bc.Marker("arm")), "the kind must be a JointKind", "bc.Revolute()"),
    "a class for a kind": (joined(bc.Revolute), "write Revolute(), with parentheses"),
    "screw without a pitch": (lambda: bc.Screw(0.0), "pitch must not be zero", "bc.Revolute()"),
    "curve of one point": (lambda: bc.PointOnCurve([(0, 0, 0)]), "needs 2 points or more"),
    "curve that stands": (lambda: bc.Curve([(0, 0, 0), (1, 0, 0), (1, 0, 0)]), "must differ", "point 1"),
    "cone in degrees": (lambda: bc.PointOnCone(30.0), "half_angle must be less than pi/2", "30", "rad"),
    "angle in degrees": (lambda: bc.AxisAngle(90.0), "angle must be less than pi", "rad"),
    "negative length": (lambda: bc.Distance(-1.0), "Distance", "length must be greater than zero", "m"),
    "two ways to lead": (bc.RevoluteMotor, "either position or velocity"),
    "too few functions": (lambda: bc.PlanarMotor(position=(0, 0)), "3 functions", "x, y, theta_z"),
    # limits
    "limit of nothing": (bc.Limit, "needs a lower or an upper value"),
    "limits crossed": (lambda: bc.Limit(1.0, -1.0), "lower must be less than upper", "(1.0, -1.0)"),
    "restitution": (lambda: bc.Limit(0, 1, 1.5), "restitution must lie between 0 and 1", "1.5"),
    "limit on a locked coordinate": (
        joined(limits={"z": bc.Limit(0, 1)}),
        "joint 'hinge'",
        "locked by the joint",
        "'z'",
        "Revolute has theta_z",
    ),
    "limit of which": (joined(bc.Planar(), limits=bc.Limit(0, 1)), "single limit", "x, y, theta_z"),
    "limits of no kind": (joined(limits=[1, 2]), "limits must be a Limit or a mapping"),
    "two limits": (
        joined(limits=[("theta_z", bc.Limit(0)), ("theta_z", bc.Limit(1))]),
        "two limits on one coordinate",
    ),
    "limit without a class": (joined(limits={"theta_z": (0, 1)}), "the limit of 'theta_z' must be a Limit"),
    # drives
    "text that is no expression": (
        drive(position="0.5*sni(2*pi*t)"),
        "drive 'motor': position: there is no function 'sni'",
        "did you mean 'sin'",
        "0.5*sni(2*pi*t)\n        ^",
    ),
    "a text with a jump": (drive(position="if(t < 1, 0, 1)"), "must have a continuous first derivative"),
    "a text of something else": (drive(position="2*x"), "the name 'x' is not known; known are t, pi, e"),
    "a list for a function": (drive(position=[1, 2]), "position must be a function", "[1, 2]", "Table"),
    "no function": (drive(), "exactly one of position and velocity"),
    "two functions": (drive(position=1, velocity=1), "exactly one of position and velocity"),
    "polygon as a position": (
        drive(position=bc.Table((0, 1, 2), (0, 1, 0), "linear")),
        "position must have a continuous first derivative",
        "pchip",
    ),
    "jump in a velocity": (
        drive(velocity=bc.Piecewise((0, 1, 2), ((0.0,), (1.0,)))),
        "velocity must be continuous",
    ),
    "velocity without antiderivative": (drive(velocity=bc.Nurbs((0, 1, 2, 3))), "antiderivative", "Nurbs"),
    "which coordinate": (drive("piston joint", position=1), "not clear which coordinate", "z, theta_z"),
    "a locked coordinate": (
        drive(coordinate="z", position=1),
        "drive 'motor'",
        "locked by the joint",
        "theta_z",
    ),
    "a coordinate that stands still": (
        drive(coordinate="theta_x", position=1),
        "joint 'arm joint'",
        "does not let this coordinate move",
        "'theta_x'",
    ),
    "a coordinate held by a row of its own": (
        lambda: (m := mechanism()).add_drive(
            "motor",
            m.add_joint("rod", bc.Distance(1.0), m.bodies["arm"], m.bodies["piston"]),
            "distance",
            position=1,
        ),
        "joint 'rod'",
        "locked by the joint",
        "'distance'",
    ),
    "no such coordinate": (drive(coordinate="w", position=1), "this is not a coordinate", "'w'"),
    "no such number": (drive(coordinate=1, position=1), "no free coordinate of this number", "1"),
    "a curve where there is none": (drive(coordinate="curve_parameter", position=1), "needs a curve"),
    "coordinate twice": (drive("piston joint.z", coordinate="theta_z", position=1), "given twice"),
    "nothing led": (lambda: mechanism().add_drive("motor", position=1), "not clear what is led", "joint="),
    "a number for a joint": (drive(3, position=1), "a joint is needed here", "3"),
    "path as a list": (
        lambda: (m := mechanism()).add_drive("motor", marker=m.bodies["arm"], path=[(0, 0, 0)]),
        "path must be a Path",
    ),
    "kinked path": (
        lambda: (m := mechanism()).add_drive(
            "motor", marker=m.bodies["arm"], path=bc.Path((bc.Table((0, 1, 2), (0, 1, 0), "linear"), 0, 0))
        ),
        "path x must have a continuous first derivative",
    ),
    "orientation of two": (
        lambda: (m := mechanism()).add_drive(
            "motor", marker=m.bodies["arm"], path=bc.Path((0, 0, 0)), orientation=(1, 0)
        ),
        "orientation must be a quaternion or three functions",
    ),
    # forces and constraints
    "negative stiffness": (lambda: bc.SpringDamper(stiffness=-1), "stiffness must not be negative", "-1.0"),
    "NaN damping": (lambda: bc.SpringDamper(1.0, damping=NAN), "damping must be finite"),
    "idle spring": (lambda: bc.SpringDamper(0.0), "it does nothing"),
    "idle bushing": (bc.Bushing, "it does nothing"),
    "idle friction": (bc.JointFriction, "it does nothing"),
    "stiction below coulomb": (lambda: bc.JointFriction(coulomb=2, stiction=1), "not be less than coulomb"),
    "spring table without potential": (lambda: bc.TabulatedSpring(bc.Nurbs((0, 1, 2, 3))), "antiderivative"),
    "motor without a gear": (lambda: bc.GearedMotor(0.0), "ratio must not be zero"),
    "text for a torque": (lambda: bc.JointMotor("sin(t"), "effort: this parenthesis is not closed"),
    "text in a wrench": (lambda: bc.Wrench(force=("t t", 0, 0)), "force x: an operator is missing"),
    "time in a characteristic": (lambda: bc.TabulatedSpring("t"), "a function of the coordinate, not of t"),
    "wrench of two": (lambda: bc.Wrench(force=(1, 2)), "force must hold three numbers or functions"),
    "wrench in other axes": (
        lambda: bc.Wrench(axes="body"),
        "axes must be one of 'world', 'marker'",
        "'body'",
    ),
    "negative brake": (lambda: bc.Brake(-1.0), "level must not be negative"),
    "spring on a joint": (
        force(bc.SpringDamper(1.0), joint="arm joint"),
        "force 'pull'",
        "SpringDamper takes two markers",
        "given: joint",
    ),
    "motor on markers": (force(bc.JointMotor(1.0), bc.Marker("arm")), "JointMotor takes one joint"),
    "force of no kind": (force(3.0, "arm joint"), "the kind must be a ForceKind", "3.0"),
    "unknown end": (
        force(bc.TabulatedSpring(bc.Table((0, 1), (0, 1))), "arm jiont"),
        "no marker and no joint of this name",
        "did you mean 'arm joint'?",
    ),
    "gear without a size": (bc.Gear, "exactly one of ratio, radii and teeth"),
    "gear of half a tooth": (lambda: bc.Gear(teeth=(20, 30.5)), "teeth must be whole numbers"),
    "gear with a negative radius": (lambda: bc.Gear(radii=(0.1, -0.2)), "radii must be greater than zero"),
    "ring as large as its pinion": (lambda: bc.InternalGear(ratio=1.0), "must differ in size"),
    "sun as large as the ring": (lambda: bc.PlanetaryGear(30, 20), "ring must have more teeth"),
    "coupling of too many": (
        lambda: mechanism().add_constraint("c", bc.Coupling((1.0, 2.0)), "arm joint"),
        "2 coefficients for 1 joints",
    ),
    "coupling with zero": (lambda: bc.Coupling((1.0, 0.0)), "coefficients must not be zero"),
    # functions
    "places that fall": (
        lambda: bc.Table((0, 2, 1), (0, 0, 0)),
        "x must increase",
        "(2.0, 1.0)",
        "entries 1 and 2",
    ),
    "lengths differ": (lambda: bc.CubicSpline((0, 1, 2), (0, 1)), "same length", "(3, 2)"),
    "not periodic": (lambda: bc.CubicSpline((0, 1, 2), (0, 1, 2), "periodic"), "must end where it starts"),
    "slopes of natural ends": (
        lambda: bc.CubicSpline((0, 1), (0, 1), slopes=(1, 1)),
        "belong to clamped ends",
    ),
    "unknown ends": (lambda: bc.CubicSpline((0, 1), (0, 1), ends="free"), "'natural', 'clamped', 'periodic'"),
    "no time for a ramp": (lambda: bc.Ramp(0, 1, duration=0), "duration must be greater than zero", "s"),
    "NaN in a table": (lambda: bc.Table((0, 1), (0, NAN)), "y must be finite"),
    "NaN in a harmonic": (lambda: bc.Harmonic(NAN, 1.0), "amplitude must be finite"),
    "too few control points": (lambda: bc.Nurbs((0, 1, 2)), "more control points than the degree"),
    "negative weight": (
        lambda: bc.Nurbs((0, 1, 2, 3), weights=(1, 1, 0, 1)),
        "weights must be greater than zero",
    ),
    "knots that fall": (
        lambda: bc.Nurbs((0, 1, 2), degree=1, knots=(0, 0, 1, 0.5, 1)),
        "knots must not fall",
    ),
    # shapes
    "flat box": (lambda: bc.Box(size=(1, 0, 1)), "Box", "size must be greater than zero in every direction"),
    "negative density": (
        lambda: bc.Sphere(radius=1, density=-1),
        "density must be greater than zero",
        "kg/m^3",
    ),
    "colour": (
        lambda: bc.Sphere(radius=1, color=(255, 0, 0)),
        "color must be three or four numbers from 0 to 1",
    ),
    "shape in place of a list": (body(shapes="box"), "shapes must be a list of shapes", "bc.Box"),
    "no mesh file": (
        body(mass=None, inertia=None, shapes=[bc.Mesh(file="nowhere.stl", density=1.0)]),
        "Mesh 'nowhere.stl'",
        "does not exist",
    ),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_message(name):
    action, *texts = MESSAGES[name]
    with pytest.raises(bc.MechanismError) as caught:
        action()
    message = str(caught.value)
    assert re.search(".*".join(map(re.escape, texts)), message, re.DOTALL), message
    for fault in caught.value.faults:
        assert fault.element
        assert fault.rule


def test_the_advice_for_axes_that_are_not_perpendicular_can_be_used():
    with pytest.raises(bc.MechanismError) as caught:
        marker(x_axis=(1, 0, 0), z_axis=(0.6, 0, 0.8))()
    (fault,) = caught.value.faults
    numbers = re.search(r"z_axis is \((.*)\)", fault.advice).group(1)
    advised = np.array([float(number) for number in numbers.split(",")])
    assert marker(x_axis=(1, 0, 0), z_axis=advised)().z_axis == pytest.approx((0, 0, 1))


def test_the_normalised_quaternion_advised_is_accepted():
    with pytest.raises(bc.MechanismError) as caught:
        body(rotation=(1.0, 2.0, -0.3, 0.1))()
    numbers = re.search(r"normalised it is \((.*)\)", str(caught.value)).group(1)
    assert body(rotation=[float(number) for number in numbers.split(",")])().rotation[1] > 0


def test_all_faults_of_an_element_at_once():
    with pytest.raises(bc.MechanismError) as caught:
        body(mass=-1.0, inertia=(1, 1, 3), position=(0, NAN, 0), rotation=(2, 0, 0, 0), shapes=["box"])()
    assert len(caught.value.faults) == 5
    assert str(caught.value).startswith("5 faults in the mechanism:\n  1. body 'crank': mass")


def test_a_mesh_that_is_not_closed(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    mesh = trimesh.creation.box()
    mesh.update_faces(np.arange(len(mesh.faces)) > 0)
    mesh.export(tmp_path / "open.stl")
    with pytest.raises(bc.MechanismError, match=r"open\.stl.*must be closed \(watertight\)"):
        bc.Mesh(file=tmp_path / "open.stl").volume_properties()


def test_a_mesh_that_cannot_be_read(tmp_path):
    pytest.importorskip("trimesh")
    (tmp_path / "text.stl").write_text("no triangles here")
    with pytest.raises(bc.MechanismError, match="cannot be read as a mesh"):
        bc.Mesh(file=tmp_path / "text.stl").volume_properties()


def test_a_mesh_without_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "trimesh", None)
    with pytest.raises(bc.MechanismError, match=r"package trimesh; pip install 'bellcrank\[mesh\]'"):
        bc.Mesh(file="part.stl", density=1.0).mass_properties()
    assert bc.Mechanism().add_body("b", 1.0, (1, 1, 1), shapes=bc.Mesh(file="part.stl")).mass == 1.0
