"""Names of elements and symbols, derived from names in files of other programs, and names in such files."""

from __future__ import annotations

import re
from collections.abc import Container

from bellcrank.expression.parser import RESERVED, is_name


def element_name(wanted: str, taken: Container[str] = (), forbidden: str = "") -> str:
    """A valid, unused element name: invalid characters are replaced, and primes added if it is taken."""
    name = "".join("_" if c in forbidden or not c.isprintable() else c for c in wanted.strip())
    name = re.sub("/{2,}", "/", name).strip("/").strip() or "unnamed"
    if name == "ground":
        name = "ground_"
    while name in taken:
        name += "'"
    return name


def symbol_name(wanted: str, taken: Container[str] = ()) -> str:
    """A name that is valid in expressions."""
    name = re.sub(r"\W", "_", wanted.strip(), flags=re.ASCII) or "q"
    if not is_name(name):
        name = f"q_{name}"
    while name in RESERVED or name in taken:
        name += "_"
    return name


class FileNames:
    """The names that a file has so far, by what must differ: of bodies, of joints, ...

    >>> names = FileNames()
    >>> names.take("body", "arm"), names.take("body", "arm"), names.take("joint", "arm")
    ('arm', "arm'", 'arm')
    """

    def __init__(self) -> None:
        self._taken: dict[str, set[str]] = {}

    def take(self, kind: str, wanted: str) -> str:
        """An unused name, the wanted one or one with primes, which is then taken."""
        taken = self._taken.setdefault(kind, set())
        name = element_name(wanted, taken)
        taken.add(name)
        return name
