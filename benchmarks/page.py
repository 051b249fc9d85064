"""The live page: what its server takes of a core, how many frames a browser takes up, how late it is.

The server is a process of its own. A reader in Python takes frames as fast as they come; Chromium, where it
is installed, draws them, without a graphics card.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import cos, sin
from multiprocessing.connection import Connection
from typing import Any, Final

import click
import numpy as np

import bellcrank as bc
from benchmarks.command_line import Form, form_option, invoke
from benchmarks.environment import environment
from benchmarks.report import Column, Report, Row, Table, publish
from benchmarks.targets import target, targets_tables

CHAINS: Final = (10, 50, 200)
WATCHED: Final = ("at rest", "frames", "with reactions and signals")
PERIOD, LATE, REST, ARM = 1000.0 / 55.0, 20.0, 1.0, 15.0
"""Wanted: ms between frames of the longest chain, ms of a move in nine of ten, and % of a core."""
EVERY: Final = 0.02
"""s between moves of the mouse."""
SOFTWARE: Final = (
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--no-sandbox",
)
"""Of a browser that draws without a graphics card."""
SIZE: Final = {"width": 900, "height": 600}
"""Of its window, pixels."""

_SERVER_COLUMNS: Final = (
    Column("mechanism", "mechanism"), *(Column(name, f"{name}, % of a core") for name in WATCHED),
    Column("rate", "frames a second"), Column("bytes", "bytes of a frame", 5),
)  # fmt: skip
_BROWSER_COLUMNS: Final = (
    Column("mechanism", "mechanism"), Column("frames", "frames taken up a second"),
    Column("pictures", "pictures a second"), Column("median", "move to frame, ms: median"),
    Column("nine", "nine of ten"), Column("moves", "moves", 4),
)  # fmt: skip


def arm() -> bc.Mechanism:
    """The prosthetic arm at a task."""
    from bellcrank.gallery.prosthetic_tasks import demonstration

    return demonstration()


def chain(count: int) -> bc.Mechanism:
    """A chain of rods."""
    return bc.gallery.chain(count)


def _serve(make: Callable[..., bc.Mechanism], given: tuple[int, ...], line: Connection) -> None:
    """Serve a page, and say what it has taken so far, CPU s, whenever asked; until the line ends."""
    with make(*given).view(port=0) as page:
        line.send(page.url)
        while line.recv():
            line.send(time.process_time())


class Served:
    """A page in a process of its own."""

    def __init__(self, line: Connection) -> None:
        self._line = line
        self.url: str = line.recv()

    def share(self, seconds: float) -> float:
        """What it takes of a core for a while, %."""
        begun, before = time.perf_counter(), self.spent()
        time.sleep(seconds)
        return 100.0 * (self.spent() - before) / (time.perf_counter() - begun)

    def spent(self) -> float:
        """What it has taken so far, CPU s."""
        self._line.send(True)
        return float(self._line.recv())


@contextmanager
def served(make: Callable[..., bc.Mechanism], *given: int) -> Iterator[Served]:
    """The page of a mechanism, served while the context lasts."""
    context = multiprocessing.get_context("spawn")
    own, other = context.Pipe()
    process = context.Process(target=_serve, args=(make, given, other))
    process.start()
    other.close()
    try:
        yield Served(own)
        own.send(False)
    finally:
        own.close()
        process.join(10.0)
        process.kill()


def _read(url: str, watch: dict[str, Any], line: Connection) -> None:
    """Take the frames of a page that plays, until told; send how many a second, and how long they are."""
    from websockets.sync.client import connect

    address = f"{url.replace('http', 'ws')}ws"
    with connect(address, origin=url.rstrip("/"), compression=None, max_size=None) as socket:
        for message in ({"watch": watch}, {"do": "play"}):
            socket.send(json.dumps(message))
        begun, count, size = time.perf_counter(), 0, 0
        while not line.poll():
            message = socket.recv()
            if isinstance(message, bytes) and message[0] == 2:
                count, size = count + 1, len(message)
        line.send((count / (time.perf_counter() - begun), size))
        socket.send(json.dumps({"do": "pause"}))
        time.sleep(0.2)


def _server_row(name: str, make: Callable[..., bc.Mechanism], given: tuple[int, ...], seconds: float) -> Row:
    context, row = multiprocessing.get_context("spawn"), Row(mechanism=name)
    body = next(iter(make(*given).bodies))
    signals = [f"body.{body}.{axis}" for axis in "xyz"]
    watched: tuple[dict[str, Any], ...] = ({}, {"reactions": True, "signals": signals, "seconds": 20.0})
    with served(make, *given) as page:
        time.sleep(1.0)
        row[WATCHED[0]] = page.share(seconds)
        for title, watch in zip(WATCHED[1:], watched, strict=True):
            own, other = context.Pipe()
            reader = context.Process(target=_read, args=(page.url, watch, other))
            reader.start()
            other.close()
            time.sleep(2.0)
            row[title] = page.share(seconds)
            own.send(True)
            row["rate"], row["bytes"] = own.recv()
            reader.join()
    return row


def _browser_rows(seconds: float) -> list[Row] | str:
    """Frames that Chromium takes up, and how late it shows moves of the mouse; or why that is missing."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        program = None
    if program is None:
        return "The browser's part needs Chromium and playwright."
    rows = []
    with sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=program, args=list(SOFTWARE))
        for name, make, given, plays in (
            ("double pendulum, paused", bc.gallery.double_pendulum, (), False),
            ("double pendulum", bc.gallery.double_pendulum, (), True),
            ("prosthetic arm", arm, (), True),
            (f"chain of {CHAINS[-1]}", chain, CHAINS[-1:], True),
        ):
            with served(make, *given) as page:
                tab = browser.new_page(viewport=SIZE)
                tab.goto(page.url)
                tab.wait_for_function("() => window.bellcrank?.frame >= 0")
                rows.append({"mechanism": name, **_drags(tab, seconds, plays)})
                tab.close()
        browser.close()
    return rows


def _drags(tab: Any, seconds: float, plays: bool) -> Row:
    """Drag the first body that the mouse takes hold of, in a circle."""
    begun = _held(tab, plays)
    before, known = (
        tab.evaluate("() => bellcrank.counts"),
        tab.evaluate("() => bellcrank.moves.delays.length"),
    )
    start, count = time.perf_counter(), 0
    while time.perf_counter() - start < seconds:
        count += 1
        tab.mouse.move(begun[0] + 60.0 * sin(0.05 * count), begun[1] - 40.0 + 40.0 * cos(0.05 * count))
        time.sleep(max(0.0, start + EVERY * count - time.perf_counter()))
    lasted, after = time.perf_counter() - start, tab.evaluate("() => bellcrank.counts")
    delays = tab.evaluate("(from) => bellcrank.moves.delays.slice(from)", known)
    tab.mouse.up()
    return {
        "frames": (after["frames"] - before["frames"]) / lasted,
        "pictures": (after["pictures"] - before["pictures"]) / lasted, "moves": len(delays),
        "median": float(np.median(delays)), "nine": float(np.quantile(delays, 0.9)),
    }  # fmt: skip


def _held(tab: Any, plays: bool) -> tuple[float, float]:
    """Play, if wanted, and take hold of a body; where the mouse is then, pixels."""
    if plays:
        tab.keyboard.press("Space")
        tab.wait_for_timeout(1000)
    for _ in range(40):
        for body in tab.evaluate("() => bellcrank.carriers.slice(0, -1).toReversed().slice(0, 5)"):
            x, y = tab.evaluate("(body) => bellcrank.pixelOn(body, [0.02, 0, 0])", body) or (0.0, 0.0)
            sent = tab.evaluate("() => bellcrank.moves.sent")
            tab.mouse.move(x, y)
            tab.mouse.down()
            for shift in (8.0, 14.0, 20.0, 26.0):
                tab.mouse.move(x + shift, y)
                tab.wait_for_timeout(60)
            if tab.evaluate("() => bellcrank.moves.sent") > sent:
                return x, y
            tab.mouse.up()
    raise RuntimeError("the mouse takes hold of no body")


def run(seconds: float = 8.0, joints: int = 50_000) -> Report:
    """Measure the live page. seconds: each measurement lasts so long. joints: of the molecule."""
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    facts = environment()
    if cores is not None:
        os.sched_setaffinity(0, cores)  # a server and a browser are several processes
    mechanisms: list[tuple[str, Callable[..., bc.Mechanism], tuple[int, ...]]] = [
        *((f"chain of {n}", chain, (n,)) for n in CHAINS),
        ("prosthetic arm", arm, ()),
    ]
    servers = [_server_row(name, make, given, seconds) for name, make, given in mechanisms]
    browsers = _browser_rows(seconds)
    wanted = target("most of a core at rest, %", REST, max(row[WATCHED[0]] for row in servers))
    wanted += target("arm with reactions and signals, % of a core", ARM, servers[-1][WATCHED[-1]])
    tables = [Table("server", "The process that simulates and serves", _SERVER_COLUMNS, servers)]
    notes = ["Each process may use all cores; shares are of CPU time by time on the wall."]
    if isinstance(browsers, str):
        notes.append(browsers)
    else:
        tables.append(
            Table("browser", "Chromium without a graphics card, a body dragged", _BROWSER_COLUMNS, browsers)
        )
        wanted += target(
            "longest chain: ms between frames", PERIOD, 1000.0 / browsers[-1]["frames"], is_time=True
        )
        for row in browsers[:3]:
            wanted += target(
                f"{row['mechanism']}: move to frame, nine of ten, ms", LATE, row["nine"], is_time=True
            )
    from benchmarks.page_adaptive import measured  # which serves pages as this does

    crowd, more = measured(joints, seconds)
    tables, wanted = [*tables, *crowd], [*wanted, *more]
    return Report(
        "page", facts, {"seconds": seconds, "joints": joints}, [*tables, *targets_tables(wanted)], notes
    )


@click.command
@click.option("--seconds", default=8.0, show_default=True, help="How long each measurement lasts.")
@click.option(
    "--joints", default=50_000, show_default=True, help="Of the molecule that is simulated adaptively."
)
@form_option
def command(seconds: float, joints: int, form: Form) -> None:
    """Shares of a core, frames and delays of the live page."""
    publish([run(seconds, joints)], form)


def main(arguments: list[str]) -> int:
    """The command line of `bellcrank bench page`."""
    return invoke(command, "page", arguments)
