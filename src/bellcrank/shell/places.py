"""Where commands may read and write: not over files of others, and in one folder alone if required."""

from __future__ import annotations

from pathlib import Path

from bellcrank.errors import Fault, MechanismError


class Places:
    """Judges the files that commands are about to write or read.

    folder: the only one to write into, with what lies in it; None for anywhere. A file that the session wrote
    itself may be written again, another one that exists only where the command says `-over`.
    reads: whether files may be read there alone, too.
    """

    def __init__(self, folder: Path | None = None, reads: bool = False) -> None:
        self._folder = None if folder is None else folder.resolve()
        self._reads = reads
        self._written: set[Path] = set()

    def check(self, path: str | Path, over: bool = False) -> None:
        """Raise MechanismError if the file must not be written; over: it may be there already."""
        where = self._resolved(path)
        if not self._within(where):
            rule = f"it lies outside the folder {str(self._folder)!r}, which is the only one to write into"
            advice = "write there, or start the shell with --any-folder"
            raise MechanismError(Fault(f"file '{path}'", rule, None, advice))
        if where.exists() and not over and where not in self._written:
            rule, advice = "it exists already", "choose another name, or write over it with -over"
            raise MechanismError(Fault(f"file '{path}'", rule, None, advice))

    def check_read(self, path: str | Path) -> None:
        """Raise MechanismError if the file must not be read."""
        if self._reads and not self._within(self._resolved(path)):
            rule = f"it lies outside the folder {str(self._folder)!r}, which is the only one to read from"
            raise MechanismError(Fault(f"file '{path}'", rule, None, "copy it there"))

    def _within(self, where: Path) -> bool:
        return self._folder is None or where.is_relative_to(self._folder)

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
