"""A script of every command runs unattended, and as JSON; scripts and pipes end as they should."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bellcrank.shell.commands import COMMANDS

pytest.importorskip("matplotlib")
SCRIPT = Path(__file__).parent / "every_command.bell"


def bellcrank(*arguments, cwd, text=None):
    program = [sys.executable, "-W", "error", "-c", "from bellcrank.cli import main; main()", *arguments]
    return subprocess.run(program, capture_output=True, text=True, cwd=cwd, input=text, check=False)


def test_the_script_has_every_command():
    """But for `quit`, which is `exit`."""
    used = {line.split()[0] for line in SCRIPT.read_text().splitlines() if line and line[0] != ";"}
    assert used | {"quit"} == set(COMMANDS)


def test_the_script_uses_every_option_of_every_command():
    lines = [line.split() for line in SCRIPT.read_text().splitlines()]
    for command in COMMANDS.values():
        words = {word for line in lines if line and line[0] == command.name for word in line}
        for option in command.options:
            assert option.word in words, f"{command.name} {option.word}"


def test_every_command_runs_unattended(tmp_path):
    (tmp_path / "more.bell").write_text("ib extra\nsb extra -t 9 0 0 ; far away\n")
    done = bellcrank("shell", str(SCRIPT), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for name in ("now.png", "rod.png", "history.h5", "history.csv", "everything.yaml"):
        assert (tmp_path / name).stat().st_size > 500
    assert sorted(path.name for path in tmp_path.glob("frame_*.png")) == ["frame_00006.png"]
    assert "pose rod " in done.stdout
    assert "half done" in done.stdout


def test_every_reply_is_one_json_object(tmp_path):
    (tmp_path / "more.bell").write_text("ib extra\n")
    text = SCRIPT.read_text()
    done = bellcrank("shell", "--protocol", "json", cwd=tmp_path, text=text)
    assert done.returncode == 0, done.stdout
    replies = [json.loads(line) for line in done.stdout.splitlines()]
    commands = [line for line in text.splitlines() if line]
    assert [reply["command"] for reply in replies] == commands
    assert all(reply["ok"] for reply in replies)
    told = {reply["command"]: reply["result"] for reply in replies}
    assert told["rstepsize"] == {"stepsize": pytest.approx(1 / 60)}
    assert told["pb rod"]["bodies"]["rod"]["mass"] == 1.5
    assert told["step 3"]["time"] == pytest.approx(0.05)
    assert told["rlsode"]["calls"] > 0


def test_a_script_stops_at_its_first_fault_and_says_where(tmp_path):
    (tmp_path / "bad.bell").write_text("ib rod\nsb rood -m 2\nib bob\necho after\n")
    done = bellcrank("shell", "bad.bell", cwd=tmp_path)
    assert done.returncode == 2
    assert "bad.bell:2: sb: there is no body of this name, got 'rood'; did you mean 'rod'?" in done.stderr
    assert "after" not in done.stdout
    done = bellcrank("shell", "bad.bell", "--keep-going", cwd=tmp_path)
    assert done.returncode == 2
    assert "after" in done.stdout


def test_a_pipe_goes_on_after_a_fault(tmp_path):
    done = bellcrank("shell", cwd=tmp_path, text="ib rod\nnonsense\necho after\n")
    assert done.returncode == 2
    assert "<stdin>:2: shell: there is no command of this name, got 'nonsense'" in done.stderr
    assert "after" in done.stdout


def test_each_reply_comes_before_the_next_command(tmp_path):
    """So that another program can decide by what it reads."""
    program = [sys.executable, "-c", "from bellcrank.cli import main; main()", "shell", "--protocol", "json"]
    with subprocess.Popen(
        program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, cwd=tmp_path
    ) as shell:
        assert shell.stdin is not None
        assert shell.stdout is not None
        for line, ok in (("ib rod", True), ("ib rod", False), ("rtime", True)):
            print(line, file=shell.stdin, flush=True)
            assert json.loads(shell.stdout.readline())["ok"] is ok
        print("quit", file=shell.stdin, flush=True)
        assert json.loads(shell.stdout.readline())["ok"]
        assert shell.wait(10) == 2  # one was refused
