"""Functions of one variable, by points and as expressions: values, derivatives, smoothness, the core."""

import weakref

import numpy as np
import pytest
from scipy.interpolate import BSpline, PchipInterpolator
from scipy.interpolate import CubicSpline as ScipySpline

import bellcrank as bc
import bellcrank.expression as ex
from bellcrank import _core
from bellcrank import _core as core
from bellcrank.expression.time_function import antiderivative
from bellcrank.mechanism.functions.function import FunctionOfTime

X = (-1.0, 0.2, 0.5, 1.7, 2.0, 3.1)
Y = (0.4, 1.3, -0.2, -0.9, 2.0, 0.4)

FUNCTIONS = {
    "constant": bc.Constant(1.3),
    "harmonic": bc.Harmonic(1.2, 3.0, phase=0.4, offset=0.7, slope=-0.3),
    "polynomial": bc.Polynomial((1.0, -2.0, 0.5, 0.25), start=-0.5),
    "line": bc.Polynomial((1.0, -2.0)),
    "ramp": bc.Ramp(-1.0, 2.0, start=0.3, duration=1.4),
    "polygon": bc.Table(X, Y, interpolation="linear"),
    "table": bc.Table(X, Y),
    "periodic table": bc.Table(X, Y, extrapolation="periodic"),
    "held table": bc.Table(X, Y, extrapolation="hold"),
    "natural": bc.CubicSpline(X, Y),
    "clamped": bc.CubicSpline(X, Y, ends="clamped", slopes=(0.3, -1.0)),
    "periodic": bc.CubicSpline(X, Y, ends="periodic"),
    "nurbs": bc.Nurbs((0.0, 1.0, 3.0, 2.0, 1.0, 1.0), weights=(1, 2, 0.5, 1, 3, 1)),
    "b-spline": bc.Nurbs(
        (0.0, 1.0, 3.0, 2.0, 1.0), degree=2, knots=(0, 0, 0, 0.5, 1.5, 3, 3, 3), extrapolation="linear"
    ),
    "piecewise": bc.Piecewise((0.0, 1.0, 2.0), ((0.0, 1.0, 0.0), (1.0, 1.0, -0.5)), "linear"),
    "rational": bc.Rational((0.0, 1.0), ((1.0, 0.0, -1.0),), ((1.0, 0.0, 1.0),)),
    "cam motion": bc.CamMotion(
        (0.3, 1.0, 2.0, 3.5, 4.0, 5.0, 0.3 + 2 * np.pi),
        (0.4, 1.3, 1.3, 0.6, 0.2, 1.0, 0.4),
        ("cycloidal", "harmonic", "modified sine", "3-4-5", "4-5-6-7", "cycloidal"),
    ),
}
CLAIMED = {
    "constant": 99,
    "harmonic": 99,
    "polynomial": 1,
    "line": 2,
    "ramp": 2,
    "polygon": 0,
    "table": 1,
    "periodic table": 1,
    "held table": 0,
    "natural": 2,
    "clamped": 1,  # the curvature jumps where the straight lines beyond the ends begin
    "periodic": 2,
    "nurbs": 0,  # held beyond its ends, where it has slopes
    "b-spline": 1,
    "piecewise": 1,
    "rational": 0,
    "cam motion": 2,
}


def breaks_of(function):
    pieces = getattr(function, "pieces", None) or getattr(function, "fraction", (None,))[0]
    return np.array([]) if pieces is None else pieces.breaks[np.abs(pieces.breaks) < 1e6]


def places(function, margin=2e-3):
    """Points inside and outside the range, none near a break."""
    x = np.random.default_rng(1).uniform(-4.0, 6.0, size=300)
    breaks = breaks_of(function)
    if getattr(function, "extrapolation", "") == "periodic":
        span = breaks[-1] - breaks[0]
        breaks = np.concatenate([breaks + k * span for k in range(-3, 4)])
    if len(breaks):
        x = x[np.min(np.abs(x[:, None] - breaks), axis=1) > margin]
    return x


@pytest.fixture(params=FUNCTIONS, ids=lambda name: name.replace(" ", "_"))
def named(request):
    return request.param, FUNCTIONS[request.param]


def test_every_class_is_tested():
    from bellcrank.mechanism import FUNCTIONS as CLASSES

    assert {type(function).__name__ for function in FUNCTIONS.values()} == set(CLASSES)


def test_derivatives_against_differences(named):
    _, function = named
    x, h = places(function), 1e-3
    for order in (1, 2):
        # Five-point central differences of the derivative one order below.
        f = [function.derivative(x + k * h, order - 1) for k in (-2, -1, 1, 2)]
        expected = (f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * h)
        scale = 1 + np.abs(expected).max()
        np.testing.assert_allclose(function.derivative(x, order), expected, rtol=1e-6, atol=2e-8 * scale)


def test_shapes_of_arguments(named):
    _, function = named
    assert np.shape(function(0.3)) == ()
    assert function.derivative(np.zeros((2, 3)), 2).shape == (2, 3)
    assert function(0.3) == function.derivative(0.3, 0)


def test_the_core_agrees(named):
    _, function = named
    flat = function.flat()
    x = np.concatenate([places(function), breaks_of(function)])
    got = core.Function(flat.kind, flat.params, flat.expression)(x)
    for order in range(3):
        # At the breaks themselves each side may be taken: values only where they agree anyway.
        keep = len(x) if order <= function.smoothness else len(places(function))
        np.testing.assert_allclose(
            got[:keep, order], function.derivative(x, order)[:keep], rtol=1e-11, atol=1e-11
        )


def test_claimed_smoothness(named):
    name, function = named
    assert function.smoothness == CLAIMED[name]
    breaks, step = breaks_of(function), 1e-9
    for order in range(min(function.smoothness, 2) + 1):
        jump = np.abs(function.derivative(breaks + step, order) - function.derivative(breaks - step, order))
        assert np.all(jump < 1e-6)
    if function.smoothness < 2:
        order = function.smoothness + 1
        jump = np.abs(function.derivative(breaks + step, order) - function.derivative(breaks - step, order))
        assert np.any(jump > 1e-3)


def test_scaled(named):
    _, function = named
    x = places(function)
    for order in range(3):
        expected = -2.5 * function.derivative(x, order)
        np.testing.assert_allclose(
            function.scaled(-2.5).derivative(x, order), expected, rtol=1e-12, atol=1e-12
        )


INTEGRABLE = [
    ("constant", FUNCTIONS["constant"]),
    ("harmonic", bc.Harmonic(1.2, 3.0, phase=0.4, offset=0.7)),
    ("standing harmonic", bc.Harmonic(1.2, 0.0, phase=0.4, offset=0.7)),
    ("ramp", FUNCTIONS["ramp"]),
    ("held table", FUNCTIONS["held table"]),
    ("held polygon", bc.Table(X, Y, interpolation="linear", extrapolation="hold")),
    ("flat ends", bc.CubicSpline(X, Y, ends="clamped")),
    ("periodic without mean", bc.Table((0, 1, 2, 3, 4), (0, 1, 0, -1, 0), "linear", "periodic")),
]


@pytest.mark.parametrize(("name", "function"), INTEGRABLE, ids=[name for name, _ in INTEGRABLE])
def test_antiderivatives(name, function):
    x = places(function)
    antiderivative = function.integral()
    for order in range(2):
        got = antiderivative.derivative(x, order + 1)
        np.testing.assert_allclose(got, function.derivative(x, order), rtol=1e-12, atol=1e-12)
    assert antiderivative.smoothness >= 1


def test_antiderivative_of_a_polynomial_from_its_start_on():
    speed = bc.Polynomial((1.0, -2.0, 0.6), start=0.5)
    x = np.linspace(0.5, 4.0, 9)
    np.testing.assert_allclose(speed.integral().derivative(x, 1), speed(x), atol=1e-14)
    np.testing.assert_allclose(speed.integral()(x), (x - 0.5) - (x - 0.5) ** 2 + 0.2 * (x - 0.5) ** 3)


@pytest.mark.parametrize("name", ["nurbs", "harmonic", "natural", "periodic", "rational"])
def test_no_antiderivative_is_said_so(name):
    with pytest.raises(bc.Unsupported, match="antiderivative"):
        FUNCTIONS[name].integral()


def test_splines_against_scipy():
    x = np.linspace(X[0], X[-1], 301)
    for ends, conditions in (
        ("natural", "natural"),
        ("clamped", ((1, 0.3), (1, -1.0))),
        ("periodic", "periodic"),
    ):
        slopes = (0.3, -1.0) if ends == "clamped" else (0.0, 0.0)
        ours, theirs = bc.CubicSpline(X, Y, ends, slopes), ScipySpline(X, Y, bc_type=conditions)
        for order in range(3):
            np.testing.assert_allclose(ours.derivative(x, order), theirs(x, order), rtol=1e-10, atol=1e-10)


def test_periodic_spline_with_three_places():
    ours = bc.CubicSpline((0.0, 1.0, 3.0), (0.0, 2.0, 0.0), ends="periodic")
    theirs = ScipySpline((0.0, 1.0, 3.0), (0.0, 2.0, 0.0), bc_type="periodic")
    x = np.linspace(0.0, 3.0, 50)
    np.testing.assert_allclose(ours(x), theirs(x), atol=1e-12)


def test_table_against_scipy_and_without_overshoot():
    x = np.linspace(X[0], X[-1], 301)
    np.testing.assert_allclose(bc.Table(X, Y)(x), PchipInterpolator(X, Y)(x), rtol=1e-12, atol=1e-13)
    steps = bc.Table((0, 1, 2, 3), (0.0, 0.0, 1.0, 1.0))
    values = steps(np.linspace(0, 3, 400))
    assert values.min() >= 0.0
    assert values.max() <= 1.0


def test_b_spline_against_scipy():
    knots = np.array([0, 0, 0, 0.5, 1.5, 3, 3, 3.0])
    points = np.array([0.0, 1.0, 3.0, 2.0, 1.0])
    x = np.linspace(0.0, 3.0, 100)
    theirs = BSpline(knots, points, 2)
    np.testing.assert_allclose(FUNCTIONS["b-spline"](x), theirs(x), atol=1e-13)


def test_nurbs_is_a_quotient_of_b_splines():
    nurbs = FUNCTIONS["nurbs"]
    w, p = np.array(nurbs.weights), np.array(nurbs.control_points)
    knots = np.array([0, 0, 0, 0, 1 / 3, 2 / 3, 1, 1, 1, 1])
    x = np.linspace(0.0, 1.0, 50)
    expected = BSpline(knots, w * p, 3)(x) / BSpline(knots, w, 3)(x)
    np.testing.assert_allclose(nurbs(x), expected, atol=1e-13)


def test_ramp_goes_from_rest_to_rest():
    ramp = bc.Ramp(-1.0, 2.0, start=0.3, duration=1.4)
    np.testing.assert_allclose(ramp([-5.0, 0.3, 1.0, 1.7, 9.0]), [-1.0, -1.0, 0.5, 2.0, 2.0], atol=1e-14)
    assert ramp.derivative(1.0) == pytest.approx(15 / 8 * 3.0 / 1.4)


def test_a_number_becomes_a_constant():
    mech = bc.Mechanism()
    body = mech.add_body("b", 1.0, (1, 1, 1))
    mech.add_joint("j", bc.Revolute(), mech.ground, body)
    assert mech.add_drive("d", "j", position=0.5).position == bc.Constant(0.5)


def test_equal_weights_are_no_weights():
    assert bc.Nurbs((0, 1, 2, 3), weights=(2, 2, 2, 2)) == bc.Nurbs((0, 1, 2, 3))


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
def test_antiderivatives_of_expressions(text):
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
