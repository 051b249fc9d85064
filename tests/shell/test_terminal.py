"""The shell at a terminal: prompt, completion, history, and that nothing but quit leaves it."""

import os
import select
import subprocess
import sys
import time

import pytest

pty = pytest.importorskip("pty")
pytest.importorskip("readline")
PROMPT = b"bellcrank> "
# Ctrl-C reaches who has a terminal of their own.
PROGRAM = """
import fcntl, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from bellcrank.cli import main
main()
"""


class Terminal:
    """The program with a terminal in front of it."""

    def __init__(self, home):
        self.seen = b""
        self.fd, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, "shell"],
            stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
            env=os.environ | {"HOME": str(home), "TERM": "dumb"},
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
        return self.process.wait()


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
