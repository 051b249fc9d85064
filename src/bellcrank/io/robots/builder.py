"""Construction of a mechanism from a skeleton: bodies, joints, markers, and the use of each part."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, Final

import numpy as np

from bellcrank.io.robots.massless import Group, Reduced, backwards, chain_joint, guided_ball, reduced
from bellcrank.io.robots.skeleton import Connection, Motion, Pose, Skeleton, added, element_name, scaled
from bellcrank.io.robots.source import Source
from bellcrank.io.robots.xml_tree import Element
from bellcrank.mechanism import GROUND as OUR_GROUND
from bellcrank.mechanism import JointCoordinate, Limit, Marker, Mechanism
from bellcrank.mechanism.collisions import NOTE, Collisions, Surface
from bellcrank.mechanism.friction import JointFriction
from bellcrank.mechanism.joint_kinds import Fixed, Planar, Prismatic, Revolute, Screw, Spherical
from bellcrank.mechanism.mass import MassProperties
from bellcrank.mechanism.motors import GearedMotor, Wrench
from bellcrank.mechanism.rotation import about, between
from bellcrank.mechanism.springs import TorsionSpring

_Z: Final = (0.0, 0.0, 1.0)
_THIN: Final = 1e-12
"""The least principal moment, relative to mass times the square of the arm, that bodies are given."""
_IDLE: Final = "it joins what does not move against each other"
_TRIANGLE: Final = 1e-9
_TURNS: Final = 3.0
"""An angle, rad, from which on poses do not say the whole turns."""
_KINDS: Final[dict[str, tuple[Any, str | None]]] = {
    "turn": (Revolute, "theta_z"),
    "slide": (Prismatic, "z"),
    "screw": (Screw, "theta_z"),
    "ball": (Spherical, None),
    "planar": (Planar, None),
}


class Builder:
    """The mechanism of a skeleton. Faults and parts left out are recorded in the source.

    inputs: names that coordinates must not have. coordinates: the coordinates of the file's motions, by name.
    """

    def __init__(
        self, source: Source, name: str, gravity: Any, skeleton: Skeleton, inputs: Iterable[str] = ()
    ) -> None:
        self.source = source
        self.inputs = set(inputs)
        self.skeleton = skeleton
        self.mechanism = Mechanism(element_name(name), gravity=gravity)
        self.coordinates: dict[str, JointCoordinate] = {}
        self.motions: dict[str, Motion] = {}
        self.joints: dict[str, str] = {}
        self.reduced: Reduced = reduced(source, skeleton)
        self.names: dict[Group, str] = {}
        self.surfaces: list[Surface] = []
        for group in self.reduced.groups:
            self._add_body(group)
        for way, parent, child in self.reduced.connections:
            with self._located(way.at):
                self._add_joint(way, parent, child)
        for way in skeleton.loops:
            self._add_loop(way)
        for group in self.reduced.groups:
            self._add_markers(group)
            named = self.names[group]
            self.surfaces += [replace(one, body=named) for link in group.links for one in link.surfaces]

    @property
    def neighbours(self) -> frozenset[frozenset[str]]:
        """Pairs of bodies of which one carries the other, without those that the ground carries."""
        ways = [(self.names[one], self.names[two]) for _, one, two in self.reduced.connections]
        return frozenset(frozenset(pair) for pair in ways if OUR_GROUND not in pair)

    def collide(self, found: Collisions) -> None:
        """Keep what collides beside the mechanism, and note that it does not until contacts are added."""
        self.mechanism.collisions = (found,)
        if len({surface.body for surface in found.surfaces}) > 1:
            self.source.leave(None, f"mechanism {self.mechanism.name!r}", NOTE)

    def _add_loop(self, way: Connection) -> None:
        """Add a joint between links that are already in the tree."""
        parent, child = (self.group(link) for link in (way.parent, way.child))
        if parent is None or child is None or parent is child:
            self.source.leave(way.at, f"joint {way.name!r}", _IDLE)
            return
        with self._located(way.at):
            self._add_joint(way, parent, child)

    def _located(self, at: Element | None) -> AbstractContextManager[None]:
        """A context in which faults are noted at an element."""
        return self.source.faults.collect(None if at is None else at.location)

    def _add_body(self, group: Group) -> None:
        mech = self.mechanism
        shapes = [
            shape if link is group.main else shape.moved(pose.position, pose.rotation)
            for link in group.links
            for pose in [group.pose_of(link)]
            for shape in link.shapes
        ]
        if group.is_ground:
            self.names[group] = OUR_GROUND
            if shapes:
                mech.replace(mech.ground, shapes=tuple(shapes))
            return
        main = group.main
        name = self.names[group] = element_name(main.name, mech.bodies)
        with self._located(main.at):
            if group.mass is None:
                at, turn = main.pose.position, main.pose.rotation
                mech.add_body(name, position=at, rotation=turn, shapes=shapes, mass_known=False)
                return
            mass, check = self._sound(group, name, group.mass)
            mech.add_body(
                name,
                mass.mass,
                mass.inertia,
                tuple(mass.com.tolist()),
                main.pose.position,
                main.pose.rotation,
                shapes=shapes,
                check_inertia=check,
            )
            self._relieve(group, name)

    def _sound(self, group: Group, name: str, found: MassProperties) -> tuple[MassProperties, bool]:
        """Valid mass properties of a body, and whether a distribution of mass can have them."""
        if not np.abs(found.inertia).max() < 1e100:
            return found, True  # which is refused later, with the reason
        moments, axes = np.linalg.eigh(found.inertia)
        low, middle, high = moments.tolist()
        reach = max(float(np.linalg.norm(found.com)), 1e-3)
        least = max(_THIN * found.mass * reach**2, 1e-14 * high)
        at = group.main.at
        if low < least:
            rule = "its inertia is not positive definite: moments are raised"
            if low < 0.0 or high > 0.0:
                self.source.leave(at, f"body {name!r}", rule, moments.tolist())
            else:
                self.source.leave(at, f"body {name!r}", "it has no inertia: it is given a very small one")
            moments = np.maximum(moments, least)
            found = MassProperties(found.mass, found.com, (axes * moments) @ axes.T)
            low, middle, high = sorted(moments.tolist())
        if low + middle >= high * (1.0 - 0.5 * _TRIANGLE):
            return found, True
        rule = "its inertia breaks the triangle inequality, as no masses do: it is taken as it is"
        self.source.leave(at, f"body {name!r}", rule, [low, middle, high])
        return found, False

    def _relieve(self, group: Group, name: str) -> None:
        """Add the force that supports a part of a link's weight."""
        for link in group.links:
            mass = sum(part.mass for part in link.masses)
            if link.relieved == 0.0 or mass == 0.0:
                continue
            com = sum((part.mass * part.com for part in link.masses), np.zeros(3)) / mass
            place = group.pose_of(link).point(tuple(com.tolist()))
            x, y, z = self.mechanism.gravity
            force = scaled((x, y, z), -link.relieved * mass)
            if any(force):
                label = element_name(f"{link.name} gravity compensation", self.mechanism.forces)
                self.mechanism.add_force(label, Wrench(force=force), Marker(name, place))

    def _add_joint(self, way: Connection, parent: Group, child: Group) -> None:
        motions = way.motions
        if motions and motions[0].kind == "free":
            return
        name = element_name(motions[0].name if len(motions) == 1 else way.name, self.mechanism.joints)
        if not motions:
            self._join(name, Fixed(), parent, child, child.main.pose)
            return
        if len(motions) == 1:
            (motion,) = motions
            kind, coordinate = _KINDS[motion.kind]
            at, base = _frames(motion, child)
            made = kind(motion.pitch) if motion.kind == "screw" else kind()
            self._join(name, made, parent, child, at, base, [(motion, coordinate)])
        elif (guided := guided_ball(motions)) is not None:
            kind, base, names = guided
            at = Pose(motions[-1].point, base.rotation)
            self._join(name, kind, parent, child, at, base, list(zip(motions, [*names, None], strict=True)))
        elif (guided := guided_ball(other := backwards(motions))) is not None:  # the child guides the ball
            kind, base, names = guided
            at = Pose(other[-1].point, base.rotation)
            self._join(name, kind, child, parent, at, base, list(zip(other, [*names, None], strict=True)))
        else:
            kind, at, names = chain_joint(motions, child.main.pose, self.inputs)
            self._join(name, kind, parent, child, at, None, list(zip(motions, names, strict=True)))

    def _join(
        self,
        name: str,
        kind: Any,
        parent: Group,
        child: Group,
        at: Pose,
        base: Pose | None = None,
        coordinates: Iterable[tuple[Motion, str | None]] = (),
    ) -> None:
        """Add a joint between frames that are given in the world, with limits and guesses."""
        limits: dict[str, Limit] = {}
        guess: dict[str, float] = {}
        drawn = True  # whether poses and formulas say all of where it starts
        for motion, coordinate in coordinates:
            self.motions[motion.name] = motion
            self.joints[motion.name] = name
            if coordinate is None:
                continue
            self.coordinates[motion.name] = JointCoordinate(name, coordinate)
            limit, start = self._limit(motion)
            if limit is not None:
                limits[coordinate] = limit
            guess[coordinate] = start
            drawn = drawn and start == motion.start and abs(start) <= _TURNS
            drawn = drawn and (kind.custom is None or start == 0.0)
        one = self.marker(parent, at if base is None else base)
        two = self.marker(child, at)
        self.mechanism.add_joint(name, kind, one, two, limits, guess=None if drawn else guess)

    def _limit(self, motion: Motion) -> tuple[Limit | None, float]:
        """The limits of a motion, and its start, which is within them."""
        low, high = motion.low, motion.high
        if low is None and high is None:
            return None, motion.start
        if low is not None and high is not None and not low < high:
            rule = "its limits leave no room: it has none"
            self.source.leave(motion.at, f"joint {motion.name!r}", rule, [low, high])
            return None, motion.start
        start = motion.start if low is None else max(motion.start, low)
        return Limit(low, high), start if high is None else min(start, high)

    def marker(self, group: Group, world: Pose, name: str | None = None) -> Marker:
        """A marker on a body at a pose in the world."""
        local = group.main.pose.inverse() @ world
        return Marker(self.names[group], local.position, local.rotation, name)

    def _add_markers(self, group: Group) -> None:
        """Add markers for frames of links that are not bodies, and for named frames."""
        taken: set[str] = set()
        for link in group.links:
            own = [] if link is group.main or not link.name else [(link.name, Pose())]
            for wanted, pose in [*own, *link.markers]:
                name = element_name(wanted, taken, "./")
                taken.add(name)
                place = group.pose_of(link) @ pose
                with self._located(link.at):
                    self.mechanism.add_marker(Marker(self.names[group], place.position, place.rotation, name))

    def group(self, link: str) -> Group | None:
        """The body of a link; None if it has none."""
        return self.reduced.of.get(link)

    def on(self, link: str, local: Pose) -> Marker | None:
        """A marker at a pose given in a link; None if the link has no body."""
        group = self.group(link)
        return None if group is None else self.marker(group, self.skeleton.links[link].pose @ local)

    def close(self, name: str, kind: Any, one: tuple[str, Pose], two: tuple[str, Pose], at: Element) -> None:
        """Join two links that are already in the tree, at poses given in them."""
        end, other = self.on(*one), self.on(*two)
        if end is None or other is None or end.body == other.body:
            self.source.leave(at, f"joint {name!r}", _IDLE)
            return
        with self._located(at):
            self.mechanism.add_joint(element_name(name, self.mechanism.joints), kind, end, other)

    def resist(
        self,
        at: Element,
        name: str,
        coordinate: JointCoordinate,
        stiffness: float,
        damping: float,
        rest: float,
        friction: float,
        armature: float = 0.0,
    ) -> None:
        """Add spring and damping, armature and dry friction of a joint, as far as it has them."""
        if stiffness or damping:
            self.force(at, f"{name} spring", lambda: TorsionSpring(stiffness, damping, rest), coordinate)
        if armature:
            self.force(at, f"{name} armature", lambda: GearedMotor(1.0, armature), coordinate)
        if friction:
            self.force(at, f"{name} friction", lambda: JointFriction(0.0, friction), coordinate)

    def force(self, at: Element, name: str, kind: Any, *ends: Any) -> None:
        """Add a force."""
        with self._located(at):
            self.mechanism.add_force(element_name(name, self.mechanism.forces), kind(), *ends)

    def constraint(self, at: Element, name: str, kind: Any, *ends: Any) -> None:
        """Add a constraint."""
        with self._located(at):
            self.mechanism.add_constraint(element_name(name, self.mechanism.constraints), kind(), *ends)


def _frames(motion: Motion, child: Group) -> tuple[Pose, Pose | None]:
    """The frame of the child at a joint, and the parent's if the coordinate does not start at zero."""
    if motion.kind == "ball":
        return Pose(motion.point, child.main.pose.rotation), None
    at = Pose(motion.point, between(_Z, motion.axis))
    if motion.start == 0.0:
        return at, None
    if motion.kind == "slide":
        return at, Pose(added(motion.point, scaled(motion.axis, -motion.start)), at.rotation)
    return at, at @ Pose((0.0, 0.0, 0.0), about(_Z, -motion.start))
