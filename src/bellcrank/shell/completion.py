"""Completion of a command line that is being typed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from bellcrank.errors import BellcrankError
from bellcrank.formulations.preparing import FORMULATIONS
from bellcrank.io.fields import parameters
from bellcrank.mechanism import CONSTRAINT_KINDS, FORCE_KINDS, JOINT_KINDS
from bellcrank.mechanism.marker import GROUND
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.named_files import is_admitted
from bellcrank.run.plan import METHODS
from bellcrank.shell.commands import COMMANDS
from bellcrank.shell.files import CONVENTIONS
from bellcrank.shell.language import Argument, Command
from bellcrank.shell.session import Session
from bellcrank.shell.words import words

_KINDS: dict[str, Mapping[str, type]] = {
    "joint": JOINT_KINDS,
    "constraint": CONSTRAINT_KINDS,
    "force": FORCE_KINDS,
}
_OPTIONAL_NAMES = {
    "formulation": ("auto", *FORMULATIONS),
    "method": tuple(METHODS),
    "convention": CONVENTIONS,
}


def candidates(session: Session, line: str) -> list[str]:
    """The words that may complete the last word of a line (or start a new one, after a blank)."""
    try:
        given = [word.text for word in words(line)]
    except BellcrankError:
        return []
    begun = "" if not given or line[-1:].isspace() else given.pop()
    if not given:
        found: Iterable[str] = COMMANDS
    elif given[0] not in COMMANDS:
        found = ()
    else:
        found = _next(session, COMMANDS[given[0]], given[1:], begun)
    return sorted({word for word in found if word.startswith(begun)})


def _next(session: Session, command: Command, given: list[str], begun: str) -> list[str]:
    """The words that may follow these words of a command; begun: the start of the next word."""
    options = {option.word: option for option in command.options}
    left, plain = 0, 0
    last: list[Argument] = []
    for word in given:
        if left > 0:
            left -= 1
        elif word in options:
            last = [argument for argument in options[word].arguments for _ in range(argument.count)]
            left = len(last)
        elif not (command.fields and "=" in word):
            plain += 1
    if left > 0:
        return _values(session, command, last[len(last) - left], given, begun)
    found = list(options)
    slots = [argument for argument in command.arguments for _ in range(argument.count)]
    if slots and (plain < len(slots) or slots[-1].repeated):
        found += _values(session, command, slots[min(plain, len(slots) - 1)], given, begun)
    if command.fields:
        found += _fields(command, given)
    return found


def _values(
    session: Session, command: Command, argument: Argument, given: list[str], begun: str
) -> list[str]:
    """The words that are valid for an argument."""
    mechanism = session.mechanism
    if argument.choices:
        return list(argument.choices)
    if argument.name == "kind" and command.name in _KINDS:
        return [*_KINDS[command.name]]
    if argument.name in _OPTIONAL_NAMES:
        return list(_OPTIONAL_NAMES[argument.name])
    if argument.kind == "file":
        return _files(begun)
    if argument.kind == "force":
        body = given[0] if given else ""
        held = [*mechanism.forces, *session.now.off]
        return [*held, *(name.removeprefix(f"{body}.") for name in held if name.startswith(f"{body}."))]
    return _named(mechanism, argument.kind)


def _named(mechanism: Mechanism, kind: str) -> list[str]:
    """The names of elements in the mechanism."""
    bodies, joints = list(mechanism.bodies), list(mechanism.joints)
    others = [*mechanism.constraints, *mechanism.forces, *mechanism.drives]
    return {
        "body": bodies,
        "carrier": [GROUND, *bodies],
        "joint": joints,
        "end": [GROUND, *bodies, *mechanism.markers, *joints],
        "element": [*bodies, *joints, *others, *mechanism.markers],
        "command": list(COMMANDS),
    }.get(kind, [])


def _files(begun: str) -> list[str]:
    """Files, and folders with a slash, in the folder of a path; hidden ones only after a dot."""
    folder, _, name = begun.rpartition("/")
    folder = f"{folder}/" if folder or begun.startswith("/") else ""
    if not is_admitted(folder or "."):
        return []
    try:
        return [
            f"{folder}{path.name}{'/' if path.is_dir() else ''}"
            for path in Path(folder or ".").iterdir()
            if path.name.startswith(".") == name.startswith(".") and " " not in path.name
        ]
    except (OSError, ValueError):  # the folder does not exist
        return []


def _fields(command: Command, given: list[str]) -> list[str]:
    """Names of fields, with "=": those of the kind that was named, or those that the command displays."""
    kind = next((_KINDS[command.name][word] for word in given if word in _KINDS.get(command.name, {})), None)
    if kind is not None:
        return [f"{name}=" for name in parameters(kind)]
    return [f"{part.partition('=')[0]}=" for part in command.fields.split() if "=" in part]
