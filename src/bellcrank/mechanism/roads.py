"""Rough roads: profiles whose spectrum is that of a class of ISO 8608."""

from __future__ import annotations

from typing import Final

import numpy as np

CLASSES: Final = "ABCDEFGH"
REFERENCE: Final = 0.1
"""The spatial frequency n0 at which classes are compared, cycles/m."""
LOWEST, HIGHEST = 0.011, 2.83
"""Spatial frequencies between which roads are classified, cycles/m."""


def density_of(roughness_class: str, n: np.ndarray) -> np.ndarray:
    """One-sided spectral density of displacement, m^3, at spatial frequencies n, cycles/m.

    The geometric mean of the class, with waviness 2: Gd(n) = Gd(n0) (n / n0)^-2 and Gd(n0) = 16e-6 m^3 in
    class A, four times as much in each next one. Source: ISO 8608:2016, tables A.1 and C.1.
    """
    at_reference = 16e-6 * 4.0 ** CLASSES.index(roughness_class)
    return np.asarray(at_reference * (n / REFERENCE) ** -2.0)


def frequencies(count: int, spacing: float) -> np.ndarray:
    """Multiples of 1 / (count spacing) that the standard classifies, below half the sampling rate."""
    every = np.arange(1, (count + 1) // 2) / (count * spacing)
    return every[(every >= LOWEST) & (every <= HIGHEST)]


def profile(roughness_class: str, count: int, spacing: float, seed: int) -> np.ndarray:
    """Heights (count,), m, at a spacing, m: waves of the class's power with phases drawn from a seed.

    Each wave of frequency n has the amplitude sqrt(2 Gd(n) dn), dn = 1 / (count spacing); the profile
    repeats itself after its end. Source: Shinozuka & Jan, J. Sound Vib. 25 (1972) 111-128, section 2.
    """
    n = frequencies(count, spacing)
    step = 1.0 / (count * spacing)
    phases = np.random.default_rng(seed).uniform(0.0, 2.0 * np.pi, len(n))
    waves = np.zeros(count // 2 + 1, dtype=complex)
    places = np.rint(n / step).astype(int)
    waves[places] = 0.5 * count * np.sqrt(2.0 * density_of(roughness_class, n) * step) * np.exp(1j * phases)
    return np.asarray(np.fft.irfft(waves, count))
