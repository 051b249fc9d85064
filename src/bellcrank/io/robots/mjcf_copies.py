"""Names in MJCF: which elements have one, which attributes refer to them, and copies under other names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final, Protocol

from bellcrank.io.robots.skeleton import Pose
from bellcrank.io.robots.source import Source
from bellcrank.io.robots.xml_tree import ELEMENTS, SIZE, Attributes, Element
from bellcrank.mechanism.checking import Quat, Vec3

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


_LOOKS: Final = 2_000_000  # at elements that may refer to copies, of which each <replicate> takes one


def _replace_below(at: Element, tag: str, new: Callable[[Element], list[Element]]) -> None:
    """Replace every element of a tag below an element, the innermost first."""
    children: list[Element] = []
    for child in at.children:
        _replace_below(child, tag, new)
        children += new(child) if child.tag == tag else [child]
    at.children = children


class Replicator:
    """Replaces all <replicate> elements of a document by copies, the innermost first.

    turned: converts three angles of the file to a rotation.
    """

    def __init__(self, source: Source, turned: Callable[[Vec3], Quat]) -> None:
        self.source, self.turned = source, turned
        self._made = self._letters = self._looks = 0

    def expanded(self, sections: list[Element]) -> list[Element]:
        """The top-level elements with copies; the same objects if there is nothing to copy."""
        self.sections = sections
        tops = [one for one in sections if one.tag == "worldbody"]
        for top in tops:
            if self._size(top) > ELEMENTS:
                self._refuse(top)
        for top in tops:
            _replace_below(top, "replicate", self._copies)
        return self.sections

    def _size(self, at: Element) -> float:
        """How many elements an element will be. Faults in counts are noted later."""
        size = 1.0 + sum(map(self._size, at.children))
        count = at.get("count") if at.tag == "replicate" else ""
        return size * int(count) if count.isascii() and count.isdigit() and len(count) < 9 else size

    def _refuse(self, at: Element) -> None:
        self.source.fault(at, f"with its copies the model has more than {ELEMENTS} elements")
        self.source.faults.raise_any()

    def _copies(self, at: Element) -> list[Element]:
        suffixes = self._suffixes(at)
        for joint in at.all("joint", "freejoint"):
            self.source.fault(joint, "a joint belongs to a body, which may stand in <replicate>")
        names = set(named(at.children))
        offset, (x, y, z) = self.source.vector(at, "offset"), self.source.vector(at, "euler")
        pose, made = Pose(), []
        for k, suffix in enumerate(suffixes, start=1):
            frame = {"pos": " ".join(map(repr, pose.position)), "quat": " ".join(map(repr, pose.rotation))}
            inner = [self._renamed(child, names, suffix) for child in at.children]
            made.append(Element("frame", Attributes(frame), at.file, at.line, inner))
            # MuJoCo sums the angles, and adds each offset in the axes of the previous copy.
            pose = Pose(pose.point(offset), self.turned((k * x, k * y, k * z)))
        self._refer(names, suffixes)
        return made

    def _suffixes(self, at: Element) -> list[str]:
        counts = self.source.numbers(at, "count", at.get("count"), 1) or (0.0,)
        count = int(counts[0]) if 1 <= counts[0] <= ELEMENTS else 0
        if count < 1 or count != counts[0]:
            self.source.fault(at, f"must be a whole number from 1 to {ELEMENTS}", counts[0], of="count")
            return []
        if count * len(at.get("sep")) > SIZE:
            self._refuse(at)
        return [f"{at.get('sep')}{k:0{len(str(count))}d}" for k in range(count)]

    def _renamed(self, at: Element, names: set[Name], suffix: str) -> Element:
        """A copy with a suffix on its own names and on the names that it refers to."""
        return renamed(at, names, lambda name: f"{name}{suffix}", lambda one: self._count(one, suffix))

    def _count(self, at: Element, suffix: str) -> None:
        self._made += 1
        self._letters += len(suffix) * (1 + len(at.attributes))
        if self._made > ELEMENTS or self._letters > SIZE:
            self._refuse(at)

    def _refer(self, names: set[Name], suffixes: list[str]) -> None:
        """Copy the elements that refer to copied elements, tendons first: actuators may refer to these."""
        for section in REFERRING:
            for top in [one for one in self.sections if one.tag == section]:
                children: list[Element] = []
                self._looks += len(top.children)
                if self._looks > _LOOKS:
                    self.source.fault(top, "it has too many references for so many <replicate>")
                    self.source.faults.raise_any()
                for child in top.children:
                    known = [reference in names for reference in referred(child)]
                    if not any(known):
                        children.append(child)
                    elif all(known):
                        children += [self._renamed(child, names, suffix) for suffix in suffixes]
                        if section == "tendon" and child.name:
                            names.add(("tendon", child.name))
                    else:
                        rule = "it refers to copies of <replicate> and to others, and is dropped as in MuJoCo"
                        self.source.leave(child, str(child), rule)
                top.children = children


_MOST: Final = 100
_DEPTH: Final = 10
_MAIN: Final = "main"


class Attached(Protocol):
    """What is used of the document of an attached file."""

    root: Element
    sections: list[Element]
    attached: list[Element]

    def all(self, section: str) -> Iterable[Element]:
        """The top-level elements with a tag."""


class Attacher:
    """Replaces all <attach> elements of a document by frames with the bodies of other files.

    read: reads the file that an element names into a document; None after a fault. depth: of the document.
    """

    def __init__(
        self, source: Source, root: Element, read: Callable[[Element], Attached | None], depth: int
    ) -> None:
        self.source, self.root, self.read, self.depth = source, root, read, depth
        self.models = {
            at.name or Path(at.get("file")).stem: at
            for top in root.children
            if top.tag == "asset"
            for at in top.children
            if at.tag == "model"
        }
        self.documents: list[Attached] = []
        self._made = 0

    def expand(self) -> None:
        """Expand every <attach> of the world, and add the sections that refer to what was attached."""
        for model in self.models.values():
            model.use()
        for top in [one for one in self.root.children if one.tag == "worldbody"]:
            _replace_below(top, "attach", self._attached)

    def _attached(self, at: Element) -> list[Element]:
        asset, prefix = self.models.get(at.get("model")), at.get("prefix")
        if asset is None:
            self.source.fault(at, "there is no <model> of this name among the assets", at.get("model"))
            return []
        if self.depth >= _DEPTH or len(self.documents) >= _MOST:
            self.source.fault(
                at, f"models attach each other more than {_DEPTH} deep, or more than {_MOST} times"
            )
            self.source.faults.raise_any()
        document = self.read(asset)
        if document is None:
            return []
        self.documents.append(document)
        worlds = list(document.all("worldbody"))
        if wanted := at.get("body"):
            found = next((pair for world in worlds if (pair := _found(world, wanted, _MAIN))), None)
            if found is None:
                self.source.fault(at, "the model has no body of this name", wanted)
                return []
            inner, childclass = [found[0]], found[1]
        else:
            inner, childclass = [one for world in worlds for one in world.children], _MAIN
        names = set(named(inner))
        self._refer(document, names, prefix)
        bodies = [self._renamed(one, names, prefix) for one in inner]
        frame = Attributes({"childclass": childclass})
        return [Element("frame", frame, at.file, at.line, bodies, document=document)]

    def _renamed(self, at: Element, names: set[Name], prefix: str) -> Element:
        return renamed(at, names, lambda name: f"{prefix}{name}", self._count)

    def _count(self, at: Element) -> None:
        self._made += 1
        if self._made > ELEMENTS:
            self.source.fault(at, f"with what it attaches the model has more than {ELEMENTS} elements")
            self.source.faults.raise_any()

    def _refer(self, document: Attached, names: set[Name], prefix: str) -> None:
        """Add the file's assets, and its elements that refer to attached ones only, as MuJoCo does."""
        sections = sorted(document.sections, key=lambda one: one.tag != "tendon")
        for top in sections:
            if top.tag == "asset":
                self.root.children.append(top)
            if top.tag not in (*REFERRING, "sensor"):
                continue
            kept = []
            for child in top.children:
                known = set(referred(child))
                if known and known <= names:
                    if top.tag == "tendon" and child.name:
                        names.add(("tendon", child.name))
                    kept.append(self._renamed(child, names, prefix))
            self.root.children.append(
                Element(top.tag, Attributes({}), top.file, top.line, kept, document=document)
            )


def _found(at: Element, name: str, childclass: str) -> tuple[Element, str] | None:
    """A body below an element, and the class of defaults that it inherits."""
    for one in at.children:
        if one.tag == "body" and one.name == name:
            return one, childclass
        inherited = one.attributes.get("childclass") or childclass
        if (found := _found(one, name, inherited)) is not None:
            return found
    return None
