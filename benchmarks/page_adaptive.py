"""The live page of adaptive dynamics: a molecule of fifty thousand joints, with a hand on an atom.

The server is a process of its own on one core, with its simulation; whoever reads is on another one.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import cos, sin
from multiprocessing.connection import Connection
from typing import Any, Final

import numpy as np

from benchmarks.adaptive_linkages import molecule
from benchmarks.page import EVERY, SIZE, SOFTWARE, Served
from benchmarks.report import Column, Row, Table
from benchmarks.targets import target

JOINTS: Final = 50_000
APART: Final = 1000.0 / 30.0
"""Wanted: ms between frames, with a hand on an atom."""
LIMITS: Final[tuple[dict[str, Any], ...]] = (
    {"max_error": 0.1}, {"max_error": 1e-3}, {"max_error": 0.0, "max_joints": 300},
    {"max_error": 0.0, "max_joints": 1000},
)  # fmt: skip
SWING: Final = 5.0
"""m, of the hand, around where the atom was."""
_TREE_FRAME: Final = 4
_MOVED, _FACTS = 40, 96  # places in frames
SERVER: Final = (
    Column("limits", "limits"), Column("rate", "frames a second"), Column("bytes", "bytes of a frame", 6),
    Column("share", "of its core, %"), Column("speed", "of real time"), Column("free", "free joints", 5),
    Column("error", "error"), Column("median", "move to frame, ms: median"), Column("nine", "nine of ten"),
)  # fmt: skip
BROWSER: Final = (
    Column("frames", "frames taken up a second"), Column("busy", "ms a frame, of which"),
    Column("placing", "placing"), Column("rendering", "ms a picture, main thread"),
    Column("pictures", "pictures a second"), Column("free", "free joints", 5),
)  # fmt: skip


def _serve(joints: int, limits: dict[str, Any], core: int | None, line: Connection) -> None:
    """Serve a page on one core, and say what it has taken, CPU s, whenever asked; until the line ends."""
    if core is not None:
        os.sched_setaffinity(0, {core})
    from bellcrank.viewer.opening import view

    mechanism = molecule(joints, even=True).mechanism()
    with view(mechanism, {"formulation": "adaptive", **limits}, port=0) as page:
        line.send(page.url)
        while line.recv():
            line.send(time.process_time())


@contextmanager
def served(joints: int, limits: dict[str, Any], core: int | None) -> Iterator[Served]:
    """The page of a molecule, served while the context lasts."""
    context = multiprocessing.get_context("spawn")
    own, other = context.Pipe()
    process = context.Process(target=_serve, args=(joints, limits, core, other))
    process.start()
    other.close()
    try:
        yield Served(own)
        own.send(False)
    finally:
        own.close()
        process.join(10.0)
        process.kill()


def dragged(url: str, seconds: float, joints: int) -> Row:
    """Drag an atom about, and take the frames that come."""
    from websockets.sync.client import connect

    address, body = f"{url.replace('http', 'ws')}ws", f"link {joints // 2}"
    with connect(address, origin=url.rstrip("/"), compression=None, max_size=None) as socket:
        socket.send(json.dumps({"do": "inspect", "name": body, "id": 1}))
        at = np.array(_answer(socket, 1)["position [m]"])
        socket.send(json.dumps({"do": "play"}))
        socket.send(json.dumps({"do": "grab", "body": body, "point": [0, 0, 0], "target": at.tolist()}))
        sent, delays, sizes, free, errors = {0: 0.0}, [], [], [], []
        begun = start = time.perf_counter()
        count, done, first, last = 0, 0, np.nan, np.nan
        while (now := time.perf_counter()) < start + seconds:
            if now > begun + EVERY * count:
                count += 1
                angle = 1.5 * (now - begun)
                target = at + SWING * np.array([sin(angle), 1.0 - cos(angle), 0.5 * sin(0.7 * angle)])
                socket.send(json.dumps({"do": "move", "body": body, "target": target.tolist(), "seq": count}))
                sent[count] = now
            try:
                message = socket.recv(timeout=EVERY / 4)
            except TimeoutError:
                continue
            if not isinstance(message, bytes) or message[0] != _TREE_FRAME:
                continue
            when, moved = time.perf_counter(), struct.unpack_from("<I", message, _MOVED)[0]
            if moved > done:
                delays.append(1e3 * (when - sent[moved]))
                done = moved
            sizes.append(len(message))
            facts = struct.unpack_from("<10d", message, _FACTS)
            errors.append(facts[0])
            free.append(facts[4])
            last = struct.unpack_from("<d", message, 8)[0]
            if np.isnan(first):
                first = last
        lasted = time.perf_counter() - start
        socket.send(json.dumps({"do": "pause"}))
        time.sleep(0.2)
    return {
        "rate": len(sizes) / lasted, "bytes": float(np.median(sizes)), "speed": (last - first) / lasted,
        "free": float(np.median(free)), "error": float(np.max(errors)),
        "median": float(np.median(delays)), "nine": float(np.quantile(delays, 0.9)),
    }  # fmt: skip


def _answer(socket: Any, number: int) -> dict[str, Any]:
    while True:
        message = socket.recv()
        if isinstance(message, str) and (found := json.loads(message)).get("id") == number:
            return dict(found["result"])


def server_row(joints: int, limits: dict[str, Any], seconds: float, core: int | None) -> Row:
    """What a server on one core sends while an atom is dragged."""
    with served(joints, limits, core) as page:
        before, begun = page.spent(), time.perf_counter()
        row = dragged(page.url, seconds, joints)
        row["share"] = 100.0 * (page.spent() - before) / (time.perf_counter() - begun)
    return {"limits": ", ".join(f"{name}={value:g}" for name, value in limits.items()), **row}


def browser_row(joints: int, seconds: float, core: int | None) -> Row | None:
    """What Chromium takes up and draws, without a graphics card; None where it is not installed."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        program = None
    if program is None:
        return None
    with sync_playwright() as tool, served(joints, LIMITS[0], core) as page:
        browser = tool.chromium.launch(executable_path=program, args=list(SOFTWARE))
        tab = browser.new_page(viewport=SIZE)
        tab.goto(page.url)
        tab.wait_for_function("() => window.bellcrank?.frame >= 0", timeout=120_000)
        tab.keyboard.press("Space")
        tab.wait_for_timeout(1000)
        x, y = tab.evaluate("(body) => bellcrank.pixelOn(body)", f"link {joints // 2}")
        tab.mouse.move(x, y)
        tab.mouse.down()
        before, start, count = tab.evaluate("() => bellcrank.counts"), time.perf_counter(), 0
        while time.perf_counter() - start < seconds:
            count += 1
            tab.mouse.move(x + 12.0 * sin(0.05 * count), y - 6.0 + 6.0 * cos(0.05 * count))
            time.sleep(max(0.0, start + EVERY * count - time.perf_counter()))
        lasted, after = time.perf_counter() - start, tab.evaluate("() => bellcrank.counts")
        free = tab.evaluate("() => bellcrank.adaptivity?.free ?? -1")
        tab.mouse.up()
        browser.close()
    gone = {
        name: after[name] - before[name] for name in ("frames", "pictures", "busy", "placing", "rendering")
    }
    frames, pictures = max(gone["frames"], 1), max(gone["pictures"], 1)
    return {
        "frames": gone["frames"] / lasted, "pictures": gone["pictures"] / lasted,
        "busy": gone["busy"] / frames, "placing": gone["placing"] / frames,
        "rendering": gone["rendering"] / pictures, "free": free,
    }  # fmt: skip


def measured(joints: int, seconds: float) -> tuple[list[Table], list[Row]]:
    """Tables and targets."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    core = cores[0] if len(cores) > 1 else None
    if core is not None:
        os.sched_setaffinity(0, set(cores) - {core})
    try:
        rows = [server_row(joints, limits, seconds, core) for limits in LIMITS]
        seen = browser_row(joints, seconds, core)
    finally:
        if core is not None:
            os.sched_setaffinity(0, set(cores))
    title = f"Molecule with {joints} joints by adaptive dynamics, an atom dragged, the server on one core"
    tables = [Table("crowd", title, SERVER, rows)]
    what = f"molecule of {joints}, an atom dragged: ms between frames"
    wanted = target(f"{what} sent", APART, 1000.0 / rows[0]["rate"], is_time=True)
    if seen is not None:
        tables.append(Table("crowd_page", "The same in Chromium without a graphics card", BROWSER, [seen]))
        wanted += target(f"{what} taken up by a browser", APART, 1000.0 / seen["frames"], is_time=True)
    return tables, wanted
