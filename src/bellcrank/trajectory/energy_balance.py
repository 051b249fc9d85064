"""The energy balance of a run: kinetic, stored, supplied and lost energy, from its work accounts.

Accounts are of forces, and of drives and constraints that move bodies as functions of time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from bellcrank.compile.model import ElementRecord, Model
from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.html import displayed
from bellcrank.trajectory.layout import FrameLayout
from bellcrank.trajectory.store import FloatArray, Store, read_only

MOVES: Final = "states set"
"""The account of what is brought in where a run is set to another state."""

IMPACTS: Final = "impacts"
"""The account of what impacts on stops do; negative, for they take."""


def force_account(name: str) -> str:
    """The name of a force's account."""
    return f"force {name!r}"


def accounts(model: Model) -> tuple[tuple[str, ...], list[tuple[str, int, int]]]:
    """Names of the accounts in the order of their columns, and what the core adds to each column.

    Forces come first, then drives and constraints whose equations contain the time, "states set" and
    "impacts".
    """
    columns: dict[str, int] = {}
    listed: list[tuple[str, int, int]] = []
    numbers = _numbers(model)
    for force in model.forces:
        column = columns.setdefault(force_account(force.name), len(columns))
        listed += [(of, number, column) for of, number in _parts(force, numbers)]
    for block in _moving_blocks(model):
        column = columns.setdefault(model.block_owner[block], len(columns))
        listed.append(("block", block, column))
    return (*columns, MOVES, IMPACTS), listed


def _numbers(model: Model) -> dict[str, tuple[str, int]]:
    """The core's numbers of forces given by formulas and of contacts, by name."""
    written = [r.name for r in model.custom if r.category == "force" and r.lowered.custom is not None]
    found = {name: ("formula", number) for number, name in enumerate(written)}
    return found | {record.name: ("contact", number) for number, record in enumerate(model.contacts)}


def _parts(force: ElementRecord, numbers: dict[str, tuple[str, int]]) -> list[tuple[str, int]]:
    found = [("law", law) for law in force.laws] + [("wrench", wrench) for wrench in force.wrenches]
    return found + ([numbers[force.name]] if force.name in numbers else [])


def _moving_blocks(model: Model) -> list[int]:
    """Blocks with a function of time, or with a formula that may contain the time."""
    arrays = model.arrays
    moving = np.zeros(len(model.block_owner), dtype=bool)
    moving[model.row_block[np.asarray(arrays["row_function"]) >= 0]] = True
    moving |= np.asarray(arrays.get("block_formula", np.full(len(moving), -1))) >= 0
    return np.flatnonzero(moving & (np.asarray(arrays["block_unilateral"]) == 0)).tolist()


_ROUNDING = 1e-9  # of the energy: a motion that exchanges less is known to rounding only
_FLOOR = 1e-300  # J: where nothing moves, no energy is exchanged


@displayed(title="balance of energy")
@dataclass(frozen=True)
class EnergyBalance:
    """The energy of a run against its work, J, each (T,) and counted from the first frame on.

    At every frame `kinetic + weight + sum of stored` has grown by `sum of supplied - sum of lost + residual`.

    time: s. kinetic: of bodies and rotors. weight: potential energy of the weight.
    stored: energy stored in each force with a potential, by name: springs, tyres, contacts with their
        sticking friction.
    lost: energy that each force has taken and does not store, by name; negative if it supplies energy, as
        motors and loads do. Stops are the entry "impacts", if there are any.
    supplied: work of prescribed motions, such as "drive 'crank'": multiplier times prescribed rate; and of
        "states set" if a run was set to another state.
    residual: energy created numerically by the steps of the run: its error.
    """

    time: FloatArray
    kinetic: FloatArray
    weight: FloatArray
    stored: Mapping[str, FloatArray]
    lost: Mapping[str, FloatArray]
    supplied: Mapping[str, FloatArray]
    residual: FloatArray

    def __post_init__(self) -> None:
        for name in ("stored", "lost", "supplied"):
            entries = {key: read_only(values) for key, values in getattr(self, name).items()}
            object.__setattr__(self, name, MappingProxyType(entries))

    def __reduce__(self) -> tuple[Any, ...]:
        values = [getattr(self, field.name) for field in fields(self)]
        return EnergyBalance, tuple(dict(v) if isinstance(v, Mapping) else v for v in values)

    @property
    def exchanged(self) -> float:
        """The largest amount, J, by which one of the entries changes within the run."""
        entries = (self.kinetic, self.weight, *self.stored.values(), *self.lost.values())
        return max((float(np.ptp(e)) for e in (*entries, *self.supplied.values()) if len(e)), default=0.0)

    @property
    def error(self) -> float:
        """The largest residual, relative to the exchanged energy or, if that is more, 1e-9 of the energy."""
        size = max(float(np.max(np.abs(e), initial=0.0)) for e in (self.kinetic, self.weight))
        return float(np.max(np.abs(self.residual), initial=0.0)) / max(
            self.exchanged, _ROUNDING * size, _FLOOR
        )

    def __str__(self) -> str:
        rows = [("kinetic energy", self.kinetic), ("weight", self.weight)]
        rows += [(f"stored in {name!r}", values) for name, values in self.stored.items()]
        rows += [(f"supplied by {name}", values) for name, values in self.supplied.items()]
        rows += [(f"lost to {name!r}", values) for name, values in self.lost.items()]
        rows += [("residual", self.residual)]
        lines = [f"{name:40} {_change(values):+14.6g} J" for name, values in rows]
        return "\n".join([*lines, f"largest residual, of {self.exchanged:.6g} J: {self.error:.1e}"])


def energy_balance(layout: FrameLayout, store: Store) -> EnergyBalance:
    """See `Trajectory.energy_balance`."""
    if not layout.works:
        rule, advice = "the work of its forces was not added up", "simulate with ledger=True"
        raise MechanismError(Fault(f"run of {layout.mechanism!r}", rule, None, advice))
    kinetic, potential = store.read("kinetic"), store.read("potential")
    works = _since_the_first(store.read("works"))
    stored = {name: np.zeros(len(kinetic)) for name in dict.fromkeys(layout.force_potentials)}
    for number, name in enumerate(layout.force_potentials):
        stored[name] = stored[name] + store.read("force_potentials", number)
    forces = {force_account(name): name for name in layout.forces}
    lost, supplied = {}, {}
    for number, account in enumerate(layout.works):
        work = works[:, number]
        if account in forces:
            name = forces[account]
            kept = _since_the_first(stored[name]) if name in stored else 0.0
            lost[name] = -work - kept
        elif account == IMPACTS:
            lost |= {account: -work} if work.any() else {}
        elif account.startswith("drive") or work.any():
            supplied[account] = work
    gained = _since_the_first(kinetic + potential)
    residual = gained - _total(supplied, gained) + _total(lost, gained)
    weight = potential - _total(stored, potential)
    return EnergyBalance(
        store.read("time"),
        kinetic,
        read_only(weight),
        stored,
        lost,
        supplied,
        read_only(residual),
    )


def _since_the_first(values: FloatArray) -> FloatArray:
    return values - values[:1]


def _total(entries: Mapping[str, FloatArray], like: FloatArray) -> FloatArray:
    return np.asarray(sum(entries.values(), np.zeros_like(like)))


def _change(values: FloatArray) -> float:
    return float(values[-1] - values[0]) if len(values) else 0.0
