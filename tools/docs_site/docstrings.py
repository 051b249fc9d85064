"""Docstrings as Markdown: a description that begins with the name of an argument becomes an item."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from textwrap import dedent
from typing import Final

_NAMES: Final = re.compile(r"(?:^|(?<=[.;] ))(?P<names>\w+(?:, \w+)*): ")
_SPECIAL: Final = re.compile(r"([\\*<\[$~])")
_CODE: Final = re.compile(r"(``.+?``|`[^`]+`)")


def markdown(text: str, names: set[str], links: Mapping[str, str]) -> str:
    """A docstring as Markdown.

    names: of the arguments or fields it may describe. links: the public path of each name that code may mean.
    """
    parts: list[str] = []
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        parts += _paragraph(paragraph.splitlines(), names, links)
    return "\n\n".join(parts)


def _paragraph(lines: list[str], names: set[str], links: Mapping[str, str]) -> Iterator[str]:
    """The pieces of a paragraph: items of a list, text, and an example, which runs to its end."""
    prose: list[str] = []
    for number, line in enumerate(lines):
        stripped = line.strip()
        if stripped.startswith(">>>"):
            yield from _prose(prose, names, links) if prose else ()
            yield _example(lines[number:])
            return
        if stripped.startswith("- ") and prose:
            yield from _prose(prose, names, links)
            prose = []
        prose.append(stripped)
    if prose:
        yield from _prose(prose, names, links)


def _example(lines: list[str]) -> str:
    """A session with prompts and what is printed, which the site's copy button leaves out."""
    return "\n".join(["```pycon", *dedent("\n".join(lines)).splitlines(), "```"])


def _prose(lines: list[str], names: set[str], links: Mapping[str, str]) -> Iterator[str]:
    """Running text, in which names of arguments begin items."""
    text = " ".join(lines)
    if text.startswith("- "):
        yield f"- {_inline(text[2:], links)}"
        return
    at, opened = 0, ""
    starts = [m for m in _NAMES.finditer(text) if set(m["names"].split(", ")) <= names]
    for found in starts:
        if piece := text[at : found.start()].strip():
            yield opened + _inline(piece, links)
        shown = ", ".join(f"`{name}`" for name in found["names"].split(", "))
        opened, at = f"- {shown}: ", found.end()
    yield opened + _inline(text[at:].strip(), links)


def _inline(text: str, links: Mapping[str, str]) -> str:
    """Text with its signs escaped, and with links where code names something public."""
    out = []
    for number, piece in enumerate(_CODE.split(text)):
        if number % 2 == 0:
            out.append(_SPECIAL.sub(r"\\\1", piece))
            continue
        code = piece.strip("`")
        target = links.get(code.removesuffix("()").removeprefix("bc."))
        out.append(f"{{py:obj}}`{code} <{target}>`" if target else f"`{code}`")
    return "".join(out)
