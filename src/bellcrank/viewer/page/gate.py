"""The gate in front of the page: it admits authorised clients and forwards their bytes unchanged.

The page itself listens on this machine only, at a port of its own. For requests from this machine, the gate
requires that the page was addressed as this machine and that no other page sent the request (Host and Origin
of HTTP), so that a foreign page in the same browser cannot control the session. From other machines it
requires a token: once in the address, then as a cookie.
"""

from __future__ import annotations

import asyncio
import hmac
import threading
from collections.abc import Callable
from contextlib import suppress
from http.cookies import CookieError, SimpleCookie
from typing import Final
from urllib.parse import parse_qs, urlsplit

_HEAD: Final = 32_768  # largest head of a request, bytes
_PATIENCE: Final = 10.0  # s allowed for sending it
_LINGER: Final = 5.0  # s for which one side may go on sending after the other has ended
_COOKIE: Final = "bellcrank_token"
NAMES: Final = "/bellcrank/name"
"""The path of requests for what is under the pointer."""
_LOCAL: Final = ("localhost", "127.0.0.1", "[::1]")


class Gate:
    """A proxy at a host and port, in its own thread, in front of a page at a port of this machine.

    answers: computes the text that is returned for the query of a request for `NAMES`, in another thread.
    token: the token to require; "" if the gate can only be reached from this machine. port: to listen at;
    0 selects a free one. Raises OSError if it cannot listen.
    """

    def __init__(
        self, host: str, port: int, page: int, token: str = "", answers: Callable[[str], str] | None = None
    ) -> None:
        self._answers = answers
        self.host, self.port, self.token = host, port, token
        self._page = page
        self._loop = asyncio.new_event_loop()
        self._meetings: set[asyncio.Task[None] | None] = set()
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
        self._meetings.add(task)  # the loop itself does not keep a reference to it
        usual = (OSError, EOFError, asyncio.LimitOverrunError, TimeoutError, ValueError)
        try:
            with suppress(*usual, asyncio.CancelledError):  # the last one when the gate closes
                head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), _PATIENCE)
                answer = self._judged(head) or await self._named(head)
                if answer is None:
                    await self._pass_on(head, reader, writer)
                else:
                    writer.write(answer)
                    await writer.drain()
        finally:
            self._meetings.discard(task)
            await _closed(writer)

    async def _named(self, head: bytes) -> bytes | None:
        """The reply to a request for a name, None for any other request."""
        target = urlsplit([*head.decode("latin-1").split(" "), "", ""][1])
        if self._answers is None or target.path != NAMES:
            return None
        text = await asyncio.get_running_loop().run_in_executor(None, self._answers, target.query)
        body = text.encode()
        kind = "Content-Type: text/plain; charset=utf-8\r\nCache-Control: no-store"
        length = f"Content-Length: {len(body)}\r\nConnection: close"
        return f"HTTP/1.1 200 OK\r\n{kind}\r\n{length}\r\n\r\n".encode() + body

    def _judged(self, head: bytes) -> bytes | None:
        """The reply to a request that is not admitted, from its head; None to admit it."""
        first, *lines = head.decode("latin-1").split("\r\n")
        fields = [line.partition(":") for line in lines if line]
        headers = {name.strip().lower(): value.strip() for name, _, value in fields}
        host, origin = headers.get("host", ""), headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != host:
            return _refusal("this page may be steered from itself alone")
        if not self.token:
            name = host if host.endswith("]") else host.rpartition(":")[0] or host
            return None if name in _LOCAL else _refusal("address this page as localhost")
        if _same(_cookie(headers.get("cookie", "")), self.token):
            return None
        target = [*first.split(" "), "", ""][1]
        given = parse_qs(urlsplit(target).query).get("token", [""])[0]
        if not _same(given, self.token):
            return _refusal(
                "this page asks for a token: open the address that was printed where it was started"
            )
        cookie = f"{_COOKIE}={self.token}; Path=/; HttpOnly; SameSite=Strict"
        return f"HTTP/1.1 303 See Other\r\nLocation: /\r\nSet-Cookie: {cookie}\r\n{_LAST}\r\n".encode()

    async def _pass_on(self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._page)
        far_writer.write(head)
        try:
            ways = (_pump(reader, far_writer), _pump(far_reader, writer))
            tasks = [asyncio.create_task(way) for way in ways]
            _, going = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if going:  # one side has ended; the other may still have data to send, or be gone
                _, going = await asyncio.wait(going, timeout=_LINGER)
            for task in going:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        finally:
            await _closed(far_writer)


_LAST: Final = "Content-Length: 0\r\nConnection: close\r\n"


def _refusal(text: str) -> bytes:
    body = f"{text}\n"
    length = f"Content-Length: {len(body)}\r\nConnection: close"
    return f"HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\n{length}\r\n\r\n{body}".encode()


def _cookie(text: str) -> str:
    with suppress(CookieError):
        found = SimpleCookie(text).get(_COOKIE)
        return "" if found is None else found.value
    return ""


def _same(one: str, two: str) -> bool:
    return hmac.compare_digest(one.encode(), two.encode())


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Forward data until the stream ends, then signal its end."""
    while data := await reader.read(65_536):
        writer.write(data)
        await writer.drain()
    writer.write_eof()


async def _closed(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
