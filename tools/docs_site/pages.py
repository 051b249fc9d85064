"""Pages of the checkout on the site: where each goes, and how its links and code blocks change."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
FOLDERS: Final = {
    "docs/guide": "guide",
    "docs/cookbook": "cookbook",
    "docs/theory": "theory",
    "docs/decisions": "decisions",
}
SINGLE: Final = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "project/architecture.md",
    "docs/extending.md": "project/extending.md",
    "CONVENTIONS.md": "project/conventions.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changes.md",
    "docs/benchmarks.md": "benchmarks.md",
    "docs/file-format.md": "reference/file-format.md",
    "docs/run-files.md": "reference/run-files.md",
    "docs/robot-models.md": "robot-models.md",
    "docs/gallery.md": "gallery/index.md",
    "docs/decisions": "decisions/index.md",
    "examples": "examples.md",
}
GENERATED: Final = ("README.md", "docs/gallery.md", "docs/decisions", "examples")
"""Those whose place on the site is taken by a page that is made for it."""

_LINK: Final = re.compile(r"(?<!`)(?P<mark>!?)\[(?P<label>[^\]]*)\]\((?P<target>[^)\s]+)\)")
FENCE: Final = re.compile(r"^(?P<fence>`{3,})(?P<info>.*)$")


def places() -> dict[str, str]:
    """The place on the site of every page, by its path in the checkout."""
    found = dict(SINGLE)
    for folder, place in FOLDERS.items():
        for page in sorted((ROOT / folder).glob("*.md")):
            found[f"{folder}/{page.name}"] = f"{place}/{page.name}"
    return found


def staged(path: str, known: dict[str, str]) -> str:
    """The text of a page of the checkout as it is on the site."""
    return converted((ROOT / path).read_text(encoding="utf-8"), path, known[path], known)


def converted(text: str, path: str, place: str, known: dict[str, str]) -> str:
    """A Markdown text that stands at `path` in the checkout and goes to `place` on the site."""
    out: list[str] = []
    closing = ""
    for line in text.splitlines():
        fence = FENCE.match(line)
        if closing:
            closing = "" if line.strip() == closing else closing
            out.append(line)
        elif fence:
            closing = fence["fence"]
            out += _opened(closing, fence["info"].split())
        else:
            out.append(_LINK.sub(lambda link: _moved(link, path, place, known), line))
    return "\n".join(out) + "\n"


def _opened(fence: str, info: list[str]) -> list[str]:
    """The first lines of a code block; words after the language say how the tests run it."""
    kind, *rest = info or ["text"]
    if kind in ("yaml", "pdb") and rest:
        return [f"{fence}{{code-block}} {'text' if kind == 'pdb' else kind}", f":caption: {rest[0]}", ""]
    if rest == ["output"]:
        return [f"{fence}{{code-block}} text", ":class: output", ""]
    return [f"{fence}{kind}"]


def _moved(link: re.Match[str], path: str, place: str, known: dict[str, str]) -> str:
    """A link as it leads on the site; what is not there keeps its label alone."""
    target, _, anchor = link["target"].partition("#")
    if not target or re.match(r"\w+:", target):
        return link[0]
    wanted = os.path.normpath(Path(path).parent / target)
    if link["mark"] or wanted.startswith("docs/img/"):
        new = wanted.removeprefix("docs/")
    elif wanted in known:
        new = known[wanted]
    else:
        return link["label"]
    relative = os.path.relpath(new, Path(place).parent)
    return f"{link['mark']}[{link['label']}]({relative}{'#' if anchor else ''}{anchor})"


def title(text: str) -> str:
    """The first heading of a page."""
    found = re.search(r"^# (.*)$", text, re.M)
    return found[1] if found else ""


def toctree(pages: Iterable[str], caption: str = "", *, hidden: bool = True) -> str:
    """A table of contents of pages, which are given relative to the page that holds it."""
    options = [f":caption: {caption}"] if caption else []
    options += [":hidden:"] if hidden else [":maxdepth: 1"]
    return "\n".join(["```{toctree}", *options, "", *pages, "```", ""])
