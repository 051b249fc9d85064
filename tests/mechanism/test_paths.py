"""Curves in space, paths over time, and the composition of a curve with its timing."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank import _core as core

RING = [(np.cos(a), np.sin(a), 0.1 * np.sin(2 * a)) for a in 2 * np.pi * np.arange(12) / 12]
QUARTER = bc.NurbsCurve([(1, 0, 0), (1, 1, 0), (0, 1, 0)], degree=2, weights=(1, 0.5**0.5, 1))


def along(curve, u, order=0):
    """The curve's components at parameters u within its range or, if it is closed, anywhere."""
    breaks = curve.components[0].breaks
    if curve.extrapolation == "periodic":
        u = np.mod(u, breaks[-1])
    return np.stack([c.evaluate(u, order, c.locate(u)) for c in curve.components], axis=-1)


def values(path, t, order=0):
    return np.stack([f.derivative(t, order) for f in path.functions], axis=-1)


def test_a_curve_passes_its_points_with_continuous_curvature():
    for closed in (False, True):
        curve = bc.Curve(RING, closed)
        breaks = curve.components[0].breaks
        np.testing.assert_allclose(along(curve, breaks[: len(RING)]), RING, atol=1e-14)
        inner = breaks[1:-1]
        for order in range(3):
            before, after = along(curve, inner - 1e-10, order), along(curve, inner + 1e-10, order)
            np.testing.assert_allclose(before, after, atol=1e-7)
    assert curve.length == pytest.approx(
        sum(np.linalg.norm(np.subtract(RING[i], RING[i - 1])) for i in range(12))
    )
    seam = [along(curve, np.array([u]), 2) for u in (1e-10, curve.length - 1e-10)]
    np.testing.assert_allclose(seam[0], seam[1], atol=1e-7)


@pytest.mark.parametrize(
    "points",
    [
        RING,
        [(0, 0, 0), (0, 0, 1)],
        [(0, 0, 0), (0, 0, 1), (0, 1, 2), (0, 1, 0)],
        [(1, 0, 0), (0, 1, 0), (0, 0, 1)],
    ],
)
def test_the_core_takes_the_curve(points):
    curve = bc.Curve(points)
    params = curve.coordinate_params()
    core.check_coordinate("curve_normal_1", params)
    u = 0.4 * curve.length
    (point,) = along(curve, np.array([u]))
    for kind in ("curve_normal_1", "curve_normal_2"):
        assert core.evaluate_coordinate(kind, point, (1, 0, 0, 0), params=params)[0] == pytest.approx(
            0.0, abs=1e-9
        )
    got = core.evaluate_coordinate("curve_parameter", point, (1, 0, 0, 0), params=params)[0]
    assert got == pytest.approx(u, abs=1e-7)


TIMINGS = {
    "ramp": bc.Ramp(0.0, 1.0, start=0.5, duration=2.0),
    "ramp back": bc.Ramp(0.8, 0.1, start=0.5, duration=2.0),
    "spline": bc.CubicSpline((0.0, 1.0, 2.0, 3.0), (0.1, 0.7, 0.2, 0.9), ends="clamped"),
    "polynomial": bc.Polynomial((0.0, 0.1, 0.05)),
    "there and back": bc.CubicSpline((0.0, 1.0, 2.0), (0.2, 0.9, 0.2), ends="periodic"),
}


@pytest.mark.parametrize("timing", TIMINGS.values(), ids=TIMINGS)
@pytest.mark.parametrize("curve", [QUARTER, bc.Curve(RING)], ids=["nurbs", "curve"])
def test_a_path_is_the_curve_at_the_timed_parameter(curve, timing):
    end = curve.components[0].breaks[-1]
    timing = timing.scaled(float(end))
    t = np.linspace(0.0, 2.9, 97)
    path = bc.Path(curve, timing)
    expected = along(curve, timing(t))
    if curve is QUARTER:
        u, d = timing(t), curve.denominator
        expected = expected / d.evaluate(u, 0, d.locate(u))[:, None]
    np.testing.assert_allclose(values(path, t), expected, atol=1e-12)
    t, h = t[1:-1], 1e-4
    rate = (values(path, t + h) - values(path, t - h)) / (2 * h)
    np.testing.assert_allclose(values(path, t, 1), rate, atol=2e-5)


def test_the_quarter_circle_is_round_and_the_core_agrees():
    path = bc.Path(QUARTER, bc.Ramp(0.0, 1.0, duration=2.0))
    t = np.linspace(-0.5, 2.5, 50)
    xyz = values(path, t)
    np.testing.assert_allclose(np.linalg.norm(xyz, axis=1), 1.0, atol=1e-14)
    for k, function in enumerate(path.functions):
        flat = function.flat()
        got = core.Function(flat.kind, flat.params, flat.expression)(t)
        for order in range(3):
            np.testing.assert_allclose(got[:, order], values(path, t, order)[:, k], atol=1e-11)
        assert function.smoothness == 2


def test_round_and_round_a_closed_curve():
    curve = bc.Curve(RING, closed=True)
    for speed in (0.7, -0.7):
        path = bc.Path(curve, bc.Polynomial((0.3, speed)))
        t = np.linspace(-20.0, 40.0, 200)
        np.testing.assert_allclose(values(path, t), along(curve, 0.3 + speed * t), atol=1e-11)
        assert path.functions[0].smoothness == 2


def test_two_and_a_half_rounds_from_rest_to_rest():
    curve = bc.Curve(RING, closed=True)
    timing = bc.Ramp(0.0, 2.5 * curve.length, duration=5.0)
    t = np.linspace(-1.0, 6.0, 100)
    np.testing.assert_allclose(values(bc.Path(curve, timing), t), along(curve, timing(t)), atol=1e-10)


def test_beyond_the_ends_an_open_curve_goes_on_straight():
    curve = bc.Curve([(0, 0, 0), (1, 0, 0), (2, 1, 0)])
    path = bc.Path(curve, bc.Polynomial((0.0, 1.0)))
    end = along(curve, np.array([curve.length]))[0]
    slope = along(curve, np.array([curve.length]), 1)[0]
    np.testing.assert_allclose(values(path, np.array([curve.length + 3.0]))[0], end + 3.0 * slope, atol=1e-12)
    accelerated = bc.Path(curve, bc.CubicSpline((0.0, 1.0, 2.0), (0.5, 1.0, 2.0)))
    late = bc.CubicSpline((0.0, 1.0, 2.0), (0.5, 1.0, 2.0))(np.array([8.0]))
    np.testing.assert_allclose(
        values(accelerated, np.array([8.0]))[0], end + (late - curve.length) * slope, atol=1e-10
    )


def test_three_functions_of_time():
    path = bc.Path((bc.Harmonic(1.0, 2.0), 0.5, bc.Ramp(0, 1)))
    t = np.linspace(0, 1, 5)
    np.testing.assert_allclose(
        values(path, t), np.stack([np.sin(2 * t), 0.5 + 0 * t, bc.Ramp(0, 1)(t)], axis=-1)
    )


def test_without_timing_the_parameter_is_time():
    path = bc.Path(QUARTER)
    np.testing.assert_allclose(values(path, np.array([0.0, 1.0])), [[1, 0, 0], [0, 1, 0]], atol=1e-15)


def test_timings_that_are_refused():
    with pytest.raises(bc.MechanismError, match="piecewise polynomial"):
        bc.Path(QUARTER, bc.Harmonic(0.5, 1.0))
    with pytest.raises(bc.MechanismError, match="constant rate"):
        values(bc.Path(bc.Curve(RING, closed=True), bc.CubicSpline((0, 1, 2), (0, 1, 3))), 0.0)
    with pytest.raises(bc.MechanismError, match="three functions of time need none"):
        bc.Path((0, 0, 0), bc.Ramp(0, 1))
