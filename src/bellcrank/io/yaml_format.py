"""Conversion between YAML text and nodes.

PyYAML only splits the text into events, which cannot execute anything; the meaning of plain words is decided
here.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

from bellcrank.errors import MechanismError
from bellcrank.io.node import (
    DEPTH,
    NODES,
    WIDTH,
    Entries,
    Items,
    Node,
    Scalar,
    filled,
    resolved,
    syntax_error,
    written,
)

_FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_KEY = 1000  # characters of a key without a mark; readers look no further than 1024 for its colon
_TOO_DEEP = f"nested more than {DEPTH} deep"


def parse(text: str, file: str | None = None) -> Node | None:
    """The tree of a YAML text; None if it is empty. Raises MechanismError if it is not YAML."""
    if strange := _FORBIDDEN.search(text):
        line = text.count("\n", 0, strange.start()) + 1
        column = strange.start() - text.rfind("\n", 0, strange.start())
        rule = f"not YAML: the character {strange[0]!r} must not stand in it"
        raise syntax_error(file, rule, line, column, "is it a text file?")
    composer = _Composer(text, file)
    try:
        return composer.document()
    except yaml.MarkedYAMLError as error:
        raise _not_yaml(error, text, file) from error
    finally:
        composer.loader.dispose()


def _not_yaml(error: yaml.MarkedYAMLError, text: str, file: str | None) -> MechanismError:
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
    if "maximum nesting depth" in (
        error.problem or ""
    ):  # the scanner looks ahead, past where depth is counted
        return syntax_error(file, _TOO_DEEP, line, column)
    rule = f"not YAML: {error.problem or error.context}"
    if error.problem and error.context and error.context_mark is not None:
        rule += f" ({error.context} that starts in line {error.context_mark.line + 1})"
    advice = ""
    lines = text.splitlines()
    last = len(text.rstrip().splitlines())
    if line > last or (line == last and column > len(lines[-1].rstrip())):
        line, column = last, len(lines[last - 1].rstrip()) + 1
        advice = "the file may have been cut off"
    elif "end of stream" in rule:
        advice = "a quote or bracket is not closed; the file may have been cut off"
    elif line <= len(lines) and "\t" in lines[line - 1][: column + 1]:
        advice = "indent with blanks, not with tabs"
    elif "mapping values are not allowed" in rule:
        advice = "put texts with ': ' in quotes; check the indentation"
    return syntax_error(file, rule, line, column, advice)


class _Composer:
    """Builds nodes from events; follows aliases and fills in merged mappings (<<)."""

    def __init__(self, text: str, file: str | None) -> None:
        self.loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
        self.file = file
        self.anchors: dict[str, tuple[Node, int] | None] = {}
        self.made = 0  # nodes, and entries merged

    def fail(self, event: Any, rule: str, advice: str = "") -> MechanismError:
        return syntax_error(self.file, rule, event.start_mark.line + 1, event.start_mark.column + 1, advice)

    def document(self) -> Node | None:
        """The only document in the text."""
        self.loader.get_event()
        if self.loader.check_event(yaml.StreamEndEvent):
            return None
        self.loader.get_event()
        root, _ = self.node(0)
        self.loader.get_event()
        if not self.loader.check_event(yaml.StreamEndEvent):
            raise self.fail(self.loader.get_event(), "a file holds one mechanism", "take out the line ---")
        return root

    def node(self, depth: int) -> tuple[Node, int]:
        """The next node and the number of nodes it represents, aliases expanded."""
        event = self.loader.get_event()
        self.made += 1
        if self.made > NODES:
            raise self.fail(event, f"it has more than {NODES} values")
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self.anchors:
                raise self.fail(event, f"the alias *{event.anchor} has no anchor before it")
            if (known := self.anchors[event.anchor]) is None:
                raise self.fail(event, f"the alias *{event.anchor} refers to what it is part of")
            return known
        if event.tag not in (None, "!"):
            shown = event.tag.replace("tag:yaml.org,2002:", "!!")
            raise self.fail(event, f"the tag {shown} has no meaning in a mechanism file", "leave it out")
        if depth > DEPTH:
            raise self.fail(event, _TOO_DEEP)
        if event.anchor is not None:
            self.anchors[event.anchor] = None
        result = self.content(event, depth)
        if result[1] > NODES:
            raise self.fail(event, "the aliases in it multiply beyond all bounds")
        if event.anchor is not None:
            self.anchors[event.anchor] = result
        return result

    def content(self, event: Any, depth: int) -> tuple[Node, int]:
        place = (event.start_mark.line + 1, event.start_mark.column + 1)
        if isinstance(event, yaml.ScalarEvent):
            value = resolved(event.value) if event.implicit[0] and event.tag is None else event.value
            return Scalar(*place, value, event.value), 1
        if isinstance(event, yaml.SequenceStartEvent):
            items, size = [], 1
            while not self.loader.check_event(yaml.SequenceEndEvent):
                item, more = self.node(depth + 1)
                items.append(item)
                size += more
            self.loader.get_event()
            return Items(*place, tuple(items)), size
        return self.mapping(place, depth)

    def mapping(self, place: tuple[int, int], depth: int) -> tuple[Node, int]:
        own: list[tuple[Scalar, Node]] = []
        merged: list[Entries] = []
        size = 1
        while not self.loader.check_event(yaml.MappingEndEvent):
            event = self.loader.peek_event()
            key, _ = self.node(depth + 1)
            if not isinstance(key, Scalar):
                raise self.fail(event, "a key must be a word or a text")
            value, more = self.node(depth + 1)
            size += more
            if key.text == "<<" and event.implicit[0]:
                merged += self.sources(event, value)
            else:
                own.append((key, value))
        self.loader.get_event()
        known = {name.text for name, _ in own}
        for source in merged:
            self.made += len(source.entries)
            size += len(source.entries)
            if self.made > NODES:
                raise syntax_error(self.file, f"it has more than {NODES} values, with what << merges", *place)
            fresh = [(name, content) for name, content in source.entries if name.text not in known]
            own += fresh
            known.update(name.text for name, _ in fresh)
        return Entries(*place, tuple(own)), size

    def sources(self, event: Any, value: Node) -> list[Entries]:
        """The mappings merged by a key <<."""
        listed = value.items if isinstance(value, Items) else (value,)
        found = [entry for entry in listed if isinstance(entry, Entries)]
        if len(found) < len(listed):
            raise self.fail(event, "<< takes a mapping or a list of mappings")
        return found


def write(data: dict[str, Any]) -> str:
    """The text of plain data (dicts, lists and scalars); a value that fits on one line is written on one."""
    keys = [_key(key) for key in data]
    return "".join(
        f"{key}{_after(value, 0, len(key))}\n" for key, value in zip(keys, data.values(), strict=True)
    )


def _key(key: str, margin: str = "") -> str:
    """A key in block form with its colon; one of more characters than YAML looks ahead is marked as such."""
    text = written(key)
    return f"{margin}{text}:" if len(text) <= _KEY else f"{margin}? {text}\n{margin}:"


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{written(key)}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_flow(item) for item in value) + "]"
    return written(value)


def _after(value: Any, indent: int, used: int) -> str:
    """The text after a key and its colon: on the same line if it fits, else in an indented block.

    used: columns taken by the key. The sections of a file always take a block.
    """
    line = _flow(value)
    if not isinstance(value, (dict, list, tuple)) or not value:
        return " " + line
    if used + 1 + len(line) <= WIDTH and not (isinstance(value, dict) and indent == 0):
        return " " + line
    margin = "  " * (indent + 1)
    if isinstance(value, dict):
        keys = [_key(key, margin) for key in value]
        texts = [_after(item, indent + 1, len(key)) for key, item in zip(keys, value.values(), strict=True)]
        return "".join(f"\n{key}{text}" for key, text in zip(keys, texts, strict=True))
    if all(not isinstance(item, (dict, list, tuple)) for item in value):
        return f" [\n{filled([_flow(item) for item in value], margin)}\n{margin}]"
    return "".join(f"\n{margin}- {_item(item, indent + 1)}" for item in value)


def _item(value: Any, indent: int) -> str:
    """An item of a list in block form, after its dash; a long mapping continues below its first key."""
    line = _flow(value)
    if 2 * indent + 2 + len(line) <= WIDTH:
        return line
    return _after(value, indent, WIDTH).lstrip()
