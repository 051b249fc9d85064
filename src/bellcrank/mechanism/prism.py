"""Prisms: convex outlines with a thickness, for wedges, gear teeth, cams and pawls."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.fields import checked, described, quantity
from bellcrank.mechanism.given import FloatField, TableField
from bellcrank.mechanism.mass import MassProperties
from bellcrank.mechanism.shape import Shape

_STRAIGHT: Final = 1e-9  # sine of the least turn at a corner: the core merges faces that are flatter


def _outline(check: Check, name: str, value: Any) -> tuple[tuple[float, ...], ...]:
    noted = len(check.faults)
    points = check.array(name, value, (None, 2), "m")
    if len(check.faults) > noted:
        return ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0))
    if len(points) < 3:
        check.fault(f"{name} must have at least three corners", len(points))
    elif (fault := _first_fault(points)) is not None:
        number, text = fault
        advice = "a shape that is not convex is made of several prisms"
        check.fault(f"{name} must be convex, with corners counter-clockwise; {text}", number, advice)
    return tuple((float(x), float(y)) for x, y in points)


def _first_fault(points: np.ndarray) -> tuple[list[float], str] | None:
    """The first invalid corner of an outline, and the reason; None for a convex outline."""
    ways = np.roll(points, -1, axis=0) - points
    lengths = np.linalg.norm(ways, axis=1)
    if np.min(lengths) == 0.0:
        return points[int(np.argmin(lengths))].tolist(), "a corner is given twice"
    before, after = np.roll(ways / lengths[:, None], 1, axis=0), ways / lengths[:, None]
    sines = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]
    turns = np.arctan2(sines, np.sum(before * after, axis=1))
    if np.min(sines) < _STRAIGHT:
        return points[int(np.argmin(sines))].tolist(), "the outline does not turn left at a corner"
    if abs(np.sum(turns) - 2.0 * np.pi) > 1e-6:
        return points[0].tolist(), "the outline goes round more than once"
    return None


@described
class Prism(Shape):
    """A convex outline in the xy plane of its frame, extended along z by half the length to either side.

    outline: corners (n, 2), m, counter-clockwise, in the shape's frame, which need not be in the middle.
    length: along z, m. Several prisms on a body make an outline that is not convex.
    """

    outline: TableField = checked(_outline, "m", parametric=True)
    length: FloatField = quantity("m", "positive")

    def corners(self) -> np.ndarray:
        """The outline as an array (n, 2), m."""
        return np.array(self.outline, dtype=float)

    def surface(self) -> tuple[np.ndarray, np.ndarray]:
        """Vertices (2 n, 3), m, the lower ones first, and triangles (4 n - 4, 3) in the shape's frame."""
        flat, half = self.corners(), 0.5 * self.length
        n = len(flat)
        vertices = np.vstack([np.column_stack([flat, np.full(n, z)]) for z in (-half, half)])
        here = np.arange(n)
        beyond = (here + 1) % n
        fan = np.column_stack([np.zeros(n - 2, dtype=int), here[1:-1], here[2:]])
        walls = np.vstack(
            [np.column_stack([here, beyond, n + beyond]), np.column_stack([here, n + beyond, n + here])]
        )
        return vertices, np.vstack([fan[:, ::-1], fan + n, walls]).astype(np.int32)

    def volume_properties(self) -> MassProperties:
        """Mass properties at density 1: exact integrals over the triangles of the outline."""
        flat = self.corners()
        a, b, c = np.broadcast_to(flat[0], (len(flat) - 2, 2)), flat[1:-1], flat[2:]
        one, two = b - a, c - a
        areas = 0.5 * (one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0])
        area = float(areas.sum())
        com = areas @ (a + b + c) / (3.0 * area)
        # Over a triangle the mean of p pᵀ is (Σ vᵢ vᵢᵀ + s sᵀ)/12 with the corners vᵢ and their sum s.
        corners = np.stack([a, b, c]) - com
        sums = corners.sum(axis=0)
        second = np.einsum("t,kti,ktj->ij", areas, corners, corners)
        second = (second + np.einsum("t,ti,tj->ij", areas, sums, sums)) / 12.0
        volume = area * self.length
        squares = np.zeros((3, 3))
        squares[:2, :2] = second * self.length
        squares[2, 2] = volume * self.length**2 / 12.0
        inertia = np.trace(squares) * np.eye(3) - squares
        return MassProperties(volume, np.array([*com, 0.0]), inertia)
