"""MJCF actuators as forces that follow inputs.

A force is gain · input + bias; gain and bias may depend on the length l and rate of the driven element,
g₀ + g₁ l + g₂ l̇ and b₀ + b₁ l + b₂ l̇, with l = gear · q for a joint. The input is held in its range, then the
force in its own, then the effort in that of the joint. An activation with dynamics is replaced by the input.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from bellcrank.io.robots.bounded import FREE, Range, clamped, common, scaled
from bellcrank.io.robots.builder import Builder
from bellcrank.io.robots.mjcf_constraints import FixedTendon, Tendons
from bellcrank.io.robots.mjcf_document import ACTUATORS, Document
from bellcrank.io.robots.mjcf_joints import JointReader
from bellcrank.io.robots.mjcf_start import controls_of
from bellcrank.io.robots.skeleton import Pose, symbol_name
from bellcrank.io.robots.xml_tree import Attributes, Element
from bellcrank.mechanism import JointCoordinate
from bellcrank.mechanism.motors import GearedMotor, JointMotor, Wrench
from bellcrank.mechanism.parameters import Input
from bellcrank.mechanism.springs import TorsionSpring

_FILTERS: Final = ("filter", "filterexact")
_JOINTS: Final = ("joint", "jointinparent")
_TARGETS: Final = (*_JOINTS, "tendon", "site", "body", "cranksite", "slidersite")


def add_actuators(
    builder: Builder,
    document: Document,
    joints: JointReader,
    sites: Mapping[str, tuple[str, Pose]],
    tendons: Tendons,
) -> None:
    """Add a force and an input for each actuator."""
    taken: set[str] = set()
    found: list[_Actuator] = []
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
        found.append(_Actuator(builder, document, at, at.given, law, name, control))
    alone = _alone(found, builder, tendons)
    for one in found:
        one.add(joints, sites, tendons, alone)


def _alone(actuators: list[_Actuator], builder: Builder, tendons: Tendons) -> set[str]:
    """The coordinates on which one actuator acts and no other one may."""
    count: Counter[str] = Counter()
    for one in actuators:
        target, of = one.target
        if target in _JOINTS:
            count[str(builder.coordinates.get(of))] += 1
        elif target == "tendon" and of in tendons.fixed:
            count.update(map(str, tendons.fixed[of].ends))
        else:
            return set()
    return {name for name, number in count.items() if number == 1}


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

    range: Range = FREE
    """Of its input."""
    force: Range = FREE
    """In which gain · input + bias is held."""
    effort: Range = FREE
    """In which that is held once more, behind the gear, on a joint."""

    @property
    def target(self) -> tuple[str, str]:
        """What it acts on: the attribute and the name."""
        target = next((key for key in _TARGETS if key in self.at.attributes), "")
        return target, self.at.get(target) if target else ""

    def add(
        self,
        joints: JointReader,
        sites: Mapping[str, tuple[str, Pose]],
        tendons: Tendons,
        alone: Container[str],
    ) -> None:
        """Add it to the mechanism. alone: coordinates on which no other actuator acts."""
        source, at = self.document.source, self.at
        target, of = self.target
        gear = self._gear()
        self._rotor(target, of, gear[0], tendons)
        if self.law.strange:
            source.drop(at, str(at), self.law.strange, moves=True)
            return
        self._bound(joints, of if target in _JOINTS else "", alone)
        if gear[0] and (both := common(scaled(self.force, gear[0]), self.effort)) is not None:
            self.force, self.effort = scaled(both, 1.0 / gear[0]), FREE
        if self.document.number(at, self.given, "delay"):
            source.leave(at, str(at), "its delay is not taken: its input acts at once", self.given["delay"])
        for key in ("dynprm", "actdim"):  # of the dynamics
            self.given.get(key)
        if self.law.dynamics != "none":
            rule = f"its dynamics ({self.law.dynamics}) are not taken: its input is the activation"
            source.leave(at, str(at), rule)
        if target in _JOINTS and of not in joints.known:
            self.document.unknown(at, "there is no joint of this name", of)
        elif target == "tendon" and of not in tendons.names:
            self.document.unknown(at, "there is no tendon of this name", of)
        elif target in _JOINTS and of in self.builder.coordinates:
            self._on_joint(of, gear[0])
        elif target == "tendon" and of in tendons.fixed:
            self._on_tendon(tendons.fixed[of], gear[0])
        elif target == "site" and of in sites and "refsite" not in self.given:
            self._on_site(sites[of], gear)
        else:
            rule = f"an actuator of {target or 'nothing'} {of!r} is not taken"
            source.drop(at, str(at), rule, moves=True)

    def _bound(self, joints: JointReader, joint: str, alone: Container[str]) -> None:
        """Set the ranges. With dynamics, the activation is the input; in a filter it follows the control."""
        control, active, self.force = (self._span(key) for key in ("ctrl", "act", "force"))
        inherited = self.law.inherited
        if inherited > 0.0 and self.law.servo:
            motion = joints.known[joint][0] if joint in joints.known else None
            if motion is None or motion.low is None or motion.high is None:
                rule = "ranges of its input and its force are not kept"
                self.document.source.leave(self.at, str(self.at), rule, inherited)
            else:
                middle, half = 0.5 * (motion.low + motion.high), 0.5 * (motion.high - motion.low)
                span = (middle - inherited * half, middle + inherited * half)
                if self.law.dynamics == "integrator":
                    active = span
                elif self.given.get("ctrllimited") != "false":
                    control = span
        dynamics = self.law.dynamics
        ranges = [control] if dynamics in ("none", *_FILTERS) else []
        for one in (*ranges, *([active] if dynamics != "none" else [])):
            self.range = common(self.range, one) or self.range
        coordinate = self.builder.coordinates.get(joint)
        if str(coordinate) in alone and joint in joints.known:
            given = joints.known[joint][1]
            if given.get("actuatorgravcomp") != "true" and (found := joints.efforts(joint)) is not None:
                self.effort = self._checked("actuatorfrc", found)
                joints.bounded.add(joint)

    def _span(self, of: str) -> Range:
        found = self.document.span(self.at, self.given, of)
        return FREE if found is None else self._checked(of, found)

    def _checked(self, of: str, limits: Range) -> Range:
        if limits[0] < limits[1]:
            return limits
        if any(limits):
            self.document.source.leave(
                self.at, str(self.at), f"its {of}range leaves no room: it has none", limits
            )
        return FREE

    def _rotor(self, target: str, of: str, gear: float, tendons: Tendons) -> None:
        """Damping d and armature I on the motor side: gear² d and gear² I on the driven side."""
        damping, armature = (
            gear * gear * value for value in self.document.linear(self.at, self.given, "damping", "armature")
        )
        if not (damping or armature):
            return
        coordinate = self.builder.coordinates.get(of) if target in _JOINTS else None
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

    def _exerted(self, length: Any = 0.0, rate: Any = 0.0) -> Any:
        """The force before the gear, for length and rate of what it drives."""
        gain, bias = (
            a + (b * length if b else 0.0) + (c * rate if c else 0.0)
            for a, b, c in (self.law.gain, self.law.bias)
        )
        return clamped(gain * clamped(self.input, self.range) + bias, self.force)

    def _on_joint(self, name: str, gear: float) -> None:
        coordinate, law = self.builder.coordinates[name], self.law
        stiffness, damping = -law.bias[1] * gear * gear, -law.bias[2] * gear * gear
        whole = (stiffness or damping) and (self.force, self.effort) != (FREE, FREE)
        if any(law.gain[1:]) or stiffness < 0.0 or damping < 0.0 or whole:
            self._on_tendon(FixedTendon([coordinate], [1.0]), gear)
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
        effort = clamped(gear * self._exerted(), self.effort)
        self.builder.force(self.at, name, lambda: JointMotor(effort), coordinate)

    def _on_tendon(self, tendon: FixedTendon, gear: float) -> None:
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
            return clamped(gear * self._exerted(gear * length, gear * rate), self.effort)

        self.builder.force(self.at, self._label(), lambda: tendon.effort(tension), *tendon.ends)

    def _on_site(self, site: tuple[str, Pose], gear: tuple[float, ...]) -> None:
        marker = self.builder.on(*site)
        if marker is None or any(self.law.gain[1:]) or any(self.law.bias[1:]):
            rule = "a force on a site must not depend on its motion"
            self.document.source.drop(self.at, str(self.at), rule, moves=True)
            return
        force = self._exerted()
        x, y, z, *moment = (factor * force if factor else 0.0 for factor in gear)
        if not any(gear):
            self.document.source.leave(self.at, str(self.at), "its gear is zero: it does nothing")
            return

        def wrench() -> Wrench:
            return Wrench(force=(x, y, z), moment=(moment[0], moment[1], moment[2]), axes="marker")

        self.builder.force(self.at, self._label(), wrench, marker)


_SERVOS: Final = ("position", "intvelocity")


@dataclass
class Law:
    """Gain and bias: three coefficients each. kind: the shortcut. strange: why it is not taken."""

    gain: tuple[float, float, float] = (1.0, 0.0, 0.0)
    bias: tuple[float, float, float] = (0.0, 0.0, 0.0)
    gaintype: str = "fixed"
    biastype: str = "none"
    dynamics: str = "none"
    time: float = 0.0
    """Of a filter, s."""
    inherited: float = 0.0
    """How much of the range of what it acts on its input has."""
    kind: str = ""
    strange: str = ""

    @property
    def servo(self) -> bool:
        """Whether its input is a wish for what the actuator acts on."""
        return (self.gaintype, self.biastype) == ("fixed", "affine") and self.gain[0] == -self.bias[1]

    def begins(self, tag: str) -> bool:
        """Whether a shortcut takes its numbers."""
        return self.kind in ("", "general", tag) and (self.gaintype == "fixed") == (tag != "damper")


def law_of(
    document: Document, at: Element, classes: Iterable[Iterable[tuple[str, Mapping[str, str]]]]
) -> Law:
    """The law of an actuator. classes: what its default classes say, the outermost first."""
    own = [(at.tag, at.attributes)]
    levels = [Law()]
    for settings in (*classes, own):
        law = replace(levels[-1])
        for tag, given in settings:
            asked = Attributes(given, at.attributes.asked)
            if tag == "general":
                _general(document, at, asked, law)
                continue
            if not law.begins(tag):
                law = replace(next((one for one in reversed(levels) if one.begins(tag)), Law()))
            _shortcut(document, at, tag, asked, law)
        levels.append(law)
    found = levels[-1]
    for key, value, known in (
        ("gaintype", found.gaintype, ("fixed", "affine")),
        ("biastype", found.biastype, ("none", "affine")),
    ):
        if value not in known:
            found.strange = f"an actuator with {key} {value!r} is not taken"
    if found.gaintype == "fixed":
        found.gain = (found.gain[0], 0.0, 0.0)
    if found.biastype == "none":
        found.bias = (0.0, 0.0, 0.0)
    elif found.bias[2] > 0.0 and found.gain[0] == -found.bias[1]:
        found.strange = "its dampratio is not taken: give kv"  # as MuJoCo stores it
    return found


def _general(document: Document, at: Element, given: Mapping[str, str], law: Law) -> None:
    law.kind, law.strange = "general", ""
    law.gaintype, law.biastype = given.get("gaintype", law.gaintype), given.get("biastype", law.biastype)
    law.gain = _three(document, at, given, "gainprm", law.gain)
    law.bias = _three(document, at, given, "biasprm", law.bias)
    law.dynamics = given.get("dyntype", law.dynamics)


def _shortcut(document: Document, at: Element, tag: str, given: Mapping[str, str], law: Law) -> None:
    """What a shortcut makes of a law; numbers that it does not give are those of the law."""
    law.kind, law.strange, law.dynamics = tag, "", "none"
    law.time = document.number(at, given, "timeconst", law.time) if tag == "position" else 0.0
    law.gaintype = "affine" if tag == "damper" else "fixed"
    law.biastype = "affine" if tag in (*_SERVOS, "velocity") else "none"
    if tag in _SERVOS:
        kp, kv = (
            document.number(at, given, key, known)
            for key, known in (("kp", law.gain[0]), ("kv", -law.bias[2]))
        )
        kv = -document.number(at, given, "dampratio", -kv)
        own = given.get("ctrlrange" if tag == "position" else "actrange") is not None
        law.inherited = document.number(at, given, "inheritrange", 0.0 if own else law.inherited)
        law.gain, law.bias = (kp, 0.0, 0.0), (0.0, -kp, -kv)
        law.dynamics = "integrator" if tag == "intvelocity" else "filter" if law.time else "none"
    elif tag == "velocity":
        kv = document.number(at, given, "kv", law.gain[0])
        law.gain, law.bias = (kv, 0.0, 0.0), (0.0, 0.0, -kv)
    elif tag == "damper":
        kv = document.number(at, given, "kv", -law.gain[2])
        law.gain, law.bias = (0.0, 0.0, -kv), (0.0, 0.0, 0.0)
    elif tag == "motor":
        law.gain, law.bias = (1.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    elif tag == at.tag:
        law.strange = f"an actuator of kind <{tag}> is not taken"


def _three(
    document: Document, at: Element, given: Mapping[str, str], name: str, known: tuple[float, float, float]
) -> tuple[float, float, float]:
    found = document.source.numbers(at, name, given.get(name), 1, 10)
    if found is None:
        return known
    a, b, c = (*found[:3], *known[len(found[:3]) :])
    return a, b, c
