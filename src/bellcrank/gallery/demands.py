"""What the gallery's mechanisms demand of their arguments: all faults in one ValueError."""

from __future__ import annotations

from math import isfinite
from typing import Any


class Demands:
    """Faults of the arguments of a mechanism, collected until `check`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.faults: list[str] = []

    def positive(self, **values: float) -> None:
        """Each must be greater than zero."""
        for name, value in values.items():
            self.that(isfinite(value) and value > 0.0, f"{name} must be greater than zero", value)

    def not_negative(self, **values: float) -> None:
        """Each must be zero or more."""
        for name, value in values.items():
            self.that(isfinite(value) and value >= 0.0, f"{name} must not be negative", value)

    def within(self, name: str, value: float, low: float, high: float, what: str) -> None:
        """The value must lie between two others, neither of which is allowed."""
        self.that(low < value < high, f"{name}, {what}, must lie between {low:g} and {high:g}", value)

    def whole(self, name: str, value: int, *, least: int) -> None:
        """The value must be a whole number that is not too small."""
        fits = isinstance(value, int) and not isinstance(value, bool) and value >= least
        self.that(fits, f"{name} must be a whole number of at least {least}", value)

    def that(self, fits: bool, rule: str, value: Any, advice: str = "") -> None:
        """A rule of its own."""
        if not fits:
            self.faults.append(f"{rule}, got {value!r}" + (f"; {advice}" if advice else ""))

    def check(self) -> None:
        """Raise ValueError with all faults, if there are any."""
        if self.faults:
            raise ValueError(f"{self.name}: " + "; ".join(self.faults))
