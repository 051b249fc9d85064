"""Rotations and translations in series, without bodies between them, as one joint given by formulas."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from bellcrank.io.robots.names import symbol_name
from bellcrank.io.robots.pose import Pose, added, scaled
from bellcrank.io.robots.skeleton import Motion
from bellcrank.mechanism.checking import Vec3
from bellcrank.mechanism.custom_joints import CustomJoint
from bellcrank.mechanism.joint import JointKind
from bellcrank.mechanism.joint_kinds import Free, PointOnLine, PointOnPlane
from bellcrank.mechanism.rotation import between, from_matrix, matrix

if TYPE_CHECKING:
    from bellcrank.expression import Expression, Transform

_EXACT: Final = 1e-12  # how close an axis must be to an axis of the frame to count as equal
_Z: Final = (0.0, 0.0, 1.0)


def chain_joint(
    motions: Sequence[Motion], child: Pose, taken: Collection[str]
) -> tuple[CustomJoint, Pose, list[str]]:
    """The joint, its frame (of both markers, in the world), and the names of its coordinates.

    taken: names that the coordinates must not have.

    The relative pose is the product of the motions about fixed lines,
    T = exp(ξ₁ (q₁ − s₁)) ... exp(ξₙ (qₙ − sₙ)), in a frame at the last line. Its axes are those of the child
    if the lines lie along these, else such that as many lines as possible lie along them.
    """
    from bellcrank.expression import symbol

    axes = [motion.axis for motion in motions]
    frame = Pose(motions[-1].point, _orientation(axes, child))
    back = frame.inverse()
    names: list[str] = []
    for motion in motions:
        name = symbol_name(motion.name)
        names.append(symbol_name(f"q_{name}" if name in taken else name, [*names, *taken]))
    coordinates = tuple(symbol(name) for name in names)
    pose: Transform | None = None
    for motion, coordinate in zip(motions, coordinates, strict=True):
        amount = coordinate - motion.start if motion.start else coordinate
        factor = _factor(motion, back.vector(motion.axis), back.point(motion.point), amount)
        pose = factor if pose is None else pose @ factor
    units = tuple("rad" if motion.kind == "turn" else "m" for motion in motions)
    return CustomJoint(coordinates, pose, units), frame, names


def guided_ball(motions: Sequence[Motion]) -> tuple[JointKind, Pose, list[str]] | None:
    """Perpendicular slides followed by a ball: a point guided along a line, in a plane, or free.

    The joint, the frame of its first marker in the world, and the names of the slides' coordinates in it;
    None for other motions.
    """
    if not motions:
        return None
    *slides, ball = motions
    axes = np.array([motion.axis for motion in slides])
    if ball.kind != "ball" or not 1 <= len(slides) <= 3 or any(one.kind != "slide" for one in slides):
        return None
    if np.abs(axes @ axes.T - np.eye(len(axes))).max() > _EXACT:
        return None
    names = (["z"], ["x", "y"], ["x", "y", "z"])[len(slides) - 1]
    if len(slides) == 3 and np.linalg.det(axes) < 0.0:
        names = ["y", "x", "z"]
    if len(slides) == 1:
        rotation = between(_Z, slides[0].axis)
    else:
        x, y = (axes[names.index(name)] for name in ("x", "y"))
        rotation = from_matrix(np.column_stack([x, y, np.cross(x, y)]))
    back = -np.array([motion.start for motion in slides]) @ axes
    a, b, c = back.tolist()
    kind = (PointOnLine, PointOnPlane, Free)[len(slides) - 1]()
    return kind, Pose(added(ball.point, (a, b, c)), rotation), names


def backwards(motions: Sequence[Motion]) -> list[Motion]:
    """The motions of a parent relative to its child; their coordinates are the same."""
    return [replace(motion, axis=scaled(motion.axis, -1.0)) for motion in reversed(motions)]


def _orientation(axes: Sequence[Vec3], child: Pose) -> tuple[float, float, float, float]:
    """The orientation of a frame aligned with as many of these axes as possible, preferably the child's."""
    turn = matrix(child.rotation)
    if all(np.max(np.abs(turn.T @ np.asarray(axis))) > 1.0 - _EXACT for axis in axes):
        return child.rotation
    first = np.asarray(axes[0])
    for axis in axes[1:]:
        other = np.asarray(axis)
        if abs(float(first @ other)) < _EXACT:
            return from_matrix(np.column_stack([first, other, np.cross(first, other)]))
    return between(_Z, axes[0])


def _factor(motion: Motion, axis: Vec3, point: Vec3, amount: Expression) -> Transform:
    """A rotation about, or a translation along, a line given in the frame."""
    from bellcrank.expression import Transform, rotation_x, rotation_y, rotation_z, translation

    if motion.kind == "slide":
        return translation(*(_clean(component) * amount for component in axis))
    index = int(np.argmax(np.abs(axis)))
    if abs(axis[index]) > 1.0 - _EXACT:
        turn = (rotation_x, rotation_y, rotation_z)[index](amount if axis[index] > 0.0 else -amount)
    else:
        rows = matrix(between(_Z, axis))
        turn = Transform(rows.tolist()) @ rotation_z(amount) @ Transform(rows.T.tolist())
    if max(map(abs, point)) < _EXACT:
        return turn
    return translation(*point) @ turn @ translation(*scaled(point, -1.0))


def _clean(component: float) -> float:
    nearest = round(component)
    return float(nearest) if abs(component - nearest) < _EXACT else component
