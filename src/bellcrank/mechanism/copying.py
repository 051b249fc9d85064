"""Copies of bodies within their mechanism, with all that is between them and what holds them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bellcrank.errors import MechanismError
from bellcrank.mechanism.beam_parts import arranged
from bellcrank.mechanism.body import Body
from bellcrank.mechanism.checking import Check, Quat, Vec3, nearest
from bellcrank.mechanism.contents import ELEMENTS
from bellcrank.mechanism.marker import GROUND, Marker
from bellcrank.mechanism.mesh import Mesh
from bellcrank.mechanism.references import joints_of, markers_of, remapped
from bellcrank.mechanism.rotation import about, from_matrix, matrix
from bellcrank.mechanism.shape import Prism, Shape
from bellcrank.mechanism.terrain import Terrain

if TYPE_CHECKING:
    from bellcrank.mechanism.mechanism import Mechanism

_MOST: Final = 1000  # copies at once
_FLIP: Final = np.diag([1.0, 1.0, -1.0])  # what a reflection makes of the frames of bodies


@dataclass(frozen=True)
class _Motion:
    """Points r of the world go to  shift + linear r;  linear turns, and reflects if its determinant is -1."""

    linear: np.ndarray
    shift: np.ndarray

    @property
    def reflects(self) -> bool:
        """Whether left becomes right."""
        return bool(np.linalg.det(self.linear) < 0.0)

    def point(self, given: Any) -> Vec3:
        """Where a point goes."""
        x, y, z = (self.shift + self.linear @ np.asarray(given, dtype=float)).tolist()
        return (x, y, z)

    def vector(self, given: Any) -> Vec3:
        """Where a direction goes."""
        x, y, z = (self.linear @ np.asarray(given, dtype=float)).tolist()
        return (x, y, z)

    def turned(self, given: Quat) -> Quat:
        """The axes of a frame, of which z is reversed in a reflection, so that they stay right-handed."""
        after = self.linear @ matrix(given)
        return from_matrix(after @ _FLIP if self.reflects else after)


def copy_bodies(mechanism: Mechanism, names: Sequence[str], offset: Any = (0.0, 0.0, 0.0)) -> tuple[str, ...]:
    """Copy bodies and what is between them to another place; the names of the new bodies.

    offset: (3,), m, world axes. Joints, constraints, forces, drives and sensors are copied if all that they
    refer to is copied or is the ground, whose points go along.
    """
    with Check("copy") as check:
        shift = check.array("offset", offset, (3,), "m")
    return _copied(mechanism, names, _Motion(np.eye(3), shift))


def mirror_bodies(
    mechanism: Mechanism, names: Sequence[str], normal: Any, point: Any = (0.0, 0.0, 0.0)
) -> tuple[str, ...]:
    """Copy bodies as `copy_bodies` does, to the other side of a plane through a point (3,), m.

    normal: of the plane, world axes. Raises MechanismError for shapes whose mirror image is another shape.
    """
    with Check("mirror") as check:
        way = np.asarray(check.axis("normal", normal))
        place = check.array("point", point, (3,), "m")
    linear = np.eye(3) - 2.0 * np.outer(way, way)
    return _copied(mechanism, names, _Motion(linear, place - linear @ place))


def array_bodies(
    mechanism: Mechanism, names: Sequence[str], count: Any, offset: Any = (0.0, 0.0, 0.0), angle: Any = 0.0,
    axis: Any = (0.0, 0.0, 1.0), point: Any = (0.0, 0.0, 0.0),
) -> tuple[str, ...]:  # fmt: skip
    """Copy bodies as `copy_bodies` does until there are `count` of each, in a row, a ring or a screw.

    Each is shifted by offset (3,), m, and turned by angle, rad, about an axis through a point (3,), m, from
    the one before.
    """
    with Check("array") as check:
        shift, place = check.array("offset", offset, (3,), "m"), check.array("point", point, (3,), "m")
        angle, way = check.number("angle", angle, "rad"), check.axis("axis", axis)
        if isinstance(count, bool) or not isinstance(count, int) or not 2 <= count <= _MOST:
            check.fault(f"count must be a whole number from 2 to {_MOST}", count)
    found = tuple[str, ...]()
    for k in range(1, count):
        linear = matrix(about(way, k * angle))
        found += _copied(mechanism, names, _Motion(linear, place - linear @ place + k * shift))
    return found


def _copied(mechanism: Mechanism, names: Sequence[str], motion: _Motion) -> tuple[str, ...]:
    if not names:
        raise MechanismError.of("copy", "no body is named", None, "name one or more bodies")
    for name in names:
        if name not in mechanism.bodies:
            advice = nearest(name, mechanism.bodies)
            raise MechanismError.of(f"body {name!r}", "there is no body of this name", None, advice)
    bodies: dict[str, str] = {}
    for name in dict.fromkeys(names):
        bodies[name] = fresh(name, {*mechanism.bodies, *bodies.values()})

    def marker(given: Marker) -> Marker:
        if given.body == GROUND:
            return Marker(GROUND, motion.point(given.position), motion.turned(given.rotation))
        found = replace(given, body=bodies[given.body])
        if not motion.reflects:
            return found
        x, y, z = given.position
        local = from_matrix(_FLIP @ matrix(given.rotation) @ _FLIP)
        return replace(found, position=(x, y, -z), rotation=local)

    for name, new in bodies.items():
        mechanism._bodies[new] = _body(mechanism.bodies[name], new, motion)  # noqa: SLF001
    for known in list(mechanism.markers.values()):
        if known.body in bodies:
            mechanism.add_marker(marker(known))
    _elements_copied(mechanism, bodies, marker)
    arranged(mechanism)
    return tuple(bodies.values())


def _elements_copied(
    mechanism: Mechanism, bodies: Mapping[str, str], marker: Callable[[Marker], Marker]
) -> None:
    """Copy the elements of which everything that they refer to is copied or is the ground."""
    joints: dict[str, str] = {}
    for table, noun in ELEMENTS.items():
        if noun in ("body", "beam", "change"):  # of beams, nodes and segments are copied
            continue
        stored = getattr(mechanism, f"_{table}")
        for element in list(stored.values()):
            held = {one.body for one in markers_of(element)}
            driven = set(joints_of(element))
            inside = (
                bool(held & set(bodies) or driven) and held <= {*bodies, GROUND} and driven <= set(joints)
            )
            if inside:
                name = fresh(element.name, stored)
                stored[name] = remapped(element, name, marker, lambda _noun, inner: joints.get(inner, inner))
                if noun == "joint":
                    joints[element.name] = name


def fresh(name: str, taken: Any) -> str:
    """A name like another one that is not taken: with the next number at its end."""
    stem = name.rstrip("0123456789")
    start = int(name[len(stem) :] or 1) + 1
    return next(f"{stem}{k}" for k in range(start, start + len(taken) + 1) if f"{stem}{k}" not in taken)


def _body(body: Body, name: str, motion: _Motion) -> Body:
    turning: Any = motion.vector(body.angular_velocity)
    changes: dict[str, Any] = {
        "name": name,
        "position": motion.point(body.position),
        "rotation": motion.turned(body.rotation),
        "velocity": motion.vector(body.velocity),
        "angular_velocity": tuple(-w + 0.0 for w in turning) if motion.reflects else turning,
    }
    if motion.reflects:
        changes["shapes"] = tuple(_reflected(shape) for shape in body.shapes)
        if body.mass_known:
            x, y, z = body.com
            changes["com"] = (x, y, -z + 0.0)
            changes["inertia"] = (_FLIP @ np.asarray(body.inertia, dtype=float) @ _FLIP).tolist()
    return replace(body, **changes)


def _reflected(shape: Shape) -> Shape:
    """The mirror image of a shape of a body whose z axis is reversed; its own is reversed along x or z."""
    if isinstance(shape, (Mesh, Terrain)):
        kind = type(shape).__name__
        advice = "describe the other side by a shape of its own"
        raise MechanismError.of(kind, "its mirror image is another shape", None, advice)
    x, y, z = shape.position
    own = _FLIP if isinstance(shape, Prism) else np.diag([-1.0, 1.0, 1.0])  # both leave the shape as it is
    return replace(
        shape, position=(x, y, -z + 0.0), rotation=from_matrix(_FLIP @ matrix(shape.rotation) @ own)
    )
