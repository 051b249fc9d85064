"""SDF frames: poses given relative to other frames, in models nested in models."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import pi
from typing import Final

from bellcrank.io.robots.pose import Pose, of_rpy
from bellcrank.io.robots.source import Source
from bellcrank.io.robots.xml_tree import Element
from bellcrank.mechanism.rotation import unit

WORLD: Final = ""
"""The name of the frame of the world, and what scopes of models in it begin with."""
SEPARATOR: Final = "::"


@dataclass
class Frame:
    """A pose relative to another frame, the element that gives it, and what the frame is fixed to."""

    relative_to: str
    pose: Pose
    at: Element
    attached_to: str = ""


@dataclass
class Frames:
    """All frames by their scoped names, such as "arm::hand::palm"."""

    source: Source
    known: dict[str, Frame] = field(default_factory=dict)
    found: dict[str, Pose] = field(default_factory=lambda: {WORLD: Pose()})
    merged: dict[str, str] = field(default_factory=dict)
    """Scopes of models that are merged into another scope: the names of their frames, and that scope."""
    fixed_to: dict[str, str | None] = field(default_factory=lambda: {WORLD: WORLD})
    """The results of `link`, all frames of a scope being known when it is first called."""
    worlds: set[str] = field(default_factory=set)
    """Scopes with a link of their own that is called "world", as some old files have it."""

    def name(self, scope: str, wanted: str) -> str:
        """The full name of a frame from its name within a scope."""
        if wanted == "world" and scope not in self.worlds:
            return WORLD
        if wanted in ("", "__model__"):
            return scope
        scope = self.merged.get(scope, scope)
        return f"{scope}{SEPARATOR}{wanted}" if scope else wanted

    def pose(self, name: str, at: Element) -> Pose:
        """The pose of a frame in the world. A missing frame and a cycle of relative frames are faults."""
        way: dict[str, None] = {}
        while name not in self.found:
            if name not in self.known or name in way:
                rule = (
                    "frames are given relative to each other in a ring"
                    if name in way
                    else "there is no such frame"
                )
                self.source.fault(at, rule, name)
                self.found[name] = Pose()
                break
            way[name] = None
            name = self.known[name].relative_to
        for one in reversed(way):
            self.found[one] = self.found[name] @ self.known[one].pose
            name = one
        return self.found[name]

    def link(self, name: str) -> str | None:
        """The link that a frame is fixed to; WORLD for the world, None if there is none."""
        seen: dict[str, None] = {}
        while name not in self.fixed_to and name in self.known and name not in seen:
            seen[name] = None
            if self.known[name].attached_to == name:
                self.fixed_to[name] = name
            else:
                name = self.known[name].attached_to
        found = self.fixed_to.get(name)
        self.fixed_to.update(dict.fromkeys(seen, found))
        return found


def pose_of(source: Source, at: Element) -> tuple[Pose, str]:
    """The <pose> of an element, and the name of the frame that it is relative to, empty if none is given."""
    given = at.first("pose")
    if given is None:
        return Pose(), ""
    relative = given.get("relative_to") or given.get("frame")
    quaternion = given.get("rotation_format") == "quat_xyzw"
    numbers = source.numbers(given, "pose", given.words or "0 0 0 0 0 0", 7 if quaternion else 6)
    if numbers is None:
        return Pose(), relative
    x, y, z, *turn = numbers
    if quaternion:
        a, b, c, w = turn
        if not any(turn):
            source.fault(given, "a quaternion must not be zero")
            return Pose((x, y, z)), relative
        return Pose((x, y, z), unit((w, a, b, c))), relative
    factor = pi / 180.0 if given.get("degrees") == "true" else 1.0
    return Pose((x, y, z), of_rpy(*(factor * angle for angle in turn))), relative


def text(at: Element, *tags: str) -> str:
    """The text of a nested element, by the path of tags below another element; empty if it is missing."""
    here: Element | None = at
    for tag in tags:
        here = None if here is None else here.first(tag)
    return "" if here is None else here.words


def number(source: Source, at: Element, default: float, *tags: str) -> float:
    """The number in a nested element."""
    given = text(at, *tags)
    found = source.numbers(at, " ".join(tags), given, 1) if given else None
    return default if found is None else found[0]
