"""The language of expressions in files and commands: its tokens, operators, functions and constants."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import e, pi
from typing import Final

CONSTANTS: Final = {"pi": pi, "e": e}
"""Names that stand for a number."""

TIME: Final = "t"
"""The name of the time, s."""

FUNCTIONS: Final[dict[str, tuple[int, int | None]]] = {
    **dict.fromkeys(("sin", "cos", "tan", "asin", "acos", "atan"), (1, 1)),
    **dict.fromkeys(("sinh", "cosh", "tanh", "exp", "log", "sqrt"), (1, 1)),
    **dict.fromkeys(("abs", "sign", "floor"), (1, 1)),
    **dict.fromkeys(("atan2", "pow"), (2, 2)),
    **dict.fromkeys(("min", "max"), (2, None)),
    "if": (3, 3),
    "piecewise": (3, None),
}
"""The functions, with the least and the greatest number of their operands (None: any)."""

WORDS: Final = ("and", "or", "not")
"""Words between conditions."""

RESERVED: Final = frozenset({TIME, *CONSTANTS, *FUNCTIONS, *WORDS})
"""Names that mean something already."""

COMPARISONS: Final = {"<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal", "==": "equal"}
"""The operators that make conditions, and the operations that builders take."""

LENGTH: Final = 50_000
"""How many characters an expression may have."""

DEPTH: Final = 80
"""How deep parentheses, signs and powers may be nested."""

_TOKEN = re.compile(
    r"(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z_\u0370-\u03ff][A-Za-z0-9_\u0370-\u03ff]*(?:\.[A-Za-z_\u0370-\u03ff][A-Za-z0-9_\u0370-\u03ff]*)*)"
    r"|(?P<operator>\*\*|<=|>=|==|!=|&&|\|\||[-+*/^(),<>=\[\]])"
)
_BLANK = re.compile(r"\s*")
_NAME = re.compile(r"[A-Za-z_\u0370-\u03ff][A-Za-z0-9_\u0370-\u03ff]*")

LOOKALIKES: Final = {
    **dict.fromkeys("−–", "write '-'"),
    **dict.fromkeys("·×", "write '*'"),
    "÷": "write '/'",
    "≤": "write '<='",
    "≥": "write '>='",
    "²": "write '^2'",
    "³": "write '^3'",
    "√": "write sqrt(...)",
    ";": "write ','",
    "{": "write '('",
    "}": "write ')'",
    "%": "write / 100",
}
"""Characters that look like something that the language has."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token of the text: "number", "name", "operator", "end", or "other" for anything invalid."""

    kind: str
    text: str
    start: int

    def __str__(self) -> str:
        if self.kind == "end":
            return "the end"
        return repr(self.text if len(self.text) <= 40 else self.text[:37] + "...")


def tokens(text: str) -> list[Token]:
    """The tokens of a text, ending with "end", or with "other" at the first invalid character."""
    found: list[Token] = []
    at = 0
    while True:
        blank = _BLANK.match(text, at)
        at = at if blank is None else blank.end()
        if at == len(text):
            return [*found, Token("end", "", at)]
        match = _TOKEN.match(text, at)
        if match is None:
            return [*found, Token("other", text[at], at)]
        found.append(Token(str(match.lastgroup), match.group(), at))
        at = match.end()


def is_name(text: str) -> bool:
    """Whether a text can be the name of a parameter or symbol: letters (Latin, Greek), digits and "_"."""
    return _NAME.fullmatch(text) is not None
