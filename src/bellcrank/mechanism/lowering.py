"""Lowering: a mechanism as a list of rows, laws and wrenches, the only input of the compiler."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from bellcrank.errors import FaultList, MechanismError
from bellcrank.mechanism.attachment import Attached, Constraint, End
from bellcrank.mechanism.checking import Vec3
from bellcrank.mechanism.coordinate import TURNED, Coordinate, JointCoordinate
from bellcrank.mechanism.drive import Drive, PathDrive
from bellcrank.mechanism.friction_loads import LoadKind
from bellcrank.mechanism.joint import Joint
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.parameters import holds_expressions
from bellcrank.mechanism.rotation import multiply, rotate
from bellcrank.mechanism.rows import FrictionLoad, Lowered

if TYPE_CHECKING:
    from bellcrank.mechanism.mechanism import Mechanism


_HELD: Final = {
    "x",
    "y",
    "e1",
    "e2",
}  # by a joint that leaves nothing but turns about its axis and slides along it
_ROUNDING: Final = 1e-9  # of distances, m, and of directions


def turns_about_one_axis(
    mechanism: Mechanism, one: Marker, two: Marker
) -> tuple[Coordinate, Coordinate] | None:
    """The angles by which two wheels turn about the z axes of these markers; None unless they share an axis.

    They share one where they stand so as described, and joints with the same body keep them there.
    """
    if holds_expressions(one) or holds_expressions(two) or not _stand_on_one_axis(mechanism, one, two):
        return None
    for first, carrier, axis in _bearings(mechanism, one):
        for second, other, another in _bearings(mechanism, two):
            if carrier.body == other.body and _on_one_axis(axis, another):
                return first, second
    return None


def _bearings(mechanism: Mechanism, wheel: Marker) -> Iterator[tuple[Coordinate, Marker, tuple[Vec3, Vec3]]]:
    """Joints about the axis of a wheel: its angle there, their marker on the other body, and the axis."""
    axis = (wheel.position, wheel.z_axis)
    for joint in mechanism.joints.values():
        for own, other in ((joint.marker_2, joint.marker_1), (joint.marker_1, joint.marker_2)):
            if own.body != wheel.body or other.body == wheel.body or not _holds_axis(joint):
                continue
            if not _on_one_axis(axis, (own.position, own.z_axis)):
                continue
            along = np.dot(own.z_axis, wheel.z_axis) > 0.0
            pair = (other, own) if along else (own, other)
            yield Coordinate("theta_z", *pair), other, (other.position, other.z_axis)


def _holds_axis(joint: Joint) -> bool:
    locked = set(joint.kind.locked)
    plain = joint.kind.custom is None and locked >= _HELD and "e3" not in locked
    return plain and not (holds_expressions(joint.marker_1) or holds_expressions(joint.marker_2))


def _on_one_axis(one: tuple[Vec3, Vec3], two: tuple[Vec3, Vec3]) -> bool:
    """Whether two axes, each by a point and a direction, are one."""
    between = np.subtract(two[0], one[0])
    apart = np.cross(between, one[1])
    return bool(np.linalg.norm(apart) < _ROUNDING and np.linalg.norm(np.cross(one[1], two[1])) < _ROUNDING)


def _stand_on_one_axis(mechanism: Mechanism, one: Marker, two: Marker) -> bool:
    return _on_one_axis(_axis_in_world(mechanism, one), _axis_in_world(mechanism, two))


def _axis_in_world(mechanism: Mechanism, marker: Marker) -> tuple[Vec3, Vec3]:
    body = mechanism.bodies.get(marker.body)
    if body is None or holds_expressions(body):
        return marker.position, marker.z_axis
    place = np.add(body.position, rotate(body.rotation, marker.position))
    return tuple(place.tolist()), rotate(multiply(body.rotation, marker.rotation), (0.0, 0.0, 1.0))


@dataclass(frozen=True)
class LoweredElement:
    """One element of a mechanism, lowered.

    category: "joint", "constraint", "force" or "drive".
    """

    category: str
    name: str
    lowered: Lowered


def resolve(mechanism: Mechanism, reference: JointCoordinate) -> Coordinate:
    """The coordinate that a reference to a joint means. Raises MechanismError if there is none."""
    joint = mechanism.joints.get(reference.joint)
    if joint is None:
        raise MechanismError.of(
            f"joint coordinate '{reference}'", "there is no joint of this name", reference.joint
        )
    return joint.resolved(reference.coordinate)


def resolve_ends(mechanism: Mechanism, element: Attached) -> tuple[End, ...]:
    """The ends of a constraint or force with joint references resolved.

    Wheels that joints hold on one axis turn by the angles of these joints.
    """
    if getattr(element.kind, "about", "") == "azimuth" and len(element.markers) == 2:
        found = turns_about_one_axis(mechanism, *element.markers)
        if found is not None:
            return found
    return tuple(end if isinstance(end, Marker) else resolve(mechanism, end) for end in element.ends)


def lower(mechanism: Mechanism, locks: bool = True) -> list[LoweredElement]:
    """All joints, constraints, forces and drives of a valid mechanism, in this order, lowered.

    locks: whether joints that consist only of locks of coordinates are included.
    Raises MechanismError for references to joints that do not exist; `compile.validate` finds them with
    better messages.
    """
    faults, result, rubbing = FaultList(), [], []
    for joint in mechanism.joints.values():
        if not locks and joint.only_locks():
            continue
        with faults.collect():
            result.append(LoweredElement("joint", joint.name, joint.lowered()))
    for attached in (*mechanism.constraints.values(), *mechanism.forces.values()):
        with faults.collect():
            ends = resolve_ends(mechanism, attached)
            lowered = attached.kind.lowered(ends)
            result.append(
                LoweredElement(attached.category, attached.name, loaded(mechanism, attached, lowered))
            )
            if isinstance(attached, Constraint) and (losses := attached.kind.losses(attached.name, ends)):
                rubbing.append(LoweredElement("force", attached.name, losses))
    result += rubbing
    for drive in mechanism.drives.values():
        with faults.collect():
            result.append(LoweredElement("drive", drive.name, _lower_drive(mechanism, drive)))
    faults.raise_any()
    return result


def loaded(mechanism: Mechanism, element: Attached, lowered: Lowered) -> Lowered:
    """A force with the loads that its joint puts on it. Raises MechanismError if the joint carries none."""
    if not any(law.loads for law in lowered.laws):
        return lowered
    (reference,) = element.joint_coordinates
    joint = mechanism.joints[reference.joint]
    laws = []
    for law in lowered.laws:
        found: list[FrictionLoad] = []
        for load in law.loads:
            along = law.coordinate.kind
            axis = along.removeprefix("theta_").removeprefix(TURNED)
            fault = _unfit(load, along, axis) or load.fault_of(joint, axis)
            if fault:
                advice = "choose another load, or another joint"
                rule = f"joint {joint.name!r} does not carry the load of a {load.name}: {fault}"
                raise MechanismError.of(f"force {element.name!r}", rule, None, advice)
            found += load.loads(axis, joint)
        laws.append(replace(law, loads=tuple(found)))
    return replace(lowered, laws=tuple(laws))


def _unfit(load: LoadKind, along: str, axis: str) -> str:
    if axis not in ("x", "y", "z"):
        return f"{along} is neither along an axis nor about one"
    if load.travels != (along == axis):
        return f"{along} is no travel" if load.travels else f"{along} is no turn"
    return ""


def _lower_drive(mechanism: Mechanism, drive: Drive | PathDrive) -> Lowered:
    if isinstance(drive, PathDrive):
        return drive.lowered()
    return drive.lowered(resolve(mechanism, drive.coordinate))
