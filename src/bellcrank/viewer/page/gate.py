"""The gate before the page: it lets in who may come, and passes on what they say byte by byte.

The page itself listens on this machine alone, at a port of its own. On this machine the gate asks that the
page was addressed as this machine, and that no other page sends the request (Host and Origin of HTTP), so
that a foreign page in the same browser cannot steer. From other machines it asks for a token: once in the
address, then as a cookie.
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

_HEAD: Final = 32_768  # bytes that the head of a request may have
_PATIENCE: Final = 10.0  # s to send it in
_LINGER: Final = 5.0  # s that one side may go on speaking after the other has ended
_COOKIE: Final = "bellcrank_token"
NAMES: Final = "/bellcrank/name"
"""The path of requests for what is under the pointer."""
_LOCAL: Final = ("localhost", "127.0.0.1", "[::1]")


class Gate:
    """Listens at a host and port, in a thread of its own, before a page at a port of this machine.

    answers: computes the text that is returned for the query of a request for `NAMES`, in another thread.
    token: to ask for; "" where only this machine reaches the gate. port: where it listens; with 0 one that is
    free. Raises OSError where it cannot listen.
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
        """Let nobody in any more, and send away who is there."""
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
        self._meetings.add(task)  # the loop itself does not keep it
        usual = (OSError, EOFError, asyncio.LimitOverrunError, TimeoutError, ValueError)
        try:
            with suppress(*usual, asyncio.CancelledError):  # the last at the end of the gate
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
        """The answer to a request for a name, None for any other request."""
        target = urlsplit([*head.decode("latin-1").split(" "), "", ""][1])
        if self._answers is None or target.path != NAMES:
            return None
        text = await asyncio.get_running_loop().run_in_executor(None, self._answers, target.query)
        body = text.encode()
        kind = "Content-Type: text/plain; charset=utf-8\r\nCache-Control: no-store"
        length = f"Content-Length: {len(body)}\r\nConnection: close"
        return f"HTTP/1.1 200 OK\r\n{kind}\r\n{length}\r\n\r\n".encode() + body

    def _judged(self, head: bytes) -> bytes | None:
        """What to answer to the head of a request; None to let it in."""
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
            if going:  # one side has ended; the other may still have something to say, or be gone
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
    """Pass on what comes until it ends, and that it has ended."""
    while data := await reader.read(65_536):
        writer.write(data)
        await writer.drain()
    writer.write_eof()


async def _closed(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
