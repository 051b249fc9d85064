"""Limits: stops on a coordinate of a joint."""

from __future__ import annotations

from math import inf

from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.coordinate import Coordinate
from bellcrank.mechanism.fields import Description, described, fraction, quantity
from bellcrank.mechanism.given import FloatField, OptionalFloatField
from bellcrank.mechanism.rows import Block, Row, Term


@described
class Limit(Description):
    """Stops that keep a coordinate between two values.

    lower, upper: rad or m; None leaves that side free. At least one must be given, and lower < upper.
    restitution: ratio of the speeds after and before hitting a stop, 0 (none) to 1 (elastic).
    """

    lower: OptionalFloatField = quantity("rad or m", default=None)
    upper: OptionalFloatField = quantity("rad or m", default=None)
    restitution: FloatField = fraction(default=0.0)

    def _judge(self, check: Check) -> None:
        if self.lower is None and self.upper is None:
            check.fault("a limit needs a lower or an upper value")
        low, high = (-inf if self.lower is None else self.lower, inf if self.upper is None else self.upper)
        if len(check.faults) == 0 and low >= high:
            check.fault("lower must be less than upper", (low, high), "to hold a value fixed use a drive")

    def lowered(self, coordinate: Coordinate) -> tuple[Block, ...]:
        """One unilateral row for each stop:  coordinate - lower >= 0  and  upper - coordinate >= 0."""
        blocks = []
        if self.lower is not None:
            row = Row((Term(1.0, coordinate),), self.lower)
            blocks.append(Block("limit_lower", (row,), unilateral=True, restitution=self.restitution))
        if self.upper is not None:
            row = Row((Term(-1.0, coordinate),), -self.upper)
            blocks.append(Block("limit_upper", (row,), unilateral=True, restitution=self.restitution))
        return tuple(blocks)
