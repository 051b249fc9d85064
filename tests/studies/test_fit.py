"""`bc.fit`: parameters come back, and their stated deviations are those that they have over many noises."""

import numpy as np
import pytest
from rigs.studied import oscillator

import bellcrank as bc

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
