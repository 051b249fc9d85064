"""Arrows on the stage: joint reactions and the forces that users exert by dragging."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from bellcrank.assembly.state import Floats
from bellcrank.scene.scene import rotated
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
                point = now.position[carrier] + rotated(now.rotation[carrier][None], point[None])[0]
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
