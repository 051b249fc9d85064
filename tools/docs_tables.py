"""Write the tables of kinds into the documentation; `--check` only says whether they are up to date.

The marks in a page are  <!-- table: NAME -->  and  <!-- end of table -->,  each on a line of its own; NAME is
a key of `TABLES`.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any, Final

import bellcrank as bc
from bellcrank.io.fields import (
    BEAM_FIELDS,
    BODY_FIELDS,
    DRIVE_FIELDS,
    INPUT_FIELDS,
    MEMBER_FIELDS,
    PARAMETER_FIELDS,
    PLACEMENT_FIELDS,
    SOURCES,
    Parameter,
    Simulation,
    meaning_of,
    parameters,
)
from bellcrank.io.references import MARKER_FIELDS
from bellcrank.mechanism import (
    CHANGE_KINDS,
    CONSTRAINT_KINDS,
    COORDINATE_KINDS,
    FORCE_KINDS,
    FUNCTIONS,
    JOINT_KINDS,
    SECTION_KINDS,
    SENSOR_KINDS,
    SHAPES,
    JointKind,
    MotorKind,
)
from bellcrank.mechanism.attachment import AttachedKind
from bellcrank.mechanism.functions.nurbs import NurbsCurve
from bellcrank.mechanism.functions.path import Curve
from bellcrank.mechanism.functions.path import Path as DrivenPath
from bellcrank.mechanism.units import definition, known_units
from bellcrank.shell.interpreter import COMMANDS
from bellcrank.shell.language import Command

ROOT: Final = Path(__file__).resolve().parent.parent


def joint_table() -> str:
    """All joint kinds: name, parameters, what is locked (f(t) where driven), free coordinates, meaning."""
    rows = []
    for kind in _joint_kinds():
        led = tuple(f"{name} = f(t)" for name in kind.driven) if issubclass(kind, MotorKind) else ()
        own = (kind.own,) if kind.own else ()
        held = ", ".join((*kind.locked, *own, *led))
        rows.append((kind.__name__, _parameters(kind), held, ", ".join(kind.free), kind.meaning))
    return markdown(("joint", "parameters", "held", "free", "meaning"), rows)


def _joint_kinds() -> list[type[JointKind]]:
    """Plain locks first, then kinds with rows of their own, then motors."""

    def place(kind: type[JointKind]) -> int:
        plain = kind.rows is JointKind.rows and {*kind.locked} <= {*"xyz", "e1", "e2", "e3"}
        return 2 if issubclass(kind, MotorKind) else int(not plain)

    return sorted(JOINT_KINDS.values(), key=place)


def coordinate_table() -> str:
    """All coordinate kinds: name, unit, whether whole turns are counted, meaning."""
    rows = [
        (kind.name, kind.unit, "yes" if kind.angular else "", kind.meaning)
        for kind in COORDINATE_KINDS.values()
    ]
    return markdown(("coordinate", "unit", "counts turns", "meaning"), rows)


def attached_table(noun: str, kinds: Mapping[str, type[AttachedKind]]) -> str:
    """All constraint or force kinds: name, parameters, ends, meaning."""
    rows = [(name, _parameters(kind), kind.ends_text, kind.meaning) for name, kind in kinds.items()]
    return markdown((noun, "parameters", "between", "meaning"), rows)


def _parameters(kind: type[JointKind] | type[AttachedKind]) -> str:
    return ", ".join(_parameter(field) for field in fields(kind))


def _parameter(field: Field[Any]) -> str:
    return field.name if field.default is MISSING else f"{field.name}={field.default!r}"


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def command_table() -> str:
    """All commands by group: usage, meaning, options, an example."""
    parts: list[str] = []
    group = ""
    for command in COMMANDS.values():
        if command.group != group:
            group = command.group
            parts.append(f"### {group}\n\n")
        parts.append(_entry(command))
    return "".join(parts)


def _entry(command: Command) -> str:
    head = " ".join([command.name, *(argument.usage for argument in command.arguments)])
    head += f" [{command.fields}]" if command.fields else ""
    lines = [f"`{head}`  ", command.meaning]
    if command.options:
        lines += ["", *(f"- `{option.usage}` {option.meaning}" for option in command.options), ""]
    else:
        lines[-1] += "  "
    return "\n".join([*lines, f"Example: `{command.example}`"]) + "\n\n"


def _keys(known: Iterable[Parameter]) -> str:
    return ", ".join(_key(parameter) for parameter in known)


def _key(parameter: Parameter) -> str:
    text = f"`{parameter.name}`" + (f" ({parameter.unit})" if parameter.unit else "")
    return text if parameter.required else f"[{text}]"


def _types(noun: str, kinds: Mapping[str, type]) -> str:
    rows = [
        (name, _keys(parameters(cls).values()), meaning_of(cls).rstrip(":")) for name, cls in kinds.items()
    ]
    return markdown((f"type of {noun}", "keys", "meaning"), rows)


def _sections() -> str:
    placed: Any = [Parameter(name, str) for name in (*SOURCES, "parameters")]
    pinned = [Parameter("between", str)]
    simulation = [*parameters(Simulation).values()]
    rows = [
        ("a parameter", _keys(PARAMETER_FIELDS.values())),
        ("an input", _keys(INPUT_FIELDS.values())),
        ("a body", _keys(BODY_FIELDS.values())),
        ("a marker", _keys([Parameter("body", str), *MARKER_FIELDS.values()])),
        ("a beam", _keys(BEAM_FIELDS.values())),
        ("a limit", _keys(parameters(bc.Limit).values())),
        ("a drive", _keys(DRIVE_FIELDS.values())),
        ("a placed mechanism", _keys([*placed, *PLACEMENT_FIELDS.values()])),
        ("a member", _keys([Parameter("type", str, True), *MEMBER_FIELDS.values(), *pinned])),
        ("the simulation", _keys(simulation)),
    ]
    return markdown(("of", "keys"), rows)


def _joints() -> str:
    return _types("joint", {kind.__name__: kind for kind in _joint_kinds()})


def _units() -> str:
    told = {name: definition(name) for name in known_units()}
    return ", ".join(f"`{name}`" + (f" ({is_})" if is_ else "") for name, is_ in told.items()) + ".\n"


def gallery() -> str:
    """Every mechanism of the gallery by group: its picture and its docstring."""
    functions = bc.gallery.catalogue()
    parts = []
    for group, names in bc.gallery.groups().items():
        parts.append(f"## {group}\n")
        for name in names:
            text = inspect.getdoc(functions[name]) or ""
            parts.append(f"### {name}\n\n![{name}](img/gallery/{name}.png)\n\n{text}\n")
    return "\n".join(parts)


TABLES: Final[dict[str, Callable[[], str]]] = {
    "joints": joint_table,
    "constraints": lambda: attached_table("constraint", CONSTRAINT_KINDS),
    "forces": lambda: attached_table("force", FORCE_KINDS),
    "sensors": lambda: attached_table("sensor", SENSOR_KINDS),
    "changes": lambda: attached_table("change", CHANGE_KINDS),
    "coordinates": coordinate_table,
    "commands": command_table,
    "gallery": gallery,
    "file_keys": _sections,
    "file_joints": _joints,
    "file_constraints": lambda: _types("constraint", CONSTRAINT_KINDS),
    "file_forces": lambda: _types("force", FORCE_KINDS),
    "file_sensors": lambda: _types("sensor", SENSOR_KINDS),
    "file_changes": lambda: _types("change", CHANGE_KINDS),
    "file_functions": lambda: _types("function", FUNCTIONS),
    "file_paths": lambda: _types("curve", {cls.__name__: cls for cls in (DrivenPath, Curve, NurbsCurve)}),
    "file_sections": lambda: _types("section", SECTION_KINDS),
    "file_shapes": lambda: _types("shape", SHAPES),
    "file_units": _units,
}
MARKED: Final = re.compile(
    r"(?P<head>^<!-- table: (?P<name>\w+) -->\n).*?(?P<tail>^<!-- end of table -->$)", re.M | re.S
)


def filled(text: str) -> str:
    """The text of a page with its tables as they are now. Raises KeyError for a table that does not exist."""
    return MARKED.sub(lambda mark: f"{mark['head']}\n{TABLES[mark['name']]()}\n{mark['tail']}", text)


def main() -> int:
    """Write or check all pages; 1 if a page was not up to date under --check."""
    stale = []
    for page in sorted((ROOT / "docs").rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        wanted = filled(text)
        if wanted != text:
            stale.append(page.relative_to(ROOT))
            if "--check" not in sys.argv:
                page.write_text(wanted, encoding="utf-8")
    for name in stale:
        print(f"{name}: its tables {'are not up to date' if '--check' in sys.argv else 'were written'}")
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
