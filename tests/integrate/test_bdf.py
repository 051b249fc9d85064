"""Backward differentiation formulas: orders, stiff mechanisms, frames, restarts, dense output."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from rigs import stops
from rigs.chains import spinning_chain
from rigs.contact_scenes import block

import bellcrank as bc
from bellcrank.gallery import chain, flyball_governor
from bellcrank.run.plan import METHODS, method_options

MOST = METHODS["bdf"].order
DATA = Path(__file__).parents[1] / "reference" / "data"


def pendulum(angle=2.5, axis=(0.0, 1.0, 0.0)):
    """A rod of 1 m on a hinge, let go at an angle from straight down."""
    mech = bc.Mechanism("pendulum")
    middle = (0.5 * math.sin(angle), 0.0, -0.5 * math.cos(angle))
    turn = (math.cos(angle / 2), 0.0, -math.sin(angle / 2), 0.0)
    rod = mech.add_body("rod", mass=1.0, inertia=(1 / 12, 1 / 12, 1e-3), position=middle, rotation=turn)
    mech.add_joint("hinge", bc.Revolute(), mech.ground.marker(axis=axis), rod.marker((0, 0, 0.5), axis=axis))
    return mech


def stiff_slider(stiffness=1e8, damping=2e4):
    """A mass on a stiff spring and damper, pulled by a force that varies slowly."""
    mech = bc.Mechanism("stiff slider", gravity=(0, 0, 0))
    block = mech.add_body("block", mass=1.0, inertia=(1, 1, 1))
    mech.add_joint("guide", bc.Prismatic(), mech.ground, block)
    mech.add_force("spring", bc.TorsionSpring(stiffness=stiffness, damping=damping), "guide")
    mech.add_force("pull", bc.JointMotor("1e6*sin(3*t)"), "guide")
    return mech


def final(run):
    return np.concatenate(
        [np.concatenate([b.position[-1], b.rotation[-1], b.velocity[-1]]) for b in map(run.body, run.bodies)]
    )


@pytest.mark.parametrize("order", range(1, MOST + 1))
def test_each_order_has_its_slope(order):
    """Where steps err by h^(q+1), kept at the tolerance, the end errs by the power -q of their number."""
    mech = spinning_chain()
    exact = final(bc.simulate(mech, 0.4, method="dopri5", tolerance=1e-13, output_step=0.4))
    steps, errors = [], []
    tolerances = {1: (1e-5, 1e-6), 2: (1e-6, 1e-8), 5: (1e-9, 1e-10, 1e-11)}
    for tolerance in tolerances.get(order, (1e-8, 1e-10, 1e-12)):
        run = bc.simulate(mech, 0.4, method="bdf", tolerance=tolerance, max_order=order, output_step=0.4)
        assert run.statistics["highest_order"] == order
        steps.append(run.statistics["steps"])
        errors.append(float(np.max(np.abs(final(run) - exact))))
    slope = -np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert order - 0.5 < slope < order + 1.5, f"steps {steps}, errors {errors}"


@pytest.mark.parametrize("formulation", ["lagrange", "symbolic"])
@pytest.mark.parametrize(("tolerance", "steps"), [(1e-5, 300), (1e-7, 1600), (1e-9, 3500)])
def test_a_stiff_spring_does_not_dictate_the_step(formulation, tolerance, steps):
    """Its period is 0.6 ms and its damping critical; the motion is that of the force, some 1 Hz.

    An explicit method needs steps of about 0.1 ms: 20000 in these two seconds. How many are taken hangs on
    rounding, as on the sixth digit of the tolerance: what counts is the median.
    """
    counts = []
    for part in range(7):
        run = bc.simulate(
            stiff_slider(),
            2.0,
            formulation=formulation,
            method="bdf",
            tolerance=tolerance * (1.0 + 1e-6 * part),
            output_step=0.1,
        )
        x = run.joint("guide").position[1:, 0]
        response = 1e6 / (1e8 + 2e4 * 3j - 9.0)  # of a force exp(3 i t), transients long gone
        assert x == pytest.approx(np.imag(response * np.exp(3j * run.time[1:])), abs=20 * tolerance)
        counts.append(run.statistics["steps"] + run.statistics["rejected_steps"])
    assert np.median(counts) < steps


@pytest.mark.parametrize(("tolerance", "steps"), [(1e-6, 1000), (1e-8, 2000), (1e-10, 4000)])
def test_stiff_couplers_of_a_governor(tolerance, steps):
    """A05, of 1e4 1/s over 10 s: the error follows the tolerance, the steps are those of the slow motion.

    An explicit method takes more than 14000 at any tolerance. Newton's method hardly needs a second
    correction.
    """
    problem = json.loads((DATA / "A05_flyball.json").read_text())
    rows, p = problem["compliant"], problem["params"]
    mechanism = flyball_governor(
        density=p["density"], ball_mass=p["point_mass"], stiffness=p["k"], damping=p["c"], rest_length=p["l0"]
    )
    times = [row["t"] for row in rows]
    given = {"method": "bdf", "formulation": "lagrange", "reactions": False}
    run = bc.simulate(mechanism, times=times, tolerance=tolerance, **given)
    error = np.max(np.abs(run.joint("slide").position[:, 0] - [row["s"] for row in rows]))
    assert error < 300 * tolerance
    assert run.statistics["steps"] < steps
    assert run.statistics["evaluations"] < 1.6 * run.statistics["steps"]


def test_rotations_turn_with_the_body():
    """Velocities in body axes need no chart: ten turns about a fixed axis at constant speed are exact."""
    mech = bc.Mechanism("wheel", gravity=(0, 0, 0))
    mech.add_body("wheel", mass=1.0, inertia=(1.0, 1.0, 2.0), angular_velocity=(0, 0, 10.0))
    run = bc.simulate(mech, 2 * math.pi, method="bdf", tolerance=1e-4, output_step=0.5)
    turn = 5.0 * run.time
    assert run.body("wheel").rotation[:, 0] * np.cos(turn) + run.body("wheel").rotation[:, 3] * np.sin(
        turn
    ) == pytest.approx(np.ones(len(run.time)), abs=1e-9)


@pytest.mark.parametrize("tolerance", [1e-5, 1e-7, 1e-9])
def test_the_tolerance_is_kept_between_steps_too(tolerance):
    fine = bc.simulate(pendulum(), 2.0, method="dopri5", tolerance=1e-13, output_step=0.003)
    run = bc.simulate(pendulum(), 2.0, method="bdf", tolerance=tolerance, output_step=0.003)
    assert np.max(np.abs(run.body("rod").position - fine.body("rod").position)) < 300 * tolerance
    assert np.max(np.abs(run.body("rod").velocity - fine.body("rod").velocity)) < 3000 * tolerance
    assert np.max(run.violation.position) < 1e-12
    assert np.max(run.violation.velocity) < 1e-9


def test_an_impact_starts_it_anew():
    """A ball dropped from 1 m bounces with 0.8 of its speed: the height at the end is known."""
    run = bc.simulate(stops.ball(0.8), 1.5, method="bdf", output_step=0.01)
    fall = math.sqrt(2.0 / stops.GRAVITY)
    after = 1.5 - 2.6 * fall
    height = 0.8**2 * stops.GRAVITY * fall * after - 0.5 * stops.GRAVITY * after**2
    assert run.body("ball").position[-1, 2] == pytest.approx(height, abs=2e-4)


def test_a_stop_under_a_stiff_spring():
    """A block lies on a stop, pressed down by a stiff spring: it stays, and the steps grow."""
    mech = bc.Mechanism("press")
    block = mech.add_body("block", mass=1.0, inertia=(1, 1, 1))
    mech.add_joint("guide", bc.Prismatic(), mech.ground, block, limits=bc.Limit(lower=0.0))
    mech.add_force("spring", bc.TorsionSpring(stiffness=1e7, damping=1e4, preload=-100.0), "guide")
    run = bc.simulate(mech, 2.0, method="bdf", tolerance=1e-6, output_step=0.1)
    assert np.max(np.abs(run.joint("guide").position)) < 1e-9
    assert run.limit("guide").effort[-1] == pytest.approx(109.81, rel=1e-9)
    assert run.statistics["steps"] < 200


def whip(force):
    """Links on stiff springs."""
    mech = chain(5, length=0.2, angle=0.3)
    for name in list(mech.joints)[1:]:
        mech.add_force(f"spring of {name}", force, name)
    return mech


def test_derivatives_are_exact_where_they_can_be_and_the_statistics_say_so():
    """Newton's method needs no more corrections than with differences."""
    mech, counts = whip(bc.TorsionSpring(1e4, 100.0)), {}
    for formulation in ("recursive", "symbolic", "dca"):
        given = {"method": "bdf", "output_step": 1.0, "reactions": False}
        told = bc.simulate(mech, 1.0, tolerance=1e-6, formulation=formulation, **given).statistics
        by_differences = told.get("difference_evaluations", 0)
        assert by_differences == 0
        assert told["linearizations"] > 0
        counts[formulation] = (told["steps"], told["evaluations"] - by_differences)
    np.testing.assert_allclose(counts["recursive"], counts["symbolic"], rtol=0.05)


@pytest.mark.parametrize("formulation", ["lagrange", "recursive"])
def test_contacts_have_exact_derivatives(formulation):
    """A block that slides down an incline."""
    run = bc.simulate(
        block(25.0, bc.Contact(1e6, friction=0.3)),
        0.5,
        method="bdf",
        formulation=formulation,
        output_step=0.1,
    )
    assert "difference_evaluations" not in run.statistics
    slope = math.radians(25.0)
    expected = stops.GRAVITY * (math.sin(slope) - 0.3 * math.cos(slope)) * 0.5
    assert run.body("block").velocity[-1, 0] == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("formulation", ["lagrange", "recursive"])
def test_what_has_no_derivatives_is_differenced(formulation):
    """A wheel that is dropped on its tyre."""
    mech = bc.Mechanism("wheel")
    wheel = mech.add_body(
        "wheel", mass=5.0, inertia=(0.1, 0.1, 0.2), position=(0, 0, 0.3), velocity=(1, 0, 0)
    )
    mech.replace(mech.ground, shapes=[bc.Plane()])
    mech.add_force("tyre", bc.Tyre(radius=0.3, width=0.05, pressure=3e5), wheel.marker(axis="y"), "ground")
    settings = {"formulation": formulation, "output_step": 0.1}
    run = bc.simulate(mech, 0.2, method="bdf", **settings)
    assert run.statistics["difference_evaluations"] > 0
    other = bc.simulate(mech, 0.2, method="dopri5", **settings)
    np.testing.assert_allclose(final(run), final(other), atol=1e-3)


@pytest.mark.parametrize("formulation", ["lagrange", "recursive"])
def test_stiff_forces_given_by_formulas_have_exact_derivatives(formulation):
    """The motion and its steps are those with a built-in spring."""
    s = bc.EndCoordinate("s")
    forces = (bc.TorsionSpring(1e4, 100.0), bc.CustomForce(s, efforts=-1e4 * s.value - 100.0 * s.rate))
    runs = [
        bc.simulate(whip(force), 1.0, method="bdf", tolerance=1e-7, formulation=formulation)
        for force in forces
    ]
    for run in runs:
        assert "difference_evaluations" not in run.statistics
    np.testing.assert_allclose(final(runs[0]), final(runs[1]), atol=1e-4)
    steps = [run.statistics["steps"] + run.statistics["rejected_steps"] for run in runs]
    assert steps[1] < 1.5 * steps[0]


def test_a_stiff_force_given_by_formulas():
    mech = bc.Mechanism("formula", gravity=(0, 0, 0))
    block = mech.add_body("block", mass=1.0, inertia=(1, 1, 1), position=(0, 0, 0.01))
    mech.add_joint("guide", bc.Prismatic(), mech.ground, block)
    s = bc.EndCoordinate("s")
    mech.add_force("spring", bc.CustomForce(s, efforts=-1e6 * s.value - 1e4 * s.rate), "guide")
    run = bc.simulate(mech, 2.0, method="bdf", tolerance=1e-6, output_step=2.0)
    assert abs(run.joint("guide").position[-1, 0]) < 1e-6
    assert run.statistics["steps"] < 200


def test_a_long_chain_on_stiff_springs_is_linear_in_time():
    """Factorizations and evaluations a step do not depend on the length of a chain."""
    counts = []
    for links in (5, 40):
        mech = bc.Mechanism("chain")
        last = mech.ground
        for k in range(links):
            link = mech.add_body(f"link {k}", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(k + 0.5, 0, 0))
            arm = (0, 0, 0) if k == 0 else (0.5, 0, 0)
            mech.add_joint(
                f"hinge {k}",
                bc.Revolute(),
                last.marker(arm, axis=(0, 1, 0)),
                link.marker((-0.5, 0, 0), axis=(0, 1, 0)),
            )
            mech.add_force(f"spring {k}", bc.TorsionSpring(stiffness=1e6, damping=1e5), f"hinge {k}")
            last = link
        run = bc.simulate(mech, 1.0, method="bdf", tolerance=1e-6, output_step=0.5, reactions=False)
        counts.append(run.statistics["evaluations"] / run.statistics["steps"])
        assert run.statistics["steps"] < 400
    assert max(counts) < 2.5


def test_the_highest_order_is_an_option():
    assert method_options("bdf", 1.0).max_order == MOST == 5
    assert method_options("bdf", 1.0, max_order=2).max_order == 2
    with pytest.raises(bc.MechanismError, match="max_order must be at most 5"):
        method_options("bdf", 1.0, max_order=6)
