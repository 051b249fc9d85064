"""Names that come from front ends: of elements, and plain names of files in the working folder alone."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, Final

from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.checking import nearest


def known(noun: str, name: Any, names: Collection[str]) -> None:
    """Raise MechanismError for an unknown name."""
    if not isinstance(name, str) or name not in names:
        rule = f"there is no {noun} of this name"
        raise MechanismError(Fault(f"{noun} {name!r}", rule, None, nearest(name, names)))


_NAME: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ._-")


def file_in(folder: Path, name: Any, suffixes: Sequence[str], must_be: bool = False) -> Path:
    """The path of a file in a folder, from a name that a front end gave; the first suffix where it has none.

    Raises MechanismError for anything but a plain name, for the name of something other than a file, and, if
    the file must exist, for a missing one.
    """
    text = name.strip() if isinstance(name, str) else ""
    if not text.lower().endswith(tuple(suffixes)):
        text = f"{text}{suffixes[0]}" if text else ""
    stem = text[: text.rfind(".")] if text else ""
    if not stem or set(text) - _NAME or text.startswith(".") or len(text) > 100:
        rule = "files of a page lie in the working folder, and have plain names"
        raise MechanismError(Fault("file", rule, name, "letters, digits, '.', '_' and '-', such as run-1"))
    path = folder / text
    if path.is_symlink() or (path.exists() and not path.is_file()):
        rule = "there is something else of this name"
        raise MechanismError(Fault("file", rule, path.name, "take another one"))
    if must_be and not path.exists():
        there = sorted(p.name for p in folder.iterdir() if p.suffix.lower() in suffixes)
        advice = f"there {'is' if len(there) == 1 else 'are'} {', '.join(there[:12]) or 'none'}"
        raise MechanismError(
            Fault("file", "there is none of this name in the working folder", path.name, advice)
        )
    return path


def path_word(folder: Path, path: Path) -> str:
    """A file in a folder as a word of a command line: its name alone, where that is the working folder."""
    text = path.name if folder.resolve() == Path.cwd() else str(path)
    quote = "'" if '"' in text else '"'
    return (
        text
        if text.replace(".", "").replace("_", "").replace("-", "").isalnum() and text[0] != "-"
        else f"{quote}{text}{quote}"
    )
