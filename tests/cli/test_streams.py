"""Streams that are closed, full, or read by nobody: commands end with a status and without a traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

DEMO = str(Path(__file__).parents[2] / "examples" / "demo.yaml")
PROGRAM = [sys.executable, "-c", "from bellcrank.cli import main; main()"]
SCRIPT = "ib a\nsb a -vl 1 0 0\nstep 5\npb\nhelp\n"
COMMANDS = {
    "--help": [],
    "info": [DEMO],
    "info --build": [],
    "run": [DEMO, "--duration", "0.1"],
    "shell": [],
    "shell --protocol json": [],
}


def started(command, **streams):
    words = [*PROGRAM, *command.split(), *COMMANDS[command]]
    return subprocess.run(words, input=SCRIPT, text=True, check=False, timeout=120, **streams)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk(command, tmp_path):
    with Path("/dev/full").open("w") as full:
        done = started(command, stdout=full, stderr=subprocess.PIPE, cwd=tmp_path)
        assert done.returncode == 2
        assert "No space left on device" in done.stderr
        assert len(done.stderr.splitlines()) == 1, done.stderr
        done = started(command, stdout=full, stderr=full, cwd=tmp_path)
        assert done.returncode == 2


@pytest.mark.parametrize("command", COMMANDS)
def test_a_pipe_that_nobody_reads(command, tmp_path):
    reading, writing = os.pipe()
    os.close(reading)
    done = started(command, stdout=writing, stderr=subprocess.PIPE, cwd=tmp_path)
    os.close(writing)
    assert done.returncode == (1 if command == "--help" else 141)  # help is click's own
    assert done.stderr == ""


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams(command, closed, tmp_path):
    words = " ".join(f"'{word}'" for word in [*PROGRAM, *command.split(), *COMMANDS[command]])
    done = subprocess.run(
        ["sh", "-c", f"{words} {closed}"], input=SCRIPT, text=True, check=False, timeout=120,
        capture_output=True, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


def test_characters_that_the_terminal_has_not(tmp_path):
    done = subprocess.run(
        [*PROGRAM, "shell"], input="echo π\n".encode(), capture_output=True, check=False, cwd=tmp_path,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, b"\\u03c0\n")
    words = [*PROGRAM, "shell", "--protocol", "json"]
    done = subprocess.run(
        words, input="echo π\n".encode(), capture_output=True, check=False,
        cwd=tmp_path, env=os.environ | {"PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert "π" in done.stdout.decode("utf-8")
