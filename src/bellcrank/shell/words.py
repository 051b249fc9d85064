"""A command line as words, separated by blanks; quotes and brackets group, and `;` begins a comment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bellcrank.errors import Fault, MechanismError

_CLOSING: Final = {"(": ")", "[": "]", "{": "}"}
LONGEST: Final = 100_000
"""Characters of a line."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word as typed, without enclosing quotes; column counts from 1."""

    text: str
    column: int
    quoted: bool = False


def words(line: str) -> list[Word]:
    """The words of a line. Raises MechanismError for a quote or bracket that is not closed."""
    if len(line) > LONGEST:
        raise MechanismError(Fault("line", f"at most {LONGEST} characters are read", len(line)))
    if (at := line.find("\0")) >= 0:
        raise MechanismError(Fault("line", f"there is a zero byte in column {at + 1}, which has no meaning"))
    found: list[Word] = []
    at = 0
    while at < len(line) and line[at] != ";":
        if line[at].isspace():
            at += 1
            continue
        end = _end_of_word(line, at)
        text = line[at:end]
        whole = text[0] in "\"'" and text.find(text[0], 1) == len(text) - 1
        found.append(Word(text[1:-1] if whole else text, at + 1, whole))
        at = end
    return found


def _end_of_word(line: str, start: int) -> int:
    """The end of the word that starts at a position."""
    expected: list[str] = []
    at = start
    while at < len(line):
        char = line[at]
        if char in "\"'":
            closed = line.find(char, at + 1)
            if closed < 0:
                raise MechanismError(Fault("line", f"the quote in column {at + 1} is not closed", line[at:]))
            at = closed
        elif char in _CLOSING:
            expected.append(_CLOSING[char])
        elif expected and char == expected[-1]:
            expected.pop()
        elif not expected and (char.isspace() or char == ";"):
            break
        at += 1
    if expected:
        rule = f"a {expected[-1]!r} is missing in the word that starts in column {start + 1}"
        raise MechanismError(Fault("line", rule, line[start:]))
    return at


def unquoted(text: str) -> str:
    """A text without the quotes that enclose it entirely."""
    if len(text) > 1 and text[0] in "\"'" and text.find(text[0], 1) == len(text) - 1:
        return text[1:-1]
    return text
