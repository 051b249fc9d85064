"""The page: a session shown in any number of browsers."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import quote

import numpy as np

from bellcrank.compile.state import State
from bellcrank.errors import Fault, MechanismError
from bellcrank.scene import Scene
from bellcrank.scene import of as scene_of
from bellcrank.scene.view import NAMES
from bellcrank.viewer.page.arrows import HINT, Arrows, Contacts
from bellcrank.viewer.page.building import Building
from bellcrank.viewer.page.controls import Controls
from bellcrank.viewer.page.gate import Gate
from bellcrank.viewer.page.jogging import Jogging
from bellcrank.viewer.page.keeping import Keeping
from bellcrank.viewer.page.plots import Plots
from bellcrank.viewer.page.pointing import Hovering, Pointing
from bellcrank.viewer.page.selected import Selected
from bellcrank.viewer.page.server import page_path, quiet_server, stop_quietly
from bellcrank.viewer.page.stage import Stage
from bellcrank.viewer.session import Session
from bellcrank.viewer.snapshot import Snapshot

_PICTURES: Final = 30.0  # pictures a second
_NUMBERS: Final = 5.0  # updates a second: widgets, plots
_BRAND: Final = (47, 111, 179)
_LOCAL: Final = ("localhost", "127.0.0.1", "::1")
# Notices lie over the stage, and viser lets them take clicks meant for bodies below; only their buttons may.
_NOTICES: Final = """<style>
.mantine-Notification-root, .mantine-Notifications-notification { pointer-events: none !important }
.mantine-Notification-root button { pointer-events: auto }
</style>"""


class Page:
    """A page that shows a session, until it is closed.

    host, port: where it can be reached, the only port that it opens; one that is in use is skipped. token:
    required of whoever opens it; generated if other machines can reach it and none is given. folder: where it
    may write files. url: its address, including the token.

    Raises Unsupported without viser or without Unix sockets, MechanismError if it cannot listen.
    """

    def __init__(
        self, session: Session, scene: Scene, host: str = "localhost", port: int = 8080,
        token: str | None = None, folder: Path | None = None,
    ) -> None:  # fmt: skip
        self.session, self.scene = session, scene
        path, local = page_path(), host in _LOCAL
        self.server = quiet_server(path)
        self.token = token or ("" if local else secrets.token_urlsafe(24))
        self.hovering: Hovering | None = None  # the gate exists before the page does
        try:
            self._gate = _gate("127.0.0.1" if local else host, port, path, self.token, self._name)
        except Exception:
            stop_quietly(self.server)
            raise
        name = "localhost" if local else f"[{host}]" if ":" in host else host
        self.url = f"http://{name}:{self._gate.port}/" + (f"?token={quote(self.token)}" if self.token else "")
        self._dark, self._named = False, (False, False)
        self._theme()
        self.stage = Stage(self.server, scene)
        self.hovering = Hovering(self.server, session, self.stage)
        self.arrows = Arrows(self.server, self.stage)
        self.contacts = Contacts(self.server, self.stage)
        self._moving, self._complaint = False, ""
        self._edition = session.snapshot.edition
        self.building: Building | None = None
        self.jogging: Jogging | None = None
        self._widgets(folder or Path.cwd())
        self.pointing = Pointing(self.stage, session, self._report, self._chosen)
        self.server.on_client_disconnect(lambda client: self.pointing.leave(client.client_id))
        self._open = True
        self._thread = threading.Thread(target=self._show, name="bellcrank page", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<page of {self.session.name!r} at {self.url}>"

    def _repr_html_(self) -> str:
        return f'<iframe src="{self.url}" width="100%" height="560" style="border:0"></iframe>'

    def wait(self) -> None:
        """Serve until Ctrl-C or `close`."""
        while self._open:
            time.sleep(0.2)

    def close(self) -> None:
        """Close the page and its session."""
        if self._open:
            self._open = False
            self._thread.join(5.0)
            self._gate.close()
            stop_quietly(self.server)
            self.session.close()

    def _name(self, query: str) -> str:
        """The name of the element that a browser points at."""
        return "" if self.hovering is None else self.hovering.answer(query)

    def _theme(self) -> None:
        self.server.gui.configure_theme(
            dark_mode=self._dark, show_logo=False, show_share_button=False, brand_color=_BRAND,
            control_width="medium",
        )  # fmt: skip
        self.server.gui.main_panel.dock_right()
        self.server.gui.set_panel_label(self.session.name)

    def _widgets(self, folder: Path) -> None:
        gui, joints = self.server.gui, tuple(self.scene.joints)
        self.controls = Controls(gui, self.session, self._report)
        if self.session.is_live:
            self.building = Building(self.server, self.session, self.stage, self._report, self._warned)
        self.plots = Plots(gui, self.session)
        if self.session.is_live:
            self.jogging = Jogging(gui, self.session, self._report, self.plots, self.scene)
        with gui.add_folder("Inspect"):
            self.selected = Selected(gui, self.session, self._report, joints)
        with gui.add_folder("Show", expand_by_default=False):
            self._names = gui.add_checkbox("Names of bodies", False)
            self._joint_names = gui.add_checkbox("Names of joints", False)
            self._forces = gui.add_checkbox("Reactions", False, hint="Forces red, moments blue.")
            self._contacts = gui.add_checkbox("Contacts", False, hint=HINT)
            self._contact_note = gui.add_markdown("", visible=False)
            self._floor = gui.add_checkbox("Floor", True)
            self._night = gui.add_checkbox("Dark", False)
            self._view = gui.add_dropdown("View", ("start", *NAMES), initial_value="start")
        for widget in (
            self._names, self._joint_names, self._forces, self._contacts, self._floor, self._night
        ):  # fmt: skip
            widget.on_update(self._on_look)
        self._view.on_update(self._on_view)
        with gui.add_folder("Keep", expand_by_default=False):
            self.keeping = Keeping(gui, self.session, self.scene, folder, self._report)
        gui.add_html(_NOTICES)

    async def _on_look(self, _event: Any) -> None:
        now = self.session.snapshot
        self.arrows.shown = self._forces.value
        if self._contacts.value != self.contacts.shown:
            self.contacts.shown = self._contacts.value
            self.stage.make_clear(self.contacts.shown)  # otherwise bodies would hide their own points
        if (named := (self._names.value, self._joint_names.value)) != self._named:
            self._named = named
            self.stage.label(*named, now.position, now.rotation)
        if self._night.value != self._dark:
            self._dark = self._night.value
            self._theme()
            self.stage.paint(self._dark)
        self.stage.lay_floor(self._dark, self._floor.value)
        self.arrows.show(now)
        self.contacts.show(now)
        self._note_contacts()

    async def _on_view(self, event: Any) -> None:
        if event.client is not None:
            name = self._view.value
            self.stage.look(event.client.camera, None if name == "start" else name)

    def _show(self) -> None:
        """Show the state of the session, until the page is closed."""
        number, last = -1, 0.0
        while self._open:
            begun = time.perf_counter()
            now = self.session.newer(number, 0.25)
            if now.number != number:
                number = now.number
                shows_numbers = begun - last > 1.0 / _NUMBERS or now.status != "playing"
                last = begun if shows_numbers else last
                try:
                    self._picture(now)
                    if shows_numbers:
                        self._figures(now)
                except Exception as error:  # noqa: BLE001  (one picture less, but the page goes on)
                    self._complain(error)
            time.sleep(max(0.0, 1.0 / _PICTURES - (time.perf_counter() - begun)))

    def _chosen(self, kind: str, name: str) -> None:
        """Handle a click on the stage."""
        if self.building is not None and self.building.joining.armed:
            return
        self.selected.choose(kind, name)
        if self.building is not None:
            self.building.choose(kind, name)

    def _renew(self, now: Snapshot) -> None:
        """Show another mechanism."""
        assert now.mechanism is not None
        still = np.zeros_like(now.position)
        self.scene = scene_of(now.mechanism, State(now.time, now.position, now.rotation, still, still))
        self.keeping.scene = self.scene
        self.arrows.renew()
        self.contacts.renew()
        self.stage.renew(self.scene, self._dark, bool(self._floor.value))
        self.stage.label(*self._named, now.position, now.rotation)
        if self.contacts.shown:
            self.stage.make_clear(True)
        self.pointing.connect()
        self.controls.renew(now)
        self.plots.renew()
        self.selected.renew(tuple(self.scene.joints))
        if self.building is not None:
            self.building.renew(now)
        self.server.gui.set_panel_label(self.session.name)

    def _picture(self, now: Snapshot) -> None:
        if now.edition != self._edition:
            self._edition = now.edition
            self._renew(now)
        self.stage.show(now.position, now.rotation)
        self.stage.highlight(now.active)
        if self._moving and not now.moving:
            self.stage.fit(False, now.position, now.rotation)
        self._moving = now.moving
        self.arrows.show(now)
        self.contacts.show(now)
        if self.building is not None:
            self.building.marks.show(now)

    def _figures(self, now: Snapshot) -> None:
        with self.server.atomic():
            self.controls.show(now)
            if self.building is not None:
                self.building.show(now)
            if self.jogging is not None:
                self.jogging.show(now)
            self.plots.show()
            self.selected.show(now)
            self._note_contacts()

    def _note_contacts(self) -> None:
        """Show the scale of contact forces in words."""
        if (note := self.contacts.note) != self._contact_note.content:
            self._contact_note.content, self._contact_note.visible = note, bool(note)

    def _report(self, answer: Future[Any]) -> None:
        """Show a command's error, or its message, in all browsers."""
        answer.add_done_callback(self._show_answer)

    def _complain(self, error: Exception) -> None:
        """Show, once, that a picture could not be made."""
        if (text := f"{type(error).__name__}: {error}") != self._complaint:
            self._complaint = text
            failed: Future[Any] = Future()
            failed.set_exception(error)
            self._show_answer(failed)

    def _warned(self, answer: Future[Any]) -> None:
        """Show a command's error in all browsers."""
        answer.add_done_callback(
            lambda done: self._show_answer(done) if done.exception() is not None else None
        )

    def _show_answer(self, answer: Future[Any]) -> None:
        error, result = answer.exception(), None
        if error is None:
            result = answer.result()
        if error is None and not isinstance(result, str):
            return
        title, color = ("Not done", "red") if error is not None else ("Done", "green")
        for client in self.server.get_clients().values():
            client.add_notification(
                title, str(error or result), color=color, auto_close_seconds=8.0 if error else 4.0
            )


def _gate(host: str, port: int, page: Path, token: str, answers: Callable[[str], str]) -> Gate:
    """A gate at the port, or at one of the next ports if it is in use."""
    for number in range(port, port + 20) if port else (0,):
        try:
            return Gate(host, number, page, token, answers)
        except OSError as error:
            trouble = error
    raise MechanismError(
        Fault("page", f"it cannot listen at {host}: {trouble}", port, "give another host or port")
    )
