"""Parsing words as the values of a command's arguments, options and fields, checked against the mechanism."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final

import numpy as np

from bellcrank.errors import Fault, FaultList, MechanismError
from bellcrank.io.decode import FAILED, Decoder
from bellcrank.io.fields import wanted
from bellcrank.io.node import Place, Scalar, resolved
from bellcrank.mechanism.checking import nearest
from bellcrank.mechanism.marker import GROUND
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.parameters import values_of
from bellcrank.mechanism.units import read_quantity
from bellcrank.shell.language import KINDS, Argument, Command, Given, Option

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


_FIELD = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(?!=)")
_NUMBER: Final = wanted(float)


def parsed(command: Command, given: Sequence[Word], mechanism: Mechanism) -> Given:
    """The values given by the words after a command's name.

    Raises MechanismError that states what was expected.
    """
    reader = _Reader(command, given, mechanism)
    reader.read()
    return Given(reader.values, reader.options, reader.fields)


def refuse(command: Command, rule: str, value: object = None, advice: str = "") -> MechanismError:
    """The error of a command."""
    return MechanismError(Fault(command.name, rule, value, advice or f"usage: {command.usage}"))


def plain_fields(fields: Mapping[str, str], known: Collection[str], where: str) -> dict[str, Any]:
    """Values of key=value: numbers, true and false, texts. Raises MechanismError for an unknown key."""
    if strange := [name for name in fields if name not in known]:
        raise MechanismError(Fault(where, f"it takes {', '.join(known)}", strange[0]))
    return {name: resolved(text) for name, text in fields.items()}


class _Reader:
    def __init__(self, command: Command, given: Sequence[Word], mechanism: Mechanism) -> None:
        self.command = command
        self.mechanism = mechanism
        self.words = list(given)
        self.known = {option.word: option for option in command.options}
        self.values: dict[str, Any] = {}
        self.options: dict[str, list[tuple[Any, ...]]] = {}
        self.fields: dict[str, str] = {}

    def read(self) -> None:
        """Options and fields at any position, and the arguments in their order."""
        left: list[Word] = []
        while self.words:
            word = self.words.pop(0)
            option = None if word.quoted else self.known.get(word.text)
            match = None if word.quoted else _FIELD.match(word.text)
            if option is not None:
                self.options.setdefault(option.word, []).append(self.option(option))
            elif match is not None and self.command.fields:
                if match[1] in self.fields:
                    raise refuse(self.command, f"{match[1]} is given twice", word.text)
                self.fields[match[1]] = unquoted(word.text[match.end() :])
            else:
                left.append(word)
        self.arguments(left)

    def option(self, option: Option) -> tuple[Any, ...]:
        """The values of an option, from the words after it."""
        found = []
        for argument in option.arguments:
            values = []
            for _ in range(argument.count):
                if not self.words or (not self.words[0].quoted and self.words[0].text in self.known):
                    rule = f"{option.word} takes {option.usage.partition(' ')[2]}"
                    shown = self.words[0].text if self.words else None
                    raise refuse(self.command, f"{rule}; something is missing", shown)
                values.append(self.value(argument, self.words.pop(0), option.word))
            found.append(values[0] if argument.count == 1 else tuple(values))
        return tuple(found)

    def arguments(self, left: list[Word]) -> None:
        """The arguments in their order."""
        for argument in self.command.arguments:
            if argument.repeated:
                self.values[argument.name] = [self.value(argument, word) for word in left]
                left = []
                continue
            if not left and argument.optional:
                continue
            if len(left) < argument.count:
                rule = f"{argument.usage} is missing: {KINDS[argument.kind]}"
                raise refuse(self.command, rule)
            values = [self.value(argument, left.pop(0)) for _ in range(argument.count)]
            self.values[argument.name] = values[0] if argument.count == 1 else tuple(values)
        if left:
            advice = ""
            if left[0].text.startswith("-") and self.known:
                advice = f"options: {nearest(left[0].text, self.known)}"
            raise refuse(self.command, "this word has no place here", left[0].text, advice)

    def value(self, argument: Argument, word: Word, option: str = "") -> Any:
        """The value of one word."""
        where = f"{self.command.name} {option}".strip()
        return _READERS[argument.kind](where, argument, word, self.mechanism)


def _number(where: str, argument: Argument, word: Word, mechanism: Mechanism) -> float:
    """A number; expressions are evaluated with the current parameters."""
    faults = FaultList()
    decoder = Decoder(faults)
    decoder.names = {name: parameter.symbol for name, parameter in mechanism.parameters.items()}
    value = resolved(word.text)
    if value is None or isinstance(value, bool):
        raise MechanismError(Fault(where, "a number is needed here", word.text))
    node, place = Scalar(1, word.column, value, word.text), Place(element=where)
    found = decoder.value(node, _NUMBER, place, argument.units)
    if found is FAILED:
        raise MechanismError([Fault(f.element, f.rule, f.value, f.advice, None, f.excerpt) for f in faults])
    if isinstance(found, str):  # a number with one of several units
        read = read_quantity(found)
        assert read is not None
        found = read.value
    if not isinstance(found, (int, float)):
        known = {parameter.symbol: parameter.value for parameter in mechanism.parameters.values()}
        found = values_of([found], known)[found]
    number = float(found)
    if not isfinite(number):
        raise MechanismError(Fault(where, "the number must be finite", word.text))
    return number


def _coordinate(where: str, argument: Argument, word: Word, mechanism: Mechanism) -> float | str:
    """A number, or a text with a unit, which the joint compares with that of its coordinate."""
    number = _number(where, argument, word, mechanism)
    return word.text if isinstance(resolved(word.text), str) and read_quantity(word.text) else number


def _count(where: str, argument: Argument, word: Word, mechanism: Mechanism) -> int:
    number = _number(where, argument, word, mechanism)
    if number != int(number) or not 1 <= number <= 1e9:
        raise MechanismError(Fault(where, "a whole number, at least 1, is needed here", word.text))
    return int(number)


def _text(where: str, argument: Argument, word: Word, mechanism: Mechanism) -> str:  # noqa: ARG001
    if not word.text and argument.kind != "text":
        raise MechanismError(Fault(where, f"<{argument.name}> must not be empty"))
    return word.text


def _choice(where: str, argument: Argument, word: Word, mechanism: Mechanism) -> str:  # noqa: ARG001
    if word.text not in argument.choices:
        rule = f"one of {', '.join(argument.choices)} is expected"
        raise MechanismError(Fault(where, rule, word.text, nearest(word.text, argument.choices)))
    return word.text


def _known(noun: str, names: Callable[[Mechanism], Collection[str]]) -> Callable[..., str]:
    def read(where: str, argument: Argument, word: Word, mechanism: Mechanism) -> str:  # noqa: ARG001
        known = names(mechanism)
        if word.text not in known:
            rule = f"there is no {noun} of this name"
            raise MechanismError(Fault(where, rule, word.text, nearest(word.text, known)))
        return word.text

    return read


_READERS: Final[dict[str, Callable[..., Any]]] = {
    "number": _number,
    "coordinate": _coordinate,
    "count": _count,
    "choice": _choice,
    **dict.fromkeys(("name", "end", "file", "text", "force", "element", "command"), _text),
    "body": _known("body", lambda mechanism: mechanism.bodies),
    "carrier": _known("body", lambda mechanism: [GROUND, *mechanism.bodies]),
    "joint": _known("joint", lambda mechanism: mechanism.joints),
}


def unit_quaternion(where: str, quaternion: Any) -> tuple[float, float, float, float]:
    """The unit quaternion parallel to this one. Raises MechanismError for zero."""
    length = float(np.linalg.norm(quaternion))
    if not 1e-150 < length < 1e150:
        rule = "a quaternion must not be zero, and not huge"
        raise MechanismError(Fault(where, rule, quaternion, "no turn is 1 0 0 0"))
    w, x, y, z = (float(q) / length for q in quaternion)
    return (w, x, y, z)
