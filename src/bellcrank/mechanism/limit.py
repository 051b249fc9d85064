"""Limits: stops on a coordinate of a joint."""

from __future__ import annotations

from dataclasses import dataclass

from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.coordinate import Coordinate
from bellcrank.mechanism.parametric import Parametric
from bellcrank.mechanism.rows import Block, Row, Term


@dataclass(frozen=True)
class Limit(Parametric):
    """Stops that keep a coordinate between two values.

    lower, upper: rad or m; None leaves that side free. At least one must be given, and lower < upper.
    restitution: ratio of the speeds after and before hitting a stop, 0 (none) to 1 (elastic).
    """

    lower: float | None = None
    upper: float | None = None
    restitution: float = 0.0

    def __post_init__(self) -> None:
        with Check("Limit") as check:
            lower = None if self.lower is None else check.number("lower", self.lower)
            upper = None if self.upper is None else check.number("upper", self.upper)
            if lower is None and upper is None:
                check.fault("a limit needs a lower or an upper value")
            if lower is not None and upper is not None and len(check.faults) == 0 and lower >= upper:
                check.fault(
                    "lower must be less than upper", (lower, upper), "to hold a value fixed use a drive"
                )
            restitution = check.fraction("restitution", self.restitution)
            check.settle(self, lower=lower, upper=upper, restitution=restitution)

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
