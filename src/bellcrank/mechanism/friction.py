"""Friction and brakes on joint coordinates, smoothed by a regularisation velocity."""

from __future__ import annotations

from typing import ClassVar

from bellcrank.mechanism.attachment import End, pairwise
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.fields import described, function, quantity
from bellcrank.mechanism.force import ForceKind
from bellcrank.mechanism.functions.function import FunctionField
from bellcrank.mechanism.functions.harmonic import Constant
from bellcrank.mechanism.given import FloatField, OptionalFloatField
from bellcrank.mechanism.parametric import present
from bellcrank.mechanism.rows import Law, Lowered


@described
class JointFriction(ForceKind):
    """Viscous and dry friction on a joint coordinate:  -viscous v - F(v) tanh(v/regularisation_velocity).

    F(v) = coulomb + (stiction - coulomb) exp(-(v/stribeck_velocity)^2).
    viscous: N m s/rad or N s/m. coulomb, stiction: N m or N; stiction is at least coulomb and by default the
        same.
    stribeck_velocity: speed over which stiction falls to coulomb, rad/s or m/s.
    regularisation_velocity: speed over which the dry part builds up; a held joint creeps at up to about this
        speed.
    """

    viscous: FloatField = quantity("N s/m or N m s/rad", "not negative", default=0.0)
    coulomb: FloatField = quantity("N or N m", "not negative", default=0.0)
    stiction: OptionalFloatField = quantity("N or N m", "not negative", default=None)
    stribeck_velocity: FloatField = quantity("rad/s or m/s", "positive", default=0.01)
    regularisation_velocity: FloatField = quantity("rad/s or m/s", "positive", default=1e-3)
    pattern: ClassVar[str] = "J"
    ends_text: ClassVar[str] = "one joint"
    meaning: ClassVar[str] = "Viscous and dry friction in a joint, with Stribeck's fall."

    def _judge(self, check: Check) -> None:
        stiction = self.coulomb if self.stiction is None else self.stiction
        if len(check.faults) == 0:
            if stiction < self.coulomb:
                check.fault("stiction must not be less than coulomb", (stiction, self.coulomb))
            if self.viscous == 0.0 and stiction == 0.0:
                check.fault("it does nothing", None, "give viscous or coulomb")
        self._store(stiction=stiction)

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """A friction law."""
        stiction = self.coulomb if self.stiction is None else self.stiction
        return Lowered(laws=(Law.of(self, "friction", pairwise("", ends), stiction=stiction),))


@described
class Brake(ForceKind):
    """A brake on a joint coordinate:  -level(t) tanh(v/regularisation_velocity).

    level: greatest braking effort as a function of time, N m or N, not negative.
    regularisation_velocity: rad/s or m/s; a held joint creeps at up to about this speed.
    """

    level: FunctionField = function("N or N m")
    regularisation_velocity: FloatField = quantity("rad/s or m/s", "positive", default=1e-3)
    pattern: ClassVar[str] = "J"
    ends_text: ClassVar[str] = "one joint"
    meaning: ClassVar[str] = "A brake on a joint whose level is a function of time."

    def _judge(self, check: Check) -> None:
        level = present(self.level)
        if isinstance(level, Constant) and level.value < 0.0:
            check.fault("level must not be negative", level.value)

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """A brake law."""
        return Lowered(laws=(Law.of(self, "brake", pairwise("", ends), self.level),))
