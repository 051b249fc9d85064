"""The order of each method, measured on a spatial mechanism with rotations; options of methods."""

import math

import numpy as np
import pytest
from rigs.chains import spinning_chain

import bellcrank as bc
from bellcrank.integrate.advance import output_times
from bellcrank.integrate.methods import METHODS, method_options

DURATION = 0.8


def final(run):
    return np.concatenate(
        [np.concatenate([b.position[-1], b.rotation[-1], b.velocity[-1]]) for b in map(run.body, run.bodies)]
    )


@pytest.fixture(scope="module")
def reference():
    mech = spinning_chain()
    return mech, final(bc.simulate(mech, DURATION, method="dopri5", tolerance=1e-13))


def error(mech, exact, method, step):
    """With tolerances that never bind, dopri5 takes steps of max_step: its order can be measured too."""
    options = {"step": step}
    if METHODS[method].adaptive:
        options |= {"tolerance": 1e6, "max_step": step}
    run = bc.simulate(mech, DURATION, method=method, output_step=DURATION, **options)
    assert run.statistics["steps"] == round(DURATION / step)
    return float(np.max(np.abs(final(run) - exact)))


@pytest.mark.parametrize(
    ("method", "steps"),
    [
        ("semi_implicit_euler", (1e-3, 5e-4, 2.5e-4)),
        ("rk4", (0.02, 0.01, 0.005)),
        ("dopri5", (0.02, 0.01, 0.005)),
    ],
)
def test_each_method_has_its_order(reference, method, steps):
    """The slope of log(error) over log(step), fitted; also a constrained mechanism keeps the order."""
    mech, exact = reference
    errors = [error(mech, exact, method, step) for step in steps]
    slope = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    order = METHODS[method].order
    assert order - 0.3 < slope < order + 0.7, f"errors {errors}"


def test_the_tolerance_is_kept(reference):
    """Each factor of 100 in the tolerance brings the error down by a factor of at least 20."""
    mech, exact = reference
    errors = [
        float(np.max(np.abs(final(bc.simulate(mech, DURATION, method="dopri5", tolerance=t)) - exact)))
        for t in (1e-6, 1e-8, 1e-10)
    ]
    assert errors[1] < errors[0] / 20
    assert errors[2] < errors[1] / 20
    assert errors[2] < 1e-7


def test_semi_implicit_euler_is_symplectic():
    """Without constraints the energy of an oscillator stays bounded over a thousand periods."""
    mech = bc.Mechanism("oscillator", gravity=(0, 0, 0))
    ball = mech.add_body("ball", mass=1.0, inertia=(1, 1, 1), position=(0, 0, 1.0))
    anchor = mech.ground.marker()
    mech.add_force("spring", bc.Bushing(stiffness=(1.0, 1.0, 1.0)), anchor, ball.marker())
    run = bc.simulate(mech, 2000 * math.pi, method="semi_implicit_euler", step=0.05, output_step=math.pi)
    assert np.max(np.abs(run.energy.total - 0.5)) < 0.02
    assert np.max(run.energy.total[-100:]) > 0.48


def test_constraints_hold_after_every_method(reference):
    mech, _ = reference
    for method in METHODS:
        run = bc.simulate(mech, 0.3, method=method)
        assert np.max(run.violation.position) < 1e-9
        assert np.max(run.violation.velocity) < 1e-9


@pytest.mark.parametrize(
    "options", [{"step": 0.01}, {"method": "dopri5"}, {"method": "dopri5", "step": 1.0}], ids=str
)
def test_whole_turns_are_counted_however_long_the_steps(options):
    """A flywheel of 1000 rad/s turns 10 rad in 10 ms; its motion is so easy that dopri5 would leap."""
    mech = bc.Mechanism("flywheel", gravity=(0, 0, 0))
    wheel = mech.add_body("wheel", mass=1.0, inertia=(0.1, 0.1, 0.2), angular_velocity=(0, 0, 1000.0))
    mech.add_joint("axle", bc.Revolute(), mech.ground.marker(), wheel.marker())
    run = bc.simulate(mech, 1.0, output_step=0.25, **options)
    assert run.joint("axle").position[:, 0] == pytest.approx(1000.0 * run.time, abs=1e-6)


def test_a_screw_passes_half_a_turn():
    """The nut falls with a = g/(1 + (2 pi/p)^2 I/m) through several turns."""
    mech = bc.Mechanism("screw")
    nut = mech.add_body("nut", mass=1.0, inertia=(0.1, 0.1, 0.1))
    mech.add_joint("thread", bc.Screw(pitch=0.2), mech.ground.marker(), nut.marker())
    run = bc.simulate(mech, 5.0, method="dopri5")
    fall = 9.81 / (1.0 + (2 * math.pi / 0.2) ** 2 * 0.1)
    assert run.body("nut").position[:, 2] == pytest.approx(-0.5 * fall * run.time**2, abs=1e-8)
    assert np.max(np.abs(run.energy.total - run.energy.total[0])) < 1e-8


def test_output_times_end_where_the_run_ends():
    fixed = method_options("rk4", 1.0, 1e-3)
    times = output_times(0.0, 1.0, 0.1, fixed)
    assert times == pytest.approx(np.linspace(0, 1, 11))
    assert times[-1] == 1.0
    assert output_times(2.0, 1.0, 0.4, fixed) == pytest.approx([2.0, 2.4, 2.8, 3.0])
    assert output_times(0.0, 1.0, 5.0, fixed).tolist() == [0.0, 1.0]
    assert len(output_times(0.0, 60.0, None, fixed)) == 1001


def test_a_default_step_fits_a_short_run():
    assert method_options("rk4", 1e-4).step == 1e-4


def test_all_faults_of_the_options_come_at_once():
    with pytest.raises(bc.MechanismError) as caught:
        method_options("rk4", 1.0, step=-1.0, max_step=0.1, rtol=1e-3)
    assert len(caught.value.faults) == 3
