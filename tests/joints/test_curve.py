"""Coordinates of a point on a spline curve: closest point, offsets along the normals, their derivatives."""

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline, CubicSpline
from scipy.optimize import minimize_scalar

from bellcrank import _core as core

STILL = np.array([1.0, 0.0, 0.0, 0.0])
KNOT = np.linspace(0.0, 2.0 * np.pi, 25)


def pack(spline, closed):
    """SciPy's coefficients (4, n, 3), highest power first, as bellcrank's parameters.

    The reference direction is the one of many that is farthest from all tangents.
    """
    tangents = spline(np.linspace(spline.x[0], spline.x[-1], 400), 1)
    tangents /= np.linalg.norm(tangents, axis=1)[:, None]
    tried = np.random.default_rng(0).normal(size=(300, 3))
    tried /= np.linalg.norm(tried, axis=1)[:, None]
    reference = tried[np.argmin(np.max(np.abs(tried @ tangents.T), axis=1))]
    coefficients = spline.c[::-1].transpose(1, 0, 2).ravel()
    return np.concatenate([[closed, len(spline.x) - 1], reference, spline.x, coefficients]).tolist()


def trefoil(u):
    return np.stack([np.sin(u) + 2 * np.sin(2 * u), np.cos(u) - 2 * np.cos(2 * u), -np.sin(3 * u)], axis=-1)


@pytest.fixture(scope="module")
def closed_curve():
    points = trefoil(KNOT)
    points[-1] = points[0]
    spline = CubicSpline(KNOT, points, bc_type="periodic")
    return spline, pack(spline, closed=True)


@pytest.fixture(scope="module")
def open_curve():
    breaks = np.array([-1.0, 0.5, 1.0, 2.5, 3.0, 5.0])
    points = np.random.default_rng(2).normal(size=(6, 3)) + 2.0 * breaks[:, None] * [1.0, 0.5, 0.0]
    spline = CubicSpline(breaks, points, bc_type="natural")
    return spline, pack(spline, closed=False)


def closest(spline, r):
    """The closest point by brute force and refinement, independent of the core's search."""
    grid = np.linspace(spline.x[0], spline.x[-1], 4001)
    square = np.sum((spline(grid) - r) ** 2, axis=1)
    i = int(np.argmin(square))
    bracket = (grid[max(i - 1, 0)], grid[min(i + 1, len(grid) - 1)])
    u = minimize_scalar(
        lambda v: np.sum((spline(v) - r) ** 2), bounds=bracket, method="bounded", options={"xatol": 1e-6}
    ).x
    for _ in range(6):  # Newton's method on (p − r)·p' = 0
        p, d1, d2 = spline(u), spline(u, 1), spline(u, 2)
        u -= (p - r) @ d1 / (d1 @ d1 + (p - r) @ d2)
    return u


def test_closest_point_is_the_global_one(closed_curve, open_curve):
    rng = np.random.default_rng(17)
    for spline, params in (closed_curve, open_curve):
        inner = rng.uniform(*spline.x[[0, -1]], size=60)
        for u in inner:
            r = spline(u) + 0.4 * rng.normal(size=3)
            got = core.evaluate_coordinate("curve_parameter", r, STILL, params=params)[0]
            grid = np.linspace(*spline.x[[0, -1]], 20001)
            least = np.min(np.linalg.norm(spline(grid) - r, axis=1))
            if spline.x[0] <= got <= spline.x[-1]:
                assert np.linalg.norm(spline(got) - r) <= least + 1e-12
                stationary = (spline(got) - r) @ spline(got, 1)
                assert stationary == pytest.approx(0.0, abs=1e-12) or got in spline.x[[0, -1]]
            else:  # beyond an end, on its tangent: the end itself is the closest point of the curve proper
                end = spline.x[0] if got < spline.x[0] else spline.x[-1]
                assert np.linalg.norm(spline(end) - r) <= least + 1e-12
                assert got - end == pytest.approx(
                    (r - spline(end)) @ spline(end, 1) / np.sum(spline(end, 1) ** 2)
                )


@pytest.mark.parametrize("seed", range(12))
def test_closest_point_on_wild_curves(seed):
    """Random knots make loops and near cusps, where a search on a fixed grid misses minima."""
    rng = np.random.default_rng(seed)
    breaks = np.concatenate([[0.0], np.cumsum(rng.uniform(0.1, 3.0, size=10))])
    points = rng.normal(size=(11, 3))
    points[-1] = points[0]
    spline = CubicSpline(breaks, points, bc_type="periodic")
    params = pack(spline, closed=True)
    grid = spline(np.linspace(0.0, breaks[-1], 40001))
    for size in (0.0, 1e-9, 1e-3, 0.1, 1.0) * 8:
        r = spline(rng.uniform(0.0, breaks[-1])) + size * rng.normal(size=3)
        u = core.evaluate_coordinate("curve_parameter", r, STILL, params=params)[0]
        assert np.linalg.norm(spline(u) - r) <= np.min(np.linalg.norm(grid - r, axis=1)) + 1e-12


def offsets(spline, params, r):
    """u and the offsets along the two normals, from the definition n1 = b×t/|b×t|, n2 = t×n1."""
    u = closest(spline, r)
    b, t = np.array(params[2:5]), spline(u, 1) / np.linalg.norm(spline(u, 1))
    n1 = np.cross(b, t) / np.linalg.norm(np.cross(b, t))
    return np.array([n1 @ (r - spline(u)), np.cross(t, n1) @ (r - spline(u)), u])


@pytest.mark.parametrize("index", range(3))
@pytest.mark.parametrize("seed", range(8))
def test_derivatives_off_the_curve(index, seed, closed_curve, random_motion, derivatives):
    """Exact to second order anywhere near the curve, inside a piece."""
    spline, params = closed_curve
    rng = np.random.default_rng(100 + seed)
    motion = random_motion(rng, speed=0.2)
    middle = 0.5 * (KNOT[seed + 5] + KNOT[seed + 6])
    away = rng.normal(size=3)
    place = spline(middle) + 0.2 * away / np.linalg.norm(away) - motion.r(0.0)
    value, rate, acceleration = derivatives(
        lambda t: offsets(spline, params, motion.r(t) + place)[index], 0.0, 0.02
    )
    kind = ("curve_normal_1", "curve_normal_2", "curve_parameter")[index]
    got, dr, domega, quadratic = core.evaluate_coordinate(
        kind, motion.r(0.0) + place, STILL, motion.rdot(0.0), np.zeros(3), params
    )
    assert got == pytest.approx(value, abs=1e-12)
    assert not domega.any()
    assert dr @ motion.rdot(0.0) == pytest.approx(rate, rel=1e-9, abs=1e-9)
    assert dr @ motion.rddot(0.0) + quadratic == pytest.approx(acceleration, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("which", ["closed_curve", "open_curve"])
def test_a_bead_that_runs_along_the_curve(which, request):
    """r = p(u(t)): no offset, nor rate nor acceleration of it, on pieces, knots and beyond the ends."""
    spline, params = request.getfixturevalue(which)
    low, high = spline.x[[0, -1]]
    beyond = 0.0 if which == "closed_curve" else 0.7
    places = np.concatenate([np.linspace(low - beyond, high + beyond, 101), spline.x])
    speed, acceleration = 1.7, -0.6
    for u in places:
        edge = np.clip(u, low, high)
        p, d1, d2 = spline(edge), spline(edge, 1), spline(edge, 2)
        if u != edge:
            p, d2 = p + (u - edge) * d1, np.zeros(3)
        rdot, rddot = d1 * speed, d1 * acceleration + d2 * speed**2
        for kind in ("curve_normal_1", "curve_normal_2"):
            value, dr, _, quadratic = core.evaluate_coordinate(kind, p, STILL, rdot, np.zeros(3), params)
            assert value == pytest.approx(0.0, abs=1e-13)
            assert np.linalg.norm(dr) == pytest.approx(1.0, abs=1e-12)
            assert dr @ rdot == pytest.approx(0.0, abs=1e-12)
            assert dr @ rddot + quadratic == pytest.approx(0.0, abs=1e-10)
        value, dr, _, quadratic = core.evaluate_coordinate(
            "curve_parameter", p, STILL, rdot, np.zeros(3), params
        )
        if which == "closed_curve":
            assert np.remainder(value - u + 1.0, high - low) == pytest.approx(1.0, abs=1e-12)
        else:
            assert value == pytest.approx(u, abs=1e-12)
        assert dr @ rdot == pytest.approx(speed)
        assert dr @ rddot + quadratic == pytest.approx(acceleration, abs=1e-10)


def test_normals_are_smooth_and_orthonormal(closed_curve):
    spline, params = closed_curve
    frames = []
    for u in np.linspace(0.0, 2.0 * np.pi, 721)[:-1]:
        r = spline(u)
        n1, n2 = (core.evaluate_coordinate(f"curve_normal_{i}", r, STILL, params=params)[1] for i in (1, 2))
        t = spline(u, 1) / np.linalg.norm(spline(u, 1))
        assert np.stack([t, n1, n2]) @ np.stack([t, n1, n2]).T == pytest.approx(np.eye(3), abs=1e-12)
        assert np.linalg.det(np.stack([t, n1, n2])) == pytest.approx(1.0)
        frames.append(n1)
    steps = np.linalg.norm(np.diff([*frames, frames[0]], axis=0), axis=1)
    assert steps.max() < 0.1  # closes without a jump


def test_offsets_from_a_circle():
    """With the plane's normal for reference n1 points inwards, n2 along the normal."""
    breaks = np.linspace(0.0, 2.0 * np.pi, 41)
    points = np.stack([np.cos(breaks), np.sin(breaks), 0.0 * breaks], axis=1)
    tangents = np.stack([-np.sin(breaks), np.cos(breaks), 0.0 * breaks], axis=1)
    spline = CubicHermiteSpline(breaks, points, tangents)
    coefficients = spline.c[::-1].transpose(1, 0, 2).ravel()
    params = [1.0, 40.0, 0.0, 0.0, 1.0, *breaks, *coefficients]
    for angle in np.linspace(0.0, 6.0, 13):
        r = np.array([0.8 * np.cos(angle), 0.8 * np.sin(angle), 0.3])
        inwards, upwards, along = (
            core.evaluate_coordinate(kind, r, STILL, params=params)[0]
            for kind in ("curve_normal_1", "curve_normal_2", "curve_parameter")
        )
        assert inwards == pytest.approx(0.2, abs=2e-6)  # as far as the cubics are from the circle
        assert upwards == pytest.approx(0.3, abs=1e-12)
        assert np.remainder(along - angle + 1.0, 2.0 * np.pi) == pytest.approx(1.0, abs=1e-4)


def test_curve_angle_follows_laps(closed_curve):
    spline, params = closed_curve
    laps = np.linspace(0.0, 3.0, 400)
    seen = [
        core.evaluate_coordinate("curve_angle", spline(2 * np.pi * (lap % 1.0)), STILL, params=params)[0]
        for lap in laps
    ]
    assert np.unwrap(seen) == pytest.approx(2.0 * np.pi * laps, abs=1e-9)


def test_wrong_curves_are_refused(open_curve):
    _, good = open_curve
    core.check_coordinate("curve_normal_1", good)
    cases = {
        "start with closed": [0.0, 2.0],
        "neither 0 nor 1": [0.5, *good[1:]],
        "5 pieces need 71 parameters, 70 given": good[:-1],
        "does not exceed": [*good[:6], good[5], *good[7:]],
        "not finite": [*good[:-1], np.nan],
        "a gap at u = 0.5": [*good[:11], good[11] + 1.0, *good[12:]],
        "unit vector": [*good[:2], 0.0, 0.0, 2.0, *good[5:]],
    }
    for message, bad in cases.items():
        with pytest.raises(ValueError, match=message):
            core.check_coordinate("curve_normal_1", bad)
    straight = [0.0, 0, 0, 1.0, 0, 0, *np.zeros(6)]
    turned = [1.0, 0, 0, 0, 1.0, 0, *np.zeros(6)]
    upwards = [0.0, 0.0, 1.0]
    more = {
        "kink at u = 1": [0.0, 2.0, *upwards, 0.0, 1.0, 2.0, *straight, *turned],
        "tangent vanishes": [0.0, 1.0, *upwards, 0.0, 1.0, *np.zeros(6), 1.0, *np.zeros(5)],
        "parallel to the reference": [0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, *straight],
        "has a gap": [1.0, *good[1:]],
    }
    for message, bad in more.items():
        with pytest.raises(ValueError, match=message):
            core.check_coordinate("curve_parameter", bad)
