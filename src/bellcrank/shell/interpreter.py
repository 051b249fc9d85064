"""Execution of command lines: a command is carried out completely, or refused without changing anything."""

from __future__ import annotations

import stat
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from bellcrank.errors import BellcrankError, Fault, MechanismError, Unsupported
from bellcrank.formulations.preparing import FORMULATIONS
from bellcrank.io.fields import BEAM_FIELDS, parameters
from bellcrank.mechanism.checking import nearest
from bellcrank.mechanism.marker import GROUND
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.named_files import is_admitted
from bellcrank.run.plan import METHODS
from bellcrank.shell import (
    beams,
    bodies,
    changing,
    clock,
    description,
    files,
    forces,
    general,
    links,
    pictures,
)
from bellcrank.shell.language import Argument, Command, Reply, failure
from bellcrank.shell.parsing import parsed, words
from bellcrank.shell.pictures import CONVENTIONS
from bellcrank.shell.places import Places
from bellcrank.shell.session import Session
from bellcrank.turns import Turn

COMMANDS: Final[dict[str, Command]] = {
    command.name: replace(command, group=module.GROUP)
    for module in (description, beams, changing, clock, files, pictures, general, bodies, links, forces)
    for command in module.COMMANDS
}
"""Every command by name, in the order of the help: plain words before those of the Virtual Erector Set."""


_NESTED: Final = 20  # nesting depth of scripts
_COMMANDS: Final = 100_000  # commands of one `source`, including those of nested scripts
_SCRIPT_BYTES: Final = 1 << 24


class Shell:
    """Runs command lines in a session.

    >>> shell = Shell()
    >>> shell.execute("ib rod").ok
    True
    """

    def __init__(self, places: Places | None = None, session: Session | None = None) -> None:
        self.session = session or Session(places)
        self.session.commands = COMMANDS
        self.session.source = self._source
        self._running: list[Path] = []  # scripts being run, each by the previous one
        self._sourced = 0  # commands of the outermost one so far
        self._turn = Turn("a shell does one command at a time: use one for each thread")

    def execute(self, line: str) -> Reply:
        """Execute one command line; an empty one, or one with a comment only, does nothing.

        Nothing is raised: a refused command gives a reply that is not ok, and changes nothing. A command from
        another thread is refused while one is being executed.
        """
        try:
            self._turn.take()
        except Unsupported as error:
            return failure(error)
        try:
            return self._executed(line)
        finally:
            self._turn.give()

    def complete(self, begun: str) -> list[str]:
        """The words that may complete the last word of a line."""
        with self.session.places.reading():
            return candidates(self.session, begun)

    def execute_all(self, lines: Sequence[str]) -> Reply:
        """Execute several command lines as one step for `undo`; return the reply of the last one.

        If one of them is refused, nothing changes, and its reply is returned.
        """
        before, reply = self.session.everything, Reply()
        for line in lines:
            reply = self.execute(line)
            if not reply.ok:
                self.session.restore(before)
                return reply
        self.session.combine(before)
        return reply

    def _executed(self, line: str) -> Reply:
        session = self.session
        before = session.everything
        session.notes.clear()
        try:
            with session.places.reading():
                return self._done(line)
        except (BellcrankError, OSError) as error:
            reply = failure(error)
        except KeyboardInterrupt:
            reply = Reply("interrupted; nothing was changed", {"type": "KeyboardInterrupt"}, ok=False)
        except Exception as error:  # noqa: BLE001  (a session of hours must outlive what nobody thought of)
            text = f"unexpected {type(error).__name__}: {error}; nothing was changed"
            reply = Reply(text, {"type": "internal", "message": text}, ok=False)
        session.restore(before)
        return reply

    def _done(self, line: str) -> Reply:
        given = words(line)
        if not given:
            return Reply()
        command = command_of(given[0].text)
        session = self.session
        before = session.now
        reply = command.run(session, parsed(command, given[1:], session.mechanism))
        if not command.keeps:
            session.remember(before)
        if session.notes:
            notes = [f"note: {note}" for note in session.notes]
            text = "\n".join(filter(None, (*notes, reply.text)))
            reply = Reply(text, {**reply.data, "notes": list(session.notes)}, leave=reply.leave)
            session.notes.clear()
        return reply

    def _source(self, file: str) -> list[Reply]:
        """Run the commands of a script; return their replies.

        Raises MechanismError that names the line, for the first command that is refused, and for scripts that
        run themselves, are nested too deep, or have too many commands.
        """
        lines, path = read_script(file, regular=True), Path(file).resolve()
        if path in self._running:
            chain = " runs ".join(f"'{script.name}'" for script in (*self._running, path))
            raise MechanismError(Fault("source", f"a script must not run itself: {chain}"))
        if len(self._running) == _NESTED:
            raise MechanismError(Fault("source", f"scripts are nested more than {_NESTED} deep", file))
        if not self._running:
            self._sourced = 0
        self._running.append(path)
        try:
            return self._replies(file, lines)
        finally:
            self._running.pop()

    def _replies(self, file: str, lines: list[str]) -> list[Reply]:
        done: list[Reply] = []
        for number, line in enumerate(lines, start=1):
            if line.lstrip()[:1] in ("", ";"):
                continue
            self._sourced += 1
            if self._sourced > _COMMANDS:
                rule = f"at most {_COMMANDS} commands are run by one source, those of scripts within included"
                raise MechanismError(Fault(f"{file}:{number}", rule))
            reply = self.execute(line)
            if not reply.ok:
                raise MechanismError(Fault(f"{file}:{number}", reply.text, None))
            done.append(reply)
            if reply.leave:
                break
        return done


def command_of(name: str) -> Command:
    """The command with a name. Raises MechanismError with similar names."""
    if name not in COMMANDS:
        advice = f"{nearest(name, COMMANDS)}; help lists all"
        raise MechanismError(Fault("shell", "there is no command of this name", name, advice))
    return COMMANDS[name]


def read_script(file: str, regular: bool = False) -> list[str]:
    """The lines of a script. regular: it must be a file, not a pipe or device, which might never end.

    Raises OSError, and MechanismError if it is not text, or too long.
    """
    element = f"script {file!r}"
    if regular and not stat.S_ISREG(Path(file).stat().st_mode):
        raise MechanismError(Fault(element, "it is a folder, a pipe or a device, not a file"))
    with Path(file).open("rb") as script:
        content = script.read(_SCRIPT_BYTES + 1)
    if len(content) > _SCRIPT_BYTES:
        raise MechanismError(Fault(element, f"a script has at most {_SCRIPT_BYTES >> 20} MiB"))
    try:
        return content.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise MechanismError(Fault(element, "not UTF-8", None, "is it a text file?")) from None


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
    if argument.name == "kind" and command.name in general.KINDS:
        return [*general.KINDS[command.name]]
    if argument.name == "beam":
        return [*mechanism.beams]
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
    others = [
        *mechanism.constraints,
        *mechanism.forces,
        *mechanism.drives,
        *mechanism.sensors,
        *mechanism.changes,
    ]
    return {
        "body": bodies,
        "carrier": [GROUND, *bodies],
        "joint": joints,
        "end": [GROUND, *bodies, *mechanism.markers, *joints],
        "element": [*bodies, *mechanism.beams, *joints, *others, *mechanism.markers],
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
    kind = next(
        (general.KINDS[command.name][word] for word in given if word in general.KINDS.get(command.name, {})),
        None,
    )
    if kind is not None:
        more = BEAM_FIELDS if command.name == "beam" else ()
        return [f"{name}=" for name in (*parameters(kind), *more) if name != "section"]
    return [f"{part.partition('=')[0]}=" for part in command.fields.split() if "=" in part]
