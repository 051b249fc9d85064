"""What rests on a stop stays on it through the stages of a step: a stop costs the steps of an equation."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.formulations.preparing import MOVING

METHODS = ("adams", "dopri5", "bdf")


def weight(slack, velocity=(0.0, 0.0, 0.0), position=(-0.6, 0.0, -0.8)):
    """A weight on a cable of 1 m, taut at the start."""
    mech = bc.Mechanism("weight on a cable")
    body = mech.add_body("weight", mass=1.0, inertia=(1e-3,) * 3, position=position, velocity=velocity)
    mech.add_constraint("cable", bc.Cable(length=1.0, slack=slack), mech.ground.marker(), body.marker())
    return mech


def path(run):
    return run.body("weight").position


@pytest.mark.parametrize("tolerance", [1e-5, 1e-7])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("formulation", MOVING)
def test_a_taut_cable_is_a_rod(formulation, method, tolerance):
    how = {"formulation": formulation, "method": method, "tolerance": tolerance}
    taut, rod = (bc.simulate(weight(slack), 3.0, **how) for slack in (True, False))
    exact = bc.simulate(weight(False), 3.0, method="dopri5", tolerance=1e-12)
    assert taut.statistics["steps"] <= 1.2 * rod.statistics["steps"] + 5
    error, usual = (np.abs(path(run) - path(exact)).max() for run in (taut, rod))
    assert error <= 5.0 * usual + 1e-9
    np.testing.assert_allclose(np.linalg.norm(path(taut), axis=1), 1.0, rtol=0, atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("formulation", MOVING)
def test_a_cable_that_goes_slack(formulation, method):
    """From the bottom with v² = 3.5 g l the weight leaves the circle at the height (v²/(g l) - 2) l/3."""
    g, v = 9.81, np.sqrt(3.5 * 9.81)
    how = {"formulation": formulation, "method": method, "tolerance": 1e-8}
    run = bc.simulate(weight(True, (v, 0.0, 0.0), (0.0, 0.0, -1.0)), 1.0, output_step=1e-3, **how)
    height = (v**2 / g - 2.0) / 3.0
    across = np.sqrt(1.0 - height**2)
    left_at, speed = np.array([across, 0.0, height]), np.sqrt(g * height) * np.array([-height, 0.0, across])
    since = (
        speed[2] - run.body("weight").velocity[:, 2]
    ) / g  # the time in flight, from the vertical velocity
    flight = left_at + since[:, None] * speed + 0.5 * since[:, None] ** 2 * np.array([0.0, 0.0, -g])
    begun = int(np.argmin(np.linalg.norm(path(run) - left_at, axis=1)))
    np.testing.assert_allclose(np.linalg.norm(path(run)[: begun - 2], axis=1), 1.0, rtol=0, atol=1e-7)
    inside = np.append(np.linalg.norm(flight[begun + 50 :], axis=1) < 1.0, False)
    flying = slice(begun + 50, begun + 50 + int(np.argmin(inside)))
    assert flying.stop - flying.start > 300
    np.testing.assert_allclose(path(run)[flying], flight[flying], rtol=0, atol=1e-5)
