"""MJCF geoms: the shapes drawn and the mass derived from them."""

from __future__ import annotations

from collections.abc import Mapping
from math import dist
from pathlib import Path
from typing import Final

import numpy as np

from bellcrank.errors import MechanismError
from bellcrank.io.robots.mesh_files import triangles_of
from bellcrank.io.robots.mjcf_document import Document
from bellcrank.io.robots.pose import Pose
from bellcrank.io.robots.shapes import Color, mesh, primitive
from bellcrank.io.robots.solids import solid
from bellcrank.io.robots.xml_tree import Element
from bellcrank.mechanism.checking import Vec3
from bellcrank.mechanism.mass import MassProperties
from bellcrank.mechanism.mesh import Mesh
from bellcrank.mechanism.rotation import IDENTITY, matrix
from bellcrank.mechanism.shape import Shape

_DENSITY: Final = 1000.0
_SIZES: Final = {"sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "box": 3}
_FLAT: Final = ("plane", "hfield")
_KNOWN: Final = (*_SIZES, *_FLAT, "mesh", "sdf")
_DRAWN: Final = 2  # geoms of groups up to this one are shown


class Geoms:
    """The geoms of a document, with its meshes and materials."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.meshes: dict[str, tuple[Element, dict[str, str]]] = {}
        self.colors: dict[str, str] = {}
        self.groups = (0, 5)
        self._solids: dict[str, MassProperties | None] = {}
        for at in document.items("asset"):
            given = document.attributes(at)
            if at.tag == "mesh":
                self.meshes[at.name or Path(at.get("file")).stem] = (at, given)
            elif at.tag == "material" and "rgba" in given:
                self.colors[at.name] = given["rgba"]
        for at in document.all("compiler"):
            found = document.source.numbers(
                at, "inertiagrouprange", at.attributes.get("inertiagrouprange"), 2
            )
            self.groups = self.groups if found is None else (int(found[0]), int(found[1]))

    def read(
        self, at: Element, childclass: str, frame: Pose
    ) -> tuple[Shape | None, MassProperties | None, bool]:
        """The shape of a geom, its mass, both in the body's frame, and whether it is drawn."""
        document = self.document
        given = document.attributes(at, childclass)
        kind = given.get("type", "sphere")
        if kind not in _KNOWN:
            document.source.fault(at, f"must be one of {', '.join(_KNOWN)}", kind, of="type")
            return None, None, False
        group = int(document.number(at, given, "group"))
        pose = frame @ document.pose(at, given)
        color = self._color(at, given)
        if kind in _FLAT:
            return None, None, False
        if kind in ("mesh", "sdf") or "mesh" in given:
            if kind in _SIZES:
                rule = f"the {kind} that MuJoCo fits to its mesh is not made: it is the mesh itself"
                document.source.leave(at, str(at), rule, given["mesh"])
            shape, mass = self._mesh(at, given, pose, color, group)
        else:
            numbers, pose = self._sizes(at, given, kind, frame, pose)
            if numbers is None:
                return None, None, False
            shape = primitive(document.source, at, kind.capitalize(), numbers, pose, color)
            mass = None if shape is None else self._mass(at, given, shape.volume_properties(), pose, group)
        return shape, mass, group <= _DRAWN

    def _color(self, at: Element, given: Mapping[str, str]) -> Color:
        text = given.get("rgba", self.colors.get(given.get("material", "")))
        with self.document.source.leaving():
            found = self.document.source.numbers(at, "rgba", text, 3, 4)
        return None if found is None else tuple(min(max(part, 0.0), 1.0) for part in found)

    def _sizes(
        self, at: Element, given: Mapping[str, str], kind: str, frame: Pose, pose: Pose
    ) -> tuple[tuple[float, ...] | None, Pose]:
        """Full lengths of a primitive, and its pose if it is given by two ends."""
        source, count = self.document.source, _SIZES[kind]
        ends = source.numbers(at, "fromto", given.get("fromto"), 6) if kind != "sphere" else None
        least = count if ends is None else 1
        size = source.numbers(at, "size", given.get("size", ""), least, 3)
        if size is None:
            return None, pose
        if min(size[:least]) <= 0.0:
            source.fault(at, "must be greater than zero", size, of="size")
            return None, pose
        if ends is not None:
            a, b = ends[:3], ends[3:]
            if a == b:
                source.fault(at, "must have two different ends", ends, of="fromto")
                return None, pose
            pose = frame @ self.document.along(ends)
            size = (*(size[0],) * (count - 1), 0.5 * dist(a, b))  # as thick as it is wide
        if kind == "ellipsoid" or kind == "sphere":
            return size[:count], pose
        return tuple(2.0 * part for part in size) if kind == "box" else (size[0], 2.0 * size[1]), pose

    def _mass(
        self, at: Element, given: Mapping[str, str], volume: MassProperties, pose: Pose, group: int
    ) -> MassProperties | None:
        """Mass by density or as given; none in groups that do not contribute."""
        document = self.document
        if not self.groups[0] <= group <= self.groups[1]:
            return None
        mass = document.number(at, given, "mass", -1.0)
        density = document.number(at, given, "density", _DENSITY)
        if (mass < 0.0 and "mass" in given) or density < 0.0:
            document.source.fault(at, "mass and density must not be negative", (mass, density))
            return None
        if given.get("shellinertia") == "true":
            document.source.leave(at, str(at), "its mass is taken as that of a solid, not of a shell")
        factor = density if "mass" not in given else mass / volume.mass
        return None if factor == 0.0 else volume.scaled(factor).moved(pose.position, pose.rotation)

    def _mesh(
        self, at: Element, given: Mapping[str, str], pose: Pose, color: Color, group: int
    ) -> tuple[Shape | None, MassProperties | None]:
        document, name = self.document, given.get("mesh", "")
        source = document.source
        if name not in self.meshes:
            source.fault(at, "there is no mesh of this name", name)
            return None, None
        asset, known = self.meshes[name]
        scale = source.scale(asset, known.get("scale"))
        reference = Pose(
            document.vector(asset, known, "refpos"),
            document.rotation(asset, {"quat": known["refquat"]} if "refquat" in known else {}),
        )
        shape: Shape | None = None
        if known.get("file") and reference.rotation != IDENTITY and len(set(scale)) > 1:
            source.leave(at, str(at), "a mesh that is turned before it is stretched is not shown", name)
        elif known.get("file"):  # s Rᵀ (v − p) = Rᵀ (s v − s p) for parts that the scale s does not shear
            x, y, z = (s * p for s, p in zip(scale, reference.position, strict=True))
            place = pose @ Pose((x, y, z), reference.rotation).inverse()
            shape = mesh(source, at, known["file"], scale, place, color, document.folders["mesh"])
        else:
            source.leave(at, str(at), "meshes that are written out or made by MuJoCo are not available", name)
        mass: MassProperties | None = None
        if self._counts(at, given, group):
            volume = self._volume(at, name, known, scale, reference)
            mass = None if volume is None else self._mass(at, given, volume, pose, group)
        if isinstance(shape, Mesh) and shape.file.lower().endswith(".msh"):
            source.leave(at, str(at), "meshes in MuJoCo's own format are not shown", name)
            shape = None
        return shape, mass

    def _counts(self, at: Element, given: Mapping[str, str], group: int) -> bool:
        decides = "mass" if "mass" in given else "density"
        weightless = self.document.number(at, given, decides, 1.0) == 0.0
        return not weightless and self.groups[0] <= group <= self.groups[1]

    def _volume(
        self, at: Element, name: str, known: Mapping[str, str], scale: Vec3, reference: Pose
    ) -> MassProperties | None:
        """Mass properties of a mesh at density 1, in the geom, with its vertices v moved to s Rᵀ (v − p)."""
        if name not in self._solids:
            found: MassProperties | None = None
            path = self.document.source.file(known.get("file", ""), self.document.folders["mesh"])
            if path is not None:
                try:
                    vertices, triangles = triangles_of(path)
                    placed = (vertices - reference.position) @ matrix(reference.rotation) * scale
                    found = solid(placed, triangles, known.get("inertia", "legacy"))
                except MechanismError as error:
                    self.document.source.leave(at, str(at), f"its mass is not known: {error.faults[0].rule}")
            self._solids[name] = found
        found = self._solids[name]
        if found is None or not found.mass > 0.0 or not np.all(np.isfinite(found.inertia)):
            self.document.source.leave(at, str(at), "the mass of its mesh is not known: it has none", name)
            return None
        return found
