"""MJCF actuators as forces that follow inputs.

A force is gain · input + bias; gain and bias may depend on the length l and rate of the driven element,
g₀ + g₁ l + g₂ l̇ and b₀ + b₁ l + b₂ l̇, with l = gear · q for a joint. Inputs are not limited to their
ranges, and an activation with dynamics of its own is replaced by the input.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from bellcrank.io.robots.building import Builder
from bellcrank.io.robots.mjcf_defaults import ACTUATORS
from bellcrank.io.robots.mjcf_document import Document
from bellcrank.io.robots.mjcf_gains import Law, law_of
from bellcrank.io.robots.mjcf_joints import JointReader
from bellcrank.io.robots.mjcf_start import controls_of
from bellcrank.io.robots.mjcf_tendons import Fixed, Tendons
from bellcrank.io.robots.names import symbol_name
from bellcrank.io.robots.pose import Pose
from bellcrank.io.robots.xml_tree import Attributes, Element
from bellcrank.mechanism import JointCoordinate
from bellcrank.mechanism.inputs import Input
from bellcrank.mechanism.motors import GearedMotor, JointMotor, Wrench
from bellcrank.mechanism.springs import TorsionSpring

_TARGETS: Final = ("joint", "jointinparent", "tendon", "site", "body", "cranksite", "slidersite")


def add_actuators(
    builder: Builder,
    document: Document,
    joints: JointReader,
    sites: Mapping[str, tuple[str, Pose]],
    tendons: Tendons,
) -> None:
    """Add a force and an input for each actuator."""
    taken: set[str] = set()
    off: set[int] = set()
    for at in document.all("option"):
        groups = document.source.numbers(at, "actuatorgroupdisable", at.get("actuatorgroupdisable"), 0, 31)
        off |= {int(group) for group in groups or ()}
    controls = iter(controls_of(document))
    for at in document.items("actuator"):
        control = next(controls, 0.0)
        if at.tag not in ACTUATORS:
            document.source.fault(at, "it has no place here")
            continue
        defaults = document.defaults(at, "")
        given = {
            key: value
            for settings in defaults.actuators
            for _, attributes in settings
            for key, value in attributes.items()
        }
        at.given = Attributes({**given, **at.attributes}, at.attributes.asked)
        law = law_of(document, at, defaults.actuators)
        name = symbol_name(at.name or f"{at.tag}_{len(taken) + 1}", taken)
        taken.add(name)
        if "actuation" in document.disabled or int(document.number(at, at.given, "group")) in off:
            document.source.drop(at, str(at), "it is disabled in <option>, and does nothing")
            continue
        _Actuator(builder, document, at, at.given, law, name, control).add(joints, sites, tendons)


@dataclass
class _Actuator:
    builder: Builder
    document: Document
    at: Element
    given: Mapping[str, str]
    law: Law
    name: str
    control: float = 0.0
    """The value of its input at the start."""

    def add(self, joints: JointReader, sites: Mapping[str, tuple[str, Pose]], tendons: Tendons) -> None:
        source, at = self.document.source, self.at
        target = next((key for key in _TARGETS if key in at.attributes), "")
        of = at.get(target) if target else ""
        gear = self._gear()
        self._rotor(target, of, gear[0], tendons)
        if self.law.strange:
            source.drop(at, str(at), self.law.strange, moves=True)
            return
        bounds = [
            (f"{key}range" in self.given, self.given.get(f"{key}limited") != "false")
            for key in ("ctrl", "force")
        ]
        if "inheritrange" in self.given or any(map(all, bounds)):
            source.leave(at, str(at), "ranges of its input and its force are not kept")
        if self.document.number(at, self.given, "delay"):
            source.leave(at, str(at), "its delay is not taken: its input acts at once", self.given["delay"])
        for key in ("dynprm", "actdim", "actrange"):  # of the dynamics
            self.given.get(key)
        if self.law.dynamics != "none":
            rule = f"its dynamics ({self.law.dynamics}) are not taken: its input is the activation"
            source.leave(at, str(at), rule)
        if target in ("joint", "jointinparent") and of not in joints.known:
            self.document.unknown(at, "there is no joint of this name", of)
        elif target == "tendon" and of not in tendons.names:
            self.document.unknown(at, "there is no tendon of this name", of)
        elif target in ("joint", "jointinparent") and of in self.builder.coordinates:
            self._on_joint(of, gear[0])
        elif target == "tendon" and of in tendons.fixed:
            self._on_tendon(tendons.fixed[of], gear[0])
        elif target == "site" and of in sites and "refsite" not in self.given:
            self._on_site(sites[of], gear)
        else:
            rule = f"an actuator of {target or 'nothing'} {of!r} is not taken"
            source.drop(at, str(at), rule, moves=True)

    def _rotor(self, target: str, of: str, gear: float, tendons: Tendons) -> None:
        """Damping d and armature I on the motor side: gear² d and gear² I on the driven side."""
        damping, armature = (
            gear * gear * value for value in self.document.linear(self.at, self.given, "damping", "armature")
        )
        if not (damping or armature):
            return
        coordinate = self.builder.coordinates.get(of) if target in ("joint", "jointinparent") else None
        name = f"{self._label()} rotor"
        if coordinate is not None:
            self.builder.force(self.at, name, lambda: GearedMotor(1.0, armature, droop=damping), coordinate)
        elif target == "tendon" and of in tendons.fixed and not armature:
            tendon = tendons.fixed[of]
            self.builder.force(
                self.at, name, lambda: tendon.effort(lambda _, rate: -damping * rate), *tendon.ends
            )
        else:
            rule = "damping and armature of an actuator need a joint with one coordinate"
            self.document.source.leave(self.at, str(self.at), rule, (damping, armature), moves=True)

    def _gear(self) -> tuple[float, ...]:
        found = self.document.source.numbers(self.at, "gear", self.given.get("gear"), 1, 6) or (1.0,)
        return (*found, *(0.0,) * (6 - len(found)))

    @property
    def input(self) -> Any:
        """The input of an actuator."""
        return Input(self.name, self.control)

    def _label(self) -> str:
        return self.at.name or self.name

    def _on_joint(self, name: str, gear: float) -> None:
        coordinate, law = self.builder.coordinates[name], self.law
        stiffness, damping = -law.bias[1] * gear * gear, -law.bias[2] * gear * gear
        if any(law.gain[1:]) or stiffness < 0.0 or damping < 0.0:
            self._on_tendon(Fixed([coordinate], [1.0]), gear)
            return
        if law.gain[0] * gear == 0.0 and law.bias[0] * gear == 0.0:
            self.document.source.leave(self.at, str(self.at), "its gear or gain is zero: it does nothing")
        else:
            self._motor(self._label(), gear, coordinate)
        if stiffness or damping:
            self.builder.force(
                self.at, f"{self._label()} servo", lambda: TorsionSpring(stiffness, damping), coordinate
            )

    def _motor(self, name: str, gear: float, coordinate: JointCoordinate) -> None:
        """A motor whose effort depends on its input only."""
        effort = gear * (self.law.gain[0] * self.input + self.law.bias[0])
        self.builder.force(self.at, name, lambda: JointMotor(effort), coordinate)

    def _on_tendon(self, tendon: Fixed, gear: float) -> None:
        law = self.law
        if gear == 0.0 or not any((*law.gain, *law.bias)):
            self.document.source.leave(self.at, str(self.at), "its gear or gain is zero: it does nothing")
            return
        if not any((*law.gain[1:], *law.bias[1:])):
            for end, factor in zip(tendon.ends, tendon.factors, strict=True):
                name = f"{self._label()} on {end}" if len(tendon.ends) > 1 else self._label()
                self._motor(name, factor * gear, end)
            return

        def tension(length: Any, rate: Any) -> Any:
            gain, bias = (a + b * gear * length + c * gear * rate for a, b, c in (law.gain, law.bias))
            return gear * (gain * self.input + bias)

        self.builder.force(self.at, self._label(), lambda: tendon.effort(tension), *tendon.ends)

    def _on_site(self, site: tuple[str, Pose], gear: tuple[float, ...]) -> None:
        marker = self.builder.on(*site)
        if marker is None or any(self.law.gain[1:]) or any(self.law.bias[1:]):
            rule = "a force on a site must not depend on its motion"
            self.document.source.drop(self.at, str(self.at), rule, moves=True)
            return
        force = self.law.gain[0] * self.input + self.law.bias[0]
        x, y, z, *moment = (factor * force if factor else 0.0 for factor in gear)
        if not any(gear):
            self.document.source.leave(self.at, str(self.at), "its gear is zero: it does nothing")
            return

        def wrench() -> Wrench:
            return Wrench(force=(x, y, z), moment=(moment[0], moment[1], moment[2]), axes="marker")

        self.builder.force(self.at, self._label(), wrench, marker)
