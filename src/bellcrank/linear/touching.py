"""Touching points of systems that are differentiated: their friction goes on from one state."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from bellcrank.compile.contacts import refuse_holding, refuse_resistances
from bellcrank.compile.model import Model
from bellcrank.compile.state import State
from bellcrank.errors import FaultList, Unsupported
from bellcrank.formulations.system import System
from bellcrank.mechanism.marker import GROUND

_KINKS: Final = {
    "edge": (
        "their surfaces end or bend right beside a point where they touch, and forces have a kink there",
        "go to a state off the edge",
    ),
    "touch": (
        "they are about to touch, or to lift off, and forces have a kink there",
        "go to a state at which they press on each other, or are apart",
    ),
    "start": (
        "they slip, and how far friction is stretched is not known",
        "take a frame of a run, such as run.at(run.time[-1])",
    ),
}


def refuse_touching(model: Model, who: str) -> None:
    """Raise Unsupported for contacts and friction whose forces have no derivatives, naming them."""
    refuse_resistances(model, who)
    refuse_holding(model, who)
    for contact in model.contacts:
        if contact.of_tyre:
            raise Unsupported(f"{who} cannot take tyres: force {contact.name!r}")


def place_beside(system: System, base: State, state: State, settled: bool = False) -> None:
    """Go to a state beside another one, where a step has ended: what touches there sticks or slips on.

    So forces of contact are smooth functions of the state. settled: a step ends at the state as well, as
    where a rest has moved slowly.
    """
    if not system.model.contacts:
        system.set_state(state)
        return
    system.set_state(base)
    system.core.commit()
    system.set_state(replace(state, contacts=None), continued=True)
    if settled:
        system.core.commit()


def refuse_kinks(system: System, base: State, who: str) -> None:
    """Raise MechanismError, naming all, where forces of contact have kinks. The system goes to the state."""
    if not system.model.contacts:
        return
    place_beside(system, base, base)
    faults, names = FaultList(), [*system.model.bodies, GROUND]
    for group, a, b, why in dict.fromkeys(system.core.contact_kinks()):
        rule, advice = _KINKS[why]
        pair = f"{who}: force {system.model.contacts[group].name!r}, bodies {names[a]!r} and {names[b]!r}"
        faults.add(pair, rule, None, advice)
    faults.raise_any()
