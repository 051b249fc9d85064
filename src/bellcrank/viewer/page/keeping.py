"""Saving from a page: the run as a file, or a recording that plays without a server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, Final

from bellcrank.errors import Fault, MechanismError
from bellcrank.viewer.names import file_in
from bellcrank.whole_files import write_whole

if TYPE_CHECKING:
    from bellcrank.viewer.page.browser import Browser
    from bellcrank.viewer.page.page import Page

_MECHANISMS: Final = (".yaml", ".yml", ".json")
_MESHES: Final = (".stl", ".obj", ".ply")


class Keeping:
    """The commands of a page on files of its folder: what a page has written itself it may replace."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._written: set[Path] = set()
        self.commands: Mapping[str, Callable[..., Future[Any]]] = {
            "save_run": self.save_run, "record": self.record, "files": self.files,
        }  # fmt: skip

    def files(self, _browser: Browser) -> Future[Any]:
        """Names of the files that can be opened."""
        return _beside(self._files)

    def save_run(self, _browser: Browser, file: Any) -> Future[Any]:
        """Write what was recorded, as HDF5."""
        if not self._page.session.is_live:
            raise MechanismError(Fault("run", "it comes from a file already"))
        return _beside(lambda: self._saved(file))

    def record(self, _browser: Browser, file: Any) -> Future[Any]:
        """Write a page that plays what was recorded without a server."""
        return _beside(lambda: self._recorded(file))

    def _files(self) -> dict[str, list[str]]:
        there = sorted(p.name for p in self._page.folder.iterdir() if p.is_file() and not p.is_symlink())
        return {
            "mechanisms": [name for name in there if name.lower().endswith(_MECHANISMS)],
            "meshes": [name for name in there if name.lower().endswith(_MESHES)],
        }

    def _saved(self, file: Any) -> str:
        path, own = self._free(file, ".h5")
        done = self._page.session.save(path, replace=own)
        self._written.add(path)
        return done

    def _recorded(self, file: Any) -> str:
        from bellcrank.viewer.page.recording import recording

        path, own = self._free(file, ".html")
        scene = self._page.picture(self._page.session.snapshot).scene
        write_whole(path, recording(scene, self._page.session.trajectory), replace=own)
        self._written.add(path)
        return f"{path.name}: it plays without a network"

    def _free(self, file: Any, suffix: str) -> tuple[Path, bool]:
        """The file that is named, and whether this page has written it before, and may again.

        Raises MechanismError for a file of somebody else.
        """
        path = file_in(self._page.folder, file, (suffix,))
        own = path in self._written
        if path.exists() and not own:
            raise MechanismError(Fault("file", "it exists already", path.name, "take another name"))
        return path, own


def _beside(work: Callable[[], Any]) -> Future[Any]:
    """The result of work in a thread of its own, for it takes long."""
    answer: Future[Any] = Future()

    def run() -> None:
        try:
            answer.set_result(work())
        except Exception as error:  # noqa: BLE001  (whoever asked is told)
            answer.set_exception(error)

    Thread(target=run, name="bellcrank keeps", daemon=True).start()
    return answer
