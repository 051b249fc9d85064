"""Forces: springs, bushings, motors, friction, brakes and applied wrenches. Kinds: in their own files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from bellcrank.mechanism.attachment import Attached, AttachedKind

FORCE_KINDS: dict[str, type[ForceKind]] = {}
"""Every force kind by name. All are frozen dataclasses."""


@dataclass(frozen=True)
class ForceKind(AttachedKind):
    """Base of all force kinds."""

    def __init_subclass__(cls, listed: bool = True, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if listed and not cls.__name__.startswith("_"):
            FORCE_KINDS[cls.__name__] = cls


@dataclass(frozen=True)
class Force(Attached):
    """A force of some kind between its ends."""

    kind: ForceKind
    category: ClassVar[str] = "force"
    kind_class: ClassVar[type[AttachedKind]] = ForceKind
