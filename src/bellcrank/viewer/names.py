"""Names that come from front ends."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.naming import nearest


def known(noun: str, name: Any, names: Collection[str]) -> None:
    """Raise MechanismError for an unknown name."""
    if not isinstance(name, str) or name not in names:
        rule = f"there is no {noun} of this name"
        raise MechanismError(Fault(f"{noun} {name!r}", rule, None, nearest(name, names)))
