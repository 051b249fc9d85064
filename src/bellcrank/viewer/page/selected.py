"""The element selected on the stage: its pose, velocity, reaction and energy, pinned or not."""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any

from bellcrank.errors import BellcrankError
from bellcrank.viewer.session import Session
from bellcrank.viewer.snapshot import Snapshot


class Selected:
    """A panel that shows a body or a joint during the run.

    report: callback for the future of each command.
    """

    def __init__(
        self, gui: Any, session: Session, report: Callable[[Any], None], joints: tuple[str, ...]
    ) -> None:
        self._session, self._report = session, report
        self.kind, self.name = "", ""
        bodies = session.snapshot.bodies
        options = ("nothing", *(f"body {name}" for name in bodies), *(f"joint {name}" for name in joints))
        self._menu: Any = gui.add_dropdown("Inspect", options, initial_value="nothing", hint="Or click it.")
        self._menu.on_update(self._on_menu)
        self._text = gui.add_html("")
        self._pin = gui.add_button_group("Pin", ("Pin", "Release"), visible=False)
        self._pin.on_click(self._on_pin)

    def renew(self, joints: tuple[str, ...]) -> None:
        """Switch to another mechanism."""
        bodies = self._session.snapshot.bodies
        self._menu.options = (
            "nothing",
            *(f"body {name}" for name in bodies),
            *(f"joint {n}" for n in joints),
        )
        self.choose(self.kind, self.name)

    def choose(self, kind: str, name: str) -> None:
        """Show a body or a joint, or nothing."""
        known = kind in ("body", "joint") and f"{kind} {name}" in self._menu.options
        self.kind, self.name = (kind, name) if known else ("", "")
        self._menu.value = f"{kind} {name}" if known else "nothing"
        self._pin.visible = kind == "body" and known and self._session.is_live
        if not known:
            self._text.content = ""

    def show(self, now: Snapshot) -> None:
        """Update the panel to a snapshot."""
        if not self.name:
            return
        try:
            found = self._session.do("inspect", name=self.name)
        except BellcrankError as error:
            self._text.content = html.escape(str(error))
            return
        if self.name in now.pins:
            found["pinned"] = "yes"
        self._text.content = _table(found)

    async def _on_menu(self, event: Any) -> None:
        if event.client is not None:
            kind, _, name = str(self._menu.value).partition(" ")
            self.choose(kind, name)

    async def _on_pin(self, _event: Any) -> None:
        if self.kind == "body":
            self._report(self._session.send("pin" if self._pin.value == "Pin" else "unpin", body=self.name))


def _table(found: dict[str, Any]) -> str:
    rows = []
    for key, value in found.items():
        if key in ("name", "kind", "time [s]"):
            continue
        numbers = value if isinstance(value, list) else [value]
        text = ", ".join(_short(number) if isinstance(number, float) else str(number) for number in numbers)
        rows.append(
            f'<tr><td style="opacity:.7;padding-right:.8em;vertical-align:top">{html.escape(key)}</td>'
            f'<td style="font-variant-numeric:tabular-nums">{html.escape(text)}</td></tr>'
        )
    return f'<table style="font-size:.85em;margin:.2em .9em;line-height:1.45">{"".join(rows)}</table>'


def _short(value: float) -> str:
    return "0" if abs(value) < 1e-12 else f"{value:.4g}"
