"""Locating a fault in a file when it was raised by code that does not depend on files."""

from __future__ import annotations

import re

from bellcrank.errors import Fault, Location
from bellcrank.io.node import Entries, Items, Node, Place, Scalar


def culprit(node: Node, place: Place, fault: Fault) -> Location:
    """The location of the entry that a constructor's fault refers to, by the field it names or the value."""
    if not isinstance(node, Entries):
        return place.location(node)
    words = words_of(fault.rule)
    keys = [key.text for key, _ in node.entries if key.text in words and key.text != "type"]
    if keys:
        key = min(keys, key=words.index)
        child = node.find(key)
        return place.at(key).location(child)
    return _showing(node, place, fault.value) or place.location(node)


def words_of(rule: str) -> list[str]:
    """The words of a fault's rule, among them the name of the field concerned."""
    return re.findall(r"\w+", rule)


def _showing(node: Node, place: Place, value: object) -> Location | None:
    """The location of the first text or key in a node that equals this value."""
    if not isinstance(value, str):
        return None
    if isinstance(node, Scalar):
        return place.location(node) if node.value == value else None
    if isinstance(node, Items):
        found = (_showing(item, place.at(str(i)), value) for i, item in enumerate(node.items))
        return next((location for location in found if location), None)
    assert isinstance(node, Entries)
    for key, child in node.entries:
        if key.text == value:
            return place.at(key.text).location(key)
        if location := _showing(child, place.at(key.text), value):
            return location
    return None
