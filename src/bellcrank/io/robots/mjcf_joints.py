"""MJCF joints as motions, with their springs, dampers, friction and armature."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bellcrank.io.robots.builder import Builder
from bellcrank.io.robots.mjcf_document import Document
from bellcrank.io.robots.skeleton import Connection, Link, Motion, Pose, element_name
from bellcrank.io.robots.xml_tree import Attributes, Element
from bellcrank.mechanism.formulas import CustomForce, EndPose
from bellcrank.mechanism.friction import BodyDamping
from bellcrank.mechanism.springs import Bushing

_PLAIN: Final = ("turn", "slide")
_KINDS: Final = {"hinge": "turn", "slide": "slide", "ball": "ball", "free": "free"}


class JointReader:
    """Reads the joints of a document, by name: each a motion with its attributes.

    bounded: those whose efforts of actuators are held in their range.
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        self.known: dict[str, tuple[Motion, Attributes]] = {}
        self.bounded: set[str] = set()

    def read(self, at: Element, link: Link, frame: Pose, childclass: str, way: Connection) -> Motion | None:
        """The motion of a joint of a body."""
        document, source = self.document, self.document.source
        given = at.attributes if at.tag == "freejoint" else document.attributes(at, childclass)
        kind = "free" if at.tag == "freejoint" else given.get("type", "hinge")
        if kind not in _KINDS:
            source.fault(at, f"must be one of {', '.join(_KINDS)}", kind, of="type")
            return None
        name = at.name or element_name(f"{link.name} {kind}", self.known)
        if name in self.known:
            source.fault(at, "this name is taken")
        if way.motions and "free" in (kind, way.motions[0].kind):
            source.fault(at, "a free joint must be the only one of its body")
        axis = document.vector(at, given, "axis", (0.0, 0.0, 1.0))
        whole = link.pose @ frame
        motion = Motion(
            name,
            _KINDS[kind],
            at,
            whole.point(document.vector(at, given, "pos")),
            whole.vector(source.direction(at, "axis", axis, (0.0, 0.0, 1.0))),
        )
        scale = document.of(at).angle(1.0) if kind in ("hinge", "ball") else 1.0
        reference = document.number(at, given, "ref") * scale
        motion.start = reference if kind in ("hinge", "slide") else 0.0
        limits = document.span(at, given)
        if limits is not None and "limit" not in document.disabled and kind != "free":
            if kind == "ball":
                source.leave(at, f"joint {name!r}", "limits of a ball joint are not taken", moves=True)
            else:
                motion.low, motion.high = limits[0] * scale, limits[1] * scale
        self.known[name] = (motion, given)
        return motion

    def rest(self, name: str) -> float:
        """The coordinate at which the spring of a joint is at rest."""
        motion, given = self.known[name]
        scale = self.document.of(motion.at).angle(1.0) if motion.kind == "turn" else 1.0
        return self.document.number(motion.at, given, "springref") * scale

    def rests(self) -> dict[str, float]:
        """The rest coordinates of all joints with one coordinate."""
        return {name: self.rest(name) for name, (motion, _) in self.known.items() if motion.kind in _PLAIN}

    def add_forces(self, builder: Builder) -> None:
        """Add the forces that act in the joints."""
        for name, (motion, given) in self.known.items():
            if name in builder.joints or motion.kind == "free":
                self._forces(builder, name, motion, given)
            else:
                motion.at.use()  # it moves nothing that has a mass

    def efforts(self, name: str) -> tuple[float, float] | None:
        """The range of what actuators do to a joint; None if it is not limited."""
        motion, given = self.known[name]
        return self.document.span(motion.at, given, "actuatorfrc")

    def list_efforts(self, builder: Builder) -> None:
        """Note the ranges of efforts within which no actuator is held."""
        for name, (motion, _) in self.known.items():
            if name in builder.joints and name not in self.bounded and self.efforts(name) is not None:
                rule = "limits of effort and speed are not kept"
                self.document.source.leave(motion.at, f"joint {name!r}", rule)

    def _of_free(self, builder: Builder, name: str, motion: Motion, damping: float, others: bool) -> None:
        """Add damping of a free joint, which acts on the velocities of the body's frame."""
        at = motion.at
        link = next(way.child for way in builder.skeleton.connections if motion in way.motions)
        if damping:
            marker = builder.on(link, Pose())
            builder.force(at, f"{name} damping", lambda: BodyDamping(damping, damping), marker)
        if others:
            rule = "stiffness, armature and friction of a free joint are not taken"
            self.document.source.leave(at, f"joint {name!r}", rule, moves=True)

    def _forces(self, builder: Builder, name: str, motion: Motion, given: Mapping[str, str]) -> None:
        document, source, at = self.document, self.document.source, motion.at
        numbers = document.linear(at, given, "stiffness", "damping", "armature", "frictionloss")
        stiffness, damping, armature, friction = numbers
        if min(numbers) < 0.0:
            source.fault(at, "stiffness, damping, armature and frictionloss must not be negative", numbers)
            return
        if "springdamper" in given and any(
            source.numbers(at, "springdamper", given["springdamper"], 2) or ()
        ):
            rule = "its springdamper is not taken: give stiffness and damping"
            source.leave(at, f"joint {name!r}", rule, moves=True)
        rest = self.rest(name)
        if not any(numbers):
            return
        if motion.kind == "free":
            self._of_free(builder, name, motion, damping, bool(stiffness or armature or friction))
            return
        coordinate = builder.coordinates.get(name)
        if coordinate is None:
            self._of_ball(builder, name, motion, stiffness, damping)
            if armature or friction:
                rule = "armature and friction need a joint with one coordinate"
                source.leave(at, f"joint {name!r}", rule, moves=True)
            return
        builder.resist(at, name, coordinate, stiffness, damping, rest, friction, armature)

    def _of_ball(self, builder: Builder, name: str, motion: Motion, stiffness: float, damping: float) -> None:
        """Add a spring on the rotation vector, and a moment against the relative angular velocity."""
        joint, at = builder.mechanism.joints[builder.joints[name]], motion.at
        ends = (joint.marker_1, joint.marker_2)
        if stiffness:
            builder.force(at, f"{name} spring", lambda: Bushing(rotational_stiffness=(stiffness,) * 3), *ends)
        if damping:
            inner, outer = EndPose("inner"), EndPose("outer")
            builder.force(
                at,
                f"{name} damping",
                lambda: CustomForce(
                    (inner, outer), moment=(outer.angular_velocity - inner.angular_velocity) * damping
                ),
                ends[1],
                ends[0],
            )
