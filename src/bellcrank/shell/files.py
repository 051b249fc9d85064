"""Commands on files and pictures: save, load, source, plot, draw; and info."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bellcrank.errors import Fault, MechanismError
from bellcrank.io.simulation import Simulation
from bellcrank.shell.drawing import draw_now, numbered
from bellcrank.shell.language import Argument, Command, Given, Option
from bellcrank.shell.reply import Reply
from bellcrank.shell.session import Session
from bellcrank.shell.situation import Drawing, Settings, Situation
from bellcrank.trajectory.saving import KINDS

if TYPE_CHECKING:
    from bellcrank.analysis.info import MechanismInfo

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
    told = content.simulation
    kept = session.now.settings
    of_method = {name: getattr(told, name) for name in ("step", "max_step")} | {
        name: told.options[name] for name in ("max_order",) if name in told.options
    }
    settings = Settings(
        told.formulation or kept.formulation,
        {name: value for name, value in told.options.items() if name not in of_method},
        told.method or kept.method,
        {name: value for name, value in of_method.items() if value is not None},
        told.rtol or told.tolerance or kept.rtol,
        told.atol or told.tolerance or kept.atol,
        told.output_step or kept.stepsize,
    )
    session.now = Situation(content.mechanism, told.start or 0.0, settings=settings, simulation=told)
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


COMMANDS: Final = (
    Command(
        "save",
        GROUP,
        "Write the mechanism (.yaml, .json), or what was run (.h5, .nc, .csv, .npz, .mat).",
        _save,
        (FILE,),
        (_OVER,),
        example="save tensegrity.yaml",
        keeps=True,
    ),
    Command(
        "load",
        GROUP,
        "Read a mechanism and what its file says of the simulation, in the place of this one.",
        _load,
        (FILE,),
        example="load tensegrity.yaml",
    ),
    Command(
        "source",
        GROUP,
        "Run the commands of a script; if one is refused, nothing of it has been done.",
        _source,
        (FILE,),
        example="source more.bell",
        keeps=True,
    ),
    Command(
        "plot",
        GROUP,
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
        GROUP,
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
        GROUP,
        "Show what the mechanism consists of, its degrees of freedom, redundant constraints and loops.",
        _info,
        example="info",
        keeps=True,
    ),
)
