"""Points of the stage under the mouse: dragging, clicks on bodies and markers, names under the pointer.

viser reports clicks and drags, but not pointer moves. Each browser therefore runs a short script, which
requests the name of the element under the pointer from the gate, at most twelve times a second, and shows it
at the pointer.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qs

import numpy as np

from bellcrank.compile.state import Floats
from bellcrank.mechanism.marker import GROUND
from bellcrank.mechanism.rotation import matrix
from bellcrank.mechanism.rotation_arrays import conjugate, rotate
from bellcrank.scene import Scene
from bellcrank.scene.making import crossings
from bellcrank.viewer.page.gate import NAMES
from bellcrank.viewer.page.stage import Batch, Stage
from bellcrank.viewer.pieces import points_on, snapped
from bellcrank.viewer.session import Session
from bellcrank.viewer.snapshot import Snapshot


class Pointing:
    """Connects the meshes of a stage with a session.

    report: callback for the future of each command. chosen: called with the kind and name of a clicked
    element.
    """

    def __init__(
        self,
        stage: Stage,
        session: Session,
        report: Callable[[Any], None],
        chosen: Callable[[str, str], None],
    ) -> None:
        self._stage, self._session = stage, session
        self._report, self._chosen = report, chosen
        self._dragged: dict[int, str] = {}  # by the index of the browser
        self.connect()

    def connect(self) -> None:
        """Attach the mouse handlers to the meshes on the stage."""
        for batch in self._stage.batches:
            self._connect(batch)

    def leave(self, client: int) -> None:
        """Handle the departure of a browser, possibly during a drag."""
        if (body := self._dragged.pop(client, None)) is not None:
            self._session.send("release", body=body)

    def _connect(self, batch: Batch) -> None:
        if batch.moves and self._session.is_live:

            async def drag(event: Any) -> None:
                self._drag(batch, event)

            batch.handle.on_drag("left")(drag)

        async def click(event: Any) -> None:
            number = int(batch.numbers[event.instance_index or 0])
            self._chosen(*self._stage.name(number))

        batch.handle.on_click(click)

    def _in_world(self, point: Any) -> Floats:
        found: Floats = np.asarray(point, dtype=float) / self._stage.unit
        return found

    def _drag(self, batch: Batch, event: Any) -> None:
        number = int(batch.numbers[event.instance_index or 0])
        carrier, client = int(self._stage.carriers[number]), int(event.client_id)
        now = self._session.snapshot
        if not 0 <= carrier < len(now.bodies):
            return
        body, target = now.bodies[carrier], self._in_world(event.end_position).tolist()
        if event.phase == "start" or client not in self._dragged:
            arm = self._in_world(event.start_position) - now.position[carrier]
            point = rotate(conjugate(now.rotation[carrier]), arm)
            self._dragged[client] = body
            self._report(self._session.send("grab", body=body, point=point.tolist(), target=target))
        elif event.phase == "update" and self._dragged[client] in now.bodies:
            self._session.send("move", body=self._dragged[client], target=target)
        if event.phase == "end":
            self.leave(client)


_REACH: Final = 0.16  # of a body's extent: points closer than this to a marker snap to it
_BESIDE: Final = 0.035  # of a body's extent, or of all: markers closer than this to the line of sight are hit


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

    The point on a body is a marker that the ray passes: the nearest to the ray, or of several in line with
    one another the nearest to the middle of its material. Else a marker close to that middle, or the middle.
    """
    assert now.mechanism is not None
    way = way / np.linalg.norm(way)
    found = first_hit(scene, now, origin, way)
    if found is None:
        passed = _passed(now, (*now.bodies, GROUND), origin, way, _BESIDE * scene.size)
        return min(passed, key=lambda one: one[0])[1] if passed else None
    body = scene.carriers[scene.pieces[found[0]].carrier]
    size, middle = extent(scene, body), _local(now, body, origin + found[1] * way)
    if passed := _passed(now, (body,), origin, way, _BESIDE * size):
        return min(passed, key=lambda one: one[0] + 0.1 * float(np.linalg.norm(one[1].point - middle)))[1]
    return Pick(body, *snapped(now.mechanism, body, middle, _REACH * size))


def first_hit(scene: Scene, now: Snapshot, origin: Floats, way: Floats) -> tuple[int, float] | None:
    """The index of the first piece that a ray hits, and the distance to the middle of its material, m.

    way: the direction of the ray, a unit vector.
    """
    best, found = np.inf, None
    placed = scene.placed(now.position, now.rotation)
    count = len(scene.pieces)
    middle, reach = scene.spheres
    gap = placed.position[:count] + rotate(placed.rotation[:count], middle) - origin
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


def _passed(
    now: Snapshot, bodies: Sequence[str], origin: Floats, way: Floats, reach: float
) -> list[tuple[float, Pick]]:
    """The markers of bodies that a ray passes within reach, and how far away, m."""
    assert now.mechanism is not None
    found = list[tuple[float, Pick]]()
    for body in bodies:
        for point, marker in points_on(now.mechanism, body):
            chosen = Pick(body, point, marker)
            gap = chosen.in_world(now) - origin
            found.append((float(np.linalg.norm(gap - (gap @ way) * way)), chosen))
    return [one for one in found if one[0] < reach]


def _local(now: Snapshot, body: str, point: Floats) -> Floats:
    """A point of the world in the frame of a body, m."""
    if body not in now.bodies:
        return point
    number = now.bodies.index(body)
    found: Floats = rotate(conjugate(now.rotation[number]), point - now.position[number])
    return found


_SCRIPT: Final = """
window.bellcrankClient = CLIENT;
if (!window.bellcrankTip) {
  const tip = window.bellcrankTip = document.createElement('div');
  tip.id = 'bellcrank-name';
  tip.style.cssText = 'position:fixed;display:none;pointer-events:none;z-index:900;padding:.1em .5em;' +
    'border-radius:.3em;background:rgba(30,34,40,.85);color:#fff;' +
    'font:13px system-ui,sans-serif;white-space:nowrap';
  document.body.appendChild(tip);
  let last = null, busy = false;
  const ask = async () => {
    if (busy || !last) return;
    busy = true;
    const event = last, box = event.target.getBoundingClientRect();
    last = null;
    try {
      const x = (event.clientX - box.left) / box.width, y = (event.clientY - box.top) / box.height;
      const query = `client=${window.bellcrankClient}&x=${x}&y=${y}&aspect=${box.width / box.height}`;
      const answer = await fetch(`PATH?${query}`);
      tip.textContent = answer.ok ? await answer.text() : '';
      tip.style.left = `${event.clientX + 14}px`;
      tip.style.top = `${event.clientY + 14}px`;
      tip.style.display = tip.textContent ? 'block' : 'none';
    } catch { tip.style.display = 'none'; }
    setTimeout(() => { busy = false; ask(); }, 80);
  };
  window.addEventListener('pointermove', (event) => {
    last = event.target.tagName === 'CANVAS' && !event.buttons ? event : null;
    if (!last) tip.style.display = 'none';
    ask();
  });
}
"""


class Hovering:
    """Finds the elements under the pointers of the browsers that show a stage."""

    def __init__(self, server: Any, session: Session, stage: Stage) -> None:
        self._server, self._session, self._stage = server, session, stage
        server.on_client_connect(self._begin)

    def _begin(self, client: Any) -> None:
        script = _SCRIPT.replace("CLIENT", str(int(client.client_id))).replace("PATH", NAMES)
        client.gui.add_html(f'<img src="data:," style="display:none" onerror="{html.escape(script)}">')

    def answer(self, query: str) -> str:
        """The name of the element that a browser points at; "" for nothing and for an invalid query.

        query: client (its number), x, y (fractions of the picture's width and height, from its upper left),
        aspect.
        """
        try:
            given = {name: float(values[0]) for name, values in parse_qs(query).items()}
            client = self._server.get_clients()[int(given["client"])]
            numbers = [given[name] for name in ("x", "y", "aspect")]
        except (KeyError, ValueError, OverflowError):
            return ""
        return self.name(client.camera, *numbers) if np.all(np.isfinite(numbers)) else ""

    def name(self, camera: Any, x: float, y: float, aspect: float) -> str:
        """The name of the element that a camera sees at a position in its picture."""
        high = np.tan(0.5 * camera.fov)
        way = rotate(
            np.asarray(camera.wxyz), np.array([(2.0 * x - 1.0) * high * aspect, (2.0 * y - 1.0) * high, 1.0])
        )
        stage, now = self._stage, self._session.snapshot
        if len(now.bodies) + 1 != len(stage.scene.carriers):
            return ""  # the stage has not switched to the other mechanism yet
        found = first_hit(
            stage.scene, now, np.asarray(camera.position) / stage.unit, way / np.linalg.norm(way)
        )
        if found is None:
            return ""
        kind, name = stage.name(found[0])
        return name if kind == "body" else f"{kind} {name}"
