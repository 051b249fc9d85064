"""Force laws: values, signs, dissipation, potentials; every kind of force on floating bodies."""

import numpy as np
import pytest
from rigs import examples, floating
from rigs.machine import matrix
from scipy.integrate import quad, simpson
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
        "rubber": True, "one_sided": True, "gas": True, "servo": False, "stepper": False,
        "dry_friction": False, "dry_brake": False, "freewheel": False,
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
    # stiffness, damping, contact, direction, depth, exponent, loss, loss_speed
    law = [50.0, 4.0, 0.3, direction, 0.02, 1.0, 0.0, 1.0]

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


@pytest.mark.parametrize("exponent", [1.0, 1.5, 3.0])
def test_one_sided_with_a_curve_an_exponent_and_losses(exponent):
    """Beyond the speed of the loss it is 1 + loss times the elastic load, and 1 - loss on the way out."""
    law = [50.0, 0.0, 0.3, 1.0, 0.02, exponent, 0.2, 0.1]
    curve = core.Function("piecewise", [2, 2, 0, 0.0, 0.5, 2.0, 0.0, 3.0, 1.5, 8.0])

    def load(depth):
        return 50.0 * depth**exponent + np.interp(depth, [0.0, 0.5, 2.0], [0.0, 1.5, 13.5])

    for depth in (1e-9, 0.1, 0.7):

        def effort(deepening, depth=depth):
            return core.law_effort("one_sided", 0.3 - depth, -deepening, 0.0, law, curve)

        elastic = load(depth)
        assert effort(0.0) == pytest.approx(elastic, rel=1e-13)
        assert effort(0.1) == effort(7.0) == pytest.approx(1.2 * elastic, rel=1e-13)
        assert effort(-0.1) == effort(-7.0) == pytest.approx(0.8 * elastic, rel=1e-13)
        assert effort(0.05) == pytest.approx((1.0 + 0.2 * (0.75 - 0.0625)) * elastic, rel=1e-13)
        work = quad(load, 0.0, depth, points=[0.5] if depth > 0.5 else None, epsabs=0.0)[0]
        assert core.law_potential("one_sided", 0.3 - depth, law, curve) == pytest.approx(work, rel=1e-9)
    assert core.law_effort("one_sided", 0.31, -5.0, 0.0, law, curve) == 0.0


@pytest.mark.parametrize("exponent", [0.0, 0.7, 1.0, 1.0 + 1e-9, 1.4])
@pytest.mark.parametrize("direction", [1.0, -1.0])
def test_gas_follows_its_polytrope(exponent, direction):
    law = [200.0, 0.3, 0.1, exponent, direction]  # force, column, wall, exponent, direction
    for column in (0.02, 0.15, 0.3, 0.7):
        value = 0.1 + direction * column
        effort = core.law_effort("gas", value, 5.0, 2.0, law)
        assert effort == pytest.approx(direction * 200.0 * (0.3 / column) ** exponent, rel=1e-13)
        bounds = (column, 0.3) if column < 0.3 else (0.3, column)
        work = quad(lambda h: 200.0 * (0.3 / h) ** exponent, *bounds, epsabs=1e-10)[0]
        found = core.law_potential("gas", value, law)
        assert found == pytest.approx(work if column < 0.3 else -work, rel=1e-9, abs=1e-9)


def test_servo_keeps_within_both_limits():
    target = ramp(10.0, 0.0)  # stiffness 20 times 0.5

    def effort(value, rate):
        return core.law_effort("servo", value, rate, 1.0, [20.0, 2.0, 6.0, 9.0, 3.0], target)

    assert effort(0.4, 0.5) == pytest.approx(10.0 - 8.0 - 1.0)
    assert effort(0.0, 0.0) == 6.0  # the peak
    assert effort(2.0, 0.0) == -6.0
    assert effort(0.0, 2.0) == pytest.approx(9.0 - 9.0 * 2.0 / 3.0)  # what the voltage leaves
    assert effort(0.0, 3.0) == pytest.approx(0.0)  # no load
    assert effort(0.0, 6.0) == pytest.approx(-9.0)  # above it the motor brakes
    assert effort(2.0, -2.0) == pytest.approx(-3.0)
    assert effort(2.0, -6.0) == pytest.approx(9.0)


def test_stepper_pulls_as_a_sine_and_less_when_fast():
    def effort(value, rate):
        return core.law_effort("stepper", value, rate, 2.0, [0.5, 50.0, 30.0, 1e-3], ramp(1.0, 2.0))

    assert effort(5.0, 0.0) == pytest.approx(0.0, abs=1e-13)
    assert effort(5.0 - np.pi / 100.0, 0.0) == pytest.approx(0.5)  # a full step behind
    assert effort(5.0 + np.pi / 300.0, 0.0) == pytest.approx(-0.25)
    assert effort(5.0 - 4.0 * np.pi / 100.0, 0.0) == pytest.approx(0.0, abs=1e-12)  # four steps lost
    assert effort(5.0 - np.pi / 100.0, 30.0) == pytest.approx(0.5 / np.sqrt(2.0) - 0.03)


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
        ("dry_friction", [0.1, 2.0, 3.0, 4.0, 0.5, 1.0, 0.3, 0.2], None),
        ("dry_brake", [1.0], ramp(5.0, 0.0)),
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
        (
            "spring",
            [],
            None,
            "unknown law kind 'spring'; known: brake, dry_brake, dry_friction, freewheel, friction, gas",
        ),
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
        ("dry_brake", [1.0], None, "dry_brake law: needs a function of time, the level"),
        ("dry_friction", [0.1, 2.0, 3.0, 2.5, 1.0, 1.0, 0.0, 0.0], None, "nor holding less than start"),
        ("rubber", [-1.0, 0.0, 0.5, 0.1], None, "rubber law: the stiffness must not be negative"),
        ("rubber", [1.0, 0.0, 1.5, 0.1], None, "the restitution must lie between 0 and 1"),
        ("rubber", [1.0, 0.0, 0.5, 0.0], None, "the closing speed must be positive"),
        (
            "one_sided",
            [1.0, 0.0, 0.0, 0.5, 0.1, 1.0, 0.0, 1.0],
            None,
            "one_sided law: the direction must be 1 or -1",
        ),
        (
            "one_sided",
            [1.0, -1.0, 0.0, 1.0, 0.1, 1.0, 0.0, 1.0],
            None,
            "stiffness and damping must not be negative",
        ),
        ("one_sided", [1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0], None, "must be positive"),
        ("one_sided", [1.0, 1.0, 0.0, 1.0, 0.1, 0.0, 0.0, 1.0], None, "the exponent must be positive"),
        ("one_sided", [1.0, 1.0, 0.0, 1.0, 0.1, 1.0, 1.1, 1.0], None, "the loss must lie between -1 and 1"),
        ("one_sided", [1.0, 1.0, 0.0, 1.0, 0.1, 1.0, 0.0, 0.0], None, "the speed of the loss must be"),
        ("one_sided", [1.0, 1.0, 0.0, 1.0, 0.1, 1.0, 0.0, 1.0], quotient, "its function has no integral"),
        ("gas", [-1.0, 1.0, 0.0, 1.0, 1.0], None, "gas law: the force must not be negative: gas pushes"),
        ("gas", [1.0, 0.0, 0.0, 1.0, 1.0], None, "the column of gas must have a length"),
        ("gas", [1.0, 1.0, 0.0, -1.0, 1.0], None, "the exponent must not be negative"),
        ("gas", [1.0, 1.0, 0.0, 1.0, 2.0], None, "the direction must be 1 or -1"),
        ("gas", [1.0, 1.0, 0.0, 1.0, 1.0], piece, "takes no function"),
        ("servo", [1.0, 1.0, 0.0, 1.0, 1.0], piece, "peak, stall and no_load must be positive"),
        ("servo", [-1.0, 1.0, 1.0, 1.0, 1.0], piece, "stiffness and damping must not be negative"),
        ("servo", [1.0] * 5, None, "servo law: needs a function of time, the demand at rest"),
        ("stepper", [1.0, 0.0, 1.0, 0.0], piece, "poles and corner must not be zero"),
        ("stepper", [-1.0, 1.0, 1.0, 0.0], piece, "hold and damping must not be negative"),
        ("stepper", [1.0] * 4, None, "stepper law: needs a function of time, the commanded angle"),
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


OUTSIDE = {"Wrench", "SupportPoint", "BodyDamping"}  # act on one body, with nothing to react
OUTSIDE |= {"ElasticBelt"}  # its wheels hang on the ground
INTERNAL = {
    name: (kind, ends) for name, kind, ends in examples.forces() if type(kind).__name__ not in OUTSIDE
}
CASES = INTERNAL | {name: (kind, ends) for name, kind, ends in examples.forces()}
# Nobody sits, tests/forces/test_springs.py; ropes and teeth have no laws, tests/forces/test_elastic_ropes.py.
POWERED = [name for name in CASES if not name.startswith(("Seat", "Elastic"))]
SWITCHING = ("RubberString", "OneSidedSpring", "SupportPoint", "GasSpring")


@pytest.fixture(params=CASES, scope="module")
def name(request):
    return request.param


@pytest.fixture(scope="module")
def machine(name):
    machine = floating.forced(*CASES[name], seed=1)
    assert machine.system.project()
    return machine


@pytest.fixture(scope="module")
def run(machine):
    return machine.run(0.5, frames=501)


def places(model, run):
    """Of the centres of mass: positions and velocities (T, nb, 3)."""
    R = matrix(run.rotation)
    arm = np.einsum("...ij,...j->...i", R, np.broadcast_to(model.com, run.position.shape))
    return run.position + arm, run.velocity + np.cross(run.angular_velocity, arm)


@pytest.mark.parametrize("name", INTERNAL, indirect=True)
def test_internal_forces_change_no_momentum(machine, run):
    """Gravity alone changes the momentum of the whole: by m g, and by c × m g about the origin."""
    model = machine.model
    com, speed = places(model, run)
    R = matrix(run.rotation)
    inertia = R @ model.inertia @ np.swapaxes(R, -1, -2)
    spin = np.einsum("...ij,...j->...i", inertia, run.angular_velocity)
    momentum = model.mass[:, None] * speed
    angular = (np.cross(com, momentum) + spin).sum(axis=1)
    weight = model.mass[:, None] * model.gravity
    impulse = run.time[:, None] * weight.sum(axis=0)
    np.testing.assert_allclose(momentum.sum(axis=1) - momentum[0].sum(axis=0), impulse, atol=1e-12)
    turning = simpson(np.cross(com, weight).sum(axis=1), x=run.time, axis=0)
    np.testing.assert_allclose(angular[-1] - angular[0], turning, atol=1e-10)


def law_powers(machine, run):
    """Effort times rate of every law (T, laws), and the sum of the laws' potentials (T,)."""
    arrays, core = machine.model.arrays, machine.core
    starts = arrays["law_param_start"]
    with_potential = core.law_kinds()
    powers, potential = np.zeros((len(run.time), len(arrays["law_kind"]))), np.zeros(len(run.time))
    for t, time in enumerate(run.time):
        state = (time, run.position[t], run.rotation[t], run.velocity[t], run.angular_velocity[t])
        machine.set(state, continued=True)
        values, rates = machine.system.coordinates()
        for k, kind in enumerate(arrays["law_kind"]):
            params = arrays["law_params"][starts[k] : starts[k + 1]].tolist()
            number = int(arrays["law_function"][k])
            function = None if number < 0 else machine.model.core_function(number)
            c = arrays["law_coordinate"][k]
            powers[t, k] = core.law_effort(kind, values[c], rates[c], time, params, function) * rates[c]
            if with_potential[kind]:
                potential[t] += core.law_potential(kind, values[c], params, function)
    return powers, potential


def damping_power(machine, run):
    """Power of the damping of a body (T,): -v diag(c) v - ω diag(c) ω in the marker's axes."""
    kind = machine.mechanism.forces["push"].kind
    (marker,) = machine.mechanism.forces["push"].markers
    R = matrix(run.rotation[:, 0])
    axes = R @ matrix(marker.rotation)
    omega = run.angular_velocity[:, 0]
    speed = run.velocity[:, 0] + np.cross(omega, R @ np.array(marker.position))
    local = [np.einsum("tji,tj->ti", axes, values) for values in (speed, omega)]
    factors = (kind.damping, kind.rotational_damping)
    return -sum((np.array(c) * v**2).sum(axis=1) for c, v in zip(factors, local, strict=True))


def wrench_power(machine, run):
    """Power of the applied wrench (T,): force times speed of its point, moment times ω."""
    kind = machine.mechanism.forces["push"].kind
    (marker,) = machine.mechanism.forces["push"].markers
    moment, force = (
        np.array([c(run.time) if callable(c) else np.full(len(run.time), c) for c in components]).T
        for components in (kind.moment, kind.force)
    )
    R = matrix(run.rotation[:, 0])
    axes = R @ matrix(marker.rotation)
    omega = run.angular_velocity[:, 0]
    speed = run.velocity[:, 0] + np.cross(omega, R @ np.array(marker.position))
    turned = [np.einsum("tij,tj->ti", axes, values) for values in (force, moment)]
    return np.sum(turned[0] * speed + turned[1] * omega, axis=1)


@pytest.mark.parametrize("name", POWERED, indirect=True)
def test_energy_changes_by_the_power_of_the_forces(name, machine, run):
    """Kinetic energy (rotors included) and weight against efforts times rates of their coordinates."""
    model = machine.model
    com, _ = places(model, run)
    gravity = -np.einsum("b,i,tbi->t", model.mass, model.gravity, com)
    powers, potential = law_powers(machine, run)
    power = powers.sum(axis=1)
    if name.startswith("Wrench"):
        power = power + wrench_power(machine, run)
    if name.startswith("BodyDamping"):
        power = power + damping_power(machine, run)
    work = simpson(power, x=run.time)
    assert np.ptp(power) > 1e-3
    change = run.kinetic + gravity
    # A Table's pieces meet with a jump of the second derivative, as do the cubics of what switches, to which
    # Simpson's rule is blind.
    bound = 1e-5 if name.startswith(SWITCHING) else 1e-7 if name.startswith("Tab") else 1e-9
    assert change[-1] - change[0] == pytest.approx(work, abs=bound)
    np.testing.assert_allclose(run.potential, gravity + potential, atol=1e-12)
