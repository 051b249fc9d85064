"""Beams that peers and bellcrank solve alike: numbers alone.

Princeton: E. H. Dowell, J. J. Traybar, The nonlinear stiffness of a rotor blade, an experiment, 1975.
Spaghetti: J. C. Simo, L. Vu-Quoc, CMAME 66 (1988), section 6, in space. Trusted values: Cosserat shooting to
1e-12, and what two codes extrapolate to within 4e-5 m.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Beam:
    """A straight beam, its section's stiffness and inertia, and where its tip is to be.

    EI: about y and z. rotary: per length, kg m. rotation_vector: of the section's axes, x along the beam.
    """

    start: tuple[float, float, float]
    end: tuple[float, float, float]
    EA: float
    GA: float
    GJ: float
    EI: tuple[float, float]
    mass_per_length: float
    rotary: tuple[float, float, float]
    rotation_vector: tuple[float, float, float]
    load: tuple[float, float, float]
    tip: tuple[float, float, float]
    duration: float = 0.0


def _princeton() -> Beam:
    length, width, height, modulus = 0.508, 12.377e-3, 3.2024e-3, 71.7e9
    shear = modulus / (2.0 * 1.31)
    area = width * height
    series = sum(math.tanh(k * math.pi * width / 2 / height) / k**5 for k in range(1, 61, 2))
    twist = width * height**3 * (1 / 3 - 64 / math.pi**5 * height / width * series)
    pull = 13.345 * math.sqrt(0.5)
    return Beam(
        (0.0, 0.0, 0.0), (length, 0.0, 0.0), modulus * area, 5 / 6 * shear * area, shear * twist,
        (modulus * height * width**3 / 12, modulus * width * height**3 / 12), 2700 * area,
        (1e-6, 1e-6, 1e-6), (0.0, 0.0, 0.0), (0.0, pull, pull), (0.477639, 0.156588, 0.015342),
    )  # fmt: skip


PRINCETON = _princeton()

_TURN = math.atan2(8.0, -6.0)
SPAGHETTI = Beam(
    (6.0, 0.0, 0.0), (0.0, 8.0, 0.0), 1e4, 1e4, 500.0, (500.0, 500.0), 1.0, (20.0, 10.0, 10.0),
    (0.0, 0.0, _TURN), (0.0, 0.0, 0.0), (12.95303, 6.80944, 3.02879), 5.0,
)  # fmt: skip


def spaghetti_load(t: float) -> float:
    """A hat from 0 to 5 s, N m."""
    return max(0.0, 80.0 * t if t < 2.5 else 80.0 * (5.0 - t))
