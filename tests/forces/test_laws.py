"""Force laws: values, signs, dissipation, and potentials whose derivative is minus the effort."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from bellcrank import _core as core

KNOTS = np.array([-1.0, -0.4, 0.0, 0.5, 1.5])
SPRING = CubicSpline(KNOTS, [9.0, 2.0, 0.0, -3.0, -20.0])
STRIBECK = [0.4, 2.0, 3.0, 0.05, 1e-3]  # viscous, coulomb, stiction, stribeck_velocity, v0


def table(extrapolation=1):
    coefficients = SPRING.c[::-1].T.ravel()
    return core.Function("piecewise", [4, 4, extrapolation, *KNOTS, *coefficients])


def ramp(offset, slope):
    return core.Function("harmonic", [offset, slope, 0.0, 0.0, 0.0])


def test_the_kinds_and_which_have_a_potential():
    own = {name: known for name, known in core.law_kinds().items() if not name.startswith("rig_")}
    assert own == {
        "linear": True, "table": True, "motor": False, "friction": False, "brake": False,
        "rubber": True, "one_sided": True,
    }  # fmt: skip


def test_linear_spring_and_damper():
    law = [200.0, 5.0, 0.3, 7.0]  # stiffness, damping, rest, preload
    assert core.law_effort("linear", 0.3, 0.0, 0.0, law) == 7.0
    assert core.law_effort("linear", 0.4, 0.0, 0.0, law) == pytest.approx(7.0 - 20.0)
    assert core.law_effort("linear", 0.3, 2.0, 0.0, law) == pytest.approx(7.0 - 10.0)
    assert core.law_effort("linear", 0.3, 0.0, 4.0, law, ramp(1.0, 2.0)) == pytest.approx(7.0 + 9.0)
    assert core.law_potential("linear", 0.3, law) == 0.0
    assert core.law_potential("linear", 0.5, law) == pytest.approx(0.5 * 200.0 * 0.2**2 - 7.0 * 0.2)


def test_table_reads_its_function():
    values = np.linspace(-1.0, 1.5, 21)
    for value in values:
        assert core.law_effort("table", value, 0.0, 0.0, [2.0], table()) == pytest.approx(
            SPRING(value), abs=1e-13
        )
        assert core.law_effort("table", value, 0.5, 0.0, [2.0], table()) == pytest.approx(SPRING(value) - 1.0)


@pytest.mark.parametrize("value", [-2.0, -1.0, -0.7, -1e-3, 0.0, 0.3, 0.5, 1.2, 3.0])
@pytest.mark.parametrize("kind", ["linear", "table"])
def test_potential_falls_along_the_effort(kind, value):
    params, function = ([50.0, 3.0, 0.2, 4.0], None) if kind == "linear" else ([3.0], table())

    def potential(x):
        return core.law_potential(kind, x, params, function)

    h = 1e-3
    # Fourth order: exact for the quartic potential of a cubic spring, but for rounding and across a knot.
    slope = (
        8.0 * (potential(value + h) - potential(value - h))
        - potential(value + 2 * h)
        + potential(value - 2 * h)
    ) / (12 * h)
    assert slope == pytest.approx(
        -core.law_effort(kind, value, 0.0, 0.0, params, function), rel=1e-8, abs=1e-8
    )


def test_motor_droops_with_speed():
    motor = ramp(3.0, 0.5)
    assert core.law_effort("motor", 9.9, 0.0, 2.0, [0.1], motor) == pytest.approx(4.0)
    assert core.law_effort("motor", 0.0, 40.0, 2.0, [0.1], motor) == pytest.approx(0.0)  # no-load speed
    assert core.law_effort("motor", 0.0, 60.0, 2.0, [0.1], motor) < 0.0


def friction(rate):
    return core.law_effort("friction", 0.0, rate, 0.0, STRIBECK)


def test_friction_has_stribecks_shape():
    viscous, coulomb, stiction, stribeck, _ = STRIBECK
    assert friction(0.0) == 0.0
    assert friction(2.0) == pytest.approx(-coulomb - viscous * 2.0)  # far above the Stribeck velocity
    rates = np.linspace(0.0, 0.3, 3001)
    efforts = np.array([-friction(v) for v in rates])
    peak = int(np.argmax(efforts))
    assert 0.97 * stiction < efforts[peak] < stiction + viscous * rates[peak]
    assert 0.0 < rates[peak] < stribeck
    valley = peak + int(np.argmin(efforts[peak:]))
    assert efforts[valley] < coulomb + viscous * rates[valley] + 0.1
    assert efforts[valley] < efforts[peak] - 0.8
    assert efforts[-1] > efforts[valley]  # viscous friction takes over


def test_rubber_pulls_only_and_less_while_it_shortens():
    law = [20.0, 4.0, 0.1, 0.05]  # stiffness, rest, restitution, closing speed
    for rate in (-1.0, 0.0, 1.0):
        assert core.law_effort("rubber", 3.9, rate, 0.0, law) == 0.0
    for rate in (0.0, 1e-9, 0.3):
        assert core.law_effort("rubber", 4.5, rate, 0.0, law) == pytest.approx(-10.0)
    for rate in (-0.05, -2.0):
        assert core.law_effort("rubber", 4.5, rate, 0.0, law) == pytest.approx(-1.0)
    rates = np.linspace(-0.06, 0.01, 701)
    part = np.array([core.law_effort("rubber", 4.5, v, 0.0, law) for v in rates]) / -10.0
    assert np.all(np.diff(part) >= 0.0)
    u = np.clip(1.0 + rates / 0.05, 0.0, 1.0)
    np.testing.assert_allclose(part, 0.1 + 0.9 * (3.0 * u**2 - 2.0 * u**3), atol=1e-14)  # the cubic
    assert core.law_potential("rubber", 4.5, law) == pytest.approx(0.5 * 20.0 * 0.25)
    assert core.law_potential("rubber", 3.0, law) == 0.0


@pytest.mark.parametrize("direction", [1.0, -1.0])
def test_one_sided_never_pulls(direction):
    law = [50.0, 4.0, 0.3, direction, 0.02]  # stiffness, damping, contact, direction, depth

    def effort(depth, deepening):
        return direction * core.law_effort(
            "one_sided", 0.3 - direction * depth, -direction * deepening, 0.0, law
        )

    assert effort(-0.01, 5.0) == 0.0
    assert effort(0.1, 0.0) == pytest.approx(5.0)
    assert effort(0.1, 2.0) == pytest.approx(13.0)
    assert effort(0.1, -1.0) == pytest.approx(1.0)
    assert effort(0.1, -3.0) == 0.0  # it leaves faster than the spring pushes
    assert effort(0.01, 2.0) == pytest.approx(0.5 + 0.5 * 8.0)  # half the damping at half the depth
    assert effort(1e-9, 5.0) < 1e-6  # no jump at the contact
    assert core.law_potential("one_sided", 0.3 - 0.1 * direction, law) == pytest.approx(0.25)
    assert core.law_potential("one_sided", 0.3 + 0.1 * direction, law) == 0.0


def test_brake_follows_its_level_and_never_drives():
    level = ramp(5.0, -1.0)  # below zero after 5 s
    assert core.law_effort("brake", 0.0, 1.0, 2.0, [0.01], level) == pytest.approx(-3.0)
    assert core.law_effort("brake", 0.0, -1.0, 2.0, [0.01], level) == pytest.approx(3.0)
    assert core.law_effort("brake", 0.0, 0.005, 2.0, [0.01], level) == pytest.approx(-3.0 * np.tanh(0.5))
    assert core.law_effort("brake", 0.0, 1.0, 7.0, [0.01], level) == 0.0


@pytest.mark.parametrize(
    ("kind", "params", "function"),
    [
        ("linear", [0.0, 5.0, 0.0, 0.0], None),
        ("table", [2.0], core.Function("harmonic", [0.0] * 5)),
        ("motor", [0.1], ramp(0.0, 0.0)),
        ("friction", STRIBECK, None),
        ("brake", [0.01], ramp(5.0, 0.0)),
    ],
)
def test_dissipation_opposes_the_motion(kind, params, function):
    """With springs and sources at zero, the effort takes power out at every speed, the same either way."""
    for rate in np.geomspace(1e-6, 1e2, 33):
        forward = core.law_effort(kind, 0.0, rate, 0.0, params, function)
        backward = core.law_effort(kind, 0.0, -rate, 0.0, params, function)
        assert forward * rate < 0.0
        assert backward == -forward


def test_wrong_laws_are_refused():
    piece = core.Function("piecewise", [1, 1, 0, 0.0, 1.0, 1.0])
    quotient = core.Function("rational", [1, 1, 0, 0.0, 1.0, 1.0, 1.0])
    cases = [
        ("spring", [], None, "unknown law kind 'spring'; known: brake, friction, linear, motor, one_sided"),
        (
            "linear",
            [1.0, 2.0],
            None,
            r"linear law: 4 parameters \(stiffness, damping, rest, preload\), 2 given",
        ),
        ("linear", [1.0, np.nan, 0.0, 0.0], None, "not finite"),
        ("table", [1.0], None, "table law: needs a function of the coordinate"),
        ("table", [1.0], quotient, "table law: its function has no integral"),
        ("motor", [1.0], None, "motor law: needs a function of time"),
        ("brake", [0.0], piece, "brake law: the regularisation velocity must be positive"),
        ("brake", [1.0], None, "brake law: needs a function of time"),
        ("rubber", [-1.0, 0.0, 0.5, 0.1], None, "rubber law: the stiffness must not be negative"),
        ("rubber", [1.0, 0.0, 1.5, 0.1], None, "the restitution must lie between 0 and 1"),
        ("rubber", [1.0, 0.0, 0.5, 0.0], None, "the closing speed must be positive"),
        ("one_sided", [1.0, 0.0, 0.0, 0.5, 0.1], None, "one_sided law: the direction must be 1 or -1"),
        ("one_sided", [1.0, -1.0, 0.0, 1.0, 0.1], None, "stiffness and damping must not be negative"),
        ("one_sided", [1.0, 1.0, 0.0, 1.0, 0.0], None, "must be positive"),
        ("friction", [1.0, 1.0, -1.0, 1.0, 1.0], None, "must not be negative"),
        ("friction", [1.0, 1.0, 1.0, 0.0, 1.0], None, "stribeck_velocity must be positive"),
        ("friction", [1.0, 1.0, 1.0, 1.0, 0.0], None, "regularisation velocity must be positive"),
        ("friction", [1.0, 1.0, 1.0, 1.0, 1.0], piece, "takes no function"),
    ]
    for kind, params, function, message in cases:
        with pytest.raises(ValueError, match=message):
            core.check_law(kind, params, function)
    with pytest.raises(ValueError, match="the motor law has no potential"):
        core.law_potential("motor", 0.0, [1.0], piece)
