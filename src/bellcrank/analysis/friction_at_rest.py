"""Friction of a mechanism at rest: whether it holds, by what margin, what each friction bears."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from bellcrank import _core
from bellcrank.compile.model import Model
from bellcrank.compile.state import State
from bellcrank.errors import Unsupported
from bellcrank.formulations.system import Accelerations, System
from bellcrank.trajectory.observation import force_efforts
from bellcrank.trajectory.rubbing import held_limit, laws_of, utilised

_HOLDS: Final = 2.0
_NO_USE: Final = 1e-12  # of limits, that is rounding


@dataclass(frozen=True)
class HeldFriction:
    """What friction exerts at rest.

    effort: along its coordinate, N or N m. limit: up to which it holds there, infinite for a freewheel.
    unique: whether the equations determine the effort; otherwise it is one of many, within the limits if some
        are. Where a drive holds the coordinate the drive bears all of it.

    >>> rub = pendulum.add_force("rub", bc.JointFriction(coulomb=6.0), "hinge")
    >>> held = bc.statics(pendulum).friction["rub"]
    >>> print(f"{held.effort:.4f} of {held.limit} {held.unit}: {held.utilisation:.4f}")    # m g L / 2
    4.9050 of 6.0 N m: 0.8175
    """

    effort: float
    limit: float
    unit: str
    unique: bool

    @property
    def utilisation(self) -> float:
        """The part of the limit that is used; more than 1 where it would slip, NaN where there is none."""
        return float(utilised(np.array([self.effort]), np.array([self.limit]))[0])


@dataclass(frozen=True)
class FrictionAtRest:
    """What friction that holds does at rest, all that rests held by it; see `Statics`, which shows it."""

    by_name: Mapping[str, HeldFriction]
    margin: float = np.inf
    load_margin: float = np.inf
    slips: tuple[str, ...] = ()


def locked(model: Model) -> Model:
    """The model with friction that can hold as rows that do, where they are at its start."""
    arrays = dict(model.arrays)
    blocks = np.array([model.row_block[row] for law, row in model.friction_rows.items() if _can(model, law)])
    if not len(blocks):
        return model
    values = model.coordinate_values(model.initial)
    constant, unilateral = arrays["row_constant"].copy(), arrays["block_unilateral"].copy()
    for block in blocks.tolist():
        for row in model.rows_of(block):
            constant[row] = sum(factor * values[c] for c, factor in model.terms(row))
    unilateral[blocks] = 0
    owners = arrays["block_friction"].copy()
    owners[blocks] = -1
    return model.with_arrays(
        row_constant=constant, block_unilateral=unilateral, block_friction=owners, friction_loads=[]
    )


def _can(model: Model, law: int) -> bool:
    """Whether it holds anything at the model's time."""
    if any(entry[0] == law for entry in model.arrays.get("friction_loads", ())):
        return True
    params, function = model.law(law)
    times = np.full(2, model.initial.time)
    held = _core.law_holds(model.arrays["law_kind"][law], np.array([-1.0, 1.0]), times, params, function)
    return bool(np.max(held) > 0.0)


def friction_at_rest(system: System, state: State) -> tuple[Accelerations, FrictionAtRest]:
    """What acts at a state of rest, where friction holds all that rests, and how far it is from slipping."""
    model = system.model
    acting, of_all, of_constant = system.held(state)
    states = dict(system.core.friction_states())
    laws = laws_of(model)
    found = {name: _held(model, name, law, acting, states) for name, law in laws.items()}
    system.set_state(state)
    try:
        system.core.accelerate()
    except Unsupported:  # no state agrees with the accelerations, or it jams as it begins
        slips = [name for name, one in found.items() if one.utilisation > 1.0]
    else:
        settled = dict(system.core.friction_states())
        slips = [name for name, law in laws.items() if _lets_go(model, law, states, settled)]
    return acting, FrictionAtRest(found, _margin(of_all), _margin(of_constant), tuple(slips))


def _margin(use: float) -> float:
    return np.inf if use <= _NO_USE else 1.0 / use


def _lets_go(model: Model, law: int, before: Mapping[int, float], after: Mapping[int, float]) -> bool:
    row = model.friction_rows[law]
    return before[row] == _HOLDS and after[row] != _HOLDS


def _held(
    model: Model, name: str, law: int, acting: Accelerations, states: Mapping[int, float]
) -> HeldFriction:
    row = model.friction_rows[law]
    holds = states[row] == _HOLDS
    effort = float(acting.multipliers[row]) if holds else 0.0
    rows = [m.row for m in model.multipliers]

    def read(section: str, number: int) -> Any:
        of = {
            "multipliers": lambda: acting.multipliers[rows[number]],
            "reactions": lambda: acting.reactions[number],
            "rotation": lambda: acting.state.rotation[number],
        }
        return np.asarray(of[section]())[None]

    time = np.array([acting.state.time])
    values = model.coordinate_values(acting.state)
    limit = float(held_limit(model, law, np.array([effort]), time, read, lambda c: values[c : c + 1])[0])
    (unit,) = (e.unit for e in force_efforts(model)[name] if e.core == ("law", law, 0))
    unique = bool(acting.determined[row]) if holds else not limit > 0.0
    return HeldFriction(effort, limit, unit, unique)
