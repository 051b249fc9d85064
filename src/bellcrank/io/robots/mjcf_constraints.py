"""MJCF tendons and equalities: sums of joint coordinates, cables between sites, constraints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import dist
from typing import Any, Final

from bellcrank.io.robots.builder import Builder
from bellcrank.io.robots.mjcf_document import Document
from bellcrank.io.robots.mjcf_joints import JointReader
from bellcrank.io.robots.skeleton import GROUND, Pose
from bellcrank.io.robots.xml_tree import Element
from bellcrank.mechanism import JointCoordinate, Marker
from bellcrank.mechanism.cables import Cable
from bellcrank.mechanism.couplings import Coupling
from bellcrank.mechanism.formulas import CustomConstraint, CustomForce, EndCoordinate
from bellcrank.mechanism.joint_kinds import Fixed, Spherical
from bellcrank.mechanism.rotation import unit
from bellcrank.mechanism.springs import SpringDamper

_INERT: Final = ("frictionloss", "armature")


@dataclass
class FixedTendon:
    """A weighted sum of coordinates.

    start, rest: its value where the model starts, and where the springs of its joints are at rest.
    """

    ends: list[JointCoordinate]
    factors: list[float]
    start: float = 0.0
    rest: float = 0.0

    def effort(self, of: Any) -> CustomForce:
        """The force given by an expression of length and rate, positive where it lengthens the tendon."""
        held = [EndCoordinate(f"q{k}") for k in range(1, len(self.ends) + 1)]
        pairs = list(zip(self.factors, held, strict=True))
        length = sum(c * end.value for c, end in pairs)
        rate = sum(c * end.rate for c, end in pairs)
        tension = of(length, rate)
        return CustomForce(tuple(held), efforts=tuple(c * tension for c in self.factors))


class Tendons:
    """The tendons of a document; springs, dampers and cables are added to the mechanism immediately."""

    def __init__(
        self, builder: Builder, document: Document, joints: JointReader, sites: Mapping[str, tuple[str, Pose]]
    ) -> None:
        self.builder = builder
        self.joints = joints
        self.document = document
        self.sites = sites
        self.fixed: dict[str, FixedTendon] = {}
        self.names: set[str] = set()
        for at in document.items("tendon"):
            self.names.add(at.name)
            given = document.attributes(at, kind="tendon")
            if at.tag == "fixed":
                self._fixed(at, given)
            elif at.tag == "spatial":
                self._spatial(at, given)
            else:
                document.source.fault(at, "it has no place here")

    def _fixed(self, at: Element, given: Mapping[str, str]) -> None:
        source = self.document.source
        ends: list[JointCoordinate] = []
        factors: list[float] = []
        start = rest = 0.0
        self._resists(at, given)
        for one in at.all("joint"):
            name = one.get("joint")
            if name not in self.builder.coordinates:
                rule = "a tendon over what is no joint with one coordinate is not taken"
                source.drop(at, str(at), rule, name, self._acts(at, given))
                return
            factor = self.document.number(one, one.attributes, "coef")
            if factor != 0.0:
                ends.append(self.builder.coordinates[name])
                factors.append(factor)
                start += factor * self.builder.motions[name].start
                rest += factor * self.joints.rest(name)
        if not ends or len(set(map(str, ends))) < len(ends):
            source.fault(at, "a tendon runs over joints, over each once")
            return
        tendon = FixedTendon(ends, factors, start, rest)
        if at.name:
            self.fixed[at.name] = tendon
        stiffness, damping = self.document.linear(at, given, "stiffness", "damping")
        lengths = source.numbers(at, "springlength", given.get("springlength"), 1, 2) or (-1.0,)
        length = rest if lengths[0] == -1.0 else lengths[0]
        if len(lengths) == 2 and lengths[0] != lengths[1]:
            source.leave(
                at, str(at), "a spring with a range of rest lengths is not taken", lengths, bool(stiffness)
            )
            stiffness = 0.0
        if self._span(at, given) is not None:
            source.leave(at, str(at), "limits of a sum of coordinates are not taken", moves=True)
        if stiffness or damping:

            def force() -> CustomForce:
                return tendon.effort(lambda value, rate: -stiffness * (value - length) - damping * rate)

            self.builder.force(at, f"{at.name or 'tendon'} spring", force, *ends)

    def _span(self, at: Element, given: Mapping[str, str]) -> tuple[float, float] | None:
        """The limits of the length, if there are any."""
        found = self.document.span(at, given)
        return found if "limit" not in self.document.disabled else None

    def _resists(self, at: Element, given: Mapping[str, str]) -> None:
        """Note what no tendon has here."""
        for key, value in zip(_INERT, self.document.linear(at, given, *_INERT), strict=True):
            if value:
                self.document.source.leave(at, str(at), f"{key} of a tendon is not taken", value, moves=True)

    def _acts(self, at: Element, given: Mapping[str, str]) -> bool:
        """Whether a tendon limits or exerts anything by itself, without an actuator."""
        given.get("springlength")
        return (
            any(self.document.linear(at, given, "stiffness", "damping")) or self._span(at, given) is not None
        )

    def _spatial(self, at: Element, given: Mapping[str, str]) -> None:
        """Add a cable if it has an upper limit, a spring if it has a stiffness."""
        source = self.document.source
        ends: list[Marker] = []
        self._resists(at, given)
        acts = self._acts(at, given)
        for one in at.children:
            found = self.sites.get(one.get("site"))
            marker = None if found is None or one.tag != "site" else self.builder.on(*found)
            if marker is None:
                source.drop(at, str(at), f"a tendon that runs over a {one.tag} is not taken", moves=acts)
                return
            ends.append(marker)
        if len(ends) < 2:
            source.fault(at, "a tendon runs over two sites or more")
            return
        name = at.name or "tendon"
        stiffness, damping = self.document.linear(at, given, "stiffness", "damping")
        span = self._span(at, given)
        if span is not None:
            self.builder.constraint(at, name, lambda: Cable(span[1], slack=True), *ends)
            if span[0] > 0.0:
                source.leave(at, str(at), "the least length of a tendon is not taken", moves=True)
        if not (stiffness or damping):
            return
        if len(ends) > 2:
            source.leave(at, str(at), "a spring over more than two sites is not taken", moves=True)
            return
        lengths = source.numbers(at, "springlength", given.get("springlength"), 1, 2) or (-1.0,)
        if len(lengths) == 2 and lengths[0] != lengths[1]:
            source.leave(
                at, str(at), "a spring with a range of rest lengths is not taken", lengths, moves=True
            )
            return
        rest = lengths[0]
        if rest == -1.0:  # where all springs in joints are at rest
            placed = self.builder.skeleton.poses(self.joints.rests())
            sites = (self.sites[place.get("site")] for place in at.children)
            rest = dist(*(placed[link].point(site.position) for link, site in sites))
        self.builder.force(at, f"{name} spring", lambda: SpringDamper(stiffness, damping, rest), *ends)

    def couple(self, at: Element, given: Mapping[str, str]) -> None:
        """L₁ − s₁ = c₀ + c₁ (L₂ − s₂) between fixed tendons."""
        source = self.document.source
        names = [given[key] for key in ("tendon1", "tendon2") if key in given]
        if not names or any(name not in self.names for name in names):
            self.document.unknown(at, "there is no tendon of this name", names)
            return
        factors = self.document.polynomial(at, given)
        if any(name not in self.fixed for name in names) or any(factors[2:]):
            source.leave(at, str(at), "it is no linear relation between sums of coordinates", moves=True)
            return
        one = self.fixed[names[0]]
        sums = dict(zip(one.ends, one.factors, strict=True))
        constant = one.start + factors[0]
        if len(names) == 2:
            two = self.fixed[names[1]]
            constant -= factors[1] * two.start
            for end, factor in zip(two.ends, two.factors, strict=True):
                sums[end] = sums.get(end, 0.0) - factors[1] * factor
        sums = {end: factor for end, factor in sums.items() if factor}
        if not sums:
            source.fault(at, "it relates a tendon to itself")
            return
        name = at.name or f"{names[0]} equality"
        self.builder.constraint(at, name, lambda: Coupling(tuple(sums.values()), constant), *sums)


class Equalities:
    """The equality constraints of a document: rigid ones of bodies, and couplings of joints."""

    def __init__(
        self, builder: Builder, document: Document, joints: JointReader, sites: Mapping[str, tuple[str, Pose]]
    ) -> None:
        self.builder = builder
        self.document = document
        self.joints = joints
        self.sites = sites

    def add(self, at: Element, tendons: Tendons) -> None:
        """Add the counterpart of an element to the mechanism, or note that there is none."""
        given = self.document.attributes(at, kind="equality")
        if given.get("active", "true") == "false" or "equality" in self.document.disabled:
            self.document.source.drop(at, str(at), "an equality that is not active is not taken")
        elif at.tag in ("connect", "weld"):
            self._rigid(at, given)
        elif at.tag == "joint":
            self._coupled(at, given)
        elif at.tag == "tendon":
            tendons.couple(at, given)
        else:
            rule = f"equalities of this kind are not taken: <{at.tag}>"
            self.document.source.drop(at, str(at), rule, moves=True)

    def _rigid(self, at: Element, given: Mapping[str, str]) -> None:
        """Connect and weld: points or frames of two bodies that stay together."""
        builder, source = self.builder, self.document.source
        # A weld whose residual of turns is scaled by zero leaves them free.
        pointwise = at.tag == "connect" or self.document.number(at, given, "torquescale", 1.0) == 0.0
        kind: Any = Spherical() if pointwise else Fixed()
        anchor = Pose(self.document.vector(at, given, "anchor"))
        name = f"{at.tag} {at.name or at.get('body1') or at.get('site1')}"
        if "site1" in given or "site2" in given:
            found = [self.sites.get(given.get(key, "")) for key in ("site1", "site2")]
            if None in found:
                sites = [given.get("site1"), given.get("site2")]
                self.document.unknown(at, "there is no site of this name", sites)
                return
            builder.close(name, kind, found[0], found[1], at)  # type: ignore[arg-type]
            return
        links = builder.skeleton.links
        one, two = given.get("body1", ""), given.get("body2", "world")
        one, two = (GROUND if body == "world" else body for body in (one, two))
        if one not in links or two not in links or "body1" not in given:
            bodies = [given.get("body1"), given.get("body2")]
            self.document.unknown(at, "there is no body of this name", bodies)
            return
        inner, outer = links[one].pose, links[two].pose
        if at.tag == "connect":
            builder.close(name, kind, (one, anchor), (two, outer.inverse() @ inner @ anchor), at)
            return
        relative = source.numbers(at, "relpose", given.get("relpose"), 7)
        pose = inner.inverse() @ outer
        if relative is not None and any(relative[3:]):
            w, x, y, z = relative[3:]
            pose = Pose((relative[0], relative[1], relative[2]), unit((w, x, y, z)))
        own = anchor if pointwise else Pose()
        builder.close(name, kind, (one, pose @ own), (two, own), at)

    def _coupled(self, at: Element, given: Mapping[str, str]) -> None:
        """q₁ − s₁ = c₀ + c₁ (q₂ − s₂) + c₂ (q₂ − s₂)² + ... with the references s of the joints."""
        builder, source = self.builder, self.document.source
        names = [given[key] for key in ("joint1", "joint2") if key in given]
        if not names or any(name not in self.joints.known for name in names):
            self.document.unknown(at, "there is no joint of this name", names)
            return
        ends = [builder.coordinates.get(name) for name in names]
        if None in ends:
            moves = any(end is not None for end in ends)
            source.drop(at, str(at), "its joints have no coordinates to couple", names, moves=moves)
            return
        factors = self.document.polynomial(at, given)
        starts = [self.joints.known[name][0].start for name in names]
        label = at.name or f"{names[0]} equality"
        if len(ends) == 1 or not any(factors[1:]):
            builder.constraint(at, label, lambda: Coupling((1.0,), starts[0] + factors[0]), ends[0])
        elif not any(factors[2:]):
            constant = starts[0] + factors[0] - factors[1] * starts[1]
            builder.constraint(at, label, lambda: Coupling((1.0, -factors[1]), constant), *ends)
        else:
            self._polynomial(at, label, factors, starts, ends)

    def _polynomial(
        self,
        at: Element,
        label: str,
        factors: list[float],
        starts: list[float],
        ends: list[JointCoordinate | None],
    ) -> None:
        one, two = EndCoordinate("q1"), EndCoordinate("q2")
        value = two.value - starts[1]
        equation = one.value - starts[0] - sum(c * value**k for k, c in enumerate(factors) if c)
        self.builder.constraint(at, label, lambda: CustomConstraint((one, two), equation), *ends)
