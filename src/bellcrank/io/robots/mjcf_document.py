"""MJCF documents: includes, the compiler's settings, and attributes with the defaults of classes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import cos, dist, pi, sin
from pathlib import Path
from typing import Final

import numpy as np

from bellcrank.io.robots.mjcf_copies import Attacher, Replicator
from bellcrank.io.robots.skeleton import Pose, of_euler
from bellcrank.io.robots.source import Included, Source
from bellcrank.io.robots.xml_tree import ELEMENTS, Attributes, Element
from bellcrank.mechanism.checking import Quat, Vec3
from bellcrank.mechanism.rotation import IDENTITY, between, from_matrix, unit

_INCLUDED: Final = ("mujoco", "mujocoinclude")
_FILES: Final = 500
FLAGS: Final = (
    *("gravity", "constraint", "equality", "frictionloss", "limit"),
    *("passive", "spring", "damper", "actuation"),
)
"""What the flags of <option> disable."""
_DISABLED: Final = {"stiffness": "spring", "damping": "damper", "frictionloss": "frictionloss"}


class Document:
    """A model with its includes expanded.

    sections: the top-level elements in the order of the file. above: the document that attaches
    this one. Elements of attached documents stand among those of this one, and follow the settings and
    defaults of their own. attached: the roots of attached files. incomplete: whether bodies are missing that
    other elements may name. size: how many elements were read, with those above.
    """

    def __init__(self, source: Source, root: Element, above: Document | None = None) -> None:
        self.source, self.incomplete = source, False
        source.units = False  # angles may be in degrees
        self.depth: int = 0 if above is None else above.depth + 1
        self._files = {os.path.realpath(root.file)}
        self.included: Included = Included(source) if above is None else above.included
        self.size: list[int] = [0] if above is None else above.size
        self.root = self._expanded(root)
        self.sections = self.root.children
        source.faults.raise_any()
        self.compiler = Attributes(
            {key: text for at in self.all("compiler") for key, text in at.given.items()}
        )
        for at in self.all("compiler"):
            at.given.asked = self.compiler.asked
        self.degrees = self.compiler.get("angle", "degree") != "radian"
        self.sequence = self.compiler.get("eulerseq", "xyz")
        flags = [flag for at in self.all("option") for flag in at.all("flag")]
        self.disabled = {key for flag in flags for key in FLAGS if flag.get(key) == "disable"}
        if "constraint" in self.disabled:
            self.disabled |= {"equality", "frictionloss", "limit"}
        if "passive" in self.disabled or {"spring", "damper"} <= self.disabled:
            self.disabled |= {"spring", "damper", "passive"}
        self._check_compiler(root)
        attacher = Attacher(source, self.root, self._model, self.depth)
        attacher.expand()
        self.attached: list[Element] = []
        for document in attacher.documents:  # of which the settings alone are not among the elements here
            document.root.children = list(document.all("compiler"))
            self.attached += [document.root, *document.attached]
        self.sections = self.root.children = Replicator(source, self.turned).expanded(self.sections)
        self.classes = Classes()
        for at in self.all("default"):
            read_defaults(source, at, MAIN, self.classes)
        self.folders = {"mesh": self._folder("meshdir"), "texture": self._folder("texturedir")}

    def _check_compiler(self, root: Element) -> None:
        at = next(self.all("compiler"), root)
        if self.compiler.get("coordinate", "local") == "global":
            advice = "MuJoCo 2.3.3 and before convert it: load and save it there"
            self.source.fault(at, "global coordinates are no longer part of MJCF", None, advice)
        if len(self.sequence) != 3 or set(self.sequence.lower()) - set("xyz"):
            self.source.fault(at, "must be three of x, y, z", self.sequence, of="eulerseq")
            self.sequence = "xyz"

    def turned(self, angles: Vec3) -> Quat:
        """The rotation of three angles of the file."""
        a, b, c = (self.angle(angle) for angle in angles)
        return of_euler(self.sequence, (a, b, c))

    def _folder(self, which: str) -> Path:
        given = self.compiler.get(which, self.compiler.get("assetdir", ""))
        folder = Path(os.path.realpath(self.root.file)).parent
        return folder / given if "\0" not in given else folder

    def of(self, at: Element) -> Document:
        """The document whose settings and defaults an element follows."""
        return at.document if isinstance(at.document, Document) else self

    def unknown(self, at: Element, rule: str, value: object) -> None:
        """A fault in an element that names what is not there; left out if bodies of the file are."""
        if self.incomplete:
            self.source.drop(at, str(at), f"{rule}: it may be among what is left out", value, moves=True)
        else:
            self.source.fault(at, rule, value)

    def all(self, section: str) -> Iterator[Element]:
        """The top-level elements with a tag."""
        for at in self.sections:
            if at.tag == section:
                at.visited = True
                yield at

    def items(self, section: str) -> Iterator[Element]:
        """The elements in all sections with a tag."""
        return (at for top in self.all(section) for at in top.children)

    def setting(self, name: str, default: bool) -> bool:
        """A setting of the compiler that is "true" or "false"."""
        return bool(self.compiler.get(name, "true" if default else "false") == "true")

    def _expanded(self, at: Element) -> Element:
        """An element in which each <include> is replaced by the included elements."""
        children: list[Element] = []
        for child in at.children:
            self.size[0] += 1
            if child.tag != "include":
                children.append(self._expanded(child))
            elif (root := self._include(child)) is not None:
                children += self._expanded(root).children
        if self.size[0] > ELEMENTS:
            self.source.fault(at, f"with its includes it has more than {ELEMENTS} elements")
            self.source.faults.raise_any()
        return Element(at.tag, at.attributes, at.file, at.line, children, at.text, document=self)

    def _model(self, at: Element) -> Document | None:
        """The document of a <model> among the assets."""
        root = self._parsed(at, self.source.file(at.get("file"), Path(at.file).parent))
        return None if root is None else Document(self.source, root, self)

    def _include(self, at: Element) -> Element | None:
        path = self.source.file(at.get("file"), Path(at.file).parent)
        if path is not None:
            if str(path) in self._files or len(self._files) > _FILES:
                self.source.fault(at, "a file can be included once", at.get("file"))
                return None
            self._files.add(str(path))
        return self._parsed(at, path)

    def _parsed(self, at: Element, path: Path | None) -> Element | None:
        """The root of a file that an element names."""
        source, text = self.source, at.get("file")
        if path is None:
            advice = f"it must be there, in {source.searched}"
            source.fault(at, "the included file is not found", text, advice)
            return None
        root = self.included.read(at, path, text)
        if root is None:
            return None
        if root.tag not in _INCLUDED:
            source.fault(root, "an included file begins with <mujocoinclude> or <mujoco>")
            return None
        return root

    def defaults(self, at: Element, childclass: str) -> Defaults:
        """The defaults of an element, by its class or the class of the body that contains it."""
        name, classes = at.get("class") or childclass or MAIN, self.of(at).classes
        if name not in classes:
            self.source.fault(at, "there is no default class of this name", name)
            return classes[MAIN]
        return classes[name]

    def attributes(self, at: Element, childclass: str = "", kind: str = "") -> Attributes:
        """The attributes of an element, including those of its defaults."""
        known = self.defaults(at, childclass).attributes.get(kind or at.tag, {})
        at.given = Attributes(merged(known, at.attributes), at.attributes.asked)
        return at.given

    def angle(self, value: float) -> float:
        """An angle of the file in rad."""
        return value * (pi / 180.0) if self.degrees else value

    def pose(self, at: Element, given: Mapping[str, str]) -> Pose:
        """The pose given by attributes."""
        return Pose(self.vector(at, given, "pos"), self.rotation(at, given))

    def rotation(self, at: Element, given: Mapping[str, str]) -> Quat:
        """The rotation given by attributes: quat, axisangle, xyaxes, zaxis or euler."""
        numbers, own = self.source.numbers, self.of(at)
        given.get("quat")  # over which all others take precedence
        if (a := numbers(at, "axisangle", given.get("axisangle"), 4)) is not None:
            x, y, z = self.source.direction(at, "axisangle", (a[0], a[1], a[2]), (0.0, 0.0, 1.0))
            half = 0.5 * own.angle(a[3])
            return unit((cos(half), sin(half) * x, sin(half) * y, sin(half) * z))
        if (a := numbers(at, "xyaxes", given.get("xyaxes"), 6)) is not None:
            return self._of_axes(at, a)
        if (a := numbers(at, "zaxis", given.get("zaxis"), 3)) is not None:
            return between(
                (0.0, 0.0, 1.0), self.source.direction(at, "zaxis", (a[0], a[1], a[2]), (0.0, 0.0, 1.0))
            )
        if (a := numbers(at, "euler", given.get("euler"), 3)) is not None:
            return own.turned((a[0], a[1], a[2]))
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

    def span(self, at: Element, given: Mapping[str, str], of: str = "") -> tuple[float, float] | None:
        """The range of something, `OFrange`, if it is limited: `OFlimited` says so, or `autolimits`."""
        found = self.source.numbers(at, f"{of}range", given.get(f"{of}range"), 2)
        limited = given.get(f"{of}limited", "auto")
        if limited not in ("true", "false", "auto"):
            self.source.fault(at, "must be true, false or auto", limited, of=f"{of}limited")
        automatic = limited == "auto" and self.of(at).setting("autolimits", True)
        return (found[0], found[1]) if found is not None and (limited == "true" or automatic) else None

    def polynomial(self, at: Element, given: Mapping[str, str]) -> list[float]:
        """The five coefficients of an equality; missing ones are those of the identity."""
        numbers = self.source.numbers(at, "polycoef", given.get("polycoef"), 1, 5) or ()
        return [*numbers, *(0.0, 1.0, 0.0, 0.0, 0.0)[len(numbers) :]]

    def linear(self, at: Element, given: Mapping[str, str], *names: str) -> list[float]:
        """Attributes that may be polynomials, of which only the first term is used; zero where disabled."""
        found = []
        for name in names:
            first, *others = self.source.numbers(at, name, given.get(name), 1, 20) or (0.0,)
            off = _DISABLED.get(name) in self.disabled
            if any(others) and not off:
                rule = f"the terms of higher order of its {name} are not taken"
                self.source.leave(at, str(at), rule, moves=True)
            found.append(0.0 if off else first)
        return found

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
        return self.source.triple(at, name, given.get(name), default)

    def number(self, at: Element, given: Mapping[str, str], name: str, default: float = 0.0) -> float:
        """The first number of an attribute."""
        found = self.source.numbers(at, name, given.get(name), 1, 20)
        return default if found is None else found[0]


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
