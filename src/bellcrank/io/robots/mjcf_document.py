"""MJCF documents: includes, the compiler's settings, and attributes with the defaults of classes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import cos, dist, pi, sin
from pathlib import Path
from typing import Final

import numpy as np

from bellcrank.io.robots.included import Included
from bellcrank.io.robots.mjcf_replicate import Replicator
from bellcrank.io.robots.pose import Pose, of_euler
from bellcrank.io.robots.source import Source
from bellcrank.io.robots.xml_tree import ELEMENTS, Element
from bellcrank.mechanism.checking import Quat, Vec3
from bellcrank.mechanism.rotation import IDENTITY, between, from_matrix, unit

_INCLUDED: Final = ("mujoco", "mujocoinclude")
_FILES: Final = 500
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
    """Attributes by kind of element; of actuators, whose shortcuts share theirs, in the order of the file."""

    attributes: dict[str, dict[str, str]] = field(default_factory=dict)
    actuators: tuple[tuple[str, dict[str, str]], ...] = ()


class Document:
    """A model with its includes expanded.

    sections: the top-level elements in the order of the file.
    """

    def __init__(self, source: Source, root: Element) -> None:
        self.source = source
        source.units = False  # angles may be in degrees
        self._files = {os.path.realpath(source.path)}
        self._included = Included(source)
        self._size = 0
        self.sections = self._expanded(root).children
        source.faults.raise_any()
        self.compiler: dict[str, str] = {}
        for at in self.all("compiler"):
            self.compiler.update(at.attributes)
        self.degrees = self.compiler.get("angle", "degree") != "radian"
        self.sequence = self.compiler.get("eulerseq", "xyz")
        self._check_compiler(root)
        self.sections = Replicator(source, self._turned).expanded(self.sections)
        self._inherited = 0
        self.classes: dict[str, Defaults] = {MAIN: Defaults()}
        for at in self.all("default"):
            self._read_defaults(at, MAIN)
        self.folders = {
            "mesh": self._folder("meshdir"),
            "texture": self._folder("texturedir"),
        }

    def _check_compiler(self, root: Element) -> None:
        at = next(self.all("compiler"), root)
        if self.compiler.get("coordinate", "local") == "global":
            advice = "MuJoCo 2.3.3 and before convert it: load and save it there"
            self.source.fault(at, "global coordinates are no longer part of MJCF", None, advice)
        if len(self.sequence) != 3 or set(self.sequence.lower()) - set("xyz"):
            self.source.fault(at, "must be three of x, y, z", self.sequence, of="eulerseq")
            self.sequence = "xyz"

    def _turned(self, angles: Vec3) -> Quat:
        a, b, c = (self.angle(angle) for angle in angles)
        return of_euler(self.sequence, (a, b, c))

    def _folder(self, which: str) -> Path:
        given = self.compiler.get(which, self.compiler.get("assetdir", ""))
        return self.source.folder / given if "\0" not in given else self.source.folder

    def all(self, section: str) -> Iterator[Element]:
        """The top-level elements with a tag."""
        return (at for at in self.sections if at.tag == section)

    def items(self, section: str) -> Iterator[Element]:
        """The elements in all sections with a tag."""
        return (at for top in self.all(section) for at in top.children)

    def setting(self, name: str, default: bool) -> bool:
        """A setting of the compiler that is "true" or "false"."""
        return self.compiler.get(name, "true" if default else "false") == "true"

    def _expanded(self, at: Element) -> Element:
        """An element in which each <include> is replaced by the included elements."""
        children: list[Element] = []
        for child in at.children:
            self._size += 1
            if child.tag != "include":
                children.append(self._expanded(child))
            elif (root := self._include(child)) is not None:
                children += self._expanded(root).children
        if self._size > ELEMENTS:
            self.source.fault(at, f"with its includes it has more than {ELEMENTS} elements")
            self.source.faults.raise_any()
        return Element(at.tag, at.attributes, at.file, at.line, children, at.text)

    def _include(self, at: Element) -> Element | None:
        source, text = self.source, at.get("file")
        path = source.file(text, Path(at.file).parent)
        if path is None:
            advice = f"it must be there, in {source.searched}"
            source.fault(at, "the included file is not found", text, advice)
            return None
        if str(path) in self._files or len(self._files) > _FILES:
            source.fault(at, "a file can be included once", text)
            return None
        self._files.add(str(path))
        root = self._included.read(at, path, text)
        if root is None:
            return None
        if root.tag not in _INCLUDED:
            source.fault(root, "an included file begins with <mujocoinclude> or <mujoco>")
            return None
        return root

    def _read_defaults(self, at: Element, inherited: str) -> None:
        name = at.get("class") or (MAIN if inherited == MAIN else "")
        if not name:
            self.source.fault(at, "a nested default needs a class")
            return
        base = self.classes[inherited if name != MAIN else MAIN]
        known, actuators = dict(base.attributes), []
        for one in at.children:
            if one.tag in ACTUATORS:
                actuators.append((one.tag, one.attributes))
            elif one.tag != "default":
                kind = _kind(one.tag)
                known[kind] = _merged(known.get(kind, {}), one.attributes)
        self.classes[name] = Defaults(known, (*base.actuators, *actuators))
        self._inherited += len(known) + len(self.classes[name].actuators)
        if self._inherited > ELEMENTS:
            self.source.fault(at, f"classes inherit more than {ELEMENTS} defaults from each other")
            self.source.faults.raise_any()
        for one in at.all("default"):
            self._read_defaults(one, name)

    def defaults(self, at: Element, childclass: str) -> Defaults:
        """The defaults of an element, by its class or the class of the body that contains it."""
        name = at.get("class") or childclass or MAIN
        if name not in self.classes:
            self.source.fault(at, "there is no default class of this name", name)
            return self.classes[MAIN]
        return self.classes[name]

    def attributes(self, at: Element, childclass: str = "", kind: str = "") -> dict[str, str]:
        """The attributes of an element, including those of its defaults."""
        known = self.defaults(at, childclass).attributes.get(kind or at.tag, {})
        return _merged(known, at.attributes)

    def angle(self, value: float) -> float:
        """An angle of the file in rad."""
        return value * (pi / 180.0) if self.degrees else value

    def pose(self, at: Element, given: Mapping[str, str]) -> Pose:
        """The pose given by attributes."""
        position = self.source.numbers(at, "pos", given.get("pos"), 3) or (0.0, 0.0, 0.0)
        return Pose((position[0], position[1], position[2]), self.rotation(at, given))

    def rotation(self, at: Element, given: Mapping[str, str]) -> Quat:
        """The rotation given by attributes: quat, axisangle, xyaxes, zaxis or euler."""
        numbers = self.source.numbers
        if (a := numbers(at, "axisangle", given.get("axisangle"), 4)) is not None:
            x, y, z = self.source.direction(at, "axisangle", (a[0], a[1], a[2]), (0.0, 0.0, 1.0))
            half = 0.5 * self.angle(a[3])
            return unit((cos(half), sin(half) * x, sin(half) * y, sin(half) * z))
        if (a := numbers(at, "xyaxes", given.get("xyaxes"), 6)) is not None:
            return self._of_axes(at, a)
        if (a := numbers(at, "zaxis", given.get("zaxis"), 3)) is not None:
            return between(
                (0.0, 0.0, 1.0), self.source.direction(at, "zaxis", (a[0], a[1], a[2]), (0.0, 0.0, 1.0))
            )
        if (a := numbers(at, "euler", given.get("euler"), 3)) is not None:
            return self._turned((a[0], a[1], a[2]))
        if (a := numbers(at, "quat", given.get("quat"), 4)) is not None:
            if not any(a):
                self.source.fault(at, "must not be zero", a, of="quat")
                return IDENTITY
            return unit((a[0], a[1], a[2], a[3]))
        return IDENTITY

    @staticmethod
    def along(ends: tuple[float, ...]) -> Pose:
        """The pose given by two ends: at their midpoint, with the z axis from the second to the first."""
        a, b = ends[:3], ends[3:]
        length = dist(a, b)
        x, y, z = ((p - q) / length for p, q in zip(a, b, strict=True))
        middle = (0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.5 * (a[2] + b[2]))
        return Pose(middle, between((0.0, 0.0, 1.0), (x, y, z)))

    def polynomial(self, at: Element, given: Mapping[str, str]) -> list[float]:
        """The five coefficients of an equality; missing ones are those of the identity."""
        numbers = self.source.numbers(at, "polycoef", given.get("polycoef"), 1, 5) or ()
        return [*numbers, *(0.0, 1.0, 0.0, 0.0, 0.0)[len(numbers) :]]

    def linear(self, at: Element, given: Mapping[str, str], *names: str) -> list[float]:
        """Attributes that may be polynomials, of which only the first term is used."""
        for name in names:
            if any((self.source.numbers(at, name, given.get(name), 1, 20) or ())[1:]):
                self.source.leave(at, str(at), f"the terms of higher order of its {name} are not taken")
        return [self.number(at, given, name) for name in names]

    def _of_axes(self, at: Element, given: tuple[float, ...]) -> Quat:
        x, y = np.array(given[:3]), np.array(given[3:])
        if np.linalg.norm(np.cross(x, y)) <= 1e-10 * np.linalg.norm(x) * np.linalg.norm(y) or not np.any(x):
            self.source.fault(at, "must be two directions", given, of="xyaxes")
            return IDENTITY
        x = x / np.linalg.norm(x)
        y = y - (x @ y) * x
        y /= np.linalg.norm(y)
        return from_matrix(np.column_stack([x, y, np.cross(x, y)]))

    def vector(
        self, at: Element, given: Mapping[str, str], name: str, default: Vec3 = (0.0, 0.0, 0.0)
    ) -> Vec3:
        """Three numbers of an attribute."""
        found = self.source.numbers(at, name, given.get(name), 3)
        return default if found is None else (found[0], found[1], found[2])

    def number(self, at: Element, given: Mapping[str, str], name: str, default: float = 0.0) -> float:
        """The first number of an attribute."""
        found = self.source.numbers(at, name, given.get(name), 1, 20)
        return default if found is None else found[0]


def _kind(tag: str) -> str:
    if tag in _TENDONS:
        return "tendon"
    return "equality" if tag in _EQUALITIES and tag != "joint" else tag


def _merged(known: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """Defaults merged with given attributes; a given orientation replaces any other."""
    turned = any(turn in given for turn in ("quat", *_TURNS))
    return {**{key: text for key, text in known.items() if not (turned and key in _TURNS)}, **given}
