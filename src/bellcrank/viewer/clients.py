"""Client ends of a live session: programs and terminals that send lines and read events at their own pace.

Each executes lines in the one shell of the session, and sees what the others do.

Each line is a command of the command language, or a JSON object:
{"attach": NAME, "poses": true, "token": TEXT} introduces the front end, {"do": COMMAND, ...} is a command of
a session with its arguments, {"complete": TEXT} returns the words that may complete a line.
Each is answered by one line of JSON, in the
order of the lines. Lines with the key "event" come between them.
"""

from __future__ import annotations

import hmac
import json
import socket
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from threading import Condition, Event, Lock, Semaphore, Thread, Timer
from typing import Any, BinaryIO, Final, Self

from bellcrank.errors import BellcrankError, Fault, MechanismError
from bellcrank.shell import drivers
from bellcrank.shell.drivers import received
from bellcrank.shell.language import Reply, failure
from bellcrank.viewer.front import Front, reply_of
from bellcrank.viewer.session import Session
from bellcrank.viewer.snapshot import Entry, Snapshot

_MOST: Final = 20_000  # entries that wait for a front end to read them


class Subscription:
    """Command lines of others, each once and in order, from when it is opened until it is closed.

    name: of the front end; its own lines are left out. Nothing here waits for the reader: beyond 20,000
    entries the later ones are counted only.
    """

    def __init__(self, live: Session, name: str) -> None:
        self._live, self._name = live, name
        self._lock, self._waiting, self._lost = Lock(), deque[Entry](), 0
        if live.editor is not None:
            live.editor.followers.append(self._keep)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop collecting."""
        if self._live.editor is not None and self._keep in self._live.editor.followers:
            self._live.editor.followers.remove(self._keep)

    def _keep(self, entries: Sequence[Entry]) -> None:
        with self._lock:
            for one in entries:
                if one.by == self._name:
                    continue
                if len(self._waiting) < _MOST:
                    self._waiting.append(one)
                else:
                    self._lost += 1

    def take(self) -> tuple[list[Entry], int]:
        """What has happened since the last call, and how many later entries were not kept."""
        with self._lock:
            found, lost = list(self._waiting), self._lost
            self._waiting.clear()
            self._lost = 0
        return found, lost


def command_of(entry: Entry) -> str:
    """A command line of another front end, as a line of JSON."""
    fields = {"by": entry.by, "command": entry.line, "ok": entry.ok, "text": entry.text}
    return json.dumps({"event": "command", **fields})


def poses_of(now: Snapshot) -> dict[str, Any]:
    """Poses of the bodies: position x y z, m, and rotation w x y z of each, by name."""
    rows = zip(now.bodies, now.position.tolist(), now.rotation.tolist(), strict=True)
    bodies = {name: [*position, *rotation] for name, position, rotation in rows}
    return {"event": "poses", "time": now.time, "status": now.status, "bodies": bodies}


_RATE: Final = 30.0  # poses a second, at most


class Attached:
    """Executes command lines in a live session as a shell does. name: shown to others as the author.

    Raises MechanismError for a session that plays a recorded run.
    """

    def __init__(self, live: Session, name: str) -> None:
        if live.editor is None:
            raise MechanismError(Fault("session", "it plays a recorded run, in which nothing can be changed"))
        self.live, self.name, self._editor = live, name, live.editor

    def complete(self, begun: str) -> list[str]:
        """The words that may complete the last word of a line."""
        return self._editor.shell.complete(begun)

    def execute(self, line: str) -> Reply:
        """Execute a command line. Ctrl-C ends what it runs."""
        answer = self.live.send("execute", line=line, by=self.name)
        try:
            return self._reply(answer)
        except KeyboardInterrupt:
            self.live.send("pause")
            return self._reply(answer)

    @staticmethod
    def _reply(answer: Any) -> Reply:
        try:
            reply: Reply = answer.result()
        except BellcrankError as error:
            return failure(error)
        return reply


class Telling:
    """Writes what others do in a session to standard output, until it is closed; as lines of JSON or as text.

    poses: whether to write the poses of the bodies, at most thirty times a second, while they move.
    """

    def __init__(self, attached: Attached, as_json: bool, poses: bool = False) -> None:
        self._attached, self._as_json, self._poses = attached, as_json, poses
        self._number = attached.live.snapshot.number
        self._subscription = Subscription(attached.live, attached.name)
        self._ends = Event()
        self._thread = Thread(target=self._work, name="bellcrank events", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        self._thread.join(2.0)
        self._subscription.close()

    def _work(self) -> None:
        while not self._ends.is_set():
            begun = time.perf_counter()
            now = self._attached.live.newer(self._number, 0.1)
            if now.number == self._number:
                continue
            self._number = now.number
            for line in self._entries():
                sys.stdout.write(f"{line}\n")
            if self._poses:
                sys.stdout.write(f"{json.dumps(poses_of(now))}\n")
            sys.stdout.flush()
            self._ends.wait(max(0.0, 1.0 / _RATE - (time.perf_counter() - begun)))

    def _entries(self) -> list[str]:
        """What others did since the last call."""
        others, lost = self._subscription.take()
        if self._as_json:
            more = [json.dumps({"event": "lost", "count": lost})] if lost else []
            return [*(command_of(one) for one in others), *more]
        more = [f"; and {lost} more lines of others"] if lost else []
        return [
            *(f"; {one.by or 'another'}: {one.line}{'' if one.ok else '   ; refused'}" for one in others),
            *more,
        ]


def terminal(live: Session) -> int:
    """Execute command lines typed at a terminal; return the exit status."""
    attached = Attached(live, "terminal")
    with Telling(attached, as_json=False):
        return drivers.interactive(attached)


def pipe(live: Session, stream: BinaryIO, as_json: bool, poses: bool = False) -> int:
    """Execute what another program writes, until it closes the stream; return the exit status."""
    attached = Attached(live, "pipe")
    with Telling(attached, as_json, poses):
        return drivers.answer(attached, drivers.received(stream), "<stdin>", as_json, keep_going=True)


_PERIOD: Final = 1.0 / 30.0  # s between poses, at least
_UNREAD: Final = 100  # answers that wait to be read before no more lines are read
_PATIENCE: Final = 10.0  # s until a connection that needs a token must have given it
_LONGEST: Final = 60  # characters of a name


class Client:
    """Serves one connection in two threads until either side ends it.

    token: that it must give first, "" for none. named: makes a unique name from the one that it gives.
    admitted: called with this front end when it has given the token; whether there is room for it.
    ended: called once with this front end when it is over.

    The session never waits for it. Poses are those at the time of writing, so a slow reader gets fewer.
    Events are kept until they are read; a front end that leaves too many unread is disconnected.
    """

    def __init__(
        self, live: Session, connection: socket.socket, token: str, named: Callable[[str], str],
        admitted: Callable[[Client], bool], ended: Callable[[Client], None],
    ) -> None:  # fmt: skip
        self._live, self._socket, self._token = live, connection, token
        self._named, self._admit, self._ended = named, admitted, ended
        self._front, self._admitted = Front(live, named("program")), not token
        self._poses, self._number, self._status, self._next = False, -1, "", 0.0
        self._changed = Condition()
        self._pending = deque[tuple[Future[Any], str | None]]()
        self._answers, self._last = deque[tuple[Future[Any], str | None]](), ""
        self._room = Semaphore(_UNREAD)
        self._reads, self._open = True, True
        self._subscription = Subscription(live, self.name)
        self._timer = Timer(_PATIENCE, self.dismiss)
        self._timer.daemon = True
        self._timer.start()
        self._threads = [
            Thread(target=work, name=f"bellcrank {work.__name__}", daemon=True)
            for work in (self._read, self._write)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def name(self) -> str:
        """Its name, which no other front end has."""
        return self._front.name

    def close(self, reason: str = "the session has ended") -> None:
        """Disconnect it: pending output is written if it reads within a second."""
        with self._changed:
            self._last = self._last or reason
            self._reads = False
            self._pending.clear()
            self._changed.notify_all()
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RD)
        self._threads[1].join(1.0)
        self._end()

    def dismiss(self) -> None:
        """Disconnect it at once if it has not given the token."""
        if not self._admitted:
            self._end()

    def _end(self) -> None:
        """Close the connection and release what it dragged."""
        with self._changed:
            was, self._open, self._reads = self._open, False, False
            self._changed.notify_all()
        if not was:
            return
        self._timer.cancel()
        self._subscription.close()
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._room.release(_UNREAD)  # whoever reads may be waiting for it
        self._front.leave()
        self._ended(self)

    def _read(self) -> None:
        """Take lines until there are no more."""
        with suppress(OSError, ValueError), self._socket.makefile("rb") as stream:
            for line in received(stream):
                if not self._reads or not self._take(line):
                    break
        with self._changed:
            self._reads = False
            self._changed.notify_all()

    def _take(self, line: str | Reply) -> bool:
        """Take a line, or the refusal of one that cannot be read; whether more are to be read."""
        text = "" if isinstance(line, Reply) else line.rstrip("\r\n")
        if not isinstance(line, Reply) and not text.strip():
            return True
        self._room.acquire()
        if not self._reads:
            return False
        if isinstance(line, Reply):
            return self._put(_done(line), None) and self._admitted
        try:
            if text.lstrip().startswith("{"):
                return self._request(text)
            self._refuse_stranger()
            self._put(self._front.execute(text), text)
        except (BellcrankError, TypeError, RecursionError) as error:
            self._put(_done(failure(error)), text)
            return self._admitted
        return True

    def _request(self, text: str) -> bool:
        """Execute the request in a JSON object. Raises MechanismError for one without a request."""
        given = _object(text)
        if "attach" in given:
            self._attach(given)
            names = {"session": self._live.name, "name": self.name}
            return self._put(_done(Reply(data=names)), text)
        self._refuse_stranger()
        if "complete" in given:
            words = self._front.words(str(given["complete"]))
            return self._put(_done(Reply(data={"words": words})), text)
        if "do" not in given:
            rule, advice = "it has none of the keys do, attach, complete", 'such as {"do": "play"}'
            raise MechanismError(Fault("request", rule, sorted(given)[:5], advice))
        return self._put(self._front.ask(given.pop("do"), given), text)

    def _attach(self, given: Mapping[str, Any]) -> None:
        """Register the front end. Raises MechanismError for a wrong token or an invalid name."""
        name, token = given["attach"], given.get("token", "")
        if self._token and not (
            isinstance(token, str) and hmac.compare_digest(token.encode(), self._token.encode())
        ):
            raise MechanismError(Fault("attach", "this session asks for its token", None, "give --token"))
        if not isinstance(name, str) or not 0 < len(name) <= _LONGEST or not name.isprintable():
            raise MechanismError(
                Fault("attach", f"a name has 1 to {_LONGEST} characters that can be printed", name)
            )
        if self._token and not self._admit(self):
            raise MechanismError(Fault("attach", "too many front ends are attached", None, "detach another"))
        former = self._subscription
        self._admitted, self._front.name = True, self._named(name)
        self._subscription, self._poses = Subscription(self._live, self.name), given.get("poses") is True
        former.close()

    def _refuse_stranger(self) -> None:
        if not self._admitted:
            raise MechanismError(
                Fault("attach", "this session asks for its token first", None, "give --token")
            )

    def _put(self, answer: Future[Any], line: str | None) -> bool:
        """Queue the answer to a line."""
        with self._changed:
            self._pending.append((answer, line))
        answer.add_done_callback(self._settle)
        return True

    def _settle(self, _answer: Future[Any]) -> None:
        """Pass on the available answers, in the order of the lines."""
        with self._changed:
            while self._pending and self._pending[0][0].done():
                self._answers.append(self._pending.popleft())
            self._changed.notify_all()

    def _write(self) -> None:
        """Write what there is, until there is no more to come."""
        with suppress(OSError, ValueError):
            while self._open:
                with self._changed:
                    self._changed.wait_for(lambda: self._answers or not self._reads, _PERIOD)
                    answers = list(self._answers)
                    self._answers.clear()
                    over = not self._reads and not self._pending
                lines = [*self._events(), *self._places()]
                for answer, line in answers:
                    reply = reply_of(answer)
                    lines.append(reply.as_json(line))
                    over = over or reply.leave
                if over and self._last:
                    lines.append(json.dumps({"event": "closed", "text": self._last}))
                if lines:
                    self._socket.sendall("".join(f"{line}\n" for line in lines).encode())
                for _ in answers:
                    self._room.release()
                if over:
                    break
        self._end()

    def _events(self) -> list[str]:
        """What others did, and whether the session plays, stands or has failed."""
        if not self._admitted:
            return []
        others, lost = self._subscription.take()
        lines = [command_of(one) for one in others]
        now = self._live.snapshot
        if now.status != self._status:
            self._status = now.status
            fields = {"status": now.status, "time": now.time, "message": now.message}
            lines.append(json.dumps({"event": "status", **fields}))
        if lost:
            self._last, self._reads = f"{lost} events were left unread", False
        return lines

    def _places(self) -> list[str]:
        """Current poses of the bodies, unless they were written less than a period ago."""
        now, due = self._live.snapshot, time.monotonic()
        if not self._poses or now.number == self._number or due < self._next:
            return []
        self._number, self._next = now.number, due + _PERIOD
        return [json.dumps(poses_of(now))]


def _object(text: str) -> dict[str, Any]:
    """A JSON object. Raises MechanismError for anything else."""
    try:
        given = json.loads(text)
    except ValueError as error:
        raise MechanismError(Fault("request", f"it is no JSON: {error}")) from None
    if not isinstance(given, dict):
        raise MechanismError(Fault("request", "it is no JSON object"))
    return given


def _done(reply: Reply) -> Future[Any]:
    answer: Future[Any] = Future()
    answer.set_result(reply)
    return answer
