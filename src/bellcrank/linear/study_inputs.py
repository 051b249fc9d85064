"""The inputs of linearizations: inputs and parameters of a mechanism, efforts along coordinates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal

from bellcrank.compile.model import EFFORT_UNITS
from bellcrank.errors import Fault, FaultList, MechanismError
from bellcrank.mechanism.arguments import required_names
from bellcrank.mechanism.coordinate import unit_of
from bellcrank.mechanism.input import Input, inputs_of
from bellcrank.mechanism.joint_coordinate import JointCoordinate
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.motors import GearedMotor, JointMotor
from bellcrank.mechanism.naming import nearest

_EFFORT: Final = "linearized_effort_"


@dataclass(frozen=True)
class StudyInput:
    """An input of a linearization.

    name, unit: as it is listed. kind: whether it is an input of the mechanism, one of its parameters, or an
    effort that is added to what acts along a coordinate. key: its name among inputs or parameters.
    """

    name: str
    unit: str
    kind: Literal["input", "parameter", "effort"]
    key: str


def with_inputs(
    mechanism: Mechanism, names: Iterable[str] | None
) -> tuple[Mechanism, tuple[StudyInput, ...]]:
    """The mechanism, with an input added for each effort that has none yet, and what the names stand for.

    names: of inputs, parameters, motors, and joints or their coordinates ("slot.z"). None: all inputs of the
        mechanism that move no drive.

    Raises MechanismError listing all unknown names.
    """
    own = inputs_of(mechanism)
    if names is None:
        return mechanism, tuple(StudyInput(name, one.unit, "input", name) for name, one in own.items())
    listed = required_names("inputs", names)
    twin, found, faults = mechanism.copy(), list[StudyInput](), FaultList()
    for name in listed:
        with faults.collect():
            if listed.count(name) > 1:
                raise MechanismError(Fault(f"input {name!r}", "it is listed twice"))
            if name in own:
                found.append(StudyInput(name, own[name].unit, "input", name))
            elif name in mechanism.parameters:
                found.append(StudyInput(name, mechanism.parameters[name].unit, "parameter", name))
            else:
                found.append(_effort(twin, mechanism, name, len(found)))
    faults.raise_any()
    return twin, tuple(found)


def _effort(twin: Mechanism, mechanism: Mechanism, name: str, number: int) -> StudyInput:
    """An effort of a motor, or along a coordinate of a joint, which the twin is given."""
    force = mechanism.forces.get(name)
    ratio: Any = 1.0
    if force is not None and isinstance(force.kind, (JointMotor, GearedMotor)):
        (end,) = force.ends
        if not isinstance(end, JointCoordinate):
            raise MechanismError(Fault(f"input {name!r}", "this motor acts on no joint", None))
        joint, coordinate = mechanism.joints[end.joint], end.coordinate
        ratio = force.kind.ratio if isinstance(force.kind, GearedMotor) else 1.0
    else:
        joint, coordinate = _joint(mechanism, name)
    free = joint.kind.free
    if coordinate is None and len(free) != 1:
        rule = f"joint {joint.name!r} has {len(free)} free coordinates"
        which = ", ".join(f"{joint.name}.{one}" for one in free) or "a joint that moves"
        raise MechanismError(Fault(f"input {name!r}", rule, None, f"name one: {which}"))
    key = f"{_EFFORT}{number}"
    which = free[coordinate] if isinstance(coordinate, int) else coordinate or free[0]
    unit = (
        "N m" if isinstance(force and force.kind, GearedMotor) else EFFORT_UNITS[unit_of(joint.kind, which)]
    )
    twin.add_force(key, JointMotor(ratio * Input(key, 0.0, unit)), joint=joint.name, coordinate=which)
    return StudyInput(name, unit, "effort", key)


def _joint(mechanism: Mechanism, name: str) -> tuple[Any, str | None]:
    """The joint of this name, or of the coordinate of this name, and the coordinate."""
    if name in mechanism.joints:
        return mechanism.joints[name], None
    owner, _, coordinate = str(name).rpartition(".")
    if owner in mechanism.joints and coordinate in mechanism.joints[owner].kind.free:
        return mechanism.joints[owner], coordinate
    if name in mechanism.drives:
        advice = "release the drive, and give its joint as the input: the effort along it"
        raise MechanismError(
            Fault(f"input {name!r}", "a drive prescribes a motion and takes no effort", None, advice)
        )
    known = [*inputs_of(mechanism), *mechanism.parameters, *mechanism.forces, *mechanism.joints]
    known += [f"{joint.name}.{one}" for joint in mechanism.joints.values() for one in joint.kind.free]
    rule = "there is no input, parameter, motor or coordinate of this name"
    raise MechanismError(Fault(f"input {name!r}", rule, None, nearest(str(name), known)))
