"""Mouse actions on the stage: dragging bodies and reporting clicks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bellcrank.assembly.state import Floats
from bellcrank.trajectory.rotations import conjugate, rotate
from bellcrank.viewer.page.stage import Batch, Stage
from bellcrank.viewer.session import Session


class Pointing:
    """Connects the meshes of a stage with a session.

    told: callback for the future of each command. chosen: called with the kind and name of a clicked element.
    """

    def __init__(
        self, stage: Stage, session: Session, told: Callable[[Any], None], chosen: Callable[[str, str], None]
    ) -> None:
        self._stage, self._session = stage, session
        self._told, self._chosen = told, chosen
        self._dragged: dict[int, str] = {}  # by the index of the browser
        self.connect()

    def connect(self) -> None:
        """Attach the mouse handlers to the meshes on the stage."""
        for batch in self._stage.batches:
            self._connect(batch)

    def leave(self, client: int) -> None:
        """Handle the departure of a browser, possibly during a drag."""
        if (body := self._dragged.pop(client, None)) is not None:
            self._session.send("release", body=body)

    def _connect(self, batch: Batch) -> None:
        if batch.moves and self._session.is_live:

            async def drag(event: Any) -> None:
                self._drag(batch, event)

            batch.handle.on_drag("left")(drag)

        async def click(event: Any) -> None:
            number = int(batch.numbers[event.instance_index or 0])
            self._chosen(*self._stage.name(number))

        batch.handle.on_click(click)

    def _in_world(self, point: Any) -> Floats:
        found: Floats = np.asarray(point, dtype=float) / self._stage.unit
        return found

    def _drag(self, batch: Batch, event: Any) -> None:
        number = int(batch.numbers[event.instance_index or 0])
        carrier, client = int(self._stage.carriers[number]), int(event.client_id)
        now = self._session.snapshot
        if not 0 <= carrier < len(now.bodies):
            return
        body, target = now.bodies[carrier], self._in_world(event.end_position).tolist()
        if event.phase == "start" or client not in self._dragged:
            arm = self._in_world(event.start_position) - now.position[carrier]
            point = rotate(conjugate(now.rotation[carrier]), arm)
            self._dragged[client] = body
            self._told(self._session.send("grab", body=body, point=point.tolist(), target=target))
        elif event.phase == "update" and self._dragged[client] in now.bodies:
            self._session.send("move", body=self._dragged[client], target=target)
        if event.phase == "end":
            self.leave(client)
