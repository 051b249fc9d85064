"""Stress where curved bodies touch: closed forms, published tables, integrals of the half-space."""

from math import inf, nan, pi

import numpy as np
import pytest
from scipy.integrate import dblquad
from scipy.special import ellipe, ellipk

import bellcrank as bc

STEEL = {"modulus": 2.07e11, "poisson": 0.292}
E_STAR = 2.07e11 / (2.0 * (1.0 - 0.292**2))


def test_two_balls():
    """Johnson, Contact Mechanics, equations 4.22 to 4.24."""
    radius = 1.0 / (1.0 / 0.03 + 1.0 / 0.05)
    found = bc.hertz(120.0, 0.03, 0.05, **STEEL)
    half = (3.0 * 120.0 * radius / (4.0 * E_STAR)) ** (1.0 / 3.0)
    assert found.half_widths == pytest.approx((half, half), rel=1e-12)
    assert found.approach == pytest.approx(half**2 / radius, rel=1e-12)
    assert found.pressure == pytest.approx(1.5 * 120.0 / (pi * half**2), rel=1e-12)
    assert found.mean_pressure == pytest.approx(found.pressure / 1.5)
    assert found.stiffness == pytest.approx(4.0 / 3.0 * E_STAR * radius**0.5, rel=1e-12)
    assert pytest.approx(found.stiffness * found.approach**1.5, rel=1e-12) == 120.0


def test_a_ball_on_a_plane_in_a_socket_and_of_two_materials():
    plane = bc.hertz(50.0, 0.01, modulus=(2e11, 7e10), poisson=(0.3, 0.33))
    stiff = 1.0 / (0.91 / 2e11 + (1.0 - 0.33**2) / 7e10)
    assert plane.pressure == pytest.approx((6.0 * 50.0 * stiff**2 / (pi**3 * 0.01**2)) ** (1 / 3), rel=1e-12)
    socket = bc.hertz(50.0, 0.01, -0.0101, **STEEL)
    assert socket.pressure < 0.1 * plane.pressure


def test_rollers():
    """Shigley, Mechanical Engineering Design, contact of cylinders, with their diameters."""
    found = bc.hertz(5000.0, 0.02, 0.03, length=0.015, **STEEL)
    b = np.sqrt(2 * 5000.0 / (pi * 0.015) * 2 * (1 - 0.292**2) / 2.07e11 / (1 / 0.04 + 1 / 0.06))
    assert found.half_widths == (inf, pytest.approx(b, rel=1e-12))
    assert found.pressure == pytest.approx(2 * 5000.0 / (pi * b * 0.015), rel=1e-12)
    assert (found.shear / found.pressure, found.shear_depth / b) == pytest.approx((0.300, 0.786), abs=5e-4)
    assert np.isnan([found.approach, found.stiffness]).all()


# m and n of Timoshenko and Goodier, Theory of Elasticity, article 125, by the arc cosine of (B - A)/(A + B)
TABLE = {
    30: (2.731, 0.493),
    40: (2.136, 0.567),
    50: (1.754, 0.641),
    60: (1.486, 0.717),
    75: (1.202, 0.846),
    90: (1, 1),
}


@pytest.mark.parametrize("degrees", TABLE)
def test_ellipses_are_those_of_the_table(degrees):
    cosine = np.cos(np.radians(degrees))
    low, high = 100.0 * (1.0 - cosine), 100.0 * (1.0 + cosine)
    found = bc.hertz(80.0, (0.5 / low, 0.5 / high) if degrees < 90 else (0.5 / low, 0.5 / low), **STEEL)
    unit = (3.0 * 80.0 / (4.0 * E_STAR * 200.0)) ** (1.0 / 3.0)
    m, n = (half / unit for half in found.half_widths)
    assert (m, n) == pytest.approx(TABLE[degrees], abs=2e-3)


@pytest.mark.parametrize("angle", [0.2, 1.1, pi / 2])
def test_crossed_cylinders_against_elliptic_integrals_of_scipy(angle):
    """Johnson, equations 4.25 to 4.28, from the eccentricity that was found."""
    found = bc.hertz(200.0, (0.02, inf), (0.05, inf), angle=angle, **STEEL)
    a, b = found.half_widths
    e2 = 1.0 - (b / a) ** 2
    spread = 0.5 * np.sqrt(50.0**2 + 20.0**2 + 2 * 50.0 * 20.0 * np.cos(2 * angle))
    low, high = 0.5 * (35.0 - spread), 0.5 * (35.0 + spread)
    factor = found.pressure * b / (e2 * a**2 * E_STAR)
    assert factor * (ellipk(e2) - ellipe(e2)) == pytest.approx(low, rel=1e-9)
    assert factor * (ellipe(e2) / (1.0 - e2) - ellipk(e2)) == pytest.approx(high, rel=1e-9)
    assert found.approach == pytest.approx(found.pressure * b / E_STAR * ellipk(e2), rel=1e-12)
    assert found.pressure == pytest.approx(1.5 * 200.0 / (pi * a * b), rel=1e-12)


# Johnson, table 4.1: b/a, depth/b and size/pressure of the greatest shear stress, of a Poisson's ratio of 0.3
DEPTHS = {
    0.2: (0.745, 0.322),
    0.4: (0.665, 0.325),
    0.6: (0.590, 0.323),
    0.8: (0.530, 0.317),
    1.0: (0.480, 0.310),
}


@pytest.mark.parametrize("ratio", DEPTHS)
def test_shear_below_ellipses_is_that_of_the_table(ratio):
    from bellcrank.mechanism.hertz import _greatest_shear

    assert _greatest_shear(ratio**2, 0.3) == pytest.approx(DEPTHS[ratio], abs=8e-3)


@pytest.mark.parametrize(("ratio", "poisson"), [(0.35, 0.3), (0.8, 0.1), (1.0, 0.25)])
def test_stress_below_the_middle_by_adding_up_point_loads(ratio, poisson):
    """Boussinesq (Johnson, equations 3.19) over the ellipse of pressure."""
    from bellcrank.mechanism.hertz import _stress_below

    depth = 0.6  # in parts of b = ratio, a = 1

    def summed(part):
        z = depth * ratio

        def kernel(angle, s):
            x, y = s * np.cos(angle), ratio * s * np.sin(angle)
            r2 = x * x + y * y
            rho = np.sqrt(r2 + z * z)
            first = (1 - 2 * poisson) / (r2 + 1e-300) * (
                (1 - z / rho) * (x * x - y * y) / (r2 + 1e-300) + z * y * y / rho**3
            ) - 3 * z * x * x / rho**5
            value = first if part == "x" else -3 * z**3 / rho**5
            return np.sqrt(1 - s * s) * value / (2 * pi) * ratio * s

        return 4 * dblquad(kernel, 0.0, 1.0, 0.0, pi / 2, epsabs=1e-10)[0]

    x, _, down = _stress_below(ratio**2, depth, poisson)
    assert (x, down) == pytest.approx((summed("x"), summed("z")), rel=1e-6)


def test_arrays_and_no_load():
    found = bc.hertz(np.array([0.0, 8.0, 64.0]), 0.01, **STEEL)
    assert found.pressure[2] == pytest.approx(2.0 * found.pressure[1])
    assert [found.pressure[0], found.approach[0], found.half_widths[0][0], found.shear[0]] == [0.0] * 4
    assert isinstance(float(bc.hertz(1.0, 0.01, **STEEL).pressure), float)


REFUSED = [
    (lambda: bc.hertz(-1.0, 0.01, **STEEL), "force must not be negative"),
    (lambda: bc.hertz(1.0, 0.01, -0.01, **STEEL), "a hollow must be wider than what lies in it"),
    (lambda: bc.hertz(1.0, inf, **STEEL), "the surfaces do not touch at a point"),
    (lambda: bc.hertz(1.0, (0.01, inf), **STEEL), "cylinders with parallel axes take a length"),
    (lambda: bc.hertz(1.0, 0.02, -0.01, length=0.1, **STEEL), "do not touch along a line"),
    (lambda: bc.hertz(1.0, (0.01, 0.02), length=0.1, **STEEL), "a line contact takes one radius"),
    (lambda: bc.hertz(1.0, 0.01, modulus=-1.0), "modulus must be greater than zero"),
    (lambda: bc.hertz(1.0, 0.01, modulus=2e11, poisson=0.7), "poisson must lie between -1 and 0.5"),
    (lambda: bc.hertz(nan, 0.01, modulus=2e11), "force must be finite"),
    (lambda: bc.hertz(1.0, 0.0, modulus=(1.0, 2.0, 3.0)), "2 faults"),
]


@pytest.mark.parametrize(("wrong", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_no_contact_has_is_refused(wrong, message):
    with pytest.raises(bc.MechanismError, match=message):
        wrong()
