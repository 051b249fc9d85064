"""Particles: bodies with a mass and no inertia, which keep their orientation.

A particle has three degrees of freedom. It is compiled as a body whose turning is held by a joint to the
ground; no element may exert a moment on it, so that this joint carries none, and the moments of inertia that
stand in its place have no influence on anything. On a curve or a surface of the ground, given by formulas, it
is the joint itself that keeps it from turning: of the formulas, those of the position are taken.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any, Final

import numpy as np

from bellcrank.errors import FaultList
from bellcrank.expression.poses import Transform
from bellcrank.expression.reading import symbols_of
from bellcrank.mechanism.body import Body
from bellcrank.mechanism.coordinate import Coordinate
from bellcrank.mechanism.custom_joints import CustomJoint
from bellcrank.mechanism.formulas import CustomForce
from bellcrank.mechanism.friction import BodyDamping
from bellcrank.mechanism.joint import Joint
from bellcrank.mechanism.joint_kinds import Orientation
from bellcrank.mechanism.lowering import LoweredElement, lower, resolve_ends
from bellcrank.mechanism.marker import GROUND, Marker
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.rotation import conjugate, multiply

_POSITIONS: Final = (
    *("x", "y", "z", "distance", "distance_xy", "tangent_span", "azimuth"),
    *("curve_normal_1", "curve_normal_2", "curve_parameter", "curve_angle", "cam_slide", "cam_swing"),
)
"""Coordinates that depend on no more of the second body than the origin of its marker."""

_SQUARE = 0.01  # m², the moments in a particle's place by its mass: any number does
_AT_THE_POINT = 1e-12  # distance of a marker from the particle, relative to both, that counts as none


def with_held_particles(mechanism: Mechanism, numeric: Mechanism) -> Mechanism:
    """The mechanism with each particle held from turning; itself if it has none.

    numeric: the same mechanism with numbers, which say what is a particle. Raises MechanismError for elements
    that would turn a particle, and for one that turns at the start.
    """
    names = [body.name for body in numeric.bodies.values() if is_particle(body)]
    if not names:
        return mechanism
    _check(numeric, frozenset(names))
    copy = mechanism.copy()
    guided = [one for one in numeric.joints.values() if _is_guided(numeric, one, names)]
    for one in guided:
        joint = mechanism.joints[one.name]
        turn = multiply(conjugate(copy.bodies[joint.marker_2.body].rotation), joint.marker_1.rotation)
        end = Marker(joint.marker_2.body, joint.marker_2.position, turn)
        copy._joints[one.name] = replace(joint, kind=_position_alone(joint.kind), marker_2=end)  # noqa: SLF001
    for name in names:
        body = copy.bodies[name]
        moment = _SQUARE * body.mass
        stand_in = (moment, 0.0, 0.0), (0.0, moment, 0.0), (0.0, 0.0, moment)
        copy._bodies[name] = replace(body, inertia=stand_in)  # noqa: SLF001  (joints on it are kept)
        if any(one.marker_2.body == name for one in guided):
            continue
        upright = Marker(name, body.com, conjugate(body.rotation))
        copy.add_joint(_free_name(copy, name), Orientation(), Marker(GROUND), upright)
    return copy


def is_particle(body: Body) -> bool:
    """Whether a body has no inertia at all."""
    return not any(map(any, body.inertia))


def _is_guided(mechanism: Mechanism, joint: Joint, particles: Collection[str]) -> bool:
    """Whether a joint given by formulas guides a particle along a curve or a surface of the ground."""
    kind: Any = joint.kind
    if joint.marker_1.body != GROUND or joint.marker_2.body not in particles or kind.custom is None:
        return False
    if not hasattr(kind, "transform") or kind.rolling or not _at_the_point(mechanism, joint.marker_2):
        return False
    needed = set(kind.own_symbols)
    return needed <= set(symbols_of(*kind.transform.position))


def _position_alone(kind: Any) -> CustomJoint:
    """A kind given by formulas with the same position, which does not turn."""
    pose = Transform(None, kind.transform.position)
    return CustomJoint(kind.own_symbols, pose, kind.units_of_coordinates, kind.values)


def _free_name(mechanism: Mechanism, body: str) -> str:
    name = f"{body} (particle)"
    while name in mechanism.joints:
        name += "'"
    return name


def _check(mechanism: Mechanism, particles: Collection[str]) -> None:
    faults = FaultList()
    for name in particles:
        if any(mechanism.bodies[name].angular_velocity):
            turning = mechanism.bodies[name].angular_velocity
            advice = "leave angular_velocity out, or give the body an inertia"
            faults.add(f"body {name!r}", "a particle (inertia zero) does not turn", turning, advice)
    for element in lower(mechanism):
        turned = dict.fromkeys(_turned(mechanism, element, particles))
        for name in turned:
            advice = (
                "hold or load its point only: a marker at its centre of mass, Spherical, Distance, or a "
                "joint that locks x, y or z with the particle as the second body, PathJoint or CustomJoint "
                "with the ground as the first; or give the body an inertia"
            )
            rule = f"it would turn {name!r}, which is a particle (inertia zero)"
            faults.add(f"{element.category} {element.name!r}", rule, None, advice)
    faults.raise_any()


def _turned(mechanism: Mechanism, element: LoweredElement, particles: Collection[str]) -> Iterator[str]:
    """The particles on which an element exerts a moment."""

    def of(marker: Marker, point_alone: bool) -> Iterator[str]:
        if marker.body in particles and not (point_alone and _at_the_point(mechanism, marker)):
            yield marker.body

    def along(coordinate: Coordinate, pinned: bool = False) -> Iterator[str]:
        yield from of(coordinate.marker_1, pinned or coordinate.kind == "distance")
        yield from of(coordinate.marker_2, coordinate.kind in _POSITIONS)

    lowered = element.lowered
    for block in lowered.blocks:
        coordinates = [term.coordinate for row in block.rows for term in row.terms]
        # Where the origins are held together, the axes in which their offset is measured do not matter.
        plain = [
            row for row in block.rows if len(row.terms) == 1 and row.constant == 0.0 and row.function is None
        ]
        pinned = {row.terms[0].coordinate.kind for row in plain} >= {"x", "y", "z"}
        for coordinate in coordinates:
            yield from along(coordinate, pinned and coordinate.kind in ("x", "y", "z"))
    for law in lowered.laws:
        yield from along(law.coordinate)
    for wrench in lowered.wrenches:
        yield from of(wrench.marker, not any(wrench.components[:3]))
    if lowered.custom is not None:
        yield from _turned_by_formulas(mechanism, element, lowered.custom, of, along)


def _turned_by_formulas(
    mechanism: Mechanism, element: LoweredElement, kind: Any, of: Any, along: Any
) -> Iterator[str]:
    if element.category == "joint":
        joint = mechanism.joints[element.name]
        if _is_guided(mechanism, joint, [joint.marker_2.body]):
            return
        for marker in (joint.marker_1, joint.marker_2):
            yield from of(marker, False)
        return
    table = mechanism.constraints if element.category == "constraint" else mechanism.forces
    attached = table[element.name]
    if isinstance(attached.kind, BodyDamping):  # what does not turn meets no damping of turning
        for marker in attached.markers:
            yield from of(marker, True)
        return
    used = set(symbols_of(*kind.formulas))
    moment = isinstance(kind, CustomForce) and bool(kind.moment)
    ends = resolve_ends(mechanism, attached) if element.lowered.ends is None else element.lowered.ends
    for held, end in zip(kind.ends, ends, strict=True):
        if isinstance(end, Marker):
            turning = {*held.symbols[3:7], *held.symbols[10:]}
            yield from of(end, not moment and not used & turning)
        else:
            yield from along(end)


def _at_the_point(mechanism: Mechanism, marker: Marker) -> bool:
    com = np.asarray(mechanism.bodies[marker.body].com)
    position = np.asarray(marker.position)
    size = float(np.max(np.abs([com, position])))
    return float(np.max(np.abs(position - com))) <= _AT_THE_POINT * size
