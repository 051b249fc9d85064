"""A seat cushion with progressive stiffness that also resists sliding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from bellcrank import expression as ex
from bellcrank.mechanism.attachment import End
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.custom_elements import CustomForce
from bellcrank.mechanism.custom_ends import EndPose
from bellcrank.mechanism.fields import described, quantity
from bellcrank.mechanism.force import ForceKind
from bellcrank.mechanism.given import FloatField
from bellcrank.mechanism.rows import Lowered


@described
class Seat(ForceKind):
    """A saddle or cushion between two bodies, which becomes stiffer the deeper it is pressed.

    Its ends are a marker on the seat, z upwards out of it, and one on the sitting body, at its lowest point.
    Above the seat no force acts; the seat never pulls.

    stiffness, hardening: of the load k d + h d^3 at a depth d, N/m and N/m^3.
    dissipation: c of the factor 1 + c v of the load, with the speed v at which d grows, s/m.
    shear_length: displacement across the seat at which the force across is as large as the load, m. The body
        does not slide. shear_damping: ratio of damping to stiffness across, s.

    A. Tasora, An optimized Lagrangian-multiplier approach ... (2000), figure 7, measured such a curve; its
    numbers are not in the text. The defaults, assumed, make 44 kN/m under 450 N: a rider of 45 kg on it
    swings at 5 Hz with 0.3 of critical damping.
    """

    stiffness: FloatField = quantity("N/m", "not negative", default=1.5e4)
    hardening: FloatField = quantity("N/m^3", "not negative", default=3e7)
    dissipation: FloatField = quantity("s/m", "not negative", default=1.9)
    shear_length: FloatField = quantity("m", "positive", default=0.015)
    shear_damping: FloatField = quantity("s", "not negative", default=0.02)
    pattern: ClassVar[str] = "MM"
    ends_text: ClassVar[str] = "a marker on the seat and one on who sits"
    meaning: ClassVar[str] = "A cushion that pushes more than in proportion and holds against sliding."

    def _judge(self, check: Check) -> None:
        if len(check.faults) == 0 and self.stiffness == 0.0 and self.hardening == 0.0:
            check.fault("it does nothing", None, "give a stiffness or a hardening")

    def lowered(self, ends: tuple[End, ...]) -> Lowered:  # noqa: ARG002
        """A force by formulas: on the seat, and the opposite one on the sitting body.

        Elastic forces have the potential W(d) + W'(d) s^2 / 2 l, with W' = k d + h d^3, the displacement s
        across and the shear length l.
        """
        seat, rider = EndPose("seat"), EndPose("rider")
        up, apart = seat.z_axis, rider.position - seat.position
        velocity = rider.velocity - seat.velocity
        depth, growth = ex.maximum(0.0, -ex.dot(up, apart)), -ex.dot(up, velocity)
        aside, drift = apart - ex.dot(up, apart) * up, velocity + growth * up
        load = self.stiffness * depth + self.hardening * depth**3
        slope = self.stiffness + 3.0 * self.hardening * depth**2
        of_shear = ex.piecewise(depth > 0.0, 0.5 * slope * ex.dot(aside, aside) / self.shear_length, 0.0)
        lift = load * ex.maximum(0.0, 1.0 + self.dissipation * growth) + of_shear
        across = (load / self.shear_length) * (aside + self.shear_damping * drift)
        force = across - lift * up  # on the seat, at the rider's marker
        return Lowered(custom=_Seat((seat, rider), force=tuple(force), moment=tuple(ex.cross(apart, force))))


@dataclass(frozen=True)
class _Seat(CustomForce, listed=False):
    """The formulas of a seat."""

    description: Any = None
