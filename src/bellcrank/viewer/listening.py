"""Lets other processes attach to a session.

Over a Unix socket in a folder that belongs to this user alone, or over a TCP port with a token.
"""

from __future__ import annotations

import os
import secrets
import socket
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread
from typing import Final, Self

from bellcrank.errors import Fault, MechanismError
from bellcrank.ownership import OTHERS, is_own
from bellcrank.viewer.clients import Client
from bellcrank.viewer.session import Session

_LONGEST: Final = 100  # bytes that the path of a Unix socket may have on all systems


def runtime_folder() -> Path:
    """The folder of the user's sockets, which nobody else may enter; it is created if necessary.

    Raises MechanismError if it cannot be created, or belongs to somebody else.
    """
    if not hasattr(socket, "AF_UNIX"):
        raise MechanismError(
            Fault(
                "listen",
                "this system has no Unix sockets",
                None,
                "listen at HOST:PORT, such as localhost:7070",
            )
        )
    given = os.environ.get("XDG_RUNTIME_DIR", "")
    base = Path(given) if given and Path(given).is_dir() else Path(tempfile.gettempdir())
    folder = base / ("bellcrank" if given and base == Path(given) else f"bellcrank-{os.getuid()}")
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        raise MechanismError(Fault(f"folder '{folder}'", f"it cannot be made: {error}")) from error
    if not stat.S_ISDIR(found.st_mode) or not is_own(found, OTHERS):
        rule = "others may enter it, or it is no folder of yours"
        raise MechanismError(
            Fault(f"folder '{folder}'", rule, None, "remove it, or give the path of a socket")
        )
    return folder


def unix_socket(path: Path) -> socket.socket:
    """A Unix socket that listens at a path, for its owner alone. Raises OSError, MechanismError."""
    if not hasattr(socket, "AF_UNIX"):
        raise OSError("this system has no Unix sockets")
    if len(os.fsencode(path)) > _LONGEST:
        advice = "give a shorter one; XDG_RUNTIME_DIR names the folder of those that are not given"
        raise MechanismError(Fault("listen", f"the path has more than {_LONGEST} bytes", str(path), advice))
    if path.exists() and stat.S_ISSOCK(path.lstat().st_mode) and not _answers(path):
        path.unlink()  # of a process that is gone
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)  # so that it never exists with other rights than these
    try:
        listening.bind(str(path))
    except OSError:
        listening.close()
        raise
    finally:
        os.umask(before)
    listening.listen()
    return listening


def _answers(path: Path) -> bool:
    """Whether somebody listens at a path."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as trial:
        trial.settimeout(1.0)
        try:
            trial.connect(str(path))
        except OSError:
            return False
    return True


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
        self._clients = set[Client]()
        self._strangers: dict[Client, None] = {}  # in the order in which they came
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
    def clients(self) -> tuple[str, ...]:
        """Names of the attached front ends."""
        with self._lock:
            return tuple(sorted(client.name for client in self._clients))

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
            clients = [*self._clients, *self._strangers]
        for client in clients:
            client.close()

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
                if len(self._clients) < _MOST:
                    self._clients.add(self._front(connection))
                    continue
            connection.close()

    def _front(self, connection: socket.socket) -> Client:
        return Client(self._live, connection, self.token, self._named, self._admit, self._forget)

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

    def _admit(self, client: Client) -> bool:
        """Count a connection that has shown the token as a front end; False if there are too many."""
        with self._lock:
            if client not in self._clients:
                if len(self._clients) >= _MOST:
                    return False
                self._strangers.pop(client, None)
                self._clients.add(client)
        return True

    def _named(self, wanted: str) -> str:
        """A name that no other front end has."""
        taken = {client.name for client in tuple(self._clients)} | {"page", "terminal of the page"}
        number = 2
        name = wanted
        while name in taken:
            name, number = f"{wanted} {number}", number + 1
        return name

    def _forget(self, client: Client) -> None:
        with self._lock:
            self._clients.discard(client)
            self._strangers.pop(client, None)


def tcp_of(where: str) -> tuple[str, int] | None:
    """Host and port of "HOST:PORT", ":PORT" on this machine; None for the path of a Unix socket."""
    host, colon, port = where.rpartition(":")
    if not colon or "/" in where or not port.isdecimal() or int(port) > 65535:
        return None
    host = host.removeprefix("[").removesuffix("]")
    return (_LOCAL if host in ("", "localhost") else host), int(port)
