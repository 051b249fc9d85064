"""What derivatives at a state are taken by: its coordinates and speeds, time, inputs, and parameters."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from bellcrank.compile.model import InputPlaces, Model
from bellcrank.compile.parametric_numbers import ParametricNumbers
from bellcrank.errors import Fault, FaultList, MechanismError
from bellcrank.linear.state_chart import Directions, StateChart
from bellcrank.mechanism.checking import nearest

TIME: Final = "time"
_MOVES: Final = "it moves a drive, a joint or a constraint, so that its rates would be inputs as well"


_CONTRADICT: Final = "redundant constraints then contradict each other, per unit by"
# Why rows are not met along a variable, and what to do.
_OPENS: Final = {
    "parameter": (
        "loops do not stay closed when it alone changes: the mechanism moves at this value only, and "
        + _CONTRADICT,
        "let the lengths that belong together follow one parameter, or leave out what is redundant",
    ),
    "time": (
        f"the mechanism cannot go on as its drives and constraints ask for: {_CONTRADICT}",
        "bc.assemble(mech) names drives that contradict each other",
    ),
}
_MOVES_NOT: Final = (f"the mechanism cannot move so: {_CONTRADICT}", "go to a state that is not singular")


@dataclass(frozen=True)
class Variable:
    """A number by which derivatives are taken.

    kind: a coordinate or a speed of the chart, the time, an input, one of the values at which an input is
    held in a run, or a parameter. key: its name among inputs or parameters. number: that of the coordinate or
    speed in the chart, or of the value held.
    """

    name: str
    unit: str
    kind: Literal["coordinate", "speed", "time", "input", "held", "parameter"]
    key: str = ""
    number: int = -1


def states_of(chart: StateChart) -> list[Variable]:
    """The states: coordinates, then speeds."""
    listed = chart.coordinates
    positions = [Variable(one.name, one.unit, "coordinate", number=k) for k, one in enumerate(listed)]
    speeds = [
        Variable(f"{one.name}.rate", f"{one.unit}/s", "speed", number=k)
        for k, one in enumerate(listed[: chart.speeds])
    ]
    return [*positions, *speeds]


def variables_of(
    model: Model, chart: StateChart, names: Iterable[str], held: Mapping[str, int] | None = None
) -> tuple[Variable, ...]:
    """What names stand for: states, inputs and parameters, "time"; groups "states", "inputs", "parameters".

    held: how many values each input has that is held at some: "force[2]" is one, "force" all of them.

    Raises MechanismError listing all that are unknown, listed twice, or moved by drives.
    """
    groups = {"states": states_of(chart), **_numbers(model)}
    if held:
        groups |= _held(groups["inputs"], held)
    moving = {one.name for one, at in model.inputs.items() if at.constrains}
    return _named(names, groups, [Variable(TIME, "s", "time")], moving)


def _held(inputs: Sequence[Variable], held: Mapping[str, int]) -> dict[str, Sequence[Variable]]:
    """The groups of inputs, with the values held in place of those that are held."""
    values = {
        one.key: [
            Variable(f"{one.name}[{k}]", one.unit, "held", one.key, k) for k in range(held.get(one.key, 0))
        ]
        for one in inputs
    }
    listed = [several for one in inputs for several in values[one.key] or [one]]
    return {"inputs": listed, **{name: several for name, several in values.items() if several}}


def numbers_of(model: Model, names: Iterable[str]) -> tuple[Variable, ...]:
    """The same of inputs and parameters alone; inputs may move drives."""
    return _named(names, _numbers(model))


def _numbers(model: Model) -> dict[str, Sequence[Variable]]:
    parameters = {} if model.described is None else model.described.parameters
    return {
        "inputs": [Variable(one.name, one.unit, "input", one.name) for one in model.inputs],
        "parameters": [Variable(name, one.unit, "parameter", name) for name, one in parameters.items()],
    }


def _named(
    names: Iterable[str],
    groups: Mapping[str, Sequence[Variable]],
    beside: Sequence[Variable] = (),
    moving: Collection[str] = (),
) -> tuple[Variable, ...]:
    """moving: names of inputs that are refused, as they move drives."""
    known = {one.name: one for group in (*groups.values(), beside) for one in group}
    kinds = "state, input or parameter" if "states" in groups else "input or parameter"
    found: dict[str, Variable] = {}
    faults = FaultList()
    for name in names:
        several = groups.get(name, ()) if name not in known else (known[name],)
        if name not in known and name not in groups:
            rule = f"there is no {kinds} of this name"
            faults.add(f"by {name!r}", rule, None, nearest(name, [*groups, *known]))
        for one in several:
            if one.name in found:
                faults.add(f"by {one.name!r}", "it is listed twice")
            if one.kind in ("input", "held") and one.key in moving:
                faults.add(f"by {one.name!r}", _MOVES, None, "leave it out")
            found[one.name] = one
    faults.raise_any()
    return tuple(found.values())


def places_of_input(at: InputPlaces) -> list[tuple[str, int]]:
    """Where an input stands among the numbers of its model."""
    here = [("function_params", place) for place in at.params]
    return here + ([("formula_values", at.formula)] if at.formula >= 0 else [])


def directions_along(
    variables: Sequence[Variable], chart: StateChart, model: Model, followed: ParametricNumbers | None
) -> Directions:
    """The direction of each variable by itself, (variables, ...).

    There are none of inputs that are held: they change in some part of a run.

    Raises Unsupported, naming them, for parameters that other than numbers of the model depend on.
    """
    count, coordinates = len(variables), len(chart.coordinates)
    values, rates, time = np.zeros((count, coordinates)), np.zeros((count, chart.speeds)), np.zeros(count)
    inputs = {symbol.name: at for symbol, at in model.inputs.items()}
    places: list[tuple[str, int]] = []
    entries: list[tuple[int, int, float]] = []  # variable, place, change
    for k, one in enumerate(variables):
        if one.kind == "coordinate":
            values[k, one.number] = 1.0
        elif one.kind == "speed":
            rates[k, one.number] = 1.0
        elif one.kind == "time":
            time[k] = 1.0
        elif one.kind == "input":
            here = places_of_input(inputs[one.key])
            entries += [(k, len(places) + i, 1.0) for i in range(len(here))]
            places += here
    rows = [k for k, one in enumerate(variables) if one.kind == "parameter"]
    if rows and followed is not None:
        here, slopes = followed.changes([variables[k].key for k in rows])
        entries += [
            (k, len(places) + i, slopes[row, i]) for row, k in enumerate(rows) for i in range(len(here))
        ]
        places += here
    numbers = np.zeros((count, len(places)))
    for k, place, change in entries:
        numbers[k, place] = change
    return Directions(values, rates, time, places, numbers)


def refuse_open(variables: Sequence[Variable], left: Any, allowed: Any) -> None:
    """Raise MechanismError naming variables along which dependent rows change by more than is allowed."""
    faults = []
    for one, by, most in zip(variables, left, allowed, strict=True):
        rule, advice = _OPENS.get(one.kind, _MOVES_NOT)
        if by > most:
            faults.append(Fault(f"{one.kind} {one.name!r}", rule, float(by), advice))
    if faults:
        raise MechanismError(faults)
