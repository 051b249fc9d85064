"""Arrows on the stage: reactions, dragging forces and contact forces, and balls where bodies touch."""

from __future__ import annotations

from collections import deque
from threading import Lock
from typing import Any, Final

import numpy as np

from bellcrank.compile.state import Floats
from bellcrank.mechanism.rotation_arrays import rotate
from bellcrank.scene.contact_marks import CUT, FORCE, LONGEST, SLIPS, STICKS, force_text
from bellcrank.scene.mesh import TriangleMesh, ball, cone, cylinder, joined, moved
from bellcrank.scene.scene import from_z
from bellcrank.trajectory.contact_marks import Touching, arrows_of, summed_of, usual_of
from bellcrank.viewer.page.stage import Stage
from bellcrank.viewer.snapshot import Snapshot

_LONGEST: Final = 0.3  # of the mechanism's size: the length of the arrow of the largest force so far
_FORGET: Final = 0.995  # of the largest force, in each picture
_FORCE: Final = (214, 92, 64)
_MOMENT: Final = (88, 118, 204)
_HAND: Final = (242, 169, 0)


class Arrows:
    """Arrows for forces and moments of joints and for dragging forces; the caller selects which are shown."""

    def __init__(self, server: Any, stage: Stage) -> None:
        self._server, self._stage = server, stage
        self.shown = False
        self._largest = {"force": 0.0, "moment": 0.0}
        self._handles: dict[str, Any] = {}

    def show(self, now: Snapshot) -> None:
        """Draw the arrows of a snapshot."""
        points = self._joints(now) if self.shown else {}
        self._draw("force", *self._arrows("force", points))
        self._draw("moment", *self._arrows("moment", points))
        self._draw("hand", *self._hands(now))

    def renew(self) -> None:
        """Remove the arrows of the previous mechanism."""
        for handle in self._handles.values():
            handle.remove()
        self._handles.clear()

    def _joints(self, now: Snapshot) -> dict[str, tuple[Floats, Floats]]:
        """The position of each joint, and its reaction (6,)."""
        layout, found = now.layout, {}
        if "reactions" not in layout.shapes:
            return {}
        reactions = now.frame[layout.columns["reactions"]].reshape(layout.shapes["reactions"])
        for name, number in layout.reaction_number.items():
            glyph = self._stage.scene.joints.get(name)
            if glyph is None:
                continue
            carrier, point = glyph.carriers[0], np.asarray(glyph.point)
            if carrier < len(now.bodies):
                point = now.position[carrier] + rotate(now.rotation[carrier][None], point[None])[0]
            found[name] = (point, reactions[number])
        return found

    def _arrows(self, kind: str, points: dict[str, tuple[Floats, Floats]]) -> tuple[Floats, Any]:
        part = slice(3, 6) if kind == "force" else slice(0, 3)
        at = np.array([point for point, _ in points.values()]).reshape(-1, 3)
        way = np.array([reaction[part] for _, reaction in points.values()]).reshape(-1, 3)
        way = np.where(np.isfinite(way), way, 0.0)
        largest = float(np.max(np.linalg.norm(way, axis=1), initial=0.0))
        self._largest[kind] = max(largest, _FORGET * self._largest[kind])
        scale = _LONGEST * self._stage.scene.size / max(self._largest[kind], 1e-12)
        return np.stack([at, at + scale * way], axis=1), _FORCE if kind == "force" else _MOMENT

    def _hands(self, now: Snapshot) -> tuple[Floats, Any]:
        spans = []
        for body, hold in now.holds.items():
            number = now.bodies.index(body)
            at = hold.reach(now.position[number], now.rotation[number])
            spans.append((at, hold.target))
        return np.array(spans).reshape(-1, 2, 3), _HAND

    def _draw(self, kind: str, points: Floats, color: Any) -> None:
        long = np.linalg.norm(points[:, 1] - points[:, 0], axis=1) > 0.01 * self._stage.scene.size
        points = self._stage.on_page(points[long])
        handle, size = self._handles.get(kind), self._stage.unit * self._stage.scene.size
        if handle is not None and len(handle.points) == len(points):
            if len(points):
                handle.points = points
            return
        if handle is not None:
            handle.remove()
            del self._handles[kind]
        if len(points):
            self._handles[kind] = self._server.scene.add_arrows(
                f"/arrows/{kind}", points, color,
                shaft_radius=0.004 * size, head_radius=0.011 * size, head_length=0.035 * size,
            )  # fmt: skip


HINT: Final = "Points dark where friction holds, yellow where they slip; forces crimson."
_MOST: Final = 512  # points that are shown, and as many arrows: those of the largest forces
_PICTURES: Final = 300  # pictures whose largest forces set the scale
_BALL, _FINE, _ARROW = 0.011, 0.006, 0.008  # radii, of `_size`
_CUT_FORCE: Final = (0.93, 0.55, 0.68)


class Contacts:
    """Points and forces of contacts; the caller selects whether they are shown."""

    def __init__(self, server: Any, stage: Stage) -> None:
        self._server, self._stage = server, stage
        self.shown = False
        self._turn = Lock()  # between the thread that draws and those that switch the display
        self._balls = Copies(server, "/contacts/points", ball(1.0, 10))
        self._arrows = Copies(server, "/contacts/forces", _arrow())
        self.renew()

    def renew(self) -> None:
        """Remove the contacts of the previous mechanism."""
        self._summed: set[str] = set()
        self._largest: deque[float] = deque(maxlen=_PICTURES)
        self._seen, self._counts = -1, (0, 0.0, 0.0)

    @property
    def note(self) -> str:
        """The scale of the arrows and the largest force, in words."""
        count, usual, largest = self._counts
        if not self.shown:
            return ""
        if not count:
            return "Nothing touches."
        words = (
            f"{count} points; a full arrow is {force_text(usual)}, the largest force {force_text(largest)}"
        )
        return words + (" (pale arrows are cut)." if largest > CUT / LONGEST * usual else ".")

    def show(self, now: Snapshot) -> None:
        """Draw the contact points and forces of a snapshot."""
        with self._turn:
            self._show(now)

    def _show(self, now: Snapshot) -> None:
        touching = now.touching
        if not self.shown or not len(touching):
            self._counts = (0, 0.0, 0.0)
            self._balls.hide()
            self._arrows.hide()
            return
        scene = self._stage.scene
        self._summed |= summed_of(scene.mechanism, touching)
        summed = self._summed.intersection(touching.contacts)
        arrows = arrows_of(touching, summed, scene.up)
        force = np.linalg.norm(arrows.force, axis=1)
        largest = float(np.max(force, initial=0.0))
        if now.number != self._seen:
            self._seen = now.number
            self._largest.append(largest)
        usual, _ = usual_of(np.array(self._largest))
        self._counts = (len(touching), usual, largest)
        self._show_points(touching, summed)
        self._show_forces(arrows.tail, arrows.force, force, usual)

    @property
    def _size(self) -> float:
        """Half the geometric mean of the diagonals of the moving parts and of the picture, m."""
        return float(np.sqrt(0.5 * self._stage.scene.size * self._stage.reach))

    def _show_points(self, touching: Touching, summed: set[str]) -> None:
        rows, size = touching.rows, self._stage.unit * self._size
        chosen = _largest(np.linalg.norm(rows["force"], axis=1))
        rows = rows[chosen]
        fine = np.isin(touching.contact[chosen], [touching.contacts.index(name) for name in summed])
        radius = size * np.where(fine, _FINE, _BALL)
        colors = np.where((rows["slips"] == 0.0)[:, None], STICKS, SLIPS)
        turn = np.tile([1.0, 0.0, 0.0, 0.0], (len(rows), 1))
        self._balls.show(
            self._stage.on_page(rows["position"]), turn, np.tile(radius[:, None], (1, 3)), colors
        )

    def _show_forces(self, tail: Floats, force: Floats, size: Floats, usual: float) -> None:
        reach, chosen = self._size, _largest(size)
        tail, force, size = tail[chosen], force[chosen], size[chosen]
        length = LONGEST * reach * size / max(usual, 1e-300)
        cut = length > CUT * reach
        length = np.minimum(length, CUT * reach)
        wide = np.minimum(_ARROW * reach, 0.06 * length)
        scales = self._stage.unit * np.column_stack([wide, wide, length])
        colors = np.where(cut[:, None], _CUT_FORCE, FORCE)
        self._arrows.show(self._stage.on_page(tail), from_z(force), scales, colors)


class Copies:
    """Copies of one mesh in one object of the page; their number changes from picture to picture.

    The object has room for more copies than are in use, so that it is recreated only when their number has
    doubled; copies not in use have zero size.
    """

    def __init__(self, server: Any, name: str, mesh: TriangleMesh) -> None:
        self._server, self._name, self._mesh = server, name, mesh
        self._handle: Any = None
        self._room = 0

    def show(self, position: Any, rotation: Any, scales: Any, colors: Any) -> None:
        """Show copies: positions (n, 3) on the page, rotations (n, 4), scales and colours (n, 3), 0 to 1."""
        count = len(position)
        if count == 0:
            self.hide()
            return
        room = max(self._room, 1 << max(count - 1, 15).bit_length())
        values: dict[str, Any] = {
            "batched_positions": np.zeros((room, 3), dtype=np.float32),
            "batched_wxyzs": np.tile(np.array([1.0, 0.0, 0.0, 0.0], dtype=np.float32), (room, 1)),
            "batched_scales": np.full((room, 3), 1e-9, dtype=np.float32),
            "batched_colors": np.zeros((room, 3), dtype=np.uint8),
        }
        values["batched_positions"][:count] = position
        values["batched_positions"][count:] = position[0]
        values["batched_wxyzs"][:count] = rotation
        values["batched_scales"][:count] = np.maximum(scales, 1e-9)
        values["batched_colors"][:count] = np.round(255.0 * np.asarray(colors))
        if room > self._room:
            self._make(room, values)
            return
        with self._server.atomic():
            self._handle.visible = True
            for name, value in values.items():
                setattr(self._handle, name, value)

    def hide(self) -> None:
        """Hide all copies."""
        if self._handle is not None and self._handle.visible:
            self._handle.visible = False

    def _make(self, room: int, values: dict[str, Any]) -> None:
        if self._handle is not None:
            self._handle.remove()
        self._room = room
        self._handle = self._server.scene.add_batched_meshes_simple(
            self._name, self._mesh.vertices.astype(np.float32),
            np.ascontiguousarray(self._mesh.triangles, dtype=np.uint32), **values, lod="off",
            cast_shadow=False, receive_shadow=False,
        )  # fmt: skip


def _largest(force: Floats) -> Any:
    """Indices of the rows shown: those of the largest forces, up to the maximum number."""
    return np.argsort(-force)[:_MOST] if len(force) > _MOST else np.arange(len(force))


def _arrow() -> TriangleMesh:
    """An arrow along z from 0 to 1, to be stretched; its shaft has radius 1."""
    head = 0.28
    shaft = moved(cylinder(1.0, 1.0 - head, 12), (0.0, 0.0, 0.5 * (1.0 - head)))
    return joined([shaft, moved(cone(2.6, head), (0.0, 0.0, 1.0 - 0.5 * head))])
