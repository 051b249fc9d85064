"""Racks, screws, worms, differentials, planetary gears, and linear relations between coordinates of joints.

Between two markers a rack acts as in a machine, with the force of the teeth on the bodies themselves: along
the rim, unless teeth have a pressure angle (`teeth`). Between joints two numbers are coupled: shafts get
moments alone, and bearings nothing.
"""

from __future__ import annotations

from math import cos, pi, radians, tan
from typing import Any, ClassVar

import numpy as np

from bellcrank.mechanism.attachment import Attachment, ConstraintKind, Coupled, End, coordinates, markers
from bellcrank.mechanism.checking import IN_RADIANS, Check
from bellcrank.mechanism.coordinate import Coordinate
from bellcrank.mechanism.fields import array, checked, described, flag, quantity, whole
from bellcrank.mechanism.friction_loads import Thread, thread_weights
from bellcrank.mechanism.given import FloatField, FloatsField, OptionalFloatField
from bellcrank.mechanism.losses import by_efficiency, judge_losses, rubbing, share
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.rows import FROM_START, Lowered, Row, combination, lock
from bellcrank.mechanism.teeth import (
    angles_of,
    bearing_flank,
    forces_of_teeth,
    gap,
    judge_teeth,
    numbers_of_teeth,
    shares_of_rack,
)


@described
class RackPinion(ConstraintKind):
    """A pinion on a rack:  x - radius theta_z  stays the same.

    Marker 1 is on the rack, x along it; marker 2 on the pinion; the z axes are parallel. The teeth of the
    rack lie on the pinion's +y side; a negative radius means the -y side. Between two joints: travel - radius
    angle.

    efficiency: power out over power in where the pinion drives; None: no losses. back_efficiency: where the
        rack does, by default the same; otherwise as of `Gear`.
    pressure_angle, helix_angle: as of `Gear`, positive where the pinion is right-handed. flank: 1 bears where
        the pinion pushes as it turns positively, -1 the other.

    >>> wheel = slider_crank.add_body("wheel", 1.0, (1, 1, 1), position=(0.4, -0.05, 0))
    >>> pivot = slider_crank.ground.marker((0.4, -0.05, 0))
    >>> axle = slider_crank.add_joint("axle", bc.Revolute(), pivot, wheel)
    >>> rack = slider_crank.add_constraint("rack", bc.RackPinion(-0.05), "piston", wheel)
    >>> run = bc.simulate(slider_crank, 0.1)
    >>> print((run.joint("guide").velocity[-1, 0] / run.joint("axle").velocity[-1, 0]).round(6))    # m
    0.05
    """

    radius: FloatField = quantity("m", "not zero")
    efficiency: OptionalFloatField = share(default=None)
    back_efficiency: OptionalFloatField = share(default=None)
    pressure_angle: OptionalFloatField = quantity("rad", "not negative", default=None, followed=False)
    helix_angle: FloatField = quantity("rad", default=0.0, followed=False)
    flank: int = checked(bearing_flank, default=1)
    pattern: ClassVar[str] = "MM|JJ"
    ends_text: ClassVar[str] = "two markers (rack, pinion) or two joints (travel, angle)"
    meaning: ClassVar[str] = "A pinion on a rack."

    def _judge(self, check: Check) -> None:
        judge_losses(check, self)
        judge_teeth(check, self)

    def check_ends(self, check: Check, ends: tuple[Attachment, ...]) -> None:
        """Check that teeth act between markers."""
        if self.pressure_angle is not None and not all(isinstance(end, Marker) for end in ends):
            check.fault("joints know no teeth", None, "name the markers of both, or no pressure_angle")

    def rows(self, ends: tuple[End, ...]) -> tuple[Row, ...]:
        """The row  x - radius theta_z = its initial value; with a pressure angle the gap of its flank."""
        if self.pressure_angle is None:
            return (combination((1.0, -self.radius), self._both(ends)),)
        angles = angles_of(self.pressure_angle, self.helix_angle)
        return (Row(gap(*shares_of_rack(self.radius, angles, *markers(ends)), self.flank), FROM_START),)

    def effort_sign(self, row: Row) -> float:
        """An effort is that on the travel of the rack."""
        return 1.0 if row.terms[0].coefficient > 0.0 else -1.0

    def losses(self, name: str, ends: tuple[End, ...]) -> Lowered | None:
        """Friction on the pinion, in parts of its moment."""
        along = lock(self._both(ends)[1])
        form = (-self.radius if self.pressure_angle is None else -abs(self.radius) * self.flank,)
        return by_efficiency(name, along, form, self.efficiency, self.back_efficiency)

    def quantities(self, motion: Coupled) -> dict[str, tuple[str, Any]]:
        """The other forces of its teeth, by that at the rim."""
        if self.pressure_angle is None:
            return {}
        rim = np.ravel(motion.effort)
        return forces_of_teeth(angles_of(self.pressure_angle, self.helix_angle), rim)

    def _both(self, ends: tuple[End, ...]) -> tuple[Coordinate, ...]:
        one, two = ends
        if isinstance(one, Marker) and isinstance(two, Marker):
            return (Coordinate("x", one, two), Coordinate("theta_z", one, two))
        return coordinates(ends)


@described
class Coupling(ConstraintKind):
    """A linear relation between joint coordinates:  sum of coefficient_i q_i = constant.

    coefficients: one for each joint coordinate, none of them zero.
    constant: None takes the value of the sum in the assembled initial configuration.

    >>> pair = shafts.add_constraint("pair", bc.Coupling((2.0, -1.0)), "input", "output")    # 2 q1 = q2
    >>> run = bc.simulate(shafts, 1.0)
    >>> ratio = run.joint("output").velocity[-1, 0] / run.joint("input").velocity[-1, 0]
    >>> print(f"{ratio:.6f}")
    2.000000
    """

    coefficients: FloatsField = array("", None, sign="not zero")
    constant: OptionalFloatField = quantity(default=FROM_START)
    pattern: ClassVar[str] = "J+"
    ends_text: ClassVar[str] = "one joint for each coefficient"
    meaning: ClassVar[str] = "A linear relation between joint coordinates."

    def check_ends(self, check: Check, ends: tuple[Attachment, ...]) -> None:
        """Check that there are as many ends as coefficients."""
        if len(ends) != len(self.coefficients):
            check.fault(f"Coupling has {len(self.coefficients)} coefficients for {len(ends)} joints")

    def rows(self, ends: tuple[End, ...]) -> tuple[Row, ...]:
        """The relation."""
        return (combination(self.coefficients, coordinates(ends), self.constant),)


def _thread(check: Check, name: str, value: Any) -> Any:
    return check.instance(name, value, Thread)


@described
class ScrewCoupling(ConstraintKind):
    """A travel and an angle in two joints:  travel - pitch/(2 pi) angle  stays the same.

    pitch: travel for each turn, m, not zero.
    thread: of a lead screw, whose flanks rub. efficiency: of a ball screw instead, power out over power in
        where it turns the screw; back_efficiency: where the travel drives, by default 2 - 1/efficiency, as of
        parts that slide on each other. Otherwise as of `Gear`.

    >>> nut = block.add_body("nut", 1.0, (1, 1, 1))
    >>> turn = block.add_joint("turn", bc.Revolute(), "ground", nut)
    >>> lead = block.add_constraint("lead", bc.ScrewCoupling(pitch=0.01), "guide", "turn")
    >>> held = block.add_drive("motor", "turn", velocity=0.0)
    >>> effort = bc.statics(block).drives["motor"].effort
    >>> print(f"{effort:.6f} N m, by hand {2 * 9.81 * 0.01 / (2 * np.pi):.6f} N m")
    0.031226 N m, by hand 0.031226 N m
    """

    pitch: FloatField = quantity("m a turn", "not zero")
    thread: Thread | None = checked(_thread, default=None, parametric=True, followed=False)
    efficiency: OptionalFloatField = share(default=None)
    back_efficiency: OptionalFloatField = share(default=None)
    pattern: ClassVar[str] = "JJ"
    ends_text: ClassVar[str] = "two joints: travel, angle"
    meaning: ClassVar[str] = "The travel of one joint follows the angle of another, by a pitch."

    def _judge(self, check: Check) -> None:
        judge_losses(check, self)
        if len(check.faults) == 0 and self.thread is not None:
            if self.efficiency is not None:
                check.fault("it has a thread or an efficiency, not both", self.efficiency)
            if thread_weights(self.thread, self.pitch) is None:
                check.fault(
                    "its thread jams to one side, however little it bears", self.pitch, "give it less pitch"
                )

    def losses(self, name: str, ends: tuple[End, ...]) -> Lowered | None:
        """Friction about the axis, by the force of the travel."""
        _, angle = coordinates(ends)
        if self.thread is not None:
            weights = thread_weights(self.thread, self.pitch)
            return (
                None
                if weights is None
                else rubbing(name, lock(angle), (-1.0 if self.pitch > 0.0 else 1.0,), *weights)
            )
        back = self.back_efficiency
        if self.efficiency is not None and back is None:
            back = 2.0 - 1.0 / self.efficiency
        return by_efficiency(name, lock(angle), (-self.pitch / (2 * pi),), self.efficiency, back)

    def rows(self, ends: tuple[End, ...]) -> tuple[Row, ...]:
        """The row  travel - pitch/(2 pi) angle = its initial value."""
        return (combination((1.0, -self.pitch / (2 * pi)), coordinates(ends)),)


@described
class WormGear(ConstraintKind):
    """A worm and its wheel, with the friction of their flanks:  worm - (n2/n1) wheel  stays the same.

    teeth: starts of the worm and teeth of the wheel (n1, n2). lead_angle: of the worm's thread, rad.
    coefficient: of friction; zero: none. static_coefficient: while it holds; by default the same.
    pressure_angle: in the section across the thread, rad.

    The worm drives with the efficiency (cos a - mu tan g)/(cos a + mu cot g), a the pressure angle and g the
    lead angle; the wheel with (cos a - mu cot g)/(cos a + mu tan g), and not at all where that is negative.
    left: a thread like that of a left-handed screw: the wheel turns the other way.

    >>> kind = bc.WormGear((1, 40), lead_angle=bc.quantity("5 deg"))
    >>> worm = shafts.add_constraint("worm", kind, "input", "output")
    >>> run = bc.simulate(shafts, 1.0)
    >>> print((run.joint("input").velocity[-1, 0] / run.joint("output").velocity[-1, 0]).round(6))
    40.0
    """

    teeth: tuple[int, int] = checked(numbers_of_teeth, "1", parametric=True)
    lead_angle: FloatField = quantity("rad", "positive", followed=False)
    coefficient: FloatField = quantity("1", "not negative", default=0.0, followed=False)
    static_coefficient: OptionalFloatField = quantity("1", "not negative", default=None, followed=False)
    pressure_angle: FloatField = quantity("rad", "not negative", default=radians(20.0), followed=False)
    left: bool = flag(default=False)
    pattern: ClassVar[str] = "JJ"
    ends_text: ClassVar[str] = "two joints: worm, wheel"
    meaning: ClassVar[str] = "A worm and its wheel; it may lock itself."

    def _judge(self, check: Check) -> None:
        if len(check.faults) > 0:
            return
        if not self.lead_angle < radians(60.0) or not self.pressure_angle < radians(60.0):
            rule = "lead_angle and pressure_angle must be less than 60 degrees"
            check.fault(rule, (self.lead_angle, self.pressure_angle), IN_RADIANS)
        elif cos(self.pressure_angle) <= max(self._both) * tan(self.lead_angle):
            check.fault("it jams, whatever turns the worm", max(self._both), "give it less friction")
        if self._both[1] < self._both[0]:
            check.fault("static_coefficient must not be less than coefficient", self._both)

    @property
    def _both(self) -> tuple[float, float]:
        static = self.static_coefficient
        return self.coefficient, self.coefficient if static is None else static

    def efficiencies(self, coefficient: float | None = None) -> tuple[float, float]:
        """Where the worm drives, and where the wheel does (zero or less: it locks itself)."""
        mu = self.coefficient if coefficient is None else coefficient
        across, lead = cos(self.pressure_angle), tan(self.lead_angle)
        return (across - mu * lead) / (across + mu / lead), (across - mu / lead) / (across + mu * lead)

    def rows(self, ends: tuple[End, ...]) -> tuple[Row, ...]:
        """The row  worm - (n2/n1) wheel = its initial value."""
        ratio = self.teeth[1] / self.teeth[0]
        return (combination((1.0, ratio if self.left else -ratio), coordinates(ends)),)

    def losses(self, name: str, ends: tuple[End, ...]) -> Lowered | None:
        """Friction on the worm, in parts of its moment."""
        if max(self._both) == 0.0:
            return None
        found = [(1.0 / forward - 1.0, 1.0 - back) for forward, back in map(self.efficiencies, self._both)]
        return rubbing(name, lock(coordinates(ends)[0]), (1.0,), found[0], found[1])


@described
class Differential(ConstraintKind):
    """A differential: a + b - 2 carrier stays the same, for the angles of its two sides and its carrier.

    locking: the most by which the moments of its sides differ, in parts of their sum, before they turn
        against each other. preload: half of the same beside it, N m.

    >>> case = shafts.add_body("case", 1.0, (1, 1, 1))
    >>> turn = shafts.add_joint("carrier", bc.Revolute(), "ground", case)
    >>> axle = shafts.add_constraint("axle", bc.Differential(), "input", "output", "carrier")
    >>> held = shafts.add_drive("engine", "carrier", velocity=5.0)
    >>> run = bc.simulate(shafts, 1.0)
    >>> print(run.joint("input").velocity[-1] + run.joint("output").velocity[-1])    # rad/s: twice 5
    [10.]
    """

    locking: FloatField = quantity("1", "not negative", default=0.0, followed=False)
    preload: FloatField = quantity("N m", "not negative", default=0.0, followed=False)
    pattern: ClassVar[str] = "JJJ"
    ends_text: ClassVar[str] = "three joints: side a, side b, carrier"
    meaning: ClassVar[str] = "The carrier turns by the mean of the two sides."

    def losses(self, name: str, ends: tuple[End, ...]) -> Lowered | None:
        """Friction between the sides."""
        if self.locking == 0.0 and self.preload == 0.0:
            return None
        one, two, _ = coordinates(ends)
        between = combination((1.0, -1.0), (one, two), 0.0)
        return rubbing(name, between, (1.0,), (self.locking,) * 2, None, self.preload)

    def rows(self, ends: tuple[End, ...]) -> tuple[Row, ...]:
        """The row  a + b - 2 carrier = its initial value."""
        return (combination((1.0, 1.0, -2.0), coordinates(ends)),)


@described
class PlanetaryGear(ConstraintKind):
    """A planetary gear: n_sun sun + n_ring ring - (n_sun + n_ring) carrier stays the same (Willis' equation).

    sun_teeth, ring_teeth: numbers of teeth. The planets are not modelled as bodies.
    efficiency: from sun to ring and back while the carrier stands; None: no losses. It loses where teeth
        roll: friction acts between sun and carrier. Otherwise as of `Gear`.

    >>> case = shafts.add_body("case", 1.0, (1, 1, 1))
    >>> turn = shafts.add_joint("carrier", bc.Revolute(), "ground", case)
    >>> held = shafts.add_drive("brake", "output", velocity=0.0)    # the ring stands
    >>> gear = shafts.add_constraint("gear", bc.PlanetaryGear(20, 60), "input", "output", "carrier")
    >>> run = bc.simulate(shafts, 1.0)
    >>> ratio = run.joint("input").velocity[-1, 0] / run.joint("carrier").velocity[-1, 0]
    >>> print(f"{ratio:.6f}")    # 1 + 60/20
    4.000000
    """

    sun_teeth: int = whole(1)
    ring_teeth: int = whole(1)
    efficiency: OptionalFloatField = share(default=None)
    pattern: ClassVar[str] = "JJJ"
    ends_text: ClassVar[str] = "three joints: sun, ring, carrier"
    meaning: ClassVar[str] = "Sun, ring and carrier of a planetary gear."

    def _judge(self, check: Check) -> None:
        teeth = (self.sun_teeth, self.ring_teeth)
        if self.sun_teeth >= self.ring_teeth and len(check.faults) == 0:
            check.fault("the ring must have more teeth than the sun", teeth)

    def losses(self, name: str, ends: tuple[End, ...]) -> Lowered | None:
        """Friction between sun and carrier, in parts of the sun's moment."""
        if self.efficiency is None:
            return None
        sun, _, carrier = coordinates(ends)
        between = combination((1.0, -1.0), (sun, carrier), 0.0)
        return by_efficiency(name, between, (1.0,), self.efficiency, None)

    def rows(self, ends: tuple[End, ...]) -> tuple[Row, ...]:
        """The row  sun + i ring - (1 + i) carrier = its initial value,  i = n_ring/n_sun."""
        ratio = self.ring_teeth / self.sun_teeth
        return (combination((1.0, ratio, -1.0 - ratio), coordinates(ends)),)
