"""A mechanism as a tree of bodies with elementary motions, for formats that support nothing else.

All quantities are given with every coordinate of the tree's joints at zero. The motions of a body relative to
its parent are turns about and slides along lines fixed in the body, the outermost first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from bellcrank.errors import Fault, FaultList
from bellcrank.io.robots.pose import AXES, ORIGIN, Pose, scaled
from bellcrank.mechanism import GROUND, Body, Joint, JointCoordinate, Marker, Mechanism
from bellcrank.mechanism.chains import chain_of
from bellcrank.mechanism.checking import Vec3
from bellcrank.mechanism.custom_joints import CustomJoint
from bellcrank.mechanism.evaluation import with_numbers
from bellcrank.mechanism.rotation import from_matrix
from bellcrank.mechanism.special_joints import Universal

_TURNS: Final = ("rot_x", "rot_y", "rot_z")


@dataclass(frozen=True)
class Step:
    """One motion. kind: "turn", "slide" or "ball". coordinate: of the joint.

    axis, point: a line in the axes of the body that moves.
    """

    kind: str
    axis: Vec3
    point: Vec3
    coordinate: str = ""


@dataclass
class Branch:
    """A body, its parent, and its motions. pose: in the parent's frame. joint: None if it floats."""

    body: Body
    parent: str
    pose: Pose
    joint: Joint | None = None
    steps: list[Step] = field(default_factory=list)
    children: list[Branch] = field(default_factory=list)


@dataclass
class Outline:
    """The branches on the ground, the joints that close loops, and the parts left out of the file."""

    mechanism: Mechanism
    roots: list[Branch]
    loops: list[Joint]
    left_out: list[Fault] = field(default_factory=list)

    def branches(self) -> Iterator[Branch]:
        """All branches, parents before children."""
        waiting = list(self.roots)
        while waiting:
            branch = waiting.pop(0)
            yield branch
            waiting += branch.children

    def leave(self, element: str, rule: str, value: object = None) -> None:
        """Note a part that a file cannot represent."""
        self.left_out.append(Fault(element, rule, value))

    def names(self) -> dict[str, str]:
        """File names of coordinates, by "joint.coordinate"; a single coordinate has the joint's name."""
        return {
            f"{joint.name}.{step.coordinate}": joint.name
            if len(branch.steps) == 1
            else f"{joint.name} {step.coordinate}"
            for branch in self.branches()
            if (joint := branch.joint) is not None
            for step in branch.steps
        }

    def key(self, end: Any) -> str:
        """The text "joint.coordinate" of an end; empty if it is not a coordinate."""
        if not isinstance(end, JointCoordinate):
            return ""
        joint = self.mechanism.joints[end.joint]
        return f"{end.joint}.{joint.coordinate_name(end.coordinate)}"


def outline(mechanism: Mechanism) -> Outline:
    """The outline of a mechanism at the present values of its parameters.

    Raises MechanismError for joints of the tree that are not made of turns and slides.
    """
    mech = with_numbers(mechanism)
    faults = FaultList()
    at: dict[str, list[Joint]] = {GROUND: [], **{name: [] for name in mech.bodies}}
    for joint in mech.joints.values():
        for marker in (joint.marker_1, joint.marker_2):
            at[marker.body].append(joint)
    made: dict[str, Branch | None] = {GROUND: None}
    used: set[str] = set()
    roots: list[Branch] = []
    for start in (GROUND, *mech.bodies):
        if start not in made:
            body = mech.bodies[start]
            made[start] = floating = Branch(body, GROUND, Pose(body.position, body.rotation))
            roots.append(floating)
        elif start != GROUND:
            continue
        waiting = [start]
        while waiting:
            name = waiting.pop(0)
            for joint in at[name]:
                branch = _branch(mech, joint, name, made, faults)
                if joint.name in used or branch is None:
                    continue
                used.add(joint.name)
                made[branch.body.name] = branch
                above = made[name]
                (roots if above is None else above.children).append(branch)
                waiting.append(branch.body.name)
    faults.raise_any()
    free = [joint for joint in mech.joints.values() if joint.name not in used and joint.lowered().blocks]
    return Outline(mech, roots, free)


def _branch(
    mech: Mechanism, joint: Joint, parent: str, made: Mapping[str, object], faults: FaultList
) -> Branch | None:
    """The branch from a joint to a body; None if the body is in the tree, or the joint locks nothing."""
    reverse = joint.marker_2.body == parent
    base, tip = (joint.marker_2, joint.marker_1) if reverse else (joint.marker_1, joint.marker_2)
    if tip.body in made or not joint.lowered().blocks:
        return None
    inner = pose_of(tip).inverse()
    found = _steps(joint)
    if found is None:
        rule = "its motion is not made of turns and slides one after the other, which the file needs"
        faults.add(f"joint {joint.name!r}", rule, joint.kind.name, "save it as YAML")
        return None
    relative, steps = found
    relative = relative.inverse() if reverse else relative
    # Steps are given in marker 1. From the other side their order and their signs are reversed.
    frame = pose_of(tip) if reverse else pose_of(tip) @ relative.inverse()
    sign = -1.0 if reverse else 1.0
    moved = [
        Step(s.kind, scaled(frame.vector(s.axis), sign), frame.point(s.point), s.coordinate)
        for s in (reversed(steps) if reverse else steps)
    ]
    return Branch(mech.bodies[tip.body], parent, pose_of(base) @ relative @ inner, joint, moved)


def pose_of(marker: Marker) -> Pose:
    """The pose of a marker in its body."""
    return Pose(marker.position, marker.rotation)


def _steps(joint: Joint) -> tuple[Pose, list[Step]] | None:
    """The pose of marker 2 in marker 1 at zero coordinates, and the motions, in marker 1; or None."""
    kind = joint.kind
    if isinstance(kind, CustomJoint):
        return _of_formulas(kind)
    if isinstance(kind, Universal):
        return Pose(), [Step("turn", AXES[a], ORIGIN, f"universal_{k}") for k, a in ((1, "x"), (2, "y"))]
    if not kind.only_locks():
        return None
    if kind.free[-3:] == _TURNS:
        slides = [Step("slide", AXES[name], ORIGIN, name) for name in kind.free[:-3]]
        return Pose(), [*slides, Step("ball", AXES["z"], ORIGIN)]
    if any(name not in AXES and not name.startswith("theta_") for name in kind.free):
        return None
    steps = [Step("slide", AXES[name], ORIGIN, name) for name in kind.free if name in AXES]
    turns = [Step("turn", AXES[name[-1]], ORIGIN, name) for name in kind.free if name not in AXES]
    return (Pose(), steps + turns) if len(turns) < 2 else None


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


def listed(parts: Iterable[float]) -> str:
    """Numbers as a text that reads back as the same numbers."""
    return " ".join(repr(float(part) + 0.0) for part in parts)
