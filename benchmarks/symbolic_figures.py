"""Figures 6 and 7 of the symbolic Lagrangian's paper, with bellcrank's counts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.report import Row, Table
from benchmarks.symbolic_counts import FIT_FORMS, PUBLISHED, total

_DEGREE = {"inverse": 1, "forward": 2}


def plot(growth: Table, path: Path) -> None:
    """Plot the figures into an image file: total operations over coordinates, with the fits.

    Inverse dynamics above, forward dynamics below; on the left bellcrank's method, on the right equation 13
    literally, with the paper's six revolute joints (best and worst) in both. Raises ImportError without
    matplotlib (extra "plot").
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 7.0), layout="constrained")
    axes: Any = figure.subplots(2, 2, sharex=True)
    for row, dynamics in zip(axes, _DEGREE, strict=True):
        for panel, (form, ending) in zip(row, FIT_FORMS.items(), strict=True):
            for name in dict.fromkeys(r["chain"] for r in growth.rows):
                _draw(panel, name, [r for r in growth.rows if r["chain"] == name], dynamics, ending)
            known: list[Any] = [p[dynamics] for p in PUBLISHED[:2]]
            panel.plot([6, 6], [sum(counts) for counts in known], "k_", label="published, revolute")
            panel.set(title=f"{dynamics} dynamics, {form}", ylabel="sums and products")
            panel.set_ylim(bottom=0.0)
            panel.grid(visible=True, alpha=0.3)
    for panel in axes[1]:
        panel.set_xlabel("generalized coordinates")
    axes[0, 0].legend()
    figure.savefig(path, dpi=150)


def _draw(panel: Any, name: str, rows: Sequence[Row], dynamics: str, ending: str) -> None:
    found = [row["counts"].get(f"{dynamics}{ending}") for row in rows]
    if None in found:  # equation 13, which only development builds count
        return
    n = np.array([row["coordinates"] for row in rows], dtype=float)
    values = np.array([total(counts) for counts in found], dtype=float)
    (line,) = panel.plot(n, values, "o", label=name)
    later = n >= 4
    if np.count_nonzero(later) > _DEGREE[dynamics]:
        fine = np.linspace(4.0, n[-1], 100)
        fit = np.polyval(np.polyfit(n[later], values[later], _DEGREE[dynamics]), fine)
        panel.plot(fine, fit, color=line.get_color())
