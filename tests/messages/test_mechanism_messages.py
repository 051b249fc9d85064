"""Each message on what connects bodies: it names the element, the rule, the value, and what to do."""

import pytest
from rigs.faulty import NAN, check_message, drive, force, joined, marker, mechanism

import bellcrank as bc


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
    "nothing led": (lambda: mechanism().add_drive("motor", position=1), "not clear what is driven", "joint="),
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
}


@pytest.mark.parametrize("name", MESSAGES)
def test_message(name):
    action, *texts = MESSAGES[name]
    check_message(action, texts)
