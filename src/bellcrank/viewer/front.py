"""What a front end may ask of a session, however its messages arrive: as lines at a socket or from a page."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any, Final

from bellcrank.errors import Fault, MechanismError
from bellcrank.shell.language import Reply, failure
from bellcrank.viewer.session import Session

_INSIDE: Final = frozenset(("execute", "save"))  # lines come as they are; paths that nobody has checked
_RESERVED: Final = frozenset(("command", "self", "by", "engine"))
_SIGNED: Final = frozenset(
    ("add_body", "rod", "join", "add", "nail", "free", "motor", "remove", "gravity", "undo", "redo",
    "assemble",
     "edit", "rename", "length", "reshape", "copy", "mirror", "array", "keep", "open_file", "open_text")
)  # fmt: skip


class Front:
    """One front end of a session. name: shown to others as the author of what it builds."""

    def __init__(self, live: Session, name: str) -> None:
        self.live, self.name = live, name
        self._grabbed: set[str] = set()

    def execute(self, line: str) -> Future[Any]:
        """Have a line of the command language executed."""
        return self.live.send("execute", line=line, by=self.name)

    def ask(self, command: Any, given: Mapping[str, Any]) -> Future[Any]:
        """Have a command done. Raises MechanismError for what cannot be asked from here."""
        if not isinstance(command, str) or command in _INSIDE or given.keys() & _RESERVED:
            advice = "give command lines as they are" if command == "execute" else "use keep to write files"
            raise MechanismError(Fault("request", "this cannot be asked from here", command, advice))
        signed = {**given, "by": self.name} if command in _SIGNED else given
        self._note(command, given)
        return self.live.send(command, **signed)

    def words(self, begun: str) -> list[str]:
        """The words that may complete the last word of a line."""
        editor = self.live.editor
        return [] if editor is None else editor.shell.complete(begun)

    def leave(self) -> None:
        """Let go of what it drags."""
        for body in self._grabbed:
            self.live.send("release", body=body)
        self._grabbed.clear()

    def _note(self, command: str, given: Mapping[str, Any]) -> None:
        body = given.get("body")
        if isinstance(body, str) and command in ("grab", "release"):
            (self._grabbed.add if command == "grab" else self._grabbed.discard)(body)


def reply_of(answer: Future[Any]) -> Reply:
    """The result of a command, or what was wrong with it, as a shell answers."""
    error = answer.exception()
    if error is not None:
        return failure(error if isinstance(error, Exception) else RuntimeError(str(error)))
    result = answer.result()
    if isinstance(result, Reply):
        return result
    data = result if isinstance(result, Mapping) else {} if result is None else {"result": result}
    return Reply(result if isinstance(result, str) else "", data)
