"""Attaches this process to a session of another one, for `bellcrank attach`."""

from __future__ import annotations

import json
import socket
import sys
from contextlib import suppress
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import Any, BinaryIO, Final, Self

from bellcrank.errors import Fault, MechanismError
from bellcrank.shell import drivers
from bellcrank.shell.language import Reply
from bellcrank.viewer.listening import runtime_folder, tcp_of

_PATIENCE: Final = 10.0  # s for a connection and its first answer
_COMPLETING: Final = 1.0  # s for words that complete a line
_REFUSED: Final = 2  # exit status


class Remote:
    """A session of another process, in which command lines are done.

    where: as `Listener.address`; None for the one session of this user that listens. name: by which others
    see who it is. shows: writes what others do to standard output, as comments.
    Raises MechanismError where there is no session, or it refuses the token.
    """

    def __init__(
        self, where: str | None, token: str = "", name: str = "terminal", shows: bool = True
    ) -> None:
        self.address, self._socket = _connected(where)
        self._stream = self._socket.makefile("rb")
        self._answers, self._shows = Queue[dict[str, Any] | None](), shows
        self._late = 0  # answers that nobody waits for any more
        self._thread = Thread(target=self._read, name="bellcrank remote", daemon=True)
        self._thread.start()
        try:
            self._socket.settimeout(None)
            self._send(json.dumps({"attach": name, "token": token}))
            first = self._answers.get(timeout=_PATIENCE)
        except (OSError, Empty) as error:
            self.close()
            raise _gone(self.address) from error
        if first is None or not first["ok"]:
            self.close()
        if first is None:
            raise _gone(self.address)
        if not first["ok"]:
            raise MechanismError(Fault(f"session at {self.address}", first["text"]))
        self.session, self.name = first["result"]["session"], first["result"]["name"]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave the session, which goes on."""
        with suppress(OSError):  # where the other side was first
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(2.0)
        self._stream.close()

    def execute(self, line: str) -> Reply:
        """Execute a command line. Ctrl-C ends what it runs."""
        if not line.strip():
            return Reply()
        try:
            self._send(line)
            try:
                found = self._answer()
            except KeyboardInterrupt:
                self._send('{"do": "pause"}')
                found = self._answer()
                self._late += 1  # that of the pause
        except OSError:
            found = None
        if found is None:
            return Reply("the session has ended", ok=False, leave=True)
        data = found.get("result", found.get("error", {}))
        return Reply(
            found["text"],
            data,
            found["ok"],
            leave=found["ok"] and line.split(maxsplit=1)[0] in ("quit", "exit"),
        )

    def complete(self, begun: str) -> list[str]:
        """The words that may complete the last word of a line."""
        try:
            self._send(json.dumps({"complete": begun}))
            found = self._answer(_COMPLETING)
        except OSError:
            return []
        except Empty:
            self._late += 1
            return []
        return list(found["result"]["words"]) if found is not None and found["ok"] else []

    def _answer(self, timeout: float | None = None) -> dict[str, Any] | None:
        """The answer to the last line, None once the session has ended. Raises Empty after a timeout, s."""
        while self._late and self._answers.get(timeout=timeout) is not None:
            self._late -= 1
        return self._answers.get(timeout=timeout) if not self._late else None

    def _send(self, line: str) -> None:
        self._socket.sendall(f"{line}\n".encode())

    def _read(self) -> None:
        try:
            for line in self._stream:
                message = json.loads(line)
                if "event" not in message:
                    self._answers.put(message)
                elif self._shows:
                    _show(message)
        except (OSError, ValueError):
            pass
        self._answers.put(None)


def terminal(where: str | None, token: str, name: str) -> int:
    """Command lines typed at a terminal; the exit status."""
    with Remote(where, token, name) as remote:
        sys.stdout.write(f"attached to {remote.session!r} at {remote.address} as {remote.name!r}\n")
        return drivers.interactive(remote)


def pipe(where: str | None, token: str, name: str, stream: BinaryIO) -> int:
    """Command lines that are piped in, answered in words; the exit status."""
    with Remote(where, token, name) as remote:
        lines = drivers.received(stream)
        return drivers.answer(remote, lines, "<stdin>", as_json=False, keep_going=True)


def relay(where: str | None, token: str, name: str, stream: BinaryIO, poses: bool) -> int:
    """Pass on lines of a program, and what the session answers, as they are; the exit status.

    Once the program has closed its side, the answers to what it wrote are waited for.
    """
    address, connection = _connected(where)
    connection.settimeout(None)
    with connection, connection.makefile("rb") as answers:
        connection.sendall(json.dumps({"attach": name, "token": token, "poses": poses}).encode() + b"\n")
        first, status = answers.readline(), 0
        while first and "event" in json.loads(first):
            first = answers.readline()
        if not first:
            raise _gone(address)
        if not json.loads(first)["ok"]:
            raise MechanismError(Fault(f"session at {address}", json.loads(first)["text"]))
        Thread(target=_pass_on, args=(stream, connection), name="bellcrank relay", daemon=True).start()
        for line in answers:
            sys.stdout.write(line.decode("utf-8"))
            sys.stdout.flush()
            if line.startswith(b'{"ok": false'):
                status = _REFUSED
    return status


def _pass_on(stream: BinaryIO, connection: socket.socket) -> None:
    """Send what comes, and that it has ended."""
    try:
        while data := stream.readline(65_536):
            connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # the session has ended


def _show(message: dict[str, Any]) -> None:
    """Write what others did as a comment."""
    if message["event"] == "command":
        text = f"{message['by'] or 'another'}: {message['command']}{'' if message['ok'] else '   ; refused'}"
    elif message["event"] == "closed":
        text = message["text"]
    else:
        return
    sys.stdout.write(f"; {text}\n")
    sys.stdout.flush()


def _connected(where: str | None) -> tuple[str, socket.socket]:
    """The address of a session, and a connection to it. Raises MechanismError where there is none."""
    if where is None:
        return _only_one()
    try:
        return where, _connection(where)
    except OSError as error:
        advice = "start one by `bellcrank view --listen`"
        raise MechanismError(Fault("attach", f"no session answers there: {error}", where, advice)) from error


def _only_one() -> tuple[str, socket.socket]:
    """The one session of this user that listens."""
    found = list[tuple[str, socket.socket]]()
    for path in sorted(Path(runtime_folder()).glob("*.sock")):
        try:
            found.append((str(path), _connection(str(path))))
        except OSError:
            path.unlink(missing_ok=True)  # of a process that is gone
    if len(found) == 1:
        return found[0]
    for _, connection in found:
        connection.close()
    if found:
        listed = ", ".join(address for address, _ in found)
        raise MechanismError(Fault("attach", "several sessions listen", None, f"give one of {listed}"))
    raise MechanismError(
        Fault("attach", "no session listens", None, "start one by `bellcrank view --listen`")
    )


def _connection(where: str) -> socket.socket:
    end = tcp_of(where)
    if end is not None:
        return socket.create_connection(end, _PATIENCE)
    if not hasattr(socket, "AF_UNIX"):
        raise OSError("this system has no Unix sockets")
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(_PATIENCE)
    try:
        connection.connect(where)
    except OSError:
        connection.close()
        raise
    return connection


def _gone(address: str) -> MechanismError:
    return MechanismError(
        Fault(f"session at {address}", "it ends the connection", None, "see whether it still runs")
    )
