"""Placing copies of a mechanism in another one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.errors import FaultList, MechanismError
from bellcrank.expression.derivatives import substitute
from bellcrank.mechanism.attachment import Constraint, Force
from bellcrank.mechanism.beam_parts import arranged, changed_fields
from bellcrank.mechanism.beams import Beam
from bellcrank.mechanism.body import Body, Ground
from bellcrank.mechanism.changes import Change
from bellcrank.mechanism.checking import Check, Quat, Vec3, check_name, nearest, required
from bellcrank.mechanism.contents import ELEMENTS, required_mechanism
from bellcrank.mechanism.drive import Drive, PathDrive
from bellcrank.mechanism.joint import Joint
from bellcrank.mechanism.marker import GROUND, Marker
from bellcrank.mechanism.parameters import (
    Input,
    changed_parameters,
    inputs_of,
    is_expression,
    kept,
    mapped,
    present,
    quiet,
    with_other_inputs,
)
from bellcrank.mechanism.references import remapped
from bellcrank.mechanism.rotation import multiply, rotate, unit
from bellcrank.mechanism.sensors import Sensor

if TYPE_CHECKING:
    from bellcrank.mechanism.mechanism import Mechanism


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

    def beam(self, name: str) -> Beam:
        """The placed beam."""
        return self.mechanism.beams[f"{self.prefix}/{name}"]

    def constraint(self, name: str) -> Constraint:
        """The placed constraint."""
        return self.mechanism.constraints[f"{self.prefix}/{name}"]

    def force(self, name: str) -> Force:
        """The placed force."""
        return self.mechanism.forces[f"{self.prefix}/{name}"]

    def drive(self, name: str) -> Drive | PathDrive:
        """The placed drive."""
        return self.mechanism.drives[f"{self.prefix}/{name}"]

    def sensor(self, name: str) -> Sensor:
        """The placed sensor."""
        return self.mechanism.sensors[f"{self.prefix}/{name}"]

    def change(self, name: str) -> Change:
        """The placed change."""
        return self.mechanism.changes[f"{self.prefix}/{name}"]


@dataclass(frozen=True)
class _Pose:
    """The pose and velocity of a frame in another one."""

    position: Vec3
    rotation: Quat
    velocity: Vec3 = (0.0, 0.0, 0.0)
    angular_velocity: Vec3 = (0.0, 0.0, 0.0)

    def point(self, local: Vec3) -> Vec3:
        return _sum(self.position, rotate(self.rotation, local))

    def turned(self, local: Quat) -> Quat:
        return unit(multiply(self.rotation, local))

    def placed(self, body: Body, name: str) -> Body:
        """The body, given in this frame, transformed to the outer one; it moves along with the frame."""
        position = self.point(body.position)
        carried: list[Any] = [0.0, 0.0, 0.0]
        if self.angular_velocity != (0.0, 0.0, 0.0):
            with quiet():
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

    def carried(self, beam: Beam, name: str) -> Beam:
        """The beam, given in this frame, transformed to the outer one, its section turned along."""
        up: Any = rotate(beam.frames()[0][1], (0.0, 0.0, 1.0)) if beam.up is None else beam.up
        places: dict[str, Any] = {"start": self.point(beam.start), "end": self.point(beam.end)}
        places["points"] = tuple(self.point(point) for point in beam.points)
        return replace(beam, name=name, up=rotate(self.rotation, up), **places)


def _sum(*vectors: tuple[float, ...]) -> Vec3:
    x, y, z = (sum(components) for components in zip(*vectors, strict=True))
    return (x, y, z)


def place(
    mechanism: Mechanism,
    other: Mechanism,
    prefix: str,
    position: Any,
    rotation: Any,
    attach_to: Body | Ground | str | None,
    parameters: Mapping[str, Any],
) -> Placement:
    """See Mechanism.place."""
    element = f"placement {prefix!r}"
    required_mechanism(element, other)
    required(element, parameters, Mapping)
    check_name(element, prefix, forbidden=".")
    with Check(element) as check:
        local = _Pose(
            kept(position, check.vector("position", present(position), "m")),
            kept(rotation, check.quaternion("rotation", present(rotation))),
        )
    carrier = _carrier(mechanism, element, attach_to)
    _refuse_taken(mechanism, other, prefix)
    adapted = _adapted(mechanism, other, prefix, parameters)
    outer = _world_pose(carrier, local)
    name = carrier.name if isinstance(carrier, Body) else GROUND

    def marker(inner: Marker) -> Marker:
        if inner.body == GROUND:
            return Marker(name, local.point(inner.position), local.turned(inner.rotation))
        return replace(inner, body=f"{prefix}/{inner.body}")

    def named(_noun: str, inner: str) -> str:
        return f"{prefix}/{inner}"

    source = {  # it may be this very mechanism
        table: [adapted(element) for element in getattr(other, table).values()] for table in ELEMENTS
    }
    known, shapes = [adapted(known) for known in other.markers.values()], adapted(other.ground.shapes)
    bodies = {body.name: body for body in source.pop("bodies")}
    for body in bodies.values():
        placed = outer.placed(body, f"{prefix}/{body.name}")
        mechanism._bodies[placed.name] = placed  # noqa: SLF001
    for inner in known:
        if inner.body != GROUND:
            mechanism.add_marker(marker(inner))
    beams = source.pop("beams")
    for table, elements in source.items():
        for inner in elements:
            copy = remapped(inner, f"{prefix}/{inner.name}", marker, named)
            getattr(mechanism, f"_{table}")[copy.name] = copy
    _beams_placed(mechanism, outer, prefix, beams, bodies)
    if shapes:
        moved = tuple(shape.moved(local.position, local.rotation) for shape in shapes)
        mechanism.replace(carrier, shapes=(*carrier.shapes, *moved))
    mechanism.left_out += other.left_out
    mechanism.collisions += tuple(
        known.placed(lambda body: name if body == GROUND else f"{prefix}/{body}")
        for known in other.collisions
    )
    return Placement(mechanism, prefix)


def _beams_placed(
    mechanism: Mechanism, outer: _Pose, prefix: str, beams: list[Beam], bodies: Mapping[str, Body]
) -> None:
    """Place beams, whose parts are placed already, and make these exactly theirs. bodies: as they were."""
    for beam in beams:
        there = outer.carried(beam, f"{prefix}/{beam.name}")
        mechanism._beams[there.name] = there  # noqa: SLF001
        for before, after in zip(beam.bodies(), there.bodies(), strict=True):
            placed, edits = mechanism.bodies[after.name], changed_fields(before, bodies[before.name])
            moved = {"velocity", "angular_velocity"} | (edits.keys() & {"position", "rotation"})
            kept = edits | {name: getattr(placed, name) for name in moved}
            mechanism._bodies[after.name] = replace(after, **kept)  # noqa: SLF001
        mechanism._forces.update({force.name: force for force in there.forces()})  # noqa: SLF001
    arranged(mechanism)


def _adapted(
    mechanism: Mechanism, other: Mechanism, prefix: str, values: Mapping[str, Any]
) -> Callable[[Any], Any]:
    """Elements of the other mechanism, rewritten with parameters of this one.

    Each of its parameters enters as prefix_name; those for which an expression is given are replaced by it.
    Its inputs are called prefix_name too.
    """
    inputs = inputs_of(other)
    if not other.parameters and not inputs:
        changed_parameters({}, values)
        return lambda element: element
    replaced = {name: value for name, value in values.items() if is_expression(value)}
    changed = {**other.parameters, **changed_parameters(other.parameters, _without(values, replaced))}
    changed_parameters(other.parameters, {name: present(value) for name, value in replaced.items()})
    stem = re.sub(r"\W", "_", prefix, flags=re.ASCII)
    images: dict[Any, Any] = {
        one: Input(f"{stem}_{name}", one.value, one.unit) for name, one in inputs.items()
    }
    for name, parameter in changed.items():
        old = other.parameters[name].symbol
        if name in replaced:
            images[old] = replaced[name]
        else:
            own = {f.name: getattr(parameter, f.name) for f in fields(parameter) if f.name != "symbol"}
            images[old] = mechanism.add_parameter(**{**own, "name": f"{stem}_{name}"})

    def image(expression: Any) -> Any:
        return substitute(expression, images)

    return lambda element: with_other_inputs(
        mapped(element, image, lambda given: given.with_formulas(image)), image
    )


def _without(values: Mapping[str, Any], names: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}


def _carrier(mechanism: Mechanism, element: str, attach_to: Body | Ground | str | None) -> Body | Ground:
    name = attach_to.name if isinstance(attach_to, Body) else attach_to
    if name is None or isinstance(name, Ground) or (isinstance(name, str) and name == GROUND):
        return mechanism.ground
    if not isinstance(name, str) or name not in mechanism.bodies:
        raise MechanismError.of(
            element, "there is no such body to attach to", name, nearest(name, mechanism.bodies)
        )
    return mechanism.bodies[name]


def _world_pose(carrier: Body | Ground, local: _Pose) -> _Pose:
    """The pose of the placed frame in the world, moving with its carrier."""
    if isinstance(carrier, Ground):
        return local
    base = _Pose(carrier.position, carrier.rotation, carrier.velocity, carrier.angular_velocity)
    position = base.point(local.position)
    with quiet():
        arm = np.asarray(position) - np.asarray(base.position)
        velocity = _sum(base.velocity, tuple(np.cross(base.angular_velocity, arm).tolist()))
    return _Pose(position, base.turned(local.rotation), velocity, base.angular_velocity)


def _refuse_taken(mechanism: Mechanism, other: Mechanism, prefix: str) -> None:
    faults = FaultList()
    for table in ELEMENTS:
        for name in getattr(other, table):
            if f"{prefix}/{name}" in getattr(mechanism, table):
                faults.add(
                    f"placement {prefix!r}", "this name is taken", f"{prefix}/{name}", "choose another prefix"
                )
    faults.raise_any()
