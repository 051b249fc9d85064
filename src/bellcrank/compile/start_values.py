"""Constants that the description leaves to the configuration a mechanism starts from."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from math import pi
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.compile.state import State, place_text, row_text, value_text
from bellcrank.mechanism.checking import Check

if TYPE_CHECKING:
    from bellcrank.compile.model import Model

_LED = 1e-6  # rad or m, relative: what a state may differ by from where a drive has moved to


def taken_from(model: Model, state: State) -> Model:
    """The model in which all that is taken from the initial configuration is taken from a state."""
    if model.start.rows:
        arrays = _zero_at(model, state, model.start.rows)
        arrays |= _rests_at(model, state) if model.start.laws else {}
        model = model.with_arrays(**arrays)
    elif model.start.laws:
        model = model.with_arrays(**_rests_at(model, state))
    if model.start.wraps:
        model = model.with_arrays(friction_loads=_wrapped_at(model, state))
    return _with_formulas(model, state, {}) if model.start.formulas else model


def _with_formulas(model: Model, state: State, kept: Mapping[str, float]) -> Model:
    """The model with the values that formulas take from a state, or that were kept."""
    formulas, at = model.arrays["formulas"], model.coordinate_values(state)
    values = formulas.values()
    for place, coordinate in model.start.formulas:
        values[place] = kept.get(value_text(model, place, coordinate), float(at[coordinate]))
    return _with_values(model, values)


def _with_values(model: Model, values: list[float]) -> Model:
    custom = tuple(record.with_starts(values) for record in model.custom)
    return replace(model.with_arrays(formulas=model.arrays["formulas"].with_values(values)), custom=custom)


def with_formula_values(model: Model, other: Model) -> Model:
    """The model with the values that formulas of another one took from its initial configuration."""
    values, known = model.arrays["formulas"].values(), other.arrays["formulas"].values()
    for place, _ in model.start.formulas:
        values[place] = known[place]
    return _with_values(model, values)


def with_unknown(model: Model, rows: Collection[int]) -> Model:
    """The same model with rows whose constants are not known yet; they say nothing of whole turns."""
    arrays = model.arrays
    counted = np.isin(arrays["term_coordinate"], model.angular)
    of_angles = [row for row in rows if counted[slice(*arrays["row_term_start"][row : row + 2])].any()]
    if not of_angles:
        return model
    constants = arrays["row_constant"].copy()
    constants[of_angles] = np.nan
    return model.with_arrays(row_constant=constants)


def continued(model: Model, state: State) -> Model:
    """The model for a run that goes on from a state.

    Drives that specify a velocity, or count from the start, lead their coordinate on from where it is. All
    else that was taken from an initial configuration stays as the state's mechanism had it: the phase of a
    gear, the length of a spring. What that mechanism did not have is taken from the state. Of a state of
    unknown source, all stays as it was in the initial configuration of this model.
    """
    driven = driven_from_start(model)
    kept = None if state.source is None else state.source.values
    if kept is None:
        return model.with_arrays(**_zero_at(model, state, driven)) if driven else model
    return _values_at(model, state, kept, driven) if model.start else model


def with_values(model: Model, values: Mapping[str, float], state: State) -> Model:
    """The model as a run had it that recorded these values (`state_source.start_values`) and starts there."""
    return _values_at(model, state, values, ()) if model.start else model


def _values_at(model: Model, state: State, kept: Mapping[str, float], driven: Collection[int]) -> Model:
    """With what is taken from the start as it was kept; else, and for driven rows, from a state."""
    had = {row: kept.get(row_text(model, row)) for row in model.start.rows if row not in driven}
    known = {row: value for row, value in had.items() if value is not None}
    constants = model.arrays["row_constant"].copy()
    constants[list(known)] = list(known.values())
    model = model.with_arrays(row_constant=constants)
    new = [row for row in model.start.rows if row not in known]
    arrays = _zero_at(model, state, new) if new else {"row_constant": constants}
    if model.start.laws:
        arrays |= _rests_at(model, state)
        for place, coordinate in model.start.laws:
            value = kept.get(place_text(model, place, coordinate))
            arrays["law_params"][place] = arrays["law_params"][place] if value is None else value
    model = model.with_arrays(**arrays)
    return _with_formulas(model, state, kept) if model.start.formulas else model


def _wrapped_at(model: Model, state: State) -> list[Any]:
    """Loads with the whole turns of ropes around wheels that are a positive angle and `turns` at a state."""
    values, loads = model.coordinate_values(state), list(model.arrays["friction_loads"])
    for place, turns in model.start.wraps:
        *rest, wrap, factors, known = loads[place]
        raw = sum(factor * float(values[c]) for c, factor in zip(wrap, factors, strict=True))
        within = (raw + known + _LED) % (2.0 * pi) - _LED
        loads[place] = (*rest, wrap, factors, within - raw + 2.0 * pi * turns)
    return loads


def _rests_at(model: Model, state: State) -> dict[str, Any]:
    params, values = model.arrays["law_params"].copy(), model.coordinate_values(state)
    for place, coordinate in model.start.laws:
        params[place] = values[coordinate]
    return {"law_params": params}


def refuse_driven_elsewhere(model: Model, state: State) -> None:
    """Raise MechanismError for a state that drives counted from the start of a run do not lead through."""
    driven = driven_from_start(model)
    if not driven:
        return
    has, needs = model.arrays["row_constant"], _zero_at(model, state, driven)["row_constant"]
    with Check("state") as check:
        for row in driven:
            if not abs(needs[row] - has[row]) <= _LED * (1.0 + abs(needs[row])):
                name = model.block_owner[model.row_block[row]]
                rule = f"{name}, counted from the start of the run, holds its coordinate elsewhere, off by"
                advice = "start another run from this state: bc.start(..., state=state)"
                check.fault(rule, float(has[row] - needs[row]), advice)


def driven_from_start(model: Model) -> list[int]:
    """Rows that lead a coordinate by a function of time, counted from the start."""
    return [row for row in model.start.rows if model.arrays["row_function"][row] >= 0]


def _zero_at(model: Model, state: State, rows: Iterable[int]) -> dict[str, Any]:
    """The constants with which rows are at a state what they are at the start, zero or their offset.

    They are the sum of terms minus the function of time and the offset.

    Until then they are not known, and say nothing of the turns of angles.
    """
    arrays, rows = model.arrays, list(rows)
    constants, values = arrays["row_constant"].copy(), with_unknown(model, rows).coordinate_values(state)
    offsets = dict(zip(model.start.rows, model.start.offsets, strict=True))
    for row in rows:
        terms = slice(*arrays["row_term_start"][row : row + 2])
        total = arrays["term_coefficient"][terms] @ values[arrays["term_coordinate"][terms]]
        function = int(arrays["row_function"][row])
        driven = 0.0 if function < 0 else model.function_value(function, state.time)
        constants[row] = float(total) - driven - offsets.get(row, 0.0)
    return {"row_constant": constants}
