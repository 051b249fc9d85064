"""Names in MJCF: which elements have one, which attributes refer to them, and copies under other names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from typing import Final

from bellcrank.io.robots.xml_tree import Attributes, Element

_REFERENCES: Final = {
    "joint": ("joint", "joint1", "joint2", "jointinparent"),
    "body": ("body", "body1", "body2"),
    "geom": ("geom", "geom1", "geom2"),
    "site": ("site", "site1", "site2", "cranksite", "slidersite", "refsite", "sidesite"),
    "tendon": ("tendon", "tendon1", "tendon2"),
}
"""The attributes that name an element, by its kind."""
_KINDS: Final = {attribute: kind for kind, attributes in _REFERENCES.items() for attribute in attributes}
REFERRING: Final = ("tendon", "equality", "actuator", "contact")
"""Sections of elements that refer to others; tendons first: others refer to them."""

Name = tuple[str, str]
"""Of an element: its kind and its name."""


def named(elements: Iterable[Element]) -> Iterable[Name]:
    """The names of elements and of all that they contain."""
    for one in elements:
        if one.name and one.tag in ("body", "joint", "freejoint", "geom", "site"):
            yield "joint" if one.tag == "freejoint" else one.tag, one.name
        yield from named(one.children)


def referred(at: Element) -> Iterable[Name]:
    """The names that an element and its children refer to."""
    for key, value in at.attributes.items():
        if key in _KINDS:
            yield _KINDS[key], value.strip()
    for child in at.children:
        yield from referred(child)


def renamed(
    at: Element, names: Collection[Name], new: Callable[[str], str], count: Callable[[Element], None]
) -> Element:
    """A copy with new names of its own and of those among `names` that it refers to; each copy is counted."""
    count(at)
    given = {
        key: new(value.strip()) if (_KINDS.get(key, ""), value.strip()) in names else value
        for key, value in at.attributes.items()
    }
    if at.name:
        given["name"] = new(at.name)
    children = [renamed(child, names, new, count) for child in at.children]
    return replace(at, attributes=Attributes(given), children=children)
