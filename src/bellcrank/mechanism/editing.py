"""Removing elements from a mechanism, replacing them by changed ones, and texts in them that name units."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from bellcrank.errors import MechanismError
from bellcrank.mechanism.attachment import Attached, Constraint, Force
from bellcrank.mechanism.beam_parts import refuse_parts, remove_beam, replace_beam
from bellcrank.mechanism.beams import Beam
from bellcrank.mechanism.body import Body, Ground
from bellcrank.mechanism.changes import Change
from bellcrank.mechanism.checking import Check, nearest
from bellcrank.mechanism.contents import ELEMENTS
from bellcrank.mechanism.coordinate import JointCoordinate, unit_of
from bellcrank.mechanism.drive import Drive, PathDrive
from bellcrank.mechanism.fields import declarations
from bellcrank.mechanism.flywheels import add_flywheels, flywheels_of
from bellcrank.mechanism.joint import Joint
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.references import Element, forces_of, joints_of, markers_of, remapped
from bellcrank.mechanism.sensors import Sensor
from bellcrank.mechanism.units import in_si, unit_along, units_of

if TYPE_CHECKING:
    from bellcrank.mechanism.mechanism import Mechanism


def check_units(joints: Mapping[str, Joint], element: Any) -> None:
    """Refuse texts of an element, and of the limits of a joint, that do not fit its coordinate.

    Raises MechanismError.
    """
    if isinstance(element, Joint):
        if element.limits:
            with Check(f"joint {element.name!r}") as check:
                for name, limit in element.limits:
                    _check(check, limit, unit_of(element.kind, name), f"limit of {name!r}: ")
    elif isinstance(element, Drive):
        if element.texts:
            with Check(f"drive {element.name!r}") as check:
                _check(check, element, _unit(joints, element.coordinate))
    elif isinstance(element, Attached) and element.kind.texts:
        ends = [end for end in element.ends if isinstance(end, JointCoordinate)]
        with Check(f"{element.category} {element.name!r}") as check:
            _check(check, element.kind, _unit(joints, ends[0]) if ends else "m")


def _unit(joints: Mapping[str, Joint], reference: JointCoordinate) -> str:
    """The unit of a joint's coordinate; "" for a joint that does not exist yet."""
    joint = joints.get(reference.joint)
    return "" if joint is None else unit_of(joint.kind, joint.coordinate_name(reference.coordinate))


def _check(check: Check, description: Any, unit: str, prefix: str = "") -> None:
    """Note the texts of a description that do not fit a coordinate in this unit."""
    own: type = type(description)
    declared = declarations(own)
    for name, value in description.texts.items():
        units = units_of(unit_along(declared[name].unit, unit))
        in_si(check, f"{prefix}{name}", value, units, formulas=True)


_TABLES: dict[type, str] = {
    **dict(zip((Body, Beam, Joint, Constraint, Force, Drive, Sensor, Change), ELEMENTS, strict=True)),
    PathDrive: "drives",
}


def _table(mechanism: Mechanism, element: Any) -> tuple[dict[str, Any], str]:
    """The table that contains an element, and the noun for it. Raises MechanismError if there is none."""
    if type(element) not in _TABLES:
        advice = "give the element itself"
        if isinstance(element, str):
            found = [
                f"mech.{table}[{element!r}]" for table in ELEMENTS if element in _stored(mechanism, table)
            ]
            names = [name for table in ELEMENTS for name in _stored(mechanism, table)]
            advice = f"give the element itself: {found[0]}" if found else nearest(element, names)
        raise MechanismError.of("mechanism", "this is not one of its elements", element, advice)
    name = _TABLES[type(element)]
    category, table = ELEMENTS[name], _stored(mechanism, name)
    if element.name not in table:
        advice = nearest(element.name, table)
        raise MechanismError.of(f"{category} {element.name!r}", "it is not in the mechanism", advice=advice)
    return table, category


def _stored(mechanism: Mechanism, table: str) -> dict[str, Any]:
    found: dict[str, Any] = getattr(mechanism, f"_{table}")
    return found


def _elements(mechanism: Mechanism) -> Iterator[tuple[str, Element]]:
    """All elements except bodies, with the nouns for them."""
    for table, category in ELEMENTS.items():
        if category != "body":
            for element in list(_stored(mechanism, table).values()):
                yield category, element


def dependents(mechanism: Mechanism, element: Any) -> list[tuple[str, Element]]:
    """The elements that refer to a body, a joint, a force, or a named marker."""
    name = element.key if isinstance(element, Marker) else element.name

    def refers(other: Element) -> bool:
        if isinstance(other, Change) and isinstance(element, Change):
            return bool(name == other.kind.after)
        if isinstance(other, Change) and not isinstance(element, (Marker, Sensor)) and name in other.mentions:
            return True
        if isinstance(element, Joint):
            return name in joints_of(other)
        if isinstance(element, Force):
            return name in forces_of(other)
        if isinstance(element, Marker):
            return any(marker.key == name for marker in markers_of(other))
        return isinstance(element, Body) and any(marker.body == name for marker in markers_of(other))

    return [(category, other) for category, other in _elements(mechanism) if refers(other)]


def remove_element(mechanism: Mechanism, element: Any, cascade: bool) -> None:
    """See Mechanism.remove."""
    with Check("remove") as check:
        cascade = check.flag("cascade", cascade)
    if isinstance(element, Marker):
        if element.key not in mechanism.markers:
            raise MechanismError.of(f"marker {element.key!r}", "it is not in the mechanism")
        table: dict[str, Any]
        table, category, key = mechanism._markers, "marker", str(element.key)  # noqa: SLF001
    else:
        (table, category), key = _table(mechanism, element), element.name
        refuse_parts(mechanism, element, "removed")
        if isinstance(element, Beam):
            remove_beam(mechanism, table[key], cascade)
            return
    others = dependents(mechanism, element)
    if others and not cascade:
        names = ", ".join(f"{noun} {other.name!r}" for noun, other in others)
        raise MechanismError.of(
            f"{category} {key!r}",
            f"others refer to it: {names}",
            advice="remove them first, or use cascade=True",
        )
    for _, other in others:
        if other.name in _stored(mechanism, _TABLES[type(other)]):
            remove_element(mechanism, other, cascade=True)
    found = table.pop(key, None)
    if isinstance(found, Force):
        for flywheel in flywheels_of(mechanism, found):
            remove_element(mechanism, flywheel, cascade=True)
    if isinstance(element, Body):
        for marker_key, marker in list(mechanism.markers.items()):
            if marker.body == element.name:
                del mechanism._markers[marker_key]  # noqa: SLF001


def replace_element(mechanism: Mechanism, element: Any, changes: dict[str, Any]) -> Any:
    """See Mechanism.replace."""
    unknown = (
        set(changes) - {field.name for field in fields(element)}
        if hasattr(element, "__dataclass_fields__")
        else ()
    )
    if unknown:
        advice = f"it has {', '.join(field.name for field in fields(element))}"
        raise MechanismError.of(repr(type(element).__name__), "it has no such field", sorted(unknown), advice)
    if isinstance(element, Ground):
        mechanism._ground = replace(mechanism.ground, **changes)  # noqa: SLF001
        return mechanism.ground
    table, category = _table(mechanism, element)
    old = element.name
    if isinstance(element, Force) or changes.get("name", old) != old:
        refuse_parts(mechanism, element, "changed" if isinstance(element, Force) else "renamed")
    changed = replace(table[old], **changes)
    if isinstance(changed, Beam):
        return replace_beam(mechanism, table[old], changed)
    if isinstance(changed, Force) and (missing := changed.kind.missing_states(changed.ends)):
        changed = replace(changed, ends=(*changed.ends, *add_flywheels(mechanism, changed, missing)))
    check_units(mechanism.joints, changed)
    if changed.name != old:
        if changed.name in table:
            raise MechanismError.of(
                f"{category} {changed.name!r}", "this name is taken", advice="choose another"
            )
        _rename(mechanism, element, changed.name)
    for marker in markers_of(changed) if not isinstance(changed, Body) else ():
        mechanism._know(marker)  # noqa: SLF001
    if changed.name == old:
        table[old] = changed  # at once: another thread that reads never misses it
        return changed
    entries = [(changed.name, changed) if name == old else (name, value) for name, value in table.items()]
    table.clear()
    table.update(entries)
    return changed


def _rename(mechanism: Mechanism, element: Any, new: str) -> None:
    """Update all references to a body, joint or force to its new name."""
    old = element.name

    def marker(given: Marker) -> Marker:
        return replace(given, body=new) if isinstance(element, Body) and given.body == old else given

    def named(noun: str, given: str) -> str:
        return new if noun == ELEMENTS[_TABLES[type(element)]] and given == old else given

    if isinstance(element, Body):
        moved = {m.key: m for m in map(marker, mechanism.markers.values()) if m.key is not None}
        mechanism._markers.clear()  # noqa: SLF001
        mechanism._markers.update(moved)  # noqa: SLF001
    for _, other in dependents(mechanism, element):
        table = _stored(mechanism, _TABLES[type(other)])
        table[other.name] = remapped(other, other.name, marker, named)
