"""Runs against closed forms, and what the facade promises: frames, files, refusals."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipk

import bellcrank as bc

Y = (0.0, 1.0, 0.0)
G = 9.81


def pendulum(angle=0.0):
    """A thin rod of 1 m and 2 kg hung at its end, `angle` above the horizontal."""
    mech = bc.Mechanism("pendulum")
    rod = mech.add_body(
        "rod",
        mass=2.0,
        inertia=(1e-3, 2.0 / 12, 2.0 / 12),
        position=(0.5 * math.cos(angle), 0, 0.5 * math.sin(angle)),
        rotation=(math.cos(angle / 2), 0, -math.sin(angle / 2), 0),
    )
    mech.add_joint("pivot", bc.Revolute(), mech.ground.marker(axis=Y), rod.marker((-0.5, 0, 0), axis=Y))
    return mech


@pytest.mark.parametrize("angle", [-1.5, 0.0, 1.2])
def test_the_period_of_a_large_swing(angle):
    """T = 4 sqrt(2 l/(3 g)) K(sin^2(amplitude/2)); the rod is back where it was after one period."""
    amplitude = angle + math.pi / 2
    period = 4.0 * math.sqrt(2.0 / (3.0 * G)) * ellipk(math.sin(amplitude / 2) ** 2)
    run = bc.simulate(pendulum(angle), period, step=period / 2000)
    assert run.body("rod").position[-1] == pytest.approx(run.body("rod").position[0], abs=1e-8)
    middle = len(run.time) // 2
    assert run.body("rod").position[middle] * (-1, 1, 1) == pytest.approx(
        run.body("rod").position[0], abs=1e-8
    )


def test_the_pin_of_a_swinging_rod():
    """A rod let go level pulls at its pin with (5/2) m g when it hangs down."""
    quarter = math.sqrt(2.0 / (3.0 * G)) * ellipk(0.5)
    run = bc.simulate(pendulum(), quarter, method="dopri5", tolerance=1e-11)
    assert run.joint("pivot").reaction[-1] == pytest.approx((0, 0, 0, 0, 0, 2.5 * 2.0 * G), abs=1e-7)


def test_a_projectile():
    """rk4 and dopri5 are exact for a parabola, up to rounding."""
    mech = bc.Mechanism("stone")
    mech.add_body("stone", mass=1.0, inertia=(1, 1, 1), position=(1, 2, 3), velocity=(4, -5, 6))
    for method in ("rk4", "dopri5"):
        run = bc.simulate(mech, 2.0, method=method)
        t = run.time[:, None]
        expected = np.array((1, 2, 3)) + t * (4, -5, 6) + 0.5 * t**2 * (0, 0, -G)
        assert np.max(np.abs(run.body("stone").position - expected)) < 1e-11


def test_a_damped_spring():
    """m x'' + c x' + k x = 0 along a rail: x = exp(-d t) (cos w t + d/w sin w t)."""
    mass, stiffness, damping = 2.0, 50.0, 3.0
    mech = bc.Mechanism("oscillator", gravity=(0, 0, 0))
    cart = mech.add_body("cart", mass=mass, inertia=(1, 1, 1), position=(0, 0, 1.0))
    mech.add_joint("rail", bc.Prismatic(), mech.ground.marker(), cart.marker())
    mech.add_force("spring", bc.TorsionSpring(stiffness=stiffness, damping=damping), "rail")
    run = bc.simulate(mech, 3.0, method="dopri5", tolerance=1e-11)
    d = damping / (2 * mass)
    w = math.sqrt(stiffness / mass - d**2)
    expected = np.exp(-d * run.time) * (np.cos(w * run.time) + d / w * np.sin(w * run.time))
    assert np.max(np.abs(run.joint("rail").position[:, 0] - expected)) < 1e-9


def test_resonance_by_a_led_support():
    """A cart on a spring with a led end:  x'' + w^2 (x - sin w t) = 0,  x = (sin w t - w t cos w t)/2."""
    w = 5.0
    mech = bc.Mechanism("resonance", gravity=(0, 0, 0))
    hand = mech.add_body("hand", mass=1.0, inertia=(1, 1, 1))
    cart = mech.add_body("cart", mass=2.0, inertia=(1, 1, 1))
    mech.add_joint("led", bc.Prismatic(), mech.ground.marker(), hand.marker())
    mech.add_joint("rail", bc.Prismatic(), hand.marker(), cart.marker())
    mech.add_drive("motion", joint="led", position=bc.Harmonic(1.0, w))
    mech.add_force("spring", bc.TorsionSpring(stiffness=2.0 * w**2), "rail")
    run = bc.simulate(mech, 4.0, method="dopri5", tolerance=1e-10)
    expected = (np.sin(w * run.time) - w * run.time * np.cos(w * run.time)) / 2
    assert run.body("hand").velocity[0, 2] == pytest.approx(w, abs=1e-12)
    assert np.max(np.abs(run.body("cart").position[:, 2] - expected)) < 1e-7


def test_a_free_body_keeps_its_momenta():
    """Torque-free motion of an asymmetric body, close to its unstable axis: it tumbles."""
    mech = bc.Mechanism("free", gravity=(0, 0, 0))
    inertia = np.array((1.0, 2.0, 2.8))
    mech.add_body("stone", mass=1.0, inertia=inertia, angular_velocity=(0.01, 3.0, 0.0), velocity=(1, 0, 0))
    run = bc.simulate(mech, 20.0, method="dopri5", tolerance=1e-11)
    stone = run.body("stone")
    q = stone.rotation
    turns = rotation_matrices(q)
    momentum = np.einsum("tij,j,tkj,tk->ti", turns, inertia, turns, stone.angular_velocity)
    assert np.max(np.abs(momentum - momentum[0])) < 1e-7
    assert np.max(np.abs(np.linalg.norm(q, axis=1) - 1.0)) < 1e-12
    local = np.einsum("tji,tj->ti", turns, stone.angular_velocity)
    assert np.min(local[:, 1]) < -2.9
    reference = solve_ivp(
        lambda _, w: -np.cross(w, inertia * w) / inertia, (0, 20), (0.01, 3.0, 0.0), rtol=1e-12, atol=1e-13
    )
    assert local[-1] == pytest.approx(reference.y[:, -1], abs=1e-5)


def rotation_matrices(q):
    w, x, y, z = q.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), 2, 0)


def test_a_rotor_behind_a_gear_acts_with_the_square_of_its_ratio():
    """alpha = n torque / (I + n^2 J), with I about the pivot and no gravity."""
    mech = pendulum()
    mech.gravity = (0, 0, 0)
    motor = bc.GearedMotor(ratio=20.0, rotor_inertia=1e-3, torque=0.05)
    mech.add_force("motor", motor, "pivot")
    run = bc.simulate(mech, 1.0)
    alpha = 20.0 * 0.05 / (2.0 / 3.0 + 400.0 * 1e-3)
    assert run.joint("pivot").position[-1, 0] == pytest.approx(0.5 * alpha, rel=2e-9)


def test_output_times_and_the_default():
    mech = pendulum()
    run = bc.simulate(mech, 1.0, step=1e-3)
    assert len(run) == 1001
    assert run.time[-1] == 1.0
    run = bc.simulate(mech, 1.0, start=5.0, step=1e-2, output_step=0.3)
    assert run.time == pytest.approx([5.0, 5.3, 5.6, 5.9, 6.0])
    assert len(bc.simulate(mech, 10.0, step=1e-3)) == 1001


def test_dense_output_meets_the_steps():
    """dopri5 records between its steps: all frames lie on the solution to the tolerance."""
    fine = bc.simulate(pendulum(), 2.0, method="dopri5", tolerance=1e-12, output_step=0.01)
    dense = bc.simulate(pendulum(), 2.0, method="dopri5", tolerance=1e-8, output_step=0.01)
    assert dense.statistics["steps"] < 150
    gap = dense.body("rod").position - fine.body("rod").position
    assert np.max(np.abs(gap)) < 1e-6


def test_a_run_goes_into_a_file_while_it_runs(tmp_path):
    path = tmp_path / "run.h5"
    run = bc.simulate(pendulum(), 1.0, path=path)
    again = bc.Trajectory.load(path)
    assert again.status == "finished"
    assert np.array_equal(again.body("rod").position, run.body("rod").position)
    assert again.statistics["method"] == "adams"
    assert again.statistics["choice"] == run.statistics["choice"]


def test_progress_counts_up_to_one():
    seen = []
    bc.simulate(pendulum(), 4.0, step=2e-5, output_step=0.1, progress=seen.append, formulation="lagrange")
    assert seen == sorted(seen)
    assert 0.0 < seen[0] < seen[-1] <= 1.0


def test_a_model_may_be_simulated_many_times():
    from bellcrank.compile.compile import compile_mechanism

    model = compile_mechanism(pendulum())
    first, second = (bc.simulate(model, 0.5) for _ in range(2))
    assert np.array_equal(first.body("rod").position, second.body("rod").position)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"duration": -1.0}, "duration must be greater than zero"),
        ({"step": 0.0}, "step must be greater than zero"),
        ({"step": 2.0}, "step must not be longer than the duration"),
        ({"output_step": float("nan")}, "output_step must be finite"),
        ({"method": "rk4", "tolerance": 1e-6}, "fixed step, so tolerance has no meaning"),
        ({"method": "dopri5", "rtol": -1.0}, "rtol must be greater than zero"),
        ({"rank_tolerence": 1.0}, "no argument or option 'rank_tolerence'"),
    ],
)
def test_wrong_arguments_are_refused(arguments, message):
    with pytest.raises(bc.MechanismError, match=message):
        bc.simulate(pendulum(), **{"duration": 1.0, **arguments})


def test_unknown_methods_and_formulations_are_refused():
    with pytest.raises(bc.Unsupported, match="the nearest here is 'dopri5'"):
        bc.simulate(pendulum(), 1.0, method="rk45")
    with pytest.raises(bc.Unsupported, match="no formulation 'dc'"):
        bc.simulate(pendulum(), 1.0, formulation="dc")


def test_accelerations_and_reactions_are_recorded_if_asked_for():
    run = bc.simulate(pendulum(), 0.1, accelerations=True, reactions=False)
    assert run.body("rod").acceleration[0] == pytest.approx((0, 0, -0.75 * G), abs=1e-9)
    with pytest.raises(bc.MechanismError, match="reaction"):
        _ = run.joint("pivot").reaction
