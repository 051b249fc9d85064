"""Painting of a scene at some instants: what is shown of it, in what colours, and how large the picture is.

The core places, projects and paints the meshes by a depth buffer (cpp/painting).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from bellcrank import _core
from bellcrank.compile.state import Floats
from bellcrank.scene.joints import ACTIVE
from bellcrank.scene.scene import Link, Scene
from bellcrank.scene.sweeps import Sweep
from bellcrank.scene.view import View

Picture = NDArray[np.float32]
Pixels = NDArray[np.uint8]

_APART: Final = 6e-4  # of the size: distance by which coinciding surfaces of different bodies are separated
_LAYERS: Final = 7
_SHADOW: Final = 0.17
_BELOW: Final = (
    0.01  # of the size: the floor, below all that casts shadows; what is described there is part of it
)


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
    tints: colours of the rings of beams by name, (rings, 3).
    colors: of the bodies in the place of their own, (nb, 3).
    """

    position: Floats
    rotation: Floats
    strength: float = 1.0
    active: Collection[str] = ()
    absent: Collection[str] = ()
    tints: Mapping[str, Floats] = field(default_factory=dict)
    colors: Floats | None = None


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

    def moved(self, by: Floats) -> Frame:
        """The frame moved to the right and up, m."""
        x, y = by.tolist()
        return Frame(self.left + x, self.right + x, self.low + y, self.high + y)

    def fitted(self, aspect: float) -> Frame:
        """The frame enlarged about its middle until width / height equals the aspect."""
        width, height = self.extent
        width, height = max(width, aspect * height), max(height, width / aspect)
        x, y = 0.5 * (self.left + self.right), 0.5 * (self.low + self.high)
        return Frame(x - 0.5 * width, x + 0.5 * width, y - 0.5 * height, y + 0.5 * height)


def _carriers(what: Any) -> tuple[int, ...]:
    """The bodies that carry a part."""
    return tuple(what.carriers) if isinstance(what, (Link, Sweep)) else (what.carrier,)


class Painter:
    """Paints a scene in a view."""

    def __init__(self, scene: Scene, view: View, look: Look | None = None) -> None:
        self.scene, self.view = scene, view
        self.look = Look() if look is None else look
        meshes = {id(what.mesh): what.mesh for what in scene.drawn}
        numbers = {key: number for number, key in enumerate(meshes)}
        self._core = _core.Painter(
            [(mesh.vertices, mesh.normals, mesh.triangles) for mesh in meshes.values()],
            [numbers[id(what.mesh)] for what in scene.drawn],
        )
        still = len(scene.carriers) - 1
        self._shown = np.array([self._is_shown(what) for what in scene.drawn], dtype=bool)
        self._moves = np.array([still not in _carriers(what) for what in scene.drawn], bool)
        self._moves |= np.array([isinstance(what, Link) for what in scene.drawn], bool)
        ground = [getattr(what, "role", "") in ("shape", "surface") for what in scene.drawn]
        self._casts = self._shown & (self._moves | ~np.array(ground, dtype=bool))  # shadows
        layers = [max(_carriers(what)) for what in scene.drawn]
        self._nearer = _APART * scene.size * (np.array(layers, dtype=float) % _LAYERS)
        self._colors = np.array([self._color(what) for what in scene.drawn], dtype=float).reshape(-1, 4)
        solid = [getattr(what, "role", "") in ("shape", "body") for what in scene.drawn]
        self._carried = np.array([_carriers(what)[0] for what in scene.drawn], dtype=int)
        self._solid = np.array(solid, dtype=bool) & (self._carried != still)
        self._bends: WeakKeyDictionary[Instant, list[Any]] = WeakKeyDictionary()

    def _is_shown(self, what: Any) -> bool:
        look = self.look
        if isinstance(what, Sweep):
            return look.only is None or any(self.scene.carriers[k] in look.only for k in what.carriers)
        if isinstance(what, Link):
            return look.joints and (
                look.only is None or all(self.scene.carriers[k] in look.only for k in what.carriers)
            )
        if what.role in ("joint", "support", "surface") and not look.joints:
            return False
        return look.only is None or self.scene.carriers[what.carrier] in look.only

    def _color(self, what: Any) -> tuple[float, ...]:
        r, g, b, a = what.color
        if self.look.color is not None and (
            isinstance(what, Sweep) or getattr(what, "role", "") in ("shape", "body")
        ):
            r, g, b = self.look.color[:3]
        return r, g, b, a * self.look.opacity

    def _placed(self, instant: Instant, which: NDArray[np.bool_]) -> Any:
        """The chosen parts at an instant, as the core takes them."""
        scene, colors = self.scene, self._colors
        if instant.absent:
            which = which & np.array([what.element not in instant.absent for what in scene.drawn])
        if instant.colors is not None:
            colors = colors.copy()
            colors[self._solid, :3] = instant.colors[self._carried[self._solid]]
        if instant.active:
            active = [number for number, what in enumerate(scene.pieces)
                      if scene.glyph_of.get(id(what)) in instant.active]  # fmt: skip
            colors = colors.copy()
            colors[active] = (*ACTIVE[:3], ACTIVE[3] * self.look.opacity)
        at = scene.placed(instant.position, instant.rotation)
        drawn = which.astype(np.uint8)
        bends = self._bent(instant)
        return at.position, at.rotation, at.stretch, colors, self._nearer, drawn, instant.strength, bends

    def _bent(self, instant: Instant) -> list[tuple[int, Floats, Floats, Floats]]:
        """What is swept, at an instant: numbers of parts, vertices, normals and colours."""
        if instant not in self._bends:
            scene, none = self.scene, np.empty((0, 3))
            first = len(scene.drawn) - len(scene.sweeps)
            self._bends[instant] = [
                (
                    number,
                    *surface,
                    instant.tints[name][scene.sweeps[name].ring] if name in instant.tints else none,
                )
                for number, (name, surface) in enumerate(
                    scene.bent(instant.position, instant.rotation).items(), start=first
                )
            ]
        return self._bends[instant]

    def _bounds(self, instant: Instant, directions: Any, which: NDArray[np.bool_] | None = None) -> Floats:
        """Lowest and highest places of what is shown along directions (k, 3), (parts, k, 2), m."""
        directions = np.atleast_2d(np.asarray(directions, dtype=float))
        found: Floats = self._core.bounds(
            self._placed(instant, self._shown if which is None else which), directions
        )
        return found.reshape(-1, len(directions), 2)

    def reach(self, instants: Sequence[Instant], follow: str | None = None) -> Frame:
        """The smallest frame around everything drawn; the ground counts only near the mechanism.

        follow: a body; the frame is that around what moves, at the place of the body at the last instant.
        """
        low, high = np.full(2, np.inf), np.full(2, -np.inf)
        floor = self.floor(instants)
        up = np.asarray(self.scene.up)
        down = self.view.up @ up
        for instant in instants:
            which = self._shown if follow is None else self._shown & self._moves
            bounds = self._bounds(instant, [self.view.right, self.view.up], which)
            at = self.place_of(follow, instant)
            low = np.minimum(low, bounds[..., 0].min(axis=0, initial=np.inf) - at)
            high = np.maximum(high, bounds[..., 1].max(axis=0, initial=-np.inf) - at)
            if floor is not None and instant is instants[-1]:  # and its shadow
                fallen = self._bounds(instant, self.view.up - down * up, self._casts)[..., 0] + floor * down
                low[1] = min(low[1], fallen.min(initial=np.inf) - at[1])
        if not np.all(low <= high):
            low, high = np.array([-0.5, -0.5]), np.array([0.5, 0.5])
        return Frame(low[0], high[0], low[1], high[1]).moved(self.place_of(follow, instants[-1]))

    def place_of(self, body: str | None, instant: Instant) -> Floats:
        """Where the frame of a body is in the picture (2,), m; zeros for None."""
        if body is None or body == self.scene.carriers[-1]:
            return np.zeros(2)
        at: Floats = self.view.project(instant.position[self.scene.carrier(body)])[:2]
        return at

    def middles(self, instant: Instant) -> dict[str, Floats]:
        """The middle (2,) of each body that is drawn, in the projected world."""
        bounds = self._bounds(instant, [self.view.right, self.view.up])
        found: dict[str, Floats] = {}
        first = len(self.scene.drawn) - len(self.scene.sweeps)
        sweeps = enumerate(self.scene.sweeps, start=first)
        beams = {name: bounds[number] for number, name in sweeps if self._shown[number]}
        for number, what in enumerate(self.scene.pieces):
            if self._shown[number] and self._moves[number] and what.role in ("shape", "body"):
                name, own = self.scene.carriers[what.carrier], bounds[number]
                box = found.setdefault(name, own.copy())
                box[:, 0], box[:, 1] = np.minimum(box[:, 0], own[:, 0]), np.maximum(box[:, 1], own[:, 1])
        return {name: box.mean(axis=1) for name, box in (beams | found).items() if np.all(np.isfinite(box))}

    def floor(self, instants: Sequence[Instant]) -> float | None:
        """The height of the floor on which shadows fall, m along up; None if no floor is visible."""
        up = np.asarray(self.scene.up)
        if (
            self.view.plane
            or not np.any(self.scene.mechanism.gravity)
            or not 0.1 < up @ self.view.toward < 0.97
        ):
            return None
        lowest = min(
            (
                float(self._bounds(instant, up, self._casts)[..., 0].min(initial=np.inf))
                for instant in instants
            ),
            default=np.inf,
        )
        return (lowest if np.isfinite(lowest) else 0.0) - _BELOW * self.scene.size

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
        height = max(1, round(width * frame.extent[1] / frame.extent[0]))
        picture = np.empty((height, width, 4), dtype=np.float32)
        self._paint(instants, frame, samples, self.floor(instants) if floor is None else floor, picture)
        return picture

    def paint_on_white(self, instant: Instant, frame: Frame, floor: float | None, out: Pixels) -> None:
        """Paint an instant into pixels (h, w, 4). floor: as in `floor`."""
        self._paint([instant], frame, 2, floor, out)

    def _paint(
        self, instants: Sequence[Instant], frame: Frame, samples: int, floor: float | None, out: Any
    ) -> None:
        view = self.view
        scale = samples * out.shape[1] / frame.extent[0]
        still = self._placed(instants[-1], self._shown & ~self._moves)
        moving = [self._placed(instant, self._shown & self._moves) for instant in instants]
        ground = (*still[:-2], 1.0, still[-1])
        casting = self._placed(instants[-1], self._casts)
        thick = 2.0 * _BELOW * self.scene.size
        self._core.paint(
            (view.right, view.up, view.toward, frame.left, frame.high, scale),
            [ground, *moving],
            None if floor is None else (self.scene.up, floor, thick, _SHADOW, casting),
            samples,
            out,
        )
