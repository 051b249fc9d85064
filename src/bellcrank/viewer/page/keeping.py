"""Saving from a page: the run as a file, a picture, or a recording that plays without a server."""

from __future__ import annotations

import io
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Final

import numpy as np

from bellcrank.errors import Fault, MechanismError
from bellcrank.scene import Scene
from bellcrank.trajectory.trajectory import Trajectory
from bellcrank.viewer.names import file_in
from bellcrank.viewer.page.stage import Stage
from bellcrank.viewer.session import Session
from bellcrank.whole_files import write_whole

_RATE: Final = 30.0  # pictures a second of a recording
_PICTURES: Final = 900  # pictures of a recording, at most


def recording(scene: Scene, run: Trajectory) -> str:
    """A self-contained page, as text, that plays a run without a server and without a network.

    It shows thirty pictures a second, fewer for long runs. Nothing listens meanwhile.
    Raises Unsupported without viser.
    """
    from bellcrank.viewer.page.server import quiet_server, stop_quietly

    first, last = run.span()
    count = int(min(max((last - first) * _RATE, 1.0), _PICTURES)) + 1
    wanted = np.linspace(first, last, count)
    shown = run.resample(wanted) if len(run) > 1 and last > first else run
    position, rotation = shown.store.read("position"), shown.store.read("rotation")
    server = quiet_server()
    try:
        stage = Stage(server, scene)
        stage.show(position[0], rotation[0])
        serializer = server.get_scene_serializer()
        for number in range(len(shown)):
            stage.show(position[number], rotation[number])
            serializer.insert_sleep((last - first) / max(count - 1, 1))
        return str(serializer.as_html())
    finally:
        stop_quietly(server)


class Keeping:
    """Buttons for saving. folder: where files are written. dark: whether the page is dark."""

    def __init__(
        self, gui: Any, session: Session, scene: Scene, folder: Path, report: Callable[[Any], None]
    ) -> None:
        self._session, self.scene, self._folder, self._report = session, scene, folder, report
        self._written: set[Path] = set()
        self._name = gui.add_text("Name", "run", hint="Of files, which go into the working folder.")
        if session.is_live:
            gui.add_button("Save the run (HDF5)", icon="device-floppy").on_click(self._save)
        gui.add_button("Record a page (HTML)", icon="movie").on_click(self._record)
        gui.add_button("Picture (PNG)", icon="camera").on_click(self._picture)

    def _save(self, _event: Any) -> None:
        def write() -> str:
            path, own = self._free(".h5")
            done = self._session.save(path, replace=own)
            self._written.add(path)
            return done

        self._done(write)

    def _record(self, _event: Any) -> None:
        def write() -> str:
            path, own = self._free(".html")
            write_whole(path, recording(self.scene, self._session.trajectory), replace=own)
            self._written.add(path)
            return f"{path.name}: it plays without a network"

        self._done(write)

    def _free(self, suffix: str) -> tuple[Path, bool]:
        """The file that is named, and whether this page has written it before, and may again.

        Raises MechanismError for a file of somebody else.
        """
        path = file_in(self._folder, self._name.value, (suffix,))
        own = path in self._written
        if path.exists() and not own:
            raise MechanismError(Fault("file", "it exists already", path.name, "take another name"))
        return path, own

    def _picture(self, event: Any) -> None:
        import imageio.v3 as images

        if event.client is None:
            return
        camera = event.client.camera
        pixels = event.client.get_render(
            int(camera.image_height), int(camera.image_width), transport_format="png"
        )
        data = io.BytesIO()
        images.imwrite(data, pixels, extension=".png")
        event.client.send_file_download(f"{self._session.name}.png", data.getvalue())

    def _done(self, work: Callable[[], str]) -> None:
        answer: Future[str] = Future()
        try:
            answer.set_result(work())
        except Exception as error:  # noqa: BLE001  (it is shown on the page)
            answer.set_exception(error)
        self._report(answer)
