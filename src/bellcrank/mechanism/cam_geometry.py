"""The geometry of a cam that moves a follower by a motion law: its outline, curvature, pressure angle.

All is said in the frame in which the cam turns, x and y across its shaft, and turned back by the angle of the
cam into its axes. The follower travels along y at x = offset; or it swings about a pivot at (distance, 0),
with the arm (-cos psi, sin psi) from there, psi = rest angle + lift. J(x, y) = (-y, x).

R. L. Norton, Cam Design and Manufacturing Handbook (2009), chapters 7 and 13.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bellcrank.mechanism.rotation_arrays import Floats


@dataclass(frozen=True)
class CamProfile:
    """A cam and its follower over the angle of the cam, each (n,) unless said otherwise; SI units.

    angle: rad. lift: of the follower, m or rad; slope and curve: its first and second derivatives by the
        angle.
    outline: (n, 2), the points of the cam that touch, in its axes. pitch: (n, 2), the path of the follower's
        point in these axes, the middle of its roller; None of a flat face.
    radius: of curvature of the outline, positive where it is convex. pitch_radius: of the path; None of a
        flat face.
    pressure_angle: between the force on the follower and the way on which the point of contact travels with
        it, rad; positive where the force leans towards -x.
    lever: what the force along that way is multiplied with to be the effort on the follower: 1, or the
        distance from the pivot, m.

    >>> law = bc.CamMotion([0, np.pi, 2 * np.pi], [0.0, 0.01, 0.0])
    >>> cam = bc.CamFollower(law, base_radius=0.03, follower="knife")
    >>> profile = cam.profile([0.0, np.pi / 2, np.pi])
    >>> profile.lift.round(6).tolist(), np.linalg.norm(profile.outline, axis=1).round(6).tolist()
    ([0.0, 0.005, 0.01], [0.03, 0.035, 0.04])
    """

    angle: Floats
    lift: Floats
    slope: Floats
    curve: Floats
    outline: Floats
    pitch: Floats | None
    radius: Floats
    pitch_radius: Floats | None
    pressure_angle: Floats
    lever: Floats


class _Touching(NamedTuple):
    """Where follower and cam touch, in the axes of the frame; the names are those of CamProfile.

    way: of the follower's point of contact; normal: of the cam there, outwards; both (n, 2), unit.
    """

    place: Floats
    radius: Floats
    way: Floats
    lever: Floats
    normal: Floats
    pitch: Floats | None = None


@dataclass(frozen=True)
class CamGeometry:
    """Sizes of a cam and its follower, m.

    roller: radius, 0 of a knife edge; None of a flat face. rest: y, or psi, where the lift is 0.
    arm, distance: of a follower that swings; None of one that travels.
    offset: of the line of travel from the shaft, or of a swinging face from its pivot.
    """

    roller: float | None
    rest: float
    offset: float
    arm: float | None
    distance: float | None

    def profile(self, angle: Floats, lift: Floats, slope: Floats, curve: Floats) -> CamProfile:
        """The cam at these angles, each (n,), from the lift and its derivatives there."""
        motion = (self.rest + lift, slope, curve)
        found = self._faced(*motion) if self.roller is None else self._pointed(*motion)
        way, normal, radius = found.way, found.normal, found.radius
        lean = np.arctan2(_cross(way, normal), _dot(way, normal))
        path = None if found.pitch is None else _turned(found.pitch, -angle)
        pitch_radius: Floats | None = None if self.roller is None else np.asarray(radius + self.roller)
        outline = _turned(found.place, -angle)
        return CamProfile(angle, lift, slope, curve, outline, path, radius, pitch_radius, lean, found.lever)

    def _pointed(self, value: Floats, slope: Floats, curve: Floats) -> _Touching:
        """A roller or a knife edge: the outline runs beside the path c(angle) of its middle on the cam.

        There c' - J c and c'' - 2 J c' - c are the derivatives of the path, in the axes of the frame.
        """
        zero, one = np.zeros_like(value), np.ones_like(value)
        if self.distance is None:
            middle, first = _pair(self.offset + zero, value), _pair(zero, slope)
            second, way, lever = _pair(zero, curve), _pair(zero, one), one
        else:
            assert self.arm is not None
            along, across = _pair(-np.cos(value), np.sin(value)), _pair(np.sin(value), np.cos(value))
            middle = self.arm * along + [self.distance, 0.0]
            first = self.arm * across * slope[:, None]
            second = self.arm * (across * curve[:, None] - along * slope[:, None] ** 2)
            way, lever = across, self.arm * one
        tangent, bend = first - _quarter(middle), second - 2.0 * _quarter(first) - middle
        speed = np.linalg.norm(tangent, axis=1)
        normal = _quarter(tangent) / speed[:, None]
        assert self.roller is not None
        with np.errstate(divide="ignore"):
            radius = -(speed**3) / _cross(tangent, bend) - self.roller
        return _Touching(middle - self.roller * normal, radius, way, lever, normal, middle)

    def _faced(self, value: Floats, slope: Floats, curve: Floats) -> _Touching:
        """A flat face: the outline is the envelope of its lines.

        A line at the distance h from the shaft, with the normal n at the angle nu in the cam's axes, touches
        at h n + h' J n, with the radius of curvature h + h'', where the derivatives are by nu.
        """
        zero, one = np.zeros_like(value), np.ones_like(value)
        if self.distance is None:
            normal, height, first, second = _pair(zero, one), value, -slope, curve
        else:
            turn = 1.0 + slope  # -nu' of nu = pi/2 - psi - angle
            normal = _pair(np.sin(value), np.cos(value))
            reach = self.distance * np.cos(value)
            height = self.distance * np.sin(value) - self.offset
            with np.errstate(all="ignore"):
                first = -reach * slope / turn
                second = -(self.distance * np.sin(value) * slope**2 / turn - reach * curve / turn**2) / turn
        touching = height[:, None] * normal + first[:, None] * _quarter(normal)
        if self.distance is None:
            way, lever = normal, one
        else:
            arm = touching - [self.distance, 0.0]
            lever = np.linalg.norm(arm, axis=1)
            way = -_quarter(arm) / lever[:, None]
        return _Touching(touching, height + second, way, lever, normal)


def _pair(x: Floats, y: Floats) -> Floats:
    return np.stack([x, y], axis=1)


def _quarter(v: Floats) -> Floats:
    """J v: a quarter turn."""
    return np.stack([-v[:, 1], v[:, 0]], axis=1)


def _cross(a: Floats, b: Floats) -> Floats:
    found: Floats = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    return found


def _dot(a: Floats, b: Floats) -> Floats:
    found: Floats = np.sum(a * b, axis=1)
    return found


def _turned(v: Floats, angle: Floats) -> Floats:
    c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
    found: Floats = c * v + s * _quarter(v)
    return found
