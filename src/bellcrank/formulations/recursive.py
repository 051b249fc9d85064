"""The recursive formulation: constraint propagation in joint coordinates and local frames, linear in time.

P. Schröder, The Virtual Erector Set, chapters 5.5 to 5.8, after R. Lathrop; see docs/theory/recursive.md.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from bellcrank import _core
from bellcrank.assembly.model import Model
from bellcrank.formulations.options import ALL, option
from bellcrank.formulations.system import System

NAME = "recursive"
SUMMARY = (
    "Joint coordinates, accelerations by recursion along the tree in linear time; loops are cut, and their "
    "shared freedoms carried up both arms. No stops."
)
CUSTOM = ALL


@dataclass(frozen=True)
class RecursiveOptions:
    """Options of the recursive formulation; the metadata of each field hold its meaning and unit."""

    rank_tolerance: float = option(
        1e-10, "A closing row whose pivot falls below this part of its own entry is redundant."
    )
    position_tolerance: float = option(1e-13, "Largest constraint error after a projection.", "m or rad/2")
    stage_pivot: float = option(
        1e-2, "Smallest relative pivot below which the stages of a step are projected."
    )
    doubt: float = option(10.0, "Angle between rows, in sizes of a correction, that tells nothing of them.")
    max_corrections: int = option(25, "Position corrections before a projection gives up.", least=1)


OPTIONS = RecursiveOptions


class RecursiveSystem(System):
    """A model prepared for the recursive formulation."""

    @property
    def closing_rows(self) -> tuple[str, ...]:
        """The rows that are met by multipliers; all others hold by the choice of coordinates."""
        return tuple(self.model.row_text(row) for row in self.core.closing_rows())


SYSTEM = RecursiveSystem


def refusals(model: Model) -> list[str]:
    """Why it cannot take a model."""
    return list(_core.Recursive.refusals(model.core))


def create(model: Model, options: RecursiveOptions) -> _core.Recursive:
    """The core's system of a model."""
    return _core.Recursive(model.core, **asdict(options))
