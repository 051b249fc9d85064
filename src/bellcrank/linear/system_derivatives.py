"""What `System.derivatives` does: names to quantities and variables, and their derivatives at a state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from bellcrank import _core
from bellcrank.compile.initial import refuse_misfits
from bellcrank.compile.model import Model
from bellcrank.compile.state import Floats, State
from bellcrank.errors import Fault, FaultList, MechanismError
from bellcrank.formulations.state_derivatives import StateDerivatives
from bellcrank.formulations.system import System
from bellcrank.linear.differences import OutOfReach
from bellcrank.linear.quantities import Quantities, Quantity, quantities_of
from bellcrank.linear.sampling import without_stops
from bellcrank.linear.state_chart import StateChart
from bellcrank.linear.tangents import Tangents, refuse_other_formulations
from bellcrank.linear.touching import refuse_kinks, refuse_touching
from bellcrank.linear.variables import variables_of
from bellcrank.mechanism.checking import Check, required_names

MODES: Final = ("auto", "forward", "backward")
_TOUCHED: Final = 1e-7  # gap of a stop that counts as closed, m or rad


def system_derivatives(
    system: System, state: State | None, of: Any, by: Any, mode: str, states: Any
) -> StateDerivatives:
    """See `System.derivatives`."""
    with Check("derivatives") as check:
        if state is not None:
            check.instance("state", state, State, "such as run.at(t), or system.state()")
        way = check.choice("mode", mode, MODES)
        of, by, states = (required_names(*one) for one in (("of", of), ("by", by), ("states", states)))
    refuse_touching(system.model, "derivatives")
    refuse_other_formulations(system)
    at = system.state() if state is None else state
    model = without_stops(system.model)
    refuse_misfits(system.model, at, "there are no derivatives", "take system.project(state)")
    refuse_stops(system.model, at)
    with system.displaced():
        refuse_kinks(system, at, "derivatives")
    chart = StateChart(model, at, states)
    found = on_chart(system, chart, at, (chart.position, chart.speed), of, by, way)
    if state is not None:
        system.set_state(state)
    return found


def on_chart(
    system: System,
    chart: StateChart,
    at: State,
    states: tuple[Floats, Floats],
    of: Sequence[str],
    by: Sequence[str],
    way: str = "auto",
) -> StateDerivatives:
    """Derivatives at a state by what a chart has as coordinates and speeds. The system stays where it is.

    at: the state. states: its coordinates and speeds.
    """
    faults = FaultList()
    with faults.collect():
        listed, alone = quantities_of(system.model, of)
    with faults.collect():
        variables = variables_of(system.model, chart, by)
    faults.raise_any()
    tangents = Tangents(system, chart, variables, Quantities(chart.wide, at, listed))
    with system.displaced():
        try:
            tangents.go_beside(*states)
        except OutOfReach as error:
            raise MechanismError(Fault("derivatives", f"there is no way to move on: {error}")) from error
        if way == "auto":
            way = "backward" if len(listed) < len(variables) else "forward"
        # What redundant rows say is looked at along directions.
        array = tangents.forward() if way == "forward" or tangents.redundant else None
        if way == "backward":
            array = tangents.backward()
        reached, observed = tangents.state, tangents.observed
    assert array is not None
    unique = observed.unique
    refuse_shared(listed, alone, unique)
    return StateDerivatives(
        array=np.where(unique[:, None], array, np.nan),
        value=np.where(unique, observed.values, np.nan),
        outputs=tuple(one.name for one in listed),
        inputs=tuple(one.name for one in variables),
        units={one.name: one.unit for one in listed} | {one.name: one.unit for one in variables},
        unique=unique,
        mode="backward" if way == "backward" else "forward",
        state=reached,
        formulation=system.formulation,
    )


def refuse_stops(model: Model, state: State) -> None:
    """Raise MechanismError, naming all, where stops are touched: to one side there is another derivative."""
    if not model.stops:
        return
    faults = FaultList()
    gaps = model.put(_core.Bodies(model.core), state).rows()[0]
    for row in np.flatnonzero(model.one_sided & (gaps < _TOUCHED)).tolist():
        advice = (
            "no linear equations hold there: go to a state off the stop, or hold the coordinate by a drive"
        )
        faults.add(model.row_text(row), "a stop is touched, with a gap of", float(gaps[row]), advice)
    faults.raise_any()


def refuse_shared(listed: Sequence[Quantity], alone: set[str], unique: np.ndarray) -> None:
    """Raise MechanismError naming quantities that were asked for by themselves and are not unique."""
    rule = "redundant constraints leave open how they share the load, so that it is not unique"
    advice = "leave it out, or leave out what is redundant, as joints with fewer constraints do"
    faults = [
        Fault(f"of {one.name!r}", rule, None, advice)
        for one, is_unique in zip(listed, unique, strict=True)
        if one.name in alone and not is_unique
    ]
    if faults:
        raise MechanismError(faults)
