"""Mechanisms with a parameter in each kind of place where one may stand."""

import bellcrank as bc
import bellcrank.expression as ex

U, S = bc.symbol("u"), bc.EndCoordinate("s")


def quarter(angle, axis=0):
    """A quaternion about a coordinate axis."""
    return (ex.cos(angle / 2), *(ex.sin(angle / 2) if i == axis else 0.0 for i in range(3)))


def arm(value, place=None, start=True):
    """Two bars on joints and a parameter, which stands in one place if that is named."""
    mech = bc.Mechanism("arm")
    parameter = mech.add_parameter("p", value)
    p = {"mass": 1.3, "inertia": 0.2, "com": 0.1, "place": 0.7, "turn": 0.2, "gravity": -9.81}
    p |= {place: parameter} if place else {}
    mech.gravity = (0.3, p["gravity"], 0.1)
    a = mech.add_body("a", mass=p["mass"], inertia=(0.3, 0.25, p["inertia"]), com=(p["com"], 0.02, 0.03))
    b = mech.add_body("b", mass=0.8, inertia=(0.1, 0.2, 0.15), com=(0.0, 0.1, 0.2), position=(0.7, 0.0, 0.0))
    mech.add_joint(
        "1",
        bc.Revolute(),
        mech.ground.marker((0.0, 0.1, 0.0), rotation=quarter(p["turn"])),
        a,
        position=0.3 if start else None,
        velocity=1.0 if start else None,
    )
    mech.add_joint(
        "2",
        bc.Universal(),
        a.marker((p["place"], 0.0, 0.0), rotation=quarter(p["turn"], 1)),
        b.marker((0.0, 0.1, 0.0), rotation=quarter(2 * p["turn"], 2)),
        velocity=(0.5, -0.7) if start else None,
    )
    return mech, a, b, parameter


def body(place):
    return lambda value: arm(value, place)[0]


def element(add, start=True):
    def build(value):
        mech, a, b, p = arm(value, start=start)
        add(mech, a, b, p)
        return mech

    return build


def wire(kind):
    def build(value):
        mech, _, b, p = arm(value)
        bead = mech.add_body("bead", mass=0.4, inertia=(0.01, 0.02, 0.03))
        mech.add_joint("wire", kind(p), b.marker((0.1, 0.0, 0.0)), bead, position=0.2, velocity=0.6)
        return mech

    return build


def loop(value):
    mech, _, b, p = arm(value, start=False)
    rod = mech.add_body("rod", mass=0.3, inertia=(0.01, 0.02, 0.02), position=(0.5, 0.6, 0.0))
    mech.add_joint("3", bc.Spherical(), b.marker((0.0, 0.0, 0.3)), rod.marker((-p, 0.0, 0.0)))
    mech.add_joint(
        "4",
        bc.Universal(),
        rod.marker((0.5, 0.0, 0.0)),
        mech.ground.marker((1.1, 0.7, 0.2), rotation=quarter(p)),
    )
    return mech


ENDS = (bc.EndPose("m"), bc.EndPose("n"))
KNOTS = (-0.3,) * 4 + (0.5,) * 4
BUSHING = bc.Bushing((9.0, 8.0, 7.0), rotational_stiffness=(3.0, 2.0, 1.0))
PULL = bc.CustomForce(
    ENDS, potential=9.0 * ((ENDS[0].position.x - ENDS[1].position.x) ** 2 + ENDS[0].z_axis.x)
)
PLACES = {
    "mass": (1.3, body("mass")),
    "inertia": (0.2, body("inertia")),
    "com": (0.1, body("com")),
    "gravity": (-9.0, body("gravity")),
    "marker position": (0.7, body("place")),
    "marker rotation": (0.2, body("turn")),
    "rotation in a loop": (0.3, loop),
    "spring rate": (30.0, element(lambda m, a, b, p: m.add_force("s", bc.SpringDamper(p, 1.0, 0.2), a, b))),
    "spring on a turned marker": (
        0.4,
        element(lambda m, a, b, p: m.add_force("s", BUSHING, a.marker(rotation=quarter(p)), b)),
    ),
    "motor": (4.0, element(lambda m, a, b, p: m.add_force("s", bc.JointMotor(p), "1"))),
    "motor over time": (
        2.0,
        element(lambda m, a, b, p: m.add_force("s", bc.JointMotor(ex.sin(1.0 + p * (1.0 + ex.t))), "1")),
    ),
    "gear": (2.0, element(lambda m, a, b, p: m.add_force("s", bc.GearedMotor(p, 0.1, 0.3, 0.02 * p), "1"))),
    "wrench": (
        2.0,
        element(
            lambda m, a, b, p: m.add_force(
                "s", bc.Wrench((p, ex.cos(p * (0.3 + ex.t)), 1.0), axes="marker"), b
            )
        ),
    ),
    "wrench on a turned marker": (
        0.3,
        element(
            lambda m, a, b, p: m.add_force(
                "s", bc.Wrench((3.0, 1.0, 0.5), axes="marker"), b.marker((p, 0.0, 0.1), rotation=quarter(p))
            )
        ),
    ),
    "drive": (
        0.4,
        element(lambda m, a, b, p: m.add_drive("d", "1", position=0.3 + p * ex.cos(3 * ex.t)), False),
    ),
    "harmonic drive": (
        0.4,
        element(lambda m, a, b, p: m.add_drive("d", "1", position=bc.Harmonic(p, 3.0 * p, phase=1.0)), False),
    ),
    "speed of a drive": (1.5, element(lambda m, a, b, p: m.add_drive("d", "1", velocity=p), False)),
    "custom joint": (
        0.7,
        wire(lambda p: bc.CustomJoint(U, ex.translation(U, p * U**2, 0.0) @ ex.rotation_z(ex.tanh(p * U)))),
    ),
    "path": (0.7, wire(lambda p: bc.PathJoint(U, (U, ex.sin(p * U), p), up=(0, 0, 1)))),
    "custom constraint": (
        0.9,
        element(
            lambda m, a, b, p: m.add_constraint(
                "c", bc.CustomConstraint((S, ENDS[0]), S.value - p * ENDS[0].position.x), "1", b
            ),
            False,
        ),
    ),
    "marker of a formula": (
        0.4,
        element(
            lambda m, a, b, p: m.add_force("s", PULL, b.marker((p, 0.1, 0.0), rotation=quarter(p, 1)), a)
        ),
    ),
}

# Coefficients follow these to first order: derivatives are exact, but programs do not take other values.
ORDINATES = {
    "ordinate of a spline": (
        0.6,
        element(
            lambda m, a, b, p: m.add_force(
                "s", bc.JointMotor(bc.CubicSpline((-0.1, 0.1, 0.3, 0.7), (0.2, p, -(p**2), 0.4))), "1"
            )
        ),
    ),
    "ordinates of a periodic drive": (
        0.2,
        element(
            lambda m, a, b, p: m.add_drive(
                "d", "1", position=bc.CubicSpline((-0.1, 0.2, 0.3, 0.6), (p, 0.3, 2 * p, p), ends="periodic")
            ),
            False,
        ),
    ),
    "slope of a drive": (
        0.2,
        element(
            lambda m, a, b, p: m.add_drive(
                "d", "1", velocity=bc.CubicSpline((-0.1, 0.2), (0.1, p), "clamped", (p, 0.0), "hold")
            ),
            False,
        ),
    ),
    "ordinate of a monotone table": (
        5.0,
        element(
            lambda m, a, b, p: m.add_force(
                "s", bc.TabulatedSpring(bc.Table((-1.0, 0.1, 0.5, 2.0), (9.0, p, -p / 2, -8.0))), "1"
            )
        ),
    ),
    "ordinate of a polygon": (
        5.0,
        element(
            lambda m, a, b, p: m.add_force(
                "s", bc.TabulatedSpring(bc.Table((-1.0, 0.1, 0.5), (9.0, p, -8.0), "linear")), "1"
            )
        ),
    ),
    "control point": (
        2.0,
        element(
            lambda m, a, b, p: m.add_force(
                "s", bc.JointMotor(bc.Nurbs((0.3, p, -2 * p, 1.0), 3, (1.0, 2.0, 1.5, 1.0), KNOTS)), "1"
            )
        ),
    ),
}


def parallelogram(leaning=0.0):
    """A platform on three equal cranks: it moves at one length of the coupler only.

    leaning: angle of the cranks at the start, rad. At zero there is a direction at any length.
    """
    mech = bc.Mechanism("parallelogram")
    middle, heavy = mech.add_parameter("middle", 0.5), mech.add_parameter("heavy", 1.0)
    plate = mech.add_body("plate", mass=heavy, inertia=(0.1, 0.1, 0.1), position=(0, 0.4, 0))
    for number, (place, at) in enumerate([(0.0, 0.0), (middle, 0.5), (1.0, 1.0)]):
        crank = mech.add_body(
            f"crank {number}", mass=0.2, inertia=(0.01, 0.01, 0.01), position=(at, 0, 0), com=(0, 0.2, 0)
        )
        mech.add_joint(
            f"foot {number}", bc.Revolute(), mech.ground.marker((at, 0, 0)), crank, position=leaning
        )
        mech.add_joint(
            f"head {number}", bc.Revolute(), crank.marker((0, 0.4, 0)), plate.marker((place, 0, 0))
        )
    return mech


def parallelogram_on_a_spring(damping=0.0):
    """A beam on two arms, with a pin too many, pulled aside: `arm`, `stiffness`."""
    mech = bc.Mechanism("parallelogram")
    arm, stiffness = mech.add_parameter("arm", 0.5, "m"), mech.add_parameter("stiffness", 60.0, "N/m")
    beam = mech.add_body("coupler", mass=3.0, inertia=(0.1, 0.2, 0.2), position=(0, 0, -0.5))
    for name, x in (("left", -0.4), ("right", 0.4)):
        crank = mech.add_body(name, mass=1.0, inertia=(0.03, 0.03, 0.01), position=(x, 0, 0))
        mech.add_joint(name, bc.Revolute(), mech.ground.marker((x, 0, 0), axis="y"), crank.marker(axis="y"))
        ends = crank.marker((0, 0, -arm), axis="y"), beam.marker((x, 0, 0), axis="y")
        mech.add_joint(f"{name} end", bc.Revolute(), *ends)
    stay = bc.SpringDamper(stiffness, damping=damping, rest_length=0.6)
    mech.add_force("stay", stay, mech.ground.marker((1.5, 0, -0.3)), beam.marker())
    return mech
