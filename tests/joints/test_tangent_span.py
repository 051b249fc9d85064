"""What is between two wheels of a rope, against its definition, differences, and tangents by geometry."""

import numpy as np
import pytest

from bellcrank import _core as core


def define(r, rho):
    return np.sqrt(r @ r - rho**2) + rho * np.arcsin(rho / np.hypot(r[0], r[1]))


def evaluate(r, rho, *motion):
    still = ([1.0, 0.0, 0.0, 0.0], [0.0] * 3, [0.0] * 3)
    q, rdot, omega = motion or still
    return core.evaluate_coordinate("tangent_span", r, q, rdot, omega, [rho])


@pytest.mark.parametrize("rho", [0.0, 0.05, -0.12])
@pytest.mark.parametrize("seed", range(8))
def test_derivatives_along_a_motion(rho, seed, random_motion, derivatives):
    rng = np.random.default_rng(seed)
    motion, t = random_motion(rng, speed=0.3), rng.normal()
    value, rate, acceleration = derivatives(lambda s: define(motion.r(s), rho), t)
    got, dr, domega, quadratic = evaluate(motion.r(t), rho, motion.q(t), motion.rdot(t), motion.omega(t))
    assert got == pytest.approx(value, rel=1e-14)
    assert not np.any(domega)
    assert dr @ motion.rdot(t) == pytest.approx(rate, rel=1e-9, abs=1e-9)
    assert dr @ motion.rddot(t) + quadratic == pytest.approx(acceleration, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize(("one", "two"), [(0.3, 0.2), (0.3, -0.2), (-0.1, -0.4), (0.25, 0.0)])
def test_with_azimuths_it_is_tangents_and_arcs(one, two):
    """A belt round two wheels, open or crossed: twice the tangent, and arcs on both, by textbook formulas."""
    distance, rho = 1.3, one - two
    span, back = evaluate([distance, 0, 0], rho)[0], evaluate([-distance, 0, 0], -rho)[0]
    turned = np.arcsin(rho / distance)
    arcs = abs(one) * (np.pi + 2.0 * turned * np.sign(one)) + abs(two) * (
        np.pi - 2.0 * turned * np.sign(two or 1)
    )
    assert span + back + np.pi * (abs(one) + abs(two)) == pytest.approx(
        2.0 * np.sqrt(distance**2 - rho**2) + arcs, rel=1e-14
    )


def test_the_force_on_a_point_is_along_the_rope():
    """The gradient is the unit vector of the tangent: less what the wheel's azimuth adds."""
    radius, r = 0.3, np.array([0.8, 0.5, 0.0])
    _, dr, *_ = evaluate(r, radius)
    across = np.array([-r[1], r[0], 0.0]) / (r @ r)  # gradient of the azimuth
    pull = dr + radius * across
    assert np.linalg.norm(pull) == pytest.approx(1.0, rel=1e-14)
    assert np.cross(r, pull)[2] == pytest.approx(radius, rel=1e-14)


def test_out_of_plane_the_force_is_off_by_the_cosine_of_the_fleet_angle():
    radius, height = 0.2, 0.05
    r = np.array([0.9, 0.0, height])
    _, dr, *_ = evaluate(r, radius)
    pull = dr + radius * np.array([0.0, 1.0 / 0.9, 0.0])
    fleet = np.arcsin(height / np.sqrt(r @ r - radius**2))
    assert abs(np.linalg.norm(pull) - 1.0) < 0.6 * fleet**2


@pytest.mark.parametrize("rho", [0.5, -0.5])
def test_where_one_wheel_is_within_the_other_it_has_no_derivatives(rho):
    value, dr, domega, quadratic = evaluate([0.3, 0.1, 0.0], rho)
    assert value == pytest.approx(0.5 * np.pi * abs(rho))
    assert not np.any([*dr, *domega, quadratic])


def test_it_needs_its_number():
    with pytest.raises(ValueError, match="needs the difference of two radii"):
        core.check_coordinate("tangent_span", [])
