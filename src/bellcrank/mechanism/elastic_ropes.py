"""Ropes and toothed belts that stretch."""

from __future__ import annotations

from typing import Any, ClassVar

from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.creeping import Creeping
from bellcrank.mechanism.elastic_ways import ElasticWay
from bellcrank.mechanism.fields import checked, described, quantity, whole
from bellcrank.mechanism.given import OptionalFloatField
from bellcrank.mechanism.ropes import (
    ClosedWay,
    OpenWay,
    judge_lifting,
    judge_rough,
    number_of_end,
    numbers_of_ends,
)


@described
class ElasticRope(OpenWay, Creeping):
    """An elastic, massless rope over points, pulleys and drums, in the order of the ends; it pulls only.

    The tension of each part is  stiffness * stretch / length,  the length being that without load of what is
    not on a drum: it changes as the drum turns.

    radii, gripped: as for Rope; on a drum the rope is wound without stretch.
    stiffness: E A, the tension at which it would be twice as long, N.
    pretension: tension in the initial configuration, N. lengths: instead of it, of each part without load, m:
        what is not on drums, or on wheels that turn with it, in the initial configuration.
    damping: N s/m, of each part. depth: stretch over which the damping takes hold, m.
    rough, coefficient, turns: as for Rope: a wheel on which it rubs. It creeps there, and slips beyond
        Euler's ratio; results are those of `FlatBelt`, and flywheels are added as with it.
    slip_resistance: as for FlatBelt. leaves: as for Rope.

    >>> ends = [block.ground.marker((0.2, 0, 0)), block.ground.marker((0.1, 0, 1), axis="y"), "block"]
    >>> rope = block.add_force("rope", bc.ElasticRope((0.0, -0.1, 0.0), stiffness=1e4), *ends)
    >>> sag = -bc.statics(block).position["guide"][0]
    >>> print(f"{1e4 * sag / (2 + np.pi * 0.1):.4f} N")    # E A times the strain carries the weight
    19.6200 N
    """

    gripped: tuple[int, ...] = checked(numbers_of_ends, default=())
    rough: int | None = checked(number_of_end, default=None)
    coefficient: OptionalFloatField = quantity("1", "positive", default=None)
    turns: int = whole(0, default=0)
    slip_resistance: OptionalFloatField = quantity("N s/m", "positive", default=None)
    leaves: tuple[int, ...] = checked(numbers_of_ends, default=())
    ends_text: ClassVar[str] = (
        "two markers or more, one for each radius; it adds flywheels if an end is rough"
    )
    named: ClassVar[str] = "gripped"
    meaning: ClassVar[str] = "A rope that stretches, pulls and never pushes, over pulleys and on drums."

    def _judge(self, check: Check) -> None:
        super()._judge(check)
        if len(check.faults) == 0:
            judge_rough(self, check, ("coefficient", "turns"))
            judge_lifting(self, check)
            if self.leaves and self.rough:
                rule = "a rope that leaves wheels cannot be rough"
                check.fault(rule, self.leaves, "leave leaves out, or rough")

    @property
    def held(self) -> tuple[int, ...]:
        """Those that are gripped, and that which is rough."""
        return tuple(sorted({*super().held, *self.rubbing}))

    @property
    def more_turns(self) -> int:
        """As given."""
        return self.turns

    @property
    def rubbing(self) -> dict[int, Any]:
        """The rough one with its coefficient."""
        return {} if self.rough is None else {self.rough - 1: self.coefficient}


@described
class ElasticBelt(ClosedWay, ElasticWay):
    """A toothed belt or chain that stretches, around any number of wheels in a plane.

    The part between two wheels that turn with it is a spring that pulls only, of the stiffness E A over its
    length between them.

    radii, smooth: as for BeltLoop. stiffness, pretension, lengths, damping, depth: as for ElasticRope.

    >>> kind = bc.ElasticBelt((0.05, 0.1), stiffness=1e6, pretension=500.0, damping=100.0)
    >>> belt = shafts.add_force("belt", kind, "input shaft", "output shaft")
    >>> run = bc.simulate(shafts, 1.0)
    >>> ratio = run.joint("output").position[-1, 0] / run.joint("input").position[-1, 0]
    >>> print(f"{ratio:.3f}")    # 0.05 / 0.1
    0.500
    """

    smooth: tuple[int, ...] = checked(numbers_of_ends, default=())
    named: ClassVar[str] = "smooth"
    meaning: ClassVar[str] = "A toothed belt or chain that stretches, around any number of wheels."
