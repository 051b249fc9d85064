"""Joining points on the stage by clicks: with a joint, a spring, a string or a cable."""

from __future__ import annotations

import html
from typing import Any, Final, Protocol

import numpy as np

from bellcrank.viewer.page.marks import Marks
from bellcrank.viewer.page.picking import Pick, pick
from bellcrank.viewer.page.stage import Stage
from bellcrank.viewer.pieces import FORCES, JOINTS
from bellcrank.viewer.session import Session

_AXES: Final = {
    "y (front to back)": (0.0, 1.0, 0.0),
    "x (to the right)": (1.0, 0.0, 0.0),
    "z (up)": (0.0, 0.0, 1.0),
}
_AS_NOW: Final = "0 for as long as it is now."
_FIELDS: Final = (
    ("stiffness", "Stiffness [N/m]", 100.0, None),
    ("damping", "Damping [N s/m]", 0.0, None),
    ("rest_length", "Rest length [m]", 0.0, _AS_NOW),
    ("length", "Length [m]", 0.0, _AS_NOW),
)
_NUMBERS: Final = {
    "spring": ("stiffness", "damping"),
    "string": ("stiffness", "rest_length"),
    "cable": ("length",),
}


class Sender(Protocol):
    """An object that sends commands and reports their errors."""

    def send(self, command: str, **arguments: Any) -> None:
        """Send a command to the session."""

    def refuse(self, element: str, rule: str, advice: str) -> None:
        """Report that an action was not carried out."""


class Joining:
    """The part of the panel for joining points. armed: whether clicks select points."""

    def __init__(self, server: Any, session: Session, stage: Stage, marks: Marks, sender: Sender) -> None:
        self._gui, self._session, self._stage, self.marks = server.gui, session, stage, marks
        self._sender, self.armed = sender, False
        self._hint = self._gui.add_html(self._status())
        self._by = self._gui.add_dropdown("By", (*JOINTS, *FORCES), initial_value="Revolute")
        self._axis = self._gui.add_dropdown("Axis", tuple(_AXES), hint="Of the joint, as the bodies are now.")
        self._numbers = {
            name: self._gui.add_number(label, value, min=0.0, max=1e12, step=0.001, visible=False, hint=hint)
            for name, label, value, hint in _FIELDS
        }
        self._snap = self._gui.add_checkbox("Bring together at once", True)
        self._arm = self._gui.add_button("Click two points", icon="link")
        self._ground = self._gui.add_button("First point to the ground", icon="anchor", visible=False)
        self._by.on_update(self._on_by)
        self._arm.on_click(self._on_arm)
        self._ground.on_click(self._on_ground)
        server.scene.on_click()(self._on_click)

    @property
    def picks(self) -> list[Pick]:
        """The points that were clicked to be joined."""
        return self.marks.chosen

    def show(self) -> None:
        """Update the hint to the points clicked so far."""
        self._hint.content = self._status()

    def _status(self) -> str:
        if not self.armed:
            return ""
        if not self.picks:
            text = f"<b>{self._by.value}</b>: click the first point"
        else:
            text = f"<b>{self._by.value}</b> from {html.escape(self.picks[0].text)}: click the second point"
        return f'<div style="padding:.2em .9em;line-height:1.4">{text}</div>'

    async def _on_by(self, _event: Any) -> None:
        wanted = _NUMBERS.get(self._by.value, ())
        for name, widget in self._numbers.items():
            widget.visible = name in wanted
        self._axis.visible = self._snap.visible = not wanted
        self.show()

    async def _on_arm(self, _event: Any) -> None:
        self._set_armed(not self.armed)

    def _set_armed(self, armed: bool) -> None:
        self.armed = self.marks.shown = armed
        self.picks.clear()
        self._arm.label = "Stop joining" if armed else "Click two points"
        self._after_pick()

    async def _on_click(self, event: Any) -> None:
        if not self.armed:
            return
        now, unit = self._session.snapshot, self._stage.unit
        origin, way = (np.asarray(of, dtype=float) for of in (event.ray_origin, event.ray_direction))
        found = pick(self._stage.scene, now, origin / unit, way)
        if found is None:
            self._sender.refuse("click", "there is nothing there", "click a body, or one of the points on it")
        elif self.picks and self.picks[0].body == found.body:
            advice = "click a point of another body"
            self._sender.refuse(f"body {found.body!r}", "both points are on it", advice)
        else:
            self.picks.append(found)
            if len(self.picks) == 2:
                self._join(self.picks[1].end)
            self._after_pick()

    async def _on_ground(self, _event: Any) -> None:
        if self.picks:
            place = self.picks[0].in_world(self._session.snapshot)
            self._join({"body": "ground", "point": place.tolist()})
            self._after_pick()

    def _join(self, second: dict[str, Any]) -> None:
        by = self._by.value
        wanted = {name: float(self._numbers[name].value) for name in _NUMBERS.get(by, ())}
        given = {n: value for n, value in wanted.items() if value > 0.0 or n == "stiffness"}
        more = given if by in FORCES else {"axis": _AXES[self._axis.value], "snap": bool(self._snap.value)}
        self._sender.send("join", kind=by, first=self.picks[0].end, second=second, **more)
        self.picks.clear()

    def _after_pick(self) -> None:
        now = self._session.snapshot
        self._ground.visible = bool(self.picks)
        self.marks.show(now)
        self.show()
