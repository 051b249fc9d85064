"""A recording: one page, as text, that plays a run without a server and without a network."""

from __future__ import annotations

import base64
import hashlib
import html
import struct
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from bellcrank.scene import Scene
from bellcrank.trajectory.columns import recorded
from bellcrank.trajectory.trajectory import Trajectory
from bellcrank.viewer.page import bundle
from bellcrank.viewer.page.frames import Wanted, frame_of
from bellcrank.viewer.page.picture import Picture
from bellcrank.viewer.page.signals import message_of, one_frame
from bellcrank.viewer.playing import Player

_RATE: Final = 30.0  # pictures a second
_PICTURES: Final = 900  # at most
_FEW: Final = 40  # bodies and joints up to which forces and velocities are recorded as well
_NUMBERS: Final = 400_000  # values of signals, at most


def recording(scene: Scene, run: Trajectory) -> str:
    """A self-contained page, as text, that plays a run without a server and without a network.

    It shows thirty pictures a second, fewer for long runs. Nothing listens meanwhile.
    Raises Unsupported if the page was not built.
    """
    bundle.check_page()
    first, last = run.span()
    count = int(min(max((last - first) * _RATE, 1.0), _PICTURES)) + 1
    wanted = np.linspace(first, last, count)
    shown = run.resample(wanted) if len(run) > 1 and last > first else run
    data = b"".join(_framed(message) for message in _messages(scene, shown))
    return _page(scene.name, base64.b64encode(data).decode())


def _messages(scene: Scene, run: Trajectory) -> Iterator[bytes]:
    """The scene, all frames, and signals."""
    player = Player(run)
    now = player.snapshot()
    contacts = now.touching.contacts
    picture = Picture(
        scene,
        0,
        one_frame(now.layout, now.frame),
        False,
        scene.mechanism,
        tuple(contacts),
        _NUMBERS // len(run),
    )
    few = len(scene.carriers) + len(scene.joints) <= _FEW
    wanted = Wanted(reactions=few, contacts=bool(contacts), twists=few)
    yield picture.message
    for number in range(len(run)):
        player.show(number)
        yield bytes(frame_of(player.snapshot(), picture, wanted))
    yield _signals(run, picture)


def _signals(run: Trajectory, picture: Picture) -> bytes:
    listed = [f"{group['group']}.{row[0]}" for group in picture.signals for row in group["signals"]]
    known = {one.name: one.values for one in recorded(run) if not one.flags}
    known["energy.total"] = run.energy.total
    return message_of(0, True, run.time, [known[name] for name in listed])


def _framed(message: bytes) -> bytes:
    """A message with its length, padded."""
    return struct.pack("<II", len(message), 0) + message + bytes(-len(message) % 8)


def _page(name: str, data: str) -> str:
    script, style = bundle.script_and_style()
    script, style = script.replace("</script", "<\\/script"), style.replace("</style", "<\\/style")
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(name)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        '<div id="app"></div>\n'
        f'<script type="text/plain" id="recording">{data}</script>\n'
        f'<script type="module">{script}</script>\n</body>\n</html>\n'
    )


def _hash(text: str) -> Any:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
