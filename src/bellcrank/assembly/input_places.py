"""The inputs of a model: where their values stand in its numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bellcrank.assembly.flat import FlatBuilder
from bellcrank.assembly.records import CustomRecord
from bellcrank.mechanism.input import is_input

if TYPE_CHECKING:
    from bellcrank._core import Expression


@dataclass(frozen=True)
class InputPlaces:
    """Where the value of an input stands in a model.

    params: its places in the array function_params.
    formula: its place among the values of the core's formulas, -1 where it is in none.
    leads: whether it is in a drive, a constraint or a joint, so that a change moves bodies or their speeds.
    """

    params: tuple[int, ...]
    formula: int
    leads: bool


def input_places(
    inputs: Iterable[Expression],
    flat: FlatBuilder,
    formula_places: Mapping[Any, int],
    custom: Iterable[CustomRecord],
) -> dict[Expression, InputPlaces]:
    """The inputs of a mechanism, in their order, with their places in its model.

    formula_places: of symbols among the values of formulas. custom: what formulas give.
    """
    steered = flat.steered()
    led = {symbol for function, _, symbol in steered if function in flat.row_function}
    for record in custom:
        if record.category in ("joint", "constraint") and record.lowered.custom is not None:
            kind: Any = record.lowered.custom
            led.update(kind.input_symbols)
    return {
        one: InputPlaces(
            tuple(place for _, place, symbol in steered if symbol == one),
            formula_places.get(one, -1),
            one in led,
        )
        for one in inputs
    }


def input_arrays(inputs: Mapping[Expression, InputPlaces], flat: FlatBuilder) -> dict[str, Any]:
    """The inputs as the core takes them, with the functions that go on from where they are; none: nothing."""
    places = [(list(one.params), one.formula) for one in inputs.values()]
    offsets = [(function, place) for function, place, symbol in flat.steered() if not is_input(symbol)]
    return {"inputs": places, "input_offsets": offsets} if places else {}
