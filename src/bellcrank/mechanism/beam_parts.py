"""Beams in a mechanism: they are added with their nodes and segments, which follow when they change or go."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any
from warnings import warn

from bellcrank.errors import FaultList, HintWarning, MechanismError
from bellcrank.mechanism.attachment import Force
from bellcrank.mechanism.beams import Beam
from bellcrank.mechanism.body import Body
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.contact import Contact
from bellcrank.mechanism.joint import JointKind
from bellcrank.mechanism.joint_kinds import Fixed
from bellcrank.mechanism.marker import GROUND, Marker
from bellcrank.mechanism.parameters import comparable, present
from bellcrank.mechanism.references import as_marker
from bellcrank.mechanism.rotation import conjugate, multiply

if TYPE_CHECKING:
    from bellcrank.mechanism.mechanism import Mechanism

_SLENDER = 3.0  # lengths per height below which a beam is none
_FLAT = 5.0  # widths per height above which a section is a sheet


def add_beam(mechanism: Mechanism, name: str, section: Any, start: Any, end: Any, **more: Any) -> Beam:
    """See Mechanism.add_beam."""
    element, faults = f"beam {name!r}", FaultList()
    ends: dict[str, tuple[Any, Marker | None, JointKind]] = {}
    for which, value in (("start", start), ("end", end)):
        with faults.collect():
            ends[which] = _end(mechanism, element, which, value)
    faults.raise_any()
    places = {which: place for which, (place, _, _) in ends.items()}
    beam = Beam(name, section, **places, **more)
    _hint_of_height(beam)
    joints = [
        (f"{name}/{which}", kind, marker, node)
        for (which, (_, marker, kind)), node in zip(
            ends.items(), (beam.nodes[0], beam.nodes[-1]), strict=True
        )
        if marker is not None
    ]
    for joint, *_ in joints:
        if joint in mechanism.joints:
            faults.add(f"joint {joint!r}", "this name is taken", None, "choose another for the beam")
    faults.raise_any()
    enter(mechanism, beam)
    try:
        for joint, kind, marker, node in joints:
            mechanism.add_joint(joint, kind, *_meeting(mechanism, kind, marker, node))
    except MechanismError:
        mechanism.remove(beam, cascade=True)
        raise
    return beam


def _end(mechanism: Mechanism, element: str, which: str, value: Any) -> tuple[Any, Marker | None, JointKind]:
    """The place of an end in the world; what it is joined to there, if anything, and how."""
    kind: Any = Fixed()
    if isinstance(value, (tuple, list)) and len(value) == 2:
        value, kind = value
        with Check(element) as check:
            advice = "such as (marker, bc.Revolute())"
            check.instance(f"the joint of the {which}", kind, JointKind, advice)
    elif not isinstance(value, (Marker, str)) and not hasattr(value, "marker"):
        return value, None, kind
    marker = as_marker(mechanism, f"{element}, {which}", value)
    return mechanism.position_in_world(marker), marker, kind


def _meeting(mechanism: Mechanism, kind: JointKind, marker: Marker, node: str) -> tuple[Marker, Marker]:
    """The markers of a joint at an end: a weld has the axes of the beam, others those of the marker."""
    axes = mechanism.bodies[node].rotation
    own = mechanism.ground if marker.body == GROUND else mechanism.bodies[marker.body]
    if isinstance(kind, Fixed):
        turned = multiply(conjugate(own.rotation), axes)
        return replace(marker, rotation=turned, name=None), Marker(node)
    return marker, Marker(node, rotation=multiply(conjugate(axes), multiply(own.rotation, marker.rotation)))


def _hint_of_height(beam: Beam) -> None:
    """Warn of a beam that is none by the height of its section; by the thickness of a sheet."""
    size = beam.section.largest_size
    if size is None:
        return
    weak, strong = sorted(present(one) for one in beam.section.at(0.0).EI)
    flat = (strong / weak) ** 0.5  # width over thickness of a rectangle
    height = present(size) / flat if flat > _FLAT else present(size)
    if present(beam.length) < _SLENDER * height:
        times = present(beam.length) / height
        text = (
            f"beam {beam.name!r} is only {times:.2g} times as long as its section is high; a beam is slender"
        )
        warn(text, HintWarning, stacklevel=4)


def enter(mechanism: Mechanism, beam: Beam) -> None:
    """Add a beam with its nodes and segments. Raises MechanismError, and adds nothing, if a name is taken."""
    faults = FaultList()
    bodies = {body.name: body for body in beam.bodies()}
    forces = {force.name: force for force in beam.forces()}
    _refuse_taken(mechanism, beam, set(), faults)
    faults.raise_any()
    mechanism._beams[beam.name] = beam  # noqa: SLF001
    mechanism._bodies.update(bodies)  # noqa: SLF001
    mechanism._forces.update(forces)  # noqa: SLF001


def _refuse_taken(mechanism: Mechanism, beam: Beam, own: set[str], faults: FaultList) -> None:
    """Note the names of a beam and its parts that others have, but for `own` ones."""
    taken = {"beam": mechanism.beams, "body": mechanism.bodies, "force": mechanism.forces}
    for noun, names in {"beam": (beam.name,), "body": beam.nodes, "force": beam.pieces}.items():
        for name in names:
            if name in taken[noun] and name not in own:
                faults.add(f"{noun} {name!r}", "this name is taken", None, "choose another for the beam")


def arranged(mechanism: Mechanism) -> None:
    """Put what beams make after all other bodies and forces, where it stands when a file is read too."""
    beams = list(mechanism.beams.values())
    bodies = [name for beam in beams for name in beam.nodes]
    forces = [name for beam in beams for name in beam.pieces]
    for table, names in ((mechanism._bodies, bodies), (mechanism._forces, forces)):  # noqa: SLF001
        if list(table)[len(table) - len(names) :] != names:
            made: dict[str, Any] = {name: table.pop(name) for name in names}
            table.update(made)


def beam_of(mechanism: Mechanism, element: Any) -> Beam | None:
    """The beam that made a body or force; None if none did."""
    if isinstance(element, (Body, Force)) and "/" in element.name:
        for beam in mechanism.beams.values():
            made = beam.nodes if isinstance(element, Body) else beam.pieces
            if element.name.startswith(f"{beam.name}/") and element.name in made:
                return beam
    return None


def refuse_parts(mechanism: Mechanism, element: Any, what: str) -> None:
    """Raise MechanismError for a segment of a beam, and for a node that is to go or get another name."""
    if (beam := beam_of(mechanism, element)) is not None:
        noun = "body" if isinstance(element, Body) else "force"
        rule = f"it is a part of beam {beam.name!r} and cannot be {what}"
        advice = f"change the beam: mech.replace(mech.beams[{beam.name!r}], ...), or remove it"
        raise MechanismError.of(f"{noun} {element.name!r}", rule, None, advice)


def changes_of_nodes(mechanism: Mechanism) -> dict[str, dict[str, Any]]:
    """By the names of all nodes of beams, the fields, by name, that are not as their beam makes them."""
    found = {}
    for beam in mechanism.beams.values():
        for made in beam.bodies():
            stored = mechanism.bodies[made.name]
            found[made.name] = {} if stored == made else changed_fields(made, stored)
    return found


def changed_fields(made: Body, stored: Body) -> dict[str, Any]:
    """The fields of a body that are not those of another one, by name."""
    pairs = ((f.name, getattr(made, f.name), getattr(stored, f.name)) for f in fields(Body))
    return {name: new for name, old, new in pairs if comparable(old) != comparable(new)}


def remove_beam(mechanism: Mechanism, beam: Beam, cascade: bool) -> None:
    """Remove a beam with its nodes and segments. Raises MechanismError if others refer to a node."""
    others = _others(mechanism, beam, beam.nodes)
    if others and not cascade:
        names = ", ".join(f"{noun} {one.name!r}" for noun, one in others)
        advice = "remove them first, or use cascade=True"
        raise MechanismError.of(f"beam {beam.name!r}", f"others refer to it: {names}", advice=advice)
    del mechanism._beams[beam.name]  # noqa: SLF001
    for name in beam.nodes:
        mechanism.remove(mechanism.bodies[name], cascade=True)


def replace_beam(mechanism: Mechanism, old: Beam, new: Beam) -> Beam:
    """Replace a beam by a changed one; its nodes and segments follow, and references to them.

    What was changed of nodes by hand stays if there are as many. Raises MechanismError if a name is taken, or
    if others refer to a node that is no more then.
    """
    faults = FaultList()
    _refuse_taken(mechanism, new, {old.name, *old.nodes, *old.pieces}, faults)
    contacts = _touching_all(mechanism, old, new)
    for noun, one in _others(mechanism, old, old.nodes[len(new.nodes) :]):
        if one.name in contacts:
            continue
        rule = f"{noun} {one.name!r} refers to a node that it would not have any more"
        faults.add(f"beam {old.name!r}", rule, None, "remove it first")
    faults.raise_any()
    bodies = _with_edits(mechanism, old, new)
    order = list(mechanism.forces)
    for name in contacts:
        del mechanism._forces[name]  # noqa: SLF001
    beams = [new if beam.name == old.name else beam for beam in mechanism.beams.values()]
    mechanism._beams.clear()  # noqa: SLF001  (its parts are not protected now)
    for name in old.pieces:
        del mechanism._forces[name]  # noqa: SLF001
    for name in old.nodes[len(new.nodes) :]:
        mechanism.remove(mechanism.bodies[name], cascade=True)
    if old.name != new.name:
        for before, after in zip(old.nodes, new.nodes, strict=False):
            mechanism.replace(mechanism.bodies[before], name=after)
    mechanism._bodies.update(bodies)  # noqa: SLF001
    mechanism._forces.update(contacts)  # noqa: SLF001
    for name in [name for name in order if contacts and name in mechanism.forces]:
        mechanism._forces[name] = mechanism._forces.pop(name)  # noqa: SLF001
    mechanism._forces.update({force.name: force for force in new.forces()})  # noqa: SLF001
    mechanism._beams.update({beam.name: beam for beam in beams})  # noqa: SLF001
    arranged(mechanism)
    return new


def _touching_all(mechanism: Mechanism, old: Beam, new: Beam) -> dict[str, Force]:
    """Contacts in which all nodes of a beam are, by name, with those of the changed one in their place."""
    before, after = [Marker(name) for name in old.nodes], tuple(Marker(name) for name in new.nodes)
    found = {}
    for name, force in mechanism.forces.items():
        if isinstance(force.kind, Contact) and before[0] in force.ends:
            first = force.ends.index(before[0])
            if list(force.ends[first : first + len(before)]) == before:
                ends = (*force.ends[:first], *after, *force.ends[first + len(before) :])
                found[name] = replace(force, ends=ends)
    return found


def _others(mechanism: Mechanism, beam: Beam, nodes: tuple[str, ...]) -> list[tuple[str, Any]]:
    """What refers to some nodes of a beam, beside its own segments."""
    from bellcrank.mechanism.editing import dependents  # which asks this module what beams make

    found = {
        (noun, one.name): one
        for name in nodes
        for noun, one in dependents(mechanism, mechanism.bodies[name])
        if not (noun == "force" and one.name in beam.pieces)
    }
    return [(noun, one) for (noun, _), one in found.items()]


def _with_edits(mechanism: Mechanism, old: Beam, new: Beam) -> dict[str, Body]:
    """The nodes of a changed beam, with what is not as the old one made it."""
    bodies = list(new.bodies())
    if len(old.nodes) == len(bodies):
        for number, made in enumerate(old.bodies()):
            kept = changed_fields(made, mechanism.bodies[made.name]) | {"name": bodies[number].name}
            bodies[number] = replace(bodies[number], **kept)
    return {body.name: body for body in bodies}
