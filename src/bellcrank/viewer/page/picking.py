"""Points clicked on the stage: on the body under the mouse, or at a marker near it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from bellcrank.assembly.state import Floats
from bellcrank.mechanism.marker import GROUND
from bellcrank.mechanism.rotation import matrix
from bellcrank.scene import Scene
from bellcrank.scene.making import crossings
from bellcrank.scene.scene import rotated
from bellcrank.trajectory.rotations import conjugate, rotate
from bellcrank.viewer.pieces import points_on, snapped
from bellcrank.viewer.snapshot import Snapshot

_REACH: Final = 0.16  # of a body's extent: points closer than this to a marker snap to it
_BESIDE: Final = 0.035  # of the overall size: markers closer than this to the line of sight are hit


@dataclass(frozen=True, eq=False)
class Pick:
    """A point that was clicked. point: (3,), m, in the body's frame. marker: name of the one there, or ""."""

    body: str
    point: Floats
    marker: str = ""

    @property
    def end(self) -> dict[str, Any]:
        """The point in the form that commands take."""
        return {"marker": self.marker} if self.marker else {"body": self.body, "point": self.point.tolist()}

    @property
    def text(self) -> str:
        """A description of the point."""
        place = ", ".join(f"{x:.3g}" for x in self.point)
        return self.marker or f"{self.body} ({place})"

    def in_world(self, now: Snapshot) -> Floats:
        """The position of the point in the world, (3,), m."""
        if self.body not in now.bodies:
            return self.point
        number = now.bodies.index(self.body)
        found: Floats = now.position[number] + rotate(now.rotation[number], self.point)
        return found


def pick(scene: Scene, now: Snapshot, origin: Floats, way: Floats) -> Pick | None:
    """The first body that a ray, m and (3,), hits in a scene, or a marker that it passes; None for nothing.

    The point on a body is the middle of its material along the ray, or a marker close to that.
    """
    assert now.mechanism is not None
    way = way / np.linalg.norm(way)
    found = first_hit(scene, now, origin, way)
    if found is None:
        return _beside(scene, now, origin, way)
    body = scene.carriers[scene.pieces[found[0]].carrier]
    point = _local(now, body, origin + found[1] * way)
    point, marker = snapped(now.mechanism, body, point, _REACH * extent(scene, body))
    return Pick(body, point, marker)


def first_hit(scene: Scene, now: Snapshot, origin: Floats, way: Floats) -> tuple[int, float] | None:
    """The index of the first piece that a ray hits, and the distance to the middle of its material, m.

    way: the direction of the ray, a unit vector.
    """
    best, found = np.inf, None
    placed = scene.placed(now.position, now.rotation)
    count = len(scene.pieces)
    middle, reach = scene.spheres
    gap = placed.position[:count] + rotated(placed.rotation[:count], middle) - origin
    aside = np.linalg.norm(gap - np.outer(gap @ way, way), axis=1)
    for number in np.flatnonzero(aside <= reach).tolist():
        piece = scene.pieces[number]
        turn = matrix(tuple(placed.rotation[number]))
        local, along = turn.T @ (origin - placed.position[number]), turn.T @ way
        depths = crossings(piece.mesh.vertices[piece.mesh.triangles], local, along)
        depths = depths[depths > 0.0]
        if len(depths) and depths.min() < best:
            best, found = float(depths.min()), (number, 0.5 * float(depths.min() + depths.max()))
    return found


def extent(scene: Scene, body: str) -> float:
    """The largest dimension of a body, m."""
    pieces = scene.bodies.get(body, ())
    if not pieces:
        return scene.size
    corners = np.concatenate([piece.vertices for piece in pieces])
    return float(np.ptp(corners, axis=0).max())


def _beside(scene: Scene, now: Snapshot, origin: Floats, way: Floats) -> Pick | None:
    """The marker nearest to a ray, if it is close enough."""
    assert now.mechanism is not None
    best, found = _BESIDE * scene.size, None
    for body in (*now.bodies, GROUND):
        for point, marker in points_on(now.mechanism, body):
            chosen = Pick(body, point, marker)
            gap = chosen.in_world(now) - origin
            away = float(np.linalg.norm(gap - (gap @ way) * way))
            if away < best:
                best, found = away, chosen
    return found


def _local(now: Snapshot, body: str, point: Floats) -> Floats:
    """A point of the world in the frame of a body, m."""
    if body not in now.bodies:
        return point
    number = now.bodies.index(body)
    found: Floats = rotate(conjugate(now.rotation[number]), point - now.position[number])
    return found
