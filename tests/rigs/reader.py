"""A browser that only reads and writes messages: what a page sends, as one in a browser takes it."""

import json
import struct
import time
from contextlib import contextmanager

import numpy as np
import pytest

from bellcrank.errors import Unsupported

FRAME = struct.Struct("<BBHI3d2f2I3d6I")


def needs_a_page():
    """Skip where the page cannot be opened."""
    from bellcrank.viewer.page.bundle import check_page

    try:
        check_page()
    except Unsupported as error:
        pytest.skip(str(error))


class Scene:
    """A scene: its head as `.head`, and the meshes."""

    def __init__(self, data):
        kind, _, self.edition, size = struct.unpack_from("<BBHI", data)
        assert kind == 1
        assert size % 8 == 0
        self.head = json.loads(data[8 : 8 + size])
        numbers = memoryview(data)[8 + size :]
        self.meshes = [
            (
                np.frombuffer(numbers, "<f4", count=v[1], offset=4 * v[0]).reshape(-1, 3),
                np.frombuffer(numbers, "<u4", count=t[1], offset=4 * t[0]).reshape(-1, 3),
            )
            for v, t in ((one["vertices"], one["triangles"]) for one in self.head["meshes"])
        ]
        self.normals = {
            number: np.frombuffer(numbers, "<f4", count=one["normals"][1], offset=4 * one["normals"][0])
            for number, one in enumerate(self.head["meshes"])
            if "normals" in one
        }


class Frame:
    """A frame, as protocol.ts reads it."""

    def __init__(self, data):
        assert FRAME.size == 96
        fields = FRAME.unpack_from(data)
        assert fields[0] == 2
        self.status, self.edition, self.number = fields[1:4]
        self.time, self.first, self.last, self.speed, self.factor, self.moved, count = fields[4:11]
        self.origin = np.array(fields[11:14])
        arrows, hands, spans, touching, self.flags, beams = fields[14:]
        numbers, at = np.frombuffer(data, "<f4", offset=96).astype(float), 0

        def take(rows, width):
            nonlocal at
            at += rows * width
            return numbers[at - rows * width : at].reshape(rows, width)

        poses = take(count, 7)
        self.position, self.rotation = poses[:, :3] + self.origin, poses[:, 3:]
        self.twists = take(count if self.flags & 4 else 0, 6)
        self.accelerations = take(count if self.flags & 8 else 0, 6)
        self.arrows, self.hands = take(arrows, 8), take(hands, 7)
        self.spans, self.touching = take(spans, 6), take(touching, 6)
        self.beams = take(beams, 1)[:, 0]
        assert at == len(numbers)


class Signals:
    """Signals."""

    def __init__(self, data):
        kind, self.fresh, self.edition, rows, columns, _ = struct.unpack_from("<BBHIII", data)
        assert kind == 3
        self.time = np.frombuffer(data, "<f8", count=rows, offset=16)
        self.columns = np.frombuffer(data, "<f4", offset=16 + 8 * rows).reshape(columns, rows)


MEANING = {1: Scene, 2: Frame, 3: Signals}


class Reader:
    """Reads what a page sends. seen: all of it, in its order."""

    def __init__(self, line):
        self.line, self.seen, self._number = line, [], 0

    def next(self, wanted, seconds=20.0):
        """The next message that is so, or of a class."""
        end = time.monotonic() + seconds
        fits = (lambda one: isinstance(one, wanted)) if isinstance(wanted, type) else wanted
        while True:
            left = end - time.monotonic()
            last = [one if isinstance(one, dict) else type(one).__name__ for one in self.seen[-8:]]
            assert left > 0.0, last
            data = self.line.recv(timeout=left)
            one = json.loads(data) if isinstance(data, str) else MEANING[data[0]](data)
            self.seen.append(one)
            if fits(one):
                return one

    def event(self, name, what=lambda _: True, seconds=20.0):
        return self.next(
            lambda one: isinstance(one, dict) and one.get("event") == name and what(one), seconds
        )

    def send(self, **message):
        self.line.send(json.dumps(message))

    def watch(self, **wanted):
        self.send(watch=wanted)

    def ask(self, **message):
        """Send a request and wait for the answer."""
        self._number += 1
        self.send(id=self._number, **message)
        return self.next(lambda one: isinstance(one, dict) and one.get("id") == self._number)

    def do(self, command, **given):
        """Have a command done; its result."""
        answer = self.ask(do=command, **given)
        assert answer["ok"], answer["text"]
        return answer["result"]

    def state(self, what):
        return self.event("state", what)


@contextmanager
def reading(page, **more):
    """A reader of a page."""
    from websockets.sync.client import connect

    address = page.url.partition("?")[0]
    url = address.replace("http", "ws", 1) + "ws"
    with connect(url, origin=address.rstrip("/"), compression=None, max_size=None, **more) as line:
        yield Reader(line)
