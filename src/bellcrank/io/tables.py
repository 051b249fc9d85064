"""The keys of mechanism files as Markdown tables, for the reference of the format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from bellcrank.io.fields import Parameter, parameters
from bellcrank.io.references import MARKER_FIELDS
from bellcrank.io.sections import (
    BODY_FIELDS,
    DRIVE_FIELDS,
    INPUT_FIELDS,
    PARAMETER_FIELDS,
    PLACEMENT_FIELDS,
    SOURCES,
)
from bellcrank.io.simulation import Simulation
from bellcrank.mechanism import (
    CONSTRAINT_KINDS,
    FORCE_KINDS,
    FUNCTIONS,
    JOINT_KINDS,
    SHAPES,
    Limit,
    MotorKind,
)
from bellcrank.mechanism.functions.curve import Curve
from bellcrank.mechanism.functions.nurbs import NurbsCurve
from bellcrank.mechanism.functions.path import Path
from bellcrank.mechanism.tables import markdown
from bellcrank.mechanism.units import definition, known_units


def _keys(known: Iterable[Parameter]) -> str:
    return ", ".join(_key(parameter) for parameter in known)


def _key(parameter: Parameter) -> str:
    units = [unit for unit in parameter.units if unit != "1"]
    text = f"`{parameter.name}`" + (f" ({' or '.join(units)})" if units else "")
    return text if parameter.required else f"[{text}]"


def _types(noun: str, kinds: Mapping[str, type]) -> str:
    rows = [(name, _keys(parameters(cls).values()), _meaning(cls)) for name, cls in kinds.items()]
    return markdown((f"type of {noun}", "keys", "meaning"), rows)


def _meaning(cls: type) -> str:
    return getattr(cls, "meaning", "") or (cls.__doc__ or "").strip().split("\n")[0].rstrip(":")


def _sections() -> str:
    placed: Any = [Parameter(name, str) for name in (*SOURCES, "parameters")]
    simulation = [*parameters(Simulation).values()]
    rows = [
        ("a parameter", _keys(PARAMETER_FIELDS.values())),
        ("an input", _keys(INPUT_FIELDS.values())),
        ("a body", _keys(BODY_FIELDS.values())),
        ("a marker", _keys([Parameter("body", str), *MARKER_FIELDS.values()])),
        ("a limit", _keys(parameters(Limit).values())),
        ("a drive", _keys(DRIVE_FIELDS.values())),
        ("a placed mechanism", _keys([*placed, *PLACEMENT_FIELDS.values()])),
        ("the simulation", _keys(simulation)),
    ]
    return markdown(("of", "keys"), rows)


def _joints() -> str:
    """Kinds without keys of their own first, shorthands last."""
    named: dict[str, type] = dict(JOINT_KINDS)
    plain = {name: cls for name, cls in named.items() if not parameters(cls)}
    shorthand = {name: cls for name, cls in named.items() if issubclass(cls, MotorKind)}
    return _types("joint", {**plain, **{n: c for n, c in named.items() if n not in shorthand}, **shorthand})


def _units() -> str:
    told = {name: definition(name) for name in known_units()}
    return ", ".join(f"`{name}`" + (f" ({is_})" if is_ else "") for name, is_ in told.items()) + ".\n"


FORMAT_TABLES: Final[dict[str, Callable[[], str]]] = {
    "file_keys": _sections,
    "file_joints": _joints,
    "file_constraints": lambda: _types("constraint", CONSTRAINT_KINDS),
    "file_forces": lambda: _types("force", FORCE_KINDS),
    "file_functions": lambda: _types("function", FUNCTIONS),
    "file_paths": lambda: _types("curve", {cls.__name__: cls for cls in (Path, Curve, NurbsCurve)}),
    "file_shapes": lambda: _types("shape", SHAPES),
    "file_units": _units,
}
"""The tables by the names that pages give them."""
