"""Suggestions of names close to what was meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: object, known: Iterable[str]) -> str:
    """Advice that names what may have been meant, or the available names."""
    names = list(known)
    close = get_close_matches(str(name), names, n=3, cutoff=0.6)
    close += [other for other in names if other.endswith(f"/{name}") and other not in close][:3]
    if close:
        return f"did you mean {' or '.join(map(repr, close))}?"
    if not names:
        return "there is none yet"
    shown = ", ".join(map(repr, names[:8]))
    return f"there are {shown}" + (f" and {len(names) - 8} more" if len(names) > 8 else "")
