"""The stage: the scene of a mechanism on a page, moved in batches of equal meshes."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from bellcrank.compile.state import Floats, Ints
from bellcrank.mechanism.rotation_arrays import rotate
from bellcrank.scene.joints import ACTIVE
from bellcrank.scene.scene import Glyph, Link, Piece, Scene
from bellcrank.scene.view import view_of

_SKY: Final = {False: ((252, 253, 254), (229, 234, 240)), True: ((38, 42, 48), (22, 24, 28))}


def light(page: Any, scene: Scene, size: float) -> None:
    """Add light from the sky and from two lamps, one of which casts shadows on the floor.

    page: of viser, on which a scene is shown. size: of the mechanism on the page.
    """
    view, up = view_of(scene), np.asarray(scene.up)
    page.configure_environment_map(None)
    page.configure_default_lights(enabled=False)
    page.add_light_hemisphere("/light/sky", ground_color=(190, 186, 180), intensity=0.85, wxyz=from_z_to(up))
    lamps = {
        "key": (1.6 * up + 0.9 * view.toward - 0.6 * view.right, 1.35),
        "fill": (0.3 * up + 1.0 * view.toward + 0.9 * view.right, 0.4),
    }
    for name, (way, strength) in lamps.items():
        place = 4.0 * size * way / np.linalg.norm(way)
        page.add_light_directional(
            f"/light/{name}",
            intensity=strength,
            cast_shadow=name == "key",
            position=tuple(place.tolist()),
        )


def sky(dark: bool) -> Any:
    """The background colours, from top to bottom."""
    above, below = np.array(_SKY[dark])
    rows = above + np.linspace(0.0, 1.0, 64)[:, None, None] * (below - above)
    return np.broadcast_to(rows, (64, 4, 3)).astype(np.uint8)


def from_z_to(way: Floats) -> Floats:
    """The quaternion (w, x, y, z) that turns z into a unit vector."""
    x, y, z = way
    if z < -1.0 + 1e-9:
        return np.array([0.0, 1.0, 0.0, 0.0])
    q = np.array([1.0 + z, -y, x, 0.0])
    turn: Floats = q / np.linalg.norm(q)
    return turn


_GRID: Final = {False: ((218, 223, 229), (190, 197, 206)), True: ((52, 56, 62), (74, 80, 88))}
_SIZE: Final = 4.0  # size of a mechanism on the page
_LEAST: Final = 0.3  # of that size: rescaled if what is built is smaller,
_OUT: Final = 1.15  # of the picture's extent: the camera moves back if bodies reach farther
_MOST: Final = 2.2  # or larger than this many times that size
_MARGIN: Final = 0.15  # of the size: steps in which the floor is lowered
_CORNERS: Final = np.array([[k & 1, (k >> 1) & 1, (k >> 2) & 1] for k in range(8)])  # of a box
_CLEAR: Final = 0.5  # opacity of transparent bodies
_FIELD: Final = np.radians(38.0)  # of view


@dataclass(eq=False)
class Batch:
    """Copies of one mesh. numbers: the indices of what they show, in `Scene.drawn`."""

    handle: Any
    numbers: Ints
    stretched: bool
    moves: bool


class Stage:
    """Draws a scene on a viser server, or on any object with a compatible `scene`.

    carriers: for each index in `Scene.drawn`, the body that carries it; -1 for links.
    unit: lengths of the page per metre. On the page a watch is as large as a bridge, so that lights, shadows
    and the mouse work in the same way.
    """

    def __init__(self, server: Any, scene: Scene) -> None:
        self._server, self.unit = server, _SIZE / scene.size
        self._edition = 0
        self._labels: list[tuple[Any, Any]] = []
        server.scene.world_axes.visible = False
        self._take(scene)
        self.lay_floor(False)
        light(server.scene, scene, _SIZE)
        self.paint(False)
        self.look()

    def _take(self, scene: Scene) -> None:
        self.scene, self._up = scene, np.asarray(scene.up)
        self.carriers = np.array(
            [-1 if isinstance(what, Link) else what.carrier for what in scene.drawn], dtype=np.int32
        )
        self._active: Collection[str] = ()
        self._server.scene.set_up_direction(scene.up)
        self.batches = [self._batch(number, copies) for number, copies in enumerate(scene.copies.values())]
        low, high = self._box()
        self._middle_of_all = 0.5 * (low + high)
        if self._edition == 0:
            self._framed = (self._middle_of_all, 0.5 * float(np.linalg.norm(high - low)))
        self._lowest = float(np.minimum(low * self._up, high * self._up).sum())

    def renew(self, scene: Scene, dark: bool, floor: bool) -> None:
        """Replace the scene by another one."""
        ratio = self.unit * scene.size / _SIZE
        rescaled = not _LEAST < ratio < _MOST
        with self._server.atomic():
            for batch in self.batches:
                batch.handle.remove()
            for handle, _ in self._labels:
                handle.remove()
            self._labels = []
            self._edition += 1
            if rescaled:
                self.unit = _SIZE / scene.size
            self._take(scene)
            self.lay_floor(dark, floor)
        self.fit(rescaled)

    def fit(self, anyway: bool = False, *poses: Floats) -> None:
        """Move the camera back if bodies, at the start or at given poses, have left the picture."""
        (middle, reach), (low, high) = self._framed, self._box(*poses)
        far = np.linalg.norm(low + _CORNERS * (high - low) - middle, axis=1)
        if not anyway and float(far.max()) < _OUT * reach:
            return
        self._framed = (0.5 * (low + high), 0.5 * float(np.linalg.norm(high - low)))
        for client in self._server.get_clients().values():
            eye = np.asarray(client.camera.position) - np.asarray(client.camera.look_at)
            self.look(client.camera, toward=eye)
        self.look()

    def show(self, position: Floats, rotation: Floats) -> None:
        """Move all meshes to the poses of the bodies, (nb, 3), m, and (nb, 4)."""
        placed = self.scene.placed(position, rotation)
        lowest = float(np.min(placed.position @ self._up, initial=np.inf))
        with self._server.atomic():
            if lowest < self._lowest:
                self._lowest = lowest - _MARGIN * self.scene.size
                self._floor.position = self._below(self._lowest)
            for batch in self.batches:
                if batch.moves:
                    batch.handle.batched_positions = self.on_page(placed.position[batch.numbers])
                    batch.handle.batched_wxyzs = placed.rotation[batch.numbers].astype(np.float32)
                if batch.stretched:
                    batch.handle.batched_scales = _scales(placed.stretch[batch.numbers])
            for handle, what in self._labels:
                handle.position = self.on_page(self._place(what, position, rotation))

    @property
    def reach(self) -> float:
        """Half the diagonal of the picture's contents, m."""
        return self._framed[1]

    def on_page(self, points: Floats) -> Any:
        """Points of the world, m, in page coordinates."""
        return (self.unit * points).astype(np.float32)

    def make_clear(self, clear: bool) -> None:
        """Make the moving parts transparent, or opaque again."""
        with self._server.atomic():
            for batch in self.batches:
                own = np.array([self.scene.drawn[k].color[3] for k in batch.numbers], dtype=np.float32)
                opacity = _CLEAR * own if clear and batch.moves else own
                batch.handle.batched_opacities = None if np.all(opacity >= 1.0) else opacity

    def highlight(self, active: Collection[str] | None) -> None:
        """Highlight the joints that moved in the last step; without any, all have their usual colours."""
        if (active := active or frozenset()) == self._active:
            return
        changed, self._active = frozenset(active) ^ frozenset(self._active), active
        glyph_of, drawn = self.scene.glyph_of, self.scene.drawn
        for batch in self.batches:
            names = [glyph_of.get(id(drawn[k])) for k in batch.numbers]
            if changed.isdisjoint(names):
                continue
            pairs = zip(names, batch.numbers, strict=True)
            colors = [
                ACTIVE if name in active and drawn[k].role == "joint" else drawn[k].color for name, k in pairs
            ]
            batch.handle.batched_colors = np.round(255.0 * np.array(colors)[:, :3]).astype(np.uint8)

    def name(self, number: int) -> tuple[str, str]:
        """The kind of a drawn element ("body", "joint" or other), and its name."""
        what = self.scene.drawn[number]
        if isinstance(what, Link):
            return "link", what.name
        if (joint := self.scene.glyph_of.get(id(what))) is not None:
            return "joint", joint
        return "body", self.scene.carriers[what.carrier]

    def label(self, bodies: bool, joints: bool, position: Floats, rotation: Floats) -> None:
        """Show names beside bodies and joints, or remove them."""
        for handle, _ in self._labels:
            handle.remove()
        listed: list[Any] = list(range(len(self.scene.carriers) - 1)) if bodies else []
        listed += list(self.scene.joints.values()) if joints else []
        self._labels = []
        for number, what in enumerate(listed):
            text = what.name if isinstance(what, Glyph) else self.scene.carriers[what]
            handle = self._server.scene.add_label(
                f"/names/{number}", text, position=self.on_page(self._place(what, position, rotation)),
                anchor="bottom-center", font_screen_scale=0.9,
            )  # fmt: skip
            self._labels.append((handle, what))

    def lay_floor(self, dark: bool, visible: bool = True) -> None:
        """Add a floor below the mechanism; it is lowered when the mechanism falls."""
        up, cell = self._up, self.unit * _round(self.scene.size / 8.0)
        thin, thick = _GRID[dark]
        self._floor = self._server.scene.add_grid(
            "/floor",
            width=40.0 * cell,
            height=40.0 * cell,
            cell_size=cell,
            section_size=5.0 * cell,
            cell_color=thin,
            section_color=thick,
            position=self._below(self._lowest),
            wxyz=from_z_to(up),
            fade_distance=30.0 * cell,
            shadow_opacity=0.25,
            visible=visible,
        )

    def _below(self, height: float) -> Any:
        """The height of the floor on the page, for a height, m."""
        return self.on_page(self._middle_of_all + self._up * (height - self._middle_of_all @ self._up))

    def look(self, camera: Any = None, name: str | None = None, toward: Floats | None = None) -> None:
        """Point a camera, by default the initial one of the page, at the mechanism from a named side.

        toward: the direction from which to look, instead of a side; of any length.
        """
        view, up = view_of(self.scene, name), self._up
        if toward is None:
            toward = view.toward
            if name is None and view.plane:  # slightly from the side and from above, so that depth is visible
                toward = toward + 0.22 * up + 0.30 * view.right
        toward = toward / np.linalg.norm(toward)
        away = 1.24 * self._framed[1] / np.sin(0.5 * _FIELD)
        camera = self._server.initial_camera if camera is None else camera
        camera.fov = float(_FIELD)
        camera.up = view.up if abs(toward @ up) > 0.99 else up
        camera.position = self.unit * (self._framed[0] + away * toward)
        camera.look_at = self.unit * self._framed[0]  # after the position, because setting that shifts it
        camera.near, camera.far = 0.01 * self.unit * away, 100.0 * self.unit * away

    def paint(self, dark: bool) -> None:
        """Set the background colours."""
        self._server.scene.set_background_image(sky(dark))

    def _box(self, *poses: Floats) -> tuple[Floats, Floats]:
        """Lowest and highest coordinates of all but surfaces, at the start or at poses of bodies, m."""
        placed, found = self.scene.placed(*poses), []
        for number, what in enumerate(self.scene.drawn):
            if isinstance(what, Piece) and what.role == "surface":
                continue
            box = what.mesh.corners[_CORNERS, [0, 1, 2]] * [1.0, 1.0, placed.stretch[number]]
            found.append(rotate(placed.rotation[number][None], box) + placed.position[number])
        every = np.concatenate(found) if found else np.array([[-0.5] * 3, [0.5] * 3])
        return every.min(axis=0), every.max(axis=0)

    def _place(self, what: Any, position: Floats, rotation: Floats) -> Floats:
        """The position of the name of a body, given by its index, or of a joint."""
        if isinstance(what, Glyph):
            carrier, point = what.carriers[0], np.asarray(what.point)
        else:
            carrier, point = what, self._middle(what)
        if carrier >= len(position):
            return point
        moved: Floats = position[carrier] + rotate(rotation[carrier][None], point[None])[0]
        return moved

    def _middle(self, carrier: int) -> Floats:
        pieces = self.scene.bodies[self.scene.carriers[carrier]]
        if not pieces:
            return np.zeros(3)
        corners = np.array([[p.vertices.min(axis=0), p.vertices.max(axis=0)] for p in pieces])
        middle: Floats = 0.5 * (corners[:, 0].min(axis=0) + corners[:, 1].max(axis=0))
        return middle

    def _batch(self, number: int, copies: Ints) -> Batch:
        drawn = [self.scene.drawn[k] for k in copies]
        placed, mesh = self.scene.placed(), drawn[0].mesh
        links = [isinstance(what, Link) for what in drawn]
        ground = len(self.scene.carriers) - 1
        colors = np.array([what.color for what in drawn])
        handle = self._server.scene.add_batched_meshes_simple(
            f"/mechanism/{self._edition}/{number}",
            self.on_page(mesh.vertices),
            np.ascontiguousarray(mesh.triangles, dtype=np.uint32),
            batched_wxyzs=placed.rotation[copies].astype(np.float32),
            batched_positions=self.on_page(placed.position[copies]),
            batched_scales=_scales(placed.stretch[copies]),
            batched_colors=np.round(255.0 * colors[:, :3]).astype(np.uint8),
            batched_opacities=None if np.all(colors[:, 3] >= 1.0) else colors[:, 3].astype(np.float32),
            side="double" if np.any(colors[:, 3] < 1.0) else "front",
            lod="off",
            receive_shadow=False,  # the shadows of a picture itself have seams
        )
        moves = any(isinstance(what, Link) or what.carrier != ground for what in drawn)
        return Batch(handle, copies, any(links), moves)


def _scales(stretch: Floats) -> Any:
    scales = np.ones((len(stretch), 3), dtype=np.float32)
    scales[:, 2] = np.maximum(stretch, 1e-9)
    return scales


def _round(length: float) -> float:
    """The nearest of 1, 2, 5 times a power of ten."""
    power = 10.0 ** np.floor(np.log10(length))
    return float(power * min((1.0, 2.0, 5.0, 10.0), key=lambda k: abs(k * power - length)))
