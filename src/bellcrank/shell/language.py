"""The definition of a command: its arguments and options with types and units, its help, its example."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from bellcrank.errors import AssemblyError, MechanismError, SimulationError

if TYPE_CHECKING:
    from bellcrank.shell.session import Session


KINDS: Final = {
    "number": 'a number, with a unit in quotes ("30 deg"), or an expression of parameters',
    "coordinate": 'a number, with a unit of the joint in quotes ("30 deg"), or an expression of parameters',
    "count": "a whole number, at least 1",
    "name": "a new name",
    "body": "the name of a body",
    "carrier": 'the name of a body, or "ground"',
    "joint": "the name of a joint",
    "force": "the name of a force",
    "element": "the name of an element",
    "end": 'a body, a marker "body.name", a joint, or {body: ..., position: [...]}',
    "choice": "one of a few words",
    "file": "the name of a file",
    "command": "the name of a command",
    "text": "a word",
}
"""The types of arguments."""


@dataclass(frozen=True)
class Argument:
    """An argument of a command or an option.

    kind: one of KINDS. count: of numbers, how many. unit: of numbers, "rad or m" for either; "" for any.
    choices: of a choice. optional: it and all arguments after it may be left out. repeated: takes all
    remaining words.
    """

    name: str
    kind: str
    count: int = 1
    unit: str = ""
    choices: tuple[str, ...] = ()
    optional: bool = False
    repeated: bool = False

    @property
    def units(self) -> tuple[str, ...]:
        """The units that its numbers may have; empty for any."""
        return tuple(self.unit.split(" or ")) if self.unit else ()

    @property
    def usage(self) -> str:
        """The argument as displayed: <name>, numbers as %F, counts as %d as in the thesis."""
        if self.kind in ("number", "coordinate"):
            text = " ".join(["%F"] * self.count)
        elif self.kind == "count":
            text = "%d"
        elif self.choices:
            text = "|".join(self.choices)
        else:
            text = f"<{self.name}>"
        text += " ..." if self.repeated else ""
        return f"[{text}]" if self.optional else text


BODY: Final = Argument("body", "body")
QUATERNION: Final = Argument("quaternion", "number", 4)


def vector(name: str, unit: str) -> Argument:
    """Three numbers with a unit."""
    return Argument(name, "number", 3, unit)


@dataclass(frozen=True)
class Option:
    """An option of a command, such as -vl %F %F %F."""

    word: str
    meaning: str
    arguments: tuple[Argument, ...] = ()

    @property
    def usage(self) -> str:
        """The option with its arguments."""
        return " ".join([self.word, *(argument.usage for argument in self.arguments)])


@dataclass(frozen=True)
class Given:
    """The contents of a command line: values of arguments by name, of options by word, and of fields by name.

    options: for each use of an option its values, in the order of the line. fields: texts of key=value.
    """

    values: Mapping[str, Any]
    options: Mapping[str, Sequence[tuple[Any, ...]]] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def get(self, name: str, default: Any = None) -> Any:
        """The value of an argument, or None if it was left out."""
        return self.values.get(name, default)

    def option(self, word: str) -> Any:
        """The value of an option at its last use, a tuple if it has several; None without it."""
        uses = self.options.get(word)
        if not uses:
            return None
        return uses[-1][0] if len(uses[-1]) == 1 else uses[-1]


Run = Callable[["Session", Given], "Reply"]


@dataclass(frozen=True)
class Command:
    """A command of the language.

    meaning: one sentence. run: its function. fields: whether it takes key=value.
    example: a line that works in the mechanism of the guide. keeps: it changes nothing that `undo` restores.
    group: heading in the help, that of the module whose table has it.
    """

    name: str
    meaning: str
    run: Run
    arguments: tuple[Argument, ...] = ()
    options: tuple[Option, ...] = ()
    fields: str = ""
    example: str = ""
    keeps: bool = False
    group: str = ""

    @property
    def usage(self) -> str:
        """The command with its arguments; options and fields in brackets."""
        parts = [self.name, *(argument.usage for argument in self.arguments)]
        parts += [f"[{option.usage}]" for option in self.options]
        return " ".join([*parts, *([f"[{self.fields}]"] if self.fields else [])])

    @property
    def help(self) -> str:
        """Usage, meaning, options and an example, in lines."""
        head = " ".join([self.name, *(argument.usage for argument in self.arguments)])
        head += f" [{self.fields}]" if self.fields else ""
        lines = [head, f"    {self.meaning}"]
        width = max((len(option.usage) for option in self.options), default=0)
        lines += [f"    {option.usage:{width}}  {option.meaning}" for option in self.options]
        return "\n".join([*lines, f"    Example: {self.example}"])


@dataclass(frozen=True)
class Reply:
    """The reply of a command: text for people (may be empty), data for programs. ok: it was carried out."""

    text: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    ok: bool = True
    leave: bool = False

    def as_json(self, line: str | None) -> str:
        """One JSON object on one line; numbers that are not finite become null."""
        kind = "result" if self.ok else "error"
        content = {"ok": self.ok, "command": line, kind: dict(self.data), "text": self.text}
        return json.dumps(plain(content), ensure_ascii=False, allow_nan=False)


def failure(error: Exception) -> Reply:
    """The reply for a refused command."""
    data: dict[str, Any] = {"type": type(error).__name__, "message": str(error)}
    if isinstance(error, MechanismError):
        data["faults"] = [
            {"element": f.element, "rule": f.rule, "value": _shown(f.value), "advice": f.advice}
            for f in error.faults
        ]
    elif isinstance(error, AssemblyError):
        data["violations"] = [{"element": name, "violation": left} for name, left in error.violations]
    elif isinstance(error, SimulationError):
        data |= {"time": error.time, "body": error.body, "row": error.row}
    return Reply(str(error), data, ok=False)


def _shown(value: object) -> Any:
    return value if value is None or isinstance(value, (bool, int, float, str)) else repr(value)


def plain(value: Any) -> Any:
    """A value as the types of JSON; numbers that these cannot represent become null."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float)) else str(value)
