"""Where ropes and belts run: tangents, angles of wrap and lengths, in numbers and in formulas."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import atan2, copysign, dist, hypot, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank import expression as ex
from bellcrank.mechanism.coordinate import Coordinate
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.parameters import is_expression, present
from bellcrank.mechanism.rotation import conjugate, rotate

Floats = NDArray[np.float64]
_TURN = 2.0 * pi


def relative_pose(coordinate: Coordinate) -> float:
    """A distance or an azimuth between markers of one body."""
    one, two = coordinate.marker_1, coordinate.marker_2
    x, y, _ = rotate(conjugate(one.rotation), tuple(np.subtract(two.position, one.position).tolist()))
    known = {"distance": dist(one.position, two.position), "distance_xy": hypot(x, y), "azimuth": atan2(y, x)}
    return known[coordinate.kind]


Ends = tuple[Marker, Marker]
Radii = tuple[Any, Any]
Value = Callable[[Coordinate], Any]


def straight_of(radii: Radii, value: Value, ends: Ends) -> Any:
    """The length of the straight part between two ends, as a formula of coordinates by their values."""
    rho = radii[0] - radii[1]
    return ex.sqrt(value(Coordinate("distance", *ends)) ** 2 - rho**2)


def leaves_at(radii: Radii, value: Value, ends: Ends) -> Any:
    """The direction of the straight part that leaves the first end, a wheel: an angle in its xy plane."""
    return value(Coordinate("azimuth", *ends)) + _beside(radii, value, ends)


def arrives_at(radii: Radii, value: Value, ends: Ends) -> Any:
    """The direction of the straight part that arrives at the second end, a wheel, in its xy plane."""
    return value(Coordinate("azimuth", ends[1], ends[0])) + pi + _beside(radii, value, (ends[1], ends[0]))


def now(value: Value) -> Value:
    """The values of coordinates, or these themselves where they cannot change."""

    def of(coordinate: Coordinate) -> Any:
        fixed = coordinate.marker_1.body == coordinate.marker_2.body
        return ex.Expression(relative_pose(coordinate)) if fixed else value(coordinate)

    return of


def within_a_turn(angle: Any) -> Any:
    """An angle between 0 and a whole turn."""
    return pi + ex.atan2(-ex.sin(angle), -ex.cos(angle))


def wrapped(radii: Sequence[Any], ends: Sequence[Marker], value: Value, start: Value, turns: int = 0) -> Any:
    """The angle by which a rope goes around the wheel in the middle of three ends, which may be negative.

    turns: whole ones at the start.
    """
    side = copysign(1.0, present(radii[1]))
    found = [
        side
        * (
            leaves_at((radii[1], radii[2]), of, (ends[1], ends[2]))
            - arrives_at((radii[0], radii[1]), of, (ends[0], ends[1]))
        )
        for of in (now(value), start)
    ]
    return within_a_turn(found[1]) + 2.0 * pi * turns + found[0] - found[1]


def detour(radii: Sequence[Any], ends: Sequence[Marker], value: Value, wrap: Any) -> Any:
    """By how much the way over the wheel in the middle of three ends is longer than that past it.

    It is zero with its first derivatives where the rope just touches the wheel. The arcs of wheels at both
    sides change by the angles between both ways, each seen from the wheel.
    """
    at = now(value)
    over = ((radii[0], radii[1]), (ends[0], ends[1])), ((radii[1], radii[2]), (ends[1], ends[2]))
    past = (radii[0], radii[2]), (ends[0], ends[2])
    longer = straight_of(over[0][0], at, over[0][1]) + straight_of(over[1][0], at, over[1][1])
    longer = longer - straight_of(past[0], at, past[1]) + copysign(1.0, present(radii[1])) * radii[1] * wrap
    if is_expression(radii[0]) or radii[0] != 0.0:
        turned = leaves_at(past[0], at, past[1]) - leaves_at(over[0][0], at, over[0][1])
        longer = longer - radii[0] * ex.atan2(ex.sin(turned), ex.cos(turned))
    if is_expression(radii[2]) or radii[2] != 0.0:
        turned = arrives_at(over[1][0], at, over[1][1]) - arrives_at(past[0], at, past[1])
        longer = longer - radii[2] * ex.atan2(ex.sin(turned), ex.cos(turned))
    return longer


def _beside(radii: Radii, value: Value, ends: Ends) -> Any:
    """The angle between the tangent and the line of centres, seen in the plane of the first of the ends."""
    rho = radii[0] - radii[1]
    if not is_expression(rho) and rho == 0.0:
        return ex.Expression(0.0)
    return ex.atan2(rho, ex.sqrt(value(Coordinate("distance_xy", *ends)) ** 2 - rho**2))


@dataclass(frozen=True, eq=False)
class RopePath:
    """The way of a rope or belt.

    straight: (..., spans, 2, 3), the ends of its straight parts, m. wraps: (..., ends), the angles by which
    it goes around wheels, rad, 0 to 2 pi; 0 at points and drums. length: (...), of what is not on drums, m.
    gaps: (..., spans), how far neighbouring wheels are from being one within the other, m: not negative.
    arcs: (..., ends, points, 3), from where it arrives to where it leaves, and a turn around drums.
    """

    straight: Floats
    wraps: Floats
    length: Floats
    gaps: Floats
    arcs: Floats


def rope_path(
    radii: Sequence[float],
    closed: bool,
    position: Floats,
    axis: Floats,
    points: int = 2,
    lifting: Sequence[int] = (),
) -> RopePath:
    """The way over ends at positions (..., ends, 3) with z axes (..., ends, 3).

    radii: signed. points: of each arc. lifting: places of wheels that it leaves, three quarters of a turn
    around them at most.
    """
    signed = np.asarray(radii, dtype=float)
    count = len(signed)
    first = np.arange(count if closed else count - 1)
    second = (first + 1) % count
    plane = np.where((signed[first] != 0.0)[:, None], axis[..., first, :], axis[..., second, :])
    flat = (signed[first] == 0.0) & (signed[second] == 0.0)
    between = position[..., second, :] - position[..., first, :]
    height = np.where(flat, 0.0, np.sum(between * plane, axis=-1))
    level = between - height[..., None] * plane
    across = np.linalg.norm(level, axis=-1)
    rho = signed[first] - signed[second]
    sine = np.clip(rho / np.where(across > 0.0, across, 1.0), -1.0, 1.0)
    forward = level / np.where(across > 0.0, across, 1.0)[..., None]
    way = np.sqrt(1.0 - sine**2)[..., None] * forward + sine[..., None] * np.cross(plane, forward)
    beside = np.cross(way, plane)
    ends = (
        position[..., first, :] + signed[first, None] * beside,
        position[..., second, :] + signed[second, None] * beside,
    )
    straight = np.stack(ends, axis=-2)
    for place in lifting:
        _lift(place, signed, position, axis, way, straight)
    wraps, arcs = _around(signed, closed, position, axis, way, points)
    for place in lifting:
        off = (straight[..., place, 0, :] == straight[..., place - 1, 1, :]).all(axis=-1)
        arcs[..., place, :, :] = np.where(
            off[..., None, None], straight[..., place, :1, :], arcs[..., place, :, :]
        )
    length = np.linalg.norm(straight[..., 1, :] - straight[..., 0, :], axis=-1).sum(axis=-1)
    return RopePath(straight, wraps, length + wraps @ np.abs(signed), across - np.abs(rho), arcs)


def _lift(place: int, signed: Floats, position: Floats, axis: Floats, way: Floats, straight: Floats) -> None:
    """Lead the way past a wheel where its arc there would be negative: straight between its neighbours."""
    z, side = axis[..., place, :], np.sign(signed[place])
    begin, end = way[..., place - 1, :], way[..., place, :]
    turn = side * np.arctan2(np.sum(np.cross(begin, end) * z, axis=-1), np.sum(begin * end, axis=-1))
    off = (np.mod(turn + 0.5 * pi, _TURN) < 0.5 * pi)[..., None]
    outer = [place - 1, place + 1]
    beside = rope_path(
        signed[outer].tolist(), False, position[..., outer, :], np.stack([z, z], axis=-2)
    ).straight[..., 0, :, :]
    along = beside[..., 1, :] - beside[..., 0, :]
    along = along / np.maximum(np.linalg.norm(along, axis=-1, keepdims=True), 1e-300)
    middle = 0.5 * (beside[..., 0, :] + beside[..., 1, :])
    for span, ends in ((place - 1, (beside[..., 0, :], middle)), (place, (middle, beside[..., 1, :]))):
        way[..., span, :] = np.where(off, along, way[..., span, :])
        for number, point in enumerate(ends):
            straight[..., span, number, :] = np.where(off, point, straight[..., span, number, :])


def _around(
    signed: Floats, closed: bool, position: Floats, axis: Floats, way: Floats, points: int
) -> tuple[Floats, Floats]:
    count = len(signed)
    share = np.linspace(0.0, 1.0, points)
    wraps = np.zeros(position.shape[:-1])
    arcs = np.repeat(position[..., None, :], points, axis=-2)
    for k in np.flatnonzero(signed):
        comes, goes = (k - 1 if k or closed else None), (k if k < count - 1 or closed else None)
        z, side = axis[..., k, :], np.sign(signed[k])
        if comes is None or goes is None:  # a drum
            begin = way[..., k if comes is None else count - 2, :]
            turn = np.full(position.shape[:-2], _TURN)
            begin_at = -1.0 if comes is None else 0.0
        else:
            begin, end = way[..., comes, :], way[..., goes, :]
            cosine, sine = np.sum(begin * end, axis=-1), np.sum(np.cross(begin, end) * z, axis=-1)
            turn = np.mod(np.arctan2(side * sine, cosine) + 1e-9, _TURN) - 1e-9
            turn, begin_at = np.maximum(turn, 0.0), 0.0
            wraps[..., k] = turn
        angle = (side * turn[..., None] * (share + begin_at))[..., None]
        out = np.cross(begin, z)[..., None, :]
        turned = np.cos(angle) * out + np.sin(angle) * np.cross(z[..., None, :], out)
        arcs[..., k, :, :] = position[..., k, None, :] + signed[k] * turned
    return wraps, arcs
