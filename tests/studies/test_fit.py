"""`bc.fit`: parameters and their deviations come back; differences suit the tolerance of runs."""

import numpy as np
import pytest
from rigs.studied import four_bar, oscillator

import bellcrank as bc
from bellcrank.errors import MechanismError
from bellcrank.studies.evaluator import Evaluator, free_parameters, noise_of, step_of
from bellcrank.studies.exact import SEARCHED, OfRecords
from bellcrank.studies.experiment import Experiment, Measures
from bellcrank.studies.fit import deviations_of
from bellcrank.studies.measures import measures_of
from bellcrank.studies.progress import CountProgress
from bellcrank.studies.workers import Here

TRUE = {"stiffness": 12.0, "damping": 0.4}
TIMES = np.linspace(0.05, 3.0, 60)
X, SPEED = "joint.track.x", "joint.track.x.rate"
SIGMA = {X: 0.02, SPEED: 0.3}
STEP = {"step": 0.01}


@pytest.fixture(scope="module")
def clean():
    run = bc.simulate(oscillator().with_parameters(**TRUE), times=TIMES, **STEP)
    return {X: run.joint("track").position[:, 0], SPEED: run.joint("track").velocity[:, 0]}


def noisy(clean, seed, names=(X, SPEED)):
    rng = np.random.default_rng(seed)
    return {name: (TIMES, clean[name] + rng.normal(0.0, SIGMA[name], len(TIMES))) for name in names}


def test_a_clean_run_gives_its_parameters_back(clean):
    found = bc.fit(oscillator(), ["stiffness", "damping"], {X: (TIMES, clean[X])}, **STEP)
    for name, value in TRUE.items():
        assert found.values[name] == pytest.approx(value, rel=1e-7)
    assert found.converged
    assert found.mechanism.parameters["damping"].value == found.values["damping"]
    assert np.abs(found.quantities[0].residuals).max() < 1e-8


@pytest.mark.parametrize("given", [True, False])
def test_stated_deviations_are_those_of_many_noises(clean, given):
    """Errors over their deviations have mean 0 and deviation 1; their squares follow the correlation too."""
    errors, squares = [], []
    count = 40
    for seed in range(count):
        noise = SIGMA if given else None
        found = bc.fit(oscillator(), ["stiffness", "damping"], noisy(clean, seed), noise=noise, **STEP)
        error = np.array([(found.values[n] - TRUE[n]) / found.deviations[n] for n in TRUE])
        errors.append(error)
        squares.append(error @ np.linalg.solve(found.correlation, error))
    errors = np.array(errors)
    assert (np.abs(errors.mean(axis=0)) < 3.0 / np.sqrt(count)).all()
    spread = errors.std(axis=0, ddof=1)  # of which the deviation is 1/sqrt(2 n)
    assert (np.abs(spread - 1.0) < 3.0 / np.sqrt(2 * count)).all()
    assert np.mean(squares) == pytest.approx(2.0, abs=3 * 2.0 / np.sqrt(count))  # chi squared of two
    assert (np.abs(errors) < 4.0).all()


def test_noise_is_estimated_for_each_quantity(clean):
    found = [bc.fit(oscillator(), ["stiffness", "damping"], noisy(clean, seed), **STEP) for seed in range(8)]
    for k, name in enumerate((X, SPEED)):
        estimates = [one.quantities[k].noise for one in found]
        assert np.mean(estimates) == pytest.approx(SIGMA[name], rel=3 / np.sqrt(2 * 60 * 8))
        assert not found[0].quantities[k].given
        assert found[0].quantities[k].name == name
    assert found[0].quantities[0].unit == "m"


def test_given_noise_makes_chi_squared_judge_the_fit(clean):
    data = noisy(clean, 3)
    right = bc.fit(oscillator(), ["stiffness", "damping"], data, noise=SIGMA, **STEP)
    assert right.degrees_of_freedom == 118
    assert right.chi_squared == pytest.approx(118, abs=4 * np.sqrt(2 * 118))
    without = bc.fit(oscillator(), ["stiffness"], data, noise=SIGMA, **STEP)
    assert without.chi_squared > 2 * right.chi_squared


def test_tables_with_gaps_are_data_as_well(clean):
    pandas = pytest.importorskip("pandas")
    gaps = clean[X].copy()
    gaps[::3] = np.nan
    frame = pandas.DataFrame({"time [s]": TIMES, f"{X} [m]": gaps})
    found = bc.fit(oscillator(), ["stiffness", "damping"], frame, **STEP)
    assert len(found.quantities[0].data) == 40
    assert found.values["stiffness"] == pytest.approx(TRUE["stiffness"], rel=1e-6)


def test_quantities_may_have_times_of_their_own(clean):
    data = {X: (TIMES[::2], clean[X][::2]), SPEED: (TIMES[1::3], clean[SPEED][1::3])}
    found = bc.fit(oscillator(), ["stiffness", "damping"], data, **STEP)
    assert found.values["damping"] == pytest.approx(TRUE["damping"], rel=1e-5)


def test_adaptive_runs_are_fitted_as_well(clean):
    found = bc.fit(oscillator(), ["stiffness", "damping"], noisy(clean, 1), noise=SIGMA)
    fixed = bc.fit(oscillator(), ["stiffness", "damping"], noisy(clean, 1), noise=SIGMA, **STEP)
    for name in TRUE:
        assert abs(found.values[name] - fixed.values[name]) < 1e-3 * fixed.deviations[name]
        assert found.deviations[name] == pytest.approx(fixed.deviations[name], rel=1e-3)


def test_what_the_data_do_not_determine_is_said(clean):
    """Mass, stiffness and damping, of which the motion depends on two ratios alone."""
    found = bc.fit(oscillator(), ["mass", "stiffness", "damping"], {X: (TIMES, clean[X])}, noise=0.01, **STEP)
    assert np.isinf(list(found.deviations.values())).all()
    assert "the data do not determine it" in str(found)
    ratio = found.values["stiffness"] / found.values["mass"]
    assert ratio == pytest.approx(TRUE["stiffness"], rel=1e-5)


def test_a_parameter_at_its_bound_is_named(clean):
    found = bc.fit(oscillator(), {"stiffness": (1.0, 11.0), "damping": None}, noisy(clean, 1), **STEP)
    assert found.at_bound == ("stiffness",)
    assert "at its bound" in str(found)


def test_robust_losses_bear_outliers(clean):
    values = noisy(clean, 2, [X])[X][1]
    values[::10] += 1.0
    plain = bc.fit(oscillator(), ["stiffness", "damping"], {X: (TIMES, values)}, noise=0.02, **STEP)
    robust = bc.fit(
        oscillator(), ["stiffness", "damping"], {X: (TIMES, values)}, noise=0.02, loss="cauchy", **STEP
    )
    errors = [abs(one.values["damping"] - TRUE["damping"]) for one in (plain, robust)]
    assert errors[1] < 0.2 * errors[0]


def test_report_and_figure(clean, tmp_path):
    pytest.importorskip("matplotlib")
    found = bc.fit(oscillator(), ["stiffness", "damping"], noisy(clean, 1), noise=SIGMA, **STEP)
    found.plot(tmp_path / "fit.png")
    assert (tmp_path / "fit.png").stat().st_size > 5000
    assert {"values", "deviations", "correlation", "chi_squared"} <= found.to_dict().keys()
    assert "stiffness" in str(found)
    assert "±" in str(found)
    assert found.run.joint("track").position.shape == (60, 1)


def test_figure_of_parameters(clean, tmp_path):
    """Error bars about known values, and correlations; what is not determined has no bar."""
    pytest.importorskip("matplotlib")
    found = bc.fit(oscillator(), ["stiffness", "damping"], noisy(clean, 1), noise=SIGMA, **STEP)
    figure = found.plot_parameters({"stiffness": 20.0}, tmp_path / "parameters.png")
    assert (tmp_path / "parameters.png").stat().st_size > 5000
    left, right = figure.axes[:2]
    at = np.array(left.lines[0].get_xdata())
    np.testing.assert_allclose(at, [100.0 * (found.values["stiffness"] / 20.0 - 1.0), 0.0], atol=1e-9)
    (bars,) = left.collections[0].get_segments()[:1]
    assert np.ptp(bars[:, 0]) == pytest.approx(4.0 * 100.0 * found.deviations["stiffness"] / 20.0)
    np.testing.assert_array_equal(right.images[0].get_array(), found.correlation)
    with pytest.raises(MechanismError, match="parameter 'stiffnes': it was not asked for"):
        found.plot_parameters({"stiffnes": 1.0})
    both = bc.fit(oscillator(), ["mass", "stiffness", "damping"], {X: (TIMES, clean[X])}, noise=0.01, **STEP)
    assert np.isinf(list(both.deviations.values())).all()
    (left, *_) = both.plot_parameters(path=tmp_path / "open.png").axes
    assert left.get_legend().get_texts()[0].get_text() == "not determined"


def test_deviations_take_better_derivatives_than_the_search(clean, monkeypatch):
    computed, seen = OfRecords.__call__, []

    def noted(self, mechanism, by, arguments):
        seen.append((self.tolerance, *(mechanism.parameters[name].value for name in by)))
        return computed(self, mechanism, by, arguments)

    monkeypatch.setattr(OfRecords, "__call__", noted)
    found = bc.fit(oscillator(), ["stiffness", "damping"], noisy(clean, 1), tolerance=1e-9)
    *led, last = seen
    assert found.derivatives == "exact"
    assert last == (SEARCHED, *found.values.values())
    assert len(led) > 2
    assert all(tolerance > SEARCHED for tolerance, *_ in led)
    assert len(set(seen)) == len(seen)


@pytest.mark.parametrize(
    ("data", "changed", "said"),
    [
        ({}, {}, "data are a mapping from quantities"),
        ({X: [1.0, 2.0, 3.0]}, {}, "they must be (times, values)"),
        ({X: ([0.1, 0.2], [1.0])}, {}, "there must be as many values as times"),
        ({X: ([0.2, 0.1], [1.0, 1.0])}, {}, "times must increase"),
        ({X: ([0.1, 0.2], [np.nan, np.nan])}, {}, "no value is a number"),
        ({X: ([0.1, 0.2], ["a", "b"])}, {}, "values must be numbers"),
        ({"time [s]": [0.1, 0.2]}, {}, "they hold no quantity"),
        ({X: ([-1.0, 0.2], [1.0, 1.0])}, {}, "times must not lie before the start"),
        ({"joint.track.q": ([0.1, 0.2], [1.0, 1.0])}, {}, "no quantity of this name"),
        ({X: ([0.1], [1.0])}, {}, "there are fewer data than parameters"),
        ({X: ([0.1, 0.2], [1.0, 1.0])}, {"noise": -1.0}, "noise must be greater than zero"),
        ({X: ([0.1, 0.2], [1.0, 1.0])}, {"noise": {"x": 1.0}}, "there are no data of this name"),
        ({X: ([0.1, 0.2], [1.0, 1.0])}, {"loss": "cube"}, "loss must be one of"),
        ({X: ([0.1, 0.2], [1.0, 1.0])}, {"duration": 1.0}, "leave out duration"),
        ({X: ([0.1, 0.2], [1.0, 1.0])}, {"guess": {"stiffness": -3}}, "value must not be less than low"),
    ],
)
def test_wrong_input(data, changed, said):
    with pytest.raises(bc.MechanismError) as caught:
        bc.fit(oscillator(), ["stiffness", "damping"], data, **(STEP | changed))
    assert said in str(caught.value)


def test_a_run_that_fails_at_the_start_is_refused():
    from rigs.studied import pendulum

    data = {"joint.pivot.theta_z": (TIMES, np.zeros(60))}
    with pytest.raises(bc.MechanismError, match=r"the run at the start fails: .*inertia.*guess="):
        bc.fit(pendulum(), ["length"], data, guess={"length": 0.01}, **STEP)


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


def test_points_at_which_exact_derivatives_fail_are_counted():
    def fails(*_):
        raise bc.SimulationError("it does not run here", 0.0)

    found = evaluator(step=1e-2)
    found.exact = fails
    found.derivatives(np.array([10.0, 1.0]))
    assert found.says == "exact, but at 1 points differences: it does not run here"
