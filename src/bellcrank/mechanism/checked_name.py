"""The check on names of elements."""

from __future__ import annotations

from typing import Any

from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.plain import plain_name


def check_name(element: str, name: Any, forbidden: str = "") -> str:
    """A name: a non-empty text without blanks at its ends, line breaks, or any of the `forbidden` characters.

    Raises MechanismError naming the `element` otherwise.
    """
    if type(name) is str and plain_name(name):
        return name
    with Check(element) as check:
        if not isinstance(name, str):
            check.fault("the name must be a text", name)
        elif not name or name != name.strip() or not name.isprintable():
            check.fault("the name must be a non-empty text without blanks at its ends or line breaks", name)
        elif name.startswith("/") or name.endswith("/") or "//" in name:
            check.fault(
                "the name must not start or end with '/' or hold '//'", name, "'/' parts a prefix from a name"
            )
        elif found := sorted(set(name) & set(forbidden)):
            check.fault(f"the name must not contain {found[0]!r}", name)
    return str(name)
