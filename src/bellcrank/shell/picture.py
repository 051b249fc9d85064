"""A picture of a mechanism in a file: shapes, or lines between what is fixed to each body."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.assembly.state import State
from bellcrank.mechanism.evaluation import with_numbers
from bellcrank.mechanism.marker import GROUND
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.references import markers_of
from bellcrank.mechanism.rotation import matrix
from bellcrank.mechanism.shape import Box, Capsule, Cylinder
from bellcrank.trajectory.plots.figure import check_picture

_BODY, _STRING, _GROUND = "#30506d", "#c65d21", "#777777"


def write_picture(mechanism: Mechanism, state: State, path: str | Path) -> None:
    """Draw the mechanism at a state into a PNG, PDF or SVG file.

    Raises MechanismError for another suffix, Unsupported without matplotlib.
    """
    check_picture(str(path))
    from matplotlib.figure import Figure
    from mpl_toolkits.mplot3d.art3d import Line3DCollection

    numbers = with_numbers(mechanism)
    poses = {
        name: (state.position[i], np.asarray(matrix(tuple(state.rotation[i]))))
        for i, name in enumerate(numbers.bodies)
    }
    poses[GROUND] = (np.zeros(3), np.eye(3))
    figure = Figure(figsize=(7.0, 6.0))
    axes: Any = figure.add_subplot(projection="3d")
    everything: list[np.ndarray] = []
    groups = (
        (_lines_of_bodies(numbers, poses), _BODY, 2.4, "-"),
        (_lines_of_forces(numbers, poses), _STRING, 1.0, "--"),
    )
    for lines, color, width, style in groups:
        if lines:
            everything += lines
            axes.add_collection3d(Line3DCollection(lines, colors=color, linewidths=width, linestyles=style))
    coms = [poses[b.name][0] + poses[b.name][1] @ np.asarray(b.com) for b in numbers.bodies.values()]
    everything += [com[None] for com in coms]
    axes.scatter(*np.array(coms or [(0.0, 0.0, 0.0)]).T, color=_BODY, s=14)
    _show_all(axes, np.concatenate(everything or [np.zeros((1, 3))]))
    axes.set(
        xlabel="x (m)", ylabel="y (m)", zlabel="z (m)", title=f"{mechanism.name}, t = {state.time:.4g} s"
    )
    figure.savefig(path, dpi=110)


def _lines_of_bodies(mechanism: Mechanism, poses: Any) -> list[np.ndarray]:
    """Edges of shapes; where there are none, lines from the centre of mass to all markers."""
    lines = []
    held: dict[str, list[Any]] = {name: [] for name in poses}
    for table in (mechanism.joints, mechanism.constraints, mechanism.forces, mechanism.drives):
        for element in table.values():
            for marker in markers_of(element):
                held[marker.body].append(marker.position)
    carriers: list[Any] = [*mechanism.bodies.values(), mechanism.ground]
    for body in carriers:
        position, turn = poses[body.name]
        edges = [edge for shape in body.shapes for edge in _edges(shape)]
        if not edges and body.name != GROUND:
            com = getattr(body, "com", (0.0, 0.0, 0.0))
            edges = [np.array([com, point]) for point in dict.fromkeys(held[body.name]) if point != com]
        lines += [position + edge @ turn.T for edge in edges]
    return lines


def _edges(shape: Any) -> list[np.ndarray]:
    """Lines of a shape, in body axes: the edges of a box, the axis of what is long, else a cross."""
    place, turn = np.asarray(shape.position), np.asarray(matrix(shape.rotation))
    if isinstance(shape, Box):
        half = 0.5 * np.asarray(shape.size)
        corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half
        pairs = [(i, i | bit) for bit in (1, 2, 4) for i in range(8) if not i & bit]
        local = [corners[list(pair)] for pair in pairs]
    elif isinstance(shape, (Cylinder, Capsule)):
        local = [np.array([(0, 0, -0.5), (0, 0, 0.5)]) * shape.length]
    else:
        size = getattr(shape, "radius", None) or 0.1
        local = [size * np.array([-axis, axis]) for axis in np.eye(3)]
    return [place + line @ turn.T for line in local]


def _lines_of_forces(mechanism: Mechanism, poses: Any) -> list[np.ndarray]:
    """A line for every force between two markers."""
    lines = []
    for force in mechanism.forces.values():
        if len(force.markers) == 2:
            ends = [poses[m.body][0] + poses[m.body][1] @ np.asarray(m.position) for m in force.markers]
            lines.append(np.array(ends))
    return lines


def _show_all(axes: Any, points: np.ndarray) -> None:
    """Equal scales about all points."""
    low, high = points.min(axis=0), points.max(axis=0)
    middle, half = 0.5 * (low + high), max(0.55 * float(np.max(high - low)), 0.1)
    for name, centre in zip("xyz", middle, strict=True):
        getattr(axes, f"set_{name}lim")(centre - half, centre + half)
    axes.set_box_aspect((1, 1, 1))
