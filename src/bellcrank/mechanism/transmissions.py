"""Couplings of joint coordinates, differentials, cables and winches."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import dist, pi
from typing import ClassVar, Self

from bellcrank.mechanism.attachment import Attachment, End, coordinates, markers
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.constraint import ConstraintKind
from bellcrank.mechanism.coordinate import Coordinate
from bellcrank.mechanism.fields import array, described, flag, quantity, whole
from bellcrank.mechanism.given import FloatField, FloatsField, OptionalFloatField
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.rows import FROM_START, Row, Term, combination


@described
class Coupling(ConstraintKind):
    """A linear relation between joint coordinates:  sum of coefficient_i q_i = constant.

    coefficients: one for each joint coordinate, none of them zero.
    constant: None takes the value of the sum in the assembled initial configuration.
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
    """

    pitch: FloatField = quantity("m a turn", "not zero")
    pattern: ClassVar[str] = "JJ"
    ends_text: ClassVar[str] = "two joints: travel, angle"
    meaning: ClassVar[str] = "The travel of one joint follows the angle of another, by a pitch."

    def rows(self, ends: tuple[End, ...]) -> tuple[Row, ...]:
        """The row  travel - pitch/(2 pi) angle = its initial value."""
        return (combination((1.0, -self.pitch / (2 * pi)), coordinates(ends)),)


@described
class Differential(ConstraintKind):
    """A differential: a + b - 2 carrier stays the same, for the angles of its two sides and its carrier."""

    pattern: ClassVar[str] = "JJJ"
    ends_text: ClassVar[str] = "three joints: side a, side b, carrier"
    meaning: ClassVar[str] = "The carrier turns by the mean of the two sides."

    def rows(self, ends: tuple[End, ...]) -> tuple[Row, ...]:
        """The row  a + b - 2 carrier = its initial value."""
        return (combination((1.0, 1.0, -2.0), coordinates(ends)),)


@described
class PlanetaryGear(ConstraintKind):
    """A planetary gear: n_sun sun + n_ring ring - (n_sun + n_ring) carrier stays the same (Willis' equation).

    sun_teeth, ring_teeth: numbers of teeth. The planets are not modelled as bodies.
    """

    sun_teeth: int = whole(1)
    ring_teeth: int = whole(1)
    pattern: ClassVar[str] = "JJJ"
    ends_text: ClassVar[str] = "three joints: sun, ring, carrier"
    meaning: ClassVar[str] = "Sun, ring and carrier of a planetary gear."

    def _judge(self, check: Check) -> None:
        teeth = (self.sun_teeth, self.ring_teeth)
        if self.sun_teeth >= self.ring_teeth and len(check.faults) == 0:
            check.fault("the ring must have more teeth than the sun", teeth)

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
