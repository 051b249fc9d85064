"""Rasterisation with a depth buffer, in arrays: the visible triangle at each pixel, and its shading.

Rows of triangles become spans, spans become pixels, each step for all triangles at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bellcrank.assembly.state import Floats

Picture = NDArray[np.float32]
Ints = NDArray[np.integer[Any]]

_KEY: Final = np.array([-0.42, 0.62, 0.66]) / np.linalg.norm(
    [-0.42, 0.62, 0.66]
)  # right, up, towards the eye
_HALF: Final = (_KEY + np.eye(3)[2]) / np.linalg.norm(_KEY + np.eye(3)[2])
_AMBIENT, _DIFFUSE, _GLOSS, _SHINE = 0.60, 0.52, 0.16, 36
_CREASE: Final = 0.80  # cosine; a sharper bend between neighbouring pixels is drawn as a line
_OUTLINE, _EDGE = 0.34, 0.66  # factor on the colour there


@dataclass(frozen=True, eq=False)
class Facets:
    """Triangles in a picture.

    corners: (n, 3, 3), pixels to the right and down, and depth. normals: (n, 3, 3) at the corners, as seen
    from the eye: right, up, towards it. colors: (n, 4). parts: (n,) numbers of their pieces.
    """

    corners: Floats
    normals: Floats
    colors: Floats
    parts: Ints

    def chosen(self, which: NDArray[np.bool_]) -> Facets:
        """The selected facets."""
        return Facets(self.corners[which], self.normals[which], self.colors[which], self.parts[which])


def seen(facets: Facets, width: int, height: int, before: Picture | None = None) -> tuple[Ints, Picture]:
    """At each pixel (height * width,) the index of the nearest triangle, -1 for none, and its depth.

    before: depths beyond which nothing is visible.
    """
    depth = np.full(width * height, np.inf, dtype=np.float32) if before is None else before.copy()
    face = np.full(width * height, -1, dtype=np.int32)
    corners = facets.corners
    if not len(corners):
        return face, depth
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    area = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
    low = np.maximum(np.ceil(corners[:, :, 1].min(axis=1) - 0.5), 0.0)
    high = np.minimum(np.floor(corners[:, :, 1].max(axis=1) - 0.5), height - 1.0)
    rows = np.where(np.abs(area) > 1e-12, np.maximum(high - low + 1.0, 0.0), 0.0).astype(np.int64)
    owner = np.repeat(np.arange(len(corners)), rows)
    y = _counted(rows) + low[owner]
    left, right = np.full(len(owner), -np.inf), np.full(len(owner), np.inf)
    sign = np.sign(area)
    for one, two in ((a, b), (b, c), (c, a)):
        slope = (sign * (one[:, 1] - two[:, 1]))[
            owner
        ]  # inside where slope x + rise (y + 1/2) + constant >= 0
        rise = (sign * (two[:, 0] - one[:, 0]))[owner]
        rest = rise * (y + 0.5 - one[owner, 1]) - slope * one[owner, 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            bound = -rest / slope
        left = np.where(slope > 0.0, np.maximum(left, bound), left)
        right = np.where(slope < 0.0, np.minimum(right, bound), right)
        left = np.where((slope == 0.0) & (rest < 0.0), np.inf, left)
    first = np.clip(np.ceil(left - 0.5), 0.0, width)
    count = np.maximum(np.clip(np.floor(right - 0.5), -1.0, width - 1.0) - first + 1.0, 0.0).astype(np.int64)
    span = np.repeat(np.arange(len(owner)), count)
    x = _counted(count) + first[span]
    owner, y = owner[span], y[span]
    pixel = (y * width + x).astype(np.int64)
    along, down, start = _plane(corners, area)
    z = (along[owner] * (x + 0.5) + down[owner] * (y + 0.5) + start[owner]).astype(np.float32)
    np.minimum.at(depth, pixel, z)
    nearest = z == depth[pixel]
    face[pixel[nearest]] = owner[nearest]
    return face, depth


def _counted(counts: Ints) -> Ints:
    """0, 1, ... up to each count, one after the other."""
    total = int(counts.sum())
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    return np.arange(total) - starts


def _plane(corners: Floats, area: Floats) -> tuple[Floats, Floats, Floats]:
    """Depth as a linear function of the pixel: factors of x and y, and a constant, each (n,)."""
    a, first, second = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    safe = np.where(np.abs(area) > 1e-12, area, 1.0)
    along = (first[:, 2] * second[:, 1] - second[:, 2] * first[:, 1]) / safe
    down = (second[:, 2] * first[:, 0] - first[:, 2] * second[:, 0]) / safe
    return along, down, a[:, 2] - along * a[:, 0] - down * a[:, 1]


def shaded(facets: Facets, face: Ints, width: int, height: int) -> tuple[Ints, Picture]:
    """The pixels (p,) that are covered, their premultiplied colours (p, 4), and the opacity.

    Pieces have outlines.
    """
    covered = np.flatnonzero(face >= 0)
    owner = face[covered]
    across, down = (covered % width).astype(float) + 0.5, (covered // width).astype(float) + 0.5
    normal = _normals(facets, owner, across, down)
    light = _AMBIENT + _DIFFUSE * np.maximum(normal @ _KEY.astype(np.float32), 0.0)
    gloss = _GLOSS * np.maximum(normal @ _HALF.astype(np.float32), 0.0) ** _SHINE
    color = facets.colors[owner].astype(np.float32)
    shade = np.minimum(color[:, :3] * light[:, None] + gloss[:, None], 1.0)
    shade *= _lines(facets.parts[owner], normal, covered, width, height)[:, None]
    return covered, np.concatenate([shade * color[:, 3:], color[:, 3:]], axis=1)


def _normals(facets: Facets, owner: Ints, x: Floats, y: Floats) -> Picture:
    """Unit normals (p, 3) at pixels, interpolated between corners and turned towards the eye."""
    a, b, c = (facets.corners[:, k, :2] for k in range(3))
    area = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
    scale = 1.0 / np.where(np.abs(area) > 1e-12, area, 1.0)
    from_a = np.stack([x, y], axis=1) - a[owner]
    second = (c - a)[owner]
    first = (b - a)[owner]
    u = (from_a[:, 0] * second[:, 1] - from_a[:, 1] * second[:, 0]) * scale[owner]
    v = (first[:, 0] * from_a[:, 1] - first[:, 1] * from_a[:, 0]) * scale[owner]
    corners = facets.normals.astype(np.float32)
    n0, n1, n2 = corners[owner, 0], corners[owner, 1], corners[owner, 2]
    normal = n0 + u.astype(np.float32)[:, None] * (n1 - n0) + v.astype(np.float32)[:, None] * (n2 - n0)
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-12)
    normal *= np.where(normal[:, 2:] < 0.0, -1.0, 1.0).astype(np.float32)
    return normal  # type: ignore[no-any-return]


def _lines(parts: Ints, normal: Picture, covered: Ints, width: int, height: int) -> Picture:
    """The factor on the colour of each covered pixel, at the outlines and bends of pieces."""
    left = np.ones(len(covered), dtype=np.float32)
    number = np.full(height * width + width + 1, -1, dtype=np.int32)
    number[covered] = np.arange(len(covered), dtype=np.int32)
    for step in (1, width):
        for way in (1, -1):
            there = covered + way * step
            other = np.where((there >= 0) & (there < height * width), number[there], -1)
            outside = other < 0
            apart = outside | (parts[other] != parts)
            bent = ~apart & (np.sum(normal * normal[other], axis=1) < _CREASE)
            left = np.where(apart, _OUTLINE, np.where(bent, np.minimum(left, _EDGE), left)).astype(np.float32)
    return left


def shrunk(picture: Picture, factor: int) -> Picture:
    """The picture with squares of that many pixels averaged into one."""
    height, width = picture.shape[0] // factor, picture.shape[1] // factor
    parts = picture[: height * factor, : width * factor].reshape(height, factor, width, factor, -1)
    total = sum(parts[:, i, :, j] for i in range(factor) for j in range(factor))
    mean: Picture = np.asarray(total, dtype=np.float32) / np.float32(factor * factor)
    return mean
