"""Execution of command lines: a command is carried out completely, or refused without changing anything."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bellcrank.errors import BellcrankError, Fault, MechanismError, Unsupported
from bellcrank.mechanism.checking import nearest
from bellcrank.shell.commands import COMMANDS
from bellcrank.shell.language import Command
from bellcrank.shell.parsing import parsed
from bellcrank.shell.places import Places
from bellcrank.shell.reply import Reply, failure
from bellcrank.shell.session import Session
from bellcrank.shell.words import words
from bellcrank.turns import Turn

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
        from bellcrank.shell.completion import candidates

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
