"""Files of triangle meshes.

They are parsed by trimesh once it is known what they expand to. Only triangles are read: no materials,
pictures or animations, so nothing else is decoded. What may be in a file is bounded before it is parsed, by
its kind: see `KINDS` and `TRIANGLES`.
"""

from __future__ import annotations

import json
import os
import re
import zipfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any, Final
from xml.parsers import expat

from bellcrank.errors import MechanismError
from bellcrank.named_files import content_of

MEMBERS: Final = 1_000
"""How many files an archive may hold."""
_ELEMENTS: Final = 1_000_000
_REFERENCES: Final = 20_000
_PACKINGS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENTRY: Final = b"PK\x01\x02"  # with which an archive's list of files begins each of them


def unpacked(content: bytes, most: int) -> dict[str, bytes]:
    """The files of a ZIP archive, which may have so many bytes together. Raises ValueError for more."""
    if content.count(_ENTRY) > 2 * MEMBERS:
        raise ValueError(f"the archive holds more than {MEMBERS} files")
    with zipfile.ZipFile(BytesIO(content)) as archive:
        entries = [entry for entry in archive.infolist() if not entry.is_dir()]
        total = sum(entry.file_size for entry in entries)
        if len(entries) > MEMBERS or total > most:
            rule = f"the archive holds {len(entries)} files of {total} bytes; it may hold {MEMBERS} of {most}"
            raise ValueError(rule)
        if any(entry.compress_type not in _PACKINGS for entry in entries):
            raise ValueError("the archive is packed by another method than deflate")
        found: dict[str, bytes] = {}
        for entry in entries:
            with archive.open(entry) as file:
                found[entry.filename] = file.read(most + 1)
            most -= len(found[entry.filename])
            if most < 0:
                raise ValueError("the archive holds more than it declares")
        return found


def check_dae(content: bytes, most: int) -> None:
    """Raise ValueError for a COLLADA document that expands to more than `most` bytes."""
    document = _Document(content)
    if (size := document.size()) > most:
        raise ValueError(f"its parts repeat each other: they expand to {size} bytes, more than {most}")


def check_3mf(content: bytes, most: int) -> None:
    """Raise ValueError for a 3MF archive that unpacks, or expands, to more than `most` bytes."""
    members = unpacked(content, most)
    parts = {name.strip("/").lower(): text for name, text in members.items()}
    models = [_Document(text) for name, text in parts.items() if "3d/3dmodel.model" in name]
    for document in models:
        sizes = [len(parts.get(path.strip("/").lower(), b"")) for path in document.paths]
        if (size := document.size() + sum(sizes)) > 2 * most:
            raise ValueError(
                f"its parts repeat each other: they expand to {size} bytes, more than {2 * most}"
            )


class _Document:
    """The sizes of the elements with an id, without those within them, and what each contains or refers to.

    "" is the rest of the document. paths: of other files whose objects are used.
    """

    def __init__(self, text: bytes) -> None:
        self.own = {"": len(text)}
        self.parts: dict[str, list[str]] = {"": []}
        self.paths: list[str] = []
        self._inside: list[tuple[str, int]] = [
            ("", 0)
        ]  # the innermost element with an id, and where it begins
        self._known: dict[str, int | None] = {}
        self._elements = self._references = 0
        self._parser: Any = expat.ParserCreate()
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.EntityDeclHandler = self._parser.ExternalEntityRefHandler = self._entity
        self._parser.Parse(text, True)

    def size(self, name: str = "", depth: int = 0) -> int:
        """The expanded size of an element. Raises ValueError if it contains itself."""
        if name not in self._known and name in self.own:
            if depth > _DEPTH:
                raise ValueError(f"its parts lie in each other more than {_DEPTH} deep")
            self._known[name] = None
            self._known[name] = self.own[name] + sum(self.size(one, depth + 1) for one in self.parts[name])
        found = self._known.get(name, 0)
        if found is None:
            raise ValueError(f"the part {name!r} contains itself")
        return found

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._elements += 1
        if self._elements > _ELEMENTS or len(self._inside) > _DEPTH:
            raise ValueError(f"it has more than {_ELEMENTS} elements, or {_DEPTH} in each other")
        inside, begin = self._inside[-1]
        name = attributes.get("id", "")
        if name and name not in self.own:
            self.own[name], self.parts[name] = 0, []
            self.parts[inside].append(name)
            inside, begin = name, self._parser.CurrentByteIndex
        self._inside.append((inside, begin))
        for key, value in attributes.items():
            if key in ("url", "source", "target") and value.startswith("#"):
                self._refer(inside, value[1:])
            elif key == "objectid":
                self._refer(inside, value)
            elif key.endswith("path") and tag.endswith("component"):
                self.paths.append(value)

    def _refer(self, inside: str, name: str) -> None:
        self._references += 1
        if self._references > _REFERENCES:
            raise ValueError(f"its parts refer to each other more than {_REFERENCES} times")
        self.parts[inside].append(name)

    def _end(self, _: str) -> None:
        name, begin = self._inside.pop()
        outer = self._inside[-1][0]
        if name != outer:
            size = self._parser.CurrentByteIndex - begin
            self.own[name] += size
            self.own[outer] -= size

    def _entity(self, *_: object) -> int:
        raise ValueError("entities are refused: write out what they stand for")


NODES: Final = 2_000
"""How many nodes, or parts of meshes in nodes, a scene may have."""
_DEPTH: Final = 100
_TRIANGLES: Final = (4, 5, 6)  # modes of primitives: triangles, strips, fans
_DROPPED: Final = (
    "images",
    "textures",
    "materials",
    "samplers",
    "animations",
    "skins",
    "cameras",
    "extensions",
)
_ITEMS: Final = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}


def _plain_scene(content: bytes, kind: str, most: int) -> bytes:
    """A glTF or GLB file with positions and triangles alone.

    most: vertices, and corners of triangles, that its nodes may show together. Raises ValueError for more,
    and for what is not as glTF demands.
    """
    if kind == "gltf":
        return json.dumps(_checked(_tree(content), most)).encode()
    if content[:4] != b"glTF" or len(content) < 20:
        raise ValueError("this is no GLB file")
    length = int.from_bytes(content[12:16], "little")
    text = json.dumps(_checked(_tree(content[20 : 20 + length]), most)).encode()
    text += b" " * (-len(text) % 4)
    rest = content[20 + length :]
    size = (20 + len(text) + len(rest)).to_bytes(4, "little")
    return content[:8] + size + len(text).to_bytes(4, "little") + content[16:20] + text + rest


def _tree(text: bytes) -> Any:
    if text.count(b"[") + text.count(b"{") + text.count(b",") > 1_000_000:
        raise ValueError("its JSON text has more than 1,000,000 values")
    tree = json.loads(text)
    if not isinstance(tree, dict):
        raise ValueError("its JSON text is no object")
    return tree


def _checked(tree: Any, most: int) -> Any:
    for name in _DROPPED:
        tree.pop(name, None)
    accessors, meshes, nodes = (_objects(tree, name) for name in ("accessors", "meshes", "nodes"))
    if len(nodes) > NODES or len(accessors) > 10 * NODES or len(_objects(tree, "bufferViews")) > 10 * NODES:
        raise ValueError(f"it has more than {NODES} nodes, or {10 * NODES} accessors")
    used = {
        at for mesh in meshes for primitive in _objects(mesh, "primitives") for at in _geometry(primitive)
    }
    for at, accessor in enumerate(accessors):
        if at not in used:  # what is not used is not read
            accessor.clear()
            accessor.update({"componentType": 5126, "count": 0, "type": "SCALAR"})
        elif accessor.get("type") not in _ITEMS or not 0 <= _whole(accessor.get("count")) <= most:
            raise ValueError(f"accessor {at} has no type, or more than {most} items")
    sizes = []
    for mesh in meshes:
        mesh["primitives"] = [one for one in mesh["primitives"] if one.get("mode", 4) in _TRIANGLES]
        counts = [_count(primitive, accessors) for primitive in mesh["primitives"]]
        sizes.append((len(counts), sum(counts)))
    _check_tree(nodes)
    shown = [sizes[_place(node["mesh"], sizes)] for node in nodes if "mesh" in node] + sizes
    if sum(parts for parts, _ in shown) > 2 * NODES or sum(count for _, count in shown) > 4 * most:
        raise ValueError(f"its nodes show more than {NODES} parts or {most} corners of triangles")
    return tree


def _objects(holder: Any, name: str) -> list[Any]:
    found = holder.get(name, [])
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise ValueError(f"{name!r} must be a list of objects")
    return found


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else -1


def _place(value: Any, values: list[Any]) -> int:
    if not 0 <= _whole(value) < len(values):
        raise ValueError(f"there is no part {value!r}")
    return int(value)


def _geometry(primitive: Any) -> list[int]:
    """The accessors of a primitive that are read; all else is taken out of it."""
    packed = primitive.pop("extensions", {})
    if packed and any("compression" in name for name in packed):
        raise ValueError("its triangles are compressed, which is not read: save it without compression")
    attributes = primitive.get("attributes", {})
    if "POSITION" not in attributes:
        raise ValueError("a part of a mesh has no POSITION")
    primitive["attributes"] = {"POSITION": attributes["POSITION"]}
    for name in ("material", "targets"):
        primitive.pop(name, None)
    return [_whole(attributes["POSITION"]), _whole(primitive.get("indices", attributes["POSITION"]))]


def _count(primitive: Any, accessors: list[Any]) -> int:
    """Vertices, and corners of triangles, of a primitive."""
    positions = accessors[_place(primitive["attributes"]["POSITION"], accessors)]["count"]
    if "indices" not in primitive:
        return 2 * int(positions)
    return int(positions) + int(accessors[_place(primitive["indices"], accessors)]["count"])


def _check_tree(nodes: list[Any]) -> None:
    """Each node has one parent, as glTF demands, and lies not too deep."""
    parents: dict[int, int] = {}
    for at, node in enumerate(nodes):
        for child in node.get("children", []):
            if parents.setdefault(_place(child, nodes), at) != at:
                raise ValueError(f"node {child} is part of two others")
    for at in range(len(nodes)):
        depth = 0
        while at in parents:
            at, depth = parents[at], depth + 1
            if depth > _DEPTH:
                raise ValueError(f"its nodes lie in each other more than {_DEPTH} deep")


KINDS: Final[dict[str, int]] = {
    "stl": 60_000_000,
    "obj": 60_000_000,
    "ply": 40_000_000,
    "off": 25_000_000,
    "glb": 60_000_000,
    "gltf": 60_000_000,
    "dae": 40_000_000,
    "3mf": 30_000_000,
    "zip": 60_000_000,
    "msh": 60_000_000,
}
"""The kinds of mesh files, and how many bytes such a file may have with what it names and packs, unpacked."""

TRIANGLES: Final = 1_200_000
"""How many triangles a mesh may have, copies of its parts included."""

_UNPACK: Final = ("gz", "bz2", "xz", "zst", "7z", "rar", "tar", "tgz")
_CONVERT: Final = "convert it to STL, OBJ, PLY or glTF"
_SOLID: Final = re.compile(rb"^[ \t]*(?:end)?solid\b[^\r\n]*", re.IGNORECASE | re.MULTILINE)
_TEXTURE: Final = re.compile(rb"/[^\s]*")


def mesh_content(file: str, element: str | None = None, most: int | None = None) -> bytes:
    """The bytes of a mesh file.

    Raises MechanismError for one that is missing, is not admitted, is of no kind in `KINDS`, or is larger
    than these permit. most: bytes, where that is not decided by its kind.
    """
    element = f"Mesh {file!r}" if element is None else element
    most = KINDS[kind_of(file, element)] if most is None else most
    try:
        return content_of(file, element, most)
    except OSError as error:
        rule = "the file does not exist"
        if not isinstance(error, FileNotFoundError):
            rule = f"this is no file that can be read ({error.strerror})"
        raise MechanismError.of(element, rule, file, "check the path") from error


def kind_of(file: str, element: str) -> str:
    """The kind of a mesh file by its suffix. Raises MechanismError for another."""
    kind = Path(file).suffix[1:].lower()
    if kind in KINDS:
        return kind
    known = ", ".join(f".{one}" for one in KINDS)
    advice = "unpack it" if kind in _UNPACK else _CONVERT
    raise MechanismError.of(element, f"a mesh file ends in {known}", file, advice)


def loaded(file: str, trimesh: Any) -> Any:
    """The mesh of a file as a `trimesh.Trimesh`, in the file's unit. Raises MechanismError."""
    element = f"Mesh {file!r}"
    kind, content = kind_of(file, element), mesh_content(file)
    try:
        beside = _Beside(file, KINDS[kind] - len(content))
        if kind == "zip":
            mesh = _unzipped(content, trimesh)
        else:
            mesh = _parsed(content, kind, beside, trimesh)
        _check_count(len(mesh.faces))
        if mesh.vertices.shape[1:] != (3,):
            raise ValueError("its vertices must have three coordinates")
        if len(mesh.faces) == 0:
            raise ValueError("it holds no triangles")
        if mesh.faces.min() < 0 or mesh.faces.max() >= len(mesh.vertices):
            raise ValueError(f"a triangle names a vertex beyond its {len(mesh.vertices)}")
    except MechanismError:
        raise
    except Exception as error:
        raise MechanismError.of(element, f"the file cannot be read as a mesh ({error})") from error
    return mesh


class _Beside:
    """The files that a mesh file names: from its own folder and those within it, of `most` bytes in all."""

    def __init__(self, file: str, most: int) -> None:
        self._file, self._left = file, most
        self._folder = Path(os.path.realpath(file)).parent

    def __getitem__(self, name: str) -> bytes:
        path = self._folder / name.strip()
        if not Path(os.path.realpath(path)).is_relative_to(self._folder):
            raise KeyError(name)
        try:
            content = mesh_content(str(path), f"Mesh {self._file!r}", self._left)
        except MechanismError as error:
            raise KeyError(error.faults[0].rule) from error
        self._left -= len(content)
        return content

    get = __getitem__

    def keys(self) -> tuple[str, ...]:
        """No names: whoever looks for files instead of naming them finds none."""
        return ()


class _Within(_Beside):
    """The files that a mesh in an archive names: from the archive."""

    def __init__(self, members: Mapping[str, bytes], most: int) -> None:
        self._members, self._left = members, most

    def __getitem__(self, name: str) -> bytes:
        content = self._members[name.strip().removeprefix("./")]
        self._left -= len(content)
        if self._left < 0:
            raise KeyError(name)
        return content

    get = __getitem__


def _unzipped(content: bytes, trimesh: Any) -> Any:
    """All meshes of an archive as one."""
    members = unpacked(content, KINDS["zip"])
    kinds = {name: Path(name).suffix[1:].lower() for name in members}
    named = [name for name, kind in kinds.items() if kind in KINDS and kind not in ("zip", "msh")]
    if not named or len(named) > NODES:
        raise ValueError(f"it must hold 1 to {NODES} meshes and holds {len(named)}")
    meshes, count = [], 0
    for name in named:
        if len(members[name]) > KINDS[kinds[name]]:
            raise ValueError(f"{name!r} has more than {KINDS[kinds[name]]} bytes")
        beside = _Within(members, KINDS["zip"])
        meshes.append(_parsed(members[name], kinds[name], beside, trimesh))
        count += len(meshes[-1].faces)
        _check_count(count)
    return trimesh.util.concatenate(meshes)


def _parsed(content: bytes, kind: str, beside: Any, trimesh: Any) -> Any:
    """The mesh of one kind of file. Raises what trimesh raises, and ValueError for too much."""
    if kind == "stl":
        content = _plain_stl(content)
    elif kind == "obj":
        content = _plain_obj(content)
    elif kind == "ply":
        _check_ply(content)
    elif kind in ("glb", "gltf"):
        content = _plain_scene(content, kind, 3 * TRIANGLES)
    elif kind == "dae":
        check_dae(content, 2 * KINDS[kind])
    elif kind == "3mf":
        check_3mf(content, KINDS[kind])
    elif kind == "msh":
        raise ValueError("MuJoCo's own format is read in MJCF files only")
    settings = {} if kind in ("stl", "off", "3mf", "dae") else {"skip_materials": True}
    return trimesh.load(BytesIO(content), file_type=kind, resolver=beside, force="mesh", **settings)


def _check_count(triangles: int) -> None:
    if triangles > TRIANGLES:
        raise ValueError(f"it has {triangles} triangles, more than {TRIANGLES}")


def _plain_stl(content: bytes) -> bytes:
    """An STL file with one solid."""
    if len(content) >= 84 and len(content) == 84 + 50 * int.from_bytes(content[80:84], "little"):
        _check_count((len(content) - 84) // 50)
        return content
    return b"solid\n" + _SOLID.sub(b"", content) + b"\nendsolid\n"


def _plain_obj(content: bytes) -> bytes:
    """An OBJ file's vertices and faces alone: each group or material would cost as much as all vertices."""
    kept, corners = [], 0
    for line in content.replace(b"\\\r\n", b" ").replace(b"\\\n", b" ").splitlines():
        line = line.strip()
        if line[:2] in (b"v ", b"v\t"):
            kept.append(line)
        elif line[:2] in (b"f ", b"f\t"):
            kept.append(_TEXTURE.sub(b"", line) if b"/" in line else line)
            corners += len(line.split()) - 1
    _check_count(corners // 3)
    return b"\n".join(kept) + b"\n"


def _check_ply(content: bytes) -> None:
    """Counts in the head of a PLY file must not be greater than what follows it."""
    head, end, _ = content[:100_000].partition(b"end_header")
    if not end:
        raise ValueError("its head does not end")
    for line in head.splitlines():
        words = line.split()
        if words[:1] != [b"element"]:
            continue
        if len(words) != 3 or not words[2].isdigit() or len(words[2]) > 12:
            raise ValueError(f"an element needs a name and a count, got {line[:80]!r}")
        if int(words[2]) > len(content):
            raise ValueError(f"it has fewer bytes than {int(words[2])} of {words[1][:40]!r} need")
        _check_count(int(words[2]) // 3)
