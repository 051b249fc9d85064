"""The judgment of stability by an eigenvalue and its uncertainty, for rests, linearized motions and modes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Stability: TypeAlias = Literal["stable", "neutral", "unstable"]


@dataclass(frozen=True)
class Judged:
    """An eigenvalue that decides about stability.

    value: positive where small displacements decay or come back, negative where they grow. uncertainty: how
    far it may be off, due to rounding and to errors of derivatives; not negative, in the same unit.
    """

    value: float
    uncertainty: float

    @property
    def stability(self) -> Stability:
        """What is certain: "stable", "unstable", or "neutral" if zero is within the uncertainty."""
        if abs(self.value) <= self.uncertainty:
            return "neutral"
        return "stable" if self.value > 0.0 else "unstable"

    def __str__(self) -> str:
        return f"0 ± {self.uncertainty:.1g}" if self.stability == "neutral" else f"{self.value:.6g}"
