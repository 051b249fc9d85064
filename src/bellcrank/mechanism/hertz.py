"""Stress where two curved surfaces of elastic bodies touch, after Hertz."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import cos, inf, nan, pi, sqrt
from typing import Any, Final

import numpy as np

from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.rotation_arrays import Floats
from bellcrank.slips import answered

_NEARLY_ROUND: Final = 1e-6  # 1 - (b/a)^2 below which stresses are those below a circle
_SHARE: Final = 1e-3  # of an argument, by which the three of an elliptic integral may differ at last


@dataclass(frozen=True)
class HertzContact:
    """Where two bodies touch. The arrays have the shape of the force that was given; SI units.

    pressure: greatest, in the middle of the contact, Pa. mean_pressure: Pa.
    half_widths: of the ellipse, the greater first, m; of a strip, infinite and half its width.
    approach: of points far inside the bodies, m; NaN of a strip, whose approach depends on the whole bodies.
    shear: greatest shear stress below the surface, Pa. shear_depth: where it is, m.
    stiffness: K of force = K approach^1.5, N/m^1.5; NaN of a strip.

    >>> ball = bc.hertz(100.0, radius_1=0.01, modulus=206e9)
    >>> print(f"{ball.pressure / 1e6:.0f} MPa, {1e6 * ball.approach:.2f} um")
    1353 MPa, 3.53 um
    >>> print(f"{ball.stiffness * ball.approach**1.5:.6f} N")
    100.000000 N
    """

    pressure: Any
    mean_pressure: Any
    half_widths: tuple[Any, Any]
    approach: Any
    shear: Any
    shear_depth: Any
    stiffness: float


@answered
def hertz(
    force: Any,
    radius_1: float | tuple[float, float],
    radius_2: float | tuple[float, float] = inf,
    *,
    modulus: float | tuple[float, float],
    poisson: float | tuple[float, float] = 0.3,
    length: float | None = None,
    angle: float = 0.0,
) -> HertzContact:
    """The stress between two elastic bodies that are pressed together, without friction.

    force: N, not negative; a number or an array.
    radius_1, radius_2: of both surfaces, m, infinite for a plane and negative for a hollow: one number, or
        the two principal radii of a surface that is curved differently in two directions.
    modulus, poisson: Young's modulus, Pa, and Poisson's ratio; of both bodies, or (first, second).
    length: of cylinders with parallel axes, m: they touch along a line. None: at a point.
    angle: between the directions of the first principal radii of the two surfaces, rad.

    The shear stress is that in the first body. Raises MechanismError for surfaces that do not touch at a
    point or along a line.

    K. L. Johnson, Contact Mechanics (1985), sections 3.4 and 4.2; elliptic integrals after B. C. Carlson,
    Numerical computation of real or complex elliptic integrals, Numer. Algorithms 10 (1995).

    >>> steel = bc.hertz(100.0, radius_1=0.01, modulus=206e9)
    >>> a = (3 * 100 * 0.01 / 4 / (206e9 / (2 * (1 - 0.3**2)))) ** (1 / 3)
    >>> print(f"{1e6 * steel.half_widths[0]:.3f} um, by hand {1e6 * a:.3f} um")
    187.826 um, by hand 187.826 um
    """
    with Check("hertz") as check:
        load = (
            check.array("force", np.atleast_1d(force), (None,)) if np.ndim(force) < 2 else np.asarray(force)
        )
        if np.any(load < 0.0):
            check.fault("force must not be negative", float(np.min(load)), "bodies press, and do not pull")
        first, second = (
            _curvatures(check, *given) for given in (("radius_1", radius_1), ("radius_2", radius_2))
        )
        moduli, ratios = _materials(check, modulus, poisson)
        check.faults.raise_any()
        if length is not None:
            length = check.positive("length", length)
            if (first[0] != first[1] and first[1] != 0.0) or (second[0] != second[1] and second[1] != 0.0):
                check.fault("a line contact takes one radius for each body", (radius_1, radius_2))
            if first[0] + second[0] <= 0.0:
                check.fault("the surfaces do not touch along a line", (radius_1, radius_2), _HOLLOW)
        turned = check.number("angle", angle, "rad")
        low, high = _relative(first, second, turned)
        if length is None and not low > 0.0:
            advice = "cylinders with parallel axes take a length" if low == 0.0 < high else _HOLLOW
            check.fault("the surfaces do not touch at a point", (radius_1, radius_2), advice)
    compliance = 1.0 / plane_modulus(moduli, ratios)
    load = load.reshape(np.shape(force))[()]
    if length is not None:
        return _strip(load / length, first[0] + second[0], compliance, ratios[0])
    return _ellipse(load, low, high, compliance, ratios[0])


_HOLLOW: Final = "a hollow must be wider than what lies in it"


def line_pressure(force: Any, curvature: Any, modulus: float) -> Any:
    """Greatest pressure along a line, Pa.

    force: per length, N/m. curvature: sum of both bodies', 1/m. modulus: E*, Pa.
    """
    return np.sqrt(np.maximum(force, 0.0) * np.maximum(curvature, 0.0) * modulus / pi)


def materials(element: str, modulus: Any, poisson: Any) -> tuple[tuple[float, float], tuple[float, float]]:
    """Young's moduli and Poisson's ratios of two bodies, each given for both or for each."""
    with Check(element) as check:
        return _materials(check, modulus, poisson)


def _materials(check: Check, modulus: Any, poisson: Any) -> tuple[tuple[float, float], tuple[float, float]]:
    one, two = (check.positive("modulus", value) for value in _both(check, "modulus", modulus))
    first, second = (check.number("poisson", value) for value in _both(check, "poisson", poisson))
    if not (min(first, second) > -1.0 and max(first, second) <= 0.5):
        check.fault("poisson must lie between -1 and 0.5", poisson)
    return (one, two), (first, second)


def plane_modulus(modulus: tuple[float, float], poisson: tuple[float, float]) -> float:
    """E* of two bodies, 1/E* = sum of (1 - nu^2)/E, Pa."""
    return 1.0 / sum((1.0 - ratio**2) / one for ratio, one in zip(poisson, modulus, strict=True))


def _both(check: Check, field: str, value: Any) -> tuple[Any, Any]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        return value, value
    if len(value) != 2:
        check.fault(f"{field} must be one number, or two", value)
        return 1.0, 1.0
    return value[0], value[1]


def _curvatures(check: Check, field: str, value: Any) -> tuple[float, float]:
    """The principal curvatures, 1/m."""
    found = []
    for one in dict.fromkeys(_both(check, field, value)):
        flat = isinstance(one, (int, float)) and abs(one) == inf
        found.append(0.0 if flat else 1.0 / (check.not_zero(field, one, "m") or 1.0))
    return found[0], found[-1]


def _relative(first: tuple[float, float], second: tuple[float, float], angle: float) -> tuple[float, float]:
    """A <= B of the gap A x^2 + B y^2 between the undeformed surfaces, 1/m (Johnson, equation 4.4)."""
    total = 0.5 * (sum(first) + sum(second))
    one, two = first[0] - first[1], second[0] - second[1]
    spread = 0.5 * sqrt(max(one**2 + two**2 + 2.0 * one * two * cos(2.0 * angle), 0.0))
    low = 0.5 * (total - spread)
    return (0.0 if abs(low) < 1e-12 * abs(total) else low), 0.5 * (total + spread)


def _strip(load: Floats, curvature: float, compliance: float, poisson: float) -> HertzContact:
    """A line contact (Johnson, equations 4.43 to 4.45); its stress in the middle is a closed form."""
    width = np.sqrt(4.0 * load * compliance / (pi * curvature))
    pressure = line_pressure(load, curvature, 1.0 / compliance)
    depth, shear = _greatest_shear(0.0, poisson)
    widths, open_ = (np.full_like(load, inf)[()], width), np.full_like(load, nan)[()]
    return HertzContact(pressure, pi / 4.0 * pressure, widths, open_, shear * pressure, depth * width, nan)


def _ellipse(load: Floats, low: float, high: float, compliance: float, poisson: float) -> HertzContact:
    """A point contact (Johnson, equations 4.25 to 4.30, in Carlson's integrals).

    With p = (b/a)^2:  A/B = R_D(0, p, 1)/R_D(0, 1, p),
    a^3 = F R_D(0, 1, p)/(2 pi E* B),   approach = 3 F R_F(0, p, 1)/(2 pi E* a).
    """
    square, unit, stiffness = (float(one) for one in point_contact(low, high, compliance))
    wide, narrow = unit * np.cbrt(load), sqrt(square) * unit * np.cbrt(load)
    mean = np.cbrt(load) / (pi * sqrt(square) * unit**2)
    depth, shear = _greatest_shear(square, poisson)
    below = shear * 1.5 * mean, depth * narrow
    return HertzContact(
        1.5 * mean, mean, (wide, narrow), (load / stiffness) ** (2.0 / 3.0), *below, stiffness
    )


def point_contact(low: Any, high: Any, compliance: float) -> tuple[Any, Any, Any]:
    """(b/a)^2, the a of 1 N, m, and the stiffness, N/m^1.5, of gaps A x^2 + B y^2.

    low, high: A and B, 0 < A <= B, 1/m, numbers or arrays. compliance: 1/E*, 1/Pa.
    """
    square = _ratio_square(np.asarray(low / high, dtype=float))
    unit = np.cbrt(compliance * _r_d(0.0, 1.0, square) / (2.0 * pi * high))
    return square, unit, (1.5 * compliance * _r_f(0.0, square, 1.0) / (pi * unit)) ** -1.5


def _ratio_square(ratio: Floats) -> Floats:
    """The p of A/B, which rises with it from 0 to 1; by bisection of its logarithm, to the last digit."""
    low, high = np.full_like(ratio, -700.0), np.zeros_like(ratio)
    for _ in range(64):
        middle = 0.5 * (low + high)
        p = np.exp(middle)
        below = _r_d(0.0, p, 1.0) < ratio * _r_d(0.0, 1.0, p)
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray(np.exp(0.5 * (low + high)))


@lru_cache(maxsize=64)
def _greatest_shear(square: float, poisson: float) -> tuple[float, float]:
    """Depth, in parts of b, and size, of the pressure, of the greatest shear stress below the middle.

    square: (b/a)^2, 0 of a strip. Golden sections between depths of a grid.
    """

    def shear(depth: float) -> float:
        x, y, z = _stress_below(square, depth, poisson)
        return 0.5 * max(abs(x - y), abs(y - z), abs(z - x))

    grid = np.linspace(0.0, 2.0, 41)[1:].tolist()
    best = max(grid, key=shear)
    low, high, golden = best - grid[0], best + grid[0], 0.5 * (sqrt(5.0) - 1.0)
    for _ in range(40):
        one, two = high - golden * (high - low), low + golden * (high - low)
        if shear(one) < shear(two):
            low = one
        else:
            high = two
    return 0.5 * (low + high), shear(0.5 * (low + high))


def _stress_below(square: float, depth: float, poisson: float) -> tuple[float, float, float]:
    """Normal stresses along a, along b and down, in parts of the pressure, at a depth in parts of b."""
    if square == 0.0:  # a strip in plane strain (Johnson, equations 4.46)
        root = sqrt(1.0 + depth**2)
        across, down = -((1.0 + 2.0 * depth**2) / root - 2.0 * depth), -1.0 / root
        return poisson * (across + down), across, down
    if 1.0 - square < _NEARLY_ROUND:  # below a circle (equations 3.45)
        down = -1.0 / (1.0 + depth**2)
        around = -(1.0 + poisson) * (1.0 - depth * float(np.arctan2(1.0, depth))) - 0.5 * down
        return around, around, down
    # Below an ellipse (equations 3.69), with zeta = z/a = cot phi and b/(e^2 a) of the pressure.
    e2, zeta = 1.0 - square, depth * sqrt(square)
    t = sqrt((square + zeta**2) / (1.0 + zeta**2))
    sine2 = 1.0 / (1.0 + zeta**2)
    args = 1.0 - sine2, 1.0 - e2 * sine2, 1.0
    f = sqrt(sine2) * _r_f(*args)
    e = f - e2 / 3.0 * sine2 * sqrt(sine2) * _r_d(*args)
    plain, scaled = zeta * (f - e), zeta * (e / square - f)
    x = -0.5 * (1.0 - t) + plain + poisson * (1.0 - t / square + scaled)
    y = 0.5 + 0.5 / t - t / square + scaled + poisson * (-1.0 + t + plain)
    z = -0.5 * (1.0 - t**2) / t
    factor = 2.0 * sqrt(square) / e2
    return factor * x, factor * y, factor * z


def _r_f(x: Any, y: Any, z: Any) -> Any:
    """Carlson's R_F, half the integral over t > 0 of 1/sqrt((t + x)(t + y)(t + z)), by duplication."""
    while True:
        mean = (x + y + z) / 3.0
        dx, dy, dz = 1.0 - x / mean, 1.0 - y / mean, 1.0 - z / mean
        if np.max(np.abs(dx)) < _SHARE and np.max(np.abs(dy)) < _SHARE and np.max(np.abs(dz)) < _SHARE:
            break
        root = np.sqrt(x * y) + np.sqrt(y * z) + np.sqrt(z * x)
        x, y, z = 0.25 * (x + root), 0.25 * (y + root), 0.25 * (z + root)
    e2, e3 = dx * dy - dz**2, dx * dy * dz
    return (1.0 - e2 / 10.0 + e3 / 14.0 + e2**2 / 24.0 - 3.0 * e2 * e3 / 44.0) / np.sqrt(mean)


def _r_d(x: Any, y: Any, z: Any) -> Any:
    """Carlson's R_D, 3/2 of that of 1/(sqrt((t + x)(t + y)) (t + z)^1.5), by duplication."""
    total, part = 0.0, 1.0
    while True:
        mean = (x + y + 3.0 * z) / 5.0
        dx, dy, dz = 1.0 - x / mean, 1.0 - y / mean, 1.0 - z / mean
        if np.max(np.abs(dx)) < _SHARE and np.max(np.abs(dy)) < _SHARE and np.max(np.abs(dz)) < _SHARE:
            break
        root = np.sqrt(x * y) + np.sqrt(y * z) + np.sqrt(z * x)
        total = total + part / (np.sqrt(z) * (z + root))
        part *= 0.25
        x, y, z = 0.25 * (x + root), 0.25 * (y + root), 0.25 * (z + root)
    e2, e3 = dx * dy - 6.0 * dz**2, (3.0 * dx * dy - 8.0 * dz**2) * dz
    e4, e5 = 3.0 * (dx * dy - dz**2) * dz**2, dx * dy * dz**3
    series = 1.0 - 3.0 * e2 / 14.0 + e3 / 6.0 + 9.0 * e2**2 / 88.0 - 3.0 * e4 / 22.0
    series = series - 9.0 * e2 * e3 / 52.0 + 3.0 * e5 / 26.0
    return 3.0 * total + part * series / (mean * np.sqrt(mean))
