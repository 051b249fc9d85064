"""Gears, racks and belts between two bodies.

Between two markers they act as in a machine, with the tooth or belt force on the bodies themselves, and no
carrier need be named: azimuth(1, 2), the direction of the other wheel's centre in the axes of the wheel,
changes by minus the wheel's rotation relative to the line of centres. Between two joint coordinates they only
couple two numbers.
"""

from __future__ import annotations

from collections.abc import Collection
from math import isclose
from typing import Any, ClassVar

from bellcrank.mechanism.attachment import End, coordinates
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.constraint import ConstraintKind
from bellcrank.mechanism.coordinate import Coordinate
from bellcrank.mechanism.fields import array, checked, described, flag, quantity
from bellcrank.mechanism.given import FloatField, OptionalFloatField
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.rows import Row, combination


def _teeth(check: Check, field: str, value: Any) -> tuple[int, int]:
    first, second = check.array(field, value, (2,)).tolist()
    if min(first, second) <= 0.0:
        check.fault(f"{field} must be greater than zero", value)
    if first != int(first) or second != int(second):
        check.fault(f"{field} must be whole numbers", value)
    return (int(first), int(second))


@described
class _Wheels(ConstraintKind):
    """Two wheels: exactly one of ratio, radii and teeth is given.

    ratio: r2/r1, how many times wheel 1 turns for one turn of wheel 2.
    radii: pitch radii (r1, r2), m. The multiplier of the row is then the force at the rim, in N.
    teeth: numbers of teeth (n1, n2).
    """

    ratio: OptionalFloatField = quantity(sign="positive", default=None)
    radii: tuple[float, float] | None = array("m", 2, sign="positive", default=None)
    teeth: tuple[int, int] | None = checked(_teeth, "1", default=None, parametric=True)
    pattern: ClassVar[str] = "MM|JJ"
    ends_text: ClassVar[str] = "two markers (z along the wheels' axes) or two joints"
    about: ClassVar[str] = "azimuth"

    def _judge(self, check: Check) -> None:
        given = {f: value for f in ("ratio", "radii", "teeth") if (value := getattr(self, f)) is not None}
        if len(given) != 1:
            shown = list(given) if len(check.faults) else given  # what is wrong has been replaced
            check.fault("exactly one of ratio, radii and teeth must be given", shown or None)

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
        return -1.0 if row.terms[0].coordinate.kind == self.about else 1.0

    @property
    def sign(self) -> float:
        """+1 if the wheels turn against each other, -1 if they turn the same way."""
        return 1.0

    def rows(self, ends: tuple[End, ...]) -> tuple[Row, ...]:
        """The row  r1 turn 1 + sign r2 turn 2 = its initial value."""
        first, second = self.weights
        return (combination((first, self.sign * second), self._turns(ends)),)

    def _turns(self, ends: tuple[End, ...]) -> tuple[Coordinate, ...]:
        one, two = ends
        if isinstance(one, Marker) and isinstance(two, Marker):
            return (Coordinate(self.about, one, two), Coordinate(self.about, two, one))
        return coordinates(ends)


@described
class Gear(_Wheels):
    """Two external spur gears with parallel axes: r1 azimuth(1, 2) + r2 azimuth(2, 1) stays the same."""

    meaning: ClassVar[str] = "External gears with parallel axes: they turn against each other."


@described
class InternalGear(_Wheels):
    """A pinion in a ring gear, parallel axes: r1 azimuth(1, 2) - r2 azimuth(2, 1) stays the same."""

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
    """

    meaning: ClassVar[str] = "Bevel gears whose axes meet at an angle."
    about: ClassVar[str] = "azimuth_axis"


@described
class Belt(_Wheels):
    """A belt or chain round two pulleys with parallel axes; it does not slip or stretch.

    crossed: the belt crosses, so that the pulleys turn against each other.
    """

    crossed: bool = flag(default=False)
    meaning: ClassVar[str] = "A belt or chain round two pulleys; open: they turn the same way."

    @property
    def sign(self) -> float:
        """-1 for an open belt, +1 for a crossed one."""
        return 1.0 if self.crossed else -1.0


@described
class RackPinion(ConstraintKind):
    """A pinion on a rack:  x - radius theta_z  stays the same.

    Marker 1 is on the rack, x along it; marker 2 on the pinion; the z axes are parallel. The teeth of the
    rack lie on the pinion's +y side; a negative radius means the -y side. Between two joints: travel - radius
    angle.
    """

    radius: FloatField = quantity("m", "not zero")
    pattern: ClassVar[str] = "MM|JJ"
    ends_text: ClassVar[str] = "two markers (rack, pinion) or two joints (travel, angle)"
    meaning: ClassVar[str] = "A pinion on a rack."

    def rows(self, ends: tuple[End, ...]) -> tuple[Row, ...]:
        """The row  x - radius theta_z = its initial value."""
        one, two = ends
        if isinstance(one, Marker) and isinstance(two, Marker):
            both: tuple[Coordinate, ...] = (Coordinate("x", one, two), Coordinate("theta_z", one, two))
        else:
            both = coordinates(ends)
        return (combination((1.0, -self.radius), both),)
