"""The MJCF element <replicate>: copies of its contents, and of all elements that refer to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from bellcrank.io.robots.mjcf_references import REFERRING, Name, named, referred, renamed
from bellcrank.io.robots.pose import Pose
from bellcrank.io.robots.source import Source
from bellcrank.io.robots.xml_tree import ELEMENTS, SIZE, Attributes, Element
from bellcrank.mechanism.checking import Quat, Vec3

_LOOKS: Final = 2_000_000  # at elements that may refer to copies, of which each <replicate> takes one


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
            self._expand(top)
        return self.sections

    def _size(self, at: Element) -> float:
        """How many elements an element will be. Faults in counts are noted later."""
        size = 1.0 + sum(map(self._size, at.children))
        count = at.get("count") if at.tag == "replicate" else ""
        return size * int(count) if count.isascii() and count.isdigit() and len(count) < 9 else size

    def _refuse(self, at: Element) -> None:
        self.source.fault(at, f"with its copies the model has more than {ELEMENTS} elements")
        self.source.faults.raise_any()

    def _expand(self, at: Element) -> None:
        """Replace every <replicate> below an element."""
        children: list[Element] = []
        for child in at.children:
            self._expand(child)
            children += self._copies(child) if child.tag == "replicate" else [child]
        at.children = children

    def _copies(self, at: Element) -> list[Element]:
        suffixes = self._suffixes(at)
        for joint in at.all("joint", "freejoint"):
            self.source.fault(joint, "a joint belongs to a body, which may stand in <replicate>")
        names = set(named(at.children))
        offset, (x, y, z) = self.source.vector(at, "offset"), self.source.vector(at, "euler")
        pose, made = Pose(), []
        for k, suffix in enumerate(suffixes, start=1):
            frame = {
                "pos": " ".join(map(repr, pose.position)),
                "quat": " ".join(map(repr, pose.rotation)),
            }
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
