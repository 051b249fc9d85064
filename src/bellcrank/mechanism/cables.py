"""Cables through eyelets, and winches that pay them out."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import dist
from typing import ClassVar, Self

from bellcrank.mechanism.attachment import Attachment, ConstraintKind, End, coordinates, markers
from bellcrank.mechanism.coordinate import Coordinate
from bellcrank.mechanism.fields import described, flag, quantity
from bellcrank.mechanism.given import FloatField, OptionalFloatField
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.rows import FROM_START, Row, Term, combination


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
