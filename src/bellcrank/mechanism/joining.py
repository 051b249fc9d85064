"""Joints at a point of the world, where bodies meet as described; the markers on them follow from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bellcrank.errors import FaultList, MechanismError
from bellcrank.mechanism.body import Body, Ground
from bellcrank.mechanism.checking import nearest
from bellcrank.mechanism.joint import Joint, JointKind
from bellcrank.mechanism.marker import GROUND, Marker
from bellcrank.mechanism.rotation import IDENTITY, orientation

if TYPE_CHECKING:
    from bellcrank.mechanism.mechanism import Mechanism


def join(
    mechanism: Mechanism,
    name: str,
    kind: JointKind,
    bodies: Any,
    at: Any,
    axes: dict[str, Any],
    options: dict[str, Any],
) -> Joint:
    """See Mechanism.join."""
    element, faults = f"joint {name!r}", FaultList()
    meeting = carriers(mechanism, element, bodies, faults)
    point, turn = Marker(GROUND), IDENTITY
    try:
        point = Marker(GROUND, at)
    except MechanismError as error:
        for fault in error.faults:
            faults.add(element, fault.rule.replace("position", "at", 1), fault.value, fault.advice)
    with faults.collect():
        turn = orientation(element, **axes)
    given = {key: value for key, value in options.items() if value not in (None, ())}
    if len(meeting) > 2 and given:
        advice = "join two of the bodies with it, and the others in another call"
        rule = f"{' and '.join(given)} cannot be given for several joints"
        faults.add(element, rule, [carrier.name for carrier in meeting], advice)
    others = meeting[1:]
    names = [name if number == 0 else f"{name} {other.name}" for number, other in enumerate(others)]
    for taken in (one for one in names if isinstance(name, str) and one in mechanism.joints):
        faults.add(f"joint {taken!r}", "this name is taken", None, "choose another")
    faults.raise_any()
    one, *markers = (c.world_marker(point.position, rotation=turn) for c in meeting)
    made: list[Joint] = []
    try:
        for each, marker in zip(names, markers, strict=True):
            made.append(mechanism.add_joint(each, kind, one, marker, **given))
    except MechanismError:
        for joint in made:
            mechanism.remove(joint, cascade=True)
        raise
    return made[0]


def carriers(mechanism: Mechanism, element: str, bodies: Any, faults: FaultList) -> list[Body | Ground]:
    """The bodies that meet, as they are now; faults are noted."""
    listed = bodies if isinstance(bodies, Sequence) and not isinstance(bodies, str) else [bodies]
    found: list[Body | Ground] = []
    for value in listed:
        name = value.name if isinstance(value, (Body, Ground)) else value
        if not isinstance(name, str):
            faults.add(element, "a body is needed here", value, "give a body, its name, or 'ground'")
        elif name != GROUND and name not in mechanism.bodies:
            advice = nearest(name, [GROUND, *mechanism.bodies])
            faults.add(element, "there is no body of this name", name, advice)
        elif any(name == carrier.name for carrier in found):
            faults.add(element, "the same body is named twice", name, "name it once")
        else:
            found.append(mechanism.ground if name == GROUND else mechanism.bodies[name])
    if len(listed) < 2:
        advice = "name them in a list; 'ground' is one of them"
        faults.add(element, "it joins two bodies or more", None, advice)
    return found
