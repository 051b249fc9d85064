"""Front ends in other processes: over a Unix socket and TCP, with garbage, slow readers and sudden ends."""

import json
import signal
import socket
import stat
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from rigs.live import four_bar, until

import bellcrank as bc
from bellcrank.viewer import listening, remote
from bellcrank.viewer.listening import Listener
from bellcrank.viewer.session import live, played

pytestmark = pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="this system has no Unix sockets")
SERVER = """
import sys
import bellcrank as bc
from bellcrank.viewer.listening import Listener
from bellcrank.viewer.session import live
with live(bc.gallery.four_bar()) as session, Listener(session, sys.argv[1]) as listener:
    print(listener.address, listener.token, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def session(tmp_path):
    with live(bc.Mechanism("bench", gravity=(0.0, 0.0, 0.0)), folder=tmp_path) as opened:
        yield opened


@pytest.fixture
def listener(session, tmp_path):
    with Listener(session, str(tmp_path / "s")) as opened:
        yield opened


class Line:
    """A connection as a program has it."""

    def __init__(self, address, **hello):
        self.socket = remote._connection(address)
        self.stream = self.socket.makefile("rb")
        if hello:
            assert self.asked(**hello)["ok"]

    def send(self, line):
        self.socket.sendall(line if isinstance(line, bytes) else f"{line}\n".encode())

    def read(self, wanted=lambda told: True):
        """The next line that is wanted."""
        for line in self.stream:
            if wanted(told := json.loads(line)):
                return told
        return None

    def asked(self, line="", **request):
        self.send(line or json.dumps(request))
        return self.read(lambda told: "event" not in told)

    def event(self, kind):
        return self.read(lambda told: told.get("event") == kind)

    def close(self):
        self.stream.close()
        self.socket.close()


def test_only_its_owner_can_use_the_socket_and_it_goes_with_the_session(session, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    with Listener(session) as opened:
        found = Path(opened.address).stat()
        assert stat.S_IMODE(found.st_mode) == 0o600
        assert stat.S_IMODE((tmp_path / "bellcrank").stat().st_mode) == 0o700
        with remote.Remote(None) as front:  # the only one there is
            assert front.execute("ib rod").ok
    assert not Path(opened.address).exists()
    with pytest.raises(bc.MechanismError, match="no session listens"):
        remote.Remote(None)
    (tmp_path / "bellcrank").chmod(0o755)
    with pytest.raises(bc.MechanismError, match="others may enter it"):
        Listener(session)


def test_a_socket_that_is_left_behind_is_replaced_and_others_are_not(session, tmp_path):
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(tmp_path / "s"))
    with Listener(session, str(tmp_path / "s")), pytest.raises(bc.MechanismError, match="cannot listen"):
        Listener(session, str(tmp_path / "s"))
    (tmp_path / "file").write_text("mine")
    with pytest.raises(bc.MechanismError, match="cannot listen"):
        Listener(session, str(tmp_path / "file"))
    assert (tmp_path / "file").read_text() == "mine"
    with pytest.raises(bc.MechanismError, match="more than 100 bytes"):
        Listener(session, str(tmp_path / ("long" * 30)))


def test_each_sees_what_the_others_do(session, listener):
    one, two = Line(listener.address, attach="arm"), Line(listener.address, attach="arm")
    assert listener.clients == ("arm", "arm 2")
    assert one.asked("ib rod")["ok"]
    told = two.event("command")
    assert (told["by"], told["command"], told["ok"]) == ("arm", "ib rod", True)
    session.do("add_body", kind="box", name="block", by="page")
    assert {two.event("command")["by"] for _ in range(2)} == {"page"}
    assert two.asked(do="add_body", kind="wheel", name="wheel")["result"] == {"result": "wheel"}
    assert one.read(lambda told: told.get("by") == "arm 2")["command"].startswith("body wheel")
    refused = one.asked("ib rod")
    assert not refused["ok"]
    assert "rod" in refused["error"]["message"]
    assert one.asked(complete="sb bl")["result"]["words"] == ["block"]
    assert one.asked(do="undo")["ok"]
    assert list(session.editor.mechanism.bodies) == ["rod", "block"]
    one.close()
    two.close()


def test_no_event_is_lost_between_two_looks(session, listener):
    watching, number = Line(listener.address, attach="watching"), 400
    answers = [session.send("execute", line=f"parameter p{k} {k}", by="page") for k in range(number)]
    assert all(answer.result().ok for answer in answers)
    seen = [watching.event("command")["command"] for _ in range(number)]
    assert seen == [f"parameter p{k} {k}" for k in range(number)]
    watching.close()


def test_poses_stream_while_a_line_runs_and_another_ends_it(session, listener):
    four_bar(session)
    running, watching = Line(listener.address), Line(listener.address, attach="watching", poses=True)
    running.send("run 1000 output_step=0.01")
    times = [watching.event("poses")["time"] for _ in range(6)]
    assert times == sorted(times)
    assert times[-1] > times[1] >= 0.0
    shown = watching.event("poses")
    assert watching.asked(do="pause")["ok"]
    answer = running.read(lambda told: "event" not in told)
    assert answer["ok"]
    assert session.snapshot.time < 1000.0
    place = session.snapshot.bodies.index("crank")
    assert len(shown["bodies"]["crank"]) == 7
    assert np.allclose(watching.asked(do="inspect", name="crank")["result"]["position [m]"],
                       session.snapshot.position[place])  # fmt: skip
    running.close()
    watching.close()


GARBAGE = [
    b"\xff\xfe\n", b"{\n", b"{}\n", b"[1]\n", b"{" * 5000 + b"\n", b'{"do": 1}\n',
    b'{"do": "save", "path": "/tmp/x"}\n',
    b'{"do": "execute", "line": "new"}\n', b'{"do": "grab", "body": [], "by": "x"}\n',
    b'{"do": "play", "engine": 1}\n',
    b'{"do": "speed", "value": NaN}\n', b'{"do": "step", "count": 1e9}\n', b'{"attach": ""}\n',
    b'{"attach": [1]}\n',
    b'{"do": "inspect", "command": "x"}\n', b"GET / HTTP/1.1\n", b"\x00\x01\n", b"x" * 500_000 + b"\n",
]  # fmt: skip


def test_garbage_is_refused_line_by_line(session, listener):
    front = Line(listener.address)
    for line in GARBAGE:
        front.send(line)
        assert front.read(lambda told: "event" not in told)["ok"] is False, line[:60]
    assert front.asked("ib rod")["ok"]
    front.close()


def test_half_lines_sudden_ends_and_what_was_held(session, listener):
    four_bar(session)
    session.do("play")
    for k in range(20):
        front = Line(listener.address, attach=f"hasty {k}")
        front.send(
            b'{"do": "grab", "body": "rocker", "point": [0, 0, 0], "target": [1, 0, 1]}\ninfo\n{"do": "pl'
        )
        if k % 2:
            front.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")  # a reset
        front.close()
    end = time.monotonic() + 30.0
    while listener.clients or session.snapshot.holds:
        assert time.monotonic() < end, (listener.clients, session.snapshot.holds)
        time.sleep(0.05)
    assert session.snapshot.status == "playing"


def test_one_who_reads_nothing_stops_nobody(session, listener):
    four_bar(session)
    lazy = Line(listener.address)
    lazy.socket.settimeout(2.0)
    with pytest.raises(TimeoutError):  # the lines are no longer read, for its answers are not
        lazy.send("help sb\n" * 100_000)
    deaf = Line(listener.address, attach="deaf", poses=True)
    session.do("play")
    begun = session.snapshot.time
    until(session, lambda now: now.time > begun + 0.3, 30.0)
    for _ in range(500):
        assert session.do("execute", line="help sb", by="page").ok
    assert session.do("execute", line="parameter last 1", by="page").ok
    heard = [deaf.event("command")["command"] for _ in range(501)]  # it is only late
    assert heard == ["help sb"] * 500 + ["parameter last 1"]
    lazy.close()
    deaf.close()


def test_one_who_leaves_too_much_unread_is_sent_away(session, listener, monkeypatch):
    monkeypatch.setattr("bellcrank.viewer.clients._MOST", 100)
    deaf = Line(listener.address, attach="deaf")
    deaf.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    text = "; " + 9000 * "x"
    for k in range(300):
        session.do("execute", line=f"parameter p{k} {k} {text}", by="page")
    assert "left unread" in deaf.event("closed")["text"]
    assert deaf.read() is None
    deaf.close()


def test_a_port_asks_for_the_token(session):
    with Listener(session, "localhost:0") as opened:
        assert opened.address.startswith("127.0.0.1:")
        assert len(opened.token) > 20
        for line in ("ib rod", '{"do": "play"}', '{"attach": "x"}', '{"attach": "x", "token": "wrong"}',
                     "POST / HTTP/1.1"):  # fmt: skip
            stranger = Line(opened.address)
            assert not stranger.asked(line)["ok"]
            assert stranger.read() is None  # closed
            stranger.close()
        assert not session.editor.mechanism.bodies
        with pytest.raises(bc.MechanismError, match="asks for its token"):
            remote.Remote(opened.address, "wrong")
        with remote.Remote(opened.address, opened.token) as front:
            assert front.execute("ib rod").ok
        silent = Line(opened.address)
        session.do("execute", line="ib other", by="page")
        silent.socket.settimeout(0.5)
        with pytest.raises(TimeoutError):  # and is not shown what happens
            silent.stream.readline()
        silent.close()
    assert list(session.editor.mechanism.bodies) == ["rod", "other"]


def test_silent_strangers_keep_nobody_out(session):
    with Listener(session, "localhost:0") as opened:
        silent = [remote._connection(opened.address) for _ in range(150)]
        assert opened.clients == ()
        with remote.Remote(opened.address, opened.token) as front:
            assert front.execute("ib rod").ok
            silent += [remote._connection(opened.address) for _ in range(150)]
            assert front.execute("ib other").ok  # whoever has shown the token stays
        silent[0].settimeout(30.0)
        assert silent[0].recv(1) == b""  # the oldest made room
        with remote.Remote(opened.address, opened.token) as front:
            assert front.execute("info").ok
        for connection in silent:
            connection.close()


def test_strangers_have_little_time_even_if_they_drip(session, monkeypatch):
    monkeypatch.setattr("bellcrank.viewer.clients._PATIENCE", 0.5)
    with Listener(session, "localhost:0") as opened:
        slow = remote._connection(opened.address)
        begun = time.monotonic()
        with suppress(OSError):
            while time.monotonic() < begun + 30.0:
                slow.sendall(b"{")
                time.sleep(0.1)
        assert time.monotonic() < begun + 10.0
        slow.close()


def test_front_ends_with_the_token_are_counted(session, monkeypatch):
    monkeypatch.setattr(listening, "_MOST", 2)
    with Listener(session, "localhost:0") as opened:
        fronts = [remote.Remote(opened.address, opened.token) for _ in range(2)]
        with pytest.raises(bc.MechanismError, match="too many front ends"):
            remote.Remote(opened.address, opened.token)
        for front in fronts:
            front.close()


def test_a_played_run_is_played_by_others(tmp_path):
    with (
        played(bc.simulate(bc.gallery.four_bar(), 0.1)) as session,
        Listener(session, str(tmp_path / "s")) as listener,
    ):
        front = Line(listener.address)
        assert front.asked(do="step", count=5)["ok"]
        assert session.snapshot.time > 0.0
        assert not front.asked("ib rod")["ok"]
        front.close()


def test_two_other_processes_work_in_one_session(tmp_path):
    """The session in one process, a program and a terminal's lines in two others."""
    command = [sys.executable, "-c", SERVER, str(tmp_path / "s")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        address = server.stdout.readline().split()[0]
        attach = [sys.executable, "-m", "bellcrank", "attach", address]
        program = subprocess.Popen(
            [*attach, "--protocol", "json", "--poses", "--name", "robot"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        program.stdin.write("run 1000 output_step=0.01\n")
        program.stdin.flush()
        poses = []
        while len(poses) < 5:
            told = json.loads(program.stdout.readline())
            assert "ok" not in told  # not answered yet
            if told["event"] == "poses":
                poses.append(told)
        assert poses[-1]["time"] > poses[0]["time"]
        assert poses[-1]["bodies"]["crank"] != poses[0]["bodies"]["crank"]
        program.stdin.write('{"do": "pause"}\n')
        program.stdin.flush()
        typed = subprocess.run(
            attach,
            input="parameter p 3\nnonsense\n",
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert typed.returncode == 2
        assert "there is no command of this name" in typed.stderr
        rest, _ = program.communicate(timeout=120)
        lines = [json.loads(line) for line in rest.splitlines()]
        assert [line["ok"] for line in lines if "event" not in line] == [True, True]
        assert program.returncode == 0
        assert server.poll() is None
        killed = subprocess.Popen([*attach, "--protocol", "json", "--poses"], stdin=subprocess.PIPE)
        killed.send_signal(signal.SIGKILL)
        killed.wait(30.0)
        killed.stdin.close()
        with remote.Remote(address) as front:
            assert front.execute("info").ok
        server.stdin.close()
        assert server.wait(30.0) == 0
    assert not Path(address).exists()
    assert listening.tcp_of(address) is None
