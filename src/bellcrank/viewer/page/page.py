"""The page: a session shown in any number of browsers."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import quote

import numpy as np

from bellcrank.compile.state import Floats, State
from bellcrank.errors import Fault, MechanismError
from bellcrank.run.adaptive import MEASURES, METHODS
from bellcrank.scene import Scene
from bellcrank.scene import of as scene_of
from bellcrank.trajectory.store import MemoryStore
from bellcrank.trajectory.trajectory import Trajectory
from bellcrank.viewer.page import bundle
from bellcrank.viewer.page.browser import Browser
from bellcrank.viewer.page.frames import Wanted, frame_of
from bellcrank.viewer.page.keeping import Keeping
from bellcrank.viewer.page.line import Line
from bellcrank.viewer.page.picture import Picture
from bellcrank.viewer.page.server import Server
from bellcrank.viewer.page.signals import one_frame
from bellcrank.viewer.page.tree_picture import TreePicture
from bellcrank.viewer.page.words import in_words_of_the_page
from bellcrank.viewer.session import Session
from bellcrank.viewer.settings import FIXED, FORMULATIONS
from bellcrank.viewer.snapshot import Snapshot

_LOCAL: Final = ("localhost", "127.0.0.1", "::1")
_MOST: Final = 64  # browsers at once
_METHODS: Final = (*FIXED, "dopri5", "adams", "bdf", "esdirk", "auto")


class Page:
    """A page that shows a session, until it is closed.

    host, port: where it can be reached, the only port that it opens; one that is in use is skipped. token:
    required of whoever opens it; generated if other machines can reach it and none is given. folder: where it
    may write files. url: its address, including the token.

    Raises Unsupported if what the page needs is not there, MechanismError if it cannot listen.
    """

    def __init__(
        self, session: Session, scene: Scene, host: str = "localhost", port: int = 8080,
        token: str | None = None, folder: Path | None = None,
    ) -> None:  # fmt: skip
        bundle.check_page()
        self.session, self._scene, self._folder = session, scene, folder or Path.cwd()
        self._picture: Picture | None = None
        self._origin: Floats | None = None
        self._frames: dict[Wanted, tuple[int, bytearray]] = {}
        self.browsers: list[Browser] = []
        self._is_noted = False
        self.keeping = Keeping(self)
        local = host in _LOCAL
        self.token = token or ("" if local else secrets.token_urlsafe(24))
        self._server = _server("127.0.0.1" if local else host, port, self._talk, self.token)
        name = "localhost" if local else f"[{host}]" if ":" in host else host
        self.url = f"http://{name}:{self._server.port}/" + (
            f"?token={quote(self.token)}" if self.token else ""
        )
        self._open = True
        session.watchers.append(self._note)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<page of {self.session.name!r} at {self.url}>"

    def _repr_html_(self) -> str:
        return f'<iframe src="{self.url}" width="100%" height="640" style="border:0"></iframe>'

    def wait(self) -> None:
        """Serve until Ctrl-C or `close`."""
        while self._open:
            time.sleep(0.2)

    def close(self) -> None:
        """Close the page and its session."""
        if self._open:
            self.soon(self._farewell)
            self._open = False
            self.session.watchers.remove(self._note)
            self._server.close()
            self.session.close()

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop in which browsers are served."""
        return self._server.loop

    @property
    def port(self) -> int:
        """The port at which it listens."""
        return self._server.port

    @property
    def folder(self) -> Path:
        """The folder where it may write files."""
        return self._folder

    def soon(self, work: Callable[..., None], *arguments: Any) -> None:
        """Do something in the loop, soon; may be called in any thread."""
        if self._open:
            self.loop.call_soon_threadsafe(work, *arguments)

    def later(self, delay: float, work: Callable[[], None]) -> None:
        """Do something in the loop after a delay, s."""
        self.loop.call_later(delay, work)

    def own_command(self, name: Any) -> Callable[..., Future[Any]] | None:
        """What does a command of the page itself, which the session does not have; None for others."""
        return self.keeping.commands.get(name) if isinstance(name, str) else None

    def picture(self, now: Snapshot) -> Picture:
        """The scene of a snapshot."""
        if self._picture is None or self._picture.edition != now.edition:
            self._picture = self._pictured(now)
            self._frames.clear()
        return self._picture

    def frame(self, now: Snapshot, wanted: Wanted) -> bytearray:
        """The frame of a snapshot, made once for all browsers that want the same."""
        number, made = self._frames.get(wanted, (-1, bytearray()))
        if number != now.number:
            made = frame_of(now, self.picture(now), wanted)
            self._frames[wanted] = (now.number, made)
        return made

    def state(self, now: Snapshot) -> dict[str, Any]:
        """What changes seldom."""
        session, editor = self.session, self.session.editor
        worked = None if editor is None else editor.session
        units = {column.name: column.unit for column in now.layout.inputs}
        described = {} if editor is None else editor.mechanism.parameters
        units |= {name: one.unit for name, one in described.items()}
        settings = now.settings
        return {
            "event": "state",
            "name": session.name,
            "live": session.is_live,
            "status": now.status,
            "message": in_words_of_the_page(now.message),
            "formulation": now.formulation,
            "settings": {
                "formulation": settings.formulation,
                "method": settings.method,
                "step": settings.step,
            },
            "formulations": FORMULATIONS,
            "methods": _METHODS if settings.method in _METHODS else (*_METHODS, settings.method),
            "fixed": FIXED,
            "inputs": self._sliders(now.inputs, units),
            "parameters": self._sliders(now.parameters, units),
            "pins": now.pins,
            "preparing": now.preparing,
            "late": now.is_late,
            "active": None if now.active is None else sorted(now.active),
            "markers": session.markers,
            "jogged": now.jogged,
            "limits": now.limits,
            "misfits": now.misfits,
            "adaptive": None if now.adaptivity is None else {"methods": METHODS, "measures": MEASURES},
            "undo": worked is not None and worked.steps_back > 0,
            "redo": worked is not None and worked.steps_ahead > 0,
        }

    def _sliders(self, values: Any, units: Any) -> dict[str, dict[str, Any]]:
        ranges, found = self.session.ranges, {}
        for name, value in values.items():
            low, high = ranges.get(name, (value - 1.0, value + 1.0))
            found[name] = {
                "value": value, "low": min(low, value), "high": max(high, value), "unit": units.get(name, "")
            }  # fmt: skip
        return found

    def origin(self, now: Snapshot) -> Floats:
        """A point (3,), m, near a mechanism whose frames tell what moved alone; it stays where it is."""
        if self._origin is None:
            self._origin = np.mean(now.position if now.model is None else now.model.initial.position, axis=0)
        return self._origin

    def _pictured(self, now: Snapshot) -> Picture:
        editor, scene = self.session.editor, self._scene
        if now.adaptivity is not None:
            nothing = MemoryStore.from_frames(now.layout, np.zeros((1, 1 + now.layout.width)))
            return TreePicture(
                scene, now.edition, Trajectory(now.layout, nothing, "running"), False,
                now.mechanism or scene.mechanism, (), model=now.model, carriers=now.adaptivity.tree.carriers,
            )  # fmt: skip
        if now.mechanism is not None:
            still = np.zeros_like(now.position)
            scene = scene_of(now.mechanism, State(now.time, now.position, now.rotation, still, still))
        described = scene.mechanism if editor is None else editor.mechanism
        contacts = now.touching.contacts if now.model is None else [c.name for c in now.model.contacts]
        run = one_frame(now.layout, now.frame)
        return Picture(scene, now.edition, run, self.session.is_live, described, tuple(contacts))

    async def _talk(self, line: Line) -> None:
        if len(self.browsers) >= _MOST:
            return
        taken = {browser.front.name for browser in self.browsers}
        names = ("page", *(f"page {k}" for k in range(2, len(taken) + 3)))
        browser = Browser(self, line, next(name for name in names if name not in taken))
        self.browsers.append(browser)
        try:
            await browser.talk()
        finally:
            self.browsers.remove(browser)

    def _note(self) -> None:
        """Have browsers shown a new snapshot, once for several that come at a time."""
        if not self._is_noted and self._open:
            self._is_noted = True
            self.soon(self._show)

    def _farewell(self) -> None:
        for browser in tuple(self.browsers):
            browser.say({"event": "closed", "text": "the session has ended"})

    def _show(self) -> None:
        self._is_noted = False
        now = self.session.snapshot
        for browser in tuple(self.browsers):
            browser.show(now)


def _server(host: str, port: int, talk: Any, token: str) -> Server:
    """A server at the port, or at one of the next ports if it is in use."""
    files = bundle.files()
    for number in range(port, port + 20) if port else (0,):
        try:
            return Server(host, number, files, talk, token)
        except OSError as error:
            trouble = error
    raise MechanismError(
        Fault("page", f"it cannot listen at {host}: {trouble}", port, "give another host or port")
    )
