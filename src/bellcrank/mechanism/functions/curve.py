"""Space curves through points: guides of point-on-curve joints and paths of drives."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.fields import Description, array, described, flag
from bellcrank.mechanism.functions.pieces import Pieces
from bellcrank.mechanism.functions.spline import hermite, spline_slopes
from bellcrank.mechanism.given import PointsField

_SAMPLES = 8  # tangents looked at in each piece when the reference direction is chosen
_SPIRAL = 200  # directions tried on the half sphere


@described
class Curve(Description):
    """The cubic spline through points in space, with continuous curvature.

    points: (n, 3) positions, m, in the axes of the marker or frame that carries the curve; n >= 2, or 3 if
        closed.
    closed: it returns from the last point to the first (do not repeat this point).

    The parameter is the length of the polygon through the points, in m, from 0 at the first point: close to
    the arc length if the points are closely spaced. An open curve continues straight beyond its ends.
    """

    points: PointsField = array("m", None, 3, followed=False)
    closed: bool = flag(default=False)

    def _judge(self, check: Check) -> None:
        least = 3 if self.closed else 2
        if len(self.points) < least:
            check.fault(f"it needs {least} points or more", len(self.points))
            return
        ring = np.array((*self.points, self.points[0]) if self.closed else self.points)
        same = np.flatnonzero(np.linalg.norm(np.diff(ring, axis=0), axis=1) == 0.0)
        if len(same):
            which = f"see point {same[0]}, counted from 0"
            check.fault("neighbouring points must differ", ring[same[0]].tolist(), which)

    @cached_property
    def components(self) -> tuple[Pieces, Pieces, Pieces]:
        """x, y and z over the parameter, as cubic pieces on the same breaks."""
        points = np.array(self.points)
        if self.closed:
            points = np.vstack([points, points[:1]])
        parameter = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
        slopes = spline_slopes(parameter, points, "periodic" if self.closed else "natural")
        x, y, z = (hermite(parameter, points[:, i], slopes[:, i]) for i in range(3))
        return (x, y, z)

    @property
    def denominator(self) -> None:
        """None: the components are polynomials, not quotients."""
        return None

    @property
    def extrapolation(self) -> str:
        """The extrapolation of the components beyond their range."""
        return "periodic" if self.closed else "linear"

    @property
    def length(self) -> float:
        """The end of the parameter range, m: the length of the polygon through the points."""
        return float(self.components[0].breaks[-1])

    def sampled(self, count: int) -> np.ndarray:
        """Points (count, 3) of the curve, evenly spread over its parameter, both ends included."""
        breaks = self.components[0].breaks
        u = np.linspace(0.0, self.length, count)
        piece = np.clip(np.searchsorted(breaks, u, "right") - 1, 0, len(breaks) - 2)
        return np.column_stack([component.evaluate(u, 0, piece) for component in self.components])

    def coordinate_params(self) -> tuple[float, ...]:
        """The flat form that the curve coordinates take.

        closed (0 or 1), pieces n, reference direction (3), breaks (n + 1), then for each piece four vectors,
        ascending powers of (u - break). The normals at a point are made from the tangent and the reference
        direction, which must be parallel to no tangent.
        """
        breaks = self.components[0].breaks
        coefficients = np.stack(
            [component.coefficients for component in self.components], axis=2
        )  # (n, 4, 3)
        head = [float(self.closed), float(len(breaks) - 1)]
        return tuple(
            np.concatenate([head, self._reference_direction(), breaks, coefficients.ravel()]).tolist()
        )

    def _reference_direction(self) -> np.ndarray:
        """A unit vector far from all tangents; marker axes come first, the normal of a plane curve next."""
        tangents = self._tangents()
        values, vectors = np.linalg.eigh(tangents.T @ tangents)
        height = (np.arange(_SPIRAL) + 0.5) / _SPIRAL
        angle = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(_SPIRAL)
        radius = np.sqrt(1.0 - height**2)
        spiral = np.column_stack([radius * np.cos(angle), radius * np.sin(angle), height])
        tried = np.vstack([np.eye(3)[::-1], vectors[:, np.argmin(values)], spiral])
        clearance = np.min(np.linalg.norm(np.cross(tried[:, None, :], tangents[None, :, :]), axis=2), axis=1)
        best = 0
        for index in range(1, len(tried)):
            if clearance[index] > 1.1 * clearance[best]:
                best = index
        return np.asarray(tried[best] / np.linalg.norm(tried[best]))

    def _tangents(self) -> np.ndarray:
        """Unit tangents at some points of each piece, (m, 3)."""
        breaks = self.components[0].breaks
        shares = np.linspace(0.0, 1.0, _SAMPLES + 1)
        u = (breaks[:-1, None] + np.diff(breaks)[:, None] * shares).ravel()
        piece = np.repeat(np.arange(len(breaks) - 1), _SAMPLES + 1)
        tangents = np.column_stack([component.evaluate(u, 1, piece) for component in self.components])
        norms = np.linalg.norm(tangents, axis=1, keepdims=True)
        return np.asarray(tangents / np.where(norms == 0.0, 1.0, norms))
