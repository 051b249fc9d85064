"""Functions of time that have no value where they are needed, by the elements that they belong to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from bellcrank import _core
from bellcrank.assembly.model import Model
from bellcrank.errors import FaultList

_PARTS = ("value", "rate", "second derivative")


def check_led_rows(model: Model) -> None:
    """Raise MechanismError for drives whose functions have no value or rate at the model's start."""
    faults = FaultList()
    functions = model.arrays["row_function"]
    for row in np.flatnonzero(functions >= 0).tolist():
        found = model.core_function(int(functions[row]))(np.array([model.initial.time]))[0]
        missing = [part for part, value in zip(_PARTS, found, strict=True) if not np.isfinite(value)]
        if missing:
            rule = f"its function of time has no finite {missing[0]} at t = {model.initial.time:g} s"
            advice = "give one that has, with its derivatives, from the start on"
            faults.add(model.block_owner[model.row_block[row]], rule, float(found[0]), advice)
    faults.raise_any()


def forces_without_value(model: Model, times: Sequence[float]) -> list[str]:
    """What forces have functions of time without a finite value at one of these times, as texts."""
    found = []
    for record in model.forces:
        laws = [law for law in record.laws if model.arrays["law_kind"][law] != "table"]
        used = {int(model.arrays["law_function"][law]) for law in laws}
        used |= {int(f) for wrench in record.wrenches for f in model.arrays["wrench_function"][wrench]}
        time = _first_without_value(model, used - {-1}, times)
        if time is not None:
            found.append(
                f"the function of time of force {record.name!r} has no finite value at t = {time:.6g} s"
            )
    return found


def formulas_without_value(model: Model, core: Any, steps: Sequence[float]) -> list[str]:
    """What forces given by formulas have no finite value so long after the state of a system, as texts."""
    names = [r.name for r in model.custom if r.category == "force" and r.lowered.custom is not None]
    if not names:
        return []
    bodies = _core.Bodies(model.core)
    bodies.set_state(*core.state())
    return [
        f"the formulas of force {names[number]!r} have no finite value at t = {time:.6g} s"
        for number, time in bodies.forces_without_value(list(steps))
    ]


def _first_without_value(model: Model, functions: Iterable[int], times: Sequence[float]) -> float | None:
    for function in functions:
        values = model.core_function(function)(np.array(times))[:, 0]
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            return times[int(bad[0])]
    return None
