"""Painting of a scene at some instants: placed, projected and painted, one instant over another.

Triangles are rasterised with a depth buffer, in arrays: rows of triangles become spans, spans become
pixels, each step for all triangles at once.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bellcrank.compile.state import Floats
from bellcrank.mechanism.rotation_arrays import rotate
from bellcrank.scene.joints import ACTIVE
from bellcrank.scene.scene import Link, Placed, Scene
from bellcrank.scene.view import View

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


_APART: Final = 6e-4  # of the size: distance by which coinciding surfaces of different bodies are separated
_OPAQUE: Final = 0.995
_SHADOW: Final = 0.17
_COARSE: Final = 4  # pixels of the picture, each way, to one of the shadow
_BLUR: Final = 0.009  # of the width of the picture


@dataclass(frozen=True, eq=False)
class Look:
    """The selection of what is drawn of a scene, and its colours.

    only: names of the bodies that are drawn, or None for all. joints: whether joint glyphs are drawn.
    color: replaces the colours of all bodies. opacity: a factor.
    """

    only: Collection[str] | None = None
    joints: bool = True
    color: Sequence[float] | None = None
    opacity: float = 1.0


@dataclass(frozen=True, eq=False)
class Instant:
    """Poses of the bodies, (nb, 3) and (nb, 4), and the strength at which they are drawn, 0 to 1.

    active: names of joints that are highlighted: those that moved in the last step.
    absent: elements that are not drawn, for they are not in force, such as "force 'spring'".
    """

    position: Floats
    rotation: Floats
    strength: float = 1.0
    active: Collection[str] = ()
    absent: Collection[str] = ()


@dataclass(frozen=True, eq=False)
class Frame:
    """The part of the projected world that is shown: left, right, low and high, m."""

    left: float
    right: float
    low: float
    high: float

    @property
    def extent(self) -> tuple[float, float]:
        """Width and height, m."""
        return self.right - self.left, self.high - self.low

    def fitted(self, aspect: float) -> Frame:
        """The frame enlarged about its middle until width / height equals the aspect."""
        width, height = self.extent
        width, height = max(width, aspect * height), max(height, width / aspect)
        x, y = 0.5 * (self.left + self.right), 0.5 * (self.low + self.high)
        return Frame(x - 0.5 * width, x + 0.5 * width, y - 0.5 * height, y + 0.5 * height)


class Painter:
    """Paints a scene in a view."""

    def __init__(self, scene: Scene, view: View, look: Look | None = None) -> None:
        self.scene, self.view = scene, view
        self.look = Look() if look is None else look
        self._shown = [number for number, what in enumerate(scene.drawn) if self._is_shown(what)]
        self._ground = len(scene.carriers) - 1

    def _is_shown(self, what: Any) -> bool:
        look = self.look
        if isinstance(what, Link):
            return look.joints and (
                look.only is None or all(self.scene.carriers[k] in look.only for k in what.carriers)
            )
        if what.role in ("joint", "support", "surface") and not look.joints:
            return False
        return look.only is None or self.scene.carriers[what.carrier] in look.only

    def _moves(self, number: int) -> bool:
        what = self.scene.drawn[number]
        return isinstance(what, Link) or what.carrier != self._ground

    def reach(self, instants: Sequence[Instant]) -> Frame:
        """The smallest frame around everything drawn; the ground counts only near the mechanism."""
        corners = []
        for instant in instants:
            placed = self.scene.placed(instant.position, instant.rotation)
            corners += [self.view.project(self._vertices(placed, number))[:, :2] for number in self._shown]
        flat = np.concatenate(corners) if corners else np.array([[-0.5, -0.5], [0.5, 0.5]])
        (left, low), (right, high) = flat.min(axis=0), flat.max(axis=0)
        floor = self.floor(instants)
        if floor is not None:
            low = min(low, float(np.min(self.view.project(self._shade(instants[-1], floor))[:, 1])))
        return Frame(float(left), float(right), float(low), float(high))

    def middles(self, instant: Instant) -> dict[str, Floats]:
        """The middle (2,) of each body that is drawn, in the projected world."""
        placed = self.scene.placed(instant.position, instant.rotation)
        found: dict[str, list[Floats]] = {}
        for number in self._shown:
            what = self.scene.drawn[number]
            if not isinstance(what, Link) and what.role in ("shape", "body") and self._moves(number):
                points = self.view.project(self._vertices(placed, number))[:, :2]
                found.setdefault(self.scene.carriers[what.carrier], []).append(points)
        boxes = {name: np.concatenate(points) for name, points in found.items()}
        return {name: 0.5 * (box.min(axis=0) + box.max(axis=0)) for name, box in boxes.items()}

    def floor(self, instants: Sequence[Instant]) -> float | None:
        """The height of the floor on which shadows fall, m along up; None if no floor is visible."""
        up = np.asarray(self.scene.up)
        if (
            self.view.plane
            or not np.any(self.scene.mechanism.gravity)
            or not 0.1 < up @ self.view.toward < 0.97
        ):
            return None
        lowest = []
        for instant in instants:
            placed = self.scene.placed(instant.position, instant.rotation)
            lowest += [float(np.min(self._vertices(placed, number) @ up)) for number in self._shown]
        return min(lowest, default=0.0) - 0.01 * self.scene.size

    def _vertices(self, placed: Placed, number: int) -> Floats:
        """Vertices of the drawn parts, in the world."""
        own = self.scene.drawn[number].mesh.vertices * np.array([1.0, 1.0, placed.stretch[number]])
        at: Floats = rotate(placed.rotation[number][None], own) + placed.position[number]
        return at

    def _shade(self, instant: Instant, floor: float) -> Floats:
        """Projections of the vertices of all moving parts onto the floor."""
        up = np.asarray(self.scene.up)
        placed = self.scene.placed(instant.position, instant.rotation)
        points = [self._vertices(placed, number) for number in self._shown]
        everything = np.concatenate(points) if points else np.zeros((1, 3))
        fallen: Floats = everything - np.outer(everything @ up - floor, up)
        return fallen

    def paint(
        self,
        instants: Sequence[Instant],
        frame: Frame,
        width: int,
        samples: int = 2,
        floor: float | None = None,
    ) -> Picture:
        """The picture (h, w, 4), premultiplied by opacity, of instants one over another, the last on top.

        width: pixels. samples: across a pixel, which shows their mean. floor: as in `floor`, by default for
        these instants.
        """
        scale = samples * width / frame.extent[0]
        wide, high = samples * width, samples * max(1, round(width * frame.extent[1] / frame.extent[0]))
        size = (wide, high)
        still = [number for number in self._shown if not self._moves(number)]
        moving = [number for number in self._shown if self._moves(number)]
        base = self._facets(instants[-1], still, frame, scale)
        picture = np.zeros((wide * high, 4), dtype=np.float32)
        depth = _put(picture, base, size, None, 1.0)
        floor = self.floor(instants) if floor is None else floor
        if floor is not None:
            _put_under(picture, self._shadow(instants[-1], floor, frame, scale, size))
        for instant in instants:
            _put(picture, self._facets(instant, moving, frame, scale), size, depth, instant.strength)
        return shrunk(picture.reshape(high, wide, 4), samples)

    def _facets(self, instant: Instant, numbers: Sequence[int], frame: Frame, scale: float) -> Facets:
        """Triangles of the drawn parts with the given indices."""
        placed = self.scene.placed(instant.position, instant.rotation)
        corners, normals, colors, parts = [], [], [], []
        for number in numbers:
            what = self.scene.drawn[number]
            if what.element in instant.absent:
                continue
            triangles = what.mesh.triangles
            vertices = self.view.project(self._vertices(placed, number))
            vertices[:, 2] -= _APART * self.scene.size * (self._layer_of(what) % 7)
            stretch = placed.stretch[number]
            turned = rotate(
                placed.rotation[number][None], what.mesh.normals * np.array([stretch, stretch, 1.0])
            )
            own = self.view.project(
                turned / np.maximum(np.linalg.norm(turned, axis=1, keepdims=True), 1e-300)
            )
            vertices[:, 0] = (vertices[:, 0] - frame.left) * scale
            vertices[:, 1] = (frame.high - vertices[:, 1]) * scale
            corners.append(vertices[triangles])
            normals.append((own * np.array([1.0, 1.0, -1.0]))[triangles])
            colors.append(np.broadcast_to(self._color(what, instant.active), (len(triangles), 4)))
            parts.append(np.full(len(triangles), number, dtype=np.int32))
        if not corners:
            none = np.empty((0, 3, 3))
            return Facets(none, none, np.empty((0, 4)), np.empty(0, dtype=np.int32))
        return Facets(*(np.concatenate(of) for of in (corners, normals, colors, parts)))

    def _layer_of(self, what: Any) -> int:
        return max(what.carriers) if isinstance(what, Link) else int(what.carrier)

    def _color(self, what: Any, active: Collection[str]) -> Floats:
        r, g, b, a = what.color
        if active and getattr(what, "role", "") == "joint" and self.scene.glyph_of[id(what)] in active:
            r, g, b, a = ACTIVE
        if self.look.color is not None and getattr(what, "role", "") in ("shape", "body"):
            r, g, b = self.look.color[:3]
        return np.array([r, g, b, a * self.look.opacity])

    def _shadow(
        self, instant: Instant, floor: float, frame: Frame, scale: float, size: tuple[int, int]
    ) -> Picture:
        """The darkness of a soft shadow on the floor at each pixel (h * w,), computed on a coarser grid."""
        up = np.asarray(self.scene.up)
        placed = self.scene.placed(instant.position, instant.rotation)
        coarse = scale / _COARSE
        wide, high = -(-size[0] // _COARSE), -(-size[1] // _COARSE)
        fallen = [np.empty((0, 3, 3))]
        for number in self._shown:
            points = self._vertices(placed, number)
            flat = self.view.project(points - np.outer(points @ up - floor, up))
            flat[:, 0] = (flat[:, 0] - frame.left) * coarse
            flat[:, 1] = (frame.high - flat[:, 1]) * coarse
            fallen.append(flat[self.scene.drawn[number].mesh.triangles])
        corners = np.concatenate(fallen)
        none = np.empty((len(corners), 0))
        face, _ = seen(Facets(corners, none, none, np.empty(0, dtype=np.int32)), wide, high)
        mask = (face >= 0).reshape(high, wide).astype(np.float32)
        for _ in range(3):
            mask = _blurred(mask, max(1, round(_BLUR * wide)))
        fine = np.repeat(np.repeat(mask, _COARSE, axis=0), _COARSE, axis=1)[: size[1], : size[0]]
        return np.float32(_SHADOW) * fine.ravel()


def _put(
    picture: Picture, facets: Facets, size: tuple[int, int], before: Picture | None, strength: float
) -> Picture:
    """Paint triangles over a picture (h * w, 4), transparent ones last; return the depth of opaque ones.

    before: depths beyond which nothing is visible. strength: 0 to 1.
    """
    opaque = facets.colors[:, 3] >= _OPAQUE
    solid = facets.chosen(opaque)
    face, depth = seen(solid, *size, before)
    layers = [(solid, face)]
    if not np.all(opaque):
        glass = facets.chosen(~opaque)
        layers.append((glass, seen(glass, *size, depth)[0]))
    for part, shown in layers:
        covered, colors = shaded(part, shown, *size)
        colors *= np.float32(strength)
        picture[covered] = colors + picture[covered] * (1.0 - colors[:, 3:])
    return depth


def _put_under(picture: Picture, shadow: Picture) -> None:
    """Darken what is behind a picture (h * w, 4) by the given amounts (h * w,)."""
    where = np.flatnonzero(shadow > 0.0)
    picture[where, 3] += shadow[where] * (1.0 - picture[where, 3])


def _blurred(mask: Picture, reach: int) -> Picture:
    """The mean over squares of the given half-width."""
    width = 2 * reach + 1
    for _ in range(2):
        total = np.cumsum(np.pad(mask, ((reach + 1, reach), (0, 0))), axis=0, dtype=np.float64)
        mask = ((total[width:] - total[:-width]) / width).astype(np.float32).T
    return mask
