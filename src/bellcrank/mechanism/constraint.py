"""Constraints: rows of their own between markers or joint coordinates. Kinds: `gears`, `transmissions`."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from bellcrank.mechanism.attachment import Attached, AttachedKind, End
from bellcrank.mechanism.rows import Block, Lowered, Row

CONSTRAINT_KINDS: dict[str, type[ConstraintKind]] = {}
"""Every constraint kind by name. All are frozen dataclasses."""


@dataclass(frozen=True)
class ConstraintKind(AttachedKind):
    """Base of all constraint kinds."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not cls.__name__.startswith("_"):
            CONSTRAINT_KINDS[cls.__name__] = cls

    @abstractmethod
    def rows(self, ends: tuple[End, ...]) -> tuple[Row, ...]:
        """The rows between the given ends."""

    @property
    def unilateral(self) -> bool:
        """Whether the rows hold as C >= 0 instead of C = 0."""
        return False

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """One block with the kind's rows."""
        return Lowered((Block("constraint", self.rows(ends), unilateral=self.unilateral),))


@dataclass(frozen=True)
class Constraint(Attached):
    """A constraint of some kind between its ends."""

    kind: ConstraintKind
    category: ClassVar[str] = "constraint"
    kind_class: ClassVar[type[AttachedKind]] = ConstraintKind
