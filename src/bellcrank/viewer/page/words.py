"""Messages in the words of the page: they speak of its buttons, not of arguments of Python."""

from __future__ import annotations

import re
from typing import Final

_WORDS: Final = (
    (r"(?:bc\.)?simulate\((?:\.\.\., *)?method='(\w+)'\)", r"the method \1, beside the clock"),
    (r"\bmethod='(\w+)'", r"the method \1, beside the clock"),
    (r"\bformulation='(\w+)'", r"the equations \1, beside the clock"),
    (r"\bstep=([\d.e+-]+)", r"a step of \1 s, beside the clock"),
    (r"\bassemble brings the bodies together", "the button Assemble brings the bodies together"),
    (r"\bmake one: ib <name>", "take one from the tools at the left"),
)


def in_words_of_the_page(text: str) -> str:
    """A message for people at the page."""
    for pattern, instead in _WORDS:
        text = re.sub(pattern, instead, text)
    return text
