"""What a state is of: by names, another mechanism finds in it what both have in common.

A mechanism from which a joint was taken, or to which one was added, can thus go on from the state of a run:
bodies are matched by name, whole turns by the joints and elements that count them, and what elements took
from the initial configuration by what these elements are.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from bellcrank.compile.state import Floats, State
from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.coordinate import TURNED

if TYPE_CHECKING:
    from bellcrank.compile.model import Model

Label: TypeAlias = tuple[str, str, int]
"""Joint or element that an angle belongs to, its name, and a number where these are equal."""


@dataclass(frozen=True, eq=False)
class StateSource:
    """The names behind the numbers of a State.

    bodies: in the order of the state. angles: the label of each of `State.angles`.
    values: what elements took from the initial configuration, by `start_values`; None if not known.
    """

    bodies: tuple[str, ...]
    angles: tuple[Label, ...]
    values: Mapping[str, float] | None

    @staticmethod
    def of(model: Model) -> StateSource:
        """Of the states of a model."""
        return StateSource(model.bodies, angle_labels(model), start_values(model))


def numbered(names: Iterable[tuple[str, str]]) -> tuple[Label, ...]:
    """Labels from owners and names."""
    seen = Counter[tuple[str, str]]()
    found = []
    for name in names:
        found.append((*name, seen[name]))
        seen[name] += 1
    return tuple(found)


def angle_labels(model: Model) -> tuple[Label, ...]:
    """The label of each angle of a model's states."""
    named: dict[int, tuple[str, str]] = {}
    for joint in model.joints:
        for index, name in zip(joint.coordinates, joint.coordinate_names, strict=True):
            named.setdefault(index, (joint.name, name))
    angular, kinds = model.angular.tolist(), model.arrays["coordinate_kind"]
    owners = {} if all(c in named for c in angular) else owners_of(model)
    return numbered(named.get(c) or (owners.get(c, ""), kinds[c]) for c in angular)


def owners_of(model: Model) -> dict[int, str]:
    """What each coordinate in a row or law belongs to, such as "constraint 'gear'"."""
    arrays = model.arrays
    kinds: list[str] = arrays["coordinate_kind"]
    found: dict[int, str] = {}
    for force in model.forces:
        for law in force.laws:
            coordinate = int(arrays["law_coordinate"][law])
            axis = "xyz".find(kinds[coordinate][-1]) if kinds[coordinate].startswith(TURNED) else -1
            for same in range(coordinate - axis, coordinate - axis + 3) if axis >= 0 else (coordinate,):
                found[same] = f"force {force.name!r}"
    spans = np.diff(arrays["row_term_start"])
    rows = np.repeat(np.arange(model.row_count), spans)
    for row, coordinate in zip(rows.tolist(), arrays["term_coordinate"].tolist(), strict=True):
        found[coordinate] = model.block_owner[model.row_block[row]]
    return found


def start_values(model: Model) -> dict[str, float]:
    """What rows and laws took from the initial configuration, by a text that says what they are."""
    arrays = model.arrays
    values = {row_text(model, row): float(arrays["row_constant"][row]) for row in model.start.rows}
    places = {place_text(model, p, c): float(arrays["law_params"][p]) for p, c in model.start.laws}
    return values | places


def row_text(model: Model, row: int) -> str:
    """What a row is: its owner and its terms."""
    summed = [[_coordinate(model, coordinate), factor] for coordinate, factor in model.terms(row)]
    return json.dumps([model.block_owner[model.row_block[row]], summed])


def place_text(model: Model, place: int, coordinate: int) -> str:
    """What a law is: its owner and its coordinate."""
    law = int(np.searchsorted(model.arrays["law_param_start"], place, side="right")) - 1
    owner = next((f"force {force.name!r}" for force in model.forces if law in force.laws), "")
    return json.dumps([owner, _coordinate(model, coordinate)])


def _coordinate(model: Model, index: int) -> list[Any]:
    arrays, names = model.arrays, (*model.bodies, "ground")
    pair = int(arrays["coordinate_pair"][index])
    params = slice(*arrays["coordinate_param_start"][index : index + 2])
    return [
        arrays["coordinate_kind"][index],
        [names[body] for body in arrays["pair_bodies"][pair].tolist()],
        arrays["pair_positions"][pair].tolist(),
        arrays["pair_rotations"][pair].tolist(),
        arrays["coordinate_params"][params].tolist(),
    ]


def adopted(model: Model, state: State) -> State:
    """A state of another mechanism as one of this model; it is itself if it is one.

    Bodies are taken by name if their number differs, else in their order; angles by their labels; those that
    the other mechanism does not count are NaN:
    whoever takes the state chooses their turns. Raises MechanismError for anything but a finite state that
    has all bodies.
    """
    if not all(np.isfinite(numbers).all() for numbers in state.arrays):
        raise MechanismError(Fault("state", "it must be finite", None, "look where it was computed"))
    state = _by_names(model, state)
    if len(state.position) != len(model.bodies):
        count = f"{len(model.bodies)} bodies, not {len(state.position)}"
        raise MechanismError(Fault("state", f"mechanism {model.name!r} has {count}"))
    if state.angles is not None and len(state.angles) != len(model.angular):
        count = f"{len(model.angular)} angular coordinates, not {len(state.angles)}"
        rule = f"mechanism {model.name!r} has {count}"
        raise MechanismError(Fault("state", rule, None, "leave out angles: their turns are then chosen"))
    return state


def _by_names(model: Model, state: State) -> State:
    source = state.source
    if source is None or source is (own := model.state_source):
        return state
    if state.angles is not None and len(state.angles) != len(source.angles):
        count = f"{len(source.angles)} angular coordinates, not {len(state.angles)}"
        raise MechanismError(Fault("state", f"the mechanism that it is of has {count}"))
    changed: dict[str, Any] = {}
    if len(source.bodies) != len(own.bodies) and len(state.position) == len(source.bodies):
        index = {name: number for number, name in enumerate(source.bodies)}
        if missing := [name for name in own.bodies if name not in index]:
            named = ", ".join(map(repr, missing[:5])) + (" ..." if len(missing) > 5 else "")
            rule = f"it does not say where body {named} of mechanism {model.name!r} is"
            has = ", ".join(map(repr, source.bodies[:5]))
            advice = f"it is of the bodies {has}: make a bc.State of all bodies"
            raise MechanismError(Fault("state", rule, None, advice))
        order = [index[name] for name in own.bodies]
        for name in ("position", "rotation", "velocity", "angular_velocity"):
            changed[name] = getattr(state, name)[order].reshape(len(order), -1)
        changed["contacts"] = None  # they speak of shapes by their numbers
    if state.angles is not None and source.angles != own.angles:
        known = dict(zip(source.angles, state.angles.tolist(), strict=True))
        changed["angles"] = np.array([known.get(label, np.nan) for label in own.angles])
    return replace(state, source=own, **changed) if changed else state


def by_coordinate(model: Model, angles: Floats | None) -> Floats | None:
    """The angles of a state at the places of their coordinates (coordinates,)."""
    if angles is None:
        return None
    values = np.zeros(len(model.arrays["coordinate_kind"]))
    values[model.angular] = angles
    return values
