"""The choice of coordinates for the states of a mechanism, from the constraints at a state alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from bellcrank import _core
from bellcrank.analysis.freedoms import coordinate_jacobian, null_space, pivots
from bellcrank.assembly.model import Model
from bellcrank.assembly.state import Floats, State
from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.naming import nearest
from bellcrank.mechanism.rotation import IDENTITY, multiply

_POLE: Final = 1e3  # gradient of an angle, in parts of those of usual ones, near a pole of it
_JUMPS: Final = 0.1  # rad short of half a turn, where rotation vectors jump
_OF_BODY: Final = (("x", "m"), ("y", "m"), ("z", "m"), ("rot_x", "rad"), ("rot_y", "rad"), ("rot_z", "rad"))


@dataclass(frozen=True)
class StateCoordinate:
    """A coordinate that is a state: its joint or body, its name there, its unit, and its number in the model.

    For a body: the position of its frame in the world, and its rotation vector from the initial pose, world
    axes.
    """

    owner: str
    kind: str
    unit: str
    number: int

    @property
    def name(self) -> str:
        """Owner and kind, such as "pivot.theta_z"."""
        return f"{self.owner}.{self.kind}"


def size_of(model: Model, state: State) -> float:
    """The size of a mechanism, m: how far markers are from their frames, and these from each other."""
    reach = float(np.max(np.abs(model.arrays["pair_positions"]), initial=0.0))
    spread = np.ptp(state.position, axis=0) if len(state.position) else np.zeros(3)
    return max(reach, float(np.linalg.norm(spread))) or 1.0


def charted(
    model: Model, state: State, first: Sequence[str]
) -> tuple[Model, tuple[StateCoordinate, ...], int, bool]:
    """The model that has the coordinates, these, how many have free rates, and whether some are of bodies."""
    listed, wide = _of_joints(model), model
    known = [one.name for one in listed]
    found = None if any(name not in known for name in first) else _chosen(model, state, listed, first)
    if found is None:
        wide, own = with_body_coordinates(model, state)
        found = _chosen(wide, state, [*listed, *own], first, len(listed))
    if found is None:
        rule = "the coordinates of its joints and bodies have no finite rates here"
        raise MechanismError(Fault(f"mechanism {model.name!r}", rule, None, "go to another state"))
    return wide, *found, wide is not model


def _of_joints(model: Model) -> list[StateCoordinate]:
    return [
        StateCoordinate(joint.name, name, unit, number)
        for joint in model.joints
        for number, name, unit in zip(joint.coordinates, joint.coordinate_names, joint.units, strict=True)
    ]


def with_body_coordinates(model: Model, state: State) -> tuple[Model, list[StateCoordinate]]:
    """The model with coordinates of all bodies: of position, and of rotation from where they are."""
    arrays, count = model.arrays, len(model.bodies)
    pairs, first = len(arrays["pair_bodies"]), len(arrays["coordinate_kind"])
    still = np.array([1.0, 0.0, 0.0, 0.0])
    turns = np.tile(still, (2 * count, 2, 1))
    turns[1::2, 1] = state.rotation * np.array([1.0, -1.0, -1.0, -1.0])
    bodies = np.repeat(np.arange(count, dtype=np.int32), 2)
    ends = np.stack([np.full(2 * count, model.ground, dtype=np.int32), bodies], axis=1)
    starts = arrays["coordinate_param_start"]
    wide = model.with_arrays(
        pair_bodies=np.concatenate([arrays["pair_bodies"].reshape(-1, 2), ends]),
        pair_positions=np.concatenate(
            [arrays["pair_positions"].reshape(-1, 2, 3), np.zeros((2 * count, 2, 3))]
        ),
        pair_rotations=np.concatenate([arrays["pair_rotations"].reshape(-1, 2, 4), turns]),
        coordinate_kind=[*arrays["coordinate_kind"], *[kind for kind, _ in _OF_BODY] * count],
        coordinate_pair=np.concatenate(
            [arrays["coordinate_pair"], np.repeat(pairs + np.arange(2 * count, dtype=np.int32), 3)]
        ),
        coordinate_param_start=np.concatenate([starts, np.full(6 * count, starts[-1], dtype=np.int32)]),
    )
    own = [
        StateCoordinate(name, kind, unit, first + 6 * body + k)
        for body, name in enumerate(model.bodies)
        for k, (kind, unit) in enumerate(_OF_BODY)
    ]
    return wide, own


def _chosen(
    model: Model,
    state: State,
    listed: Sequence[StateCoordinate],
    first: Sequence[str],
    joints: int | None = None,
) -> tuple[tuple[StateCoordinate, ...], int] | None:
    """Independent coordinates, those with free rates first, and how many these are; None if too few.

    joints: how many of those listed are joints', which go before those of bodies.
    """
    names = [one.name for one in listed]
    wanted = [_place(names, name) for name in first]
    order = [*wanted, *(k for k in range(len(listed)) if k not in wanted)]
    joints = len(listed) if joints is None else joints
    moving, freely = directions(model, state)
    rates = coordinate_jacobian(model, [listed[k].number for k in order], state)
    steepest = _POLE * (1.0 + 1.0 / size_of(model, state))
    rates = np.where(np.linalg.norm(rates, axis=1)[:, None] < steepest, rates, 0.0)  # not at poles
    jumps = [_about_to_jump(model, state, listed[k]) for k in order]
    if faulty := [names[k] for k, jump in zip(wanted, jumps, strict=False) if jump]:
        rule = "its rotation vector changes sign here, at half a turn"
        raise MechanismError([Fault(f"state {name!r}", rule, None, "leave it out") for name in faulty])
    rates[jumps] = 0.0
    tiers = (len(wanted), sum(k < joints for k in order[len(wanted) :]))
    speeds = pivots(rates @ moving, *tiers)
    again = [*speeds, *(k for k in range(len(order)) if k not in speeds)]
    tiers = (len(speeds), sum(order[k] < joints for k in again[len(speeds) :]))
    both = [again[k] for k in pivots((rates @ freely)[again], *tiers)]
    if len(speeds) < moving.shape[1] or len(both) < freely.shape[1]:
        return None
    if missing := [names[order[k]] for k in range(len(wanted)) if k not in both]:
        rule = "the constraints and the other states determine it, so that it is none itself"
        raise MechanismError([Fault(f"state {name!r}", rule, None, "leave it out") for name in missing])
    kept = sorted((order[k] for k in speeds), key=order.index)
    rest = sorted((order[k] for k in both if k not in speeds), key=order.index)
    return tuple(listed[k] for k in (*kept, *rest)), len(kept)


def _about_to_jump(model: Model, state: State, one: StateCoordinate) -> bool:
    """Whether a coordinate is of a rotation vector close to half a turn, where it changes its sign."""
    if not one.kind.startswith("rot_"):
        return False
    arrays = model.arrays
    pair = arrays["coordinate_pair"][one.number]
    rotations = np.vstack([state.rotation, IDENTITY])  # of the ground last
    first, second = (
        multiply(rotations[body], turn)
        for body, turn in zip(
            arrays["pair_bodies"].reshape(-1, 2)[pair], arrays["pair_rotations"][pair], strict=True
        )
    )
    return bool(abs(np.dot(first, second)) < np.sin(0.5 * _JUMPS))


def directions(model: Model, state: State) -> tuple[Floats, Floats]:
    """Null spaces of the constraints for velocities and for displacements (6 nb, directions)."""
    system = model.put(_core.Bodies(model.core), state)
    jacobian, columns = system.rows()[3], 6 * len(model.bodies)
    positions = model.rigid_rows.copy()
    positions[list(model.core.velocity_rows)] = False
    return null_space(jacobian[model.rigid_rows], columns), null_space(jacobian[positions], columns)


def _place(names: Sequence[str], name: str) -> int:
    if name in names:
        return list(names).index(name)
    rule = "there is no coordinate of this name"
    raise MechanismError(Fault(f"state {name!r}", rule, None, nearest(str(name), names)))
