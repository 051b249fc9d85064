"""Differences: their steps suit the tolerance of the runs, so their errors are of its two thirds' power."""

import numpy as np
import pytest
from rigs.studied import four_bar, oscillator

import bellcrank as bc
from bellcrank.studies.evaluator import Evaluator, free_parameters, noise_of, step_of
from bellcrank.studies.experiment import Experiment, Measures
from bellcrank.studies.fit import deviations_of
from bellcrank.studies.measures import measures_of
from bellcrank.studies.progress import CountProgress
from bellcrank.studies.workers import Here

END = 2.5


def evaluator(
    free=("stiffness", "mass"), measure="final joint.track.x", mech=None, analysis="simulate", **arguments
):
    mech = mech or oscillator()
    measures = measures_of(measure)
    experiment = Experiment(mech, analysis, {"duration": END, **arguments}, Measures(measures), len(measures))
    return Evaluator(experiment, free_parameters(mech, free, None), Here(), CountProgress(False, "", None))


def exact(stiffness, mass):
    """Derivatives of cos(sqrt(k/m) T)."""
    rate = np.sqrt(stiffness / mass)
    return -np.sin(rate * END) * END * rate / 2 * np.array([1 / stiffness, -1 / mass])


@pytest.mark.parametrize(
    ("arguments", "noise"),
    [
        ({"method": "dopri5", "tolerance": 1e-6}, 1e-5),
        ({"method": "adams", "tolerance": 1e-8}, 1e-7),
        ({}, 1e-8),
        ({"method": "dopri5", "rtol": 1e-11, "atol": 1e-11}, 1e-10),
        ({"step": 1e-3}, 1e-13),
    ],
)
def test_derivatives_are_as_good_as_the_tolerance_allows(arguments, noise):
    found = evaluator(**arguments)
    assert noise_of(found.experiment) == pytest.approx(noise)
    point = np.array([10.0, 1.0])
    errors = np.abs(found.derivatives(point)[0] / exact(*point) - 1.0)
    assert (errors < 30.0 * noise ** (2 / 3)).all()
    # Steps for rounding errors, as differences usually have, are no good where orders and steps jump.
    if noise >= 1e-8 and arguments.get("method") != "dopri5":
        steps = 1e-8 * point[0] * np.array([1.0, -1.0, 2.0, -2.0])
        moved = [float(found.at([point + np.array([step, 0.0])])[0].values[0]) for step in steps]
        usual = (np.array(moved) - float(found.at([point])[0].values[0])) / steps
        assert np.max(np.abs(usual / exact(*point)[0] - 1.0)) > 3.0 * errors[0]


def test_steps_balance_the_error_of_the_difference_and_the_noise():
    steps = np.geomspace(1e-9, 1.0, 20_001)
    for noise in (1e-13, 1e-8, 1e-5):
        best = steps[np.argmin(steps**2 / 6 + noise / steps)]
        assert step_of(noise) == pytest.approx(best, rel=1e-2)


def test_at_bounds_differences_are_one_sided_and_as_good():
    found = evaluator(step=1e-3)
    for point in (np.array([10.0, 0.1]), np.array([1000.0, 50.0])):
        assert np.allclose(found.derivatives(point)[0], exact(*point), rtol=1e-5)
    asked = np.array([point for point, _ in found.order])
    assert (asked >= found.low).all()
    assert (asked <= found.high).all()


def test_beside_failures_a_difference_has_one_side(monkeypatch):
    """A turn of the crank needs  0.4 + 0.12 ≤ coupler + 0.28 m."""
    monkeypatch.setattr("bellcrank.studies.evaluator.noise_of", lambda experiment: 1e-6)  # steps of 0.0035 m
    found = evaluator(
        ("coupler",), "peak drive.motor", four_bar(), "inverse_dynamics", duration=1.0, step=0.05
    )
    (derivative,) = found.derivatives(np.array([0.241]))
    assert len(found.failures) == 1
    (middle, upper) = (outcome.values[0] for _, outcome in found.order if not outcome.reason)
    ends = [point[0] for point, outcome in found.order if not outcome.reason]
    assert derivative[0] == pytest.approx((upper - middle) / (ends[1] - ends[0]))
    assert np.isnan(found.derivatives(np.array([0.2]))).all()


def test_every_point_is_computed_once():
    found = evaluator(step=1e-2)
    points = [np.array([10.0, 1.0]), np.array([11.0, 1.0]), np.array([10.0, 1.0])]
    assert found.at(points)[0] is found.at(points)[2]
    assert found.runs == 2


def test_deviations_are_those_of_linear_regression():
    rng = np.random.default_rng(5)
    jacobian = rng.normal(size=(40, 3)) * [1.0, 1e6, 1e-6]
    deviations, correlation = deviations_of(jacobian)
    covariance = np.linalg.inv(jacobian.T @ jacobian)
    assert np.allclose(deviations, np.sqrt(np.diag(covariance)))
    assert np.allclose(correlation * np.outer(deviations, deviations), covariance)


def test_what_data_do_not_determine_has_no_finite_deviation():
    rng = np.random.default_rng(5)
    one, two = rng.normal(size=(2, 40))
    deviations, correlation = deviations_of(np.stack([one, two, one, 0 * one], axis=1))
    assert np.isinf(deviations).tolist() == [True, False, True, True]
    assert deviations[1] == pytest.approx(1 / np.sqrt(two @ two - (one @ two) ** 2 / (one @ one)))
    assert np.array_equal(np.diag(correlation), np.ones(4))


@pytest.mark.parametrize(
    ("free", "guess", "said"),
    [
        (["mas"], None, "did you mean 'mass'"),
        ({"mass": (2, 1)}, None, "its lower bound must be less"),
        ({"mass": 3}, None, "its bounds must be (low, high)"),
        ({"mass": (0.01, 2)}, None, "value must not be less than low = 0.1"),
        ({"mass": (1, 2)}, {"mass": 3}, "its guess must lie between 1 and 2"),
        ({"mass": (1, 2)}, {"damping": 3}, "it has a guess but is not free"),
        ([], None, "it needs a parameter at least"),
    ],
)
def test_wrong_parameters(free, guess, said):
    with pytest.raises(bc.MechanismError) as caught:
        free_parameters(oscillator(), free, guess)
    assert said in str(caught.value)
