"""Sine and cosine of programs against the C library's in extended precision, over all magnitudes."""

import numpy as np
import pytest
from rigs.programs import cores

CORES = cores()
BOUND = 2.0**22
extended = pytest.mark.skipif(
    np.finfo(np.longdouble).eps >= np.finfo(float).eps,
    reason="this processor has no numbers longer than double",
)


@pytest.fixture(params=CORES)
def core(request):
    return CORES[request.param]


def both(core, x):
    out = np.empty((len(x), 2))
    core.sine_cosine(np.ascontiguousarray(x), out)
    return out


def errors(core, x):
    """Errors of sine and cosine in units of the last place of the result."""
    exact = np.stack([np.sin(x.astype(np.longdouble)), np.cos(x.astype(np.longdouble))], axis=1)
    found = both(core, x)
    return np.abs((found.astype(np.longdouble) - exact) / np.spacing(np.abs(exact.astype(float)))).max(axis=0)


@extended
@pytest.mark.parametrize("high", [np.pi / 4, 6.0, 1e3, 1e5, BOUND])
def test_error_in_units_of_the_last_place(core, high):
    x = np.random.default_rng(int(high)).uniform(-high, high, size=100_000)
    assert errors(core, x).max() < 0.76


@extended
def test_close_to_multiples_of_a_quarter_turn(core):
    """The doubles nearest to n π/2, where all digits but the last ones cancel."""
    n = np.unique(np.geomspace(1.0, BOUND / 1.6, 200_000).astype(np.int64)).astype(np.longdouble)
    x = (n * (np.longdouble(2) * np.arctan(np.longdouble(1)))).astype(float)
    x = np.concatenate([x, np.nextafter(x, 0.0), -x, np.nextafter(x, 1e10)])
    assert errors(core, x[np.abs(x) <= BOUND]).max() < 0.76


def test_symmetry_and_zero(core):
    x = np.concatenate([np.random.default_rng(1).uniform(0.0, 100.0, 10_000), [0.0, 5e-324, 1e-300, 1e-9]])
    up, down = both(core, x), both(core, -x)
    assert (up[:, 0] == -down[:, 0]).all()
    assert (up[:, 1] == down[:, 1]).all()
    assert np.signbit(both(core, np.array([-0.0]))[0, 0])
    assert not np.signbit(both(core, np.array([0.0]))[0, 0])
    tiny = np.array([5e-324, 1e-300, 1e-9])
    assert (both(core, tiny)[:, 0] == tiny).all()


def test_beyond_the_bound_it_is_the_library(core):
    x = np.array([np.nextafter(BOUND, np.inf), 1e22, -1e300])
    np.testing.assert_allclose(both(core, x), np.stack([np.sin(x), np.cos(x)], axis=1), rtol=0, atol=2e-16)
    assert np.isnan(both(core, np.array([np.inf, -np.inf, np.nan]))).all()


def test_both_cores_agree():
    x = np.random.default_rng(2).uniform(-50.0, 50.0, 50_000)
    found = [both(core, x) for core in CORES.values()]
    assert all((one == found[0]).all() for one in found)
