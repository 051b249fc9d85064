"""File access of commands: no overwriting of other files, and only within one folder if required."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from bellcrank.errors import Fault, MechanismError
from bellcrank.named_files import admit, confined


class Places:
    """Decides which files commands may write or read.

    folder: the only folder to write into, subfolders included; None for anywhere. A file that the session
    wrote itself may be overwritten; any other existing file only if the command has `-over`.
    reads: whether reading is restricted to this folder as well, except for `known` files.
    """

    def __init__(
        self, folder: Path | None = None, reads: bool = False, known: Iterable[str | Path] = ()
    ) -> None:
        self._known = frozenset(known)
        self._folder = None if folder is None else folder.resolve()
        self._reads = reads
        self._written: set[Path] = set()

    def check(self, path: str | Path, over: bool = False) -> None:
        """Raise MechanismError if the file must not be written; over: it may exist already."""
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
        self._resolved(path)  # is it the name of a file at all?
        with self.reading():
            admit(path)

    def reading(self) -> AbstractContextManager[None]:
        """While it lasts, all that is read must lie where reading is restricted to, or be known."""
        if self._folder is None or not self._reads:
            return nullcontext()
        return confined(self._folder, self._known)

    def _within(self, where: Path) -> bool:
        return self._folder is None or where.is_relative_to(self._folder)

    def wrote(self, path: str | Path) -> None:
        """Record that the session has written this file."""
        self._written.add(self._resolved(path))

    @staticmethod
    def _resolved(path: str | Path) -> Path:
        """The path of the file with links resolved."""
        try:
            return Path(path).resolve()
        except (OSError, RuntimeError) as error:  # the name is too long, or links form a loop
            raise MechanismError(
                Fault(f"file {str(path)!r}", f"this is no name of a file: {error}")
            ) from None
