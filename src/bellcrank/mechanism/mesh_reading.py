"""Reading of mesh files, which trimesh parses once it is known what they expand to.

Only triangles are read: no materials, pictures or animations, so nothing else is decoded. What may be in a
file is bounded before it is parsed, by its kind: see `KINDS` and `TRIANGLES`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism import mesh_documents, mesh_scenes
from bellcrank.named_files import content_of

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
        raise MechanismError(Fault(element, rule, file, "check the path")) from error


def kind_of(file: str, element: str) -> str:
    """The kind of a mesh file by its suffix. Raises MechanismError for another."""
    kind = Path(file).suffix[1:].lower()
    if kind in KINDS:
        return kind
    known = ", ".join(f".{one}" for one in KINDS)
    advice = "unpack it" if kind in _UNPACK else _CONVERT
    raise MechanismError(Fault(element, f"a mesh file ends in {known}", file, advice))


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
        raise MechanismError(Fault(element, f"the file cannot be read as a mesh ({error})")) from error
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
    members = mesh_documents.unpacked(content, KINDS["zip"])
    kinds = {name: Path(name).suffix[1:].lower() for name in members}
    named = [name for name, kind in kinds.items() if kind in KINDS and kind not in ("zip", "msh")]
    if not named or len(named) > mesh_scenes.NODES:
        raise ValueError(f"it must hold 1 to {mesh_scenes.NODES} meshes and holds {len(named)}")
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
        content = mesh_scenes.plain(content, kind, 3 * TRIANGLES)
    elif kind == "dae":
        mesh_documents.check_dae(content, 2 * KINDS[kind])
    elif kind == "3mf":
        mesh_documents.check_3mf(content, KINDS[kind])
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
