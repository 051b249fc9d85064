"""Linkages of beams that peers and bellcrank solve alike: numbers alone.

Four-bar and lateral buckling: O. A. Bauchau, P. Betsch, A. Cardona, J. Gerstmayr, B. Jonker, P. Masarati,
V. Sonneville, Validation of flexible multibody dynamics beam formulations using benchmark problems,
Multibody Syst. Dyn. 37, 2016, sections 3 and 4. Slider-crank: S. C. Chu, K. C. Pan, Dynamic response of a
high-speed slider-crank mechanism with an elastic connecting rod, J. Eng. Ind. 97, 1975: its sizes, with a
crank of the same bar. Here all start from rest and are driven through a torsion spring; none has gravity.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class Bar:
    """A straight beam, z the direction near the z axis of its section; loads by strain, mass and inertia.

    stiffness: EA, GA_y, GA_z, GJ, EI_y, EI_z. rotary: per length, kg m.
    """

    name: str
    start: Vector
    end: Vector
    z: Vector
    stiffness: tuple[float, float, float, float, float, float]
    mass_per_length: float
    rotary: Vector


@dataclass(frozen=True)
class Meeting:
    """A joint: "clamp", "revolute", "spherical" or "slide" (a point on a line along x), at a place.

    ends: (bar, "start" or "end"), or "ground" for the first.
    """

    kind: str
    ends: tuple[tuple[str, str] | str, tuple[str, str]]
    at: Vector
    axis: Vector = (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class Linkage:
    """Bars and joints; tracked: the end of a bar that is compared.

    angle, servo: a torsion spring of this stiffness, N m/rad, in the first joint follows an angle of time.
    mass: of a particle at an end, kg. refine: how many segments a bar has, by the refinement.
    trusted: places of what is tracked at times, m: means of what bellcrank and EXUDYN extrapolate to, which
        are that far apart, in parts of the motion: 4e-6 of the slider-crank, 2e-6 of the others.
    """

    bars: tuple[Bar, ...]
    joints: tuple[Meeting, ...]
    angle: Started | HalfTurn
    servo: float
    duration: float
    tracked: tuple[str, str]
    refine: dict[str, float]
    mass: tuple[tuple[str, str], float] | None = None
    trusted: tuple[tuple[float, Vector], ...] = ()


@dataclass(frozen=True)
class Started:
    """An angle whose rate rises from 0 to `speed` within `rise`, as half a cosine wave."""

    speed: float
    rise: float

    def __call__(self, t: float) -> float:
        """At a time, s; rad."""
        if t >= self.rise:
            return self.speed * (t - 0.5 * self.rise)
        return 0.5 * self.speed * (t - self.rise / math.pi * math.sin(math.pi * t / self.rise))

    def formula(self, ex: Any) -> Any:
        """The same as an expression of time, by bellcrank's module of expressions."""
        t = ex.t
        rising = 0.5 * self.speed * (t - self.rise / math.pi * ex.sin(math.pi / self.rise * t))
        return ex.piecewise(t < self.rise, rising, self.speed * (t - 0.5 * self.rise))


@dataclass(frozen=True)
class HalfTurn:
    """Half a turn, within `duration` and back again: pi/2 (1 - cos(pi t/duration)), times `sign`."""

    duration: float
    sign: float = 1.0

    def __call__(self, t: float) -> float:
        """At a time, s; rad."""
        return 0.5 * self.sign * math.pi * (1.0 - math.cos(math.pi * t / self.duration))

    def formula(self, ex: Any) -> Any:
        """The same as an expression of time, by bellcrank's module of expressions."""
        return 0.5 * self.sign * math.pi * (1.0 - ex.cos(math.pi / self.duration * ex.t))


def _four_bar() -> Linkage:
    strong = (5.2992e7, 1.68803e7, 1.68803e7, 733.488, 1130.5, 1130.5)
    weak = (1.3248e7, 4.22008e6, 4.22008e6, 45.843, 70.656, 70.656)
    z = (0.0, 0.0, 1.0)
    a, b, c, d = (0.0, 0.0, 0.0), (0.0, 0.12, 0.0), (0.24, 0.12, 0.0), (0.24, 0.0, 0.0)
    heavy, light = (8.51968e-5, 4.25984e-5, 4.25984e-5), (5.3248e-6, 2.6624e-6, 2.6624e-6)
    tilted = (math.sin(math.radians(5.0)), 0.0, math.cos(math.radians(5.0)))
    return Linkage(
        (
            Bar("one", a, b, z, strong, 1.9968, heavy),
            Bar("two", b, c, z, strong, 1.9968, heavy),
            Bar("three", c, d, z, weak, 0.4992, light),
        ),
        (
            Meeting("revolute", ("ground", ("one", "start")), a),
            Meeting("revolute", (("one", "end"), ("two", "start")), b),
            Meeting("revolute", (("two", "end"), ("three", "start")), c, tilted),
            Meeting("revolute", ("ground", ("three", "end")), d),
        ),
        Started(-0.6, 1.0), 1e5, 2.0, ("two", "end"), {"one": 0.5, "two": 1.0, "three": 0.5},
        trusted=((1.0, (0.27545196, 0.11463689, -0.00101411)), (2.0, (0.3339662, 0.07453966, -0.00302373))),
    )  # fmt: skip


def _slider_crank() -> Linkage:
    modulus, density, diameter, nu = 2.0684e11, 7890.0, 6.35e-3, 0.3
    area, second = math.pi * diameter**2 / 4.0, math.pi * diameter**4 / 64.0
    shear = 6.0 * (1.0 + nu) / (7.0 + 6.0 * nu) * modulus / (2.0 * (1.0 + nu)) * area
    stiffness = (
        modulus * area, shear, shear, modulus / (1.0 + nu) * second, modulus * second, modulus * second,
    )  # fmt: skip
    mass = density * area
    rotary = (2.0 * density * second, density * second, density * second)
    foot, pin, tip, z = (0.0, 0.0, 0.0), (0.1524, 0.0, 0.0), (0.4572, 0.0, 0.0), (0.0, 0.0, 1.0)
    return Linkage(
        (
            Bar("crank", foot, pin, z, stiffness, mass, rotary),
            Bar("rod", pin, tip, z, stiffness, mass, rotary),
        ),
        (
            Meeting("revolute", ("ground", ("crank", "start")), foot),
            Meeting("revolute", (("crank", "end"), ("rod", "start")), pin),
            Meeting("slide", ("ground", ("rod", "end")), tip),
        ),
        Started(124.8, 0.02), 1e4, 0.03, ("rod", "start"), {"crank": 0.5, "rod": 1.0},
        (("rod", "end"), 0.5 * mass * 0.3048),
        ((0.015, (0.12746109, 0.08340562, 0.0)), (0.03, (-0.1304581, 0.07847749, 0.0))),
    )  # fmt: skip


def _lateral() -> Linkage:
    side, aside = (0.0, 0.0, 1.0), 1e-4
    root, tip, c = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, aside, 0.0)
    b, g = (1.0, aside, -0.25), (0.95, aside, -0.25)
    beam = (73e6, 5.025e6, 23.40e6, 877.2, 60830.0, 608.3)
    link = (33.02e6, 10.81e6, 10.81e6, 914.5, 1189.0, 1189.0)
    crank = (132.1e6, 43.22e6, 43.22e6, 14630.0, 19020.0, 19020.0)
    return Linkage(
        (
            Bar("beam", root, tip, side, beam, 2.68, (2255.33e-6, 2233e-6, 22.33e-6)),
            Bar("link", c, b, (1.0, 0.0, 0.0), link, 1.212, (87.3e-6, 43.65e-6, 43.65e-6)),
            Bar("crank", b, g, side, crank, 4.85, (1396.6e-6, 698.3e-6, 698.3e-6)),
        ),
        (
            Meeting("revolute", ("ground", ("crank", "end")), g, (0.0, -1.0, 0.0)),
            Meeting("revolute", (("link", "end"), ("crank", "start")), b, (0.0, 1.0, 0.0)),
            Meeting("spherical", (("beam", "end"), ("link", "start")), c),
            Meeting("clamp", ("ground", ("beam", "start")), root),
        ),
        HalfTurn(0.4), 1e6, 0.1125, ("beam", "end"),
        {"beam": 1.0, "link": 0.25, "crank": 0.25},
        trusted=((0.1125, (0.99956775, 1.7409e-5, 0.02698963)),),
    )  # fmt: skip


LINKAGES = {"four-bar": _four_bar(), "slider-crank": _slider_crank(), "lateral buckling": _lateral()}


def segments(linkage: Linkage, refinement: int) -> dict[str, int]:
    """How many segments each bar has."""
    return {name: max(2, round(refinement * part)) for name, part in linkage.refine.items()}
