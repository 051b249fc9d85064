"""Where command lines come from: a person at a terminal, a script, another program."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TextIO

from bellcrank.shell.interpreter import Shell, read_script
from bellcrank.shell.reply import Reply

PROMPT: Final = "bellcrank> "
_REFUSED: Final = 2  # exit status
_HISTORY: Final = 2000  # lines kept from one session to the next


def script(file: str, as_json: bool = False, keep_going: bool = False) -> int:
    """Run a script; the exit status. It stops at the first command that is refused, unless told otherwise.

    Raises OSError and MechanismError if the script cannot be read.
    """
    return _lines(Shell(), read_script(file), file, as_json, keep_going)


def pipe(stream: TextIO, as_json: bool = False) -> int:
    """Run what another program writes, each reply before the next line is read; the exit status."""
    return _lines(Shell(), iter(stream.readline, ""), "<stdin>", as_json, keep_going=True)


def _lines(shell: Shell, lines: Iterable[str], name: str, as_json: bool, keep_going: bool) -> int:
    status = 0
    for number, line in enumerate(lines, start=1):
        text = line.rstrip("\r\n")
        reply = shell.execute(text)
        show(reply, text, as_json, f"{name}:{number}: ")
        if not reply.ok:
            status = _REFUSED
            if not keep_going:
                break
        if reply.leave:
            break
    return status


def show(reply: Reply, line: str, as_json: bool, place: str = "") -> None:
    """Write a reply: one JSON object on standard output, or its text, errors to standard error."""
    if as_json:
        if line.strip():
            print(reply.as_json(line), flush=True)
    elif not reply.ok:
        print(f"{place}{reply.text}", file=sys.stderr, flush=True)
    elif reply.text:
        print(reply.text, flush=True)


def interactive() -> int:
    """Commands typed at a terminal, with history and completion where Python has readline."""
    from bellcrank import __version__

    shell = Shell()
    editor = _editor(shell)
    print(f"bellcrank {__version__}; help lists the commands, quit leaves")
    try:
        while True:
            try:
                line = input(PROMPT)
            except KeyboardInterrupt:
                print()
                continue
            except EOFError:
                print()
                return 0
            reply = shell.execute(line)
            show(reply, line, as_json=False)
            if reply.leave:
                return 0
    finally:
        if editor is not None:
            _keep_history(editor)


def _history_file() -> Path:
    return Path.home() / ".bellcrank_history"


def _editor(shell: Shell) -> Any:
    """The line editor, set up; None where there is none."""
    try:
        import readline
    except ImportError:
        return None
    from bellcrank.shell.completion import candidates

    found: list[str] = []

    def complete(_text: str, number: int) -> str | None:
        if number == 0:
            begun = readline.get_line_buffer()[: readline.get_endidx()]
            found[:] = [_padded(word) for word in candidates(shell.session, begun)]
        return found[number] if number < len(found) else None

    readline.set_completer_delims(" \t")
    readline.set_completer(complete)
    readline.parse_and_bind("tab: complete")
    with suppress(OSError):  # the first session, or a home that cannot be read
        readline.read_history_file(_history_file())
    return readline


def _padded(word: str) -> str:
    """A completed word with a blank after it, but for a field whose value follows."""
    return word if word.endswith("=") else f"{word} "


def _keep_history(editor: Any) -> None:
    with suppress(OSError):  # a home that cannot be written
        editor.set_history_length(_HISTORY)
        editor.write_history_file(_history_file())
