"""Names of elements and symbols, derived from names in files of other programs."""

from __future__ import annotations

import re
from collections.abc import Container

from bellcrank.expression.grammar import RESERVED, is_name


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
