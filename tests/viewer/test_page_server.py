"""viser's server: what is relied on of viser, where it listens, and what is said where that cannot be."""

import asyncio
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from rigs.open_ports import ports

import bellcrank as bc
from bellcrank.viewer import listening
from bellcrank.viewer.page import server as inner
from bellcrank.viewer.page.server import page_path, quiet_server, stop_quietly

viser = pytest.importorskip("viser", reason="the extra `viewer` is not installed")
pytestmark = [
    pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="this system has no Unix sockets"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
OPENED = (
    "import bellcrank as bc; page = bc.gallery.double_pendulum().view(port=0); print(page.url, flush=True)"
)


@pytest.fixture
def runtime(monkeypatch):
    """The user's runtime folder, new and empty; its path is short, as those of sockets must be."""
    with tempfile.TemporaryDirectory(prefix="run-") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        yield Path(folder) / "bellcrank"


def left(folder):
    return sorted(folder.iterdir()) if folder.exists() else []


def test_it_listens_for_its_owner_alone_and_nothing_is_left(runtime):
    before, path = ports(), page_path()
    server = quiet_server(path)
    assert left(runtime) == [path]
    assert stat.S_ISSOCK(path.stat().st_mode)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(runtime.stat().st_mode) == 0o700
    assert ports() == before
    with socket.socket(socket.AF_UNIX) as caller:
        caller.connect(str(path))
        caller.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert caller.recv(100).startswith(b"HTTP/1.1 200 OK\r\n")
    stop_quietly(server)
    assert left(runtime) == []


def test_what_is_only_recorded_listens_nowhere(runtime, monkeypatch):
    monkeypatch.setattr(inner, "socket", SimpleNamespace())  # as without Unix sockets
    server = quiet_server()
    assert server.get_scene_serializer().as_html().lstrip().lower().startswith("<!doctype html")
    stop_quietly(server)
    assert left(runtime) == []


def test_several_pages_of_one_process(runtime):
    mechanism = bc.gallery.double_pendulum()
    with mechanism.view(port=0), mechanism.view(port=0):
        assert len(left(runtime)) == 2
    assert left(runtime) == []


def test_a_page_that_cannot_be_reached_leaves_nothing(runtime):
    with pytest.raises(bc.MechanismError, match="cannot listen"):
        bc.gallery.double_pendulum().view(host="203.0.113.7", port=0)
    assert left(runtime) == []


def test_a_folder_that_others_can_enter_is_refused(runtime):
    runtime.mkdir()
    runtime.chmod(0o755)
    before = ports()
    with pytest.raises(bc.MechanismError, match="others may enter it"):
        bc.gallery.double_pendulum().view(port=0)
    assert ports() == before


def test_a_path_that_is_too_long_is_named(runtime, monkeypatch, tmp_path):
    (tmp_path / ("long" * 25)).mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / ("long" * 25)))
    with pytest.raises(bc.MechanismError, match=r"more than 100 bytes.*XDG_RUNTIME_DIR"):
        bc.gallery.double_pendulum().view(port=0)


def test_what_killed_processes_left_is_removed_and_nothing_else(runtime):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    command = [sys.executable, "-c", f"{OPENED}; input()"]
    with subprocess.Popen(command, **pipes) as killed, subprocess.Popen(command, **pipes) as living:
        killed.stdout.readline(), living.stdout.readline()
        killed.send_signal(signal.SIGKILL)
        killed.wait(30.0)
        (runtime / "page-notes").write_text("mine")
        names = {path.name.split("-")[1] for path in left(runtime)}
        assert names == {str(killed.pid), str(living.pid), "notes"}
        page_path()
        names = {path.name.split("-")[1] for path in left(runtime)}
        assert names == {str(living.pid), "notes"}
        living.stdin.close()  # it ends without closing its page
        living.wait(60.0)
    assert [path.name for path in left(runtime)] == ["page-notes"]


def test_sessions_that_listen_are_not_mixed_up_with_pages(runtime):
    from bellcrank.viewer import remote

    with bc.gallery.double_pendulum().view(port=0):
        with pytest.raises(bc.MechanismError, match="no session listens"):
            remote.Remote(None)
        assert len(left(runtime)) == 1


def test_a_system_without_unix_sockets_is_told_why(monkeypatch):
    before = ports()
    monkeypatch.setattr(inner, "socket", SimpleNamespace())
    with pytest.raises(bc.Unsupported, match="needs Unix sockets, which this system does not have"):
        bc.gallery.double_pendulum().view(port=0)
    assert ports() == before


def other_worker(self, ready):
    """A server that is started in another way."""
    raise AssertionError("it must not be started")


def deaf_worker(self, ready):
    """Names what is looked for, and serves in another way all the same."""
    usual = type(self)._usual
    self._host = "127.0.0.1"
    assert lambda: websockets.asyncio.server.serve  # noqa: F821
    usual(self, ready)


def failing_worker(self, ready):
    """Names what is looked for, and fails before it serves."""
    assert lambda: websockets.asyncio.server.serve  # noqa: F821
    raise OSError("no loop")


@pytest.mark.parametrize("worker", [other_worker, deaf_worker, failing_worker])
def test_a_viser_that_does_not_fit_is_refused(runtime, monkeypatch, worker):
    before, kind = ports(), viser.infra.WebsockServer
    monkeypatch.setattr(kind, "_usual", kind._background_worker, raising=False)
    monkeypatch.setattr(kind, "_background_worker", worker)
    for path in (page_path(), None):
        with pytest.raises(bc.Unsupported, match=rf"viser {viser.__version__} cannot be kept from opening"):
            quiet_server(path)
    with pytest.raises(bc.Unsupported, match="pip install"):
        bc.gallery.double_pendulum().view(port=0)
    assert ports() == before
    assert left(runtime) == []


def test_what_is_relied_on_of_viser():
    """It looks `serve` up where it is replaced, passes the host on, and needs of the result what is given."""
    from websockets.asyncio import server as serving

    usual = serving.serve
    assert inner._names(viser.infra.WebsockServer._background_worker.__code__) >= inner._CALLED
    server = quiet_server(page_path())
    assert server.get_host().startswith(str(listening.runtime_folder()))
    assert server.get_port() == 0
    stop_quietly(server)
    assert serving.serve is usual


def test_servers_of_others_that_start_meanwhile_are_left_alone():
    import websockets

    async def started():
        async with websockets.asyncio.server.serve(lambda line: line.close(), "127.0.0.1", 0) as other:
            return other.sockets[0].getsockname()[0]

    with inner._without_port("/somewhere", None) as found:
        assert asyncio.run(started()) == "127.0.0.1"
    assert not found


def test_processes_are_recognised():
    assert listening._runs(os.getpid())
    assert listening._runs(1)
    assert not listening._runs(2**22 + 1)
    assert listening._runs(10**30)
    assert isinstance(listening.free_path("page"), Path)
