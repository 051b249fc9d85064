"""MJCF geoms: the shapes drawn and the mass derived from them."""

from __future__ import annotations

from collections.abc import Mapping
from math import dist
from pathlib import Path
from typing import Any, Final

import numpy as np

from bellcrank.errors import MechanismError
from bellcrank.io.meshes import solid, triangles_of
from bellcrank.io.robots.mjcf_document import Document
from bellcrank.io.robots.shapes import mesh, primitive
from bellcrank.io.robots.skeleton import Pose
from bellcrank.io.robots.source import Color
from bellcrank.io.robots.xml_tree import Attributes, Element
from bellcrank.mechanism.checking import Vec3
from bellcrank.mechanism.mass import MassProperties
from bellcrank.mechanism.mesh import Mesh, convex_hull
from bellcrank.mechanism.rotation import IDENTITY, matrix
from bellcrank.mechanism.shape import Plane, Shape
from bellcrank.mechanism.terrain import MOST, Terrain, brightness
from bellcrank.named_files import content_of

_DENSITY: Final = 1000.0
_SIZES: Final = {"sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "box": 3}
_FLAT: Final = ("plane", "hfield")
_KNOWN: Final = (*_SIZES, *_FLAT, "mesh", "sdf")
_MOST: Final = 3_000_000  # numbers of a mesh that is written out
_DRAWN: Final = 2  # geoms of groups up to this one are shown


class Geoms:
    """The geoms of a document, with its meshes and materials."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.meshes: dict[tuple[Document, str], tuple[Element, Attributes]] = {}
        self.colors: dict[tuple[Document, str], str] = {}
        self._solids: dict[Element, MassProperties | None] = {}
        for at in document.items("asset"):
            given, own = document.attributes(at), document.of(at)
            if at.tag == "mesh":
                at.dropped = True  # a mesh that no geom uses changes nothing
                self.meshes[own, at.name or Path(at.get("file")).stem] = (at, given)
            elif at.tag == "material" and "rgba" in given:
                self.colors[own, at.name] = given["rgba"]

    def _weighs(self, at: Element, given: Attributes, group: int) -> bool:
        """Whether a geom has a mass, which its group may not contribute."""
        text = self.document.of(at).compiler.get("inertiagrouprange")
        least, most = self.document.source.numbers(at, "inertiagrouprange", text, 2) or (0.0, 5.0)
        decides = "mass" if "mass" in given else "density"
        return self.document.number(at, given, decides, 1.0) != 0.0 and least <= group <= most

    def read(
        self, at: Element, childclass: str, frame: Pose, weighs: bool
    ) -> tuple[Shape | None, MassProperties | None, bool]:
        """The shape of a geom, its mass if it counts, both in the body's frame, and whether it is drawn."""
        document = self.document
        given = document.attributes(at, childclass)
        kind = given.get("type", "sphere")
        if kind not in _KNOWN:
            document.source.fault(at, f"must be one of {', '.join(_KNOWN)}", kind, of="type")
            return None, None, False
        group = int(document.number(at, given, "group"))
        pose = frame @ document.pose(at, given)
        for one in ("mass", "density", "shellinertia"):
            given.get(one)
        weighs = weighs and self._weighs(at, given, group)
        color = self._color(at, given)
        if kind in _FLAT:
            at.use()
            return flat(document, at, given, pose, color), None, group <= _DRAWN
        if kind in ("mesh", "sdf") or "mesh" in given:
            if kind in _SIZES:
                rule = f"the {kind} that MuJoCo fits to its mesh is not made: it is the mesh itself"
                document.source.leave(at, str(at), rule, given["mesh"], moves=weighs)
            shape, mass = self._mesh(at, given, pose, color, weighs)
        else:
            numbers, pose = self._sizes(at, given, kind, frame, pose)
            if numbers is None:
                return None, None, False
            shape = primitive(document.source, at, kind.capitalize(), numbers, pose, color)
            mass = self._mass(at, given, shape.volume_properties(), pose) if shape and weighs else None
        return shape, mass, group <= _DRAWN

    def _color(self, at: Element, given: Mapping[str, str]) -> Color:
        text = given.get("rgba", self.colors.get((self.document.of(at), given.get("material", ""))))
        return self.document.source.color(at, "rgba", text)

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
        self, at: Element, given: Mapping[str, str], volume: MassProperties, pose: Pose
    ) -> MassProperties | None:
        """Mass by density or as given."""
        document = self.document
        mass = document.number(at, given, "mass", -1.0)
        density = document.number(at, given, "density", _DENSITY)
        if (mass < 0.0 and "mass" in given) or density < 0.0:
            document.source.fault(at, "mass and density must not be negative", (mass, density))
            return None
        factor = density if "mass" not in given else mass / volume.mass
        if given.get("shellinertia") == "true" and factor:
            document.source.leave(
                at, str(at), "its mass is taken as that of a solid, not of a shell", moves=True
            )
        return None if factor == 0.0 else volume.scaled(factor).moved(pose.position, pose.rotation)

    def _mesh(
        self, at: Element, given: Mapping[str, str], pose: Pose, color: Color, weighs: bool
    ) -> tuple[Shape | None, MassProperties | None]:
        document, name = self.document, given.get("mesh", "")
        source, key = document.source, (document.of(at), name)
        for one in ("size", "fromto"):  # which defaults may give to all geoms
            given.get(one)
        if key not in self.meshes:
            source.fault(at, "there is no mesh of this name", name)
            return None, None
        asset, known = self.meshes[key]
        asset.dropped = False
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
            shape = mesh(source, at, known["file"], scale, place, color, document.of(asset).folders["mesh"])
        else:
            source.leave(at, str(at), "meshes that are written out or made by MuJoCo are not shown", name)
        mass: MassProperties | None = None
        if weighs:
            volume = self._volume(at, asset, known, scale, reference)
            mass = None if volume is None else self._mass(at, given, volume, pose)
        if isinstance(shape, Mesh) and shape.file.lower().endswith(".msh"):
            source.leave(at, str(at), "meshes in MuJoCo's own format are not shown", name)
            shape = None
        return shape, mass

    def _volume(
        self, at: Element, asset: Element, known: Mapping[str, str], scale: Vec3, reference: Pose
    ) -> MassProperties | None:
        """Mass properties of a mesh at density 1, in the geom, with its vertices v moved to s Rᵀ (v − p)."""
        source, way = self.document.source, known.get("inertia", "legacy")
        if asset not in self._solids:
            found: MassProperties | None = None
            try:
                if (surface := self._surface(asset, known)) is not None:
                    placed = (surface[0] - reference.position) @ matrix(reference.rotation) * scale
                    found = solid(placed, surface[1], way)
            except MechanismError as error:
                rule = f"its mass is not known: {error.faults[0].rule}"
                source.leave(at, str(at), rule, moves=True)
            self._solids[asset] = found
        found = self._solids[asset]
        if found is None or not found.mass > 0.0 or not np.all(np.isfinite(found.inertia)):
            rule = "the mass of its mesh is not known: it has none"
            source.leave(at, str(at), rule, known.get("file", asset.name), moves=True)
            return None
        return found

    def _surface(self, asset: Element, known: Mapping[str, str]) -> tuple[np.ndarray, np.ndarray] | None:
        """Vertices and triangles of a mesh in a file or written out; the hull of vertices without faces."""
        source = self.document.source
        if "file" in known:
            path = source.file(known["file"], self.document.of(asset).folders["mesh"])
            return None if path is None else triangles_of(path)
        numbers = source.numbers(asset, "vertex", known.get("vertex"), 12, _MOST)
        corners = source.numbers(asset, "face", known.get("face"), 3, _MOST)
        if numbers is None or (corners is None and "face" in known):
            return None
        if len(numbers) % 3 or len(corners or ()) % 3:
            source.fault(
                asset, "vertices and faces are three numbers each", (len(numbers), len(corners or ()))
            )
            return None
        vertices = np.array(numbers).reshape(-1, 3)
        if corners is None:
            return convex_hull(vertices)
        faces = np.array(corners)
        if not (np.all(faces == np.floor(faces)) and faces.min() >= 0 and faces.max() < len(vertices)):
            source.fault(asset, f"must be numbers of its {len(vertices)} vertices, from 0", of="face")
            return None
        return vertices, faces.astype(int).reshape(-1, 3)


_LARGEST: Final = 8 + 4 * MOST  # bytes of a file of heights: two counts, and numbers of four bytes


def flat(document: Document, at: Element, given: Attributes, pose: Pose, color: Color) -> Shape | None:
    """The plane or the terrain of a geom; None where a fault, or a part left out, says why."""
    common: dict[str, Any] = {"position": pose.position, "rotation": pose.rotation, "color": color}
    source = document.source
    if given.get("type") == "plane":
        halves = (source.numbers(at, "size", given.get("size"), 1, 3) or (0.0,))[:2]
        extent = 2.0 * max(halves) if min(halves) > 0.0 else 0.0  # 0 is without end
        return Plane(size=extent, **common) if extent else Plane(**common)
    name = given.get("hfield", "")
    fields = [one for one in document.items("asset") if one.tag == "hfield"]
    asset = next((one for one in fields if (one.name or Path(one.get("file")).stem) == name), None)
    if asset is None:
        source.fault(at, "there is no height field of this name", name)
        return None
    size = source.numbers(asset, "size", asset.get("size"), 4)
    heights = _heights(document, asset)
    if size is None or heights is None or min(size[:2]) <= 0.0 or min(heights.shape) < 2:
        source.leave(at, str(at), "its height field is not taken", name)
        return None
    low, high = heights.min(), heights.max()
    heights = (heights - low) / (high - low) if high > low else np.zeros_like(heights)
    spacing = tuple(2.0 * half / (count - 1) for half, count in zip(size, heights.shape[::-1], strict=False))
    with source.faults.collect(at.location):
        return Terrain(heights=size[2] * heights, spacing=spacing, origin=(-size[0], -size[1]), **common)
    return None


def _heights(document: Document, at: Element) -> np.ndarray | None:
    """Heights by rows along y, the least y first, as they are written."""
    source = document.source
    if text := at.get("file"):
        path = source.file(text, document.of(at).folders["mesh"])
        if path is None:
            source.leave(at, str(at), f"its file is not found in {source.searched}", text)
            return None
        try:
            if path.suffix.lower() == ".png":
                return brightness(path, str(at), MOST)[::-1]
            return _binary(content_of(path, str(at), _LARGEST))
        except MechanismError as error:
            source.leave(at, str(at), error.faults[0].rule, text)
            return None
    rows, columns = (int(document.number(at, at.attributes, key)) for key in ("nrow", "ncol"))
    if not 0 < rows * columns <= MOST:
        source.fault(at, f"must be at least 2 rows and columns, and {MOST} heights at most", (rows, columns))
        return None
    numbers = source.numbers(at, "elevation", at.attributes.get("elevation"), rows * columns)
    if numbers is None:
        return np.zeros((rows, columns))
    return np.array(numbers).reshape(rows, columns)[::-1]


def _binary(content: bytes) -> np.ndarray | None:
    """Two counts (rows, columns), then heights."""
    rows, columns = (int.from_bytes(content[start : start + 4], "little") for start in (0, 4))
    if rows * columns == 0 or len(content) != 8 + 4 * rows * columns:
        return None
    found: np.ndarray = np.frombuffer(content, "<f4", offset=8).astype(float).reshape(rows, columns)
    return found if np.all(np.isfinite(found)) else None
