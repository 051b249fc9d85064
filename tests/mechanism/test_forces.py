"""What forces become: laws along coordinates, inertances, wrenches."""

import pytest

import bellcrank as bc
from bellcrank import _core as core
from bellcrank.mechanism import FORCE_KINDS, LAW_KINDS

A, B = bc.Marker("a", (1, 0, 0)), bc.Marker("b")
HINGE = bc.Coordinate("theta_z", A, B)
TABLE = bc.Table((0, 1, 2), (3.0, 0.0, -5.0))
TORQUE = bc.Harmonic(2.0, 3.0)


def law(kind, *ends):
    (only,) = kind.lowered(ends).laws
    return only


def test_spring_damper():
    got = law(bc.SpringDamper(stiffness=100.0, damping=1.0, rest_length=0.5, preload=3.0), A, B)
    assert (got.kind, got.params, got.function) == ("linear", (100.0, 1.0, 0.5, 3.0), None)
    assert got.coordinate == bc.Coordinate("distance", A, B)
    assert law(bc.SpringDamper(stiffness=100.0), A, B).params == (100.0, 0.0, None, 0.0)


def test_torsion_spring():
    got = law(bc.TorsionSpring(5.0, 0.1, rest_angle=0.3, preload=1.0), HINGE)
    assert (got.kind, got.coordinate, got.params) == ("linear", HINGE, (5.0, 0.1, 0.3, 1.0))


def test_tabulated_spring_on_a_distance_or_a_joint():
    assert law(bc.TabulatedSpring(TABLE, damping=2.0), A, B).coordinate.kind == "distance"
    got = law(bc.TabulatedSpring(TABLE, damping=2.0), HINGE)
    assert (got.kind, got.coordinate, got.params, got.function) == ("table", HINGE, (2.0,), TABLE)


def test_bushing_leaves_out_what_does_nothing():
    kind = bc.Bushing(
        stiffness=(1, 2, 3),
        rotational_stiffness=(4, 0, 6),
        damping=(0.1, 0, 0),
        rotational_damping=(0, 0, 0.6),
    )
    laws = kind.lowered((A, B)).laws
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
    got = law(bc.JointFriction(viscous=0.1, coulomb=2.0, stiction=3.0, stribeck_velocity=0.05), HINGE)
    assert (got.kind, got.params) == ("friction", (0.1, 2.0, 3.0, 0.05, 1e-3))
    assert law(bc.JointFriction(coulomb=2.0), HINGE).params[2] == 2.0
    got = law(bc.Brake(bc.Ramp(0.0, 5.0), regularisation_velocity=0.01), HINGE)
    assert (got.kind, got.params, got.function) == ("brake", (0.01,), bc.Ramp(0.0, 5.0))


def test_what_acts_on_one_side():
    got = law(bc.RubberString(20.0, 4.0, 0.1, 0.5), A, B)
    assert (got.kind, got.params) == ("rubber", (20.0, 4.0, 0.1, 0.5))
    assert got.coordinate == bc.Coordinate("distance", A, B)
    got = law(bc.OneSidedSpring(5.0, 0.1, "above", damping=2.0, depth=0.01), HINGE)
    assert (got.kind, got.coordinate, got.params) == ("one_sided", HINGE, (5.0, 2.0, 0.1, -1.0, 0.01))
    got = law(bc.SupportPoint(5.0, 1.0, height=0.2), A)
    assert got.params == (5.0, 1.0, 0.2, 1.0, 1e-3)
    assert got.coordinate == bc.Coordinate("z", bc.Marker("ground"), A)


def test_damping_of_a_body_is_a_force_by_formulas():
    assert bc.BodyDamping(2.0).damping == (2.0, 2.0, 2.0)
    both = bc.BodyDamping(2.0, (0.1, 0.2, 0.3)).lowered((A,)).custom
    assert (both.force is not None, both.moment is not None) == (True, True)
    assert bc.BodyDamping(rotational_damping=1.0).lowered((A,)).custom.force is None


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
    (wrench,) = bc.Wrench(force=(1, 2, TORQUE), moment=(4, 5, 6), axes="marker").lowered((A,)).wrenches
    assert (wrench.marker, wrench.local) == (A, True)
    assert wrench.components == (4.0, 5.0, 6.0, 1.0, 2.0, TORQUE)
    assert not bc.Wrench(force=(1, 2, 3)).lowered((A,)).wrenches[0].local


LAWFUL = [
    (bc.SpringDamper(1.0), (A, B)),
    (bc.TorsionSpring(1.0), (HINGE,)),
    (bc.TabulatedSpring(TABLE), (HINGE,)),
    (bc.Bushing(stiffness=(1, 1, 1)), (A, B)),
    (bc.JointMotor(TORQUE), (HINGE,)),
    (bc.GearedMotor(2.0, 0.1, TORQUE), (HINGE,)),
    (bc.JointFriction(coulomb=1.0), (HINGE,)),
    (bc.Brake(1.0), (HINGE,)),
    (bc.RubberString(20.0, 4.0, 0.1), (A, B)),
    (bc.OneSidedSpring(5.0, 0.1), (HINGE,)),
    (bc.SupportPoint(5.0), (A,)),
]


@pytest.mark.parametrize(("kind", "ends"), LAWFUL, ids=lambda c: getattr(c, "name", None))
def test_the_core_takes_the_laws(kind, ends):
    laws = kind.lowered(ends).laws
    assert laws
    for one in laws:
        flat = None if one.function is None else one.function.flat()
        function = None if flat is None else core.Function(flat.kind, flat.params, flat.expression)
        assert len(one.params) == len(LAW_KINDS[one.kind])
        core.check_law(one.kind, [0.3 if value is None else value for value in one.params], function)


def test_every_kind_is_tested():
    assert {type(kind).__name__ for kind, _ in LAWFUL} | {
        "Wrench",
        "BodyDamping",
        "Contact",
        "Seat",
        "Tyre",
    } == set(FORCE_KINDS)
    assert set(LAW_KINDS) == {name for name in core.law_kinds() if not name.startswith("rig_")}
