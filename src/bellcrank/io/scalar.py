"""Scalars as text: the meaning of a word without quotes, and the text of numbers and strings.

The rules are those of YAML 1.2's core schema, so that ``1e-3`` is a number and ``yes``, ``on`` and ``1:30``
are texts; in YAML 1.1, which most readers follow, these are the other way round. Text written here is read in
the same way under both.
"""

from __future__ import annotations

import re

from bellcrank.io.node import Value

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
