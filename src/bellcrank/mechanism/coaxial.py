"""Wheels on one axis, which have no line of centres: their bearings measure by how much they turn.

A gear between two bodies measures how far each wheel has turned from the direction of the other's centre.
Where joints let both wheels turn about one and the same axis of a third body there is no such direction,
and the angles of these joints say the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from bellcrank.mechanism.checking import Vec3
from bellcrank.mechanism.coordinate import Coordinate
from bellcrank.mechanism.joint import Joint
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.parametric import holds_expressions
from bellcrank.mechanism.rotation import multiply, rotate

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
