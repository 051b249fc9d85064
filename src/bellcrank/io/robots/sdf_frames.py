"""SDF frames and joints: poses given relative to other frames, in models nested in models."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import pi
from typing import Final

from bellcrank.io.robots.builder import Builder
from bellcrank.io.robots.skeleton import Connection, Forest, Motion, Pose, Skeleton, element_name, of_rpy
from bellcrank.io.robots.source import Source
from bellcrank.io.robots.xml_tree import Element
from bellcrank.mechanism.checking import Vec3
from bellcrank.mechanism.couplings import Coupling
from bellcrank.mechanism.rotation import unit

WORLD: Final = ""
"""The name of the frame of the world, and what scopes of models in it begin with."""
SEPARATOR: Final = "::"


@dataclass
class Frame:
    """A pose relative to another frame, the element that gives it, and what the frame is fixed to."""

    relative_to: str
    pose: Pose
    at: Element
    attached_to: str = ""


@dataclass
class Frames:
    """All frames by their scoped names, such as "arm::hand::palm"."""

    source: Source
    known: dict[str, Frame] = field(default_factory=dict)
    found: dict[str, Pose] = field(default_factory=lambda: {WORLD: Pose()})
    merged: dict[str, str] = field(default_factory=dict)
    """Scopes of models that are merged into another scope: the names of their frames, and that scope."""
    fixed_to: dict[str, str | None] = field(default_factory=lambda: {WORLD: WORLD})
    """The results of `link`, all frames of a scope being known when it is first called."""
    worlds: set[str] = field(default_factory=set)
    """Scopes with a link of their own that is called "world", as some old files have it."""

    def name(self, scope: str, wanted: str) -> str:
        """The full name of a frame from its name within a scope."""
        if wanted == "world" and scope not in self.worlds:
            return WORLD
        if wanted in ("", "__model__"):
            return scope
        scope = self.merged.get(scope, scope)
        return f"{scope}{SEPARATOR}{wanted}" if scope else wanted

    def pose(self, name: str, at: Element) -> Pose:
        """The pose of a frame in the world. A missing frame and a cycle of relative frames are faults."""
        way: dict[str, None] = {}
        while name not in self.found:
            if name not in self.known or name in way:
                rule = (
                    "frames are given relative to each other in a ring"
                    if name in way
                    else "there is no such frame"
                )
                self.source.fault(at, rule, name)
                self.found[name] = Pose()
                break
            way[name] = None
            name = self.known[name].relative_to
        for one in reversed(way):
            self.found[one] = self.found[name] @ self.known[one].pose
            name = one
        return self.found[name]

    def link(self, name: str) -> str | None:
        """The link that a frame is fixed to; WORLD for the world, None if there is none."""
        seen: dict[str, None] = {}
        while name not in self.fixed_to and name in self.known and name not in seen:
            seen[name] = None
            if self.known[name].attached_to == name:
                self.fixed_to[name] = name
            else:
                name = self.known[name].attached_to
        found = self.fixed_to.get(name)
        self.fixed_to.update(dict.fromkeys(seen, found))
        return found


def pose_of(source: Source, at: Element) -> tuple[Pose, str]:
    """The <pose> of an element, and the name of the frame that it is relative to, empty if none is given."""
    given = at.first("pose")
    if given is None:
        return Pose(), ""
    relative = given.get("relative_to") or given.get("frame")
    quaternion = given.get("rotation_format") == "quat_xyzw"
    numbers = source.numbers(given, "pose", given.words or "0 0 0 0 0 0", 7 if quaternion else 6)
    if numbers is None:
        return Pose(), relative
    x, y, z, *turn = numbers
    if quaternion:
        a, b, c, w = turn
        if not any(turn):
            source.fault(given, "a quaternion must not be zero")
            return Pose((x, y, z)), relative
        return Pose((x, y, z), unit((w, a, b, c))), relative
    factor = pi / 180.0 if given.get("degrees") == "true" else 1.0
    return Pose((x, y, z), of_rpy(*(factor * angle for angle in turn))), relative


def number(source: Source, at: Element, default: float, *tags: str) -> float:
    """The number in a nested element."""
    given = at.inner(*tags)
    found = source.numbers(at, " ".join(tags), given, 1) if given else None
    return default if found is None else found[0]


_KINDS: Final = {
    "revolute": ("turn",),
    "continuous": ("turn",),
    "prismatic": ("slide",),
    "screw": ("screw",),
    "ball": ("ball",),
    "fixed": (),
    "universal": ("turn", "turn"),
    "revolute2": ("turn", "turn"),
    "gearbox": (),
}


@dataclass
class _Joint:
    at: Element
    scope: str
    name: str
    frame: str
    parent: str = ""
    child: str = ""
    motions: list[Motion] = field(default_factory=list)


@dataclass
class JointReader:
    """The joints of all models, in the order of the file. missing: why models are not there."""

    source: Source
    frames: Frames
    version: tuple[int, ...]
    known: dict[str, _Joint] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)

    def enter(self, at: Element, scope: str, name: str, frame: str) -> None:
        """Note a joint; its name and that of its frame, with their scope."""
        self.known.setdefault(name, _Joint(at, scope, name, frame))

    def add_to(self, skeleton: Skeleton, names: dict[str, str]) -> None:
        """Connect the links of a skeleton; names: of its links, by their scoped names."""
        self.names = names
        trees = Forest(skeleton.links)
        children = {way.child for way in skeleton.connections}
        for way in skeleton.connections:
            trees.join(way.child, way.parent)
        short: set[str] = set()
        for joint in self.known.values():
            made = self._connection(joint, names, short)
            if made is None:
                continue
            apart = trees.top(made.child) != trees.top(made.parent)
            if made.child not in children and made.child and apart:
                trees.join(made.child, made.parent)
                children.add(made.child)
                skeleton.connections.append(made)
            else:
                skeleton.loops.append(made)

    def _connection(self, joint: _Joint, names: dict[str, str], short: set[str]) -> Connection | None:
        source, at = self.source, joint.at
        ends = []
        for tag in ("parent", "child"):
            link = self.frames.link(self.frames.name(joint.scope, at.inner(tag) or "?"))
            if link is None or link not in names:
                advice = "; ".join(self.missing[:3])
                source.fault(at, f"its {tag} is no link or frame", at.inner(tag) or None, advice)
                return None
            ends.append(link)
        if ends[0] == ends[1]:
            source.fault(at, "it joins a link with itself", at.inner("child"))
            return None
        joint.parent, joint.child = (names[link] for link in ends)
        kind = source.word(at, "type", tuple(_KINDS), "fixed")
        name = element_name(at.name or "joint", short)
        if at.name in short:
            name = element_name(joint.name.replace("::", "/"), short)
        short.add(name)
        for one in at.all("axis", "axis2") if not _KINDS[kind] else ():
            one.use()  # nothing moves along it
        if kind == "gearbox":
            return None
        way = Connection(name, joint.parent, joint.child, at)
        for number_, motion in enumerate(_KINDS[kind]):
            way.motions.append(self._motion(joint, name, motion, number_, len(_KINDS[kind])))
        joint.motions = way.motions
        return way

    def _motion(self, joint: _Joint, name: str, kind: str, place: int, count: int) -> Motion:
        source, at = self.source, joint.at
        frame = self.frames.pose(joint.frame, at)
        label = name if count == 1 else f"{name} {place + 1}"
        motion = Motion(label, kind, at, frame.position)
        axis_at = at.first("axis" if place == 0 else "axis2")
        if kind == "ball":
            for one in axis_at.all("xyz", "limit") if axis_at is not None else ():
                one.use()  # a ball has no axis
            return motion
        motion.axis = self._axis(joint, axis_at)
        limited = kind in ("turn", "slide", "screw") and at.get("type") != "continuous"
        if axis_at is not None:
            bounds = [_bound(source, axis_at, which) for which in ("lower", "upper")]
            motion.low, motion.high = bounds if limited else (None, None)
        if kind == "screw":
            motion.pitch = self._pitch(at)
        return motion

    def _pitch(self, at: Element) -> float:
        """The pitch in m per turn; the older thread_pitch is in rad/m, and left-handed if positive."""
        new, given = at.inner("screw_thread_pitch"), at.inner("thread_pitch")
        if new:
            return number(self.source, at, 1.0, "screw_thread_pitch")
        if not given:
            return 1.0
        old = number(self.source, at, 1.0, "thread_pitch")
        return -2.0 * pi / old if old else 0.0

    def _axis(self, joint: _Joint, axis_at: Element | None) -> Vec3:
        """The axis in world axes; files before 1.5 give it in the axes of the model."""
        frame = joint.frame
        given: Vec3 = (0.0, 0.0, 1.0)
        if axis_at is not None:
            xyz = axis_at.first("xyz")
            given = self.source.triple(axis_at, "xyz", None if xyz is None else xyz.words, given)
            of_model = axis_at.inner("use_parent_model_frame") in ("1", "true")
            if xyz is not None and xyz.get("expressed_in"):
                frame = self.frames.name(joint.scope, xyz.get("expressed_in"))
            elif self.version < (1, 5) or of_model:
                frame = joint.scope
        axis = self.source.direction(joint.at, "axis", given, (0.0, 0.0, 1.0))
        return self.frames.pose(frame, joint.at).vector(axis)

    def add_forces(self, builder: Builder) -> None:
        """Add springs, dampers and friction in the joints, mimic joints, and gears."""
        for joint in self.known.values():
            for place, motion in enumerate(joint.motions):
                axis = joint.at.first("axis" if place == 0 else "axis2")
                if axis is not None:
                    self._dynamics(builder, motion, axis)
                    self._mimic(builder, joint, motion, axis)
            if joint.at.get("type") == "gearbox":
                self._gear(builder, joint)

    def _dynamics(self, builder: Builder, motion: Motion, axis: Element) -> None:
        source, name = self.source, motion.name
        coordinate = builder.coordinates.get(name)
        keys = ("damping", "friction", "spring_stiffness", "spring_reference")
        damping, friction, stiffness, rest = (number(source, axis, 0.0, "dynamics", key) for key in keys)
        if min(damping, friction, stiffness) < 0.0:
            source.fault(
                axis, "damping, friction and stiffness must not be negative", (damping, friction, stiffness)
            )
            return
        efforts = [_bound(source, axis, which) or 0.0 for which in ("effort", "velocity")]
        if coordinate is None:
            if damping or friction or stiffness:
                rule, moves = "damping and springs need a joint with one coordinate", name in builder.joints
                source.leave(axis, f"joint {name!r}", rule, moves=moves)
            return
        builder.resist(axis, name, coordinate, stiffness, damping, rest, friction)
        if max(efforts) > 0.0:
            source.leave(axis, f"joint {name!r}", "limits of effort and speed are not kept")

    def _mimic(self, builder: Builder, joint: _Joint, motion: Motion, axis: Element) -> None:
        """Q = multiplier (q_other - reference) + offset."""
        at = axis.first("mimic")
        if at is None:
            return
        other = self.known.get(self.frames.name(joint.scope, at.get("joint")))
        place = 1 if at.get("axis") == "axis2" else 0
        followed = other.motions[place : place + 1] if other else []
        ends = [builder.coordinates.get(motion.name)]
        ends.append(builder.coordinates.get(followed[0].name) if followed else None)
        factor, offset, reference = (
            number(self.source, at, d, key)
            for d, key in ((1.0, "multiplier"), (0.0, "offset"), (0.0, "reference"))
        )
        if None in ends or factor == 0.0:
            rule, moves = "it follows a joint without a coordinate", ends[0] is not None
            self.source.drop(at, f"joint {motion.name!r}", rule, at.get("joint"), moves)
            return
        constant = offset - factor * reference
        builder.constraint(at, f"{motion.name} mimic", lambda: Coupling((1.0, -factor), constant), *ends)

    def _gear(self, builder: Builder, joint: _Joint) -> None:
        """θ₂ = −ratio θ₁ for the angles of child and parent against a third link."""
        source, at = self.source, joint.at
        ratio = number(source, at, 1.0, "gearbox_ratio")
        reference = self.frames.link(self.frames.name(joint.scope, at.inner("gearbox_reference_body") or "?"))
        turns = []
        for link in (joint.parent, joint.child):
            hinges = (self._turn(one, link, reference) for one in self.known.values())
            found = next((hinge for hinge in hinges if hinge is not None), None)
            coordinate = None if found is None else builder.coordinates.get(found[0])
            if found is None or coordinate is None:
                rule = "a gearbox needs hinges between its reference and both of its links"
                source.drop(at, str(at), rule, moves=True)
                return
            turns.append((coordinate, found[1]))
        (one, first), (two, second) = turns
        if ratio == 0.0 or str(one) == str(two):
            source.fault(at, "the ratio of a gearbox must not be zero, and it must have two hinges", ratio)
            return
        builder.constraint(
            at, joint.at.name or "gearbox", lambda: Coupling((second, ratio * first), None), two, one
        )

    def _turn(self, joint: _Joint, link: str, reference: str | None) -> tuple[str, float] | None:
        """The hinge between a link and the reference link, and the sign of its angle."""
        if reference is None or len(joint.motions) != 1 or joint.motions[0].kind != "turn":
            return None
        third = self.names.get(reference)
        if (joint.parent, joint.child) == (third, link):
            return joint.motions[0].name, 1.0
        if (joint.parent, joint.child) == (link, third):
            return joint.motions[0].name, -1.0
        return None


def _bound(source: Source, axis: Element, which: str) -> float | None:
    return source.bound(axis, which, axis.inner("limit", which))
