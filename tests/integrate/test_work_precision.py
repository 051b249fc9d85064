"""Evaluations for an accuracy, beside CVODE and Dormand-Prince, on four references."""

import math

import numpy as np
import pytest

from benchmarks import integrators
from benchmarks.oracle_problems import problems

PROBLEMS = {problem.name: problem for problem in problems()}
SMOOTH = [name for name, problem in PROBLEMS.items() if not problem.stiff]
TOLERANCES = tuple(10.0**-k for k in range(4, 12))
ACCURACIES = (1e-4, 1e-5, 1e-6, 1e-7)


@pytest.fixture(scope="module")
def ends():
    return {name: integrators.exact(problem) for name, problem in PROBLEMS.items()}


@pytest.fixture(scope="module")
def cvode():
    pytest.importorskip("sksundae", reason="CVODE comes with scikit-sundae")
    return integrators.cvode_work


@pytest.mark.parametrize("name", PROBLEMS)
def test_both_solve_the_same_equations(name, ends, cvode):
    """Written out independently in minimal coordinates."""
    method = "BDF" if PROBLEMS[name].stiff else "Adams"
    assert cvode(PROBLEMS[name], method, ends[name], (1e-12,)).errors[0] < 1e-8


def compare(ours, theirs, most):
    """The geometric mean over accuracies: single ones carry the luck of single runs."""
    ratios = [ours.needed(accuracy) / theirs.needed(accuracy) for accuracy in ACCURACIES]
    mean = math.exp(float(np.mean(np.log(ratios))))
    assert mean <= most, f"{ours.method} takes {ratios} of the evaluations of {theirs.method}"


@pytest.mark.parametrize("formulation", integrators.FORMULATIONS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_bdf_beside_cvode(name, formulation, ends, cvode):
    problem = PROBLEMS[name]
    compare(
        integrators.own_work(problem, "bdf", formulation, ends[name], TOLERANCES),
        cvode(problem, "BDF", ends[name], TOLERANCES),
        1.5,
    )


@pytest.mark.parametrize("formulation", integrators.FORMULATIONS)
@pytest.mark.parametrize("name", SMOOTH)
def test_adams_beside_cvode(name, formulation, ends, cvode):
    problem = PROBLEMS[name]
    compare(
        integrators.own_work(problem, "adams", formulation, ends[name], TOLERANCES),
        cvode(problem, "Adams", ends[name], TOLERANCES),
        1.4,
    )


@pytest.mark.parametrize("name", SMOOTH)
def test_adams_beside_dormand_prince(name, ends):
    """Where accuracy is asked for, many orders beat one."""
    problem = PROBLEMS[name]
    adams = integrators.own_work(problem, "adams", "lagrange", ends[name], TOLERANCES)
    dopri = integrators.own_work(problem, "dopri5", "lagrange", ends[name], TOLERANCES)
    assert adams.needed(1e-7) < dopri.needed(1e-7)


def test_bdf_beside_dormand_prince(ends):
    """On the stiff governor an explicit method is bound by its stability."""
    problem = PROBLEMS["governor"]
    bdf = integrators.own_work(problem, "bdf", "lagrange", ends["governor"], (1e-6, 1e-8))
    dopri = integrators.own_work(problem, "dopri5", "lagrange", ends["governor"], (1e-3, 1e-6))
    assert max(bdf.evaluations) < 0.2 * min(dopri.evaluations)


def test_needed_is_between_runs():
    work = integrators.Work("p", "m", (1.0, 0.1), (1e-2, 1e-4), (100, 400))
    assert work.needed(1e-3) == pytest.approx(200.0)
    assert math.isnan(work.needed(1e-6))
    assert np.isclose(work.needed(1e-4), 400.0)
