"""The server of a page, on viser.

viser listens at a port of this machine and asks nobody who they are, so that any page in any browser of the
machine could steer it. Here it listens at a Unix socket that only its owner can open, or nowhere.
"""

from __future__ import annotations

import contextlib
import io
import logging
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, SimpleNamespace
from typing import Any, Final

from bellcrank.errors import Unsupported
from bellcrank.viewer.listening import free_path, unix_socket

_NOWHERE: Final = "/nowhere"  # the host of a server that does not listen; no machine has this name
_CALLED: Final = frozenset(("websockets", "asyncio", "server", "serve"))
_WORKER: Final = "_background_worker"  # of viser's server: what its thread does
_STARTING: Final = threading.Lock()  # one server at a time starts


def check_viser() -> Any:
    """The viser package. Raises Unsupported if it is missing, too old, or not as it is relied on here."""
    try:
        import viser
    except ImportError as error:
        raise Unsupported(
            "the page needs viser, which is not installed: pip install 'bellcrank[viewer]'"
        ) from error
    if not hasattr(viser.SceneApi, "add_batched_meshes_simple") or not hasattr(viser.MeshHandle, "on_drag"):
        raise Unsupported(f"the page needs viser 1.1 or newer, and this is {viser.__version__}: update it")
    worker = getattr(viser.infra.WebsockServer, _WORKER, None)
    if not _names(getattr(worker, "__code__", None)) >= _CALLED:
        raise _misfit(viser)
    return viser


def page_path() -> Path:
    """A path for the socket of a page's server.

    Raises Unsupported on systems without Unix sockets, MechanismError if there is no folder for it.
    """
    if not hasattr(socket, "AF_UNIX"):
        raise Unsupported(
            "the page needs Unix sockets, which this system does not have: at a port, any page in a browser "
            "could steer it; `draw`, `animate` and `bellcrank.viewer.page.keeping.recording` need none"
        )
    return free_path("page")


def quiet_server(path: Path | None = None) -> Any:
    """A viser server that opens no port, prints nothing and cannot be shared.

    path: of the Unix socket at which it listens, for its owner alone; by default it listens nowhere, and what
    is put into it can only be recorded. The socket goes with the server.
    Raises Unsupported as `check_viser` does, MechanismError or OSError if it cannot listen.
    """
    viser = check_viser()
    lines = logging.getLogger("websockets")
    if not lines.handlers:  # otherwise garbage on a connection is reported on the terminal, with a traceback
        lines.addHandler(logging.NullHandler())
    host = _NOWHERE if path is None else str(path)
    listening = None if path is None else unix_socket(path)
    with contextlib.redirect_stdout(io.StringIO()), _without_port(host, listening) as started, _ending(viser):
        server = viser.ViserServer(host=host, port=0, verbose=False)
    if not started:
        stop_quietly(server)
        raise _misfit(viser)
    server.request_share_url = _unshared  # any browser could request it
    return server


def stop_quietly(server: Any) -> None:
    """Stop a server without any output."""
    with contextlib.redirect_stdout(io.StringIO()):
        server.stop()


class _Inside:
    """What viser takes for a WebSocket server at a port: one at a socket that listens already, or at none."""

    def __init__(self, handler: Any, listening: socket.socket | None, options: dict[str, Any]) -> None:
        from websockets.asyncio.server import unix_serve

        self._path = None if listening is None else Path(listening.getsockname())
        self._serving: Any = None if listening is None else unix_serve(handler, sock=listening, **options)
        self.server = SimpleNamespace(sockets=())  # so viser looks for no port

    async def __aenter__(self) -> _Inside:
        if self._serving is not None:
            await self._serving.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        if self._path is not None:
            self._path.unlink(missing_ok=True)
            await self._serving.__aexit__(*error)


@contextlib.contextmanager
def _without_port(host: str, listening: socket.socket | None) -> Iterator[list[_Inside]]:
    """Meanwhile, a server that viser starts at this host is at a socket, and in the list once started."""
    from websockets.asyncio import server as sockets

    usual, started = sockets.serve, list[_Inside]()

    def serve(handler: Any, *where: Any, **options: Any) -> Any:
        if host not in (*where, options.get("host")):  # of another thread
            return usual(handler, *where, **options)
        inside = {name: value for name, value in options.items() if name not in ("host", "port")}
        started.append(_Inside(handler, listening, inside))
        return started[-1]

    with _STARTING:
        sockets.serve = serve  # type: ignore[assignment, misc]
        try:
            yield started
        finally:
            sockets.serve = usual  # type: ignore[misc]
            if listening is not None and not started:
                Path(listening.getsockname()).unlink(missing_ok=True)
                listening.close()


@contextlib.contextmanager
def _ending(viser: Any) -> Iterator[None]:
    """Meanwhile, a viser whose thread fails at its start raises Unsupported; otherwise it waits forever."""
    kind, faults = viser.infra.WebsockServer, list[BaseException]()
    usual = getattr(kind, _WORKER)

    def work(self: Any, ready: threading.Semaphore) -> None:
        try:
            usual(self, ready)
        except BaseException as error:  # noqa: BLE001  (it is raised where the server is opened)
            faults.append(error)
        finally:
            ready.release()

    setattr(kind, _WORKER, work)
    try:
        yield
    except Exception as error:  # noqa: BLE001  (of a server without what its thread makes first)
        raise _misfit(viser) from (faults or [error])[0]
    finally:
        setattr(kind, _WORKER, usual)
    if faults:
        raise _misfit(viser) from faults[0]


def _names(code: object) -> frozenset[str]:
    """Names that code and the functions in it refer to."""
    if not isinstance(code, CodeType):
        return frozenset()
    return frozenset(code.co_names).union(*map(_names, code.co_consts))


def _misfit(viser: Any) -> Unsupported:
    return Unsupported(
        f"viser {viser.__version__} cannot be kept from opening a port of its own, where any page in a "
        "browser could steer the session: pip install 'bellcrank[viewer]' brings a viser that can"
    )


def _unshared(verbose: bool = True) -> None:
    """Refuse a public address: access is decided where the page is opened."""
