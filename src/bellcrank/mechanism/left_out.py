"""What moves or weighs in a file of another program and is missing in the mechanism that was read."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.collisions import NOTE
from bellcrank.mechanism.contents import Contents

ALLOW: Final = "allow"
_SETTINGS: Final = ("refuse", ALLOW)
_ADVICE: Final = "it moves or weighs: left_out='allow' (bellcrank run --allow-left-out) runs without it"
_AGAIN: Final = "the file that is written does not say that this is missing, and runs without it"
_CONTACTS: Final = (
    "the file that is written does not state them: call contacts_from_file() before it is saved"
)


def not_written(mechanism: Contents) -> list[Fault]:
    """What only this mechanism says of the file that it was read from, and no file that is written."""
    lost = [replace(fault, advice=_AGAIN) for fault in mechanism.left_out if fault.moves]
    return lost + [replace(fault, advice=_CONTACTS) for fault in mechanism.left_out if fault.rule == NOTE]


def refuse_left_out(mechanism: Contents, left_out: object = "refuse") -> None:
    """Raise MechanismError with all that moves or weighs and was left out, unless left_out is "allow"."""
    if left_out not in _SETTINGS:
        raise MechanismError(Fault("simulate", "left_out must be 'refuse' or 'allow'", left_out))
    lost = [replace(fault, advice=_ADVICE) for fault in mechanism.left_out if fault.moves]
    if lost and left_out != ALLOW:
        raise MechanismError(lost)
