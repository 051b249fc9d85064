"""Fixed steps are divided where stops are met: impacts keep the order of the method; what lands rests."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.formulations.preparing import MOVING

INERTIA = (0.02,) * 3


def two_weights(heavy=2.0, light=1.0):
    """Weights over an eyelet; the heavy one falls 0.3 m onto a stop and throws the light one up."""
    mech = bc.Mechanism("two weights")
    a = mech.add_body("heavy", mass=heavy, inertia=INERTIA)
    b = mech.add_body("light", mass=light, inertia=INERTIA, position=(1.0, 0.0, 0.0))
    mech.add_joint("slide", bc.Prismatic(), mech.ground, a, limits=bc.Limit(lower=-0.3))
    mech.add_joint("other", bc.Prismatic(), mech.ground.marker((1.0, 0.0, 0.0)), b)
    eyelets = (mech.ground.marker((x, 0.0, 1.0)) for x in (0.0, 1.0))
    mech.add_constraint("rope", bc.Cable(slack=True), a, *eyelets, b)
    return mech


def arm_and_weight(restitution=0.6):
    """An arm that a weight draws over two eyelets against its stop, hard enough for the rope to go slack."""
    mech = bc.Mechanism("arm and weight")
    arm = mech.add_body("arm", mass=1.7, inertia=(0.03, 0.05, 0.03), com=(0.34, 0.0, 0.0))
    weight = mech.add_body("weight", mass=2.6, inertia=INERTIA, position=(2.0, 0.0, 0.0))
    limits = bc.Limit(lower=-0.5, upper=0.8, restitution=restitution)
    mech.add_joint("hinge", bc.Revolute(), mech.ground.marker(axis="y"), arm.marker(axis="y"), limits=limits)
    mech.add_joint("slide", bc.Prismatic(), mech.ground.marker((2.0, 0.0, 0.0)), weight)
    eyelets = (mech.ground.marker((x, 0.0, 1.2)) for x in (0.1, 2.0))
    mech.add_constraint("rope", bc.Cable(slack=True), arm.marker((0.3, 0.0, 0.0)), *eyelets, weight)
    return mech


@pytest.mark.parametrize(
    ("method", "step"), [("rk4", 5e-3), ("rk4", 1e-3), ("rk4", 1e-4), ("semi_implicit_euler", 1e-3)]
)
@pytest.mark.parametrize("formulation", MOVING)
def test_weights_come_to_rest(formulation, method, step):
    """At rest the rope carries the light one, and the stop what is left of the heavy one."""
    run = bc.simulate(two_weights(), 1.6, formulation=formulation, method=method, step=step)
    rest = run.time > 1.5
    np.testing.assert_allclose(run.limit("slide").effort[rest], 9.81, rtol=0, atol=1e-6)
    np.testing.assert_allclose(run.constraint("rope").effort[rest], 9.81, rtol=0, atol=1e-6)
    np.testing.assert_allclose(run.joint("other").velocity[rest], 0.0, rtol=0, atol=1e-9)
    np.testing.assert_allclose(run.joint("other").position[rest], 0.3, rtol=0, atol=1e-8)


@pytest.mark.parametrize("formulation", MOVING)
def test_impacts_keep_the_order_of_the_method(formulation):
    """Ten impacts and openings of a rope on the way; the steps do not end at any of them."""
    mech = arm_and_weight()
    exact = bc.simulate(mech, 2.0, method="dopri5", tolerance=1e-12, output_step=0.1)
    assert len(exact.events) >= 5
    errors = []
    for step in (4e-3, 2e-3):
        run = bc.simulate(mech, 2.0, formulation=formulation, method="rk4", step=step, output_step=0.1)
        errors.append(np.abs(run.joint("hinge").position - exact.joint("hinge").position).max())
    assert errors[0] < 1e-6
    assert errors[1] < errors[0] / 8.0 + 1e-9


@pytest.mark.parametrize("formulation", ["lagrange", "recursive"])
def test_a_ball_that_bounces_ever_less(formulation):
    """Of infinitely many bounces in the last step the first are met; the rest is taken whole, and it lies."""
    mech = bc.Mechanism("ball")
    ball = mech.add_body("ball", mass=1.0, inertia=INERTIA, position=(0.0, 0.0, 0.1))
    mech.add_joint("slide", bc.Prismatic(), mech.ground, ball, limits=bc.Limit(lower=0.0, restitution=0.9))
    drop = np.sqrt(2.0 * 0.1 / 9.81)
    ends = drop * (1.0 + 2.0 * 0.9 / 0.1)  # of a geometric series
    run = bc.simulate(mech, ends + 0.1, formulation=formulation, method="rk4", step=1e-3)
    height = run.joint("slide").position[:, 0]
    bounced = drop * (1.0 + 2.0 * 0.9 * (1.0 - 0.9**6) / 0.1)
    since = bounced + drop * 0.9**7
    top = 0.1 * 0.9**14
    at = np.argmin(np.abs(run.time - since))
    expected = top - 0.5 * 9.81 * (run.time[at] - since) ** 2
    assert abs(height[at] - expected) < 1e-9
    lies = run.time > ends + 0.01
    assert np.abs(height[lies]).max() < 1e-8
    np.testing.assert_allclose(run.limit("slide").effort[lies], 9.81, rtol=0, atol=1e-6)
