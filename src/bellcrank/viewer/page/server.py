"""The server of a page: one port, at which the gate judges each request, for a file or for a WebSocket."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple

from bellcrank.viewer.page.gate import Request, fields_of, judged, refusal
from bellcrank.viewer.page.line import Line, closed

LINE: Final = "/ws"
"""The path of WebSockets."""
_HEAD: Final = 32_768  # largest head of a request, bytes
_PATIENCE: Final = 10.0  # s allowed for sending it, and for reading a file
_STRANGERS: Final = 64  # connections at once that have not sent it


class File(NamedTuple):
    """A file of the page. kind: its media type."""

    kind: str
    data: bytes


class Server:
    """Serves a table of files, and WebSockets, at a host and port, in a thread of its own, until closed.

    files: by path. talk: takes a line that is open, until the line or the server is closed. token: to
    require; it may be "" if only this machine can reach the server. port: to listen at; 0 selects a free one.
    Raises OSError if it cannot listen.
    """

    def __init__(
        self, host: str, port: int, files: Mapping[str, File], talk: Callable[[Line], Awaitable[None]],
        token: str = "",
    ) -> None:  # fmt: skip
        self.host, self.token, self._files, self._talk = host, token, files, talk
        self.loop = asyncio.new_event_loop()
        self._meetings = set[asyncio.Task[Any]]()
        self._strangers: dict[asyncio.Task[Any], None] = {}  # who has not asked yet, in the order of coming
        self._thread = threading.Thread(target=self.loop.run_forever, name="bellcrank page", daemon=True)
        self._thread.start()
        try:
            self._server = asyncio.run_coroutine_threadsafe(self._listen(port), self.loop).result()
        except OSError:
            self._stop()
            raise
        self.port = int(self._server.sockets[0].getsockname()[1])

    async def _listen(self, port: int) -> asyncio.Server:
        return await asyncio.start_server(self._meet, self.host, port, limit=_HEAD)

    def close(self) -> None:
        """Accept no more connections, and close those that are open."""
        with suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(self._end(), self.loop).result(5.0)
        self._stop()

    def _stop(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(5.0)
        if not self._thread.is_alive():
            self.loop.close()

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
                if isinstance(request, bytes):
                    await _written(writer, request)
                elif request.path == LINE and not request.own:
                    await _written(writer, refusal("a line is opened by the page"))
                elif request.path == LINE:
                    await self._open(Line(head, reader, writer), request)
                else:
                    await _written(writer, self._file(request))
        except asyncio.CancelledError:  # to make room, or since the server closes
            if not writer.is_closing():
                writer.transport.abort()
        finally:
            self._strangers.pop(task, None)
            await closed(writer)
            self._meetings.discard(task)

    def _file(self, request: Request) -> bytes:
        """The reply to a request for a file. Paths are names in a table, and lead nowhere else."""
        found = self._files.get(request.path)
        status = "404 Not Found" if found is None else "200 OK"
        kind, data = found or File("text/plain", b"there is no such file\n")
        first = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\n"
        return first.encode() + fields_of(request) + b"\r\n" + data

    async def _open(self, line: Line, request: Request) -> None:
        if line.open(fields_of(request)):
            try:
                await self._talk(line)
            finally:
                await line.close()


async def _written(writer: asyncio.StreamWriter, reply: bytes) -> None:
    """Write a reply, of which whoever reads nothing keeps nothing open."""
    writer.write(reply)
    await asyncio.wait_for(writer.drain(), _PATIENCE)
