"""Marks on the stage during building: points that can be selected, the selection, and open gaps."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Any, Final

import numpy as np

from bellcrank.compile.state import Floats
from bellcrank.mechanism.marker import GROUND
from bellcrank.scene.mesh import ball
from bellcrank.viewer.page.pointing import Pick
from bellcrank.viewer.page.stage import Stage
from bellcrank.viewer.pieces import ends_of, points_on
from bellcrank.viewer.snapshot import Snapshot

_POINT: Final = (47, 111, 179)
_CHOSEN: Final = (242, 143, 0)
_RADIUS: Final = 0.02  # of the mechanism's size
_OPEN: Final = 1e-6  # m: a smaller distance is not a gap


class Marks:
    """Balls at the points of bodies, larger ones at those selected, and lines across gaps.

    shown: whether the points are shown. chosen: the points that were clicked.
    """

    def __init__(self, server: Any, stage: Stage, now: Snapshot) -> None:
        self._server, self._stage = server, stage
        self.shown, self.chosen = False, list[Pick]()
        self._turn = Lock()  # between the thread that draws and those that select
        self._balls: dict[str, Any] = {}
        self._lines: Any = None
        self.renew(now)

    def renew(self, now: Snapshot) -> None:
        """Switch to another mechanism."""
        assert now.mechanism is not None
        bodies = [*now.mechanism.bodies, GROUND]
        found = {(b, tuple(p.round(9))): Pick(b, p) for b in bodies for p, _ in points_on(now.mechanism, b)}
        self._points = list(found.values())
        self.chosen = [one for one in self.chosen if one.body in bodies]
        self._gaps = []
        for joint in now.mechanism.joints.values():
            ends = [Pick(m.body, np.array(m.position, dtype=float)) for m in ends_of(joint)]
            if len(ends) == 2 and {"x", "y", "z"} <= set(joint.kind.locked):
                self._gaps.append((ends[0], ends[1]))
        self.show(now)

    def show(self, now: Snapshot) -> None:
        """Move the marks to the current poses of the bodies."""
        with self._turn:
            self._show(now)

    def _show(self, now: Snapshot) -> None:
        self._draw("points", self._points if self.shown else [], now, _POINT, 1.0)
        self._draw("chosen", self.chosen, now, _CHOSEN, 1.4)
        spans = np.array([[end.in_world(now) for end in pair] for pair in self._gaps]).reshape(-1, 2, 3)
        spans = spans[np.linalg.norm(spans[:, 1] - spans[:, 0], axis=1) > _OPEN]
        self._draw_lines(spans)

    def _draw(self, name: str, picks: Sequence[Pick], now: Snapshot, color: Any, scale: float) -> None:
        handle = self._balls.get(name)
        places = self._stage.on_page(np.array([one.in_world(now) for one in picks]).reshape(-1, 3))
        if handle is not None and len(handle.batched_positions) == len(places) and len(places):
            handle.batched_positions = places
            return
        if handle is not None:
            handle.remove()
            del self._balls[name]
        if not len(places):
            return
        mesh = ball(1.0)
        radius = scale * _RADIUS * self._stage.unit * self._stage.scene.size
        turns = np.tile(np.array([1.0, 0.0, 0.0, 0.0], dtype=np.float32), (len(places), 1))
        self._balls[name] = self._server.scene.add_batched_meshes_simple(
            f"/marks/{name}", (radius * mesh.vertices).astype(np.float32),
            np.ascontiguousarray(mesh.triangles, dtype=np.uint32), batched_wxyzs=turns,
            batched_positions=places, batched_colors=color, lod="off", cast_shadow=False,
            receive_shadow=False,
        )  # fmt: skip

    def _draw_lines(self, spans: Floats) -> None:
        points = self._stage.on_page(spans)
        if self._lines is not None and len(self._lines.points) == len(points) and len(points):
            self._lines.points = points
            return
        if self._lines is not None:
            self._lines.remove()
            self._lines = None
        if len(points):
            self._lines = self._server.scene.add_line_segments(
                "/marks/gaps", points=points, colors=_CHOSEN, line_width=2.5
            )
