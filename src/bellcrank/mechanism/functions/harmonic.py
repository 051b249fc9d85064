"""Constant and harmonic functions."""

from __future__ import annotations

from dataclasses import replace
from math import pi, sin
from typing import Any

import numpy as np

from bellcrank.errors import Unsupported
from bellcrank.mechanism.fields import described, quantity
from bellcrank.mechanism.functions.function import SMOOTH, FlatFunction, Function
from bellcrank.mechanism.given import FloatField


@described
class Harmonic(Function):
    """The function  offset + slope x + amplitude sin(omega x + phase).

    amplitude, offset: in the unit of what is driven; slope: the same per unit of x.
    omega: angular frequency, rad/s (2 pi times the frequency in Hz).
    phase: rad.
    """

    amplitude: FloatField = quantity()
    omega: FloatField = quantity("rad/s")
    phase: FloatField = quantity("rad", default=0.0)
    offset: FloatField = quantity(default=0.0)
    slope: FloatField = quantity(default=0.0)

    @property
    def smoothness(self) -> int:
        """See Function.smoothness."""
        return SMOOTH

    def derivative(self, x: Any, order: int = 1) -> np.ndarray:
        """See Function.derivative."""
        at = np.asarray(x, dtype=float)
        wave = self.amplitude * self.omega**order * np.sin(self.omega * at + self.phase + order * (pi / 2))
        if order == 0:
            return np.asarray(self.offset + self.slope * at + wave)
        return np.asarray(self.slope + wave if order == 1 else wave)

    def flat(self) -> FlatFunction:
        """See Function.flat."""
        return FlatFunction("harmonic", (self.offset, self.slope, self.amplitude, self.omega, self.phase))

    def scaled(self, factor: float) -> Harmonic:
        """See Function.scaled."""
        return replace(
            self, amplitude=factor * self.amplitude, offset=factor * self.offset, slope=factor * self.slope
        )

    def integral(self) -> Harmonic:
        """Offset x - amplitude/omega cos(omega x + phase). Raises Unsupported if there is a slope."""
        if self.slope != 0.0:
            raise Unsupported(
                "a Harmonic with a slope has no antiderivative of its kind; use slope=0 or give a position"
            )
        if self.omega == 0.0:
            return Harmonic(0.0, 0.0, slope=self.offset + self.amplitude * sin(self.phase))
        return Harmonic(self.amplitude / self.omega, self.omega, self.phase - pi / 2, slope=self.offset)


@described
class Constant(Function):
    """The same value everywhere. A plain number given as a function becomes a Constant."""

    value: FloatField = quantity()

    @property
    def smoothness(self) -> int:
        """See Function.smoothness."""
        return SMOOTH

    def derivative(self, x: Any, order: int = 1) -> np.ndarray:
        """See Function.derivative."""
        return np.full(np.shape(x), self.value if order == 0 else 0.0)

    def flat(self) -> FlatFunction:
        """See Function.flat."""
        return FlatFunction("harmonic", (self.value, 0.0, 0.0, 0.0, 0.0))

    def scaled(self, factor: float) -> Constant:
        """See Function.scaled."""
        return Constant(factor * self.value)

    def integral(self) -> Harmonic:
        """See Function.integral."""
        return Harmonic(0.0, 0.0, slope=self.value)
