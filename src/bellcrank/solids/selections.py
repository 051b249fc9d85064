"""Parts of surfaces by where they are: planes, cylinders, spheres, boxes.

Of a mesh a selection takes the faces of the surface whose three corners lie there, and all nodes of these; of
nodes alone, those that lie there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.fields import Description, checked, described, quantity, vector
from bellcrank.mechanism.given import FloatField, OptionalFloatField, VectorField
from bellcrank.mechanism.rotation import named_axis

_NEAR: Final = 1e-4  # of the extent of the solid


@dataclass(frozen=True)
class Selection(Description, ABC):
    """The base of selections: nodes of a solid by where they are."""

    def near(self, points: Any) -> Any:
        """Whether points lie there, (n,). points: (n, 3), m, all nodes of the solid."""
        given = getattr(self, "tolerance", None)
        extent = float(np.max(np.ptp(points, axis=0), initial=0.0))
        return np.abs(self.distances(points)) <= (_NEAR * extent if given is None else given)

    def middle(self, points: Any) -> Any:
        """Where the frame of an interface stands, (3,), m. points: of its nodes, (n, 3)."""
        return points.mean(axis=0)

    @abstractmethod
    def distances(self, points: Any) -> Any:
        """How far points are from it, (n,), m."""


def _direction(check: Check, name: str, value: Any) -> Any:
    return check.axis(name, named_axis(value))


@described
class OnPlane(Selection):
    """Nodes on a plane.

    point: of it, m. normal: its direction, three numbers or "x", "y", "z".
    tolerance: how far nodes may be off, m; by default 1e-4 of the solid's extent.

    >>> foot = bc.OnPlane((0, 0, "-10 mm"), "z")
    >>> foot.distances(np.array([(0.3, 0.1, -0.01), (0, 0, 0.02)])).round(3).tolist()
    [0.0, 0.03]
    """

    point: VectorField = vector("m")
    normal: Any = checked(_direction, "1")
    tolerance: OptionalFloatField = quantity("m", "positive", default=None)

    def distances(self, points: Any) -> Any:
        """How far points are from it, (n,), m."""
        return (points - np.array(self.point)) @ np.array(self.normal)


@described
class OnCylinder(Selection):
    """Nodes on a cylinder, such as the wall of a bore.

    point: of its axis, m. axis: the direction, three numbers or "x", "y", "z". radius: m.
    length: of the part of it that counts, `point` in its middle, m; None: all of it.
    tolerance: how far nodes may be off, m; by default 1e-4 of the solid's extent.

    >>> bore = bc.OnCylinder((0, 0, 0), "z", "8 mm")
    >>> bore.distances(np.array([(0.008, 0, 0.5), (0, 0.01, 0)])).round(6).tolist()
    [0.0, 0.002]
    """

    point: VectorField = vector("m")
    axis: Any = checked(_direction, "1")
    radius: FloatField = quantity("m", "positive")
    length: OptionalFloatField = quantity("m", "positive", default=None)
    tolerance: OptionalFloatField = quantity("m", "positive", default=None)

    def middle(self, points: Any) -> Any:
        """The point of the axis in the middle of the nodes, (3,), m."""
        along = (points - np.array(self.point)) @ np.array(self.axis)
        return np.array(self.point) + 0.5 * (along.min() + along.max()) * np.array(self.axis)

    def distances(self, points: Any) -> Any:
        """How far points are from it, (n,), m."""
        away = points - np.array(self.point)
        along = away @ np.array(self.axis)
        off = np.linalg.norm(away - np.outer(along, self.axis), axis=1) - self.radius
        if self.length is None:
            return off
        return np.maximum(np.abs(off), np.abs(along) - 0.5 * self.length)


@described
class OnSphere(Selection):
    """Nodes on a sphere.

    centre: m. radius: m. tolerance: how far nodes may be off, m; by default 1e-4 of the solid's extent.

    >>> socket = bc.OnSphere((0, 0, 0), "5 mm")
    >>> socket.distances(np.array([(0.003, 0.004, 0)])).round(6).tolist()
    [0.0]
    """

    centre: VectorField = vector("m")
    radius: FloatField = quantity("m", "positive")
    tolerance: OptionalFloatField = quantity("m", "positive", default=None)

    def middle(self, _points: Any) -> Any:
        """The centre, (3,), m."""
        return np.array(self.centre)

    def distances(self, points: Any) -> Any:
        """How far points are from it, (n,), m."""
        return np.linalg.norm(points - np.array(self.centre), axis=1) - self.radius


@described
class InBox(Selection):
    """Nodes within a box along the axes of the solid.

    low, high: its corners, m. tolerance: how far nodes may be out, m; by default 1e-4 of the solid's extent.

    >>> pad = bc.InBox((0, 0, 0), ("20 mm", "20 mm", 0))
    >>> pad.distances(np.array([(0.01, 0.02, 0), (0.01, 0.03, 0)])).round(6).tolist()
    [0.0, 0.01]
    """

    low: VectorField = vector("m")
    high: VectorField = vector("m")
    tolerance: OptionalFloatField = quantity("m", "positive", default=None)

    def _judge(self, check: Check) -> None:
        if len(check.faults) == 0 and np.any(np.array(self.low) > np.array(self.high)):
            check.fault("low must not lie above high", self.low)

    def distances(self, points: Any) -> Any:
        """How far points are out of it, (n,), m."""
        out = np.maximum(np.array(self.low) - points, points - np.array(self.high))
        return np.maximum(out.max(axis=1), 0.0)
