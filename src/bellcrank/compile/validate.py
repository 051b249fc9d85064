"""Checks of the whole mechanism: missing bodies and joints, contradictions, nothing to move."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from bellcrank.compile.contacts import check_contacts
from bellcrank.compile.standing import check_changes
from bellcrank.errors import FaultList, MechanismError
from bellcrank.mechanism import GROUND, Coordinate, Drive, Joint, Lowered, Mechanism, PathDrive, Row
from bellcrank.mechanism.attachment import Attached, Constraint
from bellcrank.mechanism.checking import nearest
from bellcrank.mechanism.contents import with_numbers
from bellcrank.mechanism.lowering import loaded, resolve, resolve_ends
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.parameters import inputs_of
from bellcrank.mechanism.references import forces_of, joints_of, markers_of
from bellcrank.mechanism.sensors import IMU, DistanceSensor, ForceSensor, Sensor
from bellcrank.slips import answered


@answered
def validate(mechanism: Mechanism) -> None:
    """Raise one MechanismError with all faults of the mechanism; return if there are none.

    The elements themselves were checked when they were made. Checked here are: an empty mechanism, markers on
    missing bodies, joints of a body with itself, references to joints or coordinates that do not exist or are
    locked, constraints and forces without effect, drives that contradict each other, and different inputs
    with the same name.

    >>> bc.validate(four_bar)    # nothing is wrong
    >>> again = four_bar.add_drive("again", "motor", velocity=1.0)
    >>> try:
    ...     bc.validate(four_bar)
    ... except bc.MechanismError as error:
    ...     print(error.faults[0].rule)
    drive 'motor' drives the same coordinate already
    """
    mechanism = with_numbers(mechanism)
    faults = FaultList()
    if not mechanism.bodies:
        faults.add(
            f"mechanism {mechanism.name!r}", "it has no bodies", None, "add one with mech.add_body(...)"
        )
    for marker in mechanism.markers.values():
        _check_marker(mechanism, faults, f"marker {marker.key!r}", marker)
    for joint in mechanism.joints.values():
        _check_joint(mechanism, faults, joint)
    for attached in (*mechanism.constraints.values(), *mechanism.forces.values()):
        _check_attached(mechanism, faults, attached)
    check_contacts(mechanism, faults)
    for sensor in mechanism.sensors.values():
        _check_sensor(mechanism, faults, sensor)
    for change in mechanism.changes.values():
        _check_markers(mechanism, faults, f"change {change.name!r}", change.markers)
    check_changes(mechanism, faults)
    driven: dict[Coordinate, str] = {}
    for drive in mechanism.drives.values():
        _check_drive(mechanism, faults, drive, driven)
    with faults.collect():
        inputs_of(mechanism)
    faults.raise_any()


def _check_marker(mechanism: Mechanism, faults: FaultList, element: str, marker: Marker) -> bool:
    if marker.body == GROUND or marker.body in mechanism.bodies:
        return True
    advice = nearest(marker.body, [GROUND, *mechanism.bodies])
    faults.add(element, "its marker is on a body that is not there", marker.body, advice)
    return False


def _check_markers(mechanism: Mechanism, faults: FaultList, element: str, markers: Iterable[Marker]) -> bool:
    """Check that all bodies of the markers exist; each missing one is noted once."""
    firsts = {marker.body: marker for marker in markers}
    found = [_check_marker(mechanism, faults, element, marker) for marker in firsts.values()]
    return all(found)


def _check_joint(mechanism: Mechanism, faults: FaultList, joint: Joint) -> None:
    bodies, one, two = mechanism.bodies, joint.marker_1.body, joint.marker_2.body
    if one != two and (one in bodies or one == GROUND) and (two in bodies or two == GROUND):
        return
    element = f"joint {joint.name!r}"
    if (
        _check_markers(mechanism, faults, element, markers_of(joint))
        and joint.marker_1.body == joint.marker_2.body
    ):
        advice = "the two markers must be on different bodies"
        faults.add(element, "it connects a body with itself", joint.marker_1.body, advice)


def _check_attached(mechanism: Mechanism, faults: FaultList, attached: Attached) -> None:
    element = f"{attached.category} {attached.name!r}"
    markers = _check_markers(mechanism, faults, element, attached.markers)
    joints = _check_joints(mechanism, faults, element, joints_of(attached))
    if not (markers and joints):
        return
    inner = FaultList()
    with inner.collect():
        ends = resolve_ends(mechanism, attached)
        _check_effect(inner, element, loaded(mechanism, attached, attached.kind.lowered(ends)))
        loses = isinstance(attached, Constraint) and attached.kind.losses(attached.name, ends) is not None
        if loses and attached.name in mechanism.forces:
            advice = "rename one of them: results list its losses as a force of its name"
            inner.add(element, "there is a force of this name", None, advice)
    for fault in inner:
        with faults.collect():
            raise MechanismError(replace(fault, element=element))


def _check_sensor(mechanism: Mechanism, faults: FaultList, sensor: Sensor) -> None:
    """Check the references of a sensor, and that it can measure something."""
    element = f"sensor {sensor.name!r}"
    markers = _check_markers(mechanism, faults, element, sensor.markers)
    joints = _check_joints(mechanism, faults, element, joints_of(sensor))
    for name in forces_of(sensor):
        if name not in mechanism.forces:
            rule = "there is no force of this name"
            faults.add(element, rule, name, nearest(name, mechanism.forces))
    if not (markers and joints):
        return
    bodies = [marker.body for marker in sensor.markers]
    if isinstance(sensor.kind, DistanceSensor) and bodies[0] == bodies[1]:
        faults.add(element, "its markers are on one body", bodies[0], "use markers on two bodies")
    if isinstance(sensor.kind, (IMU, ForceSensor)) and GROUND in bodies:
        faults.add(element, "its marker is on the ground", None, "use a marker on a body")
    for end in sensor.joint_coordinates:
        with faults.collect():
            joint = mechanism.joints[end.joint]
            if (name := joint.coordinate_name(end.coordinate)) not in joint.kind.free:
                advice = f"free are {', '.join(joint.kind.free) or 'none'}"
                faults.add(element, "it measures a free coordinate of a joint", name, advice)


def _check_joints(mechanism: Mechanism, faults: FaultList, element: str, names: Iterable[str]) -> bool:
    missing = [name for name in dict.fromkeys(names) if name not in mechanism.joints]
    for name in missing:
        faults.add(element, "there is no joint of this name", name, nearest(name, mechanism.joints))
    return not missing


def _check_effect(faults: FaultList, element: str, lowered: Lowered) -> None:
    """Check that rows constrain something, and that laws and wrenches can move something."""
    for block in lowered.blocks:
        for row in block.rows:
            _check_row(faults, element, row)
    idle = [law.coordinate for law in lowered.laws if _within_a_body(law.coordinate)]
    if idle:
        faults.add(
            element, "it acts between a body and itself", idle[0].marker_1.body, "use markers on two bodies"
        )
    if any(wrench.marker.body == GROUND for wrench in lowered.wrenches):
        faults.add(element, "it acts on the ground, which does not move", None, "use a marker on a body")


def _check_row(faults: FaultList, element: str, row: Row) -> None:
    coordinates = [term.coordinate for term in row.terms]
    if all(map(_within_a_body, coordinates)):
        body = coordinates[0].marker_1.body if coordinates else None
        faults.add(
            element, "it holds nothing: all its markers are on one body", body, "use markers on two bodies"
        )
    elif len(set(coordinates)) < len(coordinates):
        faults.add(element, "the same joint coordinate appears twice in it", None, "name different joints")


def _within_a_body(coordinate: Coordinate) -> bool:
    return coordinate.marker_1.body == coordinate.marker_2.body


def _check_drive(
    mechanism: Mechanism, faults: FaultList, drive: Drive | PathDrive, driven: dict[Coordinate, str]
) -> None:
    """Check the references of a drive, and that no other drive (in `driven`) drives the same coordinate."""
    element = f"drive {drive.name!r}"
    if isinstance(drive, PathDrive):
        if not _check_markers(mechanism, faults, element, markers_of(drive)):
            return
        if drive.marker.body == drive.reference.body:
            body = drive.marker.body
            faults.add(
                element, "the marker and the path's reference are on one body", body, "nothing can move"
            )
            return
        lowered = drive.lowered()
    else:
        if not _check_joints(mechanism, faults, element, joints_of(drive)):
            return
        try:
            lowered = drive.lowered(resolve(mechanism, drive.coordinate))
        except MechanismError as error:
            for fault in error.faults:
                faults.add(element, f"{fault.element}: {fault.rule}", fault.value, fault.advice)
            return
    for row in lowered.blocks[0].rows:
        coordinate = row.terms[0].coordinate
        other = driven.setdefault(coordinate, drive.name)
        if other != drive.name:
            rule = f"drive {other!r} drives the same coordinate already"
            faults.add(element, rule, coordinate.kind, "remove one of the two")
            return
