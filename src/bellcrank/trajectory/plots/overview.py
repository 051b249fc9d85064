"""The default figure: one page chosen from what the run contains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from bellcrank.trajectory.plots import kinds
from bellcrank.trajectory.plots.panels import Panel

if TYPE_CHECKING:
    from bellcrank.trajectory.trajectory import Trajectory

_MOST: Final = 9  # panels on the page


def overview(run: Trajectory, names: tuple[str, ...]) -> list[Panel]:
    """Joint motion, paths, reactions, drives, energy and errors, as far as the run contains them.

    Raises MechanismError if names are given.
    """
    kinds.refuse_names("overview", names)
    panels: list[tuple[int, Panel]] = []  # with how soon they are left out: the greater, the sooner
    if run.layout.coordinates:
        panels += zip((0, 2, 0, 1), kinds.joint(run, ())[:4], strict=False)
    if run.bodies:
        panels.append((0, kinds.path(run, ())[0]))
    if run.drives:
        panels.append((0, kinds.drive(run, ())[0]))
    if run.layout.reactions:
        forces, moments = kinds.reaction(run, (), components=False)
        panels += [(0, forces)] + ([(3, moments)] if moments.speaks else [])
    panels += [(0, panel) for panel in kinds.energy(run, ())]
    if np.any(run.violation.position > 0.0):
        panels += [(0, panel) for panel in kinds.violation(run, ())]
    while len(panels) > _MOST:
        panels.remove(max(panels, key=lambda entry: entry[0]))
    return [panel for _, panel in panels]
