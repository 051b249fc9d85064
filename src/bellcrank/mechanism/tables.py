"""The registries as Markdown tables, used for the feature lists of the documentation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from typing import Any

from bellcrank.mechanism.attachment import AttachedKind
from bellcrank.mechanism.constraint import CONSTRAINT_KINDS
from bellcrank.mechanism.coordinate import COORDINATE_KINDS
from bellcrank.mechanism.force import FORCE_KINDS
from bellcrank.mechanism.joint import JOINT_KINDS, JointKind
from bellcrank.mechanism.motor_joints import MotorKind

_ORDER = {
    f"bellcrank.mechanism.{name}": place
    for place, name in enumerate(("joint_kinds", "special_joints", "surface_joints", "motor_joints"))
}


def joint_table() -> str:
    """All joint kinds: name, parameters, what is locked (f(t) where driven), free coordinates, meaning."""
    rows = []
    for kind in sorted(JOINT_KINDS.values(), key=lambda kind: _ORDER.get(kind.__module__, len(_ORDER))):
        led = tuple(f"{name} = f(t)" for name in kind.led) if issubclass(kind, MotorKind) else ()
        own = (kind.own,) if kind.own else ()
        held = ", ".join((*kind.locked, *own, *led))
        rows.append((kind.__name__, _parameters(kind), held, ", ".join(kind.free), kind.meaning))
    return markdown(("joint", "parameters", "held", "free", "meaning"), rows)


def constraint_table() -> str:
    """All constraint kinds: name, parameters, ends, meaning."""
    return _attached_table("constraint", CONSTRAINT_KINDS)


def force_table() -> str:
    """All force kinds: name, parameters, ends, meaning."""
    return _attached_table("force", FORCE_KINDS)


def coordinate_table() -> str:
    """All coordinate kinds: name, unit, whether whole turns are counted, meaning."""
    rows = [
        (kind.name, kind.unit, "yes" if kind.angular else "", kind.meaning)
        for kind in COORDINATE_KINDS.values()
    ]
    return markdown(("coordinate", "unit", "counts turns", "meaning"), rows)


def _attached_table(noun: str, kinds: Mapping[str, type[AttachedKind]]) -> str:
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
