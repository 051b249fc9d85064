"""The shell at a terminal: prompt, completion, help, history; nothing but quit leaves it."""

import os
import select
import subprocess
import sys
import time

import pytest

from bellcrank.shell.interpreter import COMMANDS, Shell, candidates
from bellcrank.shell.places import Places

PROMPT = b"bellcrank> "
TERM = {"plain": "dumb", "rich": "xterm"}
# Ctrl-C reaches who has a terminal of their own.
PROGRAM = """
import fcntl, sys, termios
if sys.argv.pop() == "plain":
    sys.modules["prompt_toolkit"] = None  # as if it were not installed
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from bellcrank.cli import main
main()
"""


class Terminal:
    """The program with a terminal in front of it."""

    def __init__(self, home, editor="plain"):
        self.seen = b""
        self.fd, theirs = pytest.importorskip("pty").openpty()
        if editor == "plain":
            pytest.importorskip("readline")
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, "shell", editor],
            stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True, cwd=home,
            env=os.environ | {"HOME": str(home), "TERM": TERM[editor], "PROMPT_TOOLKIT_NO_CPR": "1"},
        )  # fmt: skip
        os.close(theirs)

    def comes(self, text, timeout):
        """Whether a text is written within a time, s."""
        end = time.monotonic() + timeout
        while text not in self.seen:
            if not select.select([self.fd], [], [], max(end - time.monotonic(), 0.0))[0]:
                return False
            self.seen += os.read(self.fd, 4096)
        return True

    def until(self, text, timeout=60.0):
        """What is written up to a text."""
        assert self.comes(text, timeout), f"{text!r} is not in {self.seen!r}"
        before, _, self.seen = self.seen.partition(text)
        return before.decode()

    def interrupt(self):
        """Ctrl-C until a prompt comes: between writing one and waiting for keys Python does not notice it."""
        for _ in range(30):
            self.type("\x03")
            if self.comes(PROMPT, 2.0):
                return self.until(PROMPT)
        raise AssertionError("Ctrl-C is not answered")

    def type(self, keys):
        os.write(self.fd, keys.encode())

    def do(self, line):
        """Type a line; what it answers."""
        self.type(line + "\n")
        return self.until(PROMPT)

    def end(self):
        """The exit status."""
        return self.process.wait(timeout=60.0)


def test_a_session_at_the_terminal(tmp_path):
    terminal = Terminal(tmp_path)
    terminal.until(PROMPT)
    assert "did you mean 'help'?" in terminal.do("hlp")
    terminal.do("ib rod")
    assert "this name is taken" in terminal.do("ib rod")
    terminal.type("pb r\t")  # completed to "pb rod "
    assert "-t  0 0 0" in terminal.do("")
    terminal.interrupt()  # empties the line
    assert "2 bodies" not in terminal.do("echo still here")
    terminal.type("quit\n")
    assert terminal.end() == 0

    again = Terminal(tmp_path)
    again.until(PROMPT)
    again.type("\x1b[A\x1b[A")  # up, up: the line before quit
    assert "still here" in again.do("")
    again.type("\x04")  # the end of input
    assert again.end() == 0


def test_a_session_with_prompt_toolkit(tmp_path):
    """The other editor: completion, and suggestions from former sessions."""
    pytest.importorskip("prompt_toolkit")
    terminal = Terminal(tmp_path, "rich")
    terminal.until(b"bellcrank>")
    terminal.type("info\r")
    terminal.until(b"empty>")
    terminal.until(b"bellcrank>")
    terminal.type("echo still here\r")
    terminal.until(b"still here\r\n")
    terminal.until(b"bellcrank>")
    terminal.type("qui\t")
    terminal.until(b"t")  # completed; it may be drawn letter by letter
    terminal.type("\r")
    assert terminal.end() == 0

    again = Terminal(tmp_path, "rich")
    again.until(b"bellcrank>")
    again.type("echo s")
    again.until(b"till here")  # suggested
    again.type("\x1b[C\r")  # taken by the right arrow
    again.until(b"still here\r\n")
    again.until(b"bellcrank>")
    again.type("\x04")
    assert again.end() == 0


def test_files_are_completed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("arm.yaml", "arm two.yaml", ".arm.yaml", "models/leg.yaml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    session = Shell(Places()).session
    assert candidates(session, "load ") == ["arm.yaml", "models/"]
    assert candidates(session, "load models/") == ["models/leg.yaml"]
    assert candidates(session, f"save {tmp_path}/a") == [f"{tmp_path}/arm.yaml"]
    assert candidates(session, "load .") == [".arm.yaml"]
    assert candidates(session, "plot -o nowhere/") == []


def test_help_has_an_example_for_every_command(shell):
    for name, command in COMMANDS.items():
        reply = shell.execute(f"help {name}")
        assert reply.ok
        assert command.usage.split()[0] in reply.text
        assert "Example:" in reply.text
        assert command.example.split()[0] == name
    listed = shell.execute("?").text
    assert all(f"    {command.usage}" in listed for command in COMMANDS.values())


def test_the_examples_of_the_help_work(shell, run, tmp_path, monkeypatch):
    """In the mechanism of the thesis's script with a pendulum beside it, as the page of the guide says."""
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "more.bell").write_text("ib extra\n")
    for line in EXAMPLE_MECHANISM:
        run(line)
    start = shell.session.now
    for name, command in COMMANDS.items():
        if name in ("quit", "exit", "load", "undo", "redo"):
            continue
        shell.session.now = start
        assert shell.execute("run 0.1").ok
        reply = shell.execute(command.example)
        assert reply.ok, f"{command.example}: {reply.text}"
    run("undo", "redo")
    run("load tensegrity.yaml")  # which the example of save has written


EXAMPLE_MECHANISM = [
    *(f"ib stick{k}" for k in range(2)),
    "sb stick0 -if damping damping -t 8 0 0",
    "ir stringM1 stick0 stick1 -l 4",
    "ib rod",
    "il rod bob",
    "joint swing Revolute {body: ground, position: [20, 0, 0]} {body: stick1, position: [0, 0, 1]}",
]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("st", {"step", "stime"}),
        ("sb ", {"rod", "bob", "-m", "-t"}),
        ("sb r", {"rod"}),
        ("sb rod -if d", {"damping"}),
        ("sb rod -t 1 ", set()),
        ("sb rod -t 1 2 3 -i", {"-in", "-if"}),
        ("sf rod a", {"air"}),
        ("joint j Rev", {"Revolute", "RevoluteX"}),
        ("joint j Screw rod bob pi", {"pitch="}),
        ("force f RubberString rod bob re", {"rest_length=", "restitution="}),
        ("method d", {"dopri5"}),
        ("help rl", {"rlsode"}),
        ("nonsense x", set()),
        ('sb "ro', set()),
    ],
)
def test_completion(shell, run, line, wanted):
    run("ib rod", "ib bob", "sb rod -if damping air")
    found = set(candidates(shell.session, line))
    assert wanted <= found
    if not wanted:
        assert not found
