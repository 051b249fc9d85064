"""Where commands may write: not over files that were there before, and in one folder alone if required."""

from __future__ import annotations

from pathlib import Path

from bellcrank.errors import Fault, MechanismError


class Places:
    """Judges the files that commands are about to write.

    folder: the only one to write into, with what lies in it; None for anywhere. A file that the session wrote
    itself may be written again, another one that exists only where the command says `-over`.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = None if folder is None else folder.resolve()
        self._written: set[Path] = set()

    def check(self, path: str | Path, over: bool = False) -> None:
        """Raise MechanismError if the file must not be written; over: it may be there already."""
        where = self._resolved(path)
        if self._folder is not None and not where.is_relative_to(self._folder):
            rule = f"it lies outside the folder {str(self._folder)!r}, which is the only one to write into"
            advice = "write there, or start the shell with --any-folder"
            raise MechanismError(Fault(f"file '{path}'", rule, None, advice))
        if where.exists() and not over and where not in self._written:
            rule, advice = "it exists already", "choose another name, or write over it with -over"
            raise MechanismError(Fault(f"file '{path}'", rule, None, advice))

    def wrote(self, path: str | Path) -> None:
        """Note that the session has made this file."""
        self._written.add(self._resolved(path))

    @staticmethod
    def _resolved(path: str | Path) -> Path:
        """The file itself, links followed."""
        try:
            return Path(path).resolve()
        except (OSError, RuntimeError) as error:  # a name too long, a loop of links
            raise MechanismError(
                Fault(f"file {str(path)!r}", f"this is no name of a file: {error}")
            ) from None
