"""Every port that is open while a session is: there is one, and it refuses foreign pages."""

import asyncio
import re
import socket
import subprocess
import sys
import threading

import pytest
from rigs.open_ports import admitted, has_tables, ports
from rigs.reader import needs_a_page

import bellcrank as bc
from bellcrank import scene
from bellcrank.viewer.page.recording import recording

pytestmark = pytest.mark.skipif(not has_tables(), reason="this system does not list the ports of a process")


@pytest.fixture(autouse=True)
def _page():
    needs_a_page()


def live(tmp_path, **where):
    return bc.gallery.double_pendulum().view(port=0, **where)


def bench(tmp_path, **where):
    return bc.Mechanism("bench", gravity=(0.0, 0.0, 0.0)).view(port=0, **where)


def played(tmp_path, **where):
    return bc.simulate(bc.gallery.four_bar(), 0.1).view(port=0, **where)


def replayed(tmp_path, **where):
    bc.simulate(bc.gallery.four_bar(), 0.1).save(tmp_path / "run.h5")
    return bc.Trajectory.load(tmp_path / "run.h5").view(port=0, **where)


def in_a_notebook(tmp_path, **where):
    async def cell():
        page = live(tmp_path, **where)
        page._repr_html_()
        return page

    return asyncio.run(cell())


WAYS = [live, bench, played, replayed, in_a_notebook]
PLACES = [{}, {"token": "s3cret"}, {"host": "0.0.0.0"}, {"host": "0.0.0.0", "token": "s3cret"}]


@pytest.mark.parametrize(
    ("way", "where"),
    [*((live, where) for where in PLACES), *((way, {}) for way in WAYS[1:])],
    ids=lambda part: str(part) if isinstance(part, dict) else part.__name__,
)
def test_a_page_has_one_port_which_refuses_foreign_pages(tmp_path, way, where):
    before = ports()
    with way(tmp_path, **where) as page:
        opened = ports() - before
        assert opened == {int(re.search(r":(\d+)/", page.url)[1])}
        (port,) = opened
        assert admitted(port) == {}
        assert not page.browsers
    assert not ports() - before


def test_a_recording_opens_no_port(tmp_path, monkeypatch):
    bound, usual = [], socket.socket.bind
    monkeypatch.setattr(socket.socket, "bind", lambda self, where: bound.append(where) or usual(self, where))
    monkeypatch.chdir(tmp_path)
    with live(tmp_path) as page:
        assert len(bound) == 1  # of the page: they are seen
        bound.clear()
        page.session.do("step", count=50)
        page.keeping.record(None, file="kept").result(60.0)
        assert (tmp_path / "kept.html").stat().st_size > 10_000
    run = bc.simulate(bc.gallery.four_bar(), 0.2)
    assert recording(scene.of(bc.gallery.four_bar()), run)
    assert bound == []


COMMANDS = {
    "shell": ("model.yaml", "--play", "--shell"),
    "settings": ("model.yaml", "-f", "symbolic", "--step", "5e-4"),
    "program": ("--protocol", "json", "--poses"),
    "listening": ("run.h5", "--listen"),
    "everybody": ("--host", "0.0.0.0", "--token", "s3cret"),
    "at a port": ("--listen-at", "localhost:0"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_one_port_which_refuses_foreign_pages(tmp_path, name):
    bc.save(bc.gallery.four_bar(), tmp_path / "model.yaml")
    bc.simulate(bc.gallery.four_bar(), 0.01).save(tmp_path / "run.h5")
    command = [sys.executable, "-m", "bellcrank", "view", "--no-browser", "--port", "0", *COMMANDS[name]]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, cwd=tmp_path, text=True, **pipes) as process:
        timer = threading.Timer(120.0, process.kill)
        timer.start()
        wanted, lines = 2 if name in ("at a port", "listening") else 1, []
        while len(found := re.findall(r"(?:http://|attach )\S+", "".join(lines))) < wanted:
            lines.append(process.stdout.readline())
            assert lines[-1], "".join(lines)
        opened = {int(port) for text in found for port in re.findall(r":(\d+)", text)}
        try:
            assert len(opened) == (2 if name == "at a port" else 1)
            assert ports(process.pid) == opened
            for port in opened:
                assert admitted(port) == {}
            assert process.poll() is None
        finally:
            timer.cancel()
            process.kill()


def test_an_open_door_is_noticed(monkeypatch):
    """The requests would come through where nobody judges them."""
    from bellcrank.viewer.page import server
    from bellcrank.viewer.page.gate import Request

    def lax(head, _token):
        return Request(head.split(b" ")[1].decode().partition("?")[0], "", "localhost", True)

    monkeypatch.setattr(server, "judged", lax)
    with bc.gallery.double_pendulum().view(port=0) as page:
        found = admitted(page.port).values()
        kinds = {text.split("\r\n")[0] for text in found}
        assert kinds >= {"HTTP/1.1 101 Switching Protocols", "HTTP/1.1 200 OK"}
