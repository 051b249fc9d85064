"""Frequency weightings against the standard's factors, weighted series against closed forms."""

import numpy as np
import pytest

import bellcrank as bc

FREQUENCIES = [
    0.1, 0.125, 0.16, 0.2, 0.25, 0.315, 0.4, 0.5, 0.63, 0.8, 1, 1.25, 1.6, 2, 2.5, 3.15, 4, 5, 6.3, 8, 10,
    12.5, 16, 20, 25, 31.5, 40, 50, 63, 80, 100, 125, 160, 200, 250, 315, 400,
]  # fmt: skip
# ISO 2631-1:1997, table 3, thousandths.
FACTORS = {
    "Wk": [
        31.2, 48.6, 79.0, 121, 182, 263, 352, 418, 459, 477, 482, 484, 494, 531, 631, 804, 967, 1039, 1054,
        1036, 988, 902, 768, 636, 513, 405, 314, 246, 186, 132, 88.7, 54.0, 28.5, 15.2, 7.90, 3.98, 1.95,
    ],
    "Wd": [
        62.4, 97.3, 158, 243, 365, 530, 713, 853, 944, 992, 1011, 1008, 968, 890, 776, 642, 512, 409, 323,
        253, 212, 161, 125, 100, 80.0, 63.2, 49.4, 38.8, 29.5, 21.1, 14.1, 8.63, 4.55, 2.43, 1.26, 0.64, 0.31,
    ],
}  # fmt: skip


@pytest.mark.parametrize("weighting", FACTORS)
def test_factors_of_the_standard(weighting):
    """Within one of the last digit, but for Wd at 10 Hz, where the table has 212 and the formula 202."""
    found = 1e3 * np.abs(bc.frequency_weighting(FREQUENCIES, weighting))
    kept = np.array([(weighting, f) != ("Wd", 10) for f in FREQUENCIES])
    table = np.array(FACTORS[weighting], dtype=float)
    digit = np.where(table >= 100, 1.0, np.where(table >= 10, 0.1, 0.01))
    assert np.all(np.abs(found - table)[kept] < digit[kept])


@pytest.mark.parametrize("weighting", FACTORS)
@pytest.mark.parametrize("frequency", [0.7, 8.0, 63.0])
def test_a_sine_is_weighted_by_its_factor(weighting, frequency):
    """Whole periods after the filter has settled: amplitude and phase are those of the transfer function."""
    time = np.linspace(0.0, 40.0, 400_001)
    run = bc.vibration(time, np.sin(2 * np.pi * frequency * time), weighting)
    late = time > 20.0
    factor = bc.frequency_weighting(frequency, weighting)
    expected = np.imag(factor * np.exp(2j * np.pi * frequency * time[late]))
    np.testing.assert_allclose(run.acceleration[late], expected, atol=2e-4 * abs(factor))
    again = bc.vibration(time[late], np.zeros(late.sum()), weighting)
    assert (again.peak, again.rms, again.vdv) == (0.0, 0.0, 0.0)
    assert np.isnan(again.crest_factor)


@pytest.mark.parametrize("weighting", FACTORS)
def test_steps_do_not_matter_where_the_acceleration_is_piecewise_linear(weighting):
    """The filter is exact between the times: ten times as many give the same values."""
    coarse = np.linspace(0.0, 3.0, 61)
    values = np.random.default_rng(3).normal(size=61)
    fine = np.linspace(0.0, 3.0, 60_001)
    short = bc.vibration(coarse, values, weighting).acceleration
    long = bc.vibration(fine, np.interp(fine, coarse, values), weighting).acceleration
    np.testing.assert_allclose(long[::1000], short, atol=1e-10)


def test_numbers_of_a_series():
    """A sine of amplitude A for T seconds: peak A, rms A/sqrt(2), vdv A (3 T/8)^(1/4)."""
    time = np.linspace(0.0, 200.0, 400_001)
    found = bc.vibration(time, 2.0 * np.sin(2 * np.pi * 5.0 * time))
    amplitude = 2.0 * abs(bc.frequency_weighting(5.0))
    assert found.rms == pytest.approx(amplitude / np.sqrt(2), rel=1e-3)
    assert found.vdv == pytest.approx(amplitude * (3 * 200.0 / 8) ** 0.25, rel=1e-3)
    settled = np.abs(found.acceleration[time > 20.0]).max()
    assert settled == pytest.approx(amplitude, rel=1e-4)
    assert found.crest_factor == found.peak / found.rms


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bc.frequency_weighting(1.0, "Wx"), "no frequency weighting 'Wx'; use one of Wk, Wd"),
        (lambda: bc.frequency_weighting([1.0, -1.0]), "finite and not negative"),
        (lambda: bc.vibration([0.0, 1.0], [0.0, 1.0], "wk"), "no frequency weighting 'wk'"),
        (lambda: bc.vibration([0.0], [0.0]), r"two or more times, got shape \(1,\)"),
        (lambda: bc.vibration([0.0, 0.1], np.zeros((2, 3))), r"one axis at a time"),
        (lambda: bc.vibration([0.0, np.nan], [np.inf, 0.0]), "time must be .* index 1; accel.* index 0"),
        (lambda: bc.vibration([0.0, 0.1, 0.3], [0.0] * 3), "equal, positive steps, got"),
        (lambda: bc.vibration([0.1, 0.0], [0.0] * 2), "equal, positive steps, got -0.1 s"),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_transient_value_is_the_largest_mean_over_a_second():
    """A burst of half a second in ten: half of a second is at rest."""
    time = np.linspace(0.0, 10.0, 20_001)
    burst = np.where((time > 4.0) & (time < 4.5), np.sin(2 * np.pi * 8.0 * time), 0.0)
    found = bc.vibration(time, burst)
    squares = np.concatenate([np.zeros(2000), found.acceleration**2])
    means = np.convolve(squares, np.full(2000, 1 / 2000), mode="valid")
    assert found.mtvv == pytest.approx(np.sqrt(means.max()), rel=1e-3)
    assert found.mtvv > 2.9 * found.rms
    steady = bc.vibration(time, np.sin(2 * np.pi * 8.0 * time))
    assert steady.mtvv == pytest.approx(1.036 / np.sqrt(2.0), rel=0.01)  # the filter sets in
