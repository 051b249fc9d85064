"""Labels of compiled elements: units of joint coordinates, and what messages call blocks of rows."""

from __future__ import annotations

from functools import cache

from bellcrank.mechanism.coordinate import COORDINATE_KINDS, OWN, Coordinate
from bellcrank.mechanism.joint import Joint
from bellcrank.mechanism.lowering import LoweredElement
from bellcrank.mechanism.rows import Block, Lowered


@cache
def units_of(names: tuple[str, ...]) -> tuple[str, ...]:
    """The units of coordinates that are given by no formulas."""
    return tuple(COORDINATE_KINDS[name].unit for name in names)


def unit_of(joint: Joint, coordinate: Coordinate) -> str:
    """The unit of one of a joint's coordinates."""
    if coordinate.kind != OWN:
        return COORDINATE_KINDS[coordinate.kind].unit
    units: tuple[str, ...] = joint.kind.units_of_coordinates  # type: ignore[attr-defined]
    return units[int(coordinate.params[0])]


def is_custom(lowered: Lowered) -> bool:
    """Whether there are formulas in it, or rows and laws on coordinates of joints given by formulas."""
    terms = [term.coordinate for block in lowered.blocks for row in block.rows for term in row.terms]
    laws = [law.coordinate for law in lowered.laws]
    return lowered.custom is not None or any(coordinate.kind == OWN for coordinate in (*terms, *laws))


def owner_of(element: LoweredElement, block: Block) -> str:
    """What messages call the element that a block of rows belongs to."""
    if block.role in ("limit_lower", "limit_upper"):
        return f"{block.role.removeprefix('limit_')} limit of joint {element.name!r}"
    return f"{element.category} {element.name!r}"
