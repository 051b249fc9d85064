"""Quantities with units: values, dimensions, and where they fit."""

from math import pi, radians

import pytest

import bellcrank as bc
from bellcrank import io, mechanism
from bellcrank.io.fields import REGISTRIES, Simulation, parameters
from bellcrank.mechanism.units import UnitError, dimension_of, fits, known_units, read_quantity


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("30 deg", radians(30), "rad"),
        ("180°", pi, "rad"),
        ("-90deg", -pi / 2, "rad"),
        ("2 rev", 4 * pi, "rad"),
        ("60 rpm", 2 * pi, "rad/s"),
        ("12 mm", 0.012, "m"),
        ("12mm", 0.012, "m"),
        (".5 cm", 0.005, "m"),
        ("1e-3 km", 1.0, "m"),
        ("1 ft", 0.3048, "m"),
        ("1 in", 0.0254, "m"),
        ("500 g", 0.5, "kg"),
        ("1 lb", 0.45359237, "kg"),
        ("1 lbf", 4.4482216152605, "N"),
        ("12 N/mm", 12000.0, "N/m"),
        ("3 N m/rad", 3.0, "N m/rad"),
        ("3 Nmm", 0.003, "N m"),
        ("2 kg*m^2", 2.0, "kg m^2"),
        ("2 kg m2", 2.0, "kg m^2"),
        ("2 kg·cm²", 2e-4, "kg m^2"),
        ("2 kg mm**2", 2e-6, "kg m^2"),
        ("7850 kg/m^3", 7850.0, "kg/m^3"),
        ("7.85 g/cm^3", 7850.0, "kg/m^3"),
        ("9.81 m/s^2", 9.81, "m/s^2"),
        ("9.81 m s^-2", 9.81, "m/s^2"),
        ("3.6 km/h", 1.0, "m/s"),
        ("100 ms", 0.1, "s"),
        ("1 kW", 1000.0, "N m/s"),
        ("1 bar", 1e5, "N/m^2"),
        ("50 %", 0.5, "1"),
        ("3 \N{MICRO SIGN}m", 3e-6, "m"),
        ("3 \N{GREEK SMALL LETTER MU}m", 3e-6, "m"),
    ],
)
def test_values_in_si(text, value, unit):
    found = read_quantity(text)
    assert found.value == pytest.approx(value, rel=4e-16)
    assert found.dimension == dimension_of(unit)


def test_no_unit_means_anything_else_than_it_says():
    assert all(read_quantity(f"1 {name}").value > 0 for name in known_units())


@pytest.mark.parametrize(
    "text", ["hello", "0.5*sin(2*pi*t)", "1e-4*sin(t)", "1e-4 * t", "2 * t", "x", "1/2", "", "-", "2(3)"]
)
def test_texts_that_are_no_quantities(text):
    assert read_quantity(text) is None


@pytest.mark.parametrize(
    ("text", "rule", "advice"),
    [
        ("30 dg", "this unit is not known", "did you mean 'deg'"),
        ("30", "a number must not stand in quotes", "add a unit"),
        ("3 N/", "this is not a unit", "a unit is missing after '/'"),
        ("3 N!", "this is not a unit", "'!' has no meaning"),
        ("9e999 mm", "this number is too large", "exponent"),
        ("1,5 m", "a number must not contain a comma", "decimal point"),
    ],
)
def test_faulty_quantities(text, rule, advice):
    with pytest.raises(UnitError, match=rule) as caught:
        read_quantity(text)
    assert advice in caught.value.advice


@pytest.mark.parametrize(
    ("given", "wanted", "fit"),
    [
        ("m", ("m",), True),
        ("rad", ("m",), False),
        ("m/rad", ("m",), False),
        ("N m", ("N m/rad",), True),
        ("N m s", ("N m s/rad",), True),
        ("N/m", ("N m/rad",), False),
        ("N/m", ("N/m", "N m/rad"), True),
        ("Hz", ("rad/s",), False),
        ("rpm", ("rad/s",), True),
        ("%", ("rad",), False),
        ("kg", (), True),
    ],
)
def test_which_units_fit(given, wanted, fit):
    assert fits(dimension_of(given), wanted) is fit


def on_a_joint(kind, **given):
    """A mechanism with one joint."""
    mech = bc.Mechanism("one joint")
    mech.add_body("rod", 1, (1, 1, 1))
    mech.add_joint("joint", kind, "ground", "rod", **given)
    return mech


def with_drive(kind, **given):
    on_a_joint(kind).add_drive("drive", "joint", **given)


def with_force(kind, force):
    on_a_joint(kind).add_force("force", force, "joint")


TURN, SLIDE = bc.Revolute(), bc.Prismatic()


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: on_a_joint(SLIDE, position="30 deg"), "joint 'joint': .* got '30 deg'; give it in m$"),
        (lambda: on_a_joint(TURN, velocity="2 m/s"), "joint 'joint': .* got '2 m/s'; give it in rad/s$"),
        (
            lambda: on_a_joint(TURN, limits=bc.Limit("-3 mm", 1)),
            "limit of 'theta_z': lower.* give it in rad$",
        ),
        (lambda: with_drive(SLIDE, velocity="60 rpm"), "drive 'drive': velocity: .* give it in m/s$"),
        (lambda: with_drive(TURN, position="3 cm"), "drive 'drive': position: .* give it in rad$"),
        (
            lambda: on_a_joint(bc.LinearMotor(velocity="60 rpm")),
            "joint 'joint': velocity: .* give it in m/s$",
        ),
        (
            lambda: on_a_joint(bc.CylindricalMotor(position=("1 cm", "2 cm"))),
            "joint 'joint': position: .* got '2 cm'; give it in rad$",
        ),
        (lambda: with_force(SLIDE, bc.TorsionSpring("3 N m/rad")), "force 'force': stiffness: .* in N/m$"),
        (lambda: with_force(TURN, bc.JointMotor("3 N")), "force 'force': effort: .* give it in N m$"),
        (lambda: with_force(TURN, bc.OneSidedSpring("1 N m/rad", contact="1 mm")), "contact: .* in rad$"),
    ],
)
def test_a_unit_must_fit_the_coordinate(build, message):
    with pytest.raises(bc.MechanismError, match=message):
        build()


def test_a_unit_that_fits_the_coordinate_is_taken():
    mech = on_a_joint(bc.CylindricalMotor(position=("1 cm", "90 deg")))
    assert [mech.drives[f"joint.{name}"].position.value for name in ("z", "theta_z")] == [0.01, pi / 2]
    mech = on_a_joint(TURN, position="30 deg", velocity="60 rpm", limits=bc.Limit("-1 turn", "1 turn"))
    assert mech.joints["joint"].position == (("theta_z", radians(30)),)
    mech.add_force("spring", bc.TorsionSpring("3 N m", rest_angle="10 deg", preload="1 N m"), "joint")
    mech.add_drive("drive", "joint", position="0.5*sin(t)")
    with pytest.raises(bc.MechanismError, match=r"give it in rad$"):
        mech.replace(mech.drives["drive"], position="3 cm")
    assert on_a_joint(bc.PathJoint(*helix()), position="30 deg").joints["joint"].position[0][1] == radians(30)


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ("position: 30 deg", "give it in m .*joints.slide.position"),
        ("limits: {upper: 60 deg}", "limit of 'z': upper: .* give it in m .*joints.slide"),
        (
            "position: 3 cm}\ndrives:\n  motor: {joint: slide, velocity: 60 rpm",
            "give it in m/s .*drives.motor",
        ),
    ],
)
def test_files_are_held_to_the_coordinate_too(given, place):
    text = (
        "bellcrank: 1\nbodies:\n  rod: {mass: 1, inertia: [1, 1, 1]}\njoints:\n"
        f"  slide: {{type: Prismatic, first: {{body: ground}}, second: {{body: rod}}, {given}}}\n"
    )
    with pytest.raises(bc.MechanismError, match=place):
        bc.loads(text)
    fits = text.replace("30 deg", "3 cm").replace("60 deg", "60 cm").replace("60 rpm", "2 m/s")
    assert bc.loads(fits).joints["slide"].kind == SLIDE


def helix():
    """The parameter and the curve of a helix; the parameter has no unit of its own."""
    u = bc.symbol("u")
    return u, (bc.expression.cos(u), bc.expression.sin(u), 0.1 * u)


def test_directions_and_wrong_units_are_refused():
    with pytest.raises(bc.MechanismError, match="axis: this unit does not fit here, got '1 m'"):
        bc.Mechanism().ground.marker(axis=("1 m", 0, 0))
    with pytest.raises(bc.MechanismError, match="the unit: this unit is not known, got 'furlong'"):
        bc.quantity("2 m", "furlong")
    with pytest.raises(bc.MechanismError, match=r"position must hold 3 numbers, .*; give them in m$"):
        bc.Mechanism().add_body("rod", 1, (1, 1, 1), position=("∞", 0, 0))


def test_all_units_of_fields_are_units():
    registered = [cls for registry in REGISTRIES.values() for cls in registry.values()]
    others = [
        bc.Body,
        bc.Marker,
        bc.Limit,
        bc.Curve,
        bc.NurbsCurve,
        mechanism.Joint,
        mechanism.Drive,
        Simulation,
    ]
    units = {
        unit for cls in (*registered, *others) for field in parameters(cls).values() for unit in field.units
    }
    assert len({dimension_of(unit) for unit in units}) > 15


def test_units_in_a_file():
    mech = io.loads("""
bellcrank: 1
gravity: [0, 0, -981 cm/s^2]
bodies:
  arm:
    inertia: [1 kg cm^2, 2, 2]
    mass: 500 g
    position: [12 mm, 0, "3 in"]
    rotation: {axis: [0, 0, 1], angle: 90 deg}
    angular_velocity: [0, 0, 60 rpm]
    shapes: [{type: Box, size: [10 mm, 1, 1], density: 7.85 g/cm^3}]
joints:
  hinge: {type: Revolute, first: ground, second: arm, limits: {lower: -30 deg, upper: 0.5}}
forces:
  spring: {type: TorsionSpring, joint: hinge, stiffness: 2 N m/rad, rest_angle: 10 deg}
  push: {type: Wrench, force: [0, 0, {type: Harmonic, amplitude: 1, omega: 120 rpm}], ends: arm}
drives:
  turn: {joint: hinge, position: 5 deg}
simulation: {duration: 2 min, step: 1 ms}
""")
    arm = mech.bodies["arm"]
    assert mech.gravity == (0.0, 0.0, -9.81)
    assert arm.position == (0.012, 0.0, 0.0762)
    assert arm.inertia[0][0] == 1e-4
    assert arm.mass == 0.5
    assert arm.rotation == pytest.approx((2**-0.5, 0, 0, 2**-0.5), abs=1e-15)
    assert arm.angular_velocity == (0.0, 0.0, 2 * pi)
    assert arm.shapes == (bc.Box(size=(0.01, 1.0, 1.0), density=7850.0),)
    assert mech.joints["hinge"].limits == (("theta_z", bc.Limit(radians(-30), 0.5)),)
    assert mech.forces["spring"].kind == bc.TorsionSpring(2.0, rest_angle=radians(10))
    assert mech.forces["push"].kind.force[2] == bc.Harmonic(1.0, 4 * pi)
    assert mech.drives["turn"].position == bc.Constant(radians(5))
