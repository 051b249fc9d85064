"""Several front ends of one session: a terminal's lines, a program on a pipe, a page's commands."""

import io
import json
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from rigs.live import four_bar, mechanism, poses, until
from rigs.reader import needs_a_page

import bellcrank as bc
from bellcrank.shell.interpreter import Shell
from bellcrank.viewer import clients
from bellcrank.viewer.clients import Attached
from bellcrank.viewer.session import live, played


@pytest.fixture
def session(tmp_path):
    with live(bc.Mechanism("bench", gravity=(0.0, 0.0, 0.0)), folder=tmp_path) as opened:
        yield opened


def test_lines_and_clicks_are_steps_of_one_history(session):
    one, two = Attached(session, "terminal"), Attached(session, "pipe")
    assert one.execute("ib rod").ok
    session.do("add_body", kind="box", name="block", by="page")
    assert two.execute("joint hinge Revolute rod block").ok
    assert [(entry.by, entry.line.split()[0]) for entry in session.snapshot.log if entry.line[0] != "m"] == [
        ("terminal", "ib"), ("page", "body"), ("pipe", "joint"),
    ]  # fmt: skip
    assert two.execute("undo").ok
    assert one.execute("undo").ok
    assert list(mechanism(session).bodies) == ["rod"]
    session.do("redo")
    assert list(mechanism(session).bodies) == ["rod", "block"]
    refused = one.execute("joint hinge Revolute rod nobody")
    assert not refused.ok
    assert session.snapshot.log[-1].ok is False


def test_a_line_runs_as_in_a_shell_of_its_own(session):
    lines = (
        "ib rod", "sb rod -m 2 -in 1/6 1/6 1e-4 -if gravity weight",
        "marker rod.top position=[0, 0, 0.5] axis=[1, 0, 0]",
        "joint hinge Revolute {body: ground, axis: [1, 0, 0]} rod.top",
        "sl ground rod -q 1", "method rk4 step=1e-3", "sstepsize 0.01", "step 50",
    )  # fmt: skip
    alone, front = Shell(), Attached(session, "terminal")
    for line in lines:
        assert alone.execute(line).ok
        assert front.execute(line).ok
    there = alone.session.state()
    assert session.snapshot.time == pytest.approx(0.5)
    assert np.allclose(poses(session), np.hstack([there.position, there.rotation]), atol=1e-12)
    assert len(session.trajectory) > 50
    assert front.execute("undo").ok
    assert session.snapshot.time == 0.0


def test_poses_stream_while_a_line_runs_and_pause_ends_it(session):
    four_bar(session)
    seen, done = [], threading.Event()

    def run():
        Attached(session, "pipe").execute("run 1000 output_step=0.01")
        done.set()

    runner = threading.Thread(target=run)
    runner.start()
    number, end = session.snapshot.number, time.monotonic() + 60.0
    while len(seen) < 8:
        assert time.monotonic() < end
        now = session.newer(number, 1.0)
        number = now.number
        seen.append(now.time)
    assert not done.is_set()  # they came while it went on
    session.send("pause")
    runner.join(60.0)
    assert done.is_set()
    assert np.all(np.diff(seen) >= 0.0)
    assert seen[-1] > seen[1] > 0.0
    reached = session.snapshot.time
    assert seen[-1] <= reached < 1000.0
    session.do("step")
    assert session.snapshot.time == pytest.approx(reached + 1e-3)


def test_a_session_is_closed_while_a_line_runs(session):
    four_bar(session)
    answer = session.send("execute", line="run 100000 output_step=0.05")
    until(session, lambda now: now.time > 0.0)
    session.close()
    assert answer.result(timeout=10.0).ok


def test_a_program_on_a_pipe_is_answered_and_told_what_others_do(session, monkeypatch):
    written = io.StringIO()
    monkeypatch.setattr(sys, "stdout", written)
    sent = b"ib rod\nsb rod -vl 1 0 0\nib rod\n\xff\nrun 0.2 output_step=0.01\n"

    class Slow(io.BytesIO):
        """Lines, between which another front end works."""

        def readline(self, size=-1):
            line = super().readline(size)
            if line.startswith(b"run"):
                session.do("add_body", kind="wheel", name="wheel", by="page")
                time.sleep(0.3)
            return line

    assert clients.pipe(session, Slow(sent), as_json=True, poses=True) == 2
    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    answers = [line for line in lines if "event" not in line]
    assert [line["ok"] for line in answers] == [True, True, False, False, True]
    others = [line for line in lines if line.get("event") == "command"]
    assert {line["by"] for line in others} == {"page"}
    assert others[0]["command"].startswith("body wheel")
    places = [line for line in lines if line.get("event") == "poses"]
    assert places[-1]["bodies"]["rod"][0] == pytest.approx(places[-1]["time"], abs=1e-6)


def test_a_played_run_takes_no_lines():
    with (
        played(bc.simulate(bc.gallery.four_bar(), 0.1)) as session,
        pytest.raises(bc.MechanismError, match="nothing can be changed"),
    ):
        Attached(session, "terminal")


def test_ten_front_ends_at_once_build_what_one_would(session):
    def work(number):
        front = Attached(session, f"front {number}")
        for k in range(5):
            assert front.execute(f"ib b{number}_{k}").ok

    workers = [threading.Thread(target=work, args=(number,)) for number in range(10)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60.0)
    assert sorted(mechanism(session).bodies) == sorted(f"b{n}_{k}" for n in range(10) for k in range(5))
    for _ in range(50):
        session.do("undo")
    assert not mechanism(session).bodies
    until(session, lambda now: now.status == "open")


def test_a_terminal_attaches_to_a_page_by_the_command_line(tmp_path):
    needs_a_page()
    command = [sys.executable, "-m", "bellcrank", "view", "--port", "0", "--no-browser", "--shell"]
    lines = b"ib rod\ninfo\nquit\n"
    done = subprocess.run(command, input=lines, capture_output=True, cwd=tmp_path, timeout=300, check=True)
    assert "bodies           1" in done.stdout.decode()


def test_a_program_attaches_to_a_page_by_the_command_line(tmp_path):
    needs_a_page()
    lines = b"ib rod\nsb rod -vl 1 0 0\nrun 0.2\nsave rod.yaml\nsave /tmp/outside.yaml\n"
    command = [sys.executable, "-m", "bellcrank", "view", "--port", "0", "--no-browser", "--protocol", "json"]
    done = subprocess.run(command, input=lines, capture_output=True, cwd=tmp_path, timeout=300, check=False)
    answers = [json.loads(line) for line in done.stdout.decode().splitlines()]
    assert [line["ok"] for line in answers] == [True, True, True, True, False]
    assert "http://localhost:" in done.stderr.decode()
    assert bc.load(tmp_path / "rod.yaml").bodies["rod"].velocity == (1.0, 0.0, 0.0)
    assert done.returncode == 2
