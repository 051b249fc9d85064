"""What a reader did not use of a file: found by what it asked for, not by a list of what it should have read.

Every attribute, text and element of a document was asked for by the reader, or was left out and listed as a
whole, or changes no motion (`Quiet`); all others are listed here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from bellcrank.io.robots.source import Source
from bellcrank.io.robots.xml_tree import Element

_EVERYWHERE: Final = ("name", "xmlns")


@dataclass(frozen=True)
class Quiet:
    """The names of a format that change no motion, and those that are known to change it.

    tags: elements with all that they contain; "parent/tag" for those in one kind of element. attributes: in
    any element. of: attributes by element. still: elements that are listed though they change no motion.
    moving: elements of which an unused attribute or part may change the motion; parts with a prefix are of
        other programs, and do not.
    """

    tags: Collection[str]
    attributes: Collection[str]
    of: Mapping[str, Collection[str]] = field(default_factory=dict)
    still: Collection[str] = ()
    moving: Collection[str] = ()


def list_unused(source: Source, roots: Iterable[Element], quiet: Quiet) -> None:
    """List what nobody asked for below elements whose own attributes do not count."""
    for root in roots:
        _below(source, root, quiet)


def _below(source: Source, at: Element, quiet: Quiet) -> None:
    for child in at.children:
        if child.dropped or child.tag in quiet.tags or f"{at.tag}/{child.tag}" in quiet.tags:
            continue
        if not (child.visited or child.given.asked):
            moves = _moves(quiet, at, child.tag)
            source.leave(child, str(at), f"<{child.tag}> has no counterpart", moves=moves)
            continue
        _attributes(source, child, quiet)
        _below(source, child, quiet)


def _attributes(source: Source, at: Element, quiet: Quiet) -> None:
    silent = (*_EVERYWHERE, *quiet.attributes, *quiet.of.get(at.tag, ()))
    for key, value in at.given.items():
        if key not in at.given.asked and key.partition(":")[0] not in silent:
            source.leave(at, str(at), f"{key} is not used", value, at.tag in quiet.moving)
    if at.text.strip() and not at.spoken:
        source.leave(at, str(at), "its text is not used", at.text.strip(), at.tag in quiet.moving)


def _moves(quiet: Quiet, parent: Element, tag: str) -> bool:
    return parent.tag in quiet.moving and tag not in quiet.still and ":" not in tag
