"""Painting of a scene at some instants: placed, projected and painted, one instant over another."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from bellcrank.assembly.state import Floats
from bellcrank.scene.joints import ACTIVE
from bellcrank.scene.raster import Facets, Picture, seen, shaded, shrunk
from bellcrank.scene.scene import Link, Placed, Scene, rotated
from bellcrank.scene.view import View

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
    """

    position: Floats
    rotation: Floats
    strength: float = 1.0
    active: Collection[str] = ()


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
        at: Floats = rotated(placed.rotation[number][None], own) + placed.position[number]
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
            triangles = what.mesh.triangles
            vertices = self.view.project(self._vertices(placed, number))
            vertices[:, 2] -= _APART * self.scene.size * (self._layer_of(what) % 7)
            stretch = placed.stretch[number]
            turned = rotated(
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
