"""The gate in front of the page, the only way to it: it admits authorised clients and forwards their bytes.

The page itself listens at a Unix socket that only this user can open. The gate requires that the page was
addressed as this machine and that no other page sent the request (Host and Origin of HTTP), so that a foreign
page in the same browser cannot control the session. From other machines it requires a token. Pages and
WebSockets are judged alike, and each connection serves one request.

Only what browsers and programs send in earnest is read: one reading is left, whoever reads it after the gate.
"""

from __future__ import annotations

import asyncio
import hmac
import re
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qs, quote

_FIRST: Final = re.compile(rb"GET (/[!-~]*) HTTP/1\.1")
_FIELD: Final = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([ -~\x80-\xff\t]*)")
_HOST: Final = re.compile(r"([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")
_BODIES: Final = ("content-length", "transfer-encoding")
_ONCE: Final = ("host", "origin", "cookie", "connection", "upgrade")
_COOKIE: Final = "bellcrank_token"
_LOCAL: Final = ("localhost", "127.0.0.1", "[::1]")


class Request(NamedTuple):
    """What a request asks for. host: the name by which it was addressed, without the port."""

    path: str
    query: str
    host: str


def judged(head: bytes, token: str) -> Request | bytes:
    """A request that is admitted, from its head, or else the reply to it.

    It must be addressed to this page by Host, and come from this page or from no page by Origin. token: to be
    given in the address, once, and then as a cookie; "" where the page can only be reached from this machine,
    whose names alone are accepted then, since a foreign page may have its own name lead here.
    """
    first, *lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    target = _FIRST.fullmatch(first)
    fields = [_FIELD.fullmatch(line) for line in lines]
    if target is None or None in fields:
        return refusal("this is no request for a page")
    headers = dict[str, str]()
    for field in fields:
        assert field is not None
        name, value = field[1].decode().lower(), field[2].decode("latin-1").strip(" \t")
        if name in _BODIES or (name in _ONCE and name in headers):
            return refusal("a request for this page has no content, and says once where it comes from")
        headers[name] = value
    host = headers.get("host", "").lower()
    name = match[1] if (match := _HOST.fullmatch(host)) is not None else ""
    if headers.get("origin", f"http://{host}").lower() not in (f"http://{host}", f"https://{host}"):
        return refusal("this page may be steered from itself alone")
    path, _, query = target[1].decode().partition("?")
    if not name or (not token and name not in _LOCAL):
        return refusal("address this page as localhost" if not token else "say by what name it is addressed")
    if token and not _shown(headers.get("cookie", ""), quote(token, safe="")):
        return _received(token, query)
    return Request(path, query, name)


def refusal(text: str) -> bytes:
    """The reply to a request that is not admitted."""
    body = f"{text}\n"
    length = f"Content-Length: {len(body)}\r\nConnection: close"
    return f"HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\n{length}\r\n\r\n{body}".encode()


def fields_of(request: Request) -> bytes:
    """Fields of the reply to an admitted request: it ends the connection, and other pages cannot use it.

    A page that shows this one in a frame could have clicks meant for itself fall here. Notebooks do show it:
    those of this machine or of the host that the page was addressed by, and of editors.
    """
    names = sorted({*_LOCAL[:2], request.host} if request.host in _LOCAL else {request.host})
    frames = " ".join(f"http://{name}:* https://{name}:*" for name in names if not name.startswith("["))
    return (
        f"Content-Security-Policy: frame-ancestors 'self' {frames} vscode-webview:\r\n"
        "Cross-Origin-Resource-Policy: same-origin\r\nX-Content-Type-Options: nosniff\r\n"
        "Connection: close\r\n"
    ).encode()


def _received(token: str, query: str) -> bytes:
    """The reply to a request without the cookie: the cookie, if the token is in the address."""
    if not _same(parse_qs(query).get("token", [""])[0], token):
        return refusal("this page asks for a token: open the address that was printed where it was started")
    cookie = f"{_COOKIE}={quote(token, safe='')}; Path=/; HttpOnly; SameSite=Strict"
    last = "Content-Length: 0\r\nConnection: close\r\n"
    return f"HTTP/1.1 303 See Other\r\nLocation: /\r\nSet-Cookie: {cookie}\r\n{last}\r\n".encode()


def _shown(cookies: str, wanted: str) -> bool:
    """Whether the token is among cookies; those of other programs need not be well formed."""
    pairs = [pair.strip(" ").partition("=") for pair in cookies.split(";")]
    return any(_same(value, wanted) for name, _, value in pairs if name == _COOKIE)


def _same(one: str, two: str) -> bool:
    return hmac.compare_digest(one.encode(), two.encode())


_HEAD: Final = 32_768  # largest head of a request, bytes
_PATIENCE: Final = 10.0  # s allowed for sending it
_STRANGERS: Final = 64  # connections at once that have not sent it
_LINGER: Final = 5.0  # s for which one side may go on sending after the other has ended
NAMES: Final = "/bellcrank/name"
"""The path of requests for what is under the pointer."""


class Gate:
    """A proxy at a host and port, in its own thread, in front of a page at the path of a Unix socket.

    answers: computes the text that is returned for the query of a request for `NAMES`, in another thread.
    token: the token to require; it may be "" if the gate can only be reached from this machine. port: to
    listen at; 0 selects a free one. Raises OSError if it cannot listen.
    """

    def __init__(
        self, host: str, port: int, page: Path, token: str = "", answers: Callable[[str], str] | None = None
    ) -> None:
        self._answers = answers
        self.host, self.port, self.token = host, port, token
        self._page = page
        self._loop = asyncio.new_event_loop()
        self._meetings = set[asyncio.Task[Any]]()
        self._strangers: dict[asyncio.Task[Any], None] = {}  # who has not asked yet, in the order of coming
        self._thread = threading.Thread(target=self._loop.run_forever, name="bellcrank gate", daemon=True)
        self._thread.start()
        try:
            self._server = asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result()
        except OSError:
            self._stop()
            raise
        self.port = int(self._server.sockets[0].getsockname()[1])

    async def _listen(self) -> asyncio.Server:
        return await asyncio.start_server(self._meet, self.host, self.port, limit=_HEAD)

    def close(self) -> None:
        """Accept no more connections, and close those that are open."""
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(5.0)
        self._stop()

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5.0)
        self._loop.close()

    async def _end(self) -> None:
        self._server.close()
        current = asyncio.current_task()
        tasks = [task for task in asyncio.all_tasks() if task is not current]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._meetings.add(task)  # the loop itself does not keep a reference to it
        if len(self._strangers) >= _STRANGERS:  # whoever means to ask does so at once
            oldest = next(iter(self._strangers))
            del self._strangers[oldest]
            oldest.cancel()
        self._strangers[task] = None
        try:
            with suppress(OSError, EOFError, asyncio.LimitOverrunError, TimeoutError, ValueError):
                head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), _PATIENCE)
                self._strangers.pop(task, None)
                request = judged(head, self.token)
                answer = request if isinstance(request, bytes) else await self._named(request)
                if answer is not None:
                    writer.write(answer)
                    await writer.drain()
                elif isinstance(request, Request):
                    await self._pass_on(head, request, reader, writer)
        except asyncio.CancelledError:  # to make room, or since the gate closes
            if not writer.is_closing():
                writer.transport.abort()
        finally:
            self._strangers.pop(task, None)
            await _closed(writer)
            self._meetings.discard(task)

    async def _named(self, request: Request) -> bytes | None:
        """The reply to a request for a name, None for any other request."""
        if self._answers is None or request.path != NAMES:
            return None
        text = await asyncio.get_running_loop().run_in_executor(None, self._answers, request.query)
        body = text.encode()
        kind = "Content-Type: text/plain; charset=utf-8\r\nCache-Control: no-store"
        status = f"HTTP/1.1 200 OK\r\n{kind}\r\nContent-Length: {len(body)}\r\n"
        return status.encode() + fields_of(request) + b"\r\n" + body

    async def _pass_on(
        self, head: bytes, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Have the page answer one request; more than that is passed on only once it is a WebSocket.

        So a second request in the same connection, which nobody has judged, never gets there.
        """
        far_reader, far_writer = await asyncio.open_unix_connection(self._page)
        tasks = list[asyncio.Task[None]]()
        try:
            far_writer.write(head)
            answer = await far_reader.readuntil(b"\r\n\r\n")
            is_line = answer.startswith(b"HTTP/1.1 101 ")
            if not is_line:
                status, rest = answer.split(b"\r\n", 1)
                answer = status + b"\r\n" + fields_of(request) + rest
            writer.write(answer)
            ways = [_pump(far_reader, writer), *([_pump(reader, far_writer)] if is_line else [])]
            tasks += [asyncio.create_task(way) for way in ways]
            _, going = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if going:  # one side has ended; the other may still have data to send, or be gone
                await asyncio.wait(going, timeout=_LINGER)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await _closed(far_writer)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Forward data until the stream ends, then signal its end."""
    while data := await reader.read(65_536):
        writer.write(data)
        await writer.drain()
    writer.write_eof()


async def _closed(writer: asyncio.StreamWriter) -> None:
    """Close a connection, at the latest when its other end has read nothing for a while."""
    writer.close()
    closing = asyncio.ensure_future(writer.wait_closed())
    _, late = await asyncio.wait({closing}, timeout=_PATIENCE)
    if late:
        writer.transport.abort()
    await asyncio.gather(closing, return_exceptions=True)
