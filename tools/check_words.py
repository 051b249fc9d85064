"""Words that a native engineer would not use here, and what to write instead (CONVENTIONS.md, "English").

Checked are the text of Markdown pages outside of code, and docstrings, comments and messages of the package.
A page may switch the check off between  <!-- words: off -->  and  <!-- words: on -->.
"""

from __future__ import annotations

import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
WORDS: Final = {
    r"\bled\b(?!:)": "driven",
    r"(?<!egree of )(?<!egrees of )\bfreedoms?\b(?![:,])": "degrees of freedom",
    r"\btold\b(?!:)": "specified, reported, given",
    r"\btells?\b": "says, reports, shows",
    r"\bmend(?:s|ed|ing)?\b": "corrected",
    r"\bparted\b": "separated by",
    r"\bknows?\b": "does not depend on, has",
    r"\breckoned\b": "counted, computed",
    r"(?:^|[.:;] )(?:Of|In|From) (?:that|this|those|these) \w+\.(?=\s|$|\")": "a whole sentence",
}
_PATTERN: Final = re.compile("|".join(f"(?P<w{place}>{word})" for place, word in enumerate(WORDS)), re.M)
_LATER: Final = ("viewer", "io")  # folders whose text is revised apart
_OFF: Final = re.compile(r"<!-- words: off -->.*?<!-- words: on -->", re.S)
_FENCE: Final = re.compile(r"^```.*?^```$", re.M | re.S)
_INSERTED: Final = re.compile(r"\{(?:[^{}\n]|\{[^{}\n]*\})*\}")  # of texts with values put in
_CODE: Final = re.compile(r"``.+?``|`[^`\n]+`")


def pages() -> Iterator[Path]:
    """The pages that are checked."""
    yield from sorted(ROOT.glob("*.md"))
    yield from sorted((ROOT / "docs").rglob("*.md"))


def prose_of_page(text: str) -> str:
    """The page with blanks in the place of code."""
    for pattern in (_OFF, _FENCE, _CODE):
        text = pattern.sub(_blanked, text)
    return text


def _blanked(found: re.Match[str]) -> str:
    """As many blanks, in as many lines."""
    return re.sub(r"[^\n]", " ", found[0])


def prose_of_module(text: str) -> Iterator[tuple[int, str]]:
    """The line and the text of comments, docstrings and messages: strings with a blank in them."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        kinds = (tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", -1))
        if token.type in kinds and " " in token.string:
            text = token.string
            for pattern in (_CODE, _INSERTED):
                text = pattern.sub(_blanked, text)
            yield token.start[0], text


def hits(text: str, first: int = 1) -> Iterator[tuple[int, str, str]]:
    """The line, the words and what to write instead, for each hit."""
    advice = list(WORDS.values())
    for found in _PATTERN.finditer(text):
        line = first + text.count("\n", 0, found.start() + len(found[0]) - len(found[0].lstrip()))
        place = int(str(found.lastgroup)[1:])
        yield line, " ".join(found[0].split()), advice[place]


def main() -> int:
    """Print the hits; return 1 if there are any."""
    found = []
    for page in pages():
        if (
            page.name != "CHANGELOG.md" and "decisions" not in page.parts
        ):  # what is past stays as it was written
            found += [(page, *hit) for hit in hits(prose_of_page(page.read_text(encoding="utf-8")))]
    for module in sorted((ROOT / "src").rglob("*.py")):
        if module.parts[-2] in _LATER or module.parts[-3] in _LATER:
            continue
        for line, text in prose_of_module(module.read_text(encoding="utf-8")):
            found += [(module, *hit) for hit in hits(text, line)]
    for path, line, words, advice in found:
        print(f"{path.relative_to(ROOT)}:{line}: {words!r}: write {advice}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
