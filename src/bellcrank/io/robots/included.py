"""Files that are included by other files of a model, within one bound of bytes and elements for all."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from bellcrank.io.robots.source import Source
from bellcrank.io.robots.xml_tree import ELEMENTS, SIZE, Element, parse


@dataclass
class Included:
    """Reads the files that a model includes; their faults are noted in its source."""

    source: Source
    elements: int = 0
    size: int = 0

    def read(self, at: Element, path: Path, shown: str) -> Element | None:
        """The root of a file that is included at an element, where it is called `shown`; None for a fault."""
        source, root = self.source, None
        name = os.path.normpath(Path(source.path).parent / os.path.relpath(path, source.folder))
        try:
            with source.faults.collect(at.location):
                self.size += path.stat().st_size
                root = parse(path, name) if self.size <= SIZE else None
        except OSError as error:
            source.fault(at, f"the included file cannot be read ({error.strerror})", shown)
            return None
        self.elements += 0 if root is None else _count(root)
        if self.size > SIZE or self.elements > ELEMENTS:
            rule = f"included files have more than {SIZE} bytes or {ELEMENTS} elements together"
            source.fault(at, rule, shown)
            source.faults.raise_any()
        return root


def _count(at: Element) -> int:
    return 1 + sum(map(_count, at.children))
