"""URDF: the shapes of links, those that are drawn and those that touch."""

from __future__ import annotations

from typing import Final

from bellcrank.io.robots.pose import Pose, of_rpy
from bellcrank.io.robots.shapes import Color, drawn_and_touching, mesh, primitive
from bellcrank.io.robots.source import Source
from bellcrank.io.robots.xml_tree import Element
from bellcrank.mechanism.shape import Shape

_SHAPES: Final = {
    "box": ("Box", ("size",)),
    "sphere": ("Sphere", ("radius",)),
    "cylinder": ("Cylinder", ("radius", "length")),
    "capsule": ("Capsule", ("radius", "length")),
}


def origin_of(source: Source, at: Element) -> Pose:
    """The pose of an element's <origin>."""
    origin = at.first("origin")
    if origin is None:
        return Pose()
    position = source.vector(origin, "xyz")
    quaternion = source.numbers(origin, "quat_xyzw", origin.attributes.get("quat_xyzw"), 4)
    if quaternion is None:
        return Pose(position, of_rpy(*source.vector(origin, "rpy")))
    x, y, z, w = quaternion
    norm = (x * x + y * y + z * z + w * w) ** 0.5
    if norm == 0.0:
        source.fault(origin, "must not be zero", quaternion, of="quat_xyzw")
        return Pose(position)
    return Pose(position, (w / norm, x / norm, y / norm, z / norm))


class Shapes:
    """The shapes of a robot. collides: whether any link has collision geometry."""

    def __init__(self, source: Source, root: Element) -> None:
        self.source = source
        self.collides = any(at.tag == "collision" for link in root.children for at in link.children)
        self.colors: dict[str, Color] = {}
        for material in root.all("material"):
            if (color := material.first("color")) is not None:
                found = self._color(color)
                if self.colors.setdefault(material.name, found) != found:
                    source.leave(material, str(material), "this name is taken: the first material counts")

    def of(self, link: Element) -> list[Shape]:
        """The shapes of a link; where no link has collision geometry, what is drawn touches as well."""
        drawn, touching = self._of_tag(link, "visual"), self._of_tag(link, "collision")
        return drawn_and_touching(drawn, touching) if self.collides else drawn

    def _of_tag(self, link: Element, tag: str) -> list[Shape]:
        found: list[Shape] = []
        for one in link.all(tag):
            with self.source.leaving() as broken:
                shapes = self._shapes(link, one)
            found += [] if broken else shapes
        return found

    def _shapes(self, link: Element, at: Element) -> list[Shape]:
        geometry = at.first("geometry")
        if geometry is None or not geometry.children:
            self.source.leave(at, f"link {link.name!r}", f"the geometry of its <{at.tag}> is missing")
            return []
        found = []
        pose, color = origin_of(self.source, at), self._material(at)
        for one in geometry.each():
            if one.tag == "mesh":
                scale = self.source.scale(one, one.get("scale"))
                found.append(mesh(self.source, one, one.get("filename"), scale, pose, color))
            elif one.tag in _SHAPES:
                kind, attributes = _SHAPES[one.tag]
                numbers = self._sizes(one, attributes)
                if numbers is not None:
                    found.append(primitive(self.source, one, kind, numbers, pose, color))
            else:
                rule = f"shapes of this kind are not available: <{one.tag}>"
                self.source.drop(one, f"link {link.name!r}", rule)
        return [shape for shape in found if shape is not None]

    def _sizes(self, at: Element, attributes: tuple[str, ...]) -> tuple[float, ...] | None:
        count = 3 if attributes == ("size",) else 1
        found: list[float] = []
        for attribute in attributes:
            if attribute not in at.attributes:
                self.source.fault(at, "is missing", of=attribute)
                return None
            numbers = self.source.numbers(at, attribute, at.get(attribute), count)
            if numbers is None:
                return None
            found += numbers
        if min(found) == 0.0:
            self.source.leave(at, str(at), "a shape without extent is not shown", tuple(found))
            return None
        return tuple(found)

    def _material(self, at: Element) -> Color:
        material = at.first("material")
        if material is None:
            return None
        if material.first("texture") is not None:
            self.source.leave(material, str(material), "textures are not shown")
        own = material.first("color")
        return self._color(own) if own is not None else self.colors.get(material.name)

    def _color(self, at: Element) -> Color:
        with self.source.leaving():
            found = self.source.numbers(at, "rgba", at.get("rgba") or None, 3, 4)
        return None if found is None else tuple(min(max(part, 0.0), 1.0) for part in found)
