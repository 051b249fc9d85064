"""XML texts as trees with line numbers. Nothing outside a text is read; entities are refused."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final
from xml.parsers import expat

from bellcrank.errors import Fault, Location, MechanismError
from bellcrank.named_files import content_of

DEPTH: Final = 200
"""How deep elements may be nested."""
ELEMENTS: Final = 50_000
"""How many elements a file may have, with those that it includes and replicates."""
ATTRIBUTES: Final = 100
"""How many attributes an element may have."""
SIZE: Final = 30_000_000
"""How many bytes a file may have, with those that it includes."""
_HEAD: Final = 10_000  # in which the declaration of a file stands
_MARK: Final = b"\xef\xbb\xbf"  # of UTF-8
_AMPERSAND: Final = re.compile(rb"&(?!#?[A-Za-z0-9_]+;)")


class Attributes(dict[str, str]):
    """Attributes by name, and which of them have been asked for.

    asked: shared by the copies of one element's attributes. Copying and walking do not ask.
    """

    def __init__(self, given: Mapping[str, str], asked: set[str] | None = None) -> None:
        super().__init__(given)
        self.asked: set[str] = set() if asked is None else asked

    def __getitem__(self, key: str) -> str:
        self.asked.add(key)
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        self.asked.add(str(key))
        return super().__contains__(key)

    def get(self, key: str, default: Any = None) -> Any:
        """The value of an attribute, which counts as asked for."""
        self.asked.add(key)
        return super().get(key, default)


@dataclass(eq=False)
class Element:
    """An element: tag with prefix, attributes, children, its text; file and line where it begins.

    What a reader has asked for is recorded (`list_unused`): attributes, `words`, the children that `all`,
    `each` and `first` give. Walking through `children` and looking at `text` and `name` is not recorded.
    given: the attributes with those of defaults, if there are any. visited: whether anything was asked for.
    dropped: whether it was left out as a whole, and listed. document: whose settings it follows, in MJCF.
    """

    tag: str
    attributes: Attributes
    file: str
    line: int
    children: list[Element] = field(default_factory=list)
    text: str = ""
    document: object = None
    given: Attributes = field(init=False)
    visited: bool = field(default=False, init=False)
    spoken: bool = field(default=False, init=False)
    dropped: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self.given = self.attributes = Attributes(self.attributes)

    @property
    def location(self) -> Location:
        """The location where the element begins."""
        return Location(self.file, self.line)

    @property
    def name(self) -> str:
        """The attribute `name`, without surrounding blanks; empty if it is missing."""
        return str(dict.get(self.attributes, "name", "")).strip()

    @property
    def words(self) -> str:
        """The text without surrounding blanks, which counts as read."""
        self.visited = self.spoken = True
        return self.text.strip()

    def get(self, attribute: str, default: str = "") -> str:
        """An attribute without surrounding blanks."""
        return str(self.attributes.get(attribute, default)).strip()

    def use(self) -> None:
        """Count it with all that it contains as read: what it says has no effect where it stands."""
        self.dropped = True

    def all(self, *tags: str) -> Iterator[Element]:
        """The children with these tags."""
        for child in self.children:
            if child.tag in tags:
                child.visited = True
                yield child

    def each(self) -> list[Element]:
        """All children, which count as asked for."""
        for child in self.children:
            child.visited = True
        return self.children

    def first(self, tag: str) -> Element | None:
        """The first child with this tag."""
        return next(self.all(tag), None)

    def inner(self, *tags: str) -> str:
        """The text of a nested element, by the path of tags to it; empty if it is missing."""
        here: Element | None = self
        for tag in tags:
            here = None if here is None else here.first(tag)
        return "" if here is None else here.words

    def __str__(self) -> str:
        return f"{self.tag} {self.name!r}" if self.name else f"<{self.tag}>"


def parse(path: Path, name: str) -> Element:
    """The root of a file, which is called `name` in faults.

    Raises MechanismError, with file and line, for text that is not XML, declares entities, or exceeds the
    limits above; OSError if the file cannot be read.
    """
    try:
        content = content_of(path, "model file", SIZE)
    except MechanismError as error:
        raise MechanismError(replace(fault, location=Location(name)) for fault in error.faults) from None
    return parse_text(content, name)


def parse_text(text: bytes, name: str) -> Element:
    """The root of an XML text. Raises MechanismError as `parse` does."""
    builder = _Builder(name)
    try:
        try:
            builder.parser.Parse(_declared_first(text), True)
        except expat.ExpatError:
            if (repaired := _repaired(text)) == text:
                raise
            builder = _Builder(name)
            builder.parser.Parse(_declared_first(repaired), True)
    except expat.ExpatError as error:
        rule = f"not XML: {expat.ErrorString(error.code)}"
        raise _error(name, error.lineno, rule, error.offset + 1) from None
    except MechanismError:  # which is a ValueError
        raise
    except (LookupError, ValueError) as error:  # for encodings that do not exist
        raise _error(name, 1, f"not XML: {error}") from None
    if builder.root is None:
        raise _error(name, 1, "it holds no element")
    return builder.root


def _declared_first(text: bytes) -> bytes:
    """The text with its <?xml ...?> before the blank lines and comments that precede it; lines are kept."""
    start = text.find(b"<?xml ", 0, _HEAD)
    end = text.find(b"?>", start, start + 200) + 2
    if start <= 0 or end < 2 or b"\n" in text[start:end]:
        return text
    before = _uncommented(text[:start]).removeprefix(_MARK)
    return text[start:end] + before + text[end:] if not before.strip() else text


def _repaired(text: bytes) -> bytes:
    """The text without comments, which may contain "--" elsewhere, and with "&" written out."""
    return _AMPERSAND.sub(b"&amp;", _uncommented(text))


def _uncommented(text: bytes) -> bytes:
    """The text with its comments replaced by their line ends."""
    parts, here = [], 0
    while (start := text.find(b"<!--", here)) >= 0 and (end := text.find(b"-->", start + 4)) >= 0:
        parts += [text[here:start], b"\n" * text.count(b"\n", start, end)]
        here = end + 3
    return b"".join([*parts, text[here:]])


def _error(file: str, line: int | None, rule: str, column: int | None = None) -> MechanismError:
    return MechanismError(Fault("model file", rule, location=Location(file, line, None, column)))


class _Builder:
    def __init__(self, name: str) -> None:
        self.name = name
        self.root: Element | None = None
        self.open: list[Element] = []
        self.count = 0
        self.texts: dict[Element, list[str]] = {}
        self.parser: Any = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.EntityDeclHandler = self.entity
        self.parser.ExternalEntityRefHandler = self.entity

    def fail(self, rule: str) -> MechanismError:
        return _error(self.name, self.parser.CurrentLineNumber, rule)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.count += 1
        if self.count > ELEMENTS:
            raise self.fail(f"there are more than {ELEMENTS} elements")
        if len(self.open) >= DEPTH:
            raise self.fail(f"elements are nested more than {DEPTH} deep")
        if len(attributes) > ATTRIBUTES:
            raise self.fail(f"an element has more than {ATTRIBUTES} attributes")
        made = Element(tag, Attributes(attributes), self.name, self.parser.CurrentLineNumber)
        if self.open:
            self.open[-1].children.append(made)
        elif self.root is None:
            self.root = made
        self.open.append(made)

    def end(self, _tag: str) -> None:
        closed = self.open.pop()
        closed.text = "".join(self.texts.pop(closed, ()))

    def characters(self, text: str) -> None:  # in very many pieces, if there are many lines
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(text)

    def entity(self, *_: object) -> int:
        raise self.fail("entities are refused: write out what they stand for")
