"""Joints as elementary motions, one after the other: turns about and slides along lines, and balls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from bellcrank.io.robots.pose import AXES, ORIGIN, Pose
from bellcrank.mechanism import Joint, Marker
from bellcrank.mechanism.checking import Vec3
from bellcrank.mechanism.custom_joints import CustomJoint, chain_of
from bellcrank.mechanism.joint_kinds import Free, PlungingUniversal, Universal
from bellcrank.mechanism.rotation import from_matrix

_TURNS: Final = ("rot_x", "rot_y", "rot_z")


@dataclass(frozen=True)
class Step:
    """One motion. kind: "turn", "slide" or "ball". coordinate: of the joint, none for a ball.

    axis, point: a line in the axes of the body that moves.
    """

    kind: str
    axis: Vec3
    point: Vec3
    coordinate: str = ""


def steps_of(joint: Joint) -> tuple[Pose, list[Step]] | None:
    """The pose of marker 2 in marker 1 at zero coordinates, and the motions, in marker 1.

    None for a joint that is not made of such motions.
    """
    kind = joint.kind
    if isinstance(kind, CustomJoint):
        return _of_formulas(kind)
    if isinstance(kind, (Universal, PlungingUniversal)):
        slides = [Step("slide", AXES["z"], ORIGIN, "z")] if isinstance(kind, PlungingUniversal) else []
        turns = [Step("turn", AXES[a], ORIGIN, f"universal_{k}") for k, a in ((1, "x"), (2, "y"))]
        return Pose(), slides + turns
    if not kind.only_locks() and not isinstance(kind, Free):
        return None
    if kind.free[-3:] == _TURNS:
        slides = [Step("slide", AXES[name], ORIGIN, name) for name in kind.free[:-3]]
        return Pose(), [*slides, Step("ball", AXES["z"], ORIGIN)]
    if any(name not in AXES and not name.startswith("theta_") for name in kind.free):
        return None
    steps = [Step("slide", AXES[name], ORIGIN, name) for name in kind.free if name in AXES]
    turns = [Step("turn", AXES[name[-1]], ORIGIN, name) for name in kind.free if name not in AXES]
    return (Pose(), steps + turns) if len(turns) < 2 else None


def pose_of(marker: Marker) -> Pose:
    """The pose of a marker in its body."""
    return Pose(marker.position, marker.rotation)


def _of_formulas(kind: CustomJoint) -> tuple[Pose, list[Step]] | None:
    """The steps of a product of turns and shifts, each affine in one coordinate or constant."""
    chain = chain_of(kind, kind.known)
    if chain is None:
        return None
    steps = [
        Step(
            "turn" if line.turns else "slide",
            _triple(line.axis),
            _triple(line.point),
            kind.free[line.coordinate],
        )
        for line in chain.lines
    ]
    return Pose(_triple(chain.position), from_matrix(chain.rotation)), steps


def _triple(vector: np.ndarray) -> Vec3:
    x, y, z = (vector + 0.0).tolist()
    return (x, y, z)
