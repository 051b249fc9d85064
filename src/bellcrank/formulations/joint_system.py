"""Common parts of formulations in joint coordinates: options, and the closing rows of their trees."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from bellcrank.compile.model import Model
from bellcrank.formulations.cuts import cut_blocks, cut_joints
from bellcrank.formulations.options import option
from bellcrank.formulations.system import System


@dataclass(frozen=True)
class JointSystemOptions:
    """Options of projections onto closing rows; the metadata of each field hold its meaning and unit."""

    rank_tolerance: float = option(
        1e-10, "A closing row whose pivot falls below this part of its own entry is redundant."
    )
    position_tolerance: float = option(1e-13, "Largest constraint error after a projection.", "m or rad/2")
    stage_pivot: float = option(
        1e-2, "Smallest relative pivot below which the stages of a step are projected."
    )
    doubt: float = option(
        10.0, "Angle between rows, in sizes of a correction, beyond which they are not compared."
    )
    contact_tolerance: float = option(1e-8, "Gap of a stop that counts as closed.", "m or rad")
    rest_speed: float = option(
        1e-3, "Approach speed below which a stop does not bounce.", "m/s or rad/s", 0.0
    )
    max_corrections: int = option(25, "Position corrections before a projection gives up.", least=1)
    cut: tuple[str, ...] = option((), "Joints at which loops are cut, by name; the other cuts are chosen.")

    def for_core(self, model: Model, formulation: str) -> dict[str, Any]:
        """The options as the core takes them. Raises MechanismError for joints that cannot be cut."""
        return {**asdict(self), "cut": cut_blocks(model, formulation, self.cut)}


class JointSystem(System):
    """A model prepared for a formulation in joint coordinates."""

    @property
    def loses_digits(self) -> bool:
        """Sums over the mechanism hide light bodies."""
        return True

    @property
    def closing_rows(self) -> tuple[str, ...]:
        """The rows enforced by multipliers; all others are satisfied by the choice of coordinates."""
        return tuple(self.model.row_text(row) for row in self.core.closing_rows())

    @cached_property
    def cut_joints(self) -> tuple[str, ...]:
        """The joints left out of the tree: the cuts of loops, and joints that cannot carry a body."""
        return cut_joints(self.model, self.core.closing_rows())
