"""Flat belts and round ones, which hold on their wheels by friction: they creep, and they slip."""

from __future__ import annotations

from typing import Any, ClassVar

from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.creeping import Creeping
from bellcrank.mechanism.fields import array, described, quantity
from bellcrank.mechanism.given import FloatsField, OptionalFloatField
from bellcrank.mechanism.parameters import present
from bellcrank.mechanism.ropes import is_zero


@described
class FlatBelt(Creeping):
    """A flat or round belt around any number of wheels in a plane, which creeps and slips on them.

    It lies still where it arrives at a wheel and creeps where it leaves it, so that a wheel that drives turns
    faster than one that is driven, by the ratio of the strains. While nothing turns it holds. Where the ratio
    of the tensions on both sides of a wheel passes exp(coefficient wrap) it slips there (Euler-Eytelwein),
    either way round, and holds again below.

    radii: one for each end, m, to the middle of the belt: positive if the belt passes counter-clockwise about
        the marker's z axis, negative if clockwise. The marker turns with the wheel; z axes are parallel, the
        same way round.
    stiffness: E A, the tension at which it would be twice as long, N. pretension, lengths: as for
        ElasticRope, of each span between wheels with friction.
    damping: N s/m, of each span. depth: stretch over which the damping takes hold, m.
    coefficients: of friction, one for each end; 0 for an idler on which the belt slides freely.
    slip_resistance: N s/m, by which the tension may be higher for each m/s of slip; by default the stiffness
        over 1000 km/s. The smaller it is, the shorter are the steps of explicit methods while it slips.

    The length of each span without load is a number that runs integrate: the speed of a small flywheel, which
    is added with the belt (bodies and joints "belt/1", "belt/2"). Results list the tension of each span; of
    each wheel with friction, by its place among the ends, the speed by which the belt creeps there against
    the rim, its slip, and the part of the friction that is used; the energy of the belt and its loss.

    >>> kind = bc.FlatBelt((0.05, 0.1), 2e4, pretension=300.0, damping=50.0, coefficients=(0.4, 0.4))
    >>> belt = shafts.add_force("belt", kind, "input shaft", "output shaft")
    >>> drive = shafts.add_drive("drive", "input", velocity=6.0)
    >>> load = shafts.add_force("load", bc.JointMotor(-10.0), "output")
    >>> run = bc.simulate(shafts, 30.0)
    >>> loose, tight = (run.force("belt").quantity(f"tension {k}")[-1] for k in (1, 2))
    >>> print(f"{tight - loose:.3f} N")    # 10 N m / 0.1 m
    100.000 N
    >>> ratio = run.joint("output").velocity[-1, 0] / run.joint("input").velocity[-1, 0]
    >>> print(f"{2 * ratio:.5f}, {(1 + loose / 2e4) / (1 + tight / 2e4):.5f}")    # by the strains
    0.99509, 0.99509
    """

    coefficients: FloatsField = array("1", None, default=())
    slip_resistance: OptionalFloatField = quantity("N s/m", "positive", default=None)
    closed: ClassVar[bool] = True
    ends_text: ClassVar[str] = (
        "two markers or more, one for each radius, and its flywheels, which it adds itself"
    )
    named: ClassVar[str] = "smooth"
    meaning: ClassVar[str] = "A flat or round belt that creeps on its wheels, and slips."

    def _judge(self, check: Check) -> None:
        super()._judge(check)
        if len(check.faults):
            return
        if len(self.coefficients) != len(self.radii):
            rule = f"coefficients must hold one number for each of {len(self.radii)} ends"
            check.fault(rule, self.coefficients, "0 for an idler without friction")
        elif any(present(c) < 0.0 for c in self.coefficients):
            check.fault("coefficients must not be negative", self.coefficients)
        elif not self.held:
            check.fault(
                "a belt without any friction drives nothing", self.coefficients, "give one a coefficient"
            )

    @property
    def smooth(self) -> tuple[int, ...]:
        """The numbers of wheels without friction, from 1."""
        return tuple(k for k in range(1, len(self.coefficients) + 1) if k - 1 not in self.held)

    @property
    def held(self) -> tuple[int, ...]:
        """The wheels with friction."""
        return tuple(k for k, coefficient in enumerate(self.coefficients) if not is_zero(coefficient))

    @property
    def rubbing(self) -> dict[int, Any]:
        """The wheels with friction, with their coefficients."""
        return {k: self.coefficients[k] for k in self.held}
