"""The State: poses and velocities of all bodies, independent of any formulation."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bellcrank import _core
from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.coordinate import TURNED
from bellcrank.slips import answering

if TYPE_CHECKING:
    from bellcrank.compile.model import Model


Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int32]

Points: TypeAlias = NDArray[np.void]
"""Records of touching points (n,); they have the fields of `MEMORY` at least."""

Label: TypeAlias = tuple[str, str, int]
"""Joint or element that an angle belongs to, its name, and a number where these are equal."""


def record_type(fields: Sequence[tuple[Any, ...]]) -> np.dtype[np.void]:
    """The type of records of numbers whose fields the core declares."""
    return np.dtype([(name, "f8", (count,) if count > 1 else ()) for name, count, *_ in fields])


MEMORY: Final = record_type(_core.ContactMemory.fields())
"""The type of what a touching point remembers."""


def _numbers(name: str, value: Any) -> Floats:
    """An array of numbers. Raises MechanismError for anything else."""
    try:
        return np.ascontiguousarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise MechanismError(Fault("state", f"{name} must hold numbers", value)) from None


def _contacts(value: Any) -> Points:
    if np.size(value) == 0:
        return np.zeros(0, MEMORY)
    if not isinstance(value, np.ndarray) or value.dtype != MEMORY or value.ndim != 1:
        rule = f"contacts must be records (n,) of {', '.join(MEMORY.names or ())}"
        raise MechanismError(Fault("state", rule, value, "such as run.at(t).contacts"))
    return value.copy()


@answering
@dataclass(frozen=True, eq=False, repr=False)
class State:
    """Poses and velocities of the body frames' origins in world axes, bodies in the model's order.

    time: s.
    position: (nb, 3), m. rotation: (nb, 4), unit quaternions (w, x, y, z), local to world.
    velocity: (nb, 3), m/s. angular_velocity: (nb, 3), rad/s.
    angles: the angular coordinates of the model (see `Model.angular`) with their whole turns, rad: what poses
        do not contain. None if unknown; then those with which drives, couplings, screws and limits hold, and
        the fewest otherwise (docs/theory/assembly.md, section 9).

    contacts: (n,), what points that touch remember of friction, world axes; records of the numbers of the two
        `shapes` and of their `features`, the elastic displacement `shear`, m, `position` and `normal` of the
        contact, and `slips`, 1 where it does. None if unknown; friction then starts without any displacement.
    source: names of the mechanism that the state is of, by which another mechanism goes on from it. None if
        unknown; bodies and angles are then those of whoever takes the state, in its order.

    Raises MechanismError for values that are not numbers, and if the shapes do not match.

    >>> run = bc.simulate(pendulum, 1.0)
    >>> state = run.at(0.5)
    >>> state.time, state.position.shape
    (0.5, (1, 3))
    >>> again = bc.simulate(pendulum, 0.5, state=state)
    >>> print(f"{abs(again.at(0.5).position - run.at(1.0).position).max():.6f} m")    # it goes on from there
    0.000000 m
    """

    time: float
    position: Floats
    rotation: Floats
    velocity: Floats
    angular_velocity: Floats
    angles: Floats | None = None
    contacts: Points | None = None
    source: StateSource | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.time, (int, float, np.integer, np.floating)):
            raise MechanismError(Fault("state", "time must be a number", self.time, "give it in s"))
        count = -1
        for name, columns in (("position", 3), ("rotation", 4), ("velocity", 3), ("angular_velocity", 3)):
            array = _numbers(name, getattr(self, name))
            if array.size == 0 and array.ndim and len(array) == 0:
                array = array.reshape(0, columns)
            count = len(array) if count < 0 and array.ndim else count
            if array.shape != (count, columns):
                rule = f"{name} must have shape ({max(count, 0)}, {columns})"
                raise MechanismError(Fault("state", rule, array.shape))
            object.__setattr__(self, name, array)
        if self.angles is not None:
            object.__setattr__(self, "angles", _numbers("angles", self.angles).ravel().copy())
        if self.contacts is not None:
            object.__setattr__(self, "contacts", _contacts(self.contacts))

    def __repr__(self) -> str:
        return f"<State of {len(self.position)} bodies at t = {self.time:.9g} s>"

    def at_time(self, time: float) -> State:
        """The same poses and velocities at another time.

        >>> state = bc.prepare(pendulum).state().at_time(3.0)
        >>> run = bc.simulate(pendulum, 1.0, state=state, start=3.0)
        >>> run.span()
        (3.0, 4.0)
        """
        return replace(self, time=time)

    @property
    def arrays(self) -> tuple[float, Floats, Floats, Floats, Floats]:
        """Time and arrays in the order in which the core takes them."""
        return (self.time, self.position, self.rotation, self.velocity, self.angular_velocity)


@dataclass(frozen=True, eq=False)
class StateSource:
    """The names behind the numbers of a State.

    bodies: in the order of the state. angles: the label of each of `State.angles`.
    values: what elements took from the initial configuration, by `start_values`, and which of them are in
        force, where that changes; None if not known.
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
    values |= places | ({} if model.standing is None else model.standing.values)
    if not model.start.formulas:
        return values
    known = arrays["formulas"].values()
    return values | {value_text(model, p, c): known[p] for p, c in model.start.formulas}


def value_text(model: Model, place: int, coordinate: int) -> str:
    """What a value in formulas is: the element whose formulas they are, and its coordinate."""
    for record in model.custom:
        custom: Any = record.lowered.custom
        if custom is not None and (place, coordinate) in record.starts:
            return json.dumps([str(record), _coordinate(model, coordinate)])
    return json.dumps(["", _coordinate(model, coordinate)])


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
