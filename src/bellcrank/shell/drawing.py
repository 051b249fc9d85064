"""The conventions of the command draw: nothing, lines for a display program, or pictures in files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.compile.state import State
from bellcrank.errors import Fault, MechanismError

if TYPE_CHECKING:
    from bellcrank.shell.session import Session
    from bellcrank.trajectory.trajectory import Trajectory


def drawn(session: Session, run: Trajectory) -> dict[str, Any]:
    """The drawing of a run's frames, except the first: lines, or the names of files."""
    drawing = session.now.drawing
    if drawing.convention == "bolio":
        lines = [line for number in range(1, len(run)) for line in lines_of(run, number)]
        return {"lines": lines, "drawn": lines}
    if drawing.convention != "corpus":
        return {}
    before = sum(len(piece) - 1 for piece in session.now.history[:-1])
    files = []
    for number in range(1, len(run)):
        if (before + number) % drawing.every == 0:
            files.append(numbered(drawing.file, before + number))
            session.places.check(files[-1], drawing.over)
            if drawing.contacts:
                _touching(run, number, files[-1], drawing.scale)
            else:
                session.mechanism.draw(files[-1], state=state_of(run, number))
            session.places.wrote(files[-1])
    return {"drawn": files}


def draw_now(session: Session, file: str, contacts: bool, scale: float | None) -> None:
    """Write a picture of the current poses, with contact points and forces of the last step if requested.

    Raises MechanismError if contacts are requested and nothing was run, or bodies have been moved since.
    """
    state = session.state()
    if not contacts:
        session.mechanism.draw(file, state=state)
        return
    run = session.trajectory()
    last = state_of(run, -1)
    if last.time != state.time or not np.array_equal(last.position, state.position):
        rule = "-contacts: bodies have been moved since the last step, and no forces are known there"
        raise MechanismError(Fault("draw", rule, None, "take a step first"))
    _touching(run, -1, file, scale)


def _touching(run: Trajectory, number: int, file: str, scale: float | None) -> None:
    """Write a picture of a frame with its contacts."""
    run.draw(file, times=float(run.time[number]), contacts=True, force_scale=scale)


def lines_of(run: Trajectory, number: int) -> list[str]:
    """A line for each body: name, translation, quaternion."""
    state = state_of(run, number)
    found = [f"time {state.time:.9g}"]
    for body, position, rotation in zip(run.bodies, state.position, state.rotation, strict=True):
        values = " ".join(f"{value:.9g}" for value in (*position, *rotation))
        found.append(f"pose {body} {values}")
    return found


def state_of(run: Trajectory, number: int) -> State:
    """The state in a recorded frame."""
    names = ("position", "rotation", "velocity", "angular_velocity")
    return State(float(run.time[number]), *(run.store.read(name)[number] for name in names))


def numbered(file: str, number: int) -> str:
    """The name of a numbered picture, with the number before the suffix."""
    path = Path(file)
    return str(path.with_name(f"{path.stem}_{number:05d}{path.suffix}"))
