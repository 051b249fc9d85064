"""The MJCF element <attach>: bodies of another model, with all that refers to them, under a prefix.

The copies follow the settings and defaults of their own file, whose document each element carries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, Protocol

from bellcrank.io.robots.mjcf_references import REFERRING, Name, named, referred, renamed
from bellcrank.io.robots.source import Source
from bellcrank.io.robots.xml_tree import ELEMENTS, Attributes, Element

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
            self._within(top)

    def _within(self, at: Element) -> None:
        children = []
        for child in at.children:
            self._within(child)
            children += self._attached(child) if child.tag == "attach" else [child]
        at.children = children

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
