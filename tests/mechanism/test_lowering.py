"""What forces, drives and constraints become: rows, laws along coordinates, inertances, wrenches."""

from math import cos, pi, sin

import numpy as np
import pytest

import bellcrank as bc
from bellcrank import _core as core
from bellcrank.mechanism import CONSTRAINT_KINDS, FORCE_KINDS, GROUND, Coordinate
from bellcrank.mechanism.rotation import from_rotation_vector, multiply

AT_A, AT_B = bc.Marker("a", (1, 0, 0)), bc.Marker("b")
HINGE = bc.Coordinate("theta_z", AT_A, AT_B)
TABLE = bc.Table((0, 1, 2), (3.0, 0.0, -5.0))
TORQUE = bc.Harmonic(2.0, 3.0)


def law(kind, *ends):
    (only,) = kind.lowered(ends).laws
    return only


def test_spring_damper():
    got = law(bc.SpringDamper(stiffness=100.0, damping=1.0, rest_length=0.5, preload=3.0), AT_A, AT_B)
    assert (got.kind, got.params, got.function) == ("linear", (100.0, 1.0, 0.5, 3.0), None)
    assert got.coordinate == bc.Coordinate("distance", AT_A, AT_B)
    assert law(bc.SpringDamper(stiffness=100.0), AT_A, AT_B).params == (100.0, 0.0, None, 0.0)


def test_torsion_spring():
    got = law(bc.TorsionSpring(5.0, 0.1, rest_angle=0.3, preload=1.0), HINGE)
    assert (got.kind, got.coordinate, got.params) == ("linear", HINGE, (5.0, 0.1, 0.3, 1.0))


def test_tabulated_spring_on_a_distance_or_a_joint():
    assert law(bc.TabulatedSpring(TABLE, damping=2.0), AT_A, AT_B).coordinate.kind == "distance"
    got = law(bc.TabulatedSpring(TABLE, damping=2.0), HINGE)
    assert (got.kind, got.coordinate, got.params, got.function) == ("table", HINGE, (2.0,), TABLE)


def test_bushing_leaves_out_what_does_nothing():
    kind = bc.Bushing(
        stiffness=(1, 2, 3),
        rotational_stiffness=(4, 0, 6),
        damping=(0.1, 0, 0),
        rotational_damping=(0, 0, 0.6),
    )
    laws = kind.lowered((AT_A, AT_B)).laws
    assert {one.coordinate.kind: one.params for one in laws} == {
        "x": (1, 0.1, 0, 0),
        "y": (2, 0, 0, 0),
        "z": (3, 0, 0, 0),
        "rot_x": (4, 0, 0, 0),
        "rot_z": (6, 0.6, 0, 0),
    }


def test_joint_motor():
    got = law(bc.JointMotor(TORQUE, droop=0.2), HINGE)
    assert (got.kind, got.params, got.function) == ("motor", (0.2,), TORQUE)
    assert law(bc.JointMotor(3.0), HINGE).function == bc.Constant(3.0)


def test_geared_motor_reflects_torque_droop_and_inertia():
    lowered = bc.GearedMotor(ratio=-50.0, rotor_inertia=2e-5, torque=TORQUE, droop=1e-3).lowered((HINGE,))
    (motor,) = lowered.laws
    assert motor.params == pytest.approx((2500 * 1e-3,))
    assert motor.function(0.4) == pytest.approx(-50.0 * TORQUE(0.4))
    (block,) = lowered.blocks
    assert (block.role, block.unilateral) == ("inertance", False)
    assert block.compliance == pytest.approx(1 / (2500 * 2e-5))
    assert block.rows[0].terms[0].coordinate == HINGE


def test_geared_motor_without_parts():
    assert bc.GearedMotor(ratio=10.0, torque=1.0).lowered((HINGE,)).blocks == ()
    assert bc.GearedMotor(ratio=10.0, rotor_inertia=1e-5).lowered((HINGE,)).laws == ()


def test_friction_and_brake():
    got = law(
        bc.JointFriction(
            viscous=0.1, coulomb=2.0, stiction=3.0, stribeck_velocity=0.05, regularisation_velocity=1e-3
        ),
        HINGE,
    )
    assert (got.kind, got.params) == ("friction", (0.1, 2.0, 3.0, 0.05, 1e-3))
    assert law(bc.JointFriction(coulomb=2.0, regularisation_velocity=1e-3), HINGE).params[2] == 2.0
    got = law(bc.Brake(bc.Ramp(0.0, 5.0), regularisation_velocity=0.01), HINGE)
    assert (got.kind, got.params, got.function) == ("brake", (0.01,), bc.Ramp(0.0, 5.0))


def test_what_acts_on_one_side():
    got = law(bc.RubberString(20.0, 4.0, 0.1, 0.5), AT_A, AT_B)
    assert (got.kind, got.params) == ("rubber", (20.0, 4.0, 0.1, 0.5))
    assert got.coordinate == bc.Coordinate("distance", AT_A, AT_B)
    got = law(bc.OneSidedSpring(5.0, 0.1, "above", damping=2.0, depth=0.01), HINGE)
    assert (got.kind, got.coordinate, got.params) == (
        "one_sided",
        HINGE,
        (5.0, 2.0, 0.1, -1.0, 0.01, 1.0, 0.0, 0.01),
    )
    got = law(bc.SupportPoint(5.0, 1.0, height=0.2), AT_A)
    assert got.params == (5.0, 1.0, 0.2, 1.0, 1e-3, 1.0, 0.0, 1.0)
    assert got.coordinate == bc.Coordinate("z", bc.Marker("ground"), AT_A)


def test_damping_of_a_body_is_a_force_by_formulas():
    assert bc.BodyDamping(2.0).damping == (2.0, 2.0, 2.0)
    both = bc.BodyDamping(2.0, (0.1, 0.2, 0.3)).lowered((AT_A,)).custom
    assert (both.force is not None, both.moment is not None) == (True, True)
    assert bc.BodyDamping(rotational_damping=1.0).lowered((AT_A,)).custom.force is None


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (lambda: bc.RubberString(-1.0, 1.0), "stiffness must not be negative"),
        (lambda: bc.RubberString(1.0, 1.0, 1.5), "restitution"),
        (lambda: bc.RubberString(1.0, -1.0, closing_speed=0.0), "closing_speed must be greater than zero"),
        (lambda: bc.OneSidedSpring(1.0, 0.0, "left"), "side"),
        (lambda: bc.SupportPoint(1.0, -1.0), "damping must not be negative"),
        (lambda: bc.BodyDamping((1.0, -1.0, 0.0)), "damping must not be negative"),
    ],
)
def test_wrong_values_are_refused(make, rule):
    with pytest.raises(bc.MechanismError, match=rule):
        make()


def test_wrench_is_moment_over_force():
    (wrench,) = bc.Wrench(force=(1, 2, TORQUE), moment=(4, 5, 6), axes="marker").lowered((AT_A,)).wrenches
    assert (wrench.marker, wrench.local) == (AT_A, True)
    assert wrench.components == (4.0, 5.0, 6.0, 1.0, 2.0, TORQUE)
    assert not bc.Wrench(force=(1, 2, 3)).lowered((AT_A,)).wrenches[0].local


LAWFUL = [
    (bc.SpringDamper(1.0), (AT_A, AT_B)),
    (bc.TorsionSpring(1.0), (HINGE,)),
    (bc.TabulatedSpring(TABLE), (HINGE,)),
    (bc.Bushing(stiffness=(1, 1, 1)), (AT_A, AT_B)),
    (bc.BeamSegment(0.5, (1.0,) * 6), (AT_A, AT_B)),
    (bc.JointMotor(TORQUE), (HINGE,)),
    (bc.GearedMotor(2.0, 0.1, TORQUE), (HINGE,)),
    (bc.JointFriction(coulomb=1.0, regularisation_velocity=1e-3), (HINGE,)),
    (bc.Brake(1.0, regularisation_velocity=1e-3), (HINGE,)),
    (bc.JointFriction(coulomb=1.0), (HINGE,)),
    (bc.Brake(1.0), (HINGE,)),
    (bc.Clutch(1.0), (HINGE,)),
    (bc.TorqueLimiter(1.0), (HINGE,)),
    (bc.Freewheel(), (HINGE,)),
    (bc.RubberString(20.0, 4.0, 0.1), (AT_A, AT_B)),
    (bc.OneSidedSpring(5.0, 0.1), (HINGE,)),
    (bc.OneSidedSpring(5.0, 0.1, curve=bc.Table((0, 1), (0, 4)), loss_factor=0.1), (HINGE,)),
    (bc.BearingClearance(1e-3, 1e7, 1.5, "thrust"), (AT_A, AT_B)),
    (bc.SupportPoint(5.0), (AT_A,)),
    (bc.GasSpring(force=5.0, length=2.0, stroke=1.0, cushion=0.1), (AT_A, AT_B)),
    (bc.HydraulicCylinder(bore=0.2, rod=0.1, length=2.0, stroke=1.0), (AT_A, AT_B)),
    (
        bc.PneumaticCylinder(bore=0.2, rod=0.1, length=2.0, stroke=1.0, sealed="rod", sealed_at=1.5),
        (AT_A, AT_B),
    ),
    (bc.DCMotor(12.0, 2.0, 0.1, current_limit=3.0), (HINGE,)),
    (bc.Servo(TORQUE, 5.0, 1.0), (HINGE,)),
    (bc.StepperMotor(TORQUE, 0.5), (HINGE,)),
]


@pytest.mark.parametrize(("kind", "ends"), LAWFUL, ids=lambda c: getattr(c, "name", None))
def test_the_core_takes_the_laws(kind, ends):
    laws = kind.lowered(ends).laws
    assert laws
    for one in laws:
        flat = None if one.function is None else one.function.flat()
        function = None if flat is None else core.Function(flat.kind, flat.params, flat.expression)
        core.check_law(one.kind, [0.3 if value is None else value for value in one.params], function)


def test_every_kind_is_tested():
    assert {type(kind).__name__ for kind, _ in LAWFUL} | {
        "Wrench",
        "BodyDamping",
        "Contact",
        "Seat",
        "Tyre",
        "ElasticRope",
        "ElasticBelt",
        "ElasticGear",
        "FlatBelt",
        "TimingBelt",
    } == set(FORCE_KINDS)
    kinds = {law.kind for kind, ends in LAWFUL for law in kind.lowered(ends).laws}
    assert kinds == {name for name in core.law_kinds() if not name.startswith("rig_")}


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


GROUND_MARKER = bc.Marker(GROUND)
A, B = bc.Marker("a"), bc.Marker("b")


def about_z(angle):
    return (cos(angle / 2), 0.0, 0.0, sin(angle / 2))


@pytest.fixture
def changes(configuration):
    """Differences of a row's value from that at the first of some poses, without jumps of whole turns."""

    def differences(kind, ends, poses):
        (row,) = kind.rows(ends)
        coordinates = [term.coordinate for term in row.terms]
        values = np.array([[configuration(p).coordinate(c) for c in coordinates] for p in poses])
        values = np.unwrap(values, axis=0) if coordinates[0].kind.startswith("azimuth") else values
        return (values - values[0]) @ [term.coefficient for term in row.terms]

    return differences


def wheels(ratio, carrier_ratio=0.0):
    """Two wheels 0.5 apart: wheel a turns, b by ratio times that against the carrier, which turns too."""
    poses = []
    for angle in np.linspace(0.0, 2.5, 40):
        carried = carrier_ratio * angle
        centre = (0.5 * cos(carried), 0.5 * sin(carried), 0.0)
        poses.append(
            {"a": ((0, 0, 0), about_z(angle + carried)), "b": (centre, about_z(ratio * angle + carried))}
        )
    return poses


PAIRS = [
    (bc.Gear(radii=(0.2, 0.3)), -2 / 3),
    (bc.Gear(teeth=(20, 30)), -2 / 3),
    (bc.Gear(ratio=1.5), -2 / 3),
    (bc.InternalGear(radii=(0.2, 0.7)), 2 / 7),
    (bc.Belt(radii=(0.2, 0.1)), 2.0),
    (bc.Belt(radii=(0.2, 0.1), crossed=True), -2.0),
]


@pytest.mark.parametrize(("kind", "ratio"), PAIRS, ids=lambda p: getattr(p, "name", None))
@pytest.mark.parametrize("carrier", [0.0, -0.8])
def test_wheels_with_or_without_a_moving_carrier(kind, ratio, carrier, changes):
    np.testing.assert_allclose(changes(kind, (A, B), wheels(ratio, carrier)), 0.0, atol=1e-13)
    wrong = changes(kind, (A, B), wheels(-ratio, carrier))
    assert np.abs(wrong).max() > 0.1


@pytest.mark.parametrize(("kind", "ratio"), PAIRS, ids=lambda p: getattr(p, "name", None))
def test_wheels_between_joint_coordinates(kind, ratio, changes):
    ends = tuple(Coordinate("theta_z", GROUND_MARKER, marker) for marker in (A, B))
    np.testing.assert_allclose(changes(kind, ends, wheels(ratio)), 0.0, atol=1e-13)


def test_a_tooth_force_acts_at_the_pitch_point(configuration):
    """The row's gradient is that of a tangential force of one newton where the pitch circles touch."""
    (row,) = bc.Gear(radii=(0.2, 0.3)).rows((A, B))
    apart = configuration({"a": ((0, 0, 0), about_z(0.0)), "b": ((0.5, 0, 0), about_z(0.4))})
    on_a, on_b = apart.gradient(row, "a"), apart.gradient(row, "b")
    force = on_b[1]
    assert abs(force) == pytest.approx(1.0)
    np.testing.assert_allclose(on_b, [0, force, 0, 0, 0, -0.3 * force], atol=1e-8)
    np.testing.assert_allclose(on_a, [0, -force, 0, 0, 0, -0.2 * force], atol=1e-8)


def test_bevel_gears_roll_on_each_other(changes):
    """Axes at 70 degrees, away from the apex: the relative angular velocity lies along the common line."""
    lean = np.radians(70.0)
    tilt = (cos(lean / 2), 0.0, sin(lean / 2), 0.0)
    first, second = 20, 35

    def poses(ratio):
        angles = np.linspace(0.0, 2.0, 20)
        return [
            {"a": ((0, 0, 0), about_z(t)), "b": ((0, 0, 0), multiply(tilt, about_z(ratio * t)))}
            for t in angles
        ]

    # The pitch cones touch along a line between the axes, to which omega_1 z_1 - omega_2 z_2 is parallel when
    # its distances from the axes are as r1 : r2 = n1 : n2: omega_1 n1 = -omega_2 n2.
    z1, z2 = np.array([0, 0, 1.0]), np.array([sin(lean), 0, cos(lean)])
    rolling = z1 + (first / second) * z2
    share = np.linalg.norm(np.cross(rolling, z1)) / np.linalg.norm(np.cross(rolling, z2))
    assert share == pytest.approx(first / second)
    assert np.abs(changes(bc.BevelGear(teeth=(first, second)), (A, B), poses(-first / second))).max() < 1e-13
    assert np.abs(changes(bc.BevelGear(teeth=(first, second)), (A, B), poses(first / second))).max() > 0.1


def test_rack_and_pinion_roll_without_slip(changes):
    """The teeth are on the pinion's +y side: there the pinion's rim must not move against the rack."""
    radius = 0.25
    travel, turn = 1.0, 1.0 / radius
    rim_velocity = np.array([travel, 0, 0]) + np.cross([0, 0, turn], [0, radius, 0])
    np.testing.assert_allclose(rim_velocity, 0.0, atol=1e-15)
    poses = [
        {"a": ((0, 0, 0), about_z(0)), "b": ((t * travel, -radius, 0), about_z(t * turn))}
        for t in (0, 0.3, 0.6)
    ]
    np.testing.assert_allclose(changes(bc.RackPinion(radius), (A, B), poses), 0.0, atol=1e-14)
    ends = (Coordinate("x", A, B), Coordinate("theta_z", A, B))
    np.testing.assert_allclose(changes(bc.RackPinion(radius), ends, poses), 0.0, atol=1e-14)


def turning(angles):
    """Bodies a, b, c turned about the ground's z axis by these rows of angles."""
    return [{name: ((0, 0, 0), about_z(t)) for name, t in zip("abc", row, strict=False)} for row in angles]


JOINTS = tuple(Coordinate("theta_z", GROUND_MARKER, bc.Marker(name)) for name in "abc")


def test_differential_and_planetary_gear(changes):
    np.testing.assert_allclose(
        changes(bc.Differential(), JOINTS, turning([(0, 0, 0), (1, 2, 1.5), (1, -1, 0)])), 0, atol=1e-14
    )
    # Willis: with the carrier held, ring/sun = -n_sun/n_ring; a common turn of all three changes nothing.
    planetary = bc.PlanetaryGear(sun_teeth=24, ring_teeth=72)
    poses = turning([(0, 0, 0), (0.9, -0.3, 0.0), (0.5, 0.5, 0.5), (1.2, 0.0, 0.3)])
    np.testing.assert_allclose(changes(planetary, JOINTS, poses), 0.0, atol=1e-14)


def test_coupling():
    row = bc.Coupling((2.0, -1.0, 0.5), constant=0.25).rows(JOINTS)[0]
    assert [term.coefficient for term in row.terms] == [2.0, -1.0, 0.5]
    assert (row.constant, bc.Coupling((1.0,)).rows(JOINTS[:1])[0].constant) == (0.25, None)


def test_screw_coupling(changes):
    ends = (Coordinate("z", GROUND_MARKER, A), JOINTS[1])
    poses = [
        {"a": ((0, 0, 0.01 * t / (2 * pi)), about_z(0)), "b": ((0, 0, 0), about_z(t))}
        for t in (0.0, 1.0, 3.0)
    ]
    np.testing.assert_allclose(changes(bc.ScrewCoupling(0.01), ends, poses), 0.0, atol=1e-15)


POSES = {"a": ((0, 0, 0), about_z(0)), "b": ((3.0, 3.0, 0.0), about_z(0)), "c": ((3.5, 0.0, 0.0), about_z(0))}


class TestCable:
    eyelets = (bc.Marker("b", (0.0, 1.0, 0.0)), bc.Marker("b", (0.5, 1.0, 0.0)))

    def test_the_row_is_the_length_left(self, configuration):
        kind = bc.Cable(length=12.0)
        (row,) = kind.rows((A, *self.eyelets, bc.Marker("c")))
        assert len(row.terms) == 2  # the piece between the eyelets of one body does not change
        assert configuration(POSES).row(row) == pytest.approx(12.0 - (5.0 + 0.5 + 4.0))

    def test_slack(self):
        kind = bc.Cable(length=12.0, slack=True)
        (block,) = kind.lowered((A, bc.Marker("c"))).blocks
        assert block.unilateral
        assert block.role == "constraint"
        assert not bc.Cable().unilateral

    def test_from_start(self):
        (row,) = bc.Cable().rows((A, bc.Marker("c")))
        assert row.constant is None

    def test_a_winch_pays_out_what_its_drum_turns(self, changes):
        ends = (JOINTS[0], bc.Marker("b"), bc.Marker("c"))
        poses = [
            {
                "a": ((0, 0, 0), about_z(t)),
                "b": ((0, 0, 0), about_z(0)),
                "c": ((0, 2.0 + 0.1 * t, 0), about_z(0)),
            }
            for t in (0.0, 0.7, 2.0)
        ]
        np.testing.assert_allclose(changes(bc.Winch(0.1), ends, poses), 0.0, atol=1e-14)


def test_all_start_where_they_are_unless_told():
    for name, kind in CONSTRAINT_KINDS.items():
        if name in ("CamFollower", "FlexibleInterface"):  # they say where their second end is
            continue
        parameters = {
            "Coupling": {"coefficients": (1, 1, 1)},
            "PlanetaryGear": {"sun_teeth": 9, "ring_teeth": 27},
            "WormGear": {"teeth": (1, 20), "lead_angle": 0.1},
        }
        needs = {
            "RackPinion": {"radius": 1},
            "ScrewCoupling": {"pitch": 1},
            "Winch": {"radius": 1},
            "Cable": {},
            "Rope": {"radii": (0.1, 0.0)},
            "BeltLoop": {"radii": (0.1, 0.2), "smooth": (1,)},
        }
        given = parameters | needs | {"Differential": {}}
        made = kind(**given.get(name, {"ratio": 2.0}))
        ends = (
            (JOINTS[0], A, B)
            if name == "Winch"
            else JOINTS
            if "JJJ" in made.pattern or name == "Coupling"
            else (A, B)
        )
        ends = JOINTS[:2] if made.pattern == "JJ" else ends
        (row,) = made.rows(ends)
        assert row.constant is None
