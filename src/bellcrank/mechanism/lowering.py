"""Lowering: a mechanism as a list of rows, laws and wrenches, the only input of the compiler."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bellcrank.errors import Fault, FaultList, MechanismError
from bellcrank.mechanism.attachment import Attached, End
from bellcrank.mechanism.coaxial import turns_about_one_axis
from bellcrank.mechanism.coordinate import Coordinate
from bellcrank.mechanism.drive import Drive, PathDrive
from bellcrank.mechanism.joint_coordinate import JointCoordinate
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.rows import Lowered

if TYPE_CHECKING:
    from bellcrank.mechanism.mechanism import Mechanism


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
        raise MechanismError(
            Fault(f"joint coordinate '{reference}'", "there is no joint of this name", reference.joint)
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
    faults, result = FaultList(), []
    for joint in mechanism.joints.values():
        if not locks and joint.only_locks():
            continue
        with faults.collect():
            result.append(LoweredElement("joint", joint.name, joint.lowered()))
    for attached in (*mechanism.constraints.values(), *mechanism.forces.values()):
        with faults.collect():
            lowered = attached.kind.lowered(resolve_ends(mechanism, attached))
            result.append(LoweredElement(attached.category, attached.name, lowered))
    for drive in mechanism.drives.values():
        with faults.collect():
            result.append(LoweredElement("drive", drive.name, _lower_drive(mechanism, drive)))
    faults.raise_any()
    return result


def _lower_drive(mechanism: Mechanism, drive: Drive | PathDrive) -> Lowered:
    if isinstance(drive, PathDrive):
        return drive.lowered()
    return drive.lowered(resolve(mechanism, drive.coordinate))
