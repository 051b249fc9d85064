"""Putting copies of a mechanism into another one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.errors import Fault, FaultList, MechanismError
from bellcrank.mechanism.body import Body, Ground
from bellcrank.mechanism.checking import Check, Quat, Vec3, check_name
from bellcrank.mechanism.constraint import Constraint
from bellcrank.mechanism.drive import Drive, PathDrive
from bellcrank.mechanism.force import Force
from bellcrank.mechanism.joint import Joint
from bellcrank.mechanism.marker import GROUND, Marker
from bellcrank.mechanism.naming import nearest
from bellcrank.mechanism.references import remapped
from bellcrank.mechanism.rotation import multiply, rotate, unit

if TYPE_CHECKING:
    from bellcrank.mechanism.mechanism import Mechanism

TABLES = ("_bodies", "_joints", "_constraints", "_forces", "_drives")


@dataclass(frozen=True)
class Placement:
    """The elements of one placed copy, by the names they have in the original."""

    mechanism: Mechanism
    prefix: str

    def body(self, name: str) -> Body:
        """The placed body."""
        return self.mechanism.bodies[f"{self.prefix}/{name}"]

    def marker(self, key: str) -> Marker:
        """The placed marker "body.name"."""
        return self.mechanism.markers[f"{self.prefix}/{key}"]

    def joint(self, name: str) -> Joint:
        """The placed joint."""
        return self.mechanism.joints[f"{self.prefix}/{name}"]

    def constraint(self, name: str) -> Constraint:
        """The placed constraint."""
        return self.mechanism.constraints[f"{self.prefix}/{name}"]

    def force(self, name: str) -> Force:
        """The placed force."""
        return self.mechanism.forces[f"{self.prefix}/{name}"]

    def drive(self, name: str) -> Drive | PathDrive:
        """The placed drive."""
        return self.mechanism.drives[f"{self.prefix}/{name}"]


@dataclass(frozen=True)
class _Pose:
    """Where a frame is in another one, and how it moves there."""

    position: Vec3
    rotation: Quat
    velocity: Vec3 = (0.0, 0.0, 0.0)
    angular_velocity: Vec3 = (0.0, 0.0, 0.0)

    def point(self, local: Vec3) -> Vec3:
        return _sum(self.position, rotate(self.rotation, local))

    def turned(self, local: Quat) -> Quat:
        return unit(multiply(self.rotation, local))

    def placed(self, body: Body, name: str) -> Body:
        """The body, given in this frame, in the outer one; it moves along with the frame."""
        position = self.point(body.position)
        arm = np.asarray(position) - np.asarray(self.position)
        carried = np.cross(self.angular_velocity, arm).tolist()
        return replace(
            body,
            name=name,
            position=position,
            rotation=self.turned(body.rotation),
            velocity=_sum(self.velocity, tuple(carried), rotate(self.rotation, body.velocity)),
            angular_velocity=_sum(self.angular_velocity, rotate(self.rotation, body.angular_velocity)),
        )


def _sum(*vectors: tuple[float, ...]) -> Vec3:
    x, y, z = (sum(components) for components in zip(*vectors, strict=True))
    return (x, y, z)


def place(
    mechanism: Mechanism,
    other: Mechanism,
    prefix: str,
    position: Any,
    rotation: Any,
    attach_to: Body | str | None,
) -> Placement:
    """See Mechanism.place."""
    element = f"placement {prefix!r}"
    check_name(element, prefix, forbidden=".")
    with Check(element) as check:
        local = _Pose(check.vector("position", position), check.quaternion("rotation", rotation))
    carrier = _carrier(mechanism, element, attach_to)
    _refuse_taken(mechanism, other, prefix)
    outer = _world_pose(carrier, local)
    name = carrier.name if isinstance(carrier, Body) else GROUND

    def marker(inner: Marker) -> Marker:
        if inner.body == GROUND:
            return Marker(name, local.point(inner.position), local.turned(inner.rotation))
        return replace(inner, body=f"{prefix}/{inner.body}")

    def joint(inner: str) -> str:
        return f"{prefix}/{inner}"

    source = {
        table: list(getattr(other, table).values()) for table in TABLES
    }  # it may be this very mechanism
    known, shapes = list(other.markers.values()), other.ground.shapes
    for body in source.pop("_bodies"):
        placed = outer.placed(body, f"{prefix}/{body.name}")
        mechanism._bodies[placed.name] = placed  # noqa: SLF001
    for inner in known:
        if inner.body != GROUND:
            mechanism.add_marker(marker(inner))
    for table, elements in source.items():
        for inner in elements:
            copy = remapped(inner, f"{prefix}/{inner.name}", marker, joint)
            getattr(mechanism, table)[copy.name] = copy
    if shapes:
        moved = tuple(shape.moved(local.position, local.rotation) for shape in shapes)
        mechanism.replace(carrier, shapes=(*carrier.shapes, *moved))
    return Placement(mechanism, prefix)


def _carrier(mechanism: Mechanism, element: str, attach_to: Body | str | None) -> Body | Ground:
    if attach_to is None or isinstance(attach_to, Ground) or attach_to == GROUND:
        return mechanism.ground
    name = attach_to.name if isinstance(attach_to, Body) else attach_to
    if name not in mechanism.bodies:
        raise MechanismError(
            Fault(element, "there is no such body to attach to", name, nearest(name, mechanism.bodies))
        )
    return mechanism.bodies[name]


def _world_pose(carrier: Body | Ground, local: _Pose) -> _Pose:
    """The pose of the placed frame in the world, moving with its carrier."""
    if isinstance(carrier, Ground):
        return local
    base = _Pose(carrier.position, carrier.rotation, carrier.velocity, carrier.angular_velocity)
    position = base.point(local.position)
    arm = np.asarray(position) - np.asarray(base.position)
    velocity = _sum(base.velocity, tuple(np.cross(base.angular_velocity, arm).tolist()))
    return _Pose(position, base.turned(local.rotation), velocity, base.angular_velocity)


def _refuse_taken(mechanism: Mechanism, other: Mechanism, prefix: str) -> None:
    faults = FaultList()
    for table in TABLES:
        for name in getattr(other, table):
            if f"{prefix}/{name}" in getattr(mechanism, table):
                faults.add(
                    f"placement {prefix!r}", "this name is taken", f"{prefix}/{name}", "choose another prefix"
                )
    faults.raise_any()
