"""The sources of command lines: a person at a terminal, a script, another program."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol

from bellcrank.errors import Fault, MechanismError
from bellcrank.shell.interpreter import Shell, read_script
from bellcrank.shell.language import Reply, failure
from bellcrank.shell.parsing import LONGEST
from bellcrank.shell.places import Places

_REFUSED: Final = 2  # exit status


class Doer(Protocol):
    """An object that executes command lines: a shell, or a front end of a shared one."""

    def complete(self, begun: str) -> list[str]:
        """The words that may complete the last word of a line."""

    def execute(self, line: str) -> Reply:
        """Execute a command line."""


def script(file: str, places: Places, as_json: bool = False, keep_going: bool = False) -> int:
    """Run a script; the exit status. It stops at the first refused command, unless specified otherwise.

    Raises OSError and MechanismError if the script cannot be read.
    """
    return answer(Shell(places), read_script(file), file, as_json, keep_going)


def pipe(stream: BinaryIO, places: Places, as_json: bool = False) -> int:
    """Execute lines of another program, in UTF-8, replying to each before the next; the exit status."""
    return answer(Shell(places), received(stream), "<stdin>", as_json, keep_going=True)


def received(stream: BinaryIO) -> Iterator[str | Reply]:
    """The lines of a stream, and refusing replies for those that cannot be read: too long, or not UTF-8."""
    most = 4 * LONGEST  # bytes of UTF-8
    for line in iter(lambda: stream.readline(most), b""):
        if len(line) == most and not line.endswith(b"\n"):
            while (rest := stream.readline(most)) and not rest.endswith(b"\n"):
                pass
            yield _unread(f"at most {LONGEST} characters are read")
            continue
        try:
            yield line.decode("utf-8").removeprefix("\ufeff")
        except UnicodeDecodeError as error:
            yield _unread(f"it is not UTF-8: byte 0x{line[error.start]:02x} in column {error.start + 1}")


def _unread(rule: str) -> Reply:
    return failure(MechanismError(Fault("line", rule)))


def answer(shell: Doer, lines: Iterable[str | Reply], name: str, as_json: bool, keep_going: bool) -> int:
    """Execute command lines, replying to each before the next one is read; return the exit status.

    lines: may contain a reply in place of a line that cannot be read.
    """
    status = 0
    for number, line in enumerate(lines, start=1):
        text = None if isinstance(line, Reply) else line.rstrip("\r\n")
        reply = line if isinstance(line, Reply) else shell.execute(line.rstrip("\r\n"))
        show(reply, text, as_json, f"{name}:{number}: ")
        if not reply.ok:
            status = _REFUSED
            if not keep_going:
                break
        if reply.leave:
            break
    return status


def show(reply: Reply, line: str | None, as_json: bool, place: str = "") -> None:
    """Write a reply: one JSON object on standard output, or its text, with errors on standard error.

    line: the command; None for one that could not be read.
    """
    if as_json:
        if line is None or line.strip():
            sys.stdout.write(f"{reply.as_json(line)}\n")  # immediately: others may write lines meanwhile
            sys.stdout.flush()
    elif not reply.ok:
        print(f"{place}{reply.text}", file=sys.stderr, flush=True)
    elif reply.text:
        print(reply.text, flush=True)


def interactive(shell: Doer) -> int:
    """Read and execute commands typed at a terminal."""
    from bellcrank import __version__

    print(f"bellcrank {__version__}; help lists the commands, quit leaves")
    for line in typed_lines(shell.complete):
        try:
            reply = shell.execute(line)
            show(reply, line, as_json=False)
        except KeyboardInterrupt:  # Ctrl-C before the next prompt: there is no line to be cleared yet
            print()
            continue
        if reply.leave:
            break
    return 0


PROMPT: Final = "bellcrank> "
_HISTORY: Final = 2000  # lines of history kept between sessions

Complete = Callable[[str], list[str]]
"""The words that may complete the last word of the text before the cursor."""


def typed_lines(complete: Complete) -> Iterator[str]:
    """The lines typed by a person, until the end of input. Ctrl-C clears the line that is being typed.

    The editor is prompt_toolkit's (extra `shell`), or Python's readline, or none.
    """
    read, leave = (_rich_editor if find_spec("prompt_toolkit") else _plain_editor)(complete)
    try:
        while True:
            try:
                line = read()
            except KeyboardInterrupt:
                print()
                continue
            except EOFError:
                print()
                return
            yield line
    finally:
        leave()


def _history_file(editor: str) -> Path:
    return Path.home() / f".bellcrank_history{editor}"


def _rich_editor(complete: Complete) -> tuple[Callable[[], str], Callable[[], None]]:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
    from prompt_toolkit.completion import CompleteEvent, Completer, Completion
    from prompt_toolkit.document import Document
    from prompt_toolkit.history import FileHistory, InMemoryHistory

    class Words(Completer):
        def get_completions(self, document: Document, _event: CompleteEvent) -> Iterator[Completion]:
            begun = document.get_word_before_cursor(WORD=True)
            for word in complete(document.text_before_cursor):
                yield Completion(_padded(word), start_position=-len(begun), display=word)

    file = _history_file(".rich")  # which has timestamps between its lines
    try:
        file.touch()
        history: Any = FileHistory(str(file))
    except OSError:  # the home folder is not writable
        history = InMemoryHistory()
    session: Any = PromptSession(
        history=history, completer=Words(), complete_while_typing=False, auto_suggest=AutoSuggestFromHistory()
    )
    return lambda: str(session.prompt(PROMPT)), lambda: None


def _plain_editor(complete: Complete) -> tuple[Callable[[], str], Callable[[], None]]:
    try:
        import readline
    except ImportError:  # Windows
        return lambda: input(PROMPT), lambda: None
    found: list[str] = []

    def completed(_text: str, number: int) -> str | None:
        if number == 0:
            begun = readline.get_line_buffer()[: readline.get_endidx()]
            found[:] = [_padded(word) for word in complete(begun)]
        return found[number] if number < len(found) else None

    readline.set_completer_delims(" \t")
    readline.set_completer(completed)
    readline.parse_and_bind("tab: complete")
    with suppress(OSError):  # the first session, or the home folder is not readable
        readline.read_history_file(_history_file(""))

    def keep() -> None:
        with suppress(OSError):  # the home folder is not writable
            readline.set_history_length(_HISTORY)
            readline.write_history_file(_history_file(""))

    return lambda: input(PROMPT), keep


def _padded(word: str) -> str:
    """A completed word followed by a blank, except after a field or a folder, where the word continues."""
    return word if word.endswith(("=", "/")) else f"{word} "
