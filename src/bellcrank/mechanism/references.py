"""References from one element to another: by handle or by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from bellcrank.errors import FaultList, MechanismError
from bellcrank.mechanism.attachment import Attached, AttachedKind, Attachment, check_kind
from bellcrank.mechanism.beams import Beam
from bellcrank.mechanism.body import Body, Ground
from bellcrank.mechanism.changes import Change
from bellcrank.mechanism.checking import Check, nearest
from bellcrank.mechanism.contact import Contact
from bellcrank.mechanism.coordinate import JointCoordinate
from bellcrank.mechanism.drive import Drive, PathDrive
from bellcrank.mechanism.joint import Joint
from bellcrank.mechanism.marker import GROUND, Marker
from bellcrank.mechanism.sensors import Sensor
from bellcrank.overloads import overload

if TYPE_CHECKING:
    from bellcrank.mechanism.mechanism import Mechanism

Element: TypeAlias = Joint | Attached | Drive | PathDrive
_JOINT: Final = (
    "it is a joint: give the two ends; springs, motors and friction of joints have kinds of their own"
)
E = TypeVar("E", Joint, Attached, Drive, PathDrive)


def as_marker(mechanism: Mechanism, element: str, value: Any) -> Marker:
    """A marker from a marker, from a body (its frame), or from a name: "body.marker", a body, "ground".

    Raises MechanismError for anything else and for unknown names.
    """
    if isinstance(value, Marker):
        return value
    if isinstance(value, (Body, Ground)):
        return value.marker()
    if isinstance(value, str):
        if (found := _named_marker(mechanism, value)) is not None:
            return found
        raise MechanismError.of(
            element, "there is no marker of this name", value, _marker_meant(mechanism, value)
        )
    advice = "use body.marker(...), a body, or the name of one"
    if isinstance(value, Beam):
        advice = f"it is a beam: take one of its nodes by {value.name}.marker(station)"
    if isinstance(value, Joint):
        advice = _JOINT
    raise MechanismError.of(element, "a marker is needed here", value, advice)


def _marker_meant(mechanism: Mechanism, name: str) -> str:
    """What to do where there is no marker of a name."""
    owner, _, own = name.rpartition(".")
    if name in mechanism.joints:
        return _JOINT
    if name.casefold() in ("world", "earth", "base", "fixed", "origin", "root", "inertial"):
        return f"the world is {GROUND!r}"
    if owner in mechanism.bodies or owner == GROUND:
        return f"register it: mech.add_marker(body.marker(..., name={own!r}))"
    return nearest(name, [*mechanism.markers, GROUND, *mechanism.bodies])


def _named_marker(mechanism: Mechanism, name: str) -> Marker | None:
    """The named marker "body.marker", or the frame of the body of that name."""
    if name in mechanism.markers:
        return mechanism.markers[name]
    return Marker(name) if name == GROUND or name in mechanism.bodies else None


def _bodies_of(joint: Joint) -> tuple[str, str]:
    return joint.marker_1.body, joint.marker_2.body


def as_joint_coordinate(
    mechanism: Mechanism, element: str, value: Any, which: str | int | None = None
) -> JointCoordinate:
    """A joint coordinate from a joint, a reference, or the text "joint" or "joint.coordinate".

    which: the coordinate, by name or number, if `value` does not specify it. A joint that does not exist yet
        is checked later with the whole mechanism.

    Raises MechanismError for anything else, and if the joint has no such coordinate.
    """
    name = value.name if isinstance(value, Joint) else value
    if isinstance(name, str):
        joint, dot, rest = name.rpartition(".")
        named = dot and name not in mechanism.joints and joint in mechanism.joints
        reference = JointCoordinate(joint, rest) if named else JointCoordinate(name)
    elif isinstance(value, JointCoordinate):
        reference = value
    else:
        advice = "give a joint, by name or handle"
        if isinstance(value, (Body, Marker)):
            body = value.body if isinstance(value, Marker) else value.name
            found = [joint.name for joint in mechanism.joints.values() if body in _bodies_of(joint)]
            advice = f"give a joint: {body!r} has {', '.join(map(repr, found))}" if found else advice
        raise MechanismError.of(element, "a joint is needed here", value, advice)
    if which is not None:
        if reference.coordinate not in (None, which):
            raise MechanismError.of(element, "the coordinate is given twice", (reference.coordinate, which))
        reference = JointCoordinate(reference.joint, which)
    if reference.joint in mechanism.joints:
        try:
            return mechanism.joints[reference.joint].coordinate(reference.coordinate)
        except MechanismError as error:
            raise MechanismError(
                [replace(f, element=f"{element}, {f.element}") for f in error.faults]
            ) from None
    return reference


def as_end(mechanism: Mechanism, element: str, kind: AttachedKind, value: Any) -> Attachment:
    """An end of a constraint or force: a marker or a joint coordinate, as the kind takes them.

    Raises MechanismError for a name of several of these, where the kind takes markers and joints.
    """
    if isinstance(value, (Marker, Body, Ground)):
        return as_marker(mechanism, element, value)
    if isinstance(value, (Joint, JointCoordinate)) or "M" not in kind.pattern:
        if (
            isinstance(value, str)
            and value not in mechanism.joints
            and _named_marker(mechanism, value) is not None
        ):
            advice = f"give the joint that it acts on; {value!r} is a body or marker"
            raise MechanismError.of(element, f"{kind.name} acts on joints", value, advice)
        return as_joint_coordinate(mechanism, element, value)
    if not isinstance(value, str) or "J" not in kind.pattern or "J" not in kind.named_ends:
        return as_marker(mechanism, element, value)
    owner, _, coordinate = value.rpartition(".")
    if (marker := _named_marker(mechanism, value)) is not None:
        if value in mechanism.joints:
            handle = f"mech.joints[{value!r}]"
        elif owner in mechanism.joints and coordinate in mechanism.joints[owner].kind.free:
            handle = f"mech.joints[{owner!r}].coordinate({coordinate!r})"
        else:
            return marker
        table, noun = ("markers", "marker") if value in mechanism.markers else ("bodies", "body")
        other = "mech.ground" if value == GROUND else f"mech.{table}[{value!r}]"
        advice = f"give {handle} for the joint, {other} for the {noun}"
        raise MechanismError.of(element, f"a {noun} and a joint have this name", value, advice)
    if value in mechanism.joints or owner in mechanism.joints:
        return as_joint_coordinate(mechanism, element, value)
    advice = nearest(value, [*mechanism.markers, GROUND, *mechanism.bodies, *mechanism.joints])
    raise MechanismError.of(element, "there is no marker and no joint of this name", value, advice)


MarkerMap: TypeAlias = Callable[[Marker], Marker]
NameMap: TypeAlias = Callable[[str, str], str]
"""Takes the noun of an element, such as "joint", and its name."""


@overload
def remapped(element: Joint, name: str, marker: MarkerMap, named: NameMap) -> Joint: ...
@overload
def remapped(element: Sensor, name: str, marker: MarkerMap, named: NameMap) -> Sensor: ...
@overload
def remapped(element: Change, name: str, marker: MarkerMap, named: NameMap) -> Change: ...
@overload
def remapped(element: Attached, name: str, marker: MarkerMap, named: NameMap) -> Attached: ...
@overload
def remapped(element: Drive, name: str, marker: MarkerMap, named: NameMap) -> Drive: ...
@overload
def remapped(element: PathDrive, name: str, marker: MarkerMap, named: NameMap) -> PathDrive: ...
def remapped(element: Element, name: str, marker: MarkerMap, named: NameMap) -> Element:
    """The element under another name, with its markers and references to other elements replaced."""

    def coordinate(given: JointCoordinate) -> JointCoordinate:
        return JointCoordinate(named("joint", given.joint), given.coordinate)

    if isinstance(element, Joint):
        return replace(
            element, name=name, marker_1=marker(element.marker_1), marker_2=marker(element.marker_2)
        )
    if isinstance(element, Attached):
        ends = tuple(marker(end) if isinstance(end, Marker) else coordinate(end) for end in element.ends)
        if isinstance(element, (Sensor, Change)):
            kind: Any = element.kind.renamed(named)
            return replace(element, name=name, ends=ends, kind=kind)
        return replace(element, name=name, ends=ends)
    if isinstance(element, PathDrive):
        return replace(element, name=name, marker=marker(element.marker), reference=marker(element.reference))
    return replace(element, name=name, coordinate=coordinate(element.coordinate))


def markers_of(element: Element) -> tuple[Marker, ...]:
    """The markers of an element."""
    if isinstance(element, Joint):
        return (element.marker_1, element.marker_2)
    if isinstance(element, Attached):
        return element.markers
    return (element.marker, element.reference) if isinstance(element, PathDrive) else ()


def joints_of(element: Element) -> tuple[str, ...]:
    """The names of the joints that an element refers to."""
    if isinstance(element, Attached):
        watched = element.refers_to("joint") if isinstance(element, Sensor) else ()
        return (*watched, *(end.joint for end in element.joint_coordinates))
    return (element.coordinate.joint,) if isinstance(element, Drive) else ()


def forces_of(element: Element) -> tuple[str, ...]:
    """The names of the forces that an element refers to."""
    return element.refers_to("force") if isinstance(element, Sensor) else ()


def as_ends(
    mechanism: Mechanism, element: str, kind: Any, wanted: type, ends: tuple[Any, ...]
) -> tuple[Any, ...]:
    """The ends of an element of a kind; all faults at once. wanted: the class of its kind."""
    with Check(element) as check:
        check_kind(check, kind, wanted)
    faults, found = FaultList(), list[Attachment]()
    for value in ends:
        with faults.collect():
            beam = beam_as_end(mechanism, type(kind), value)
            found += (as_end(mechanism, element, kind, value),) if beam is None else map(Marker, beam.nodes)
    faults.raise_any()
    return tuple(found)


def beam_as_end(mechanism: Mechanism, kind: type | None, value: Any) -> Beam | None:
    """The beam that stands for its nodes at an end of a contact, by handle or name; None for other ends."""
    name = value.name if isinstance(value, Beam) else value
    if kind is not Contact or not isinstance(name, str):
        return None
    known = name in mechanism.bodies or name in mechanism.markers
    return None if known and not isinstance(value, Beam) else mechanism.beams.get(name)
