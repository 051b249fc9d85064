"""Gears, racks, belts, couplings of joint coordinates, differentials, cables and winches.

Between two markers, gears, racks and belts act as in a machine, with the tooth or belt force on the bodies
themselves, and no carrier need be named: azimuth(1, 2), the direction of the other wheel's centre in the axes
of the wheel, changes by minus the wheel's rotation relative to the line of centres. Their force is that along
the rim, unless teeth have a pressure angle (`teeth`). Between two joint coordinates they only couple two
numbers: shafts get moments alone, and bearings nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import pairwise
from math import cos, dist, isclose, pi, radians, tan
from typing import Any, ClassVar, Self

import numpy as np

from bellcrank.mechanism.attachment import Attachment, ConstraintKind, Coupled, End, coordinates, markers
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.coordinate import Coordinate
from bellcrank.mechanism.fields import array, checked, described, flag, fraction, quantity, whole
from bellcrank.mechanism.friction_loads import Thread, thread_weights
from bellcrank.mechanism.given import FloatField, FloatsField, OptionalFloatField
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.rows import (
    FROM_START,
    Block,
    FrictionLoad,
    LoadOf,
    Lowered,
    Row,
    Term,
    combination,
    dry_friction,
    lock,
)
from bellcrank.mechanism.teeth import (
    angles_of,
    forces_of_teeth,
    gap,
    judge_angles,
    shares_of_rack,
    shares_of_wheels,
)


def _efficiency(check: Check, name: str, value: Any) -> float:
    found = check.number(name, value)
    if len(check.faults) == 0 and not found <= 1.0:
        check.fault(f"{name} must not be more than 1", value)
    if len(check.faults) == 0 and name == "efficiency" and not found > 0.0:
        check.fault(f"{name} must be more than 0", value)
    return found


def _share(**options: Any) -> Any:
    """An efficiency: a number up to 1."""
    return checked(_efficiency, "1", parametric=True, followed=False, **options)


def rubbing(
    name: str,
    along: Row,
    form: tuple[float, ...],
    slipping: tuple[float, float],
    holding: tuple[float, float] | None = None,
    constant: float = 0.0,
) -> Lowered:
    """Dry friction along a sum of coordinates that grows with what the rows of a constraint transmit.

    form: what multipliers of the rows exert along it. slipping, holding: the weights of
        `FrictionLoad`. constant: effort beside, N or N m.
    """
    padded = (*form, *(0.0,) * (6 - len(form)))
    load = FrictionLoad(
        LoadOf.CONSTRAINT_ROWS, name, (padded,), slipping, slipping if holding is None else holding
    )
    return dry_friction(along, (load,), coulomb=constant, start=constant, holding=constant)


def by_efficiency(
    name: str, along: Row, form: tuple[float, ...], forward: float | None, back: float | None
) -> Lowered | None:
    """The losses of a transmission, as friction along its first coordinate; None: it has none.

    Where that drives, a moment M at the other end takes M/forward; where it is driven, it gets back times the
    moment that drives it.
    """
    if forward is None:
        return None
    return rubbing(name, along, form, (1.0 / forward - 1.0, 1.0 - (forward if back is None else back)))


def _teeth(check: Check, field: str, value: Any) -> tuple[int, int]:
    first, second = check.array(field, value, (2,)).tolist()
    if min(first, second) <= 0.0:
        check.fault(f"{field} must be greater than zero", value)
    if first != int(first) or second != int(second):
        check.fault(f"{field} must be whole numbers", value)
    return (int(first), int(second))


def _thread(check: Check, name: str, value: Any) -> Any:
    return check.instance(name, value, Thread)


def _flank(check: Check, field: str, value: Any) -> int:
    found = check.integer(field, value, -1)
    if len(check.faults) == 0 and found not in (1, -1):
        check.fault(f"{field} must be 1 or -1", value)
        return 1
    return found


def judge_teeth(check: Check, kind: Any) -> None:
    """Note faults of the angles of teeth."""
    if len(check.faults) == 0:
        judge_angles(check, kind.pressure_angle or 0.0, kind.helix_angle)
        if kind.pressure_angle is None and kind.helix_angle:
            check.fault("helix_angle without pressure_angle", kind.helix_angle, "give pressure_angle too")


def _judge_losses(check: Check, kind: Any) -> None:
    if kind.efficiency is None and kind.back_efficiency is not None:
        check.fault("back_efficiency without efficiency", kind.back_efficiency, "give efficiency too")


@described
class _Wheels(ConstraintKind):
    """Two wheels: exactly one of ratio, radii and teeth is given.

    ratio: r2/r1, how many times wheel 1 turns for one turn of wheel 2.
    radii: pitch radii (r1, r2), m. The multiplier of the row is then the force at the rim, in N.
    teeth: numbers of teeth (n1, n2).
    efficiency: power out over power in where wheel 1 drives; None: no losses. back_efficiency: where wheel 2
        drives, by default the same; with zero or less it cannot: it locks itself. Losses are dry friction on
        wheel 1, which holds exactly at rest, and which results list as a force of the constraint's name.
    backlash: by how much wheel 1 turns from flank to flank while wheel 2 stands, rad, or m at the rim if
        radii are given; None: none. Between joints alone. middle: the value of turn 1 + ratio turn 2 (- for
        wheels that turn the same way), or the same with radii, where teeth are in the middle of their gaps.
        restitution: of speeds, where flanks strike.
    """

    ratio: OptionalFloatField = quantity(sign="positive", default=None)
    radii: tuple[float, float] | None = array("m", 2, sign="positive", default=None)
    teeth: tuple[int, int] | None = checked(_teeth, "1", default=None, parametric=True)
    efficiency: OptionalFloatField = _share(default=None)
    back_efficiency: OptionalFloatField = _share(default=None)
    backlash: OptionalFloatField = quantity("rad or m", "positive", default=None)
    middle: FloatField = quantity("rad or m", default=0.0)
    restitution: FloatField = fraction(default=0.0)
    pattern: ClassVar[str] = "MM|JJ"
    ends_text: ClassVar[str] = "two markers (z along the wheels' axes) or two joints"
    about: ClassVar[str] = "azimuth"

    def _judge(self, check: Check) -> None:
        given = {f: value for f in ("ratio", "radii", "teeth") if (value := getattr(self, f)) is not None}
        if len(given) != 1:
            shown = list(given) if len(check.faults) else given  # what is wrong has been replaced
            check.fault("exactly one of ratio, radii and teeth must be given", shown or None)
        _judge_losses(check, self)

    @property
    def weights(self) -> tuple[float, float]:
        """The coefficients of the two turns, both positive."""
        if self.radii is not None:
            return self.radii
        if self.teeth is not None:
            return (1.0, self.teeth[1] / self.teeth[0])
        return (1.0, 1.0 if self.ratio is None else self.ratio)

    def effort_unit(self, _units: Collection[str]) -> str:
        """Unit of the force at the rim if radii are given, else of the torque on wheel 1."""
        return "N m" if self.radii is None else "N"

    def effort_sign(self, row: Row) -> float:
        """-1 between markers: an azimuth falls as its wheel turns, and the effort is that on the turn."""
        along = -1.0 if row.terms[0].coordinate.kind == self.about else 1.0
        return along if row.terms[0].coefficient > 0.0 else -along

    @property
    def sign(self) -> float:
        """+1 if the wheels turn against each other, -1 if they turn the same way."""
        return 1.0

    def check_ends(self, check: Check, ends: tuple[Attachment, ...]) -> None:
        """Check that backlash is between joints."""
        if self.backlash is not None and any(isinstance(end, Marker) for end in ends):
            advice = "name two joints instead, or give gears a pressure_angle"
            check.fault("backlash is between the turns of two joints", None, advice)

    @property
    def unilateral(self) -> bool:
        """Whether teeth touch on one flank at a time."""
        return self.backlash is not None

    def rows(self, ends: tuple[End, ...]) -> tuple[Row, ...]:
        """The row  r1 turn 1 + sign r2 turn 2 = its initial value; with backlash one for each flank."""
        first, second = self.weights
        if self.backlash is None:
            return (combination((first, self.sign * second), self._turns(ends)),)
        half, turns = self.backlash / 2, self._turns(ends)
        return (
            combination((first, self.sign * second), turns, self.middle - half),
            combination((-first, -self.sign * second), turns, -self.middle - half),
        )

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """A block; with backlash one for each flank."""
        if self.backlash is None:
            return super().lowered(ends)
        each = [(row,) for row in self.rows(ends)]
        return Lowered(
            tuple(Block("constraint", rows, unilateral=True, restitution=self.restitution) for rows in each)
        )

    def losses(self, name: str, ends: tuple[End, ...]) -> Lowered | None:
        """Friction on wheel 1, in parts of its moment."""
        form = (self.weights[0],) if self.backlash is None else (self.weights[0], -self.weights[0])
        along = lock(self._turns(ends)[0])
        return by_efficiency(name, along, form, self.efficiency, self.back_efficiency)

    def _turns(self, ends: tuple[End, ...]) -> tuple[Coordinate, ...]:
        one, two = ends
        if isinstance(one, Marker) and isinstance(two, Marker):
            return (Coordinate(self.about, one, two), Coordinate(self.about, two, one))
        return coordinates(ends)


class _Parallel(_Wheels):
    """Gears with parallel axes, whose teeth may have a pressure angle and a helix."""

    pressure_angle: OptionalFloatField
    helix_angle: FloatField
    flank: int

    def _judge(self, check: Check) -> None:
        super()._judge(check)
        judge_teeth(check, self)
        if len(check.faults) == 0 and self.pressure_angle is not None:
            if self.radii is None:
                check.fault("teeth with a pressure_angle need radii", None, "give radii, m")
            if self.backlash is not None and not abs(self.middle) <= 0.5 * self.backlash:
                check.fault("middle must not be more than half of the backlash", self.middle)

    def check_ends(self, check: Check, ends: tuple[Attachment, ...]) -> None:
        """Check that teeth act between markers, and plain backlash between joints."""
        if self.pressure_angle is None:
            super().check_ends(check, ends)
        elif not all(isinstance(end, Marker) for end in ends):
            check.fault("joints know no teeth", None, "name the markers of both wheels, or no pressure_angle")

    def rows(self, ends: tuple[End, ...]) -> tuple[Row, ...]:
        """With a pressure angle the gap of the flank that bears, or those of both."""
        if self.pressure_angle is None or self.radii is None:
            return super().rows(ends)
        one, two = markers(ends)
        angles = angles_of(self.pressure_angle, self.helix_angle)
        shares = shares_of_wheels(self.radii, self.sign, angles, one, two)
        if self.backlash is None:
            return (Row(gap(*shares, self.flank), FROM_START),)
        half = 0.5 * self.backlash
        return tuple(Row(gap(*shares, side), FROM_START, start=half + side * self.middle) for side in (1, -1))

    def held_with(self, values: Sequence[float]) -> Self:
        """With teeth as far from the middle of their gaps as these gaps of both flanks tell."""
        if self.pressure_angle is None or self.backlash is None:
            return self
        half = 0.5 * self.backlash
        return replace(self, middle=min(max(0.5 * (values[0] - values[1]), -half), half))

    def losses(self, name: str, ends: tuple[End, ...]) -> Lowered | None:
        """As of all, of the flank that bears."""
        if self.pressure_angle is None or self.backlash is not None:
            return super().losses(name, ends)
        form = (self.flank * self.weights[0],)
        return by_efficiency(name, lock(self._turns(ends)[0]), form, self.efficiency, self.back_efficiency)

    def quantities(self, motion: Coupled) -> dict[str, tuple[str, Any]]:
        """The other forces of its teeth, by that at the rim."""
        if self.pressure_angle is None:
            return {}
        rim = np.sum(np.reshape(motion.effort, (len(motion.time), -1)), axis=1)
        return forces_of_teeth(angles_of(self.pressure_angle, self.helix_angle), rim)


@described
class Gear(_Parallel):
    """Two external gears with parallel axes: r1 azimuth(1, 2) + r2 azimuth(2, 1) stays the same.

    pressure_angle: of involute teeth, across the tooth, rad, such as 20 degrees. Their force F at the rim
        then presses wheels apart by F tan(pressure_angle)/cos(helix_angle), which bearings carry, and the
        gear needs markers and radii. None: it acts along the rim alone.
    helix_angle: on the pitch cylinder, rad, positive where wheel 1 is right-handed: the force along the axes
        is F tan(helix_angle), at the pitch point, so that it tilts wheels.
    flank: which one bears without backlash: 1 where wheel 1 pushes as it turns positively, -1 the other. A
        run in which it would have to pull ends. With `backlash`, and `middle` from the start on, teeth change
        flanks.

    >>> gear = shafts.add_constraint("gear", bc.Gear(radii=(0.1, 0.2)), "input shaft", "output shaft")
    >>> run = bc.simulate(shafts, 1.0)
    >>> ratio = run.joint("output").velocity[-1, 0] / run.joint("input").velocity[-1, 0]
    >>> print(f"{ratio:.6f}")    # -0.1 / 0.2
    -0.500000
    """

    pressure_angle: OptionalFloatField = quantity("rad", "not negative", default=None, followed=False)
    helix_angle: FloatField = quantity("rad", default=0.0, followed=False)
    flank: int = checked(_flank, default=1)
    meaning: ClassVar[str] = "External gears with parallel axes: they turn against each other."


@described
class InternalGear(_Parallel):
    """A pinion in a ring gear, parallel axes: r1 azimuth(1, 2) - r2 azimuth(2, 1) stays the same.

    pressure_angle, helix_angle, flank: as of `Gear`; the force presses the pinion inwards.

    >>> gear = shafts.add_constraint("gear", bc.InternalGear(radii=(0.2, 0.5)), "input shaft", "output shaft")
    >>> run = bc.simulate(shafts, 1.0)
    >>> ratio = run.joint("output").velocity[-1, 0] / run.joint("input").velocity[-1, 0]
    >>> print(f"{ratio:.6f}")    # 0.2 / 0.5
    0.400000
    """

    pressure_angle: OptionalFloatField = quantity("rad", "not negative", default=None, followed=False)
    helix_angle: FloatField = quantity("rad", default=0.0, followed=False)
    flank: int = checked(_flank, default=1)

    meaning: ClassVar[str] = "A pinion in a ring gear: they turn the same way."

    def _judge(self, check: Check) -> None:
        super()._judge(check)
        if len(check.faults) == 0 and isclose(*self.weights, rel_tol=1e-12):
            check.fault("pinion and ring must differ in size", self.weights)

    @property
    def sign(self) -> float:
        """-1, since both turn the same way."""
        return -1.0


@described
class BevelGear(_Wheels):
    """Two bevel gears: as Gear, with the turns measured towards the other gear's axis (azimuth_axis).

    The z axes point along the axes, both away from the common apex (or both towards it). Their angle is kept
    by the bearings, not by the gears.

    >>> mech = bc.Mechanism("right angle", gravity=(0, 0, 0))
    >>> for axis, speed in (("z", 6.0), ("x", None)):
    ...     shaft = mech.add_body(axis, 1.0, (1, 1, 1))
    ...     ends = mech.ground.marker(axis=axis), shaft.marker(axis=axis)
    ...     turn = mech.add_joint(f"turn {axis}", bc.Revolute(), *ends, velocity=speed)
    >>> ends = [mech.bodies["z"].marker(), mech.bodies["x"].marker(axis="x")]
    >>> gear = mech.add_constraint("gear", bc.BevelGear(teeth=(20, 40)), *ends)
    >>> print(bc.simulate(mech, 1.0).joint("turn x").velocity[-1].round(6))    # rad/s: 20/40 of 6
    [-3.]
    """

    meaning: ClassVar[str] = "Bevel gears whose axes meet at an angle."
    about: ClassVar[str] = "azimuth_axis"


@described
class Belt(_Wheels):
    """A belt or chain round two pulleys with parallel axes; it does not stretch.

    crossed: the belt crosses, so that the pulleys turn against each other.
    coefficient: of friction between belt and pulleys; None: it does not slip. Then it needs markers, radii
        and its pretension: the mean of the tensions of both parts, N. It holds up to the difference of them
        of 2 pretension tanh(coefficient/2 wrap), wrap the least angle that it lies around a pulley
        (Euler-Eytelwein), and slips beyond. Results list the difference as a force of the belt's name.

    >>> belt = shafts.add_constraint("belt", bc.Belt(radii=(0.05, 0.1)), "input", "output")
    >>> run = bc.simulate(shafts, 1.0)
    >>> ratio = run.joint("output").velocity[-1, 0] / run.joint("input").velocity[-1, 0]
    >>> print(f"{ratio:.6f}")    # 0.05 / 0.1
    0.500000
    """

    crossed: bool = flag(default=False)
    coefficient: OptionalFloatField = quantity("1", "positive", default=None, followed=False)
    pretension: OptionalFloatField = quantity("N", "positive", default=None, followed=False)
    meaning: ClassVar[str] = "A belt or chain round two pulleys; open: they turn the same way."

    def _judge(self, check: Check) -> None:
        super()._judge(check)
        if len(check.faults) > 0:
            return
        if (self.coefficient is None) != (self.pretension is None):
            given = self.pretension if self.coefficient is None else self.coefficient
            check.fault("a belt that slips needs both coefficient and pretension", given)
        elif self.coefficient is not None:
            if self.radii is None:
                check.fault("a belt that slips needs radii", None, "give radii, m")
            if self.efficiency is not None or self.backlash is not None:
                check.fault("a belt that slips has neither efficiency nor backlash")

    def check_ends(self, check: Check, ends: tuple[Attachment, ...]) -> None:
        """Check that a belt that slips is between markers, by which it knows its angle of wrap."""
        super().check_ends(check, ends)
        if self.coefficient is not None and not all(isinstance(end, Marker) for end in ends):
            check.fault("a belt that slips is between markers", None, "name the markers of both pulleys")

    @property
    def sign(self) -> float:
        """-1 for an open belt, +1 for a crossed one."""
        return 1.0 if self.crossed else -1.0

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """A block, or nothing but friction."""
        return super().lowered(ends) if self.coefficient is None else Lowered()

    def losses(self, name: str, ends: tuple[End, ...]) -> Lowered | None:
        """Friction between belt and pulleys, along what passes them."""
        if self.coefficient is None or self.pretension is None or self.radii is None:
            return super().losses(name, ends)
        one, two = markers(ends)
        first, second = self.radii
        crossing = first + second if self.crossed else abs(first - second)
        wrap = (Term(2.0 if self.crossed else -2.0, Coordinate("tangent_slant", one, two, (crossing,))),)
        weights = (self.coefficient, self.coefficient)
        load = FrictionLoad(
            LoadOf.NOTHING, name, ((self.pretension, *(0.0,) * 5),), weights, weights, wrap, pi
        )
        along = combination((first, self.sign * second), self._turns(ends), 0.0)
        return dry_friction(along, (load,), coulomb=0.0, start=0.0, holding=0.0)


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
    efficiency: OptionalFloatField = _share(default=None)
    back_efficiency: OptionalFloatField = _share(default=None)
    pressure_angle: OptionalFloatField = quantity("rad", "not negative", default=None, followed=False)
    helix_angle: FloatField = quantity("rad", default=0.0, followed=False)
    flank: int = checked(_flank, default=1)
    pattern: ClassVar[str] = "MM|JJ"
    ends_text: ClassVar[str] = "two markers (rack, pinion) or two joints (travel, angle)"
    meaning: ClassVar[str] = "A pinion on a rack."

    def _judge(self, check: Check) -> None:
        _judge_losses(check, self)
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
    efficiency: OptionalFloatField = _share(default=None)
    back_efficiency: OptionalFloatField = _share(default=None)
    pattern: ClassVar[str] = "JJ"
    ends_text: ClassVar[str] = "two joints: travel, angle"
    meaning: ClassVar[str] = "The travel of one joint follows the angle of another, by a pitch."

    def _judge(self, check: Check) -> None:
        _judge_losses(check, self)
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

    teeth: tuple[int, int] = checked(_teeth, "1", parametric=True)
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
            check.fault(rule, (self.lead_angle, self.pressure_angle))
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
    efficiency: OptionalFloatField = _share(default=None)
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


def _segments(ends: tuple[Marker, ...]) -> tuple[list[Coordinate], float]:
    """The distances that can change, and the sum of those that cannot, between markers of the same body."""
    between = [(one, two) for one, two in pairwise(ends) if one.body != two.body]
    fixed = sum(dist(one.position, two.position) for one, two in pairwise(ends) if one.body == two.body)
    return [Coordinate("distance", one, two) for one, two in between], fixed


@described
class Cable(ConstraintKind):
    """An inextensible cable from marker to marker; all but the first and last are eyelets it runs through.

    length: total, m; None takes the length in the assembled initial configuration.
    slack: if True the cable only pulls and may go slack: length - sum of distances >= 0.

    >>> eyelet = block.ground.marker((0, 0, 1))
    >>> weight = block.add_body("weight", 1.0, (1, 1, 1), position=(0.2, 0, 0))
    >>> guide = block.add_joint("other", bc.Prismatic(), block.ground.marker((0.2, 0, 0)), weight)
    >>> cable = block.add_constraint("cable", bc.Cable(), "block", eyelet, weight.marker((-0.2, 0, 0)))
    >>> print(bc.simulate(block, 0.2).constraint("cable").effort[-1].round(4))    # N: 4/3 of 9.81
    13.08
    """

    length: OptionalFloatField = quantity("m", "positive", default=None)
    slack: bool = flag(default=False)
    pattern: ClassVar[str] = "MM+"
    ends_text: ClassVar[str] = "two markers or more"
    meaning: ClassVar[str] = "A cable of constant length through any number of eyelets."

    @property
    def unilateral(self) -> bool:
        """Whether the cable may go slack."""
        return self.slack

    def rows(self, ends: tuple[End, ...]) -> tuple[Row, ...]:
        """The row  length - sum of distances."""
        segments, fixed = _segments(markers(ends))
        terms = tuple(Term(-1.0, segment) for segment in segments)
        return (Row(terms, FROM_START if self.length is None else fixed - self.length),)

    def held_at(self, value: float, ends: tuple[Attachment, ...]) -> Self:
        """The cable with the length that gives its row this constant."""
        points = tuple(end for end in ends if isinstance(end, Marker))
        return replace(self, length=_segments(points)[1] - value)


@described
class Winch(ConstraintKind):
    """A cable from marker to marker that a drum pays out:  sum of distances - radius angle  stays the same.

    radius: of the drum, m; a negative one winds up where the angle grows.

    >>> drum = block.add_body("drum", 1.0, (1, 1, 1))
    >>> turn = block.add_joint("turn", bc.Revolute(), "ground", drum)
    >>> winch = block.add_constraint("winch", bc.Winch(0.1), "turn", block.ground.marker((0, 0, 5)), "block")
    >>> held = block.add_drive("motor", "turn", velocity=0.0)
    >>> print(f"{abs(bc.statics(block).drives['motor'].effort):.4f} N m, by hand {2 * 9.81 * 0.1:.4f} N m")
    1.9620 N m, by hand 1.9620 N m
    """

    radius: FloatField = quantity("m", "not zero")
    pattern: ClassVar[str] = "JMM+"
    ends_text: ClassVar[str] = "the drum's joint, then two markers or more"
    meaning: ClassVar[str] = "A cable through eyelets that a drum pays out and winds up."

    def effort_sign(self, _row: Row) -> float:
        """-1: the effort is the tension, which pulls the points together."""
        return -1.0

    def rows(self, ends: tuple[End, ...]) -> tuple[Row, ...]:
        """The row  sum of distances - radius angle = its initial value."""
        segments, _ = _segments(markers(ends[1:]))
        coefficients = [1.0] * len(segments) + [-self.radius]
        return (combination(coefficients, [*segments, *coordinates(ends[:1])]),)
