"""Friction and brakes on joint coordinates, made smooth by a regularisation velocity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bellcrank.mechanism.attachment import End, pairwise
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.force import ForceKind
from bellcrank.mechanism.functions.function import Function, as_function
from bellcrank.mechanism.functions.harmonic import Constant
from bellcrank.mechanism.rows import Law, Lowered


@dataclass(frozen=True)
class JointFriction(ForceKind):
    """Viscous and dry friction on a joint coordinate:  -viscous v - F(v) tanh(v/regularisation_velocity).

    F(v) = coulomb + (stiction - coulomb) exp(-(v/stribeck_velocity)^2).
    viscous: N m s/rad or N s/m. coulomb, stiction: N m or N; stiction is at least coulomb and by default the
        same.
    stribeck_velocity: speed over which stiction falls to coulomb, rad/s or m/s.
    regularisation_velocity: speed over which the dry part builds up; a held joint creeps at up to about this
        speed.
    """

    viscous: float = 0.0
    coulomb: float = 0.0
    stiction: float | None = None
    stribeck_velocity: float = 0.01
    regularisation_velocity: float = 1e-3
    pattern: ClassVar[str] = "J"
    ends_text: ClassVar[str] = "one joint"
    meaning: ClassVar[str] = "Viscous and dry friction in a joint, with Stribeck's fall."

    def __post_init__(self) -> None:
        with Check("JointFriction") as check:
            viscous, coulomb = (check.not_negative(f, getattr(self, f)) for f in ("viscous", "coulomb"))
            stiction = coulomb if self.stiction is None else check.not_negative("stiction", self.stiction)
            speeds = {
                f: check.positive(f, getattr(self, f))
                for f in ("stribeck_velocity", "regularisation_velocity")
            }
            if len(check.faults) == 0:
                if stiction < coulomb:
                    check.fault("stiction must not be less than coulomb", (stiction, coulomb))
                if viscous == 0.0 and stiction == 0.0:
                    check.fault("it does nothing", None, "give viscous or coulomb")
            check.settle(self, viscous=viscous, coulomb=coulomb, stiction=stiction, **speeds)

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """A friction law."""
        stiction = self.coulomb if self.stiction is None else self.stiction
        params = (self.viscous, self.coulomb, stiction, self.stribeck_velocity, self.regularisation_velocity)
        return Lowered(laws=(Law("friction", pairwise("", ends), params),))


@dataclass(frozen=True)
class Brake(ForceKind):
    """A brake on a joint coordinate:  -level(t) tanh(v/regularisation_velocity).

    level: greatest braking effort as a function of time, N m or N, not negative.
    regularisation_velocity: rad/s or m/s; a held joint creeps at up to about this speed.
    """

    level: Function | float
    regularisation_velocity: float = 1e-3
    pattern: ClassVar[str] = "J"
    ends_text: ClassVar[str] = "one joint"
    meaning: ClassVar[str] = "A brake on a joint whose level is a function of time."

    def __post_init__(self) -> None:
        with Check("Brake") as check:
            values: dict[str, object] = {
                "regularisation_velocity": check.positive(
                    "regularisation_velocity", self.regularisation_velocity
                )
            }
            with check.faults.collect():
                level = as_function(check.element, "level", self.level)
                if isinstance(level, Constant) and level.value < 0.0:
                    check.fault("level must not be negative", level.value)
                values["level"] = level
            check.settle(self, **values)

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """A brake law."""
        level = as_function(self.name, "level", self.level)
        return Lowered(laws=(Law("brake", pairwise("", ends), (self.regularisation_velocity,), level),))
