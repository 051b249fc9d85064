"""A mechanism as a tree of bodies with elementary motions, for formats that support nothing else.

All quantities are given with every coordinate of the tree's joints at zero. The motions of a body relative to
its parent are turns about and slides along lines fixed in the body, the outermost first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from bellcrank.compile.particles import is_particle, with_held_particles
from bellcrank.errors import Fault, FaultList
from bellcrank.io.robots.names import FileNames
from bellcrank.io.robots.pose import Pose, scaled
from bellcrank.io.robots.skeleton import Forest
from bellcrank.io.robots.start import Start, placed, start_of
from bellcrank.io.robots.steps import Step, pose_of, steps_of
from bellcrank.mechanism import GROUND, Body, Joint, JointCoordinate, Mechanism
from bellcrank.mechanism.contents import ELEMENTS, with_numbers
from bellcrank.mechanism.custom_joints import CustomJoint
from bellcrank.mechanism.joint import JointKind
from bellcrank.mechanism.joint_kinds import Free

_TABLES: Final = {noun: f"_{table}" for table, noun in ELEMENTS.items()}


@dataclass
class Branch:
    """A body, its parent, and its motions. pose: in the parent's frame. joint: None if it floats."""

    body: Body
    parent: str
    pose: Pose
    joint: Joint | None = None
    steps: list[Step] = field(default_factory=list)
    children: list[Branch] = field(default_factory=list)

    def limit(self, step: Step) -> Any:
        """The limit of a motion, or None."""
        return None if self.joint is None else dict(self.joint.limits).get(step.coordinate)


@dataclass
class Outline:
    """The branches on the ground, the joints that close loops, and the parts left out of the file.

    mechanism: with numbers, and particles held from turning. start: where it starts. kept: what of it is in
    the file, at the same start; it becomes less with each part that is left out. merged: bodies that are
    fixed to another, by name, with its name: read back they are one. bodies, coordinates: names in the file.
    lacks: what no file of the format has, with the words that say so.
    """

    mechanism: Mechanism
    start: Start
    kept: Mechanism
    roots: list[Branch]
    loops: list[Joint]
    left_out: list[Fault] = field(default_factory=list)
    merged: dict[str, str] = field(default_factory=dict)
    names: FileNames = field(default_factory=FileNames)
    bodies: dict[str, str] = field(default_factory=dict)
    coordinates: dict[str, str] = field(default_factory=dict)
    lacks: dict[str, str] = field(default_factory=dict)

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

    def drop(self, category: str, element: Any, rule: str, value: object = None) -> None:
        """Note an element that is not in the file. category: "joint", "constraint", "force" or "drive"."""
        self.leave(f"{category} {element.name!r}", rule, value)
        vars(self.kept)[_TABLES[category]].pop(element.name, None)

    def change(self, table: str, name: str, **fields: Any) -> None:
        """Change an element of `kept` to what of it is in the file; what refers to it stays."""
        elements = vars(self.kept)[table]
        elements[name] = replace(elements[name], **fields)

    def merge(self, branch: Branch, rule: str) -> None:
        """Note a body that is fixed to another, with which the file's readers make it one."""
        assert branch.joint is not None
        self.merged[branch.body.name] = branch.parent
        self.leave(f"joint {branch.joint.name!r}", rule, (branch.parent, branch.body.name))

    def own_name(self, kind: str, wanted: str, element: str) -> str:
        """The name of an element in the file; another one than it wants is noted."""
        name = self.names.take(kind, wanted)
        if name != wanted:
            self.leave(element, "its name is taken in the file: it has another there", name)
        return name

    def name_all(self, bodies: str, coordinates: str) -> None:
        """Name bodies and coordinates, among the file's names of these kinds.

        Coordinates are named by "joint.coordinate", a ball by "joint.". A single one has the name of its
        joint, one of several of a joint that is given by formulas its own.
        """
        for name in self.mechanism.bodies:
            self.bodies[name] = self.own_name(bodies, name, f"body {name!r}")
        moving = [branch for branch in self.branches() if branch.joint is not None and branch.steps]
        single = {branch.joint.name for branch in moving if branch.joint and len(branch.steps) == 1}
        own = [s.coordinate for b in moving if len(b.steps) > 1 for s in b.steps]
        for branch in moving:
            joint = branch.joint
            assert joint is not None
            for step in branch.steps:
                wanted = f"{joint.name} {step.coordinate}".strip()
                if len(branch.steps) == 1:
                    wanted = joint.name
                elif (
                    isinstance(joint.kind, CustomJoint)
                    and step.coordinate not in single
                    and own.count(step.coordinate) == 1
                ):
                    wanted = step.coordinate
                key = f"{joint.name}.{step.coordinate}"
                self.coordinates[key] = self.own_name(coordinates, wanted, f"joint {joint.name!r}")

    def key(self, end: Any) -> str:
        """The text "joint.coordinate" of an end; empty if it is not a coordinate."""
        if not isinstance(end, JointCoordinate):
            return ""
        joint = self.mechanism.joints[end.joint]
        return f"{end.joint}.{joint.coordinate_name(end.coordinate)}"

    def coordinate(self, end: Any) -> str | None:
        """The name in the file of the coordinate that is an end; None if it is none of the file's."""
        return self.coordinates.get(self.key(end))


def outline(mechanism: Mechanism, closing: tuple[type[JointKind], ...] = (), balls: bool = True) -> Outline:
    """The outline of a mechanism at the present values of its parameters.

    closing: the kinds of joints that can close loops in the file. balls: whether it has ball joints.
    Raises MechanismError for faults, and for joints that are not made of turns and slides; AssemblyError if
    there is no start.
    """
    numeric = with_numbers(mechanism)
    mech = with_held_particles(numeric, numeric)
    used = _used(mech) if balls else set()
    roots, loops = _grown(mech, _tree(mech, closing, used))
    start = start_of(mech)
    made = Outline(mech, start, placed(mech, start), roots, loops)
    for body in numeric.bodies.values():
        if is_particle(body):
            inertia = mech.bodies[body.name].inertia
            rule = "a particle: it has an inertia in the file, and three slides, so that it does not turn"
            made.leave(f"body {body.name!r}", rule, inertia[0][0])
    in_tree = {branch.joint.name for branch in made.branches() if branch.joint is not None}
    for joint in mech.joints.values():
        if isinstance(joint.kind, Free) and joint.name not in in_tree:
            rule = "nothing is held by it: in the file its bodies float, without its coordinates"
            made.drop("joint", joint, f"{rule} and limits" if joint.limits else rule)
    _leave_limits(made)
    return made


def _used(mech: Mechanism) -> set[str]:
    """Names of joints that hold nothing themselves, but have limits, or coordinates on which others act."""
    attached = (*mech.constraints.values(), *mech.forces.values())
    acted = {end.joint for one in attached for end in one.ends if isinstance(end, JointCoordinate)}
    free = [joint for joint in mech.joints.values() if isinstance(joint.kind, Free)]
    return {joint.name for joint in free if joint.limits or joint.name in acted}


def _tree(mech: Mechanism, closing: tuple[type[JointKind], ...], used: set[str]) -> set[str]:
    """Names of the joints of a spanning forest; those that can close loops come last."""
    joints = [j for j in mech.joints.values() if not isinstance(j.kind, Free) or j.name in used]
    forest = Forest([GROUND, *mech.bodies])
    found: set[str] = set()
    for joint in sorted(joints, key=lambda j: 2 if isinstance(j.kind, Free) else isinstance(j.kind, closing)):
        one, two = joint.marker_1.body, joint.marker_2.body
        if forest.top(one) != forest.top(two):
            forest.join(one, two)
            found.add(joint.name)
    return found


def _grown(mech: Mechanism, tree: set[str]) -> tuple[list[Branch], list[Joint]]:
    """The branches on the ground and the joints that close loops. Raises MechanismError for joints."""
    faults = FaultList()
    at: dict[str, list[Joint]] = {GROUND: [], **{name: [] for name in mech.bodies}}
    for joint in mech.joints.values():
        for marker in (joint.marker_1, joint.marker_2):
            at[marker.body].append(joint)
    made: dict[str, Branch | None] = {GROUND: None}
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
                branch = _branch(mech, joint, name, made, faults) if joint.name in tree else None
                if branch is None:
                    continue
                made[branch.body.name] = branch
                above = made[name]
                (roots if above is None else above.children).append(branch)
                waiting.append(branch.body.name)
    loops = [j for j in mech.joints.values() if j.name not in tree and not isinstance(j.kind, Free)]
    for joint in loops:
        if steps_of(joint) is None:
            _refuse(joint, faults)
    faults.raise_any()
    return roots, loops


def _refuse(joint: Joint, faults: FaultList) -> None:
    rule = "its motion is not made of turns and slides one after the other, which the file needs"
    faults.add(f"joint {joint.name!r}", rule, joint.kind.name, "save it as YAML")


def _branch(
    mech: Mechanism, joint: Joint, parent: str, made: Mapping[str, object], faults: FaultList
) -> Branch | None:
    """The branch from a joint to a body; None if the body is in the tree."""
    reverse = joint.marker_2.body == parent
    base, tip = (joint.marker_2, joint.marker_1) if reverse else (joint.marker_1, joint.marker_2)
    if tip.body in made:
        return None
    inner = pose_of(tip).inverse()
    found = steps_of(joint)
    if found is None:
        _refuse(joint, faults)
        found = Pose(), []
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


def _leave_limits(made: Outline) -> None:
    """Note limits of coordinates that are no motions of the tree, and what stops return of speed."""
    steps = {
        branch.joint.name: {step.coordinate for step in branch.steps}
        for branch in made.branches()
        if branch.joint is not None
    }
    for joint in list(made.kept.joints.values()):
        within = steps.get(joint.name, set())
        for name, limit in joint.limits:
            if name not in within:
                rule = "limits of this coordinate are not in the file"
                rule = (
                    rule
                    if joint.name in steps
                    else "limits of a joint that closes a loop are not in the file"
                )
                made.leave(f"joint {joint.name!r}", rule, name)
            elif limit.restitution:
                rule = "the restitution of its limits is not in the file"
                made.leave(f"joint {joint.name!r}", rule, limit.restitution)
        limits = tuple((n, replace(limit, restitution=0.0)) for n, limit in joint.limits if n in within)
        if limits != joint.limits:
            made.change("_joints", joint.name, limits=limits)


def listed(parts: Iterable[float]) -> str:
    """Numbers as a text that reads back as the same numbers."""
    return " ".join(repr(float(part) + 0.0) for part in parts)
