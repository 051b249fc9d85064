"""Commands on files: save, load, source."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from bellcrank.io.fields import Simulation
from bellcrank.shell.adaptive_runs import LIMITS
from bellcrank.shell.language import Argument, Command, Given, Option, Reply
from bellcrank.shell.session import Session, Settings, Situation
from bellcrank.trajectory.saving import KINDS

GROUP: Final = "Files and pictures"
FILE: Final = Argument("file", "file")
OVER: Final = Option("-over", "Write over a file that was there before.")


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
    return written(session, path)


def written(session: Session, path: str) -> Reply:
    """The reply of a command that has written a file."""
    session.places.wrote(path)
    return Reply(f"written: {path}", {"file": path})


def _simulation(session: Session) -> Simulation:
    """The settings in the form that a file stores."""
    known = session.now.settings.arguments()
    plain = {
        name: known.pop(name)
        for name in ("formulation", "method", "step", "max_step", "rtol", "atol", *LIMITS)
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
    limits = {name: getattr(stored, name) for name in LIMITS if stored.formulation == "adaptive"}
    options = {name: value for name, value in stored.options.items() if name not in of_method}
    settings = Settings(
        stored.formulation or kept.formulation,
        options | {name: value for name, value in limits.items() if value is not None},
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


COMMANDS: Final = (
    Command(
        "save",
        "Write the mechanism (.yaml, .json), or what was run (.h5, .nc, .csv, .npz, .mat).",
        _save,
        (FILE,),
        (OVER,),
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
)
