"""Names of what happens in runs: requested events, stops that are reached, contacts that change."""

from __future__ import annotations

from typing import Final

from bellcrank.compile.model import Model
from bellcrank.integrate.advance import Outcome
from bellcrank.integrate.events import CompiledEvents

STOP: Final = -1
"""The number of an event that is a stop; that of a contact is one less."""

NOTHING: Final = -3
"""The number where there is no event."""

_CHANGES: Final = ("touches", "slips", "sticks", "lifts off")


def happened(model: Model, watched: CompiledEvents, outcome: Outcome) -> list[str]:
    """Names of the recorded events: watched events, stops reached, contacts that changed."""
    return [name_of(model, watched, number, which) for number, which in outcome.events]


def name_of(model: Model, watched: CompiledEvents, number: int, which: int) -> str:
    """The name of an event, from its number and the row of a stop or the number of a contact's change."""
    if number >= 0:
        return watched.names[number]
    if number == STOP:
        return model.block_owner[int(model.row_block[which])]
    contact, change = divmod(which, len(_CHANGES))
    return changes_of(model.contacts[contact].name)[change]


def changes_of(contact: str) -> tuple[str, ...]:
    """The names of the events of a contact: it touches, slips, sticks, and lifts off."""
    return tuple(f"{contact} {change}" for change in _CHANGES)
