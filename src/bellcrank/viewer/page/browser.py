"""One browser that shows a page: what it has been sent, and what it asks for."""

from __future__ import annotations

import asyncio
import json
import struct
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bellcrank.errors import BellcrankError, Fault, MechanismError
from bellcrank.shell.language import Reply, failure, plain
from bellcrank.trajectory.beam_values import QUANTITIES
from bellcrank.viewer.front import Front, reply_of
from bellcrank.viewer.page.frames import MOVED, Wanted
from bellcrank.viewer.page.line import Line
from bellcrank.viewer.page.signals import Sent, signals_of
from bellcrank.viewer.page.tree_frames import tree_frame_of
from bellcrank.viewer.page.words import in_words_of_the_page
from bellcrank.viewer.snapshot import Snapshot

if TYPE_CHECKING:
    from bellcrank.viewer.page.page import Page

_NUMBERS: Final = 0.2  # s between signals, inspections, and states, at least
_LATER: Final = 0.05  # s after which a browser that was behind is shown the present
_MOST: Final = 64  # signals that one browser plots
_FLAGS: Final = tuple(field.name for field in fields(Wanted) if field.type == "bool")


class Browser:
    """Serves one browser in the loop of the page's server.

    The session never waits for it. Frames show the present, so that a slow reader gets fewer of them.
    """

    def __init__(self, page: Page, line: Line, name: str) -> None:
        self._page, self._line, self.front = page, line, Front(page.session, name)
        self._wanted, self._watched = Wanted(), dict[str, Any]()
        self._edition = self._number = self._logged = self._mark = -1
        self._state: dict[str, Any] = {}
        self._sent: Sent | None = None
        self._shown: dict[str, Any] = {}  # last answers to what is watched, by event
        self._asking: set[str] = set()  # what is on its way from the session
        self._pending: asyncio.TimerHandle | None = None
        self._last = -1.0

    async def talk(self) -> None:
        """Serve it until it goes."""
        self.show(self._page.session.snapshot)
        try:
            async for text in self._line.texts():
                self._take(text)
        finally:
            if self._pending is not None:
                self._pending.cancel()
            self.front.leave()

    def show(self, now: Snapshot) -> None:
        """Send what is new."""
        if not self._line.is_open:
            return
        if self._line.is_lazy:
            self._page.later(_LATER, self._show_present)
            return
        if now.edition != self._edition:
            self._edition, self._sent, self._shown, self._mark = now.edition, None, {}, -1
            self._line.send(self._page.picture(now).message)
        if now.number != self._number:
            self._number = now.number
            frame = self._frame(now)
            struct.pack_into("<I", frame, MOVED, now.marks.get(self.front.name, 0) & 0xFFFFFFFF)
            self._line.send(frame)
            self._schedule()

    def _frame(self, now: Snapshot) -> bytearray:
        if now.adaptivity is None:
            return bytearray(self._page.frame(now, self._wanted))
        frame, self._mark = tree_frame_of(now, self._page.origin(now), self._mark)
        return frame

    def say(self, event: Mapping[str, Any]) -> None:
        """Send an event."""
        self._line.send(json.dumps(plain(event), ensure_ascii=False, allow_nan=False))

    def _show_present(self) -> None:
        self.show(self._page.session.snapshot)

    def _schedule(self) -> None:
        """Send numbers now, or a while after the last ones."""
        if self._pending is None:
            due = max(0.0, self._last + _NUMBERS - self._page.loop.time())
            self._pending = self._page.loop.call_later(due, self._numbers)

    def _numbers(self) -> None:
        """Send what people read: the state, the log, signals, inspections."""
        self._pending, self._last = None, self._page.loop.time()
        now = self._page.session.snapshot
        state = self._page.state(now)
        if state != self._state:
            self._state = state
            self.say(state)
        if entries := [one for one in now.log if one.number > self._logged]:
            self._logged = entries[-1].number
            self.say({"event": "log", "entries": [self._entry(one) for one in entries]})
        self._ask_signals()
        for event in ("inspect", "loads"):
            if self._watched.get(event):
                self._ask(event, self._watched[event])

    def _entry(self, one: Any) -> dict[str, Any]:
        own = one.by == self.front.name
        return {"number": one.number, "by": one.by, "own": own, "line": one.line, "ok": one.ok,
                "text": in_words_of_the_page(one.text), "time": one.time, "moment": one.moment}  # fmt: skip

    def _take(self, text: str) -> None:
        """Take a message."""
        given: Any = None
        try:
            given = json.loads(text)
            if not isinstance(given, dict):
                raise MechanismError(Fault("message", "it is no JSON object"))
            self._do(dict(given))
        except (BellcrankError, ValueError, TypeError, RecursionError) as error:
            self._answer(given.get("id") if isinstance(given, dict) else None, failure(error))

    def _do(self, given: dict[str, Any]) -> None:
        if "watch" in given:
            self._watch(given["watch"])
            return
        number = given.pop("id", None)
        if "complete" in given:
            words = self.front.words(str(given["complete"]))
            self._answer(number, Reply(data={"words": words}))
            return
        command, mark = given.pop("do", None), given.pop("seq", None)
        if command == "move" and isinstance(mark, int):
            given["mark"] = (self.front.name, mark)
        elif "mark" in given:
            raise MechanismError(Fault("request", "this cannot be asked from here", "mark"))
        if command == "execute":
            answer = self.front.execute(given.get("line", ""))
        elif (own := self._page.own_command(command)) is not None:
            answer = own(self, **given)
        else:
            answer = self.front.ask(command, given)
        answer.add_done_callback(lambda done: self._page.soon(self._settle, number, done))

    def _settle(self, number: Any, answer: Future[Any]) -> None:
        self._answer(number, reply_of(answer))

    def _answer(self, number: Any, reply: Reply) -> None:
        if number is None or not isinstance(number, (int, float)):
            return
        kind = "result" if reply.ok else "error"
        text = in_words_of_the_page(reply.text)
        self.say({"id": number, "ok": reply.ok, "text": text, kind: dict(reply.data)})

    def _watch(self, given: Any) -> None:
        if not isinstance(given, dict):
            raise MechanismError(Fault("watch", "it is no JSON object", given))
        names = given.get("signals", [])
        if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
            raise MechanismError(Fault("watch", "signals are a list of names", names))
        seconds: Any = given.get("seconds")
        known = isinstance(seconds, (int, float)) and not isinstance(seconds, bool) and seconds > 0.0
        shown = given.get("beams")
        flags = {name: given.get(name) is True for name in _FLAGS}
        wanted = Wanted(**flags, beams=shown if isinstance(shown, str) and shown in QUANTITIES else "")
        watched = {
            "signals": names[:_MOST], "seconds": float(seconds) if known else np.inf,
            **{name: given[name] for name in ("inspect", "loads") if isinstance(given.get(name), str)},
        }  # fmt: skip
        for event in ("inspect", "loads"):
            if watched.get(event) != self._watched.get(event):
                self._shown.pop(event, None)
        if watched["seconds"] != self._watched.get("seconds"):
            self._sent = None
        self._watched = watched
        if wanted != self._wanted:
            self._wanted, self._number = wanted, -1
            self.show(self._page.session.snapshot)
        self._last = -1.0
        self._schedule()

    def _ask_signals(self) -> None:
        names, seconds = self._watched.get("signals"), self._watched.get("seconds", np.inf)
        if not names or "signals" in self._asking:
            return
        before = self._sent
        answer = self._page.session.look(lambda engine: signals_of(engine, names, seconds, before))
        self._asking.add("signals")
        answer.add_done_callback(lambda done: self._page.soon(self._have_signals, done))

    def _have_signals(self, done: Future[Any]) -> None:
        self._asking.discard("signals")
        if done.exception() is None and done.result() is not None:
            sent, message = done.result()
            if list(sent.names) == self._watched.get("signals"):
                self._sent = sent
                self._line.send(message)
            else:
                self._schedule()

    def _ask(self, event: str, name: str) -> None:
        if event in self._asking:
            return
        self._asking.add(event)
        answer = self._page.session.send(event, name=name)
        answer.add_done_callback(lambda done: self._page.soon(self._have, event, name, done))

    def _have(self, event: str, name: str, done: Future[Any]) -> None:
        self._asking.discard(event)
        if self._watched.get(event) != name:
            self._schedule()
            return
        made = inspected_event if event == "inspect" else loads_event
        found = made(name, done)
        if found != self._shown.get(event):
            self._shown[event] = found
            self.say(found)


def inspected_event(name: str, done: Future[Any]) -> dict[str, Any]:
    """Numbers of an element as an event."""
    if (error := done.exception()) is not None:
        return {"event": "inspected", "name": name, "kind": "", "rows": [["", str(error), ""]]}
    found, rows = dict(done.result()), []
    for key, value in found.items():
        if key in ("name", "kind", "time [s]"):
            continue
        label, _, unit = key.partition(" [")
        rows.append([label, value, unit.removesuffix("]")])
    return {"event": "inspected", "name": name, "kind": found.get("kind", ""), "rows": rows}


def loads_event(name: str, done: Future[Any]) -> dict[str, Any]:
    """Section loads of a body as an event."""
    if (error := done.exception()) is not None:
        empty: dict[str, Any] = {"start": [0, 0, 0], "end": [0, 0, 0], "place": [], "force": [], "moment": []}
        return {"event": "loads", "body": name, **empty, "remark": str(error)}
    return {"event": "loads", "body": name, **done.result()}
