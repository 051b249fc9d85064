"""The files of the page: the bundle, which the build makes from web/, and the fields of all elements."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, get_args

from bellcrank.errors import Unsupported
from bellcrank.io.fields import (
    BEAM_FIELDS,
    BODY_FIELDS,
    DRIVE_FIELDS,
    PARAMETER_FIELDS,
    Parameter,
    parameters,
    wanted,
)
from bellcrank.mechanism import (
    CHANGE_KINDS,
    CONSTRAINT_KINDS,
    FORCE_KINDS,
    JOINT_KINDS,
    SENSOR_KINDS,
    SHAPES,
    Function,
    Marker,
)
from bellcrank.mechanism.checking import Vec3
from bellcrank.shell.language import plain
from bellcrank.viewer.page.server import File

FOLDER: Final = Path(__file__).parent / "static"
_KINDS: Final = {"page.js": "text/javascript; charset=utf-8", "page.css": "text/css; charset=utf-8"}
_HTML: Final = "text/html; charset=utf-8"


def check_page() -> None:
    """Raise Unsupported if what the page needs is not there."""
    try:
        import websockets  # noqa: F401
    except ImportError as error:
        raise Unsupported(
            "the page needs websockets, which is not installed: pip install 'bellcrank[viewer]'"
        ) from error
    if missing := [name for name in ("index.html", *_KINDS) if not (FOLDER / name).is_file()]:
        raise Unsupported(
            f"the page was not built with this bellcrank ({missing[0]} is missing): `make build` builds it "
            "where packages of PyPI and npm can be fetched; `draw`, `animate` and `plot` need none of it"
        )


def files() -> Mapping[str, File]:
    """The files that the page is served from, by path."""
    found = {f"/{name}": File(kind, (FOLDER / name).read_bytes()) for name, kind in _KINDS.items()}
    start = File(_HTML, (FOLDER / "index.html").read_bytes())
    table = File("application/json", kinds().encode())
    return {"/": start, "/index.html": start, "/kinds.json": table, **found}


def script_and_style() -> tuple[str, str]:
    """The program and the style sheet of the page, as texts."""
    return (FOLDER / "page.js").read_text(encoding="utf-8"), (FOLDER / "page.css").read_text(encoding="utf-8")


@cache
def kinds() -> str:
    """The fields of all kinds of elements, as JSON: for each noun and kind a list of fields."""
    tables: dict[str, Mapping[str, type]] = {
        "joint": JOINT_KINDS, "constraint": CONSTRAINT_KINDS, "force": FORCE_KINDS, "sensor": SENSOR_KINDS,
        "change": CHANGE_KINDS, "shape": SHAPES,
    }  # fmt: skip
    found = {
        noun: {name: _fields(parameters(kind)) for name, kind in table.items()}
        for noun, table in tables.items()
    }
    alone = {"body": BODY_FIELDS, "beam": BEAM_FIELDS, "drive": DRIVE_FIELDS, "parameter": PARAMETER_FIELDS}
    found |= {noun: {"": _fields(known)} for noun, known in alone.items()}
    found["marker"] = {"": _fields(parameters(Marker))}
    return json.dumps(plain(found), allow_nan=False)


def _fields(known: Mapping[str, Parameter]) -> list[dict[str, Any]]:
    return [_field(parameter) for parameter in known.values()]


def _field(parameter: Parameter) -> dict[str, Any]:
    kind, choices = _type(parameter.hint)
    found = {
        "name": parameter.name, "type": kind, "units": list(parameter.units), "required": parameter.required,
        "usual": None if parameter.required or kind == "other" else _shown(parameter.default),
    }  # fmt: skip
    return {**found, "choices": choices} if choices else found


def _shown(value: Any) -> Any:
    return value if isinstance(value, (bool, int, float, str, tuple, list)) else None


def _type(hint: Any) -> tuple[str, list[str]]:
    """What a field usually is, in a word, and what it may be where that is one of a few texts."""
    if texts := [one for one in get_args(hint) if isinstance(one, str)]:
        return "choice", texts
    takes = wanted(hint)
    if Function in takes.classes:
        return "function", []
    if takes.items is not None and takes.items.number and not takes.items.classes:
        return ("vector" if Vec3 in (hint, *get_args(hint)) else "numbers"), []
    for is_it, word in ((takes.flag, "flag"), (takes.number, "number"), (takes.text, "text")):
        if is_it and not takes.classes:
            return word, []
    return "other", []
