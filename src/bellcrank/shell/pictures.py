"""Commands on pictures: plot and draw; and what draw writes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bellcrank.compile.state import State
from bellcrank.errors import Fault, MechanismError
from bellcrank.shell import files
from bellcrank.shell.files import FILE, OVER, written
from bellcrank.shell.language import Argument, Command, Given, Option, Reply
from bellcrank.shell.session import Drawing, Session

if TYPE_CHECKING:
    from bellcrank.trajectory.trajectory import Trajectory


GROUP: Final = files.GROUP
CONVENTIONS: Final = ("bolio", "corpus", "null", "picture")


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


def _plot(session: Session, given: Given) -> Reply:
    path = given.option("-o") or "plot.png"
    session.places.check(path, "-over" in given.options)
    session.trajectory().plot(given.get("kind", "overview"), *given["names"], path=path)
    return written(session, path)


def _draw(session: Session, given: Given) -> Reply:
    how = given["convention"]
    needs = {"corpus": 2, "picture": 1}.get(how, 0)
    held = [given.get(name) for name in ("filename", "every") if given.get(name) is not None]
    if len(held) != needs:
        words = {"corpus": "<filename> %d", "picture": "<filename>"}.get(how, "nothing")
        raise MechanismError(Fault("draw", f"{how} takes {words}", held or None))
    if needs:
        from bellcrank.scene.figure import check_picture

        check_picture(held[0])
    over, contacts, scale = "-over" in given.options, "-contacts" in given.options, given.option("-scale")
    if contacts and not needs:
        raise MechanismError(Fault("draw", "-contacts belongs to pictures", how, "picture or corpus"))
    if scale is not None and not contacts:
        raise MechanismError(Fault("draw", "-scale is that of -contacts", scale, "give -contacts, too"))
    if how == "picture":
        session.places.check(held[0], over)
        draw_now(session, held[0], contacts, scale)
        return written(session, held[0])
    drawing = replace(Drawing(how, *held), over=over, contacts=contacts, scale=scale)
    if how == "corpus":
        session.places.check(numbered(drawing.file, drawing.every), over)
    session.set(drawing=drawing)
    return Reply(data={"drawing": how})


COMMANDS: Final = (
    Command(
        "plot",
        "Write a figure of what was run: overview, joint, body, marker, path, reaction, drive, force, limit, "
        "energy, violation.",
        _plot,
        (Argument("kind", "text", optional=True), Argument("names", "element", repeated=True)),
        (Option("-o", "Into this file (PNG, PDF, SVG), plot.png.", (FILE,)), OVER),
        example="plot body stick0 -o stick0.png",
        keeps=True,
    ),
    Command(
        "draw",
        "Choose how every step is drawn: bolio, a line for each body on standard output; corpus, "
        "a picture of every so many steps in numbered files; null, not at all. Or write one picture now.",
        _draw,
        (
            Argument("convention", "choice", choices=CONVENTIONS),
            Argument("filename", "file", optional=True),
            Argument("every", "count", optional=True),
        ),
        (
            Option("-contacts", "Mark where bodies touch, with the forces there as arrows."),
            Option(
                "-scale",
                "Newtons that an arrow of 1 m stands for.",
                (Argument("scale", "number", unit="N/m"),),
            ),
            OVER,
        ),
        example="draw corpus frame.png 10",
    ),
)
