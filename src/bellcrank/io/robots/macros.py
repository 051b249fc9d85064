"""Macros of xacro in model files: what must be expanded first is refused, definitions that remain are not.

They are not expanded here: their expressions are Python, which the package xacro evaluates, and their
substitutions read the environment and other files.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Final

from bellcrank.io.robots.source import Source
from bellcrank.io.robots.xml_tree import Element

SUFFIX: Final = ".xacro"
_DEFINITIONS: Final = ("property", "arg", "macro")
_EXPRESSION: Final = re.compile(r"\$\{|\$\((?!find )")


def expand(source: Source, root: Element) -> None:
    """Remove definitions that nothing uses. Raises MechanismError where anything must be expanded first."""
    prefixes = {key.removeprefix("xmlns:") for key, text in root.attributes.items() if "xacro" in text}
    reader = _Macros(source, {"xacro", *prefixes})
    place = reader.unexpanded(root)
    if place is None and reader.left and not _is_whole(root):
        place = reader.left[0]
    if place is not None:
        advice = f"expand them first: pip install xacro; {_command(source.path.name, root.tag)}"
        source.fault(place, "macros are not expanded here", reader.expression, advice)
        source.faults.raise_any()
    for at in reader.left:
        source.leave(at, str(at), "it belongs to macros, which nothing here uses")


def _command(name: str, tag: str) -> str:
    """The command that expands a file, with a fitting name for the result."""
    target = name.removesuffix(SUFFIX)
    if target == name:
        target = f"expanded_{name}"
    elif "." not in target:
        target += ".urdf" if tag == "robot" else f".{tag}"
    return f"xacro {shlex.quote(name)} > {shlex.quote(target)}"


class _Macros:
    """left: definitions, which are taken out. expression: the first one that must be evaluated."""

    def __init__(self, source: Source, prefixes: set[str]) -> None:
        self.left: list[Element] = []
        self.expression: str | None = None
        self._prefixes = prefixes
        # What a file named .xacro includes is part of it; elsewhere the robot may be whole without it.
        self._definitions = (*_DEFINITIONS, *(() if source.path.suffix == SUFFIX else ("include",)))

    def unexpanded(self, root: Element) -> Element | None:
        """The first element that must be expanded, at any depth."""
        waiting = [root]
        while waiting:
            at = waiting.pop()
            self.expression = next((text for text in _texts(at) if _EXPRESSION.search(text)), None)
            if self.expression is not None:
                return at
            kept = []
            for one in at.children:
                prefix, colon, tag = one.tag.rpartition(":")
                if not colon or prefix not in self._prefixes:
                    kept.append(one)
                elif tag in self._definitions:
                    self.left.append(one)
                else:
                    return one
            at.children[:] = kept
            waiting += reversed(kept)
        return None


def _texts(at: Element) -> Iterator[str]:
    yield from at.attributes.values()
    yield at.text


def _is_whole(root: Element) -> bool:
    """Whether a robot has links, and all that its joints name, without what it would include."""
    if root.tag != "robot":
        return True
    links = {at.name for at in root.all("link")} | {"world"}
    ends = (end for at in root.all("joint") for end in (at.first("parent"), at.first("child")))
    return len(links) > 1 and all(end is None or end.get("link") in links for end in ends)
