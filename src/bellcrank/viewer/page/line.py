"""A WebSocket over a connection whose first request was judged by the gate."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, Final

_LONGEST: Final = 1 << 20  # bytes of a message from a browser
_LAZY: Final = 200_000  # bytes that a browser has left unread, beyond which it misses frames
_LOST: Final = 64 << 20  # bytes, beyond which it is given up
_PATIENCE: Final = 10.0  # s for a connection to close


class Line:
    """Messages to and from one browser. Everything happens in the loop of the server.

    head: of the request, as it came.
    """

    def __init__(self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from websockets.server import ServerProtocol

        self._reader, self._writer = reader, writer
        self._protocol: Any = ServerProtocol(max_size=_LONGEST)
        self._protocol.receive_data(head)
        self.is_open = False

    @property
    def waiting(self) -> int:
        """How many bytes wait to be read by the browser."""
        return int(self._writer.transport.get_write_buffer_size())

    @property
    def is_lazy(self) -> bool:
        """Whether the browser has left so much unread that it misses frames."""
        return self.waiting > _LAZY

    def open(self, fields: bytes) -> bool:
        """Agree to a WebSocket, with more fields in the reply; False where the request is not for one."""
        events = self._protocol.events_received()
        if not events:
            return False
        response = self._protocol.accept(events[0])
        for line in fields.decode().splitlines():
            name, _, value = line.partition(": ")
            if name != "Connection":
                response.headers[name] = value
        self._protocol.send_response(response)
        self.is_open = response.status_code == 101
        self._flush()
        return self.is_open

    def send(self, message: str | bytes | bytearray) -> None:
        """Send a text or a binary message; a browser that reads nothing at all is given up."""
        if not self.is_open:
            return
        if isinstance(message, str):
            self._protocol.send_text(message.encode())
        else:
            self._protocol.send_binary(message)
        self._flush()
        if self.waiting > _LOST:
            self.abort()

    async def texts(self) -> AsyncIterator[str]:
        """What the browser sends, until it or the server closes the line. Binary messages are ignored."""
        from websockets.frames import Opcode

        parts, kind = list[bytes](), None
        while self.is_open and (data := await self._reader.read(65_536)):
            self._protocol.receive_data(data)
            frames = self._protocol.events_received()
            self._flush()
            for frame in frames:
                if frame.opcode in (Opcode.TEXT, Opcode.BINARY):
                    parts, kind = [frame.data], frame.opcode
                elif frame.opcode is Opcode.CONT:
                    parts.append(frame.data)
                elif frame.opcode is Opcode.CLOSE:
                    self.is_open = False
                else:
                    continue
                if frame.fin and kind is Opcode.TEXT and frame.opcode is not Opcode.CLOSE:
                    with suppress(UnicodeDecodeError):
                        yield b"".join(parts).decode()
            if self._protocol.close_expected():
                break
        self.is_open = False

    async def close(self, reason: str = "") -> None:
        """End it; what was sent before is written if the browser reads it."""
        if self.is_open:
            self.is_open = False
            with suppress(Exception):  # whatever it is in the middle of
                self._protocol.send_close(1001, reason[:100])
                self._flush()
        await closed(self._writer)

    def abort(self) -> None:
        """End it at once."""
        self.is_open = False
        self._writer.transport.abort()

    def _flush(self) -> None:
        for data in self._protocol.data_to_send():
            if data:
                self._writer.write(data)
            elif self._writer.can_write_eof():
                with suppress(OSError):
                    self._writer.write_eof()


async def closed(writer: asyncio.StreamWriter) -> None:
    """Close a connection, at the latest when its other end has read nothing for a while."""
    writer.close()
    closing = asyncio.ensure_future(writer.wait_closed())
    _, late = await asyncio.wait({closing}, timeout=_PATIENCE)
    if late:
        writer.transport.abort()
    await asyncio.gather(closing, return_exceptions=True)
