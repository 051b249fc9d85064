"""Line editors for the terminal: with history, completion and, by prompt_toolkit, suggestions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

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
