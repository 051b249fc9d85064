"""Commands on files and pictures: assemble, save, load, source, plot, draw, info; and what draw writes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bellcrank.compile.state import State
from bellcrank.errors import Fault, MechanismError
from bellcrank.io.fields import Simulation
from bellcrank.shell.language import Argument, Command, Given, Option, Reply
from bellcrank.shell.parsing import plain_fields
from bellcrank.shell.session import Drawing, Session, Settings, Situation
from bellcrank.trajectory.saving import KINDS

if TYPE_CHECKING:
    from bellcrank.analysis.info import MechanismInfo
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


GROUP: Final = "Files and pictures"
FILE: Final = Argument("file", "file")
CONVENTIONS: Final = ("bolio", "corpus", "null", "picture")


_OVER: Final = Option("-over", "Write over a file that was there before.")


def _save(session: Session, given: Given) -> Reply:
    path = given["file"]
    session.places.check(path, "-over" in given.options)
    if Path(path).suffix.lower() in KINDS:
        session.trajectory().save(path, replace=True)
    else:
        from bellcrank.io.files import save

        if session.now.off:
            session.notes.append(f"forces that are off are not saved: {', '.join(session.now.off)}")
        joints = session.mechanism.joints
        turned = [
            name
            for name, frames in session.now.frames.items()
            if frames.oblique and name in joints and frames.hold(joints[name])
        ]
        if turned:
            session.notes.append(f"joint frames are saved turned along their axes: {', '.join(turned)}")
        listed = save(session.mechanism, path, _simulation(session))
        session.notes += [f"left out: {fault}" for fault in listed]
    return _written(session, path)


def _written(session: Session, path: str) -> Reply:
    session.places.wrote(path)
    return Reply(f"written: {path}", {"file": path})


def _simulation(session: Session) -> Simulation:
    """The settings in the form that a file stores."""
    known = session.now.settings.arguments()
    plain = {
        name: known.pop(name)
        for name in ("formulation", "method", "step", "max_step", "rtol", "atol")
        if name in known
    }
    duration = session.now.simulation.duration
    return Simulation(
        start=session.now.start,
        duration=duration,
        output_step=session.now.settings.stepsize,
        options=known,
        **plain,
    )


def _load(session: Session, given: Given) -> Reply:
    from bellcrank.io import read

    session.places.check_read(given["file"])
    content = read(given["file"])
    stored = content.simulation
    kept = session.now.settings
    of_method = {name: getattr(stored, name) for name in ("step", "max_step")} | {
        name: stored.options[name] for name in ("max_order",) if name in stored.options
    }
    settings = Settings(
        stored.formulation or kept.formulation,
        {name: value for name, value in stored.options.items() if name not in of_method},
        stored.method or kept.method,
        {name: value for name, value in of_method.items() if value is not None},
        stored.rtol or stored.tolerance or kept.rtol,
        stored.atol or stored.tolerance or kept.atol,
        stored.output_step or kept.stepsize,
    )
    session.now = Situation(content.mechanism, stored.start or 0.0, settings=settings, simulation=stored)
    return Reply(f"{content.mechanism!r}", {"name": content.mechanism.name})


def _source(session: Session, given: Given) -> Reply:
    session.places.check_read(given["file"])
    done = session.source(given["file"])
    texts = [reply.text for reply in done if reply.text]
    return Reply(
        "\n".join([*texts, f"{len(done)} commands done"]), {"results": [reply.data for reply in done]}
    )


def _plot(session: Session, given: Given) -> Reply:
    path = given.option("-o") or "plot.png"
    session.places.check(path, "-over" in given.options)
    session.trajectory().plot(given.get("kind", "overview"), *given["names"], path=path)
    return _written(session, path)


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
        return _written(session, held[0])
    drawing = replace(Drawing(how, *held), over=over, contacts=contacts, scale=scale)
    if how == "corpus":
        session.places.check(numbered(drawing.file, drawing.every), over)
    session.set(drawing=drawing)
    return Reply(data={"drawing": how})


def _info(session: Session, given: Given) -> Reply:  # noqa: ARG001
    from bellcrank.analysis.info import info

    if not session.mechanism.bodies:
        return Reply(repr(session.mechanism), {"name": session.mechanism.name, "bodies": 0})
    found = info(session.mechanism)
    rows = _rows(found)
    return Reply(
        "\n".join(f"{name:16} {value}" for name, value in rows.items()), {"name": found.name, **rows}
    )


def _rows(found: MechanismInfo) -> dict[str, Any]:
    return {
        "bodies": found.bodies,
        "joints": found.joints,
        "rows": found.rows,
        "freedom": found.freedom,
        "redundant": ", ".join(map(str, found.redundant)) or "none",
        "loops": found.loops,
        "mass": found.mass,
    }


def _assemble(session: Session, given: Given) -> Reply:
    from bellcrank.analysis.assemble import assemble

    options = plain_fields(given.fields, ("method", "time_constant"), "assemble")
    session.commit()
    pinned = given["pinned"]
    report = session.edit(lambda m: assemble(m, session.now.start, pinned=pinned, **options))
    data = {"changed": report.changed, "report": str(report)}
    if report.motion is None:
        return Reply(str(report), data)
    session.set(history=(report.motion,))
    frames = drawn(session, report.motion)
    text = "\n".join([*frames.pop("lines", ()), str(report)])
    return Reply(text, {**data, "frames": len(report.motion), **frames})


COMMANDS: Final = (
    Command(
        "assemble",
        "Move the bodies until all joints and constraints fit; those that are named stay where they are. "
        "With method=constraint_forces they come together as if critically damped, in about 24 time "
        "constants; the motion is drawn as steps are, and plot shows it until something is run.",
        _assemble,
        (Argument("pinned", "body", repeated=True),),
        fields="method=... time_constant=...",
        example="assemble stick0 method=constraint_forces",
    ),
    Command(
        "save",
        "Write the mechanism (.yaml, .json), or what was run (.h5, .nc, .csv, .npz, .mat).",
        _save,
        (FILE,),
        (_OVER,),
        example="save tensegrity.yaml",
        keeps=True,
    ),
    Command(
        "load",
        "Read a mechanism and what its file says of the simulation, in the place of this one.",
        _load,
        (FILE,),
        example="load tensegrity.yaml",
    ),
    Command(
        "source",
        "Run the commands of a script; if one is refused, nothing of it has been done.",
        _source,
        (FILE,),
        example="source more.bell",
        keeps=True,
    ),
    Command(
        "plot",
        "Write a figure of what was run: overview, joint, body, path, reaction, drive, force, limit, "
        "energy, violation.",
        _plot,
        (Argument("kind", "text", optional=True), Argument("names", "element", repeated=True)),
        (Option("-o", "Into this file (PNG, PDF, SVG), plot.png.", (FILE,)), _OVER),
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
            _OVER,
        ),
        example="draw corpus frame.png 10",
    ),
    Command(
        "info",
        "Show what the mechanism consists of, its degrees of freedom, redundant constraints and loops.",
        _info,
        example="info",
        keeps=True,
    ),
)
