"""Draw the mechanisms of the gallery into docs/img/gallery: all, or those that are named as arguments."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

import bellcrank as bc
from bellcrank.assembly.state import Floats
from bellcrank.mechanism.references import markers_of
from bellcrank.mechanism.rotation import matrix, rotate

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "examples"))
import drawing  # noqa: E402  (the folder is not a package)

FOLDER: Final = ROOT / "docs" / "img" / "gallery"
COLOURS: Final = (
    (0.33, 0.52, 0.71),
    (0.87, 0.60, 0.30),
    (0.46, 0.65, 0.45),
    (0.72, 0.52, 0.66),
    (0.62, 0.62, 0.62),
)
POSTURE: Final = bc.gallery.Posture(flexion=0.6, abduction=0.5, elbow=1.0, wrist=0.2)
SHOWN: Final[dict[str, dict[str, Any]]] = {
    "prosthetic_shoulder": {"posture": POSTURE},
    "prosthetic_arm": {"posture": POSTURE},
    "chain": {"angle": -0.5},
    "random_tree": {"types": ("revolute", "universal", "spherical")},
}
"""Arguments of mechanisms that are not drawn as they are by default."""
LARGEST: Final = 30_000  # bytes of a picture


def place(mechanism: bc.Mechanism, marker: bc.Marker) -> Floats:
    """Where a marker is in the world, (3,), m."""
    body = mechanism.ground if marker.body == "ground" else mechanism.bodies[marker.body]
    at: Floats = np.asarray(body.position) + np.asarray(rotate(body.rotation, marker.position))
    return at


def zigzag(start: Floats, end: Floats, width: float, side: Floats) -> Floats:
    """A coil between two points, (n, 3), m."""
    along = np.linspace(0.0, 1.0, 16)
    swing = np.where(np.arange(16) % 2 == 0, 1.0, -1.0) * ((along > 0.15) & (along < 0.85))
    points: Floats = start + along[:, None] * (end - start) + 0.5 * width * swing[:, None] * side
    return points


def picture(mechanism: bc.Mechanism) -> Figure:
    """The mechanism at its start: plane ones from the front, others from the side and above."""
    figure = Figure(figsize=(3.4, 2.7))
    axes: Any = figure.add_axes((0.0, 0.0, 1.0, 1.0), projection="3d", computed_zorder=False)
    colour(mechanism)
    drawing.add(axes, mechanism)
    corners = np.array([*corners_of(mechanism)])
    low, high = np.min(corners, axis=0), np.max(corners, axis=0)
    size = float(np.max(high - low))
    flat = high[2] - low[2] < 0.2 * size and mechanism.gravity[2] == 0.0
    draw_lines(axes, mechanism, size, np.array([0.0, 1.0, 0.0] if flat else [0.0, 0.0, 1.0]))
    for joint in mechanism.joints.values():
        draw_joint(axes, mechanism, joint)
    margin = 0.05 * size
    view = {"elevation": 90.0, "azimuth": -90.0} if flat else {"elevation": 20.0, "azimuth": -58.0}
    extent = high - low + 2.0 * margin
    zoom = (
        0.93 * float(np.linalg.norm(extent) / np.max(extent)) if flat else 1.15
    )  # boxes have a diagonal of 1
    drawing.frame(axes, low - margin, high + margin, zoom=zoom, **view)
    if not flat and mechanism.gravity[1]:
        axes.view_init(elev=20.0, azim=35.0, vertical_axis="y")
    return figure


def colour(mechanism: bc.Mechanism) -> None:
    """Give each body whose shapes have no colour one of its own."""
    for number, body in enumerate(list(mechanism.bodies.values())):
        shapes = [
            shape if shape.color else replace(shape, color=COLOURS[number % len(COLOURS)])
            for shape in body.shapes
        ]
        mechanism.replace(body, shapes=shapes)


def corners_of(mechanism: bc.Mechanism) -> Iterator[Floats]:
    """Points that the picture must show, m."""
    bodies: list[Any] = [*mechanism.bodies.values(), mechanism.ground]
    for body in bodies:
        turn = np.asarray(matrix(body.rotation))
        for shape in body.shapes:
            local = drawing.faces(shape).reshape(-1, 3) @ np.asarray(matrix(shape.rotation)).T
            yield from (local + shape.position) @ turn.T + np.asarray(body.position)
    for joint in mechanism.joints.values():
        if not isinstance(joint.kind, bc.Free):
            yield from (place(mechanism, marker) for marker in markers_of(joint))
    for force in mechanism.forces.values():
        yield from (place(mechanism, marker) for marker in markers_of(force))


def draw_lines(axes: Any, mechanism: bc.Mechanism, size: float, side: Floats) -> None:
    """Springs as coils, massless links as lines, guides that are fixed to the ground dashed."""
    for force in mechanism.forces.values():
        if isinstance(force.kind, bc.SpringDamper):
            start, end = (place(mechanism, marker) for marker in force.markers)
            coil = zigzag(start, end, 0.04 * size, side)
            axes.plot(*coil.T, color="#b03a2e", linewidth=1.0, zorder=5)
    for joint in mechanism.joints.values():
        ends = np.array([place(mechanism, joint.marker_1), place(mechanism, joint.marker_2)])
        if isinstance(joint.kind, bc.Distance):
            axes.plot(*ends.T, color="#444444", linewidth=1.2, zorder=0)
        if isinstance(joint.kind, (bc.Prismatic, bc.PinInSlot)) and "ground" in joint.marker_1.body:
            way = ends[1] - ends[0]
            axes.plot(*np.array([ends[0] - 0.15 * way, ends[1] + 0.15 * way]).T, "--", color="#888888",
                      linewidth=0.9, zorder=0)  # fmt: skip


def draw_joint(axes: Any, mechanism: bc.Mechanism, joint: Any) -> None:
    """A triangle for a pivot on the ground, a circle for another; nothing for what slides."""
    if isinstance(joint.kind, (bc.Prismatic, bc.PinInSlot, bc.Free)):
        return
    grounded = "ground" in (joint.marker_1.body, joint.marker_2.body)
    axes.plot(
        *place(mechanism, joint.marker_1),
        "^" if grounded else "o",
        color="#222222",
        markerfacecolor="#222222" if grounded else "white",
        markersize=6 if grounded else 4,
        markeredgewidth=0.9,
        zorder=6,
    )


def main() -> int:
    """Write the pictures; 1 if one is larger than what a page should carry."""
    mpl.use("Agg")
    FOLDER.mkdir(parents=True, exist_ok=True)
    status = 0
    for name, make in bc.gallery.catalogue().items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        path = FOLDER / f"{name}.png"
        picture(make(**SHOWN.get(name, {}))).savefig(
            path, dpi=110, pil_kwargs={"optimize": True}, metadata={"Software": None}
        )
        size = path.stat().st_size
        print(f"{path.name}: {size / 1e3:.1f} kB")
        status |= size > LARGEST
    return status


if __name__ == "__main__":
    sys.exit(main())
