"""The results of a fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bellcrank.assembly.state import Floats
from bellcrank.mechanism.mechanism import Mechanism

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TOGETHER: Final = 0.95  # correlations above it are named


@dataclass(frozen=True, eq=False)
class FittedQuantity:
    """Data (n,) of a quantity at times (n,), residuals of the fitted run, and the noise's standard deviation.

    given: whether the latter was given; else it is estimated from the residuals.
    """

    name: str
    unit: str
    times: Floats
    data: Floats
    residuals: Floats
    noise: float
    given: bool


@dataclass(frozen=True, eq=False, repr=False)
class FitReport:
    """The parameters that best match the data.

    values, deviations, units: by name of the parameter; a standard deviation is infinite if the data do not
    determine the parameter. correlation: (parameters, parameters). quantities: data and residuals.
    chi_squared: the sum of squares of residuals over their deviations, near `degrees_of_freedom` if the noise
    was right. at_bound: parameters on a bound, whose deviations mean little. runs, failures: how many runs
    were computed and how many failed. mechanism, run: with the values found.
    """

    mechanism: Mechanism
    values: Mapping[str, float]
    deviations: Mapping[str, float]
    units: Mapping[str, str]
    correlation: Floats
    quantities: tuple[FittedQuantity, ...]
    chi_squared: float
    degrees_of_freedom: int
    at_bound: tuple[str, ...]
    runs: int
    failures: int
    converged: bool
    message: str
    run: Any

    def plot(self, path: str | Path | None = None) -> Figure:
        """Plot data, the fitted run and residuals (needs matplotlib). path: PNG, PDF or SVG to write."""
        from bellcrank.studies.plots import plot_fit

        return plot_fit(self, path)

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values, as it is printed as JSON."""
        return {
            "mechanism": self.mechanism.name,
            "values": dict(self.values),
            "deviations": dict(self.deviations),
            "units": dict(self.units),
            "correlation": self.correlation.tolist(),
            "noise": {found.name: found.noise for found in self.quantities},
            "chi_squared": self.chi_squared,
            "degrees_of_freedom": self.degrees_of_freedom,
            "at_bound": list(self.at_bound),
            "runs": self.runs,
            "failures": self.failures,
            "converged": self.converged,
            "message": self.message,
        }

    def __repr__(self) -> str:
        return f"<{str(self).splitlines()[0]}>"

    def __str__(self) -> str:
        ended = "converged" if self.converged else "not converged"
        lines = [f"fit of {self.mechanism.name!r}: {self.runs} runs, {self.failures} failed, {ended}"]
        for name, value in self.values.items():
            unit, note = self.units[name], "   at its bound" if name in self.at_bound else ""
            spread = self.deviations[name]
            text = f"± {spread:.2g}" if np.isfinite(spread) else "(the data do not determine it)"
            lines.append(f"  {name:24} {value:.7g} {text} {unit}".rstrip() + note)
        for found in self.quantities:
            source = "given" if found.given else "from the residuals"
            unit = f" {found.unit}" if found.unit else ""
            lines.append(
                f"  noise of {found.name}: {found.noise:.3g}{unit}, {source}; {len(found.data)} values"
            )
        if any(found.given for found in self.quantities):
            lines.append(
                f"  chi squared {self.chi_squared:.5g} for {self.degrees_of_freedom} degrees of freedom"
            )
        names = list(self.values)
        for i, j in np.argwhere(np.triu(np.abs(self.correlation), 1) > _TOGETHER):
            lines.append(f"  {names[i]} and {names[j]} are correlated: {self.correlation[i, j]:+.3f}")
        return "\n".join(lines)
