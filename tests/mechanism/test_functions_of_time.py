"""Functions of time written as expressions: values, derivatives, smoothness, and what they drive."""

import weakref

import numpy as np
import pytest

import bellcrank as bc
import bellcrank.expression as ex
from bellcrank import _core
from bellcrank.expression.integral import antiderivative
from bellcrank.mechanism.functions.function_of_time import FunctionOfTime

T = np.linspace(-1.3, 2.7, 23)


@pytest.mark.parametrize(
    ("text", "value", "first", "second", "third"),
    [
        ("3*sin(2*t)", lambda t: 3 * np.sin(2 * t), lambda t: 6 * np.cos(2 * t),
         lambda t: -12 * np.sin(2 * t), lambda t: -24 * np.cos(2 * t)),
        ("t^3 - 2*t", lambda t: t**3 - 2 * t, lambda t: 3 * t**2 - 2, lambda t: 6 * t, lambda t: 6 + 0 * t),
        ("exp(-t/2)", lambda t: np.exp(-t / 2), lambda t: -np.exp(-t / 2) / 2, lambda t: np.exp(-t / 2) / 4,
         lambda t: -np.exp(-t / 2) / 8),
        ("if(t < 1, t^2, 2*t - 1)", lambda t: np.where(t < 1, t**2, 2 * t - 1),
         lambda t: np.where(t < 1, 2 * t, 2.0), lambda t: np.where(t < 1, 2.0, 0.0), lambda t: 0 * t),
        ("4", lambda t: 4 + 0 * t, lambda t: 0 * t, lambda t: 0 * t, lambda t: 0 * t),
    ],
)  # fmt: skip
def test_derivatives(text, value, first, second, third):
    function = FunctionOfTime(text)
    for order, wanted in enumerate((value, first, second, third)):
        np.testing.assert_allclose(function.derivative(T, order), wanted(T), rtol=1e-14, atol=1e-14)
    flat = function.flat()
    core = _core.Function(flat.kind, flat.params, flat.expression)(T)
    np.testing.assert_array_equal(
        core, np.stack([function.derivative(T, order) for order in range(3)], axis=1)
    )
    assert function(0.3).shape == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sin(t)", 99), ("abs(t - 1)", 0), ("if(t < 1, t^2, 2*t - 1)", 1), ("max(0, t)^3", 2),
        ("floor(t)", -1),
        ("if(t < 1, 0, 1)", -1), ("min(1, max(0, t))", 0), ("if(t < 1, 0, (t - 1)^3)", 2),
        ("abs(sin(t))", 0),
        ("abs(sin(t))^3", 2), ("sign(t)*t^2", 1), ("if(t < 1, 0, if(t < 2, (t - 1)^3, 3*(t - 2) + 1))", 1),
        ("if(t*t < 4, 0, 1)", -1), ("max(1, 2)*t", 99), ("abs(exp(t))", 99),
    ],
)  # fmt: skip
def test_smoothness(text, expected):
    assert FunctionOfTime(text).smoothness == expected


@pytest.mark.parametrize(
    "text", ["2", "t", "3*t^2 - t + 1", "sin(2*t + 1)", "-2*cos(3*t) + 4*exp(-t)", "pi*(t + sin(t))/2"]
)
def test_antiderivatives(text):
    function = FunctionOfTime(text)
    np.testing.assert_allclose(function.integral().derivative(T, 1), function(T), rtol=1e-13, atol=1e-13)


def test_no_antiderivative():
    with pytest.raises(bc.Unsupported, match="give the position instead"):
        antiderivative(ex.exp(ex.t * ex.t))
    mech = arm()
    with pytest.raises(bc.MechanismError, match="the velocity must have an antiderivative"):
        mech.add_drive("motor", joint="pivot", velocity="t*sin(t)")


def arm():
    mech = bc.Mechanism()
    body = mech.add_body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1))
    mech.add_joint("pivot", bc.Revolute(), mech.ground, body)
    return mech


def test_a_drive_by_text_is_the_same_as_one_by_a_function():
    runs = []
    for position in (
        "0.3*sin(5*t + 0.2) + 0.1 + 0.2*t",
        bc.Harmonic(0.3, 5.0, phase=0.2, offset=0.1, slope=0.2),
    ):
        mech = arm()
        mech.add_drive("motor", joint="pivot", position=position)
        runs.append(bc.simulate(mech, duration=1.0, accelerations=True))
    one, two = runs
    np.testing.assert_allclose(one.joint("pivot").position, two.joint("pivot").position, atol=1e-13)
    np.testing.assert_allclose(one.drive("motor").effort, two.drive("motor").effort, atol=1e-10)


def test_a_velocity_by_expression():
    mech = arm()
    rate = mech.add_parameter("rate", 2.0)
    mech.add_drive("motor", joint="pivot", velocity=rate * ex.cos(3 * ex.t))
    run = bc.simulate(mech.with_parameters(rate=1.5), duration=1.0)
    np.testing.assert_allclose(run.joint("pivot").position[:, 0], 0.5 * np.sin(3 * run.time), atol=1e-12)


def test_forces_by_expression():
    mech = arm()
    strength = mech.add_parameter("strength", 0.0)
    mech.add_force("motor", bc.JointMotor(strength * ex.cos(2 * ex.t)), joint="pivot")
    mech.add_force("push", bc.Wrench(moment=(0, 0, "0.1*cos(2*t)")), mech.bodies["arm"])
    run = bc.simulate(mech.with_parameters(strength=0.3), duration=1.0)
    np.testing.assert_allclose(run.joint("pivot").position[:, 0], 1 - np.cos(2 * run.time), atol=1e-10)


def test_a_path_by_texts():
    mech = bc.Mechanism()
    body = mech.add_body("tool", mass=1.0, inertia=(1, 1, 1), position=(1, 0, 0))
    mech.add_drive("lead", marker=body, path=bc.Path(("cos(t)", "sin(t)", "t^2/10")))
    run = bc.simulate(mech, duration=1.0)
    wanted = np.stack([np.cos(run.time), np.sin(run.time), run.time**2 / 10], axis=1)
    np.testing.assert_allclose(run.body("tool").position, wanted, atol=1e-12)


def test_a_function_keeps_its_expression_and_no_longer():
    expression = _core.ExpressedFunction([ex.t, ex.Expression(1.0), ex.Expression(0.0)], [ex.t])
    kept = weakref.ref(expression)
    function = _core.Function("expression", [], expression)
    del expression
    np.testing.assert_array_equal(function(np.array([0.5])), [[0.5, 1.0, 0.0]])
    assert kept() is not None
    del function
    assert kept() is None


def test_expressions_that_are_no_functions():
    with pytest.raises(ValueError, match="'expression' needs more than numbers"):
        _core.Function("expression", [0.0])
    with pytest.raises(ValueError, match="a value and two derivatives expected"):
        _core.ExpressedFunction([ex.t], [ex.t])
    with pytest.raises(ValueError, match="a variable is needed"):
        _core.ExpressedFunction([ex.Expression(1.0)] * 3, [])
    with pytest.raises(ValueError, match="0 parameters wanted, 1 given"):
        _core.Function("expression", [1.0], _core.ExpressedFunction([ex.t] * 3, [ex.t]))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: FunctionOfTime("2*x"), "the name 'x' is not known; known are t, pi, e"),
        (lambda: FunctionOfTime(2 * ex.symbol("x")), "it depends on 'x'"),
        (lambda: bc.JointMotor(ex.symbol("x")), "it depends on 'x'"),
        (
            lambda: arm().add_drive("m", joint="pivot", position="abs(t - 1)"),
            "must have a continuous first derivative",
        ),
    ],
)
def test_messages(make, said):
    with pytest.raises(bc.MechanismError, match=said):
        make()
