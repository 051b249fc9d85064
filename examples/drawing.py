"""Pictures of a mechanism's shapes in a 3D axes of matplotlib, for figures on paper."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from mpl_toolkits.mplot3d import proj3d
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

import bellcrank as bc
from bellcrank.mechanism.rotation import matrix

LIGHT = np.array([0.35, -0.6, 0.72])
PLAIN = (0.60, 0.66, 0.72)


def _revolved(radii: np.ndarray, heights: np.ndarray, sides: int = 22) -> np.ndarray:
    """Faces (f, 4, 3) of a profile turned about z."""
    angle = np.linspace(0.0, 2 * np.pi, sides + 1)
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    points = np.concatenate(
        [radii[:, None, None] * ring, np.broadcast_to(heights[:, None, None], (len(radii), sides + 1, 1))],
        axis=2,
    )
    corners = (points[:-1, :-1], points[1:, :-1], points[1:, 1:], points[:-1, 1:])
    return np.stack(corners, axis=2).reshape(-1, 4, 3)


def faces(shape: Any) -> np.ndarray:
    """Faces (f, 4, 3) of a shape in its own frame; none of a mesh."""
    if isinstance(shape, bc.Box):
        square = np.array([[-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]], dtype=float)
        turned = [np.roll(square * (1, 1, sign), k, axis=1) for k in range(3) for sign in (1, -1)]
        return 0.5 * np.array(turned) * shape.size
    arc = np.linspace(-np.pi / 2, np.pi / 2, 11)
    if isinstance(shape, bc.Sphere):
        return _revolved(shape.radius * np.cos(arc), shape.radius * np.sin(arc))
    if isinstance(shape, bc.Ellipsoid):
        return _revolved(np.cos(arc), np.sin(arc)) * shape.radii
    if isinstance(shape, bc.Cylinder):
        half = shape.length / 2
        heights = np.concatenate([[-half], np.linspace(-half, half, 9), [half]])
        return _revolved(np.array([0.0, *[shape.radius] * 9, 0.0]), heights)
    if isinstance(shape, bc.Capsule):
        half = shape.length / 2
        middle = np.linspace(-half, half, 9)[1:-1]
        heights = np.concatenate(
            [shape.radius * np.sin(arc[:6]) - half, middle, shape.radius * np.sin(arc[5:]) + half]
        )
        radii = np.concatenate(
            [shape.radius * np.cos(arc[:6]), [shape.radius] * 7, shape.radius * np.cos(arc[5:])]
        )
        return _revolved(radii, heights)
    if isinstance(shape, bc.Cone):
        half = shape.height / 2
        return _revolved(np.array([0.0, shape.radius, 0.0]), np.array([-half, -half, half]))
    return np.empty((0, 4, 3))


def add(
    axes: Any,
    mechanism: bc.Mechanism,
    state: Any = None,
    *,
    only: Iterable[str] | None = None,
    opacity: float = 1.0,
    color: tuple[float, ...] | None = None,
) -> None:
    """Draw bodies and the ground with their shapes at a State (by default as described).

    only: names of the bodies. opacity: factor on that of the shapes. color: instead of theirs.
    """
    polygons, colors = [], []
    bodies: list[Any] = [*mechanism.bodies.values(), mechanism.ground]
    for number, body in enumerate(bodies):
        if only is not None and body.name not in only:
            continue
        still = state is None or body.name == "ground"
        position = body.position if still else state.position[number]
        turn = matrix(body.rotation if still else tuple(state.rotation[number]))
        for shape in body.shapes:
            local = faces(shape) @ matrix(shape.rotation).T + np.asarray(shape.position)
            placed = local @ turn.T + np.asarray(position)
            normals = np.cross(placed[:, 2] - placed[:, 0], placed[:, 3] - placed[:, 1])
            size = np.linalg.norm(normals, axis=1, keepdims=True)
            normals = normals / np.where(size > 0.0, size, 1.0)
            base = np.array([*(color or shape.color or PLAIN), 1.0][:4])
            light = 0.62 + 0.38 * np.abs(normals @ (LIGHT / np.linalg.norm(LIGHT)))
            shaded = np.column_stack(
                [np.clip(base[:3] * light[:, None], 0, 1), np.full(len(placed), base[3] * opacity)]
            )
            polygons.append(placed)
            colors.append(shaded)
    collection = Poly3DCollection(np.concatenate(polygons), facecolors=np.concatenate(colors), linewidths=0.0)
    collection.set_edgecolor((0.0, 0.0, 0.0, 0.0))
    axes.add_collection3d(collection)


def frame(
    axes: Any, low: Any, high: Any, *, elevation: float = 18.0, azimuth: float = -60.0, zoom: float = 1.0
) -> None:
    """Show the space from corner to corner (m) at equal scales, seen from a direction (degrees)."""
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
    axes.set_box_aspect(np.asarray(high) - np.asarray(low), zoom=zoom)
    axes.set_proj_type("ortho")
    axes.view_init(elev=elevation, azim=azimuth)
    axes.set_axis_off()


def label(axes: Any, text: str, point: Any, offset: tuple[float, float]) -> None:
    """A text with a thin line to a point (m); offset in points. To be called after `frame`."""
    x, y, _ = proj3d.proj_transform(*point, axes.get_proj())
    axes.annotate(
        text,
        (x, y),
        xytext=offset,
        textcoords="offset points",
        fontsize=8,
        ha="center" if abs(offset[0]) < 32 else "left" if offset[0] > 0 else "right",
        va="center",
        arrowprops={"arrowstyle": "-", "linewidth": 0.6, "shrinkA": 2, "shrinkB": 0},
    )
