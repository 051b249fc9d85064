"""Lets other processes attach to a session: over a socket of the user's own, or a TCP port with a token."""

from __future__ import annotations

import os
import secrets
import socket
from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread
from typing import Final, Self

from bellcrank.errors import Fault, MechanismError
from bellcrank.viewer.front import Front
from bellcrank.viewer.session import Session
from bellcrank.viewer.sockets import runtime_folder, unix_socket

_MOST: Final = 64  # front ends at once
_STRANGERS: Final = (
    64  # connections at once that have not shown the token; the oldest makes room for a new one
)
_LOCAL: Final = "127.0.0.1"


class Listener:
    """Accepts connections of other processes to a session, until it is closed.

    where: path of a Unix socket, which only its owner may use, by default one in the user's runtime folder;
        or "HOST:PORT", with port 0 for a free one. There a connection must give the token first, since every
        user of a machine and every page in a browser can reach a port.
    token: by default a random one; "" for a Unix socket. address: where it listens.
    Raises MechanismError if it cannot listen.
    """

    def __init__(self, live: Session, where: str | None = None, token: str | None = None) -> None:
        self._live, self._lock, self._open = live, Lock(), True
        self._fronts = set[Front]()
        self._strangers: dict[Front, None] = {}  # in the order in which they came
        end = None if where is None else tcp_of(where)
        self._path: Path | None = None
        try:
            if end is None:
                self.token = ""
                self._path = runtime_folder() / f"view-{os.getpid()}.sock" if where is None else Path(where)
                self._socket = unix_socket(self._path)
                self.address = str(self._path)
            else:
                self.token = token or secrets.token_urlsafe(24)
                family = socket.AF_INET6 if ":" in end[0] else socket.AF_INET
                self._socket = socket.create_server(end, family=family)
                host, port = self._socket.getsockname()[:2]
                self.address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        except OSError as error:
            rule = f"it cannot listen there: {error}"
            raise MechanismError(Fault("listen", rule, where, "give another path or HOST:PORT")) from error
        self._thread = Thread(target=self._accept, name="bellcrank listener", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def fronts(self) -> tuple[str, ...]:
        """Names of the attached front ends."""
        with self._lock:
            return tuple(sorted(front.name for front in self._fronts))

    def close(self) -> None:
        """Accept no more connections, and end the existing ones."""
        self._open = False
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        if self._path is not None:
            self._path.unlink(missing_ok=True)
        self._thread.join(2.0)
        with self._lock:
            fronts = [*self._fronts, *self._strangers]
        for front in fronts:
            front.close()

    def _accept(self) -> None:
        while self._open:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                if self._open:
                    continue
                return
            if self.token:
                self._receive(connection)
                continue
            with self._lock:
                if len(self._fronts) < _MOST:
                    self._fronts.add(self._front(connection))
                    continue
            connection.close()

    def _front(self, connection: socket.socket) -> Front:
        return Front(self._live, connection, self.token, self._named, self._admit, self._forget)

    def _receive(self, connection: socket.socket) -> None:
        """Take up a connection that must show the token first.

        Strangers are not counted with front ends, so they keep nobody out: whoever has the token shows it at
        once, and the oldest of too many goes.
        """
        with self._lock:
            oldest = next(iter(self._strangers)) if len(self._strangers) >= _STRANGERS else None
            self._strangers[self._front(connection)] = None
        if oldest is not None:
            oldest.dismiss()

    def _admit(self, front: Front) -> bool:
        """Count a connection that has shown the token as a front end; False if there are too many."""
        with self._lock:
            if front not in self._fronts:
                if len(self._fronts) >= _MOST:
                    return False
                self._strangers.pop(front, None)
                self._fronts.add(front)
        return True

    def _named(self, wanted: str) -> str:
        """A name that no other front end has."""
        taken = {front.name for front in tuple(self._fronts)} | {"page", "terminal of the page"}
        number = 2
        name = wanted
        while name in taken:
            name, number = f"{wanted} {number}", number + 1
        return name

    def _forget(self, front: Front) -> None:
        with self._lock:
            self._fronts.discard(front)
            self._strangers.pop(front, None)


def tcp_of(where: str) -> tuple[str, int] | None:
    """Host and port of "HOST:PORT", ":PORT" on this machine; None for the path of a Unix socket."""
    host, colon, port = where.rpartition(":")
    if not colon or "/" in where or not port.isdecimal() or int(port) > 65535:
        return None
    host = host.removeprefix("[").removesuffix("]")
    return (_LOCAL if host in ("", "localhost") else host), int(port)
