"""Small pieces of HTML for notebooks: a heading, a table of facts, what is wrong, a picture.

`element` shows what the `add_...` methods return. `displayed` gives results that are written as text a short
`repr`, and a display with a table and a picture.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeVar

_CELL: Final = "text-align:left;padding:1px 12px 1px 0;border:0;background:none;vertical-align:top"
_SHOWN: Final = 12
_LINES: Final = 24  # of a table, before the rest is folded away
C = TypeVar("C", bound=type)


def page(
    title: str, facts: Mapping[str, Any], wrong: Sequence[str] = (), picture: bytes | None = None
) -> str:
    """The display of an object in a notebook. wrong: faults, which come first. picture: a PNG file."""
    parts = [f"<b>{escape(title)}</b>", *_faults(wrong)]
    if picture is not None:
        parts.append(_image(title, picture))
    rows = "".join(
        f'<tr style="background:none"><td style="{_CELL}">{escape(name)}</td>'
        f'<td style="{_CELL}">{escape(str(value))}</td></tr>'
        for name, value in facts.items()
        if value not in ("", None)
    )
    parts.append(f'<table style="border:0;margin:4px 0">{rows}</table>')
    return f'<div class="bellcrank">{"".join(parts)}</div>'


def _faults(wrong: Sequence[str]) -> Iterator[str]:
    if wrong:
        more = len(wrong) - _SHOWN
        shown = [*wrong[:_SHOWN], *([f"and {more} more"] if more > 0 else [])]
        listed = "".join(f"<li>{escape(text)}</li>" for text in shown)
        yield f'<ul class="bellcrank-faults" style="color:#b3261e;margin:4px 0">{listed}</ul>'


def _image(title: str, picture: bytes) -> str:
    data = b64encode(picture).decode("ascii")
    alt = escape(f"picture of {title}", quote=True)
    return f'<div><img alt="{alt}" style="max-width:480px" src="data:image/png;base64,{data}"/></div>'


def element(noun: str, name: str, *facts: Any) -> str:
    """The display of an element that a cell returns: what it is, and what it is between."""
    said = ", ".join(str(fact) for fact in facts if fact not in ("", None))
    return f'<span class="bellcrank"><b>{escape(f"{noun} {name!r}")}</b> {escape(said)}</span>'


def short(value: Any) -> str:
    """A number, several, or an expression, with six digits."""
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(short, value))})"
    return f"{value:g}" if isinstance(value, (int, float)) else str(value)


def displayed(picture: str = "", title: str = "") -> Callable[[C], C]:
    """For a class whose `str` is a headline and lines of columns: a short `repr`, and a table in notebooks.

    picture: the name of a method that writes a picture of it to a path. title: instead of a headline.
    """

    def with_display(cls: C) -> C:
        given: Any = cls

        def headed(self: Any) -> list[str]:
            head, *lines = [*([title] if title else []), *str(self).splitlines()]
            return [head.strip(), *lines]

        def short(self: Any) -> str:
            return f"<{type(self).__name__} {headed(self)[0].rstrip(':')}>"

        def html(self: Any) -> str:
            head, *lines = headed(self)
            image = _pictured(getattr(self, picture)) if picture else None
            parts = [f"<b>{escape(head)}</b>", *([] if image is None else [_image(head, image)])]
            parts.append(_table(lines[:_LINES]))
            if rest := lines[_LINES:]:
                parts.append(f"<details><summary>{len(rest)} more</summary>{_table(rest)}</details>")
            return f'<div class="bellcrank">{"".join(parts)}</div>'

        given.__repr__, given._repr_html_ = short, html
        return cls

    return with_display


def _table(lines: Sequence[str]) -> str:
    """Lines of text as rows; two blanks or more separate cells."""
    rows = [[cell for cell in re.split(r"\s{2,}", line.strip()) if cell] for line in lines]
    wide = max(map(len, rows), default=1)
    shown = []
    for cells in rows:
        spans = [1] * (len(cells) - 1) + [wide - len(cells) + 1]
        columns = "".join(
            f'<td style="{_CELL}" colspan="{span}">{escape(cell)}</td>'
            for cell, span in zip(cells, spans, strict=False)
        )
        shown.append(f'<tr style="background:none">{columns}</tr>')
    return f'<table style="border:0;margin:4px 0">{"".join(shown)}</table>'


def _pictured(write: Callable[[Path], Any]) -> bytes | None:
    """A PNG by a method that writes one; None where that is impossible: a display never raises."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "picture.png"
        try:
            write(path)
            return path.read_bytes()
        except Exception:  # noqa: BLE001
            return None
