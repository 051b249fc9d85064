"""A picture of a mechanism in a file: outlines of shapes, or lines between what is fixed to each body."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bellcrank.assembly.state import State
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.evaluation import with_numbers
from bellcrank.mechanism.marker import GROUND
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.references import markers_of
from bellcrank.mechanism.rotation import matrix
from bellcrank.mechanism.shape import Box, Capsule, Cone, Cylinder, Ellipsoid, Sphere
from bellcrank.trajectory.plots.figure import check_picture, new_figure, write_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bellcrank.trajectory.trajectory import Trajectory

_BODY, _STRING, _GROUND = "#30506d", "#c65d21", "#777777"
_SIZE: Final = (7.0, 6.0)
_FAINTEST: Final = 0.2  # opacity of the first of several states
_MOST: Final = 100  # states in a picture
_TURNS: Final = np.linspace(0.0, 2.0 * np.pi, 25)


def picture(run: Trajectory, path: str | Path | None, times: Any = None, instants: Any = 5) -> Figure:
    """The mechanism of a run at instants, the earlier ones fainter.

    times: a time or several, s; or instants: how many, evenly spread over the run, its end the last of them.
    """
    with Check("picture of a run") as check:
        count = check.integer("instants", instants, 1)
        if count > _MOST:
            check.fault(f"a picture holds at most {_MOST} instants", count)
        if times is not None:
            times = check.array("times", np.atleast_1d(times).tolist(), (None,), "s")
    if times is None:
        first, last = run.span()
        times = np.linspace(last, first, count)[::-1] if count > 1 else np.array([last])
    return drawn(run.origin.mechanism, [run.at(time) for time in times.tolist()], path)


def write_picture(mechanism: Mechanism, state: State, path: str | Path) -> None:
    """Draw the mechanism at a state into a PNG, PDF or SVG file.

    Raises MechanismError for another suffix, Unsupported without matplotlib.
    """
    check_picture(path)
    drawn(mechanism, [state], path)


def drawn(mechanism: Mechanism, states: Sequence[State], path: str | Path | None) -> Figure:
    """A figure of the mechanism at states, the earlier ones fainter."""
    figure = new_figure(_SIZE, path is None)
    axes: Any = figure.add_subplot(projection="3d")
    numbers = with_numbers(mechanism)
    everything = []
    for number, state in enumerate(states, start=1):
        opacity = _FAINTEST + (1.0 - _FAINTEST) * (number / len(states)) ** 2
        everything += _draw(axes, numbers, state, opacity, number == len(states))
    _show_all(axes, np.concatenate(everything or [np.zeros((1, 3))]))
    instants = " … ".join(f"{t:.4g}" for t in dict.fromkeys((states[0].time, states[-1].time)))
    axes.set(xlabel="x (m)", ylabel="y (m)", zlabel="z (m)", title=f"{mechanism.name}, t = {instants} s")
    if path is not None:
        write_figure(figure, path)
    return figure  # type: ignore[no-any-return]


def _draw(axes: Any, numbers: Mechanism, state: State, opacity: float, last: bool) -> list[np.ndarray]:
    """Draw one state; the points that are to be seen. last: the ground is drawn with it."""
    from mpl_toolkits.mplot3d.art3d import Line3DCollection

    poses = {
        name: (state.position[i], np.asarray(matrix(tuple(state.rotation[i]))))
        for i, name in enumerate(numbers.bodies)
    }
    poses[GROUND] = (np.zeros(3), np.eye(3))
    lines = _lines_of_bodies(numbers, poses)
    groups = (
        *(
            (lines[name], _colour(body), 1.2 if body.shapes else 2.4, "-")
            for name, body in _carriers(numbers)
        ),
        (_lines_of_forces(numbers, poses), _STRING, 1.0, "--"),
    )
    for group, colour, width, style in groups:
        if group and (last or colour != _GROUND):
            drawn = Line3DCollection(group, colors=colour, linewidths=width, linestyles=style, alpha=opacity)
            axes.add_collection3d(drawn)
    coms = [poses[b.name][0] + poses[b.name][1] @ np.asarray(b.com) for b in numbers.bodies.values()]
    axes.scatter(*np.array(coms or [(0.0, 0.0, 0.0)]).T, color=_BODY, s=14, alpha=opacity)
    return [*(line for group, *_ in groups for line in group), *(com[None] for com in coms)]


def _carriers(mechanism: Mechanism) -> list[tuple[str, Any]]:
    return [*mechanism.bodies.items(), (GROUND, mechanism.ground)]


def _colour(body: Any) -> Any:
    """That of the body's first shape that has one."""
    given = [shape.color[:3] for shape in body.shapes if shape.color is not None]
    return _GROUND if body.name == GROUND else given[0] if given else _BODY


def _lines_of_bodies(mechanism: Mechanism, poses: Any) -> dict[str, list[np.ndarray]]:
    """Per body outlines of shapes; where there are none, lines from the centre of mass to all markers."""
    held: dict[str, list[Any]] = {name: [] for name in poses}
    for table in (mechanism.joints, mechanism.constraints, mechanism.forces, mechanism.drives):
        for element in table.values():
            for marker in markers_of(element):
                held[marker.body].append(marker.position)
    lines = {}
    for name, body in _carriers(mechanism):
        position, turn = poses[name]
        edges = [edge for shape in body.shapes for edge in _edges(shape)]
        if not edges and name != GROUND:
            com = getattr(body, "com", (0.0, 0.0, 0.0))
            edges = [np.array([com, point]) for point in dict.fromkeys(held[name]) if point != com]
        lines[name] = [position + edge @ turn.T for edge in edges]
    return lines


def _edges(shape: Any) -> list[np.ndarray]:
    """Lines of a shape, in body axes: edges of a box, rings and sides of what is round, else a cross."""
    place, turn = np.asarray(shape.position), np.asarray(matrix(shape.rotation))
    return [place + line @ turn.T for line in _own_edges(shape)]


def _own_edges(shape: Any) -> list[np.ndarray]:
    """The same in the shape's own axes."""
    if isinstance(shape, Box):
        half = 0.5 * np.asarray(shape.size)
        corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half
        return [corners[[i, i | bit]] for bit in (1, 2, 4) for i in range(8) if not i & bit]
    if isinstance(shape, (Sphere, Ellipsoid)):
        radii = np.asarray(shape.radii) if isinstance(shape, Ellipsoid) else shape.radius * np.ones(3)
        ring = np.stack([np.cos(_TURNS), np.sin(_TURNS), np.zeros_like(_TURNS)], axis=1)
        return [np.roll(ring, k, axis=1) * radii for k in range(3)]
    if isinstance(shape, (Cylinder, Capsule)):
        cap = shape.radius if isinstance(shape, Capsule) else 0.0
        arc = np.linspace(0.0, np.pi / 2, 7)
        rounding = np.stack([shape.radius * np.cos(arc), cap * np.sin(arc)], axis=1)[: None if cap else 1]
        above = rounding + np.array([0.0, 0.5 * shape.length])
        return _round(np.concatenate([above[::-1], above * (1.0, -1.0)]), (0.5, -0.5), shape)
    if isinstance(shape, Cone):
        return _round(
            0.5 * np.array([(0.0, shape.height), (2.0 * shape.radius, -shape.height)]), (-0.5,), shape
        )
    return [0.1 * np.array([-axis, axis]) for axis in np.eye(3)]


def _round(profile: np.ndarray, rings: Sequence[float], shape: Any) -> list[np.ndarray]:
    """A profile (n, 2) of radii and heights at four sides, and rings at parts of the length."""
    length = getattr(shape, "length", None) or shape.height
    ways = [(np.cos(a), np.sin(a)) for a in np.arange(4) * np.pi / 2]
    sides = [np.column_stack([profile[:, 0] * c, profile[:, 0] * s, profile[:, 1]]) for c, s in ways]
    circle = shape.radius * np.stack([np.cos(_TURNS), np.sin(_TURNS)], axis=1)
    return [*sides, *(np.column_stack([circle, np.full(len(circle), part * length)]) for part in rings)]


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
