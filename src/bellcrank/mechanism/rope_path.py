"""Where ropes and belts run: tangents, angles of wrap and lengths, in numbers and in formulas."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import atan2, dist, hypot, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank import expression as ex
from bellcrank.mechanism.coordinate import Coordinate
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.parameters import is_expression
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
    radii: Sequence[float], closed: bool, position: Floats, axis: Floats, points: int = 2
) -> RopePath:
    """The way over ends at positions (..., ends, 3) with z axes (..., ends, 3).

    radii: signed. points: of each arc.
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
    wraps, arcs = _around(signed, closed, position, axis, way, points)
    length = np.linalg.norm(straight[..., 1, :] - straight[..., 0, :], axis=-1).sum(axis=-1)
    return RopePath(straight, wraps, length + wraps @ np.abs(signed), across - np.abs(rho), arcs)


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
