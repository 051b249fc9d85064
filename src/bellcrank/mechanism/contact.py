"""Contact with friction between the shapes of bodies."""

from __future__ import annotations

from typing import ClassVar, Final

from bellcrank.mechanism.attachment import Attachment, End, ForceKind, check_each_body_once, markers
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.fields import choice, described, flag, fraction, quantity
from bellcrank.mechanism.given import FloatField, OptionalFloatField
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.rows import ContactLaw, Lowered

IMPACT_LAWS: Final = ("newton", "poisson")
"""The laws of restitution of rigid contacts."""


@described
class Contact(ForceKind):
    """Bodies push each other where their shapes touch, and rub on each other.

    All shapes of two or more bodies, which may include the ground, can touch each other, except for shapes
    with `touches=False` and for bodies that a joint connects. A beam stands for its nodes, which touch by
    pieces of its shape (`Beam.radius`); pieces that lie near each other along it do not touch.

    stiffness, exponent: of the normal force k d^n (1 + c v) at each point of contact, with the depth d, m,
        and the speed v at which it grows, m/s; k in N/m^n. The force never pulls.
    restitution: speed after an impact by the speed before it, where that is impact_speed, m/s; faster
        impacts bounce less (0.7 at 1 m/s is 0.3 at 4 m/s), with `method="moreau"` all the same. The
        dissipation c follows from it; a restitution below 0.05 counts as 0.05.
    impact_law: for rigid contacts: with "newton" restitution is a ratio of speeds; with "poisson" it is the
        ratio of the impulse that follows to the impulse that stops the approach.
    dissipation: c itself, s/m, instead of the value derived from the restitution.
    friction: kinetic coefficient. static_friction: while a point sticks; by default the same.
    shear_ratio: ratio of tangential to normal stiffness of a point that sticks. The default is that of a
        material with Poisson's ratio 0.3 (Mindlin 1949).
    shear_damping: ratio of tangential damping to tangential stiffness, s. By default it gives the lightest
        body of the contact 0.3 of its critical damping.
    rolling_resistance, spinning_resistance: the largest moment across the normal, which resists rolling,
        and about it, which resists spinning, divided by the normal force, m. With `method="moreau"` only.
    joined: whether bodies that a joint connects can touch, too.

    With `method="moreau"` contacts are rigid: only restitution (at any speed), friction and the resistances
    have an effect.

    K. H. Hunt and F. R. E. Crossley, Coefficient of restitution interpreted as damping in vibroimpact, 1975.

    >>> mech = bc.Mechanism("ball")
    >>> floor = mech.replace(mech.ground, shapes=[bc.Plane()])
    >>> ball = mech.add_body("ball", shapes=[bc.Sphere(0.1, density=1000.0)], position=(0, 0, 0.1))
    >>> touch = mech.add_force("touch", bc.Contact(stiffness=1e6), ball, "ground")
    >>> depth = 0.1 - bc.simulate(mech, 1.0).body("ball").position[-1, 2]
    >>> print(f"{1e6 * depth:.2f} um, by hand {ball.mass * 9.81:.2f} um")    # m g / k
    41.09 um, by hand 41.09 um
    """

    stiffness: FloatField = quantity("N/m", "positive")
    exponent: FloatField = quantity("1", "positive", default=1.0)
    restitution: FloatField = fraction(default=0.3)
    impact_speed: FloatField = quantity("m/s", "positive", default=1.0)
    impact_law: str = choice(IMPACT_LAWS, default="newton")
    dissipation: OptionalFloatField = quantity("s/m", "not negative", default=None)
    friction: FloatField = quantity("1", "not negative", default=0.0)
    static_friction: OptionalFloatField = quantity("1", "not negative", default=None)
    shear_ratio: FloatField = quantity("1", "positive", default=0.8)
    shear_damping: OptionalFloatField = quantity("s", "not negative", default=None)
    rolling_resistance: FloatField = quantity("m", "not negative", default=0.0)
    spinning_resistance: FloatField = quantity("m", "not negative", default=0.0)
    joined: bool = flag(default=False)
    pattern: ClassVar[str] = "MM+"
    ends_text: ClassVar[str] = "two or more bodies"
    meaning: ClassVar[str] = "Shapes of bodies push and rub on each other where they touch."

    def _judge(self, check: Check) -> None:
        if not 1.0 <= self.exponent <= 3.0:
            check.fault("exponent must be 1 to 3", self.exponent, "1 for a linear spring, 1.5 for two balls")
        if self.static_friction is not None and self.static_friction < self.friction:
            rule = f"static_friction must not be less than friction, {self.friction:g}"
            check.fault(rule, self.static_friction)

    def check_ends(self, check: Check, ends: tuple[Attachment, ...]) -> None:
        """Check that each body occurs once; a marker stands for its body."""
        check_each_body_once(check, ends)

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """The law, and the bodies between which it acts."""
        bodies: tuple[Marker, ...] = markers(ends)
        numbers = {
            "stiffness": self.stiffness,
            "exponent": self.exponent,
            "dissipation": self.dissipation,
            "static_friction": self.friction if self.static_friction is None else self.static_friction,
            "kinetic_friction": self.friction,
            "shear_ratio": self.shear_ratio,
            "shear_time": self.shear_damping,
            "restitution": self.restitution,
            "rim_stiffness": 0.0,
            "rolling": self.rolling_resistance,
            "spinning": self.spinning_resistance,
            "by_impulse": float(self.impact_law == IMPACT_LAWS[1]),
        }
        names = tuple(marker.body for marker in bodies)
        law = ContactLaw(names, numbers, self.impact_speed, self.joined)
        return Lowered(contacts=(law,))
