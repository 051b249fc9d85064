"""Struts that lengthen and shorten: gas springs, hydraulic and pneumatic cylinders."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import Any, ClassVar, Final

import numpy as np

from bellcrank.errors import MechanismError
from bellcrank.mechanism.attachment import End, ForceKind, Motion, pairwise
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.coordinate import Coordinate, coordinate_kind
from bellcrank.mechanism.fields import choice, described, function, quantity
from bellcrank.mechanism.friction import labelled, rubbing
from bellcrank.mechanism.functions.function import Constant, FunctionField, number_of
from bellcrank.mechanism.given import FloatField, OptionalFloatField
from bellcrank.mechanism.marker import GROUND, Marker
from bellcrank.mechanism.parameters import present
from bellcrank.mechanism.rows import Law, Lowered
from bellcrank.mechanism.springs import ELASTIC

_ANY: Final = Coordinate("distance", Marker(GROUND), Marker(GROUND))


@dataclass(frozen=True, kw_only=True)
class Telescopic(ForceKind, listed=False):
    """What struts share: a length between two ends, friction, cushions and stops.

    length: from end to end, extended, m. stroke: what it shortens by, m.
    damping: N s/m. friction: of seals, N. regularisation_velocity: as of JointFriction.
    cushion: length before either end of the stroke over which a damper takes hold, m; None for none.
    cushion_damping: its full value at the end of the stroke, N s/m.
    stop_stiffness: of the stops at both ends of the stroke, N/m; None for none, where a joint has limits.
    """

    length: FloatField = quantity("m", "positive")  # noqa: RUF009  (a declaration)
    stroke: FloatField = quantity("m", "positive")  # noqa: RUF009
    damping: FloatField = quantity("N s/m", "not negative", default=0.0)  # noqa: RUF009
    friction: FloatField = quantity("N", "not negative", default=0.0)  # noqa: RUF009
    regularisation_velocity: OptionalFloatField = quantity("m/s", "positive", default=None)  # noqa: RUF009
    cushion: OptionalFloatField = quantity("m", "positive", default=None)  # noqa: RUF009
    cushion_damping: FloatField = quantity("N s/m", "not negative", default=0.0)  # noqa: RUF009
    stop_stiffness: OptionalFloatField = quantity("N/m", "positive", default=1e6, optional=True)  # noqa: RUF009
    pattern: ClassVar[str] = "MM|J"
    ends_text: ClassVar[str] = "two markers, or one joint whose travel is the length"

    @property
    def retracted(self) -> Any:
        """The length when it is retracted, m."""
        return self.length - self.stroke

    def _judge(self, check: Check) -> None:
        if len(check.faults) > 0:
            return
        if self.stroke >= self.length:
            check.fault("the stroke must be less than the length", (self.stroke, self.length))
        if self.cushion is None and self.cushion_damping != 0.0:
            check.fault("the cushions have no length", None, "give cushion, or leave cushion_damping out")
        if self.cushion is not None and 2.0 * self.cushion > self.stroke:
            check.fault("two cushions must fit into the stroke", (self.cushion, self.stroke))

    def _driving(self, along: Coordinate) -> dict[str, Law]:
        """The laws that are its purpose, by what they are called among the results."""
        raise NotImplementedError

    def _laws(self, along: Coordinate) -> dict[str, Law]:
        """Its laws by name: what drives it, friction, cushions and stops."""
        laws = self._driving(along)
        laws["friction"] = self._friction(along).laws[0]
        numbers: Any
        for which, end, inwards in (("in", self.retracted, 1.0), ("out", self.length, -1.0)):
            if self.cushion is not None:
                begin = end + inwards * self.cushion
                numbers = {
                    "stiffness": 0.0,
                    "damping": self.cushion_damping,
                    "depth": self.cushion,
                    **ELASTIC,
                }
                laws[f"cushion {which}"] = Law.of(
                    self, "one_sided", along, contact=begin, direction=inwards, **numbers
                )
            if self.stop_stiffness is not None:
                numbers = {"stiffness": self.stop_stiffness, "damping": 0.0, "depth": 1.0, **ELASTIC}
                laws[f"stop {which}"] = Law.of(
                    self, "one_sided", along, contact=end, direction=inwards, **numbers
                )
        return laws

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """Laws on the distance of the ends, or on the travel of a joint."""
        along = pairwise("distance", ends)
        kind = coordinate_kind(along.kind)
        if kind is not None and kind.unit != "m":
            advice = "take the travel of a slide, or two markers"
            raise MechanismError.of(self.name, "it acts along a length", along.kind, advice)
        return labelled(self._laws(along), self._friction(along))

    def _friction(self, along: Coordinate) -> Lowered:
        return rubbing(self, along, self.damping, self.friction)

    def _parts(self, motion: Motion) -> dict[str, Any]:
        """Efforts (T,) of its laws by name, N."""
        names = self._laws(_ANY)
        return dict(zip(names, np.moveaxis(motion.effort, 1, 0), strict=True))

    def quantities(self, motion: Motion) -> dict[str, tuple[str, Any]]:
        """Force along the strut (positive pushes), length, rate, power, and what becomes heat."""
        force, rate = motion.effort.sum(axis=1), motion.rate[:, 0]
        lost = sum(e for name, e in self._parts(motion).items() if name.startswith(("friction", "cushion")))
        return {
            "force": ("N", force),
            "length": ("m", motion.value[:, 0]),
            "rate": ("m/s", rate),
            "power": ("W", force * rate),
            "losses": ("W", -lost * rate),
        }


@described
class GasSpring(Telescopic):
    """A gas spring: gas at pressure behind a thin rod, which pushes the ends apart.

    force: with the strut extended, N (F1 of catalogues). progressivity: ratio of the force with the strut
        retracted to that, above 1 (F2/F1).
    exponent: of the polytrope, 1 for slow motions (isothermal) to 1.4 for fast ones (adiabatic nitrogen).
    length: from end to end with the rod out, m. stroke: m. What all struts have, such as friction, cushions
        and stops, is described by their base, `Telescopic`.

    The force is  F1 (h/(h - s))^n  at the compression s, with a column of gas h that gives F2 at the stroke.

    >>> kind = bc.GasSpring(100.0, progressivity=1.5, length=0.5, stroke=0.2)
    >>> spring = block.add_force("gas", kind, "guide")
    >>> inside = block.replace(block.joints["guide"], position=0.3)
    >>> print(bc.simulate(block, 1e-3).force("gas").effort[0, 0].round(3))    # N: 1.5 times 100
    150.0
    """

    force: FloatField = quantity("N", "positive")
    progressivity: FloatField = quantity("1", "positive", default=1.3)
    exponent: FloatField = quantity("1", "positive", default=1.0)
    meaning: ClassVar[str] = "A gas spring between two points, with damping, friction and cushions."

    def _judge(self, check: Check) -> None:
        super()._judge(check)
        if len(check.faults) == 0 and self.progressivity <= 1.0:
            check.fault("progressivity must be above 1", self.progressivity, "it is the ratio F2/F1")

    def _driving(self, along: Coordinate) -> dict[str, Law]:
        column = self.stroke / (1.0 - self.progressivity ** (-1.0 / self.exponent))
        law = Law.of(self, "gas", along, column=column, wall=self.length - column, direction=1.0)
        return {"gas": law}


@dataclass(frozen=True, kw_only=True)
class _Piston(Telescopic):
    """What cylinders share. bore, rod: diameters, m; the rod is thinner than the bore."""

    bore: FloatField = quantity("m", "positive")  # noqa: RUF009  (a declaration)
    rod: FloatField = quantity("m", "positive")  # noqa: RUF009

    def _judge(self, check: Check) -> None:
        super()._judge(check)
        if len(check.faults) == 0 and self.rod >= self.bore:
            check.fault("the rod must be thinner than the bore", (self.rod, self.bore))

    @property
    def areas(self) -> tuple[Any, Any]:
        """Of the piston on the cap side and on the rod side, m^2."""
        return pi / 4.0 * self.bore**2, pi / 4.0 * (self.bore**2 - self.rod**2)


@described
class HydraulicCylinder(_Piston):
    """A hydraulic cylinder whose pressures are functions of time, against the ambient pressure.

    bore, rod: diameters, m.
    length: from end to end with the rod out, m. stroke: m. What all struts have, such as friction, cushions
        and stops, is described by their base, `Telescopic`.
    cap_pressure, rod_pressure: in the two chambers, Pa; the one on the cap side lengthens it.

    Oil is taken as incompressible and its supply as stiff. Where a valve prescribes the flow instead, drive
    the travel of the joint: `pressures` gives the pressure that its effort takes.

    >>> ram = bc.HydraulicCylinder(cap_pressure=2e6, length=0.5, stroke=0.3, bore=0.04, rod=0.02)
    >>> force = block.add_force("ram", ram, "guide")
    >>> raised = block.replace(block.joints["guide"], position=0.3)
    >>> push = bc.simulate(block, 1e-3).force("ram").effort[0, 0]
    >>> print(f"{push:.2f} N, by hand {2e6 * np.pi * 0.02**2:.2f} N")
    2513.27 N, by hand 2513.27 N
    """

    cap_pressure: FunctionField = function("Pa", default=0.0)
    rod_pressure: FunctionField = function("Pa", default=0.0)
    meaning: ClassVar[str] = "A hydraulic cylinder by pressures over time, with friction and cushions."

    def _driving(self, along: Coordinate) -> dict[str, Law]:
        cap, rod = self.areas
        pressures = {"cap": self.cap_pressure.scaled(cap), "rod": self.rod_pressure.scaled(-1.0 * rod)}
        return {side: Law("motor", along, (0.0,), force) for side, force in pressures.items()}

    def pressures(self, force: Any) -> tuple[Any, Any]:
        """The pressures on the cap side and on the rod side, Pa, one of them 0, that exert a force, N."""
        cap, rod = self.areas
        pushing = np.asarray(force, dtype=float)
        return np.maximum(pushing, 0.0) / cap, np.maximum(-pushing, 0.0) / rod

    def quantities(self, motion: Motion) -> dict[str, tuple[str, Any]]:
        """Also the pressures, and the flow into the cap side and out of the rod side, m^3/s."""
        (cap, rod), parts = self.areas, self._parts(motion)
        rate = motion.rate[:, 0]
        return super().quantities(motion) | {
            "cap_pressure": ("Pa", parts["cap"] / cap),
            "rod_pressure": ("Pa", -parts["rod"] / rod),
            "cap_flow": ("m^3/s", cap * rate),
            "rod_flow": ("m^3/s", rod * rate),
        }


@described
class PneumaticCylinder(_Piston):
    """A pneumatic cylinder: each chamber is supplied at a pressure, or sealed.

    bore, rod: diameters, m.
    length: from end to end with the rod out, m. stroke: m. What all struts have, such as friction, cushions
        and stops, is described by their base, `Telescopic`.
    cap_pressure, rod_pressure: above the ambient pressure, Pa; functions of time, and numbers for chambers
        that are sealed.
    sealed: "none", "cap", "rod" or "both": chambers whose gas is compressed along a polytrope, at their
        pressure where the cylinder has the length `sealed_at`, m.
    exponent: of the polytrope, 1 (isothermal) to 1.4 (adiabatic air).
    dead_length: of the room left behind the piston at either end of the stroke, m.
    ambient: absolute pressure outside, Pa.

    >>> ram = bc.PneumaticCylinder(cap_pressure=6e5, length=0.5, stroke=0.3, bore=0.04, rod=0.02)
    >>> force = block.add_force("ram", ram, "guide")
    >>> raised = block.replace(block.joints["guide"], position=0.3)
    >>> push = bc.simulate(block, 1e-3).force("ram").effort[0, 0]
    >>> print(f"{push:.2f} N, by hand {6e5 * np.pi * 0.02**2:.2f} N")
    753.98 N, by hand 753.98 N
    """

    cap_pressure: FunctionField = function("Pa", default=0.0)
    rod_pressure: FunctionField = function("Pa", default=0.0)
    sealed: str = choice(("none", "cap", "rod", "both"), default="none")
    sealed_at: OptionalFloatField = quantity("m", "positive", default=None)
    exponent: FloatField = quantity("1", "not negative", default=1.4)
    dead_length: FloatField = quantity("m", "positive", default=5e-3)
    ambient: FloatField = quantity("Pa", "not negative", default=101325.0)
    meaning: ClassVar[str] = "A pneumatic cylinder with supplied or sealed chambers, friction and cushions."

    def _is_sealed(self, side: str) -> bool:
        return self.sealed in (side, "both")

    def _judge(self, check: Check) -> None:
        super()._judge(check)
        if len(check.faults) > 0 or self.sealed == "none":
            return
        if self.sealed_at is None:
            check.fault("the length is missing at which chambers were sealed", None, "give sealed_at")
        elif not self.retracted <= self.sealed_at <= self.length:
            check.fault("sealed_at must lie within the stroke", self.sealed_at)
        for side in ("cap", "rod"):
            pressure = present(getattr(self, f"{side}_pressure"))
            if not self._is_sealed(side):
                continue
            if not isinstance(pressure, Constant):
                check.fault(f"{side}_pressure of a sealed chamber must be a number", str(pressure))
            elif pressure.value < -self.ambient:
                check.fault(f"{side}_pressure must not be below vacuum", pressure.value)

    def _driving(self, along: Coordinate) -> dict[str, Law]:
        laws, ambient = {}, 0.0
        walls = (self.retracted - self.dead_length, self.length + self.dead_length)
        for side, area, wall, outwards in zip(("cap", "rod"), self.areas, walls, (1.0, -1.0), strict=True):
            pressure: Any = getattr(self, f"{side}_pressure")
            if not self._is_sealed(side):
                laws[side] = Law("motor", along, (0.0,), pressure.scaled(outwards * area))
                continue
            laws[side] = Law.of(
                self,
                "gas",
                along,
                force=(number_of(pressure) + self.ambient) * area,
                column=outwards * (self.sealed_at - wall),
                wall=wall,
                direction=outwards,
            )
            ambient = ambient - outwards * area * self.ambient
        if self.sealed != "none":
            laws["ambient"] = Law("linear", along, (0.0, 0.0, 0.0, ambient))
        return laws

    def quantities(self, motion: Motion) -> dict[str, tuple[str, Any]]:
        """Also the pressures above the ambient one."""
        parts, found = self._parts(motion), super().quantities(motion)
        for side, area, outwards in zip(("cap", "rod"), self.areas, (1.0, -1.0), strict=True):
            outside = self.ambient if self._is_sealed(side) else 0.0
            found[f"{side}_pressure"] = ("Pa", outwards * parts[side] / area - outside)
        return found
