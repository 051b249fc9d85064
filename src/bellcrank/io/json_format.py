"""Conversion between JSON text and nodes.

The JSON parser of the standard library does not keep positions, and YAML readers fail on JSON with tabs or
with characters beyond the basic plane; hence this scanner, which uses the standard library's for strings.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

from bellcrank.io.node import (
    DEPTH,
    NODES,
    WIDTH,
    Entries,
    Items,
    Node,
    Scalar,
    filled,
    resolved,
    syntax_error,
)

_BLANK = re.compile(r"[ \t\r\n]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_WORD = re.compile(r"-?[A-Za-z_][A-Za-z0-9_]*")
_WORDS: dict[str, Any] = {
    "null": None,
    "true": True,
    "false": False,
    # These are not JSON, yet many programs write them; they are refused later, as not finite.
    "NaN": float("nan"),
    "Infinity": float("inf"),
    "-Infinity": float("-inf"),
}


class _Scanner:
    def __init__(self, text: str, file: str | None) -> None:
        self.text = text
        self.file = file
        self.starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self.at = 0
        self.made = 0  # nodes

    def place(self, index: int) -> tuple[int, int]:
        line = bisect_right(self.starts, index)
        return line, index - self.starts[line - 1] + 1

    def fail(self, rule: str, index: int | None = None, advice: str = "") -> Exception:
        return syntax_error(self.file, rule, *self.place(self.at if index is None else index), advice)

    def skip(self) -> str:
        """Skip blanks; return the next character, or "" at the end."""
        found = _BLANK.match(self.text, self.at)
        assert found is not None
        self.at = found.end()
        return self.text[self.at : self.at + 1]

    def string(self) -> Scalar:
        start = self.at
        try:
            value, self.at = scanstring(self.text, start + 1, True)
        except json.JSONDecodeError as error:
            advice = "the file may have been cut off" if "Unterminated" in error.msg else ""
            raise self.fail(f"not JSON: {error.msg[0].lower()}{error.msg[1:]}", error.pos, advice) from error
        return Scalar(*self.place(start), value, value)

    def value(self, depth: int = 0) -> Node:
        char, start = self.skip(), self.at
        self.made += 1
        if self.made > NODES:
            raise self.fail(f"it has more than {NODES} values")
        if depth > DEPTH:
            raise self.fail(f"nested more than {DEPTH} deep")
        if char == '"':
            return self.string()
        if char == "[":
            return self.items(depth)
        if char == "{":
            return self.entries(depth)
        if found := _NUMBER.match(self.text, start):
            self.at = found.end()
            return Scalar(*self.place(start), resolved(found[0]), found[0])
        if (found := _WORD.match(self.text, start)) and found[0] in _WORDS:
            self.at = found.end()
            return Scalar(*self.place(start), _WORDS[found[0]], found[0])
        if not char:
            raise self.fail(
                "not JSON: it ends where a value should come", advice="the file may have been cut off"
            )
        advice = 'texts and keys stand in double quotes, "like this"' if char.isalpha() or char == "'" else ""
        raise self.fail(f"not JSON: expected a value, found {(found[0] if found else char)!r}", advice=advice)

    def items(self, depth: int) -> Items:
        place, found = self.place(self.at), []
        self.at += 1
        if self.skip() != "]":
            found.append(self.value(depth + 1))
            while self.more("]"):
                found.append(self.value(depth + 1))
        self.at += 1
        return Items(*place, tuple(found))

    def entries(self, depth: int) -> Entries:
        place, found = self.place(self.at), []
        self.at += 1
        if self.skip() != "}":
            found.append(self.entry(depth))
            while self.more("}"):
                found.append(self.entry(depth))
        self.at += 1
        return Entries(*place, tuple(found))

    def entry(self, depth: int) -> tuple[Scalar, Node]:
        if self.skip() != '"':
            raise self.fail("not JSON: expected a key in double quotes", advice=self.cut_off())
        key = self.string()
        if self.skip() != ":":
            raise self.fail(f"not JSON: expected ':' after the key {key.text!r}", advice=self.cut_off())
        self.at += 1
        return key, self.value(depth + 1)

    def more(self, closing: str) -> bool:
        """Skip a comma (True) or stop before the closing bracket (False)."""
        char = self.skip()
        if char == closing:
            return False
        if char != ",":
            raise self.fail(f"not JSON: expected ',' or {closing!r}", advice=self.cut_off())
        self.at += 1
        return True

    def cut_off(self) -> str:
        return "" if self.at < len(self.text) else "the file may have been cut off"


def parse(text: str, file: str | None = None) -> Node | None:
    """The tree of a JSON text; None if it is empty. Raises MechanismError if it is not JSON."""
    scanner = _Scanner(text, file)
    if not scanner.skip():
        return None
    node = scanner.value()
    if scanner.skip():
        raise scanner.fail("not JSON: something follows after the end")
    return node


def write(data: dict[str, Any]) -> str:
    """The text of plain data (dicts, lists and scalars), with short values on one line."""
    return _written(data, 0, 0) + "\n"


def _written(value: Any, indent: int, used: int) -> str:
    line = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if not value or not isinstance(value, (dict, list, tuple)):
        return line
    if indent > 0 and used + len(line) <= WIDTH:
        return line
    margin = "  " * (indent + 1)
    if isinstance(value, (list, tuple)) and all(not isinstance(v, (dict, list, tuple)) for v in value):
        return f"[\n{filled([_written(v, 1, 0) for v in value], margin)}\n{'  ' * indent}]"
    if isinstance(value, dict):
        keys = [f"{json.dumps(key, ensure_ascii=False)}: " for key in value]
        parts = [
            key + _written(v, indent + 1, len(margin + key) + 1)
            for key, v in zip(keys, value.values(), strict=True)
        ]
        opening, closing = "{", "}"
    else:
        parts = [_written(v, indent + 1, len(margin) + 1) for v in value]
        opening, closing = "[", "]"
    body = ",\n".join(margin + part for part in parts)
    return f"{opening}\n{body}\n{'  ' * indent}{closing}"
