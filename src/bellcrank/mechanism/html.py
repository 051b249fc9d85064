"""Small pieces of HTML for notebooks: a heading, a table of facts, what is wrong, a picture."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any, Final

_CELL: Final = "text-align:left;padding:1px 12px 1px 0;border:0;background:none;vertical-align:top"
_SHOWN: Final = 12


def page(
    title: str, facts: Mapping[str, Any], wrong: Sequence[str] = (), picture: bytes | None = None
) -> str:
    """The display of an object in a notebook. wrong: faults, which come first. picture: a PNG file."""
    parts = [f"<b>{escape(title)}</b>", *_faults(wrong)]
    if picture is not None:
        data = b64encode(picture).decode("ascii")
        alt = escape(f"picture of {title}", quote=True)
        parts.append(
            f'<div><img alt="{alt}" style="max-width:480px" src="data:image/png;base64,{data}"/></div>'
        )
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
