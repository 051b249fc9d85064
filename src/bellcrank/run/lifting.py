"""When ropes leave wheels, and come back to them: events that runs find by themselves."""

from __future__ import annotations

from math import copysign
from typing import Any

from bellcrank import expression as ex
from bellcrank.expression import Vector
from bellcrank.mechanism.contents import with_numbers
from bellcrank.mechanism.formulas import EndPose
from bellcrank.mechanism.marker import GROUND, Marker
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.ropes import Way
from bellcrank.mechanism.rotation import rotate
from bellcrank.run.events import Bend


def lift_events(mechanism: Mechanism | None) -> list[Bend]:
    """Events "rope leaves wheel 2" and "rope touches wheel 2" of all ropes with such wheels."""
    if mechanism is None:
        return []
    elements: list[Any] = [*mechanism.constraints.values(), *mechanism.forces.values()]
    if not any(isinstance(one.kind, Way) and one.kind.lifting for one in elements):
        return []
    numbers = with_numbers(mechanism)
    found = []
    for element in (*numbers.constraints.values(), *numbers.forces.values()):
        for place in element.kind.lifting if isinstance(element.kind, Way) else ():
            function, names = _turn(element, place)
            for word, direction in (("leaves", -1), ("touches", 1)):
                found.append(
                    Bend(f"{element.name} {word} wheel {place + 1}", function, direction, names=names)
                )
    return found


def _turn(element: Any, place: int) -> tuple[Any, dict[str, str]]:
    """The sine of the angle around a wheel, 1 beyond a right angle; aliases of bodies in it."""
    ends, radii = element.markers[place - 1 : place + 2], element.kind.radii[place - 1 : place + 2]
    names, seen = {}, []
    for number, marker in enumerate(ends):
        if marker.body != GROUND:
            names[f"end{number}"] = f"body {marker.body!r}"
        seen.append(_placed(marker, EndPose(f"end{number}")))
    axis = seen[1][1]
    ways = [_straight(seen[k][0], seen[k + 1][0], axis, radii[k] - radii[k + 1]) for k in (0, 1)]
    sine = copysign(1.0, radii[1]) * ex.dot(ex.cross(*ways), axis)
    return ex.piecewise(ex.dot(*ways) > 0.0, sine, 1.0), names


def _placed(marker: Marker, pose: EndPose) -> tuple[Vector, Vector]:
    """Place and z axis of a marker in the world, by the pose of its body."""
    axis = rotate(marker.rotation, (0.0, 0.0, 1.0))
    if marker.body == GROUND:
        return Vector(*marker.position), Vector(*axis)
    turn = pose.rotation
    return pose.position + turn @ Vector(*marker.position), turn @ Vector(*axis)


def _straight(one: Vector, two: Vector, axis: Vector, rho: float) -> Vector:
    """The direction of the straight part between two wheels, by the difference of their radii."""
    between = two - one
    level = between - ex.dot(between, axis) * axis
    across = ex.norm(level)
    sine, forward = rho / across, level / across
    return ex.sqrt(1.0 - sine**2) * forward + sine * ex.cross(axis, forward)
