"""Forces and constraints as MJCF has them: numbers of joints, tendons, equalities and actuators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from xml.sax.saxutils import quoteattr

from bellcrank.io.robots.bounded import FREE, bounded, scaled
from bellcrank.io.robots.outline import Outline, listed
from bellcrank.mechanism import Marker
from bellcrank.mechanism.formulas import CustomForce
from bellcrank.mechanism.friction import JointFriction
from bellcrank.mechanism.motors import GearedMotor, JointMotor
from bellcrank.mechanism.springs import SpringDamper, TorsionSpring
from bellcrank.mechanism.transmissions import Cable, Coupling

_FRICTION = JointFriction(coulomb=1.0)


def is_plain_friction(kind: Any) -> bool:
    """Whether a force is friction that readers of such files take as it is: without stiction of its own."""
    if not isinstance(kind, JointFriction) or kind.stiction != kind.coulomb:
        return False
    return kind.coulomb == 0.0 or kind.regularisation_velocity == _FRICTION.regularisation_velocity


class Laws:
    """What the forces and constraints of a mechanism become in a file.

    own: numbers of joints, by the joint's name in the file and the attribute. controls: values of the
    actuators' inputs. site: writes a site at a marker, by a wanted name, and returns its name.
    """

    def __init__(self, made: Outline, site: Callable[[str, Marker], str]) -> None:
        self.made = made
        self.site = site
        self.own: dict[str, dict[str, float]] = {name: {} for name in made.coordinates.values()}
        self.tendons: list[str] = []
        self.equalities: list[str] = []
        self.actuators: list[str] = []
        self.controls: list[float] = []
        self.inputs: set[str] = set()

    def add_all(self) -> None:
        """Write all forces and constraints; those that MJCF cannot represent, and drives, are left out."""
        rule = "MJCF has no counterpart of it"
        mech = self.made.mechanism
        for force in mech.forces.values():
            if not self._force(force):
                self.made.drop("force", force, rule, force.kind.name)
        for one in mech.constraints.values():
            if not self._constraint(one):
                self.made.drop("constraint", one, rule, one.kind.name)
        for drive in mech.drives.values():
            self.made.drop("drive", drive, rule)

    def _tendon(self, category: str, element: Any, attributes: str) -> bool:
        """A tendon between two markers."""
        label = f"{category} {element.name!r}"
        name = quoteattr(self.made.own_name("tendon", element.name, label))
        sites = [self.site(f"{element.name} {k}", end) for k, end in enumerate(element.ends, start=1)]
        inner = "".join(f"<site site={quoteattr(site)}/>" for site in sites)
        self.tendons.append(f"<spatial name={name} {attributes}>{inner}</spatial>")
        return True

    def _force(self, force: Any) -> bool:
        kind = force.kind
        if isinstance(kind, SpringDamper) and kind.preload == 0.0 and kind.rest_length is not None:
            numbers = {
                "stiffness": kind.stiffness, "damping": kind.damping, "springlength": kind.rest_length
            }  # fmt: skip
            return self._tendon("force", force, " ".join(f'{k}="{v!r}"' for k, v in numbers.items()))
        name = self.made.coordinate(force.ends[0]) if len(force.ends) == 1 else None
        if name is None or name not in self.own:
            return False
        own = self.own[name]
        if isinstance(kind, TorsionSpring) and kind.preload == 0.0 and kind.rest_angle is not None:
            if kind.stiffness and "stiffness" in own:
                return False
            if kind.stiffness:
                own |= {"stiffness": kind.stiffness, "springref": kind.rest_angle}
            self._add(own, damping=kind.damping)
            return True
        if is_plain_friction(kind):
            self._add(own, damping=kind.viscous, frictionloss=kind.coulomb)
            return True
        if isinstance(kind, GearedMotor) and self._motor(name, kind.torque, kind.ratio):
            square = kind.ratio**2
            self._add(own, armature=square * kind.rotor_inertia, damping=square * kind.droop)
            return True
        if isinstance(kind, JointMotor) and self._motor(name, kind.effort, 1.0):
            self._add(own, damping=kind.droop)
            return True
        if isinstance(kind, CustomForce) and kind.efforts is not None:
            (end,) = kind.ends
            return self._motor(name, kind.efforts[0], 1.0, (end.value, end.rate))
        return False

    @staticmethod
    def _add(own: dict[str, float], **numbers: float) -> None:
        for key, value in numbers.items():
            own[key] = own.get(key, 0.0) + value

    def _motor(self, joint: str, effort: Any, ratio: float, state: tuple[Any, ...] = ()) -> bool:
        """An actuator whose effort is affine in one input that no other one has, or zero.

        state: the symbols of coordinate and rate, if the effort may depend on them.
        """
        found = bounded(effort)
        if found is None or not set(found.slopes) <= set(state):
            return False
        if found.input is None:
            return True
        if found.input.name in self.inputs or ratio * found.gain == 0.0:
            return False
        self.inputs.add(found.input.name)
        gear = ratio * found.gain
        of = f'<general name={quoteattr(found.input.name)} joint={quoteattr(joint)} gear="{gear!r}"'
        bias = [found.bias / found.gain, *(found.slopes.get(s, 0.0) / found.gain / gear for s in state)]
        if any(bias):
            of += f' biastype="affine" biasprm="{listed((*bias, 0.0, 0.0)[:3])}"'
        for key, limits in (("ctrl", found.control), ("force", scaled(found.force, 1.0 / found.gain))):
            if limits != FREE:
                of += f' {key}range="{listed(min(max(bound, -1e10), 1e10) for bound in limits)}"'
        self.actuators.append(f"{of}/>")
        self.controls.append(found.input.value)
        return True

    def _constraint(self, one: Any) -> bool:
        kind, label = one.kind, f"constraint {one.name!r}"
        if isinstance(kind, Cable) and kind.slack and kind.length is not None:
            return self._tendon("constraint", one, f'range="0 {kind.length!r}"')
        names = [self.made.coordinate(end) for end in one.ends]
        if not isinstance(kind, Coupling) or kind.constant is None or any(n not in self.own for n in names):
            return False
        if len(names) > 2:
            name = quoteattr(self.made.own_name("tendon", one.name, label))
            pairs = zip(names, kind.coefficients, strict=True)
            inner = "".join(f'<joint joint={quoteattr(str(name))} coef="{c!r}"/>' for name, c in pairs)
            self.tendons.append(f"<fixed name={name}>{inner}</fixed>")
            self.equalities.append(f'<tendon tendon1={name} polycoef="{kind.constant!r} 0 0 0 0"/>')
            return True
        a, *rest = kind.coefficients
        second = f" joint2={quoteattr(str(names[1]))}" if rest else ""
        factor = -rest[0] / a if rest else 0.0
        self.equalities.append(
            f"<joint name={quoteattr(self.made.own_name('equality', one.name, label))} "
            f"joint1={quoteattr(str(names[0]))}{second} "
            f'polycoef="{kind.constant / a!r} {factor!r} 0 0 0"/>'
        )
        return True
