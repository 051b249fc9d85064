"""Buttons and keys that jog a marker: up, down, left, right, nearer and farther, as seen in the picture."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from bellcrank.compile.state import Floats
from bellcrank.mechanism.rotation_arrays import rotate
from bellcrank.scene import Scene
from bellcrank.viewer.page.plots import Plots
from bellcrank.viewer.session import Session
from bellcrank.viewer.snapshot import Snapshot

_WAYS: Final = {
    "left": ("arrowleft", "arrow-left"),
    "right": ("arrowright", "arrow-right"),
    "nearer": ("arrowdown", "arrow-down"),
    "farther": ("arrowup", "arrow-up"),
    "upper": ("pageup", "arrow-bar-up"),
    "lower": ("pagedown", "arrow-bar-down"),
}
_NONE: Final = ("none",)  # while there is no body yet
_HELD: Final = 0.25  # s of wall time that a press or a key stroke lasts
_RATE: Final = 10.0  # presses a second of a button that is kept pressed


class Jogging:
    """A folder that jogs a marker of a live session; the marker is selected in the folder.

    scene: of the mechanism. report: callback for the future of each command.
    """

    def __init__(
        self, gui: Any, session: Session, report: Callable[[Any], None], plots: Plots, scene: Scene
    ) -> None:
        self._session, self._report, self._plots = session, report, plots
        self._jogs = self._waits = False
        self._up, size = np.asarray(scene.up), scene.size
        with gui.add_folder("Jog", expand_by_default=False):
            self._marker = gui.add_dropdown(
                "Marker", session.markers or _NONE, hint="The marker that the buttons and keys move."
            )
            self._speed = gui.add_slider("Speed [m/s]", 0.01 * size, size, 0.01 * size, 0.2 * size)
            for way, (key, icon) in _WAYS.items():
                button = gui.add_button(way, icon=icon, hint=f"Hold it, or the key {key}.")
                button.on_hold(self._on_way(way), callback_hz=_RATE)
                gui.add_command(f"Jog {way}", hotkey=key, icon=icon).on_trigger(self._on_way(way))
            gui.add_button("Let go", hint="Joints are free again, drives as they were.").on_click(
                self._let_go
            )

    def jog(self, way: str, camera: Any) -> None:
        """Move the marker a little further; camera: the one whose picture defines the direction."""
        seen = None if camera is None else np.asarray(camera.wxyz)
        velocity = self._speed.value * direction(way, seen, self._up)
        answer = self._session.send(
            "jog", marker=self._marker.value, velocity=velocity.tolist(), duration=_HELD
        )
        if not self._jogs:
            self._jogs = self._waits = True
            self._report(answer)
        if self._session.snapshot.status == "paused":
            self._report(self._session.send("play"))

    def show(self, now: Snapshot) -> None:
        """Plot the efforts of the driven marker, once it is driven."""
        markers = self._session.markers or _NONE
        if tuple(self._marker.options) != markers:
            self._marker.options = markers
        if self._waits and not now.preparing and now.status == "playing":
            self._waits = False
            self._plots.choose_efforts()

    def _on_way(self, way: str) -> Any:
        async def jog(event: Any) -> None:
            self.jog(way, None if event.client is None else event.client.camera)

        return jog

    async def _let_go(self, _event: Any) -> None:
        self._jogs = False
        self._report(self._session.send("jog"))


def direction(way: str, camera: Floats | None, up: Floats) -> Floats:
    """The axis, (3,), closest to a direction as a camera sees it; left is left in the picture.

    camera: its rotation, (w, x, y, z), x to the right, z into the picture. up: a world axis.
    """
    if way in ("upper", "lower"):
        return up if way == "upper" else -up
    into = np.ones(3) if camera is None else rotate(camera, np.array((0.0, 0.0, 1.0)))
    level = np.where(np.abs(up) > 0.5, 0.0, into)
    axis = int(np.argmax(np.abs(level)))
    ahead = np.zeros(3)
    ahead[axis] = np.sign(level[axis]) or 1.0
    ways = {"farther": ahead, "nearer": -ahead, "left": np.cross(up, ahead), "right": np.cross(ahead, up)}
    found: Floats = ways[way]
    return found
