"""Gears, and belts on two pulleys.

Between two markers, gears and belts act as in a machine, with the tooth or belt force on the bodies
themselves, and no carrier need be named: azimuth(1, 2), the direction of the other wheel's centre in the axes
of the wheel, changes by minus the wheel's rotation relative to the line of centres. Their force is that along
the rim, unless teeth have a pressure angle (`teeth`). Between two joint coordinates they only couple two
numbers: shafts get moments alone, and bearings nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from math import isclose, pi
from typing import Any, ClassVar, Self

import numpy as np

from bellcrank.mechanism.attachment import Attachment, ConstraintKind, Coupled, End, coordinates, markers
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.coordinate import Coordinate
from bellcrank.mechanism.fields import array, checked, described, flag, fraction, quantity
from bellcrank.mechanism.given import FloatField, OptionalFloatField
from bellcrank.mechanism.losses import by_efficiency, judge_losses, share
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
    bearing_flank,
    forces_of_teeth,
    gap,
    judge_teeth,
    numbers_of_teeth,
    shares_of_wheels,
)


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
    teeth: tuple[int, int] | None = checked(numbers_of_teeth, "1", default=None, parametric=True)
    efficiency: OptionalFloatField = share(default=None)
    back_efficiency: OptionalFloatField = share(default=None)
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
        judge_losses(check, self)

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
    flank: int = checked(bearing_flank, default=1)
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
    flank: int = checked(bearing_flank, default=1)

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
