"""A mechanism as a tree of bodies with elementary motions, for formats that support nothing else.

All quantities are given with every coordinate of the tree's joints at zero. The motions of a body relative to
its parent are turns about and slides along lines fixed in the body, the outermost first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.initial import assembled
from bellcrank.compile.model import Model
from bellcrank.compile.particles import is_particle, with_held_particles
from bellcrank.compile.state import Floats
from bellcrank.errors import Fault, FaultList
from bellcrank.io.robots.skeleton import AXES, ORIGIN, Forest, Pose, element_name, scaled
from bellcrank.mechanism import GROUND, Body, Joint, JointCoordinate, Marker, Mechanism
from bellcrank.mechanism.checking import Vec3
from bellcrank.mechanism.contents import ELEMENTS, with_numbers
from bellcrank.mechanism.custom_joints import CustomJoint, chain_of
from bellcrank.mechanism.friction import JointFriction
from bellcrank.mechanism.joint import JointKind
from bellcrank.mechanism.joint_kinds import Free, PlungingUniversal, Universal
from bellcrank.mechanism.rotation import from_matrix, matrix
from bellcrank.mechanism.shape import Shape

_FIELDS = ("position", "rotation", "velocity", "angular_velocity")


@dataclass(frozen=True)
class Start:
    """A model at its assembled start."""

    model: Model

    @cached_property
    def _coordinates(self) -> tuple[Floats, Floats]:
        return self.model.coordinate_motion(self.model.initial)

    def coordinate(self, joint: str, name: str) -> tuple[float, float]:
        """Value and rate of a free coordinate of a joint."""
        record = self.model.joint(joint)
        number = record.coordinates[record.coordinate_names.index(name)]
        values, rates = self._coordinates
        return float(values[number]), float(rates[number])

    def body(self, name: str) -> dict[str, Any]:
        """Pose and velocities of a body's frame as the fields of a Body."""
        if name == GROUND:
            return {"position": (0.0,) * 3, "rotation": (1.0, 0.0, 0.0, 0.0)} | dict.fromkeys(
                _FIELDS[2:], (0.0,) * 3
            )
        number = self.model.body_index[name]
        return {field: tuple(getattr(self.model.initial, field)[number].tolist()) for field in _FIELDS}

    def turning(self, inner: str, outer: str) -> Floats:
        """The angular velocity (3,) of a body relative to another one, in its own axes, rad/s."""
        one, two = self.body(inner), self.body(outer)
        spin = np.subtract(one["angular_velocity"], two["angular_velocity"])
        return np.asarray(matrix(one["rotation"]).T @ spin)


def start_of(mechanism: Mechanism) -> Start:
    """The start. Raises MechanismError for faults, AssemblyError if the mechanism cannot be assembled."""
    return Start(assembled(compile_mechanism(mechanism))[0])


def placed(mechanism: Mechanism, start: Start) -> Mechanism:
    """A copy whose bodies are at the start, which then needs no drives, values and guesses of joints."""
    copy = mechanism.copy()
    bodies, joints = vars(copy)["_bodies"], vars(copy)["_joints"]
    for name, body in bodies.items():
        changed = {key: value for key, value in start.body(name).items() if getattr(body, key) != value}
        if changed:
            bodies[name] = replace(body, **changed)
    for name, joint in joints.items():
        if joint.position or joint.velocity or joint.guess:
            named = [key for key, _ in joint.position if key in joint.kind.free]
            position = tuple((key, start.coordinate(name, key)[0]) for key in named)
            joints[name] = replace(joint, position=position, velocity=(), guess=())
    return copy


_FRICTION: Final = JointFriction(coulomb=1.0)
_TURNS: Final = ("rot_x", "rot_y", "rot_z")


@dataclass(frozen=True)
class ElementaryMotion:
    """One motion. kind: "turn", "slide" or "ball". coordinate: of the joint, none for a ball.

    axis, point: a line in the axes of the body that moves.
    """

    kind: str
    axis: Vec3
    point: Vec3
    coordinate: str = ""


def elementary_motions(joint: Joint) -> tuple[Pose, list[ElementaryMotion]] | None:
    """The pose of marker 2 in marker 1 at zero coordinates, and the motions, in marker 1.

    None for a joint that is not made of such motions.
    """
    kind = joint.kind
    if isinstance(kind, CustomJoint):
        return _of_formulas(kind)
    if isinstance(kind, (Universal, PlungingUniversal)):
        slides = (
            [ElementaryMotion("slide", AXES["z"], ORIGIN, "z")] if isinstance(kind, PlungingUniversal) else []
        )
        turns = [ElementaryMotion("turn", AXES[a], ORIGIN, f"universal_{k}") for k, a in ((1, "x"), (2, "y"))]
        return Pose(), slides + turns
    if not kind.only_locks() and not isinstance(kind, Free):
        return None
    if kind.free[-3:] == _TURNS:
        slides = [ElementaryMotion("slide", AXES[name], ORIGIN, name) for name in kind.free[:-3]]
        return Pose(), [*slides, ElementaryMotion("ball", AXES["z"], ORIGIN)]
    if any(name not in AXES and not name.startswith("theta_") for name in kind.free):
        return None
    slides = [ElementaryMotion("slide", AXES[name], ORIGIN, name) for name in kind.free if name in AXES]
    turns = [ElementaryMotion("turn", AXES[name[-1]], ORIGIN, name) for name in kind.free if name not in AXES]
    return (Pose(), slides + turns) if len(turns) < 2 else None


def pose_of(marker: Marker) -> Pose:
    """The pose of a marker in its body."""
    return Pose(marker.position, marker.rotation)


def _of_formulas(kind: CustomJoint) -> tuple[Pose, list[ElementaryMotion]] | None:
    """The motions of a product of turns and shifts, each affine in one coordinate or constant."""
    chain = chain_of(kind, kind.known)
    if chain is None:
        return None
    motions = [
        ElementaryMotion("turn" if line.turns else "slide", _triple(line.axis), _triple(line.point), name)
        for line in chain.lines
        for name in [kind.free[line.coordinate]]
    ]
    return Pose(_triple(chain.position), from_matrix(chain.rotation)), motions


def _triple(vector: np.ndarray) -> Vec3:
    x, y, z = (vector + 0.0).tolist()
    return (x, y, z)


UNBOUNDED: Final = 1e10
"""What stands in files for the limit that is not there."""
_TABLES: Final = {noun: f"_{table}" for table, noun in ELEMENTS.items()}


class FileNames:
    """The names that a file has so far, by what must differ: of bodies, of joints, ...

    >>> names = FileNames()
    >>> names.take("body", "arm"), names.take("body", "arm"), names.take("joint", "arm")
    ('arm', "arm'", 'arm')
    """

    def __init__(self) -> None:
        self._taken: dict[str, set[str]] = {}

    def take(self, kind: str, wanted: str) -> str:
        """An unused name, the wanted one or one with primes, which is then taken."""
        taken = self._taken.setdefault(kind, set())
        name = element_name(wanted, taken)
        taken.add(name)
        return name


@dataclass
class Branch:
    """A body, its parent, and its motions. pose: in the parent's frame. joint: None if it floats."""

    body: Body
    parent: str
    pose: Pose
    joint: Joint | None = None
    motions: list[ElementaryMotion] = field(default_factory=list)
    children: list[Branch] = field(default_factory=list)

    def bounds(self, motion: ElementaryMotion) -> tuple[float, float] | None:
        """The limits of a motion, of which one that is not there is far away; None without any."""
        limit: Any = None if self.joint is None else dict(self.joint.limits).get(motion.coordinate)
        if limit is None:
            return None
        return (
            -UNBOUNDED if limit.lower is None else limit.lower,
            UNBOUNDED if limit.upper is None else limit.upper,
        )


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
        """Note an element that is not in the file. category: its noun, such as "joint"."""
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
        moving = [branch for branch in self.branches() if branch.joint is not None and branch.motions]
        single = {branch.joint.name for branch in moving if branch.joint and len(branch.motions) == 1}
        own = [s.coordinate for b in moving if len(b.motions) > 1 for s in b.motions]
        for branch in moving:
            joint = branch.joint
            assert joint is not None
            for motion in branch.motions:
                wanted = f"{joint.name} {motion.coordinate}".strip()
                if len(branch.motions) == 1:
                    wanted = joint.name
                elif (
                    isinstance(joint.kind, CustomJoint)
                    and motion.coordinate not in single
                    and own.count(motion.coordinate) == 1
                ):
                    wanted = motion.coordinate
                key = f"{joint.name}.{motion.coordinate}"
                self.coordinates[key] = self.own_name(coordinates, wanted, f"joint {joint.name!r}")

    def write_elements(
        self, name: str, force: Callable[[Any], bool], constraint: Callable[[Any], bool]
    ) -> None:
        """Write all forces and constraints; what the format cannot represent is left out, and other elements.

        force, constraint: write an element, or return False.
        """
        rule, mech = f"{name} has no counterpart of it", self.mechanism
        for one in mech.forces.values():
            if not force(one):
                self.drop("force", one, rule, one.kind.name)
        for other in mech.constraints.values():
            if not constraint(other):
                self.drop("constraint", other, rule, other.kind.name)
        for drive in mech.drives.values():
            self.drop("drive", drive, rule)
        for sensor in mech.sensors.values():
            self.drop("sensor", sensor, rule, sensor.kind.name)
        for change in mech.changes.values():
            self.drop("change", change, rule, change.kind.name)

    def markers(self) -> Iterator[tuple[str, str, Marker]]:
        """The named markers: the wanted name, which is the marker's own if no other has it, and the key."""
        names = [marker.name for marker in self.mechanism.markers.values()]
        for key, marker in self.mechanism.markers.items():
            yield str(marker.name) if names.count(marker.name) == 1 else key, key, marker

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
        if elementary_motions(joint) is None:
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
    found = elementary_motions(joint)
    if found is None:
        _refuse(joint, faults)
        found = Pose(), []
    relative, motions = found
    relative = relative.inverse() if reverse else relative
    # Motions are given in marker 1. From the other side their order and their signs are reversed.
    frame = pose_of(tip) if reverse else pose_of(tip) @ relative.inverse()
    sign = -1.0 if reverse else 1.0
    moved = [
        ElementaryMotion(s.kind, scaled(frame.vector(s.axis), sign), frame.point(s.point), s.coordinate)
        for s in (reversed(motions) if reverse else motions)
    ]
    return Branch(mech.bodies[tip.body], parent, pose_of(base) @ relative @ inner, joint, moved)


def _leave_limits(made: Outline) -> None:
    """Note limits of coordinates that are no motions of the tree, and what stops return of speed."""
    motions = {
        branch.joint.name: {motion.coordinate for motion in branch.motions}
        for branch in made.branches()
        if branch.joint is not None
    }
    for joint in list(made.kept.joints.values()):
        within = motions.get(joint.name, set())
        for name, limit in joint.limits:
            if name not in within:
                which = "this coordinate" if joint.name in motions else "a joint that closes a loop"
                rule = f"limits of {which} are not in the file"
                made.leave(f"joint {joint.name!r}", rule, name)
            elif limit.restitution:
                rule = "the restitution of its limits is not in the file"
                made.leave(f"joint {joint.name!r}", rule, limit.restitution)
        limits = tuple((n, replace(limit, restitution=0.0)) for n, limit in joint.limits if n in within)
        if limits != joint.limits:
            made.change("_joints", joint.name, limits=limits)


def is_plain_friction(kind: Any) -> bool:
    """Whether a force is friction that readers of such files take as it is: without stiction of its own."""
    if not isinstance(kind, JointFriction) or kind.stiction != kind.coulomb:
        return False
    return kind.coulomb == 0.0 or kind.regularisation_velocity == _FRICTION.regularisation_velocity


def rgba(shape: Shape) -> str:
    """The color of a shape as a text; empty if it has none."""
    return "" if shape.color is None else listed((*shape.color, 1.0)[:4])


def listed(parts: Iterable[float]) -> str:
    """Numbers as a text that reads back as the same numbers."""
    return " ".join(repr(float(part) + 0.0) for part in parts)
