"""Errors that are bounded, by all measures, while joint accelerations are refined."""

import numpy as np
import pytest
from rigs.adaptive import linkage, per_joint

from bellcrank import _core
from bellcrank.run.quasistatic import MEASURES

STEPS = 10_000


def measured(measure, all_joints, left_out):
    """The error of joint accelerations (n,) where some are taken as zero, by its definition."""
    if measure.endswith("linkage"):
        error, whole = np.sqrt(np.sum(left_out**2)), np.sqrt(np.sum(all_joints**2))
    else:
        error, whole = left_out.max(initial=0.0), all_joints.max(initial=0.0)
    if measure.startswith("absolute") or error == 0.0:
        return error
    return error / whole


@pytest.mark.parametrize("measure", MEASURES)
def test_the_bound_holds_in_random_steps(measure):
    """Every step refines to a random bound, then further, and goes on to another configuration."""
    rng = np.random.default_rng(MEASURES.index(measure))
    runs, steps = 100, STEPS // 4 // 100
    for number in range(runs):
        core, _, floats = linkage(rng, measure, number)
        for _ in range(steps):
            core.refine(0.0)
            exact = per_joint(core)
            exact[floats] = 0.0
            core.begin()
            scale = 1.0 if measure.startswith("relative") else max(exact.max(), 1e-300)
            last = np.inf
            for bound in scale * np.sort(10.0 ** rng.uniform(-9, 0, 3))[::-1]:
                error = core.refine(bound)
                assert error <= bound
                assert error <= last
                last = error
                left_out = exact.copy()
                left_out[core.computed] = 0.0
                assert measured(measure, exact, left_out) <= bound * (1.0 + 1e-9)
                assert measured(measure, exact, left_out) <= error * (1.0 + 1e-9)
            core.move()


@pytest.mark.parametrize("measure", MEASURES)
def test_the_error_falls_joint_by_joint(measure):
    core, _, floats = linkage(np.random.default_rng(3), measure, 11, size=300)
    core.refine(0.0)
    exact = per_joint(core)
    exact[floats] = 0.0
    core.begin()
    left_out, seen = exact.copy(), 0
    errors = [measured(measure, exact, left_out)]
    while len(core.computed) < len(exact):
        before = core.error
        core.refine(np.nextafter(before, 0.0))
        if core.error == before:  # all that is left is rounding
            assert before <= 1e-11 * max(1.0, errors[0])
            break
        assert core.error < before
        left_out[core.computed[seen:]] = 0.0
        seen = len(core.computed)
        errors.append(measured(measure, exact, left_out))
        if core.error == 0.0:
            break
    assert np.all(np.diff(errors) <= 0.0)


def test_a_bound_of_zero_is_exact():
    for number in range(40):
        core, _, _ = linkage(np.random.default_rng(number), "relative_linkage", number)
        core.refine(0.0)
        refined = core.accelerations()
        assert len(core.computed) >= np.count_nonzero(np.diff(core.first_freedoms))
        core.solve()
        exact = core.accelerations()
        np.testing.assert_allclose(refined, exact, rtol=0.0, atol=1e-12 * np.abs(exact).max())


def test_refining_keeps_what_is_computed():
    core, _, _ = linkage(np.random.default_rng(0), "relative_joint", 5, size=400)
    core.refine(0.1)
    first = core.computed
    core.refine(1e-3)
    np.testing.assert_array_equal(core.computed[: len(first)], first)
    assert len(core.computed) > len(first)


def test_a_linkage_without_forces_is_at_rest():
    core, _, _ = linkage(np.random.default_rng(1), "relative_joint", 2, forces=False)
    assert core.refine(0.0) == 0.0
    assert len(core.computed) <= 1  # a body that hangs on nothing
    assert isinstance(core, _core.Quasistatics)
