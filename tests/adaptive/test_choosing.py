"""What "auto" takes where an error is admitted, and what runs say in which too many joints were free."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import MechanismError
from bellcrank.run.adaptive import LARGE
from bellcrank.trajectory.moves import MoveTrajectory
from bellcrank.trajectory.trajectory import Trajectory
from benchmarks.adaptive_linkages import molecule


def pulled(atoms):
    """A molecule with one atom pulled."""
    tree = molecule(atoms, even=True)
    return tree.loaded(np.array([atoms // 2]), np.array([[3.0, 1.0, 0.0]])).mechanism()


def test_an_admitted_error_makes_large_trees_adaptive():
    run = bc.simulate(pulled(LARGE), 0.05, max_error=0.1)
    assert isinstance(run, MoveTrajectory)
    assert f"an error of 0.1 is admitted in a tree of {LARGE} joints" in run.statistics["choice"]
    assert run.error.max() <= 0.1
    assert "note" not in run.statistics


@pytest.mark.parametrize(("make", "given"), [
    (lambda: pulled(LARGE - 1), {"max_error": 0.1}),
    (lambda: pulled(LARGE), {}),
    (lambda: pulled(LARGE), {"max_error": 0.0}),
    (lambda: pulled(LARGE), {"max_error": 0.1, "tolerance": 1e-6}),
    (lambda: pulled(LARGE), {"max_error": 0.1, "method": "dopri5"}),
    (lambda: pulled(LARGE), {"max_error": 0.1, "ledger": True}),
    (lambda: pulled(LARGE), {"max_error": 0.1, "method": "rk4", "step": 0.03}),
    (bc.gallery.four_bar, {"max_error": 0.1, "max_joints": 3}),
], ids=["small", "not asked for", "no error", "tolerance", "method", "ledger", "steps", "loop"])  # fmt: skip
def test_everything_else_is_exact(make, given):
    run = bc.simulate(make(), 0.05, **given)
    assert isinstance(run, Trajectory)
    assert "adaptive" not in run.statistics.get("choice", "")


def test_wrong_limits_are_refused_whatever_is_chosen():
    with pytest.raises(MechanismError, match="max_error must be at least 0"):
        bc.simulate(pulled(5), 0.05, max_error=-1.0)
    with pytest.raises(MechanismError, match="measure"):
        bc.simulate(pulled(5), 0.05, max_error=0.1, measure="mean")
    with pytest.raises(MechanismError, match="max_joints is a part of formulation='adaptive'"):
        bc.simulate(pulled(5), 0.05, max_joints=3)


def test_a_run_in_which_most_joints_were_free_says_what_would_have_been_faster():
    run = bc.simulate(pulled(60), 0.05, formulation="adaptive", max_error=1e-9)
    assert "100 % of the joints were free on average" in run.statistics["note"]
    assert "formulation='recursive'" in run.statistics["note"]
