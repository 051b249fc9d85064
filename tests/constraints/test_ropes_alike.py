"""Two ropes between the same bodies, alike to first order: where one takes over nothing jumps."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.formulations.preparing import MOVING

END = 0.02  # s; the ropes are equally long at 0.005 s
METHODS = [("adams", None), ("dopri5", None), ("rk4", 1e-4), ("rk4", 1e-5)]


def two_ropes():
    """An arm that draws a weight up by two ropes, hung at other heights of both."""
    mech = bc.Mechanism("two ropes")
    arm = mech.add_body("arm", mass=1.7, inertia=(0.02,) * 3, com=(0.34, 0, 0))
    weight = mech.add_body("weight", mass=2.6, inertia=(0.02,) * 3, position=(2, -0.04, 0), com=(0.3, 0, 0))
    mech.add_joint("axle", bc.Revolute(), mech.ground.marker(axis="y"), arm.marker(axis="y"))
    mech.add_joint("rail", bc.Prismatic(), mech.ground.marker((2, -0.04, 0)), weight)
    eyelets = mech.ground.marker((0.1, 0, 1.2)), mech.ground.marker((2.1, 0, 1.2))
    for name, on_arm, on_weight in (("first", 0.0, 0.3), ("second", 0.3, 0.0)):
        ends = arm.marker((0.1, 0, on_arm)), *eyelets, weight.marker((0.1, 0, on_weight))
        mech.add_constraint(name, bc.Cable(slack=True), *ends)
    return mech


@pytest.fixture(scope="module")
def angle():
    """Of the arm, by a method in which nothing holds to both sides."""
    run = bc.simulate(two_ropes(), END, output_step=1e-4, method="moreau", step=1e-5, formulation="recursive")
    return run.joint("axle").position[:, 0]


@pytest.mark.parametrize(("method", "step"), METHODS)
@pytest.mark.parametrize("formulation", MOVING)
def test_one_rope_takes_over_from_another(formulation, method, step, angle):
    given = {"step": step} if step else {}
    run = bc.simulate(two_ropes(), END, output_step=1e-4, formulation=formulation, method=method, **given)
    np.testing.assert_allclose(run.joint("axle").position[:, 0], angle, atol=1e-7)


@pytest.mark.parametrize("formulation", ["lagrange", "dca"])
def test_speeds_of_frames_do_not_jump_either(formulation):
    run = bc.simulate(two_ropes(), END, output_step=1e-4, formulation=formulation, method="adams")
    gained, speed = np.diff(run.joint("axle").position[:, 0]), run.joint("axle").velocity[:, 0]
    np.testing.assert_allclose(gained, 0.5e-4 * (speed[1:] + speed[:-1]), atol=1e-8)
