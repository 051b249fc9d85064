"""The contents of a mechanism file as a tree of nodes with their positions; the same for every format."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, TypeAlias

from bellcrank.errors import Fault, Location, MechanismError

Value: TypeAlias = bool | int | float | str | None

DEPTH = 60
"""How deep nodes may be nested."""

NODES = 2_000_000
"""How many nodes a file may have, with those that aliases and merged mappings repeat."""


@dataclass(frozen=True, slots=True)
class Node:
    """A position in the text; line and column count from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Scalar(Node):
    """A number, text, truth value or null; `text` is the original spelling, without quotes."""

    value: Value
    text: str


@dataclass(frozen=True, slots=True)
class Items(Node):
    """A list."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Entries(Node):
    """A mapping, in the order of the text; duplicate keys are kept."""

    entries: tuple[tuple[Scalar, Node], ...]

    def find(self, key: str) -> Node | None:
        """The node under this key (the first one), or None."""
        return next((node for name, node in self.entries if name.text == key), None)


@dataclass(frozen=True)
class Place:
    """The position of the reader in the document.

    file: name of the file, None for a text. path: keys from its top.
    element: the element being read, such as "joint 'a'".
    """

    file: str | None = None
    path: tuple[str, ...] = ()
    element: str = "mechanism file"

    def at(self, key: str) -> Place:
        """The place one key deeper, in the same element."""
        return Place(self.file, (*self.path, key), self.element)

    def of(self, section: str, name: str, noun: str) -> Place:
        """The place of a named element in a section."""
        return Place(self.file, (*self.path, section, name), f"{noun} {name!r}")

    def location(self, node: Node | None = None) -> Location:
        """The location of a node found at this place."""
        key = ".".join(self.path) or None
        return (
            Location(self.file, key=key) if node is None else Location(self.file, node.line, key, node.column)
        )


def plain(node: Node) -> Any:
    """The node as Python values: dict, list and scalars."""
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, Items):
        return [plain(item) for item in node.items]
    assert isinstance(node, Entries)
    return {key.text: plain(value) for key, value in node.entries}


def described(node: Node) -> str:
    """A description of a node in words."""
    if isinstance(node, Items):
        return "a list"
    if isinstance(node, Entries):
        return "a mapping"
    assert isinstance(node, Scalar)
    if node.value is None:
        return "nothing"
    if isinstance(node.value, bool):
        return "a truth value"
    return "a text" if isinstance(node.value, str) else "a number"


def syntax_error(file: str | None, rule: str, line: int, column: int, advice: str = "") -> MechanismError:
    """The error for a text that is not of its format."""
    element = "mechanism text" if file is None else "mechanism file"
    return MechanismError(Fault(element, rule, advice=advice, location=Location(file, line, None, column)))


_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_WORDS: dict[str, Value] = {
    "": None,
    "~": None,
    "null": None,
    "true": True,
    "false": False,
    ".nan": float("nan"),
    "nan": float("nan"),
    ".inf": float("inf"),
    "inf": float("inf"),
    "infinity": float("inf"),
}
WIDTH = 110
"""How long the lines of written files may be."""

_LONG = 300  # more digits than this make a whole number too large for a float anyway
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./ -]*(?<! )")
_YAML_11 = {"y", "n", "yes", "no", "on", "off"}
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def resolved(text: str) -> Value:
    """The value of a word without quotes. Infinity and "not a number" give such floats, refused later."""
    if _INTEGER.fullmatch(text):
        return int(text) if len(text) <= _LONG else float(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    lower = text.lower()
    unsigned = lower[1:] if lower[:1] in ("-", "+") and lower[1:] in (".inf", "inf", "infinity") else lower
    if unsigned in _WORDS and (unsigned != lower or lower in _WORDS):
        value = _WORDS[unsigned]
        return -value if lower.startswith("-") and isinstance(value, float) else value
    return text


def written(value: Value) -> str:
    """The scalar as YAML: numbers in the fewest digits for the same float, texts quoted where needed."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return repr(int(value))
    if isinstance(value, float):
        text = repr(float(value))
        return text if "." in text else text.replace("e", ".0e")
    if _PLAIN.fullmatch(value) and value.lower() not in _YAML_11 and isinstance(resolved(value), str):
        return value
    return '"' + "".join(_escaped(char) for char in value) + '"'


def _escaped(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char.isprintable():
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def filled(items: list[str], margin: str) -> str:
    """Items separated by commas, filled into lines that start with the margin."""
    lines = [margin]
    for number, item in enumerate(items, start=1):
        text = item if number == len(items) else item + ", "
        if lines[-1] != margin and len(lines[-1]) + len(text.rstrip()) > WIDTH:
            lines[-1] = lines[-1].rstrip()
            lines.append(margin)
        lines[-1] += text
    return "\n".join(lines)
