"""Declared fields: all are declared, take parameters, and are followed by models unless they say so."""

from dataclasses import fields, replace

import pytest
from rigs import examples

import bellcrank as bc
from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.parametric_numbers import parametric_numbers
from bellcrank.io.fields import REGISTRIES
from bellcrank.mechanism.fields import declarations

KINDS = [cls for registry in REGISTRIES.values() for cls in registry.values()]


@pytest.mark.parametrize("kind", [*KINDS, bc.Body, bc.Marker, bc.Limit, bc.Curve, bc.NurbsCurve, bc.Path])
def test_every_field_is_declared_but_names(kind):
    left = {field.name for field in fields(kind)} - set(declarations(kind))
    assert left <= {"name", "body"}


def chain(value=1.0):
    mech = bc.Mechanism("chain")
    p, r = mech.add_parameter("p", value), mech.add_parameter("r", 2.0)
    a = mech.add_body("a", mass=1.0, inertia=(1, 1, 1), position=(0.1, 0.2, 0.3))
    b = mech.add_body("b", mass=1.0, inertia=(1, 1, 1), position=(0.9, 0.5, 0.1))
    mech.add_joint("1", bc.Revolute(), mech.ground.marker((0, 0, 1)), a)
    mech.add_force("spring", bc.SpringDamper(r), a, b)
    return mech, a, b, p


def followed(mech):
    """The parameters on which numbers are followed, and those on which some are not."""
    found = parametric_numbers(compile_mechanism(mech))
    names = {str(symbol) for symbol in ("p", "r") if any(symbol in str(e) for _, _, e in found.entries)}
    return names, found.fixed


@pytest.mark.parametrize(
    ("add", "names", "fixed"),
    [
        (lambda m, a, b, p: m.add_joint("x", bc.AxisAngle(0.5 * p), a, b), {"p", "r"}, set()),
        (lambda m, a, b, p: m.add_drive("x", "1", velocity=bc.Ramp(p, 2 * p, 0.0, p)), {"p", "r"}, set()),
        (lambda m, a, b, p: m.add_drive("x", "1", position=bc.CubicSpline((0, p), (p, 2))), {"r"}, {"p"}),
        (lambda m, a, b, p: m.add_joint("x", bc.PointOnCurve(((0, 0, 0), (p, 0, 0))), a, b), {"r"}, {"p"}),
        (
            lambda m, a, b, p: m.add_drive(
                "x", marker=a, path=bc.Path(bc.Curve(examples.CURVE), bc.Polynomial((0.0, p)))
            ),
            {"r"},
            {"p"},
        ),
    ],
)
def test_what_is_not_followed_leaves_other_parameters_alone(add, names, fixed):
    mech, a, b, p = chain()
    add(mech, a, b, p)
    assert followed(mech) == (names, frozenset(fixed))


def test_what_follows_from_other_fields_stays_open_beside_expressions():
    mech, _, _, p = chain()
    assert bc.JointFriction(coulomb=0.4).stiction == 0.4
    friction = bc.JointFriction(coulomb=p)
    assert friction.stiction is None
    mech.add_force("f", friction, "1")
    other = compile_mechanism(mech.with_parameters(p=3.0))
    assert list(other.arrays["law_params"][-5:]) == [0.0, 3.0, 3.0, 0.01, 1e-3]


def test_all_fields_that_hold_no_parameters_are_named_with_the_element():
    mech, _, _, p = chain()
    stranger = bc.symbol("stranger")
    with pytest.raises(bc.MechanismError) as caught:
        bc.RubberString(stranger, p * stranger, restitution=2.0)
    rules = [(fault.element, fault.rule) for fault in caught.value.faults]
    assert rules == [
        ("RubberString", "stiffness: it depends on 'stranger'"),
        ("RubberString", "rest_length: it depends on 'stranger'"),
        ("RubberString", "restitution must lie between 0 and 1"),
    ]
    assert mech.parameters


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 10**400])
def test_numbers_in_formulas_are_judged_too(number):
    u = bc.symbol("u")
    with pytest.raises(bc.MechanismError, match=r"curve y must (be finite|lie between)"):
        bc.PathJoint(u, (u, number, 0.0))


def test_a_number_is_judged_where_an_expression_stands_and_the_expression_is_kept():
    _, _, _, p = chain(-1.0)
    with pytest.raises(bc.MechanismError, match=r"closing_speed must be greater than zero, got -1\.0"):
        bc.RubberString(1.0, 1.0, closing_speed=p)
    kept = bc.RubberString(1.0, 1.0, closing_speed=-2 * p)
    assert str(kept.closing_speed) == "-2*p"
    assert replace(kept, stiffness=3).closing_speed == kept.closing_speed
