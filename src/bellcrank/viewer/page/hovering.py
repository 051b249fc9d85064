"""Names of the elements under the pointer.

viser reports clicks and drags, but not pointer moves. Each browser therefore runs a short script, which
requests the name of the element under the pointer from the gate, at most twelve times a second, and shows it
at the pointer.
"""

from __future__ import annotations

import html
from typing import Any, Final
from urllib.parse import parse_qs

import numpy as np

from bellcrank.trajectory.rotations import rotate
from bellcrank.viewer.page.gate import NAMES
from bellcrank.viewer.page.picking import first_hit
from bellcrank.viewer.page.stage import Stage
from bellcrank.viewer.session import Session

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
