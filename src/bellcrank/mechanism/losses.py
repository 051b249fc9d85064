"""Losses of transmissions, as dry friction that grows with what they transmit."""

from __future__ import annotations

from typing import Any

from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.fields import checked
from bellcrank.mechanism.rows import FrictionLoad, LoadOf, Lowered, Row, dry_friction


def _efficiency(check: Check, name: str, value: Any) -> float:
    found = check.number(name, value)
    if len(check.faults) == 0 and not found <= 1.0:
        check.fault(f"{name} must not be more than 1", value)
    if len(check.faults) == 0 and name == "efficiency" and not found > 0.0:
        check.fault(f"{name} must be more than 0", value)
    return found


def share(**options: Any) -> Any:
    """An efficiency: a number up to 1."""
    return checked(_efficiency, "1", parametric=True, followed=False, **options)


def rubbing(
    name: str,
    along: Row,
    form: tuple[float, ...],
    slipping: tuple[float, float],
    holding: tuple[float, float] | None = None,
    constant: float = 0.0,
) -> Lowered:
    """Dry friction along a sum of coordinates that grows with what the rows of a constraint transmit.

    form: what multipliers of the rows exert along it. slipping, holding: the weights of
        `FrictionLoad`. constant: effort beside, N or N m.
    """
    padded = (*form, *(0.0,) * (6 - len(form)))
    load = FrictionLoad(
        LoadOf.CONSTRAINT_ROWS, name, (padded,), slipping, slipping if holding is None else holding
    )
    return dry_friction(along, (load,), coulomb=constant, start=constant, holding=constant)


def by_efficiency(
    name: str, along: Row, form: tuple[float, ...], forward: float | None, back: float | None
) -> Lowered | None:
    """The losses of a transmission, as friction along its first coordinate; None: it has none.

    Where that drives, a moment M at the other end takes M/forward; where it is driven, it gets back times the
    moment that drives it.
    """
    if forward is None:
        return None
    return rubbing(name, along, form, (1.0 / forward - 1.0, 1.0 - (forward if back is None else back)))


def judge_losses(check: Check, kind: Any) -> None:
    """Note an efficiency backwards without one forwards."""
    if kind.efficiency is None and kind.back_efficiency is not None:
        check.fault("back_efficiency without efficiency", kind.back_efficiency, "give efficiency too")
