"""Declared fields take parameters and are followed; quick checks say what the full checks say."""

from dataclasses import fields, replace

import numpy as np
import pytest
from rigs import examples

import bellcrank as bc
from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.parametric_numbers import parametric_numbers
from bellcrank.errors import MechanismError
from bellcrank.io.fields import REGISTRIES
from bellcrank.mechanism import checking, mass
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.fields import declarations
from bellcrank.mechanism.joint import Joint

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
    return names, set(found.fixed)


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
    assert followed(mech) == (names, fixed)


def test_what_follows_from_other_fields_stays_open_beside_expressions():
    mech, _, _, p = chain()
    assert bc.JointFriction(coulomb=0.4).stiction == 0.4
    friction = bc.JointFriction(coulomb=p)
    assert friction.stiction is None
    mech.add_force("f", friction, "1")
    other = compile_mechanism(mech.with_parameters(p=3.0))
    assert list(other.arrays["law_params"][-8:-4]) == [0.0, 3.0, 3.0, 3.0]


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


VECTORS = [
    (1.0, 2.0, 3.0), [1.0, 2.0, 3.0], (1, 2, 3), (1, 2.5, -3),
    np.array([1.0, -2.0, 3.0]), np.array([1, 2, 3]),
    tuple(np.array([0.5, 1.5, 2.5])), (1.0, 2.0), (1.0, 2.0, np.nan), (1e15, 0.0, 0.0), (1.1e15, 0.0, 0.0),
    (True, False, True), ("1", "2", "3"), None, 5.0, [[1.0, 2.0, 3.0]], np.eye(3),
    np.array([1.0, 2.0, 3.0], dtype=object), np.float32([1.0, 2.0, 3.0]),
]  # fmt: skip


@pytest.mark.parametrize("value", VECTORS, ids=repr)
def test_vectors(value):
    """As the check of any array stores them, as a tuple of floats; never what that refuses."""
    found = checking.plain_vector(value, 1e15)
    if found is None:
        return
    with Check("x") as check:
        assert found == tuple(check.array("field", value, (3,), "m").tolist())
    assert type(found) is tuple
    assert {type(number) for number in found} == {float}


def test_common_vectors_are_told_quickly():
    assert all(checking.plain_vector(value, 1e15) is not None for value in VECTORS[:7])
    assert all(checking.plain_vector(value, 1e15) is None for value in VECTORS[10:-1])


def test_quaternions():
    turn = (np.cos(0.3), 0.0, np.sin(0.3), 0.0)
    for value in (turn, list(turn), np.array(turn), (1, 0, 0, 0), (1.0, 0, 0, 0)):
        found = checking.plain_quaternion(value)
        assert found == tuple(value)
        assert {type(number) for number in found} == {float}
    for value in ((1.0, 1e-7, 0.0, 0.0), (0.0,) * 4, (np.nan, 0.0, 0.0, 0.0), np.eye(3), "1000", (1.0,) * 3):
        assert checking.plain_quaternion(value) is None or value[1] == 1e-7


def judged(value):
    """What the full check stores; None if it refuses."""
    try:
        with Check("body 'x'") as check:
            given = np.asarray(value, dtype=float)
            full = np.diag(given) if given.ndim == 1 else given
            mass._check_symmetric(check, full)
            mass._check_moments(check, full, triangle=True)
    except MechanismError:
        return None
    return full


def test_inertias():
    """Whatever is told quickly is right by the full check; what is far from every bound is told quickly."""
    rng = np.random.default_rng(1)
    quick = 0
    for case in range(400):
        second = 10.0 ** rng.uniform(-9, 0, 3) if case % 2 else rng.uniform(0.2, 1.0, 3)
        second[0] *= -1.0 if case % 5 == 0 else 1.0
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        moments = turn @ np.diag(second) @ turn.T
        tensor = np.trace(moments) * np.eye(3) - 0.5 * (moments + moments.T)
        for value in (tensor, np.diag(tensor) if case % 2 else second.sum() - second):
            found = mass.plain_inertia(value)
            quick += found is not None
            if found is not None:
                expected = judged(value)
                assert expected is not None
                np.testing.assert_array_equal(found, expected)
        if case % 2 and case % 5:
            continue
        assert (mass.plain_inertia(tensor) is not None) == (case % 5 != 0)
    assert quick > 300


@pytest.mark.parametrize("name", ["link 5", "a_b", "crank", "ä-1", "A 17 phi"])
def test_plain_names(name):
    assert checking.plain_name(name)
    assert bc.Mechanism("x").add_body(name, 1.0, (1.0, 1.0, 1.0)).name == name


@pytest.mark.parametrize("name", ["", " a", "a ", "a/b", "a.b", "a\n", "a\tb", "/a", "-"])
def test_other_names(name):
    assert not checking.plain_name(name)


@pytest.mark.parametrize("make", bc.gallery.catalogue().values(), ids=bc.gallery.catalogue())
def test_rows_of_locks_are_those_of_the_lowered_joint(make, monkeypatch):
    """The same arrays and the same records, bit for bit."""
    quick = compile_mechanism(make())
    monkeypatch.setattr(Joint, "only_locks", lambda _: False)
    full = compile_mechanism(make())
    assert quick.joints == full.joints
    assert quick.block_owner == full.block_owner
    for name, array in full.arrays.items():
        if isinstance(array, (np.ndarray, list)):
            np.testing.assert_array_equal(quick.arrays[name], array, err_msg=name)
