"""Mechanisms that pass poses where their freedoms jump, with nothing set specially.

There the constraints alone would allow another branch; inertia carries the mechanism along the smooth one.
"""

import numpy as np
import pytest
from rigs import linkages
from rigs.machine import Machine, matrix

METHODS = {
    "rk4": {"method": "rk4", "step": 1e-3},
    "rk4 at odd steps": {"method": "rk4", "step": 3.7e-3},
    "rk4 at long steps": {"method": "rk4", "step": 1e-2},
    "dopri5": {"method": "dopri5", "rtol": 1e-9, "atol": 1e-9},
    "adams": {"method": "adams", "rtol": 1e-9, "atol": 1e-9},
}
# Next to a singular pose an error of positions (1e-11) is magnified by up to its inverse square root.
BRANCH = 1e-6


def angles(run, body):
    """Angle of a bar in the xz plane from x towards z, unwrapped (T,)."""
    R = matrix(run.rotation[:, body])
    return np.unwrap(np.arctan2(R[:, 2, 0], R[:, 0, 0]))


def followed(mechanism, method):
    machine = Machine(mechanism)
    assert machine.system.project()
    run = machine.run(10.0, **METHODS[method])
    assert run.outcome["status"] == "finished"
    assert run.C.max() < 1e-9
    assert run.Cdot.max() < 1e-9
    return run


@pytest.fixture(params=METHODS)
def method(request):
    return request.param


def test_a_parallelogram_does_not_fold_over(method):
    """It starts flat and passes flat poses twice a turn; the coupler does not turn."""
    run = followed(linkages.parallelogram(speed=8.0), method)
    first, coupler, second = (angles(run, body) for body in range(3))
    assert np.ptp(first) > 4 * np.pi
    assert np.abs((first - first[0]) - (second - second[0])).max() < BRANCH
    assert np.ptp(coupler) < BRANCH


def test_a_slider_crank_with_equal_bars_goes_through(method):
    """At ±90° the rod could stay on the crank and turn with it; it goes on as its mirror image."""
    run = followed(linkages.slider_crank(), method)
    crank, rod = angles(run, 0), angles(run, 1)
    assert np.ptp(crank) > 4 * np.pi
    np.testing.assert_allclose(crank + rod, crank[0] + rod[0], atol=BRANCH)


def test_windows_stay_parallel(method):
    """Six cranks: the flat poses have six freedoms instead of one."""
    run = followed(linkages.windows(5), method)
    cranks = np.array([angles(run, body) for body in range(6)])
    assert np.ptp(cranks[0]) > 4 * np.pi
    np.testing.assert_allclose(cranks - cranks[:, :1], np.tile(cranks[0] - cranks[0, 0], (6, 1)), atol=BRANCH)


@pytest.mark.parametrize("turn", [0.0, np.pi / 2, np.pi])
def test_at_rest_in_a_flat_pose(turn):
    """Hanging, lying or standing flat, at rest: it moves on some branch, and keeps constraints and energy.

    It leaves the pose slowly. Until it is so far that the row which is singular there is worth an angle of
    1e-5, that row is dropped and its rate not corrected.
    """
    mech = linkages.parallelogram(speed=0.0)
    mech.gravity = (9.81 * np.sin(turn), 0.0, -9.81 * np.cos(turn))
    machine = Machine(mech)
    assert machine.system.project()
    run = machine.run(3.0)
    assert run.outcome["status"] == "finished"
    assert run.C.max() < 1e-9
    assert run.Cdot.max() < 1e-6
    assert run.Cdot[10:].max() < 1e-9
    assert run.drift < 1e-6
