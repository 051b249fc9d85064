"""Dry friction that holds, in a run: its limits from what rows transmit, and how much of them is used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bellcrank import _core, views
from bellcrank.compile.model import Model
from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.rotation_arrays import conjugate, product, rotate
from bellcrank.slips import answering
from bellcrank.trajectory.histories import named
from bellcrank.trajectory.store import FloatArray

if TYPE_CHECKING:
    from bellcrank.trajectory.trajectory import Trajectory

_STRIBECK, _PART = (_core.law_parameters()["dry_friction"].index(n) for n in ("stribeck_velocity", "part"))
AT_REST: Final = 1e-7  # m/s, rad/s: friction may hold what is as slow

Read = Callable[[str, int], FloatArray]
"""What was recorded (n, ...) at frames: of a section, the entry of a number."""
Value = Callable[[int], FloatArray]
"""The value (n,) of a coordinate, by its number in the model."""


def as_a_whole(kind: str, params: list[float]) -> list[float]:
    """Parameters of friction along all that it acts along, of those along one of several coordinates."""
    return [*params[:_PART], 1.0, *params[_PART + 1 :]] if kind == "dry_friction" else params


def limits(
    model: Model,
    law: int,
    effort: FloatArray,
    rate: FloatArray,
    free: FloatArray,
    read: Read,
    value: Value,
) -> FloatArray:
    """The most (n,) that dry friction exerts: what it holds up to, and where it slips, what it does.

    effort, rate: (n,), along what it acts along. free: (n,), the same limits without what they grow with.
    Where it holds it would begin to slip against its effort.
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
        weight = slips + at_start * (holds - slips)
        if entry[7]:
            wrapped = entry[9] + sum(f * value(c) for c, f in zip(entry[7], entry[8], strict=True))
            weight = 2.0 * np.tanh(0.5 * weight * np.maximum(wrapped, 0.0))
        most += weight * np.linalg.norm(values, axis=1)
    return most


def held_limit(
    model: Model, law: int, effort: FloatArray, time: FloatArray, read: Read, value: Value
) -> FloatArray:
    """The most (n,) that friction exerts at rest before it slips against its effort (n,)."""
    kind, (params, function) = model.arrays["law_kind"][law], model.law(law)
    sense = -np.sign(effort)
    free = _core.law_holds(kind, sense, time, as_a_whole(kind, params), function)
    return limits(model, law, effort, 0.0 * effort, free, read, value)


def utilised(effort: FloatArray, limit: FloatArray) -> FloatArray:
    """The part (n,) of the limit that is used; NaN where there is none."""
    with np.errstate(all="ignore"):
        return np.asarray(np.where(limit > 0.0, np.abs(effort) / limit, np.nan))


def laws_of(model: Model) -> dict[str, int]:
    """The laws of friction that holds, by the names of forces, and of transmissions with losses."""
    rows = model.friction_rows
    found = {f.name: [law for law in f.laws if law in rows] for f in model.forces}
    return {name: laws[0] for name, laws in found.items() if laws}


def _angle_of_rope(run: Trajectory, coordinate: int) -> FloatArray:
    """An azimuth with its whole turns, or the angle between a rope and the line of centres (n,)."""
    model, layout, read = run.origin.model, run.layout, run.store.read
    angular = model.angular.tolist()
    if coordinate in angular:
        turning = np.hstack([read("coordinates"), read("angles")])
        return np.asarray(turning[:, layout.turning[angular.index(coordinate)]])
    arrays = model.arrays
    pair = int(arrays["coordinate_pair"][coordinate])
    rho = float(arrays["coordinate_params"][int(arrays["coordinate_param_start"][coordinate])])
    origins = []
    for side, body in enumerate(arrays["pair_bodies"].reshape(-1, 2)[pair].tolist()):
        own = arrays["pair_positions"][pair, side]
        at = np.tile(own, (run.store.frames, 1))
        if body < model.ground:
            at = read("position", body) + rotate(read("rotation", body), at)
        origins.append(at)
    axes = _axes_of(model, pair, run.store.frames, read)
    across = rotate(conjugate(axes), origins[1] - origins[0])[:, :2]
    return np.asarray(np.arcsin(rho / np.linalg.norm(across, axis=1)))


def _axes_of(model: Model, pair: int, count: int, read: Read) -> FloatArray:
    """The rotation (n, 4) of marker 1 of a pair in the world."""
    first = int(model.arrays["pair_bodies"].reshape(-1, 2)[pair, 0])
    axes = np.broadcast_to(model.arrays["pair_rotations"][pair, 0], (count, 4))
    return product(read("rotation", first), axes) if first < model.ground else axes


def _transmitted(model: Model, entry: Any, count: int, read: Read) -> FloatArray:
    """What a load speaks of (n, 6): multipliers of rows, or a joint's moment and force; axes of marker 1."""
    _, pair, blocks, rows, *_ = entry
    if pair < 0:
        columns = {m.row: k for k, m in enumerate(model.multipliers)}
        found = [read("multipliers", columns[row]) for row in rows]
        found = found or [np.ones(count)]
        return np.stack([*found, *[np.zeros(count)] * (6 - len(found))], axis=1)
    joints = [k for k, (_, own, at) in enumerate(model.reactions) if at == pair and set(blocks) <= set(own)]
    axes = _axes_of(model, pair, count, read)
    wrench = read("reactions", joints[0]).reshape(count, 2, 3)
    return np.concatenate([rotate(conjugate(axes), wrench[:, k]) for k in range(2)], axis=1)


@dataclass(frozen=True)
class FoundAgain:
    """What frames do not say of friction.

    determined: (T,), whether equations determine what it exerts where it holds. idle: (T,), whether it rests
        where equations alone hold its coordinate. jam_margin: (T,), NaN where it does not slip.
    """

    determined: np.ndarray
    idle: np.ndarray
    jam_margin: FloatArray


@answering
@dataclass(frozen=True, repr=False)
class FrictionHistory:
    """Dry friction that holds, over a run.

    effort, rate: (T,), along what it acts along, N or N m, m/s or rad/s. limit: (T,), the most that it
    exerts: where it holds, what it could before it slips. holds: (T,), whether it does.

    >>> rub = pendulum.add_force("rub", bc.JointFriction(coulomb=6.0), "hinge")
    >>> friction = bc.simulate(pendulum, 0.5).friction("rub")
    >>> print(friction.holds.all(), friction.utilisation[-1].round(4), round(9.81 / 2 / 6, 4))
    True 0.8175 0.8175
    """

    name: str
    effort: FloatArray
    rate: FloatArray
    limit: FloatArray
    holds: np.ndarray
    run: Trajectory

    def __repr__(self) -> str:
        return f"<friction {self.name!r}, {len(self.effort)} frames>"

    @property
    def utilisation(self) -> FloatArray:
        """(T,), the part of the limit that is used; NaN where there is none."""
        return utilised(self.effort, self.limit)

    @property
    def power(self) -> FloatArray:
        """(T,), W: what it takes, negative."""
        return np.asarray(self.effort * self.rate)

    @property
    def unique(self) -> np.ndarray:
        """(T,), whether the equations of motion determine the effort; if not, it is one of many.

        Friction that holds in redundant joints shares what they bear. Where a drive holds the coordinate, at
        rest, the drive bears all of it, and nothing says how much of that friction could.
        """
        again = self._again
        return np.asarray(again.determined & ~(again.idle & (self.limit > 0.0)))

    @property
    def jam_margin(self) -> FloatArray:
        """(T,), the factor by which coefficients of all that slips could grow before it jams.

        Infinite where it never does, NaN where this friction does not slip. It is that of loads as they are
        (docs/theory/friction.md, section 6).
        """
        return self._again.jam_margin

    @cached_property
    def _again(self) -> FoundAgain:
        found: FoundAgain = views.friction_again(self.run)[self.name]
        return found


def _refuse_smoothed(model: Model, name: str) -> None:
    kinds = model.arrays["law_kind"]
    stiction = _core.law_parameters()["friction"].index("stiction")

    def smoothed(law: int) -> bool:
        return kinds[law] == "brake" or (kinds[law] == "friction" and model.law(law)[0][stiction] > 0.0)

    if any(force.name == name and any(map(smoothed, force.laws)) for force in model.forces):
        rule = "it is smoothed over a speed, and has no limit up to which it holds"
        advice = f"leave out regularisation_velocity; run.force({name!r}) has its effort"
        raise MechanismError(Fault(f"friction {name!r}", rule, None, advice))


def friction(run: Trajectory, name: str) -> FrictionHistory:
    """The friction of a force that holds, or of a transmission with losses.

    Raises MechanismError with close matches for an unknown name, for friction that is smoothed, and where
    reactions were not recorded.
    """
    model, layout, store = run.origin.model, run.layout, run.store
    laws = laws_of(model)
    _refuse_smoothed(model, name)
    law = laws[named("friction that holds", name, tuple(laws))]
    if model.arrays.get("friction_loads") and len(layout.reactions) < len(model.reactions):
        rule, advice = "what its joint transmits was not recorded", "simulate with reactions=True"
        raise MechanismError(Fault(f"friction {name!r}", rule, None, advice))
    history = run.force(name)
    efforts, rates = (np.reshape(each, (len(run.time), -1)) for each in (history.effort, history.rate))
    factors = np.array([factor for _, factor in model.rubs_along(law)[1]])
    (place,) = (force.laws.index(law) for force in model.forces if force.name == name)
    effort, rate = efforts[:, place] / factors[0], rates[:, place : place + len(factors)] @ factors
    rests = np.abs(rate) < AT_REST
    kind, times = model.arrays["law_kind"][law], np.ascontiguousarray(run.time)
    params, function = model.law(law)
    params = as_a_whole(kind, params)
    slips = _core.law_efforts(kind, 0.0 * rate, np.where(rests, 0.0, rate), times, params, function)
    free = np.where(rests, _core.law_holds(kind, -np.sign(effort), times, params, function), np.abs(slips))
    most = limits(model, law, effort, rate, free, store.read, lambda c: _angle_of_rope(run, c))
    return FrictionHistory(name, effort, rate, most, rests, run)
