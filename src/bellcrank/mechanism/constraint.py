"""Constraints: rows of their own between markers or joint coordinates. Kinds: `gears`, `transmissions`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, ClassVar

from bellcrank.mechanism.attachment import Attached, AttachedKind, End
from bellcrank.mechanism.rows import Block, Lowered, Row

CONSTRAINT_KINDS: dict[str, type[ConstraintKind]] = {}
"""Every constraint kind by name. All are frozen dataclasses."""


@dataclass(frozen=True)
class ConstraintKind(AttachedKind):
    """Base of all constraint kinds."""

    def __init_subclass__(cls, listed: bool = True, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if listed and not cls.__name__.startswith("_"):
            CONSTRAINT_KINDS[cls.__name__] = cls

    @abstractmethod
    def rows(self, ends: tuple[End, ...]) -> tuple[Row, ...]:
        """The rows between the given ends."""

    @property
    def unilateral(self) -> bool:
        """Whether the rows are inequalities C >= 0 instead of equations C = 0."""
        return False

    def effort_sign(self, _row: Row) -> float:
        """What the multiplier of a row is multiplied by to be its effort in results.

        An effort is positive where it drives the coordinate of the first end up.
        """
        return 1.0

    def effort_unit(self, _units: Collection[str]) -> str:
        """Unit of its effort if it acts on coordinates in these units: "N" or "N m"."""
        return "N" if "m" in _units else "N m"

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """One block with the kind's rows."""
        return Lowered((Block("constraint", self.rows(ends), unilateral=self.unilateral),))


@dataclass(frozen=True)
class Constraint(Attached):
    """A constraint of some kind between its ends."""

    kind: ConstraintKind
    category: ClassVar[str] = "constraint"
    kind_class: ClassVar[type[AttachedKind]] = ConstraintKind
