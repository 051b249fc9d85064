"""Dry friction that holds, in a run: its limits from what rows transmit, and how much of them is used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bellcrank import _core
from bellcrank.compile.model import Model
from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.rotation_arrays import conjugate, product, rotate
from bellcrank.trajectory.histories import named
from bellcrank.trajectory.store import FloatArray

if TYPE_CHECKING:
    from bellcrank.trajectory.trajectory import Trajectory

_STRIBECK: Final = _core.law_parameters()["dry_friction"].index("stribeck_velocity")
AT_REST: Final = 1e-7  # m/s, rad/s: friction may hold what is as slow

Read = Callable[[str, int], FloatArray]
"""What was recorded (n, ...) at frames: of a section, the entry of a number."""


def limits(
    model: Model, law: int, effort: FloatArray, rate: FloatArray, free: FloatArray, read: Read
) -> FloatArray:
    """The most (n,) that dry friction exerts: what it holds up to, and where it slips, what it does.

    effort, rate: (n,), along its coordinate. free: (n,), the same limits without what they grow with. Where
    it holds it would begin to slip against its effort.
    """
    rests = np.abs(rate) < AT_REST
    sense = np.where(rests, -np.sign(effort), np.sign(rate))
    over = model.law(law)[0][_STRIBECK] if model.arrays["law_kind"][law] == "dry_friction" else 0.0
    at_start = np.where(rests, 1.0, np.exp(-((rate / over) ** 2)) if over > 0.0 else 0.0)
    most = np.array(free)
    for entry in model.arrays.get("friction_loads", ()):
        if entry[0] != law:
            continue
        forms, slipping, holding = np.reshape(entry[4], (-1, 6)), entry[5], entry[6]
        values = _transmitted(model, entry, len(effort), read) @ forms.T
        driven = (len(forms) == 1) & (sense * values[:, 0] > 0.0)
        slips, holds = (np.where(driven, both[1], both[0]) for both in (slipping, holding))
        most += (slips + at_start * (holds - slips)) * np.linalg.norm(values, axis=1)
    return most


def _transmitted(model: Model, entry: Any, count: int, read: Read) -> FloatArray:
    """What a load speaks of (n, 6): multipliers of rows, or a joint's moment and force; axes of marker 1."""
    _, pair, blocks, rows, *_ = entry
    if pair < 0:
        columns = {m.row: k for k, m in enumerate(model.multipliers)}
        found = [read("multipliers", columns[row]) for row in rows]
        return np.stack([*found, *[np.zeros(count)] * (6 - len(found))], axis=1)
    joints = [k for k, (_, own, at) in enumerate(model.reactions) if at == pair and set(blocks) <= set(own)]
    first = int(model.arrays["pair_bodies"][pair, 0])
    axes = np.broadcast_to(model.arrays["pair_rotations"][pair, 0], (count, 4))
    if first < model.ground:
        axes = product(read("rotation", first), axes)
    wrench = read("reactions", joints[0]).reshape(count, 2, 3)
    return np.concatenate([rotate(conjugate(axes), wrench[:, k]) for k in range(2)], axis=1)


@dataclass(frozen=True, repr=False)
class FrictionHistory:
    """Dry friction that holds, over a run.

    effort, rate: (T,), along its coordinate, N or N m, m/s or rad/s. limit: (T,), the most that it exerts:
    where it holds, what it could before it slips. holds: (T,), whether it does.
    """

    name: str
    effort: FloatArray
    rate: FloatArray
    limit: FloatArray
    holds: np.ndarray

    def __repr__(self) -> str:
        return f"<friction {self.name!r}, {len(self.effort)} frames>"

    @property
    def utilisation(self) -> FloatArray:
        """(T,), the part of the limit that is used; NaN where there is none."""
        with np.errstate(all="ignore"):
            return np.asarray(np.where(self.limit > 0.0, np.abs(self.effort) / self.limit, np.nan))

    @property
    def power(self) -> FloatArray:
        """(T,), W: what it takes, negative."""
        return np.asarray(self.effort * self.rate)


def friction(run: Trajectory, name: str) -> FrictionHistory:
    """The friction of a force that holds, or of a transmission with losses.

    Raises MechanismError with close matches for an unknown name, and where reactions were not recorded.
    """
    model, layout, store = run.origin.model, run.layout, run.store
    laws = {force.name: law for force in model.forces for law in force.laws if law in model.friction_rows}
    law = laws[named("friction that holds", name, tuple(laws))]
    if model.arrays.get("friction_loads") and len(layout.reactions) < len(model.reactions):
        rule, advice = "what its joint transmits was not recorded", "simulate with reactions=True"
        raise MechanismError(Fault(f"friction {name!r}", rule, None, advice))
    history = run.force(name)
    effort, rate = (np.reshape(of, (len(run.time), -1))[:, place] for of in (history.effort, history.rate))
    rests = np.abs(rate) < AT_REST
    params, function = model.law(law)
    kind, times = model.arrays["law_kind"][law], np.ascontiguousarray(run.time)
    slips = _core.law_efforts(kind, 0.0 * rate, np.where(rests, 0.0, rate), times, params, function)
    free = np.where(rests, _core.law_holds(kind, -np.sign(effort), times, params, function), np.abs(slips))
    most = limits(model, law, effort, rate, free, store.read)
    return FrictionHistory(name, effort, rate, most, rests)
