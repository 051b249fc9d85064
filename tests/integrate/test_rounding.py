"""Steps through poses where accelerations are hardly known: rounding must not pass for truncation."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.gallery import n_four_bar, slider_crank


@pytest.mark.parametrize("formulation", ["recursive", "symbolic"])
@pytest.mark.parametrize(("method", "most"), [("dopri5", 2000), ("adams", 300)])
def test_steps_do_not_collapse_at_singular_poses(formulation, method, most):
    """Three times through the pose where all rods lie in line, at a tolerance near rounding.

    How many steps a run takes there hangs on the last digits of all numbers, and with them on those of the
    tolerance: the median of several counts.
    """
    mech = n_four_bar(5, length=1.0, mass=1.0, tip_speed=-1.0, gravity=9.81)
    tolerance, counts = 4e-12 if method == "adams" else 1e-12, []
    for part in range(5):
        settings = {"rank_tolerance": 1e-8, "tolerance": tolerance * (1.0 + 1e-6 * part)}
        run = bc.simulate(mech, 3.5, formulation=formulation, method=method, reactions=False, **settings)
        assert run.statistics["rejected_steps"] < 0.5 * run.statistics["steps"]
        np.testing.assert_allclose(run.energy.total, run.energy.total[0], atol=1e-7)
        counts.append(run.statistics["steps"])
    assert np.median(counts) < most
    assert max(counts) < 3 * most


@pytest.mark.parametrize("formulation", ["recursive", "symbolic"])
@pytest.mark.parametrize("n", [7, 10, 13])
def test_long_rows_pass_their_flat_poses(formulation, n):
    """Closing rows are known to the tolerance of projections; what that does to accelerations is rounding."""
    run = bc.simulate(
        n_four_bar(n), 1.5, formulation=formulation, method="dopri5", tolerance=1e-11, reactions=False
    )
    assert run.statistics["rejected_steps"] < 30
    assert run.statistics["evaluations"] < 2500
    np.testing.assert_allclose(run.energy.total, run.energy.total[0], atol=1e-7)


@pytest.mark.parametrize(
    ("n", "tolerance"), [(1, 2e-13), (2, 2e-13), (2, 3e-13), (3, 2e-13), (5, 1e-12), (10, 4e-12)]
)
@pytest.mark.parametrize("speed", [1.0, -1.0, 0.99])
def test_steps_do_not_shrink_without_refusals(n, tolerance, speed):
    """Errors between what steps are chosen for and the tolerance are never refused, and may be rounding.

    The median of several counts, as above: without fused products 5 of 90 such runs take up to 33,000 steps.
    """
    mech, steps, rejected = n_four_bar(n, tip_speed=speed), [], []
    settings = {"method": "adams", "rank_tolerance": 1e-8, "output_step": 1.0, "reactions": False}
    for part in range(3):
        near = tolerance * (1.0 + 1e-6 * part)
        run = bc.simulate(mech, 10.0, formulation="lagrange", tolerance=near, **settings)
        np.testing.assert_allclose(run.energy.total, run.energy.total[0], atol=2e-8)
        steps.append(run.statistics["steps"])
        rejected.append(run.statistics["rejected_steps"])
    assert np.median(steps) < 1500
    assert np.median(rejected) < 300


@pytest.mark.parametrize("formulation", ["recursive", "symbolic"])
def test_steps_do_not_collapse_where_a_row_vanishes(formulation):
    """Crank and rod are equal: when the slider passes the pivot a closing row says nothing for a moment."""
    mech = slider_crank(1.0, 1.0, crank_mass=1.0, rod_mass=1.0, slider_mass=1.0, angle=0.8, rate=4.0)
    run = bc.simulate(mech, 3.0, formulation=formulation, method="dopri5", tolerance=1e-12, reactions=False)
    turned = np.ptp(run.joint("pivot").position[:, 0])
    assert turned > 2 * np.pi
    assert run.statistics["steps"] < 3000
    np.testing.assert_allclose(run.energy.total, run.energy.total[0], atol=1e-8)


@pytest.mark.parametrize("n", [1, 5, 40])
def test_dopri5_steps_aside_from_singular_poses(n):
    """With default options: what is left of the tolerance there is rounding, and the run says so."""
    mech = n_four_bar(n)
    settings = {"method": "dopri5", "tolerance": 1e-12, "output_step": 1.0, "reactions": False}
    run = bc.simulate(mech, 10.0, formulation="lagrange", **settings)
    assert run.status == "finished"
    assert run.statistics["steps"] < 4000
    assert run.statistics["rejected_steps"] < 200
    assert "rounding" in run.statistics["accuracy"]
    np.testing.assert_allclose(run.energy.total, run.energy.total[0], atol=1e-6)
