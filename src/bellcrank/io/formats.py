"""The formats of mechanism files: YAML and JSON."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bellcrank.errors import Unsupported
from bellcrank.io import json_format, yaml_format
from bellcrank.io.elsewhere import way_from
from bellcrank.io.node import Node
from bellcrank.mechanism.checking import required_path


@dataclass(frozen=True)
class Format:
    """The functions that convert a text to nodes, and plain data to a text."""

    parse: Callable[[str, str | None], Node | None]
    write: Callable[[dict[str, Any]], str]


FORMATS: Final = {
    "yaml": Format(yaml_format.parse, yaml_format.write),
    "json": Format(json_format.parse, json_format.write),
}
SUFFIXES: Final = {".yaml": "yaml", ".yml": "yaml", ".json": "json"}


def format_named(name: str) -> Format:
    """The format of that name. Raises Unsupported for any other."""
    if not isinstance(name, str) or name not in FORMATS:
        raise Unsupported(f"there is no file format {name!r}; use one of {', '.join(map(repr, FORMATS))}")
    return FORMATS[name]


def format_of(path: str | os.PathLike[str], others: Iterable[str] = (), reading: bool = False) -> Format:
    """The format for a path's suffix. others: suffixes that are also allowed.

    Raises Unsupported for any other; if it is to be read, with the way from the program whose suffix it is.
    """
    required_path("mechanism file", path)
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        if reading and (way := way_from(Path(path))):
            raise Unsupported(way)
        known = ", ".join((*SUFFIXES, *others))
        raise Unsupported(f"a mechanism file ends in {known}, not as in {str(path)!r}")
    return FORMATS[SUFFIXES[suffix]]
