"""The models of a mechanism that changes: one from each change to the next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.model import Model
from bellcrank.compile.standing import Standing, changed
from bellcrank.compile.start_values import continued
from bellcrank.compile.state import State, StateSource, adopted
from bellcrank.mechanism.contents import with_numbers

if TYPE_CHECKING:
    from bellcrank.mechanism.mechanism import Mechanism


def variant(mechanism: Mechanism, standing: Standing, state: State) -> Model:
    """The model with what is in force, going on from a state: what is new takes from it what it needs."""
    model = compile_mechanism(mechanism, state.time, standing)
    return continued(model.started(adopted(model, state)), state)


class Part(NamedTuple):
    """A part of a run between two changes.

    begin: s. standing: what is in force. values: that its elements had taken from its start.
    """

    begin: float
    standing: Standing
    values: Mapping[str, float]


def parts_of(
    mechanism: Mechanism, values: Mapping[str, float], begin: float, happened: Iterable[tuple[str, State]]
) -> list[Part]:
    """The parts of a run of a mechanism that changes; between changes at one time they last no time.

    values: as the run began with them. happened: the names of the changes with the states just before them.
    """
    numeric = with_numbers(mechanism)
    parts = [Part(begin, Standing.of(values), values)]
    for name, state in happened:
        last = parts[-1]
        standing = changed(numeric, last.standing, numeric.changes[name], state)
        assert state.source is not None
        source = StateSource(state.source.bodies, state.source.angles, last.values)
        model = variant(mechanism, standing, replace(state, source=source))
        parts.append(Part(state.time, standing, model.state_source.values or {}))
    return parts
