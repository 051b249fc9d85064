"""Stiff mechanisms whose vibrations nothing damps: orders of `bdf`, `esdirk`, the choice of `auto`."""

import math

import numpy as np
import pytest
from rigs.chains import spinning_chain

import bellcrank as bc

FORMULATIONS = ("lagrange", "recursive", "symbolic", "dca")
EVERY = {"output_step": 1.0, "reactions": False}


def cantilever(segments=8, damping=0.0, long=1.0):
    """A strip of steel, 20 x 5 mm, of slices on bushings about the middles of segments, let go level."""
    mech = bc.Mechanism("cantilever")
    modulus, shear_modulus, density, width, height = 2.1e11, 8.1e10, 7850.0, 0.02, 0.005
    area, flat, tall = width * height, width * height**3 / 12, height * width**3 / 12
    h, twist = long / segments, width * height**3 / 3
    shear = [
        1 / (h / (5 / 6 * shear_modulus * area) + h**3 / (12 * modulus * second)) for second in (tall, flat)
    ]
    stiffness = np.array([modulus * area / h, *shear])
    turning = np.array([shear_modulus * twist, modulus * flat, modulus * tall]) / h
    last = mech.ground
    for k in range(1, segments + 1):
        part = h if k < segments else h / 2
        inertia = density * part * np.array([flat + tall, flat, tall])
        node = mech.add_body(f"node {k}", density * area * part, inertia, position=(k * h, 0, 0))
        mech.add_force(
            f"segment {k}",
            bc.Bushing(
                tuple(stiffness), tuple(turning), tuple(damping * stiffness), tuple(damping * turning)
            ),
            last.marker((h / 2, 0, 0)),
            node.marker((-h / 2, 0, 0)),
        )
        last = node
    return mech


def steps_of(mech, duration, **given):
    told = bc.simulate(mech, duration, formulation="lagrange", **EVERY, **given).statistics
    return told["steps"] + told["rejected_steps"]


@pytest.mark.parametrize(("tolerance", "duration"), [(1e-5, 0.3), (1e-7, 0.1)])
def test_undamped_vibration_does_not_grow_under_bdf(tolerance, duration):
    """Orders 3 to 5 by themselves take fifty times the steps, to follow what they have made to grow."""
    given = {"method": "bdf", "tolerance": tolerance}
    low, free = (steps_of(cantilever(), duration, max_order=order, **given) for order in (2, 5))
    assert free < 2 * low


@pytest.mark.parametrize("tolerance", [1e-7, 1e-9])
def test_damped_vibration_keeps_the_order_of_bdf(tolerance):
    given = {"method": "bdf", "tolerance": tolerance}
    mech = cantilever(damping=1e-4)
    low, free = (steps_of(mech, 0.3, max_order=order, **given) for order in (2, 5))
    assert free < low / 2


@pytest.mark.parametrize(("stiffness", "tolerance"), [(1e10, 1e-5), (1e12, 1e-6)])
def test_bdf_steps_over_one_undamped_spring(stiffness, tolerance):
    """A pendulum on a stiff pivot: orders 3 to 5 by themselves follow vibrations, 2e5 and 2e6 steps."""
    mech = bc.Mechanism("pivot")
    place = (0.5 * math.sin(1.0), 0, -0.5 * math.cos(1.0))
    rod = mech.add_body("rod", 1.0, (1 / 12, 1 / 12, 1e-3), position=place, rotation=bc.rotation("y", -1.0))
    mech.add_force("pivot", bc.Bushing((stiffness,) * 3), mech.ground, rod.marker((0, 0, 0.5)))
    run = bc.simulate(mech, 0.5, method="bdf", tolerance=tolerance, formulation="lagrange", output_step=0.5)
    assert run.statistics["steps"] < 2000
    fine = bc.Mechanism("pinned")
    rod = fine.add_body("rod", 1.0, (1 / 12, 1 / 12, 1e-3), position=place, rotation=bc.rotation("y", -1.0))
    fine.add_joint("pivot", bc.Spherical(), fine.ground, rod.marker((0, 0, 0.5)))
    exact = bc.simulate(fine, 0.5, tolerance=1e-10, output_step=0.5).body("rod").position[-1]
    np.testing.assert_allclose(run.body("rod").position[-1], exact, atol=300 * tolerance)


def final(run):
    return np.concatenate([np.r_[b.position[-1], b.velocity[-1]] for b in map(run.body, run.bodies)])


@pytest.fixture(scope="module")
def chain():
    mech = spinning_chain()
    return mech, final(bc.simulate(mech, 0.4, method="dopri5", tolerance=1e-13, **EVERY))


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("order", [3, 4])
def test_esdirk_has_its_order(chain, order, formulation):
    mech, exact = chain
    steps, errors = [], []
    for tolerance in (1e-6, 1e-8, 1e-10):
        given = {"method": "esdirk", "tolerance": tolerance, "max_order": order, "formulation": formulation}
        run = bc.simulate(mech, 0.4, **given, **EVERY)
        assert run.statistics["highest_order"] == order
        assert np.max(run.violation.position) < 1e-11
        steps.append(run.statistics["steps"])
        errors.append(float(np.max(np.abs(final(run) - exact))))
    slope = -np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert order - 0.4 < slope < order + 1.5, f"steps {steps}, errors {errors}"


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_loop_under_esdirk_is_verified(formulation):
    run = bc.simulate(bc.gallery.four_bar(), 1.0, method="esdirk", formulation=formulation)
    assert bc.verify(run).passed


@pytest.mark.parametrize("tolerance", [1e-4, 1e-6, 1e-8])
def test_esdirk_keeps_the_tolerance_between_steps_too(chain, tolerance):
    mech, _ = chain
    fine = bc.simulate(mech, 0.4, method="dopri5", tolerance=1e-13, output_step=0.003)
    run = bc.simulate(mech, 0.4, method="esdirk", tolerance=tolerance, output_step=0.003)
    for body in run.bodies:
        off = np.max(np.abs(run.body(body).position - fine.body(body).position))
        assert off < 2000 * tolerance


@pytest.mark.parametrize("max_order", [3, 4])
def test_esdirk_damps_what_its_steps_leave_out(max_order):
    """A block on an undamped spring of 1e10 N/m, pulled at 3 rad/s: steps are those of the pull."""
    mech = bc.Mechanism("taut", gravity=(0, 0, 0))
    block = mech.add_body("block", 1.0, (1, 1, 1))
    mech.add_joint("rail", bc.Prismatic(), mech.ground, block)
    mech.add_force("wire", bc.TorsionSpring(1e10), "rail")
    mech.add_force("pull", bc.JointMotor("1e6*sin(3*t)"), "rail")
    run = bc.simulate(mech, 2.0, method="esdirk", tolerance=1e-6, max_order=max_order, output_step=0.1)
    assert run.joint("rail").position[-1, 0] == pytest.approx(1e-4 * math.sin(6.0), abs=3e-5)
    assert run.statistics["steps"] < 30


def test_esdirk_goes_on_at_once_after_an_impact():
    """It needs no history: a ball that bounces ten times costs a few steps for each."""
    mech = bc.Mechanism("ball")
    ball = mech.add_body("ball", 1.0, (1, 1, 1), position=(0, 0, 1.0))
    mech.add_joint("rail", bc.Prismatic(), mech.ground, ball, limits=bc.Limit(lower=0.0, restitution=0.9))
    runs = [bc.simulate(mech, 4.0, method=method, tolerance=1e-8) for method in ("esdirk", "dopri5")]
    np.testing.assert_allclose(runs[0].body("ball").position, runs[1].body("ball").position, atol=1e-6)
    assert runs[0].statistics["impacts"] == runs[1].statistics["impacts"] >= 5
    assert runs[0].statistics["steps"] < 20 * runs[0].statistics["impacts"]


def test_auto_takes_esdirk_where_something_vibrates():
    """Adams methods would go on by steps that look no shorter than the tolerance asks for."""
    run = bc.simulate(cantilever(), 0.5, tolerance=1e-5, output_step=0.1)
    told = run.statistics
    assert told["method"] == "esdirk"
    assert "esdirk: something vibrates fast without damping from t = " in told["choice"]
    adams = bc.simulate(cantilever(), 0.5, method="adams", tolerance=1e-5, output_step=0.1)
    assert told["evaluations"] < adams.statistics["evaluations"] / 5
    ends = [r.body("node 8").position[-1] for r in (run, adams)]
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-4)


def test_auto_stays_with_adams_where_a_vibration_is_to_be_followed():
    """A mass on an undamped spring, at tight tolerance: that is the motion."""
    mech = bc.Mechanism("oscillator", gravity=(0, 0, 0))
    ball = mech.add_body("ball", 1.0, (1, 1, 1), position=(0, 0, 1.0))
    mech.add_force("spring", bc.Bushing((400.0, 400.0, 400.0)), mech.ground, ball)
    run = bc.simulate(mech, 60.0, tolerance=1e-9)
    assert run.statistics["method"] == "adams"
    np.testing.assert_allclose(run.body("ball").position[:, 2], np.cos(20 * run.time), atol=1e-5)


def jointed(links, loop):
    """Links on hinges, balls and shafts in turn, with stiff springs across them; a loop of hinges alone."""
    mech = bc.Mechanism("chain")
    last = mech.ground.marker(axis="y")
    for k in range(links):
        body = mech.add_body(f"link {k}", 0.1, (1e-4, 4e-4, 4e-4), position=(0.1 * k + 0.05, 0, 0))
        here = body.marker((-0.05, 0, 0), axis="y")
        if loop or k % 3 == 0:
            mech.add_joint(f"joint {k}", bc.Revolute(), last, here)
        elif k % 3 == 1:
            mech.add_joint(f"joint {k}", bc.Spherical(), last, here)
        else:
            mech.add_joint(f"joint {k}", bc.Universal(), last, here)
        turning = bc.Bushing(rotational_stiffness=(800.0,) * 3, rotational_damping=(0.02,) * 3)
        mech.add_force(f"spring {k}", turning, last, here)
        last = body.marker((0.05, 0, 0), axis="y")
    if loop:
        mech.add_joint("closing", bc.PointOnPlane(), mech.ground.marker((0, 0, 0)), last)
    return mech


@pytest.mark.parametrize("loop", [False, True])
def test_joint_coordinates_take_sparse_implicit_steps(loop):
    """By the matrix of bodies and rows, as maximal coordinates do: no differences, and the same motion."""
    mech = jointed(48, loop)
    ends = {}
    for formulation in ("lagrange", "recursive"):
        run = bc.simulate(mech, 0.05, formulation=formulation, method="esdirk", tolerance=1e-7)
        assert run.statistics.get("difference_evaluations", 0) == 0
        ends[formulation] = run.body("link 47").position[-1]
    np.testing.assert_allclose(ends["recursive"], ends["lagrange"], atol=1e-6)


def test_joint_coordinates_take_sparse_steps_with_stops_and_friction():
    mech = jointed(48, loop=True)
    mech.replace(mech.joints["joint 20"], limits={"theta_z": bc.Limit(lower=-2e-4, upper=2e-4)})
    mech.add_force("rub", bc.JointFriction(coulomb=0.5), "joint 30")
    ends = {}
    for formulation in ("lagrange", "recursive"):
        run = bc.simulate(mech, 0.05, formulation=formulation, method="bdf", tolerance=1e-7)
        ends[formulation] = run.body("link 47").position[-1]
        assert np.abs(run.joint("joint 20").position[:, 0]).max() < 2e-4 + 1e-7
    np.testing.assert_allclose(ends["recursive"], ends["lagrange"], atol=2e-6)
