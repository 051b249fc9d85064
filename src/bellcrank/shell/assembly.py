"""The command assemble: moves bodies to satisfy all joints and constraints, at once or by forces."""

from __future__ import annotations

from typing import Final

from bellcrank.shell.drawing import drawn
from bellcrank.shell.language import Argument, Command, Given
from bellcrank.shell.parsing import plain_fields
from bellcrank.shell.reply import Reply
from bellcrank.shell.session import Session

_FIELDS = ("method", "time_constant")


def _assemble(session: Session, given: Given) -> Reply:
    from bellcrank.analysis.assemble import assemble

    options = plain_fields(given.fields, _FIELDS, "assemble")
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
        "Files and pictures",
        "Move the bodies until all joints and constraints fit; those that are named stay where they are. "
        "With method=constraint_forces they come together as if critically damped, in about 24 time "
        "constants; the motion is drawn as steps are, and plot shows it until something is run.",
        _assemble,
        (Argument("pinned", "body", repeated=True),),
        fields="method=... time_constant=...",
        example="assemble stick0 method=constraint_forces",
    ),
)
