"""The shell at a terminal: prompt, completion, history, and that nothing but quit leaves it."""

import os
import select
import sys
import time

import pytest

pty = pytest.importorskip("pty")
pytest.importorskip("readline")
PROMPT = b"bellcrank> "


class Terminal:
    """The program with a terminal in front of it."""

    def __init__(self, home):
        self.seen = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:  # the program
            os.environ |= {"HOME": str(home), "TERM": "dumb"}
            os.execv(
                sys.executable, [sys.executable, "-c", "from bellcrank.cli import main; main()", "shell"]
            )

    def until(self, text, timeout=60.0):
        """What is written up to a text."""
        end = time.monotonic() + timeout
        while text not in self.seen:
            ready, _, _ = select.select([self.fd], [], [], max(end - time.monotonic(), 0.0))
            assert ready, f"{text!r} is not in {self.seen!r}"
            self.seen += os.read(self.fd, 4096)
        before, _, self.seen = self.seen.partition(text)
        return before.decode()

    def type(self, keys):
        os.write(self.fd, keys.encode())

    def do(self, line):
        """Type a line; what it answers."""
        self.type(line + "\n")
        return self.until(PROMPT)

    def end(self):
        """The exit status."""
        _, status = os.waitpid(self.pid, 0)
        return os.waitstatus_to_exitcode(status)


def test_a_session_at_the_terminal(tmp_path):
    terminal = Terminal(tmp_path)
    terminal.until(PROMPT)
    assert "did you mean 'help'?" in terminal.do("hlp")
    terminal.do("ib rod")
    assert "this name is taken" in terminal.do("ib rod")
    terminal.type("pb r\t")  # completed to "pb rod "
    assert "-t  0 0 0" in terminal.do("")
    terminal.type("\x03")  # Ctrl-C empties the line
    terminal.until(PROMPT)
    assert "2 bodies" not in terminal.do("echo still here")
    terminal.type("quit\n")
    assert terminal.end() == 0

    again = Terminal(tmp_path)
    again.until(PROMPT)
    again.type("\x1b[A\x1b[A")  # up, up: the line before quit
    assert "still here" in again.do("")
    again.type("\x04")  # the end of input
    assert again.end() == 0
