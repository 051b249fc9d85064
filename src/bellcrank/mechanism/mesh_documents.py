"""Mesh files that are XML documents (COLLADA, 3MF) or archives: what they expand to, before they do.

Their parts refer to each other by name, so that few lines can double many times. A document's expanded size
is that of its text with each reference replaced by the text that it refers to.
"""

from __future__ import annotations

import zipfile
from io import BytesIO
from typing import Any, Final
from xml.parsers import expat

MEMBERS: Final = 1_000
"""How many files an archive may hold."""
_DEPTH: Final = 100
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
