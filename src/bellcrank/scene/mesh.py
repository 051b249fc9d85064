"""Triangle meshes with a normal at each vertex, and the solids used in pictures of mechanisms.

Equal arguments give the same object, so that painters can recognise copies of one piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final, TypeAlias

import numpy as np

from bellcrank.compile.state import Floats, Ints

Points: TypeAlias = tuple[tuple[float, ...], ...]

SIDES: Final = 32  # of round solids
_CREASE: Final = np.cos(np.radians(35.0))  # a sharper bend, of an outline or a surface, is an edge
_KEPT: Final = 512  # meshes


@dataclass(frozen=True, eq=False, repr=False)
class TriangleMesh:
    """A surface: vertices (n, 3), m; triangles (m, 3), counter-clockwise from outside; normals (n, 3).

    A vertex on an edge occurs once for each of its sides.

    >>> mesh = bc.scene.of(cube).pieces[0].mesh
    >>> mesh.vertices.shape, mesh.triangles.shape    # six faces with two triangles and normals of their own
    ((24, 3), (12, 3))
    """

    vertices: Floats
    triangles: Ints
    normals: Floats

    def __repr__(self) -> str:
        return f"<TriangleMesh of {len(self.vertices)} vertices, {len(self.triangles)} triangles>"

    @cached_property
    def corners(self) -> Floats:
        """Lowest and highest coordinates (2, 3)."""
        return np.array([self.vertices.min(axis=0), self.vertices.max(axis=0)])


def joined(meshes: Sequence[TriangleMesh]) -> TriangleMesh:
    """Several meshes as one."""
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes[:-1])])
    return TriangleMesh(
        np.concatenate([mesh.vertices for mesh in meshes]),
        np.concatenate([mesh.triangles + start for mesh, start in zip(meshes, starts, strict=True)]).astype(
            np.int32
        ),
        np.concatenate([mesh.normals for mesh in meshes]),
    )


def moved(mesh: TriangleMesh, position: Sequence[float] | Floats, turn: Floats | None = None) -> TriangleMesh:
    """The mesh turned by a matrix (3, 3) and then shifted, m."""
    turn = np.eye(3) if turn is None else turn
    return TriangleMesh(mesh.vertices @ turn.T + np.asarray(position), mesh.triangles, mesh.normals @ turn.T)


def faceted(vertices: Floats, triangles: Ints) -> TriangleMesh:
    """A mesh from vertices and triangles; faces that meet at less than 35 degrees are shaded as one.

    The normal at each corner is the area-weighted mean over the adjacent faces that bend by less than that.
    """
    corners = vertices[triangles]
    areas = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    size = np.linalg.norm(areas, axis=1, keepdims=True)
    units = areas / np.where(size > 0.0, size, 1.0)
    owner = triangles.ravel()
    face = np.repeat(np.arange(len(triangles)), 3)
    order = np.argsort(owner, kind="stable")
    counts = np.bincount(owner, minlength=len(vertices))
    starts = np.concatenate([[0], np.cumsum(counts)])
    normals = np.repeat(units, 3, axis=0)
    limit = _CREASE
    for width in np.unique(counts[counts > 1]):  # vertices with the same number of faces, all at once
        of = starts[:-1][counts == width][:, None] + np.arange(width)
        faces = face[order[of]]
        near = np.einsum("vik,vjk->vij", units[faces], units[faces]) > limit
        normals[order[of]] = np.einsum("vij,vjk->vik", near, areas[faces])
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = normals / np.where(length > 0.0, length, 1.0)
    return TriangleMesh(
        corners.reshape(-1, 3), np.arange(3 * len(triangles), dtype=np.int32).reshape(-1, 3), normals
    )


def height_field(x: Floats, y: Floats, heights: Floats, thickness: float) -> TriangleMesh:
    """The surface of heights (ny, nx) over a grid in x and y, subsampled to at most 250 each way.

    thickness: of its edges, as a part of its larger side.
    """
    if len(y) > 2:  # two rows are a profile, which is drawn unchanged
        rows, columns = (np.unique(np.linspace(0, n - 1, min(n, 250)).astype(int)) for n in heights.shape)
        x, y, heights = x[columns], y[rows], heights[np.ix_(rows, columns)]
    vertices = np.column_stack([part.ravel() for part in (*np.meshgrid(x, y), heights)])
    at = np.arange(heights.size).reshape(heights.shape)
    a, b, c, d = at[:-1, :-1], at[:-1, 1:], at[1:, 1:], at[1:, :-1]
    triangles = np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3)
    rim = np.concatenate([at[0, :-1], at[:-1, -1], at[-1, :0:-1], at[::-1, 0]])
    below = vertices[rim] - (0.0, 0.0, thickness * max(np.ptp(x), np.ptp(y)))
    under = len(vertices) + np.arange(len(rim))
    sides = np.stack([under[:-1], under[1:], rim[1:], under[:-1], rim[1:], rim[:-1]], axis=-1).reshape(-1, 3)
    return faceted(np.concatenate([vertices, below]), np.concatenate([triangles, sides]).astype(np.int32))


def _grid(points: Floats, normals: Floats) -> TriangleMesh:
    """A surface over a grid of points (r, c, 3), rows first; the outside is where rows turn to columns."""
    rows, columns = points.shape[:2]
    at = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = at[:-1, :-1], at[:-1, 1:], at[1:, 1:], at[1:, :-1]
    triangles = np.concatenate(
        [np.stack([a, b, c], -1).reshape(-1, 3), np.stack([a, c, d], -1).reshape(-1, 3)]
    )
    return TriangleMesh(points.reshape(-1, 3), triangles.astype(np.int32), normals.reshape(-1, 3))


def walls(outline: Floats, normals: Floats, along: Floats) -> TriangleMesh:
    """A line (c, 2) in the plane of y and z, counter-clockwise about x, swept along x to places (r,)."""

    def swept(of: Floats, x: Floats) -> Floats:
        across = np.broadcast_to(of, (len(x), *of.shape))
        return np.concatenate([np.broadcast_to(x[:, None, None], (*across.shape[:2], 1)), across], axis=2)

    return _grid(swept(outline, along), swept(normals, np.zeros_like(along)))


def flat(patch: Floats, x: float, forward: bool) -> TriangleMesh:
    """A grid of points (r, c, 2) of y and z at a place along x that faces forward or back.

    Backward its columns turn to its rows.
    """
    patch = patch[:, ::-1] if forward else patch
    points = np.concatenate([np.full((*patch.shape[:2], 1), x), patch], axis=2)
    facing = np.array([1.0 if forward else -1.0, 0.0, 0.0])
    return _grid(points, np.broadcast_to(facing, points.shape).copy())


def _smooth_parts(profile: Floats) -> list[tuple[Floats, Floats]]:
    """The smooth parts of an outline (n, 2) with a unit normal at each point, on its right-hand side."""
    ways = np.diff(profile, axis=0)
    ways = ways[np.linalg.norm(ways, axis=1) > 0.0]
    units = ways / np.linalg.norm(ways, axis=1, keepdims=True)
    ends = np.flatnonzero(np.sum(units[:-1] * units[1:], axis=1) < _CREASE) + 1
    parts = []
    for first, last in zip([0, *ends.tolist()], [*ends.tolist(), len(units)], strict=True):
        own = units[first:last]
        along = np.concatenate([own[:1], own[:-1] + own[1:], own[-1:]])
        along /= np.linalg.norm(along, axis=1, keepdims=True)
        parts.append((profile[first : last + 1], np.stack([along[:, 1], -along[:, 0]], axis=1)))
    return parts


@lru_cache(_KEPT)
def revolved(profile: Points, sides: int = SIDES) -> TriangleMesh:
    """A solid of revolution: an outline of radii and heights, from bottom to top, turned about z."""
    angle = np.linspace(0.0, 2.0 * np.pi, sides + 1)
    turn = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    meshes = []
    for points, normals in _smooth_parts(np.asarray(profile, dtype=float)):
        surface, across = (
            np.concatenate(
                [
                    of[:, None, :1] * turn,
                    np.broadcast_to(of[:, None, 1:], (len(of), sides + 1, 1)),
                ],
                axis=2,
            )
            for of in (points, normals)
        )
        meshes.append(_grid(surface, across))
    return joined(meshes)


@lru_cache(_KEPT)
def box(size: tuple[float, ...]) -> TriangleMesh:
    """A box about the origin."""
    square = np.array([[-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]], dtype=float)
    flipped = square[::-1] * (1, 1, -1)
    faces = np.concatenate([np.roll(face, k, axis=1) for k in range(3) for face in (square, flipped)])
    first = 4 * np.arange(6)[:, None]
    triangles = np.concatenate([first + np.array([0, 1, 2]), first + np.array([0, 2, 3])]).astype(np.int32)
    normals = np.repeat([np.roll([0.0, 0.0, sign], k) for k in range(3) for sign in (1.0, -1.0)], 4, axis=0)
    return TriangleMesh(0.5 * faces * np.asarray(size), triangles, normals)


def ball(radius: float, sides: int = 24) -> TriangleMesh:
    """A ball about the origin."""
    return ellipsoid((radius, radius, radius), sides)


@lru_cache(_KEPT)
def ellipsoid(radii: tuple[float, ...], sides: int = 48) -> TriangleMesh:
    """An ellipsoid about the origin."""
    arc = np.linspace(-0.5 * np.pi, 0.5 * np.pi, sides // 2 + 1)
    unit = revolved(tuple(zip(np.cos(arc).tolist(), np.sin(arc).tolist(), strict=True)), sides)
    normals = unit.vertices / np.asarray(radii)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return TriangleMesh(unit.vertices * np.asarray(radii), unit.triangles, normals)


def cylinder(radius: float, length: float, sides: int = SIDES) -> TriangleMesh:
    """A cylinder about z and the origin."""
    half = 0.5 * length
    return revolved(((0.0, -half), (radius, -half), (radius, half), (0.0, half)), sides)


def ring(radius: float, hole: float, length: float) -> TriangleMesh:
    """A sleeve about z."""
    half = 0.5 * length
    return revolved(((hole, half), (hole, -half), (radius, -half), (radius, half), (hole, half)))


def capsule(radius: float, length: float) -> TriangleMesh:
    """A cylinder about z with half balls on its ends; length: of the cylinder alone."""
    arc = np.linspace(0.0, 0.5 * np.pi, SIDES // 4 + 1)
    r, z = (radius * np.cos(arc)).tolist(), (0.5 * length + radius * np.sin(arc)).tolist()
    above = tuple(zip(r, z, strict=True))
    return revolved((*((x, -y) for x, y in reversed(above)), *above))


def cone(radius: float, height: float) -> TriangleMesh:
    """A cone about z, its base at -height/2."""
    return revolved(((0.0, -0.5 * height), (radius, -0.5 * height), (0.0, 0.5 * height)))


@lru_cache(_KEPT)
def torus(radius: float, thickness: float, part: float = 1.0) -> TriangleMesh:
    """A torus of round section about z; part: of the whole turn."""
    angle = np.linspace(0.0, 2.0 * np.pi * part, max(3, round(1.5 * SIDES * part)) + 1)
    way = radius * np.stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)], axis=1)
    return tube(tuple(map(tuple, way.tolist())), 0.5 * thickness, 10)


@lru_cache(_KEPT)
def tube(points: Points, radius: float, sides: int = 12) -> TriangleMesh:
    """A round wire through points (n >= 2), its ends closed."""
    way = np.asarray(points, dtype=float)
    steps = np.diff(way, axis=0)
    steps /= np.maximum(np.linalg.norm(steps, axis=1, keepdims=True), 1e-300)
    along = np.concatenate([steps[:1], steps[:-1] + steps[1:], steps[-1:]])
    if np.allclose(way[0], way[-1]):
        along[[0, -1]] = steps[0] + steps[-1]
    along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-300)
    side = np.eye(3)[int(np.argmin(np.abs(along[0])))]
    sides_of = np.empty_like(way)
    for number, axis in enumerate(along):  # the side is carried along without a twist
        side = side - (side @ axis) * axis
        side /= max(float(np.linalg.norm(side)), 1e-300)
        sides_of[number] = side
    angle = np.linspace(0.0, 2.0 * np.pi, sides + 1)[:, None]
    normals = np.cos(angle) * sides_of[:, None] + np.sin(angle) * np.cross(along, sides_of)[:, None]
    walls = _grid(way[:, None] + radius * normals, normals)
    caps = [_disc(way[0] + radius * normals[0], -along[0], way[0]),
            _disc(way[-1] + radius * normals[-1], along[-1], way[-1])]  # fmt: skip
    return joined([walls, *caps])


def _disc(rim: Floats, normal: Floats, centre: Floats) -> TriangleMesh:
    """A fan over a closed rim (n, 3)."""
    count = len(rim)
    second = np.arange(1, count)
    triangles = np.stack([np.zeros(count - 1, int), second, second + 1], axis=1)
    facing = np.cross(rim[0] - centre, rim[1] - centre) @ normal
    if facing < 0.0:
        triangles = triangles[:, ::-1]
    vertices = np.concatenate([centre[None], rim])
    return TriangleMesh(vertices, triangles.astype(np.int32), np.broadcast_to(normal, vertices.shape).copy())


def hull(points: Floats) -> Floats:
    """The convex hull of points (n, 2) in a plane, counter-clockwise (A. Andrew, 1979)."""
    ordered = sorted({(float(x), float(y)) for x, y in points})

    def half(run: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
        kept: list[tuple[float, float]] = []
        for x, y in run:
            while len(kept) > 1:
                (ax, ay), (bx, by) = kept[-2:]
                if (bx - ax) * (y - ay) - (by - ay) * (x - ax) > 0.0:
                    break
                kept.pop()
            kept.append((x, y))
        return kept[:-1]

    return np.array([*half(ordered), *half(ordered[::-1])])


@lru_cache(_KEPT)
def plate(points: Points, radius: float, thickness: float) -> TriangleMesh:
    """A plate about the xy plane: the hull of round eyes at points (n, 2)."""
    angle = np.linspace(0.0, 2.0 * np.pi, SIDES, endpoint=False)
    circle = radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    outline = hull((np.asarray(points, dtype=float)[:, None] + circle).reshape(-1, 2))
    return extruded(tuple(map(tuple, outline.tolist())), thickness)


@lru_cache(_KEPT)
def extruded(outline: Points, thickness: float) -> TriangleMesh:
    """An outline (n, 2), counter-clockwise, star-shaped about its middle, extruded about the xy plane."""
    closed = np.asarray([*outline, outline[0]], dtype=float)
    half, centre = 0.5 * thickness, closed[:-1].mean(axis=0)
    faces = [
        _disc(
            np.column_stack([closed, np.full(len(closed), z)]),
            np.array([0.0, 0.0, sign]),
            np.array([*centre, z]),
        )
        for z, sign in ((half, 1.0), (-half, -1.0))
    ]
    walls = []
    for points, normals in _smooth_parts(closed):
        low = np.column_stack([points, np.full(len(points), -half)])
        out = np.column_stack([normals, np.zeros(len(points))])
        walls.append(_grid(np.stack([low, low + np.array([0.0, 0.0, thickness])]), np.stack([out, out])))
    return joined([*faces, *walls])
