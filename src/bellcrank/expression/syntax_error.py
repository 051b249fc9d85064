"""The error for a text that is not an expression, which points at the character."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from bellcrank.errors import Fault, MechanismError

_WIDTH = 76  # characters of a long text that a message shows


class ExpressionError(MechanismError):
    """A text that is not an expression.

    text: the text. position: the character at fault, from 0. rule, advice: what is wrong, and what to do.
    """

    def __init__(
        self, text: str, position: int, rule: str, advice: str = "", element: str = "expression"
    ) -> None:
        self.text = text
        self.position = position
        self.rule = rule
        self.advice = advice
        self.element = element
        super().__init__(Fault(element, rule, None, advice, None, excerpt(text, position)))


def excerpt(text: str, position: int) -> str:
    """The line of the text with a caret below the character; for a long line, the part around it."""
    shown = "".join(char if char.isprintable() else " " for char in text)
    start = max(0, min(position - _WIDTH // 2, len(shown) - _WIDTH))
    end = min(len(shown), start + _WIDTH)
    head, tail = "..." if start > 0 else "", "..." if end < len(shown) else ""
    return f"{head}{shown[start:end]}{tail}\n{' ' * (len(head) + position - start)}^"


def nearest_name(name: str, known: Iterable[str], functions: Iterable[str]) -> str:
    """Advice that names similar names, or those available."""
    names = list(known)
    every = [*names, *functions]
    close = get_close_matches(name, every, n=3, cutoff=0.6)
    if not close:
        lower = {other.lower(): other for other in every}
        close = [lower[name.lower()]] if name.lower() in lower else []
    if close:
        return f"did you mean {' or '.join(map(repr, close))}?"
    shown = names[:10]
    return f"known are {', '.join(shown)}" + (", ..." if len(names) > len(shown) else "")
