"""Commands about the shell itself: help, ?, kinds, undo, redo, echo, quit, exit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism import CHANGE_KINDS, CONSTRAINT_KINDS, FORCE_KINDS, JOINT_KINDS, SENSOR_KINDS
from bellcrank.mechanism.checking import nearest
from bellcrank.mechanism.section import SECTION_KINDS
from bellcrank.shell.language import Argument, Command, Given, Reply
from bellcrank.shell.session import Session

GROUP: Final = "The shell"
KINDS: Final[dict[str, Mapping[str, type]]] = {
    "joint": JOINT_KINDS,
    "constraint": CONSTRAINT_KINDS,
    "force": FORCE_KINDS,
    "sensor": SENSOR_KINDS,
    "change": CHANGE_KINDS,
    "beam": SECTION_KINDS,
}


def _help(session: Session, given: Given) -> Reply:
    known = session.commands
    name = given.get("command")
    if name is not None:
        if name not in known:
            raise MechanismError(
                Fault("help", "there is no command of this name", name, nearest(name, known))
            )
        return Reply(
            known[name].help, {"name": name, "usage": known[name].usage, "meaning": known[name].meaning}
        )
    lines, group = [], ""
    for command in known.values():
        if command.group != group:
            group = command.group
            lines.append(f"{group}:")
        lines.append(f"    {command.usage}")
    lines.append("help <command> shows more; ; begins a comment")
    return Reply("\n".join(lines), {"commands": {c.name: c.usage for c in known.values()}})


def _kinds(session: Session, given: Given) -> Reply:  # noqa: ARG001
    kinds = KINDS[given["noun"]]
    rows = {name: str(getattr(kind, "meaning", "")) for name, kind in kinds.items()}
    width = max(map(len, rows))
    return Reply("\n".join(f"{name:{width}}  {meaning}" for name, meaning in rows.items()), {"kinds": rows})


def _undo(session: Session, given: Given) -> Reply:  # noqa: ARG001
    if not session.undo():
        raise MechanismError(Fault("undo", "there is nothing to take back"))
    return _standing(session)


def _redo(session: Session, given: Given) -> Reply:  # noqa: ARG001
    if not session.redo():
        raise MechanismError(Fault("redo", "nothing was taken back since the last change"))
    return _standing(session)


def _standing(session: Session) -> Reply:
    return Reply(f"t = {session.now.time:.6g} s, {session.mechanism!r}", {"time": session.now.time})


def _echo(session: Session, given: Given) -> Reply:  # noqa: ARG001
    text = " ".join(given["words"])
    return Reply(text, {"text": text})


def _quit(session: Session, given: Given) -> Reply:  # noqa: ARG001
    return Reply(leave=True)


_ASKED: Final = (Argument("command", "command", optional=True),)
COMMANDS: Final = (
    Command(
        "help", "Tell about a command, or list all of them.", _help, _ASKED, example="help sb", keeps=True
    ),
    Command("?", "The same as help.", _help, _ASKED, example="? ir", keeps=True),
    Command(
        "kinds",
        "List the kinds of joints, constraints, forces, sensors or changes, or of the sections of beams.",
        _kinds,
        (Argument("noun", "choice", choices=tuple(KINDS)),),
        example="kinds joint",
        keeps=True,
    ),
    Command(
        "undo",
        "Take back the last command that changed something, files left out.",
        _undo,
        example="undo",
        keeps=True,
    ),
    Command(
        "redo",
        "Do again what `undo` took back last, as long as nothing else was changed since.",
        _redo,
        example="redo",
        keeps=True,
    ),
    Command(
        "echo",
        "Print words, for scripts.",
        _echo,
        (Argument("words", "text", repeated=True),),
        example='echo "half done"',
        keeps=True,
    ),
    Command("quit", "Leave the shell.", _quit, example="quit", keeps=True),
    Command("exit", "The same as quit.", _quit, example="exit", keeps=True),
)
