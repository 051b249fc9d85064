"""MJCF defaults: attributes by kind of element, in classes that inherit from each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from bellcrank.io.robots.source import Source
from bellcrank.io.robots.xml_tree import ELEMENTS, Element

_TURNS: Final = ("axisangle", "xyaxes", "zaxis", "euler")  # each of which takes precedence over a quat
ACTUATORS: Final = (
    "general",
    "motor",
    "position",
    "velocity",
    "intvelocity",
    "damper",
    "cylinder",
    "muscle",
    "adhesion",
    "dcmotor",
    "plugin",
)
_TENDONS: Final = ("spatial", "fixed", "tendon")
_EQUALITIES: Final = ("connect", "weld", "joint", "tendon", "flex", "flexvert", "flexstrain", "equality")
MAIN: Final = "main"


@dataclass
class Defaults:
    """Attributes by kind of element; of actuators, whose shortcuts share theirs, one after the other.

    actuators: in the order of the file, for each class and those around it, the outermost first.
    """

    attributes: dict[str, dict[str, str]] = field(default_factory=dict)
    actuators: tuple[tuple[tuple[str, dict[str, str]], ...], ...] = ()


class Classes(dict[str, Defaults]):
    """Defaults by class. inherited: how many there are, with those that classes inherit from each other."""

    def __init__(self) -> None:
        super().__init__({MAIN: Defaults()})
        self.inherited = 0


def read_defaults(source: Source, at: Element, inherited: str, classes: Classes) -> None:
    """Read a <default> and those in it into the classes."""
    name = at.get("class") or (MAIN if inherited == MAIN else "")
    if not name:
        source.fault(at, "a nested default needs a class")
        return
    base = classes[inherited if name != MAIN else MAIN]
    known: dict[str, dict[str, str]] = dict(base.attributes)
    actuators: list[tuple[str, dict[str, str]]] = []
    for one in at.children:
        if one.tag in ACTUATORS:
            actuators.append((one.tag, one.attributes))
        elif one.tag != "default":
            kind = _kind(one.tag)
            known[kind] = merged(known.get(kind, {}), one.attributes)
    classes[name] = Defaults(known, (*base.actuators, tuple(actuators)))
    classes.inherited += len(known) + sum(map(len, classes[name].actuators))
    if classes.inherited > ELEMENTS:
        source.fault(at, f"classes inherit more than {ELEMENTS} defaults from each other")
        source.faults.raise_any()
    for one in at.all("default"):
        read_defaults(source, one, name, classes)


def _kind(tag: str) -> str:
    if tag in _TENDONS:
        return "tendon"
    return "equality" if tag in _EQUALITIES and tag != "joint" else tag


def merged(known: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """Defaults merged with given attributes; a given orientation replaces any other."""
    turned = not {"quat", *_TURNS}.isdisjoint(given)
    return {**{key: text for key, text in known.items() if not (turned and key in _TURNS)}, **given}
