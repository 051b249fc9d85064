"""From a line to its reply: a command is done as a whole, or refused and nothing has changed."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from bellcrank.errors import BellcrankError, Fault, MechanismError
from bellcrank.mechanism.naming import nearest
from bellcrank.shell.commands import COMMANDS
from bellcrank.shell.language import Command
from bellcrank.shell.parsing import parsed
from bellcrank.shell.reply import Reply, failure
from bellcrank.shell.session import Session
from bellcrank.shell.words import words

_NESTED: Final = 20  # scripts that run scripts


class Shell:
    """Runs command lines in a session.

    >>> shell = Shell()
    >>> shell.execute("ib rod").ok
    True
    """

    def __init__(self) -> None:
        self.session = Session()
        self.session.commands = COMMANDS
        self.session.source = self._source
        self._depth = 0

    def execute(self, line: str) -> Reply:
        """Do one command line; an empty one, or one with a comment only, does nothing.

        Nothing is raised: a refused command gives a reply that is not ok, and leaves everything as it was.
        """
        session = self.session
        before, count = session.now, session.steps_back
        session.notes.clear()
        try:
            return self._done(line)
        except (
            BellcrankError,
            OSError,
            ValueError,
            ArithmeticError,
        ) as error:  # the latter of absurd numbers
            reply = failure(error)
        except KeyboardInterrupt:
            reply = Reply("interrupted; nothing was changed", {"type": "KeyboardInterrupt"}, ok=False)
        except Exception as error:  # noqa: BLE001  (a session of hours must outlive what nobody thought of)
            text = f"unexpected {type(error).__name__}: {error}; nothing was changed"
            reply = Reply(text, {"type": "internal", "message": text}, ok=False)
        session.now = before
        session.forget(count)
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
        """Run the commands of a script; what they answered.

        Raises MechanismError that names the line, for the first one that is refused.
        """
        lines = read_script(file)
        self._depth += 1
        try:
            if self._depth > _NESTED:
                raise MechanismError(Fault("source", f"scripts are nested more than {_NESTED} deep", file))
            done: list[Reply] = []
            for number, line in enumerate(lines, start=1):
                if not words(line):
                    continue
                reply = self.execute(line)
                if not reply.ok:
                    raise MechanismError(Fault(f"{file}:{number}", reply.text, None))
                done.append(reply)
                if reply.leave:
                    break
            return done
        finally:
            self._depth -= 1


def command_of(name: str) -> Command:
    """The command of a name. Raises MechanismError with those that may have been meant."""
    if name not in COMMANDS:
        advice = f"{nearest(name, COMMANDS)}; help lists all"
        raise MechanismError(Fault("shell", "there is no command of this name", name, advice))
    return COMMANDS[name]


def read_script(file: str) -> list[str]:
    """The lines of a script. Raises OSError, and MechanismError if it is not text."""
    try:
        return Path(file).read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise MechanismError(Fault(f"script '{file}'", "not UTF-8", None, "is it a text file?")) from None
