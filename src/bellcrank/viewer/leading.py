"""Motion of coordinates that a session drives by hand: the numbers of their cubics (`analysis/leads.py`)."""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.analysis.leads import BEGIN, Lead
from bellcrank.assembly.model import Model
from bellcrank.assembly.state import Floats, State


def held(leads: Sequence[Lead], model: Model, state: State) -> dict[str, float]:
    """Inputs by which leads go on as a state moves, with constant rates."""
    if not leads:
        return {}
    values, rates = values_and_rates(leads, model, state)
    return {BEGIN: state.time} | {
        name: value
        for lead, c0, c1 in zip(leads, values, rates, strict=True)
        for name, value in zip(lead.inputs, (float(c0), float(c1), 0.0, 0.0), strict=True)
    }


def cubics(
    leads: Sequence[Lead],
    begin: float,
    duration: float,
    now: tuple[Floats, Floats],
    then: tuple[Floats, Floats],
) -> dict[str, float]:
    """Inputs by which leads go from values and rates now to others after a duration, s."""
    (q, v), (p, w), h = now, then, duration
    chord = (p - q) / h
    c2, c3 = (3.0 * chord - 2.0 * v - w) / h, (v + w - 2.0 * chord) / h**2
    found = {BEGIN: begin}
    for lead, *numbers in zip(leads, q, v, c2, c3, strict=True):
        found.update(zip(lead.inputs, map(float, numbers), strict=True))
    return found


def values_and_rates(leads: Sequence[Lead], model: Model, state: State) -> tuple[Floats, Floats]:
    """Values and rates of the driven coordinates at a state, (n,) each."""
    values, rates = model.coordinate_motion(state)
    places = [lead.coordinate(model) for lead in leads]
    return values[places], rates[places]
