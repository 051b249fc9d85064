"""Constants that the description leaves to the configuration a mechanism starts from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from bellcrank.assembly.state import State
from bellcrank.mechanism.checking import Check

if TYPE_CHECKING:
    from bellcrank.assembly.model import Model

_LED = 1e-6  # rad or m, relative: what a state may differ by from where a drive has moved to


def taken_from(model: Model, state: State) -> dict[str, Any]:
    """Arrays of the model in which all that is taken from the initial configuration is taken from a state."""
    arrays: dict[str, Any] = _zero_at(model, state, model.start.rows) if model.start.rows else {}
    if model.start.laws:
        params, values = model.arrays["law_params"].copy(), model.coordinate_values(state)
        for place, coordinate in model.start.laws:
            params[place] = values[coordinate]
        arrays["law_params"] = params
    return arrays


def continued(model: Model, state: State) -> Model:
    """The model for a run that goes on from a state.

    Drives that specify a velocity, or count from the start, lead their coordinate on from where it is. All
    else that is taken from the initial configuration stays as it was there: the phase of a gear, the length
    of a spring.
    """
    led = led_from_start(model)
    return model.with_arrays(**_zero_at(model, state, led)) if led else model


def refuse_led_elsewhere(model: Model, state: State) -> None:
    """Raise MechanismError for a state that drives counted from the start of a run do not lead through."""
    led = led_from_start(model)
    if not led:
        return
    has, needs = model.arrays["row_constant"], _zero_at(model, state, led)["row_constant"]
    with Check("state") as check:
        for row in led:
            if not abs(needs[row] - has[row]) <= _LED * (1.0 + abs(needs[row])):
                name = model.block_owner[model.row_block[row]]
                rule = f"{name}, counted from the start of the run, holds its coordinate elsewhere, off by"
                advice = "start another run from this state: bc.start(..., state=state)"
                check.fault(rule, float(has[row] - needs[row]), advice)


def led_from_start(model: Model) -> list[int]:
    """Rows that lead a coordinate by a function of time, counted from the start."""
    return [row for row in model.start.rows if model.arrays["row_function"][row] >= 0]


def _zero_at(model: Model, state: State, rows: Iterable[int]) -> dict[str, Any]:
    """The constants that make rows zero at a state: the sum of terms minus the function of time.

    Until then they are not known, and say nothing of the turns of angles.
    """
    arrays, rows = model.arrays, list(rows)
    constants, values = arrays["row_constant"].copy(), model.with_unknown(rows).coordinate_values(state)
    for row in rows:
        terms = slice(*arrays["row_term_start"][row : row + 2])
        total = arrays["term_coefficient"][terms] @ values[arrays["term_coordinate"][terms]]
        function = int(arrays["row_function"][row])
        led = 0.0 if function < 0 else model.function_value(function, state.time)
        constants[row] = float(total) - led
    return {"row_constant": constants}
