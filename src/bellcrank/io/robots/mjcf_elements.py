"""MJCF elements other than bodies that have a counterpart: equality constraints, tendons and actuators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from bellcrank.io.robots.building import Builder
from bellcrank.io.robots.mjcf_actuators import add_actuators
from bellcrank.io.robots.mjcf_document import Document
from bellcrank.io.robots.mjcf_joints import JointReader
from bellcrank.io.robots.mjcf_start import add_start, check_start, start_of
from bellcrank.io.robots.mjcf_tendons import Tendons
from bellcrank.io.robots.pose import Pose
from bellcrank.io.robots.skeleton import GROUND
from bellcrank.io.robots.xml_tree import Element
from bellcrank.mechanism import JointCoordinate
from bellcrank.mechanism.formulas import CustomConstraint, EndCoordinate
from bellcrank.mechanism.joint_kinds import Fixed, Spherical
from bellcrank.mechanism.rotation import unit
from bellcrank.mechanism.transmissions import Coupling

_QUIET: Final = (
    *("compiler", "option", "size", "visual", "statistic", "default", "custom", "asset", "worldbody"),
    *("equality", "tendon", "actuator", "contact", "include"),
)
_LISTED: Final = {
    "sensor": "sensors have no counterpart",
    "keyframe": "it is not where the mechanism starts: bc.load(path, start=NAME) takes it",
    "deformable": "what deforms is not taken",
    "extension": "plugins are not taken",
}


def add_elements(
    builder: Builder, document: Document, joints: JointReader, sites: Mapping[str, tuple[str, Pose]]
) -> None:
    """Add forces, constraints and inputs to the builder's mechanism; note what cannot be imported."""
    joints.add_forces(builder)
    equalities = _Equalities(builder, document, joints, sites)
    tendons = Tendons(builder, document, joints, sites)
    for at in document.items("equality"):
        equalities.add(at, tendons)
    add_actuators(builder, document, joints, sites, tendons)
    joints.list_efforts(builder)
    check_start(document)
    add_start(builder, document)
    start = start_of(document)
    for at in document.sections:
        if at.tag in _LISTED:
            at.visited = True
            for one in at.children:
                if one is not start:
                    document.source.drop(one, str(one), _LISTED[at.tag], moves=at.tag == "deformable")
        elif at.tag not in _QUIET:
            document.source.fault(at, "it has no place here")


class _Equalities:
    def __init__(
        self, builder: Builder, document: Document, joints: JointReader, sites: Mapping[str, tuple[str, Pose]]
    ) -> None:
        self.builder = builder
        self.document = document
        self.joints = joints
        self.sites = sites

    def add(self, at: Element, tendons: Tendons) -> None:
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
            led = any(end is not None for end in ends)
            source.drop(at, str(at), "its joints have no coordinates to couple", names, moves=led)
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
