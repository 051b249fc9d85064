"""Adams methods: orders, rotations against closed forms, an independent code, restarts, dense output."""

import math

import numpy as np
import pytest
from rigs import stops
from scipy.integrate import ode
from scipy.special import ellipj, ellipkinc

import bellcrank as bc
from bellcrank.gallery import n_four_bar
from bellcrank.run.plan import METHODS, method_options

MOST = METHODS["adams"].order


def pendulum(angle=2.5):
    """A rod of 1 m on a hinge, let go at an angle from straight down."""
    mech = bc.Mechanism("pendulum")
    middle = (0.5 * math.sin(angle), 0.0, -0.5 * math.cos(angle))
    turn = (math.cos(angle / 2), 0.0, -math.sin(angle / 2), 0.0)
    rod = mech.add_body("rod", mass=1.0, inertia=(1 / 12, 1 / 12, 1e-3), position=middle, rotation=turn)
    end = (math.cos(math.pi / 4), math.sin(math.pi / 4), 0.0, 0.0)
    mech.add_joint(
        "hinge", bc.Revolute(), mech.ground.marker(rotation=end), rod.marker((0, 0, 0.5), rotation=end)
    )
    return mech


def tumbling(spin=(0.02, 3.0, 0.01)):
    """A free body with three different inertias, spinning nearly about the middle one: it flips."""
    mech = bc.Mechanism("tumbling", gravity=(0, 0, 0))
    mech.add_body("book", mass=1.0, inertia=(1.0, 2.0, 3.0), angular_velocity=spin)
    return mech


def body_rates(run):
    """Angular velocity (n, 3) in the axes of the body."""
    book = run.body("book")
    return np.array([rotated_back(q, w) for q, w in zip(book.rotation, book.angular_velocity, strict=True)])


def rotated_back(q, v):
    w, u = q[0], -np.asarray(q[1:])
    return v + 2.0 * np.cross(u, np.cross(u, v) + w * v)


def euler_top(spin, time):
    """Body-axes rates of a free body of inertia (1, 2, 3) by Jacobi's functions (Landau, Lifshitz, § 37).

    For M^2 > 2 E I2, with the signs of a start near the middle axis.
    """
    inertia = np.array([1.0, 2.0, 3.0])
    energy2 = float(np.sum(inertia * np.square(spin)))
    momentum2 = float(np.sum(np.square(inertia * spin)))
    i1, i2, i3 = inertia
    if momentum2 < energy2 * i2:  # the axes change roles
        i1, i3 = i3, i1
        first, last = 2, 0
    else:
        first, last = 0, 2
    a1 = math.sqrt((energy2 * i3 - momentum2) / (i1 * (i3 - i1)))
    a2 = math.sqrt((energy2 * i3 - momentum2) / (i2 * (i3 - i2)))
    a3 = math.sqrt((momentum2 - energy2 * i1) / (i3 * (i3 - i1)))
    rate = math.sqrt((i3 - i2) * (momentum2 - energy2 * i1) / (i1 * i2 * i3))
    m = (i2 - i1) * (energy2 * i3 - momentum2) / ((i3 - i2) * (momentum2 - energy2 * i1))
    return a1, a2, a3, rate, m, first, last


@pytest.mark.parametrize("order", range(1, 7))
def test_each_order_has_its_slope(order):
    """Corrected by the formula of one order more, a method of order q errs by h^(q+1)."""
    steps = (0.01, 0.005, 0.0025) if order < 4 else (0.008, 0.006, 0.004)
    mech = pendulum()

    def end(step):
        """Tolerances that never bind: orders and steps rise from a tiny first one to those asked for."""
        run = bc.simulate(
            mech, 0.48, method="adams", tolerance=1e6, step=1e-7, max_step=step, max_order=order,
            output_step=0.48,
        )  # fmt: skip
        assert run.statistics["highest_order"] == order
        return np.concatenate([run.body("rod").position[-1], run.body("rod").rotation[-1]])

    exact = bc.simulate(mech, 0.48, method="dopri5", tolerance=1e-14, output_step=0.48).body("rod")
    exact = np.concatenate([exact.position[-1], exact.rotation[-1]])
    errors = [float(np.max(np.abs(end(step) - exact))) for step in steps]
    slope = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert order + 0.5 < slope < order + 1.9, f"errors {errors}"


def test_high_orders_take_fewer_steps():
    """At tight tolerances; and the orders are used."""
    steps = []
    for order in (4, 8, MOST):
        run = bc.simulate(pendulum(), 4.0, method="adams", tolerance=1e-11, max_order=order)
        assert run.statistics["highest_order"] == order
        steps.append(run.statistics["steps"])
    assert steps[1] < 0.4 * steps[0]
    assert steps[2] < 0.8 * steps[1]


def test_one_factorization_a_step():
    """All that the corrected end needs is done with the factors of the predicted one."""
    run = bc.simulate(pendulum(), 4.0, method="adams", output_step=4.0, reactions=False)
    tried = run.statistics["steps"] + run.statistics["rejected_steps"]
    assert run.statistics["factorizations"] <= 1.05 * tried + 5
    assert run.statistics["evaluations"] > 1.9 * run.statistics["steps"]


@pytest.mark.parametrize("tolerance", [1e-6, 1e-9, 1e-12])
def test_a_tumbling_body_against_elliptic_functions(tolerance):
    spin = (0.3, 1.0, 1.0)
    run = bc.simulate(tumbling(spin), 20.0, method="adams", tolerance=tolerance, output_step=0.1)
    rates = body_rates(run)
    a1, a2, a3, rate, m, first, last = euler_top(spin, run.time)
    # the phase at the start, from the middle component and the sign of its rate
    shift = phase(spin, a1, a2, rate, m, first, last)
    sn, cn, dn, _ = ellipj(shift[0] + shift[1] * rate * run.time, m)
    assert rates[:, 1] == pytest.approx(a2 * sn, abs=300 * tolerance)
    assert np.abs(rates[:, first]) == pytest.approx(np.abs(a1 * cn), abs=300 * tolerance)
    assert np.abs(rates[:, last]) == pytest.approx(np.abs(a3 * dn), abs=300 * tolerance)


def phase(spin, a1, a2, rate, m, first, last):
    """Argument of sn at the start and the direction in which it goes on."""
    inertia = (1.0, 2.0, 3.0)
    amplitude = math.asin(max(-1.0, min(1.0, spin[1] / a2)))
    slope = (inertia[2] - inertia[0]) / inertia[1] * spin[2] * spin[0]  # Euler's equation of the middle axis
    return float(ellipkinc(amplitude, m)), math.copysign(1.0, slope)


def test_a_body_that_turns_over_keeps_its_invariants():
    """Momentum in world axes and energy, through a hundred turns and several flips; a unit quaternion."""
    run = bc.simulate(tumbling(), 200.0, method="adams", tolerance=1e-11, output_step=0.5)
    book = run.body("book")
    momentum = []
    for q, w in zip(book.rotation, body_rates(run), strict=True):
        conjugate = (q[0], *(-np.asarray(q[1:])))
        momentum.append(rotated_back(conjugate, np.array([1.0, 2.0, 3.0]) * w))
    assert np.ptp(momentum, axis=0) == pytest.approx(np.zeros(3), abs=1e-7)
    assert np.ptp(run.energy.total) < 1e-7
    assert np.sum(np.square(book.rotation), axis=1) == pytest.approx(np.ones(len(run.time)), abs=1e-14)
    assert np.min(body_rates(run)[:, 1]) < -2.9


def test_against_vode():
    """The same methods by another code, on the pendulum in its angle: both are right to their tolerance."""
    mech, angle = pendulum(), 2.5
    reach = math.sqrt(0.5 * 9.81 / (1 / 12 + 0.25))
    solver = ode(lambda _, y: [y[1], -(reach**2) * math.sin(y[0])])
    solver.set_integrator("vode", method="adams", order=12, rtol=1e-12, atol=1e-12, nsteps=100000)
    solver.set_initial_value([angle, 0.0])
    run = bc.simulate(mech, 5.0, method="adams", tolerance=1e-12, output_step=0.25)
    for time, position in zip(run.time[1:], run.body("rod").position[1:], strict=True):
        y = solver.integrate(time)
        assert position[0] == pytest.approx(0.5 * math.sin(y[0]), abs=2e-9)
        assert position[2] == pytest.approx(-0.5 * math.cos(y[0]), abs=2e-9)


@pytest.mark.parametrize("tolerance", [1e-5, 1e-7, 1e-9, 1e-11])
def test_the_tolerance_is_kept_between_steps_too(tolerance):
    """Frames come from the polynomial of the step and are projected; a frame every 3 ms is several a step."""
    fine = bc.simulate(pendulum(), 3.0, method="dopri5", tolerance=1e-13, output_step=0.003)
    given = {"method": "adams", "formulation": "lagrange", "output_step": 0.003}
    run = bc.simulate(pendulum(), 3.0, tolerance=tolerance, **given)
    assert run.statistics["steps"] < 0.5 * len(run.time)
    assert np.max(np.abs(run.body("rod").position - fine.body("rod").position)) < 100 * tolerance
    assert np.max(np.abs(run.body("rod").velocity - fine.body("rod").velocity)) < 300 * tolerance
    assert np.max(run.violation.position) < 1e-12
    assert np.max(run.violation.velocity) < 1e-10


def test_an_impact_starts_it_anew():
    """A ball dropped from 1 m bounces with 0.8 of its speed: impacts and the height at the end are known."""
    run = bc.simulate(stops.ball(0.8), 1.5, method="adams", output_step=0.01)
    fall = math.sqrt(2.0 / stops.GRAVITY)
    after = 1.5 - 2.6 * fall  # impacts at 0.45 s and 1.17 s
    height = 0.8**2 * stops.GRAVITY * fall * after - 0.5 * stops.GRAVITY * after**2
    assert run.body("ball").position[-1, 2] == pytest.approx(height, abs=2e-4)
    assert np.min(run.body("ball").position[:, 2]) > -1e-8
    assert run.energy.total[-1] == pytest.approx(0.8**4 * run.energy.total[0], rel=1e-6)


def test_a_torque_that_jumps_is_passed():
    """Steps are refused until order and length suit the jump; the impulse tells the speed at the end."""
    mech = bc.Mechanism("wheel", gravity=(0, 0, 0))
    wheel = mech.add_body("wheel", mass=1.0, inertia=(1.0, 1.0, 2.0))
    mech.add_joint("axle", bc.Revolute(), mech.ground.marker(), wheel.marker())
    pulse = bc.Piecewise((0.0, 0.5, 2.0), ((0.0,), (4.0,)))
    mech.add_force("push", bc.JointMotor(pulse), "axle")
    run = bc.simulate(mech, 2.0, method="adams", tolerance=1e-8, output_step=2.0)
    assert run.body("wheel").angular_velocity[-1, 2] == pytest.approx(3.0, abs=1e-6)


def test_energy_through_singular_poses():
    """The parallelogram passes its flat pose four times a second, with one factorization a step."""
    run = bc.simulate(
        n_four_bar(2), 10.0, method="adams", tolerance=1e-9, output_step=0.01, reactions=False, refinements=0
    )
    energy = run.energy.total
    assert np.max(np.abs(energy - energy[0])) < 1e-4
    assert run.statistics["steps"] < 700
    lead = run.body("crank 0").rotation
    for k in (1, 2):
        assert np.max(np.abs(run.body(f"crank {k}").rotation - lead)) < 1e-5


def test_any_formulation_is_integrated():
    """Only lagrange has a way of its own to settle; the others take what every System has."""
    mech, runs = pendulum(), {}
    for formulation in ("lagrange", "symbolic"):
        runs[formulation] = bc.simulate(
            mech, 3.0, formulation=formulation, method="adams", tolerance=1e-10, output_step=0.1
        )
    positions = [run.body("rod").position for run in runs.values()]
    assert np.max(np.abs(positions[0] - positions[1])) < 1e-7
    assert np.max(np.abs(runs["symbolic"].energy.total - runs["symbolic"].energy.total[0])) < 1e-7


def test_a_ball_joint_in_joint_coordinates():
    """A gyroscope on a ball joint: the chart of its rotations is not linear."""
    mech = bc.Mechanism("gyroscope")
    wheel = mech.add_body(
        "wheel",
        mass=1.0,
        inertia=(0.01, 0.01, 0.02),
        position=(0.2, 0, 0.1),
        angular_velocity=(10.0, 2.0, 40.0),
    )
    mech.add_joint("ball", bc.Spherical(), mech.ground.marker(), wheel.marker((-0.2, 0, -0.1)))
    bc.assemble(mech)
    positions = [
        bc.simulate(mech, 1.0, formulation=name, method="adams", tolerance=1e-11, output_step=0.02)
        .body("wheel")
        .position
        for name in ("lagrange", "symbolic")
    ]
    assert np.max(np.abs(positions[0] - positions[1])) < 1e-7


def test_the_highest_order_is_an_option():
    assert method_options("adams", 1.0).max_order == MOST
    assert method_options("adams", 1.0, max_order=5).max_order == 5
    for name, value, text in (
        ("adams", 13, "max_order must be at most 12"),
        ("adams", 0, "max_order"),
        ("dopri5", 5, "its order is fixed"),
    ):
        with pytest.raises(bc.MechanismError, match=text):
            method_options(name, 1.0, max_order=value)
